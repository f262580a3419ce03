//! What a chunk held before it is made anew: as a source of blocks, of which only what is inside the shape counts.

use coquina_kernels::boxes::{Axis, Steps, copy_box};

use super::blocks::Failed;
use super::choices::{Chooser, Chosen};
use super::grid::Grid;
use super::read::{Content, Source};
use super::statistics::Gather;
use super::write::Made;
use crate::base::error::Result;
use crate::base::pool::Job;
use crate::base::turns::Turn;
use crate::chunk::{BlockSource, Header, Params};

/// The number that a chunk had in another shape of the same cut; `None` if it was not there.
pub(super) fn old_number(number: u64, grid: &Grid, old: &Grid) -> Option<u64> {
    if grid == old {
        return Some(number);
    }
    if old.nchunks() == 0 {
        return None;
    }
    let mut total = 0;
    for (axis, at) in grid.chunk_at(number).into_iter().enumerate() {
        if at * grid.chunks()[axis] >= old.shape()[axis] {
            return None;
        }
        total += at * old.chunk_stride(axis);
    }
    Some(total)
}

/// What a chunk held before.
pub(super) enum Before<'w> {
    /// Nothing that counts: this item over and over, or zeros.
    Nothing(Option<&'w [u8]>),
    /// One item over and over, or blocks; of a grid that may be smaller than the one to come.
    Content(&'w Source<'w>, Content, Vec<u64>),
}

impl<'w> Before<'w> {
    pub(super) fn of(old: &'w Source<'w>, grid: &Grid, number: u64) -> Result<Self> {
        let Some(number) = old_number(number, grid, old.grid) else {
            return Ok(Self::Nothing(old.chunks.fill()));
        };
        // What stands behind the edge of the old shape may be left from a larger one.
        let lens = old.grid.region(number).into_iter().map(|range| range.end - range.start);
        let inside = if old.grid == grid { grid.chunks().to_vec() } else { lens.collect() };
        Ok(Self::Content(old, old.content(number)?, inside))
    }

    /// Fills `out` with block `number`; returns whether anything had to be cleared.
    pub(super) fn block(&self, number: usize, out: &mut [u8]) -> Result<bool> {
        match self {
            Self::Nothing(item) => {
                fill(out, *item);
                Ok(false)
            }
            Self::Content(old, content, inside) => {
                match content {
                    Content::Item(item) => fill(out, Some(item)),
                    Content::Blocks(_, chunk) => old.decode(&**chunk, number, out)?,
                }
                Ok(clear_outside(old, inside, number, out))
            }
        }
    }

    /// The stored bytes of block `number`, if it can stay as it is.
    pub(super) fn stored(&self, number: usize, params: &Params) -> Result<Option<Vec<u8>>> {
        match self {
            Self::Content(_, Content::Blocks(_, chunk), _) if !self.has_outside(number) => {
                chunk.lend(number, params)
            }
            _ => Ok(None),
        }
    }

    /// The header of the Blosc chunk that stood there, if one did.
    pub(super) fn header(&self) -> Option<Header> {
        match self {
            Self::Content(_, Content::Blocks(_, chunk), _) => chunk.header(),
            _ => None,
        }
    }

    /// Whether a part of block `number` does not count.
    pub(super) fn has_outside(&self, number: usize) -> bool {
        match self {
            Self::Nothing(_) => false,
            Self::Content(old, _, inside) => !is_inside(old.grid, &old.grid.inside_block(inside, number)),
        }
    }
}

/// Whether all items of a block count, of which so many do along each axis.
fn is_inside(grid: &Grid, kept: &[usize]) -> bool {
    kept.iter().zip(grid.blocks()).all(|(&kept, &block)| kept as u64 == block)
}

/// Encodes a chunk with what counts of its old content.
pub(super) fn rewritten(
    before: Before<'_>,
    gather: &Gather<'_>,
    (params, chooser): (&Params, Option<Chooser<'_>>),
    job: &Job<'_>,
) -> Result<Made> {
    let header = before.header();
    let blocks = Kept { before, failed: Failed::default() };
    let Gather { grid, number, .. } = *gather;
    let chunk = Chosen { blocks: &blocks, grid, number, touched: Vec::new(), header };
    let choice = chooser.map(|chooser| chooser.choose(&chunk, &Turn::alone(), job)).transpose();
    let made = choice.and_then(|choice| {
        let params = choice.as_ref().map_or(params, |choice| &choice.params);
        gather.encoded(&blocks, params, job)
    });
    blocks.failed.first(made)
}

/// The blocks of a chunk as they were.
struct Kept<'w> {
    before: Before<'w>,
    failed: Failed,
}

impl BlockSource for Kept<'_> {
    fn fill(&self, number: usize, out: &mut [u8]) {
        let _ = self.failed.note(number, self.before.block(number, out));
    }
}

/// Makes `out` this item over and over, or zeros.
fn fill(out: &mut [u8], item: Option<&[u8]>) {
    match item {
        None | Some([]) => out.fill(0),
        Some(item) => out.chunks_exact_mut(item.len()).for_each(|out| out.copy_from_slice(item)),
    }
}

/// What was never written, in a block of a chunk of which only `inside` items along each axis count; whether anything
/// else was there.
fn clear_outside(old: &Source<'_>, inside: &[u64], number: usize, block: &mut [u8]) -> bool {
    let grid = old.grid;
    let kept = grid.inside_block(inside, number);
    if is_inside(grid, &kept) {
        return false;
    }
    let before = block.to_vec();
    fill(block, old.chunks.fill());
    if !kept.contains(&0) {
        let steps = |axis: usize| Steps::Even { start: 0, step: grid.item_stride(axis).cast_signed() };
        let axes: Vec<Axis<'_>> =
            kept.iter().enumerate().map(|(at, &len)| Axis { len, to: steps(at), from: steps(at) }).collect();
        copy_box(block, &before, &axes, grid.typesize());
    }
    before != block
}
