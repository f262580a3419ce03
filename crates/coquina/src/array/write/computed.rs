//! Writing what is computed: the blocks of a new chunk are asked for one by one where the source is walked over as
//! the array is cut; else the source gives all of the chunk at once, so that it computes nothing twice.

use std::borrow::Cow;

use coquina_kernels::boxes::{Axis, Steps, copy_box};

use super::request::{Request, Values};
use crate::array::geometry::{BoxSource, Grid, Plan, Selection, Touched, Walk};
use crate::array::read::gather;
use crate::base::error::Result;
use crate::base::pool::Job;
use crate::base::scratch::with_scratch;

/// Runs `write` with a request for the items of one chunk, computed at once, if that is better than block by block.
pub(super) fn with_gathered<T>(
    request: &Request<'_>,
    grid: &Grid,
    plan: &Plan,
    touched: &Touched,
    job: &Job<'_>,
    write: impl FnOnce(&Request<'_>) -> Result<T>,
) -> Option<Result<T>> {
    let Values::Computed(source) = request.values else { return None };
    let Walk { chunks, blocks } = source.walk();
    if chunks == grid.chunks() && blocks == grid.blocks() {
        return None;
    }
    let (starts, shape) = touched.positions(plan);
    let bytes = shape.iter().product::<u64>().checked_mul(request.window.bytes as u64)?;
    let bytes = usize::try_from(bytes).ok()?;
    let made = with_scratch(bytes, |room| {
        // Block by block of the source: what lies between two steps of a program stays in the cache.
        gather(source, &starts, &shape, room, job)?;
        let (origin, _) = request.selection.as_box().unwrap_or_default();
        let ends = starts.iter().zip(&shape).map(|(start, len)| start + len);
        let ranges: Vec<_> =
            starts.iter().zip(ends).zip(origin).map(|((&start, end), at)| at + start..at + end).collect();
        let selection = Cow::Owned(Selection::region(&ranges));
        write(&Request { selection, window: request.window, values: Values::Bytes(room) })
    });
    Some(made)
}

/// Computes the items of one block that are written, to where `to` says that they stand.
pub(super) fn fill_block(
    source: &dyn BoxSource,
    plan: &Plan,
    groups: &[usize],
    to: &[Steps<'_>],
    out: &mut [u8],
) -> Result<()> {
    let (starts, shape) = plan.positions(groups);
    let item = source.item_bytes();
    let lens: Vec<usize> = plan.lens(groups).collect();
    let bytes = lens.iter().product::<usize>() * item;
    if bytes == out.len() {
        return source.fill(&starts, &shape, out);
    }
    with_scratch(bytes, |room| {
        source.fill(&starts, &shape, room)?;
        let mut stride = item;
        let mut axes = Vec::with_capacity(lens.len());
        for (&len, &to) in lens.iter().zip(to).rev() {
            axes.push(Axis { len, to, from: Steps::Even { start: 0, step: stride.cast_signed() } });
            stride *= len;
        }
        axes.reverse();
        copy_box(out, room, &axes, item);
        Ok(())
    })
}
