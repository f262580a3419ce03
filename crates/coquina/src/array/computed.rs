//! Writing what is computed: the blocks of a new chunk are asked for one by one where the source is walked over as
//! the array is cut; else the source gives all of the chunk at once, so that it computes nothing twice.

use coquina_kernels::boxes::{Axis, Steps, copy_box};

use super::boxes::{BoxSource, Walk};
use super::gather::gather;
use super::plan::{Plan, Touched};
use super::selection::{Selection, Window};
use super::write::{Made, Values, Write};
use crate::base::error::{Error, Result};
use crate::base::pool::Job;
use crate::base::room::with_room;
use crate::base::turns::Turn;

/// Whether what a source computes can be written to these items.
pub(super) fn check(source: &dyn BoxSource, selection: &Selection, window: Window) -> Result<()> {
    let (shape, wanted) = (source.shape(), selection.shape());
    if selection.as_box().is_none() || shape != wanted || source.item_bytes() != window.bytes {
        let (bytes, item) = (source.item_bytes(), window.bytes);
        return Err(Error::invalid(format!(
            "items of {bytes} bytes of shape {shape:?} are computed for items of {item} bytes of a box of {wanted:?}"
        )));
    }
    Ok(())
}

/// The chunk, if it is better computed at once than block by block.
pub(super) fn made_at_once(
    write: &Write<'_>,
    source: &dyn BoxSource,
    plan: &Plan,
    touched: &Touched,
    (turn, job): (&Turn<'_>, &Job<'_>),
) -> Option<Result<Made>> {
    let Walk { chunks, blocks } = source.walk();
    if chunks == write.grid.chunks() && blocks == write.grid.blocks() {
        return None;
    }
    let (starts, shape) = touched.positions(plan);
    let bytes = shape.iter().product::<u64>().checked_mul(write.window.bytes as u64)?;
    let bytes = usize::try_from(bytes).ok()?;
    let made = with_room(bytes, |room| {
        // Block by block of the source: what lies between two steps of a program stays in the cache.
        gather(source, &starts, &shape, room, job)?;
        let (origin, _) = write.selection.as_box().unwrap_or_default();
        let ends = starts.iter().zip(&shape).map(|(start, len)| start + len);
        let ranges: Vec<_> =
            starts.iter().zip(ends).zip(origin).map(|((&start, end), at)| at + start..at + end).collect();
        let selection = Selection::region(&ranges);
        let plan = Plan::new(&selection, write.grid);
        let Some(touched) = plan.chunks().next() else { return Err(Error::invalid("a chunk of no items")) };
        Write { selection: &selection, values: Values::Bytes(room), ..*write }
            .make(&plan, &touched, turn, job)
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
    with_room(bytes, |room| {
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
