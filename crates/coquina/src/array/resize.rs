//! Growing must not show what is left of a larger shape: items behind the edge of a chunk are cleared when the
//! edge moves.

use super::before::{Before, old_number, rewritten};
use super::choices::Chooser;
use super::grid::Grid;
use super::read::{Source, with_scratch};
use super::statistics::{Gather, keeps_items};
use crate::base::error::Result;
use crate::base::pool::Job;
use crate::chunk::Params;
use crate::store::{Entry, Store};

/// Makes anew those chunks that stay, whose edge moves outwards, that are not made anew anyway, and that hold
/// anything but zeros behind the edge.
pub(super) fn clear_uncovered(
    old: &Source<'_>,
    grid: &Grid,
    (params, chooser): (&Params, Option<Chooser<'_>>),
    store: &mut dyn Store,
    entries: &mut Vec<(u64, Entry)>,
    job: &Job<'_>,
) -> Result<()> {
    let mut made: Vec<u64> = entries.iter().map(|(number, _)| *number).collect();
    made.sort_unstable();
    let moved = (0..grid.ndim()).filter(|&axis| {
        let (from, chunk) = (old.grid.shape()[axis], grid.chunks()[axis]);
        grid.shape()[axis] > from && chunk > 0 && from % chunk != 0
    });
    let mut numbers: Vec<u64> = moved.flat_map(|axis| edge_chunks(old.grid, grid, axis)).collect();
    numbers.sort_unstable();
    numbers.dedup();
    for number in numbers.into_iter().filter(|number| made.binary_search(number).is_err()) {
        let place = |e: crate::base::error::Error| e.at(format!("chunk {number}"));
        if old_number(number, grid, old.grid).is_none() {
            continue;
        }
        let before = Before::of(old, grid, number).map_err(place)?;
        if has_leftovers(&before, grid).map_err(place)? {
            let keeps_items = keeps_items(old.grid, grid, None);
            let is_chosen = chooser.is_some();
            let gather = Gather { old, grid, number, keeps_items, is_chosen };
            let made = rewritten(before, &gather, (params, chooser), job).map_err(place)?;
            entries.push((number, made.put(store)?));
        }
    }
    Ok(())
}

/// Whether clearing would change anything.
fn has_leftovers(before: &Before<'_>, grid: &Grid) -> Result<bool> {
    with_scratch(grid.block_bytes(), |scratch| {
        for number in 0..grid.blocks_per_chunk() {
            if before.has_outside(number) && before.block(number, scratch)? {
                return Ok(true);
            }
        }
        Ok(false)
    })
}

/// The numbers in `grid` of the chunks that lie in both shapes, and through which the edge of an axis moves.
pub(super) fn edge_chunks(old: &Grid, grid: &Grid, axis: usize) -> Vec<u64> {
    let mut numbers = vec![0];
    for at in 0..grid.ndim() {
        let len = old.shape()[at].min(grid.shape()[at]);
        let chunk = grid.chunks()[at].max(1);
        let chunks = len.div_ceil(chunk);
        let range = if at == axis { len / chunk..chunks } else { 0..chunks };
        let stride = grid.chunk_stride(at);
        numbers = numbers.iter().flat_map(|n| range.clone().map(move |at| n + at * stride)).collect();
    }
    numbers
}
