//! Growing must not show what is left of a larger shape: items behind the edge of a chunk are cleared when the
//! edge moves, and what is known of chunks whose edge moves is no longer exact.

use std::ops::Range;

use coquina_kernels::Type;

use super::encode::{ChunkEncoder, Edit};
use super::first_error::FirstError;
use super::old_chunk::OldChunk;
use crate::array::geometry::Grid;
use crate::array::read::Source;
use crate::base::error::{Error, Result};
use crate::base::pool::Job;
use crate::base::scratch::with_scratch;
use crate::base::sequencer::Ticket;
use crate::chunk::{BlockSource, Header};
use crate::policy::ChunkBlocks;
use crate::store::{EncodedChunk, Entry, Statistics, Store};

/// Makes anew those chunks that stay, whose edge moves outwards, that are not made anew anyway, and that hold
/// anything but zeros behind the edge.
pub(crate) fn clear_uncovered(
    encoder: &ChunkEncoder<'_>,
    store: &mut dyn Store,
    entries: &mut Vec<(u64, Entry)>,
    job: &Job<'_>,
) -> Result<()> {
    let (old, grid) = (encoder.old, encoder.grid);
    let mut made: Vec<u64> = entries.iter().map(|(number, _)| *number).collect();
    made.sort_unstable();
    let moved = (0..grid.ndim()).filter(|&axis| {
        let (from, chunk) = (old.grid.shape()[axis], grid.chunks()[axis]);
        grid.shape()[axis] > from && chunk > 0 && from % chunk != 0
    });
    let numbers = grid.edge_chunks(old.grid, moved);
    for number in numbers.into_iter().filter(|number| made.binary_search(number).is_err()) {
        let place = |e: Error| e.at(format!("chunk {number}"));
        if grid.number_in(old.grid, number).is_none() {
            continue;
        }
        let before = OldChunk::of(old, grid, number).map_err(place)?;
        if has_leftovers(&before, grid).map_err(place)? {
            let made = rewritten(before, encoder, number, job).map_err(place)?;
            entries.push((number, made.put(store)?));
        }
    }
    Ok(())
}

/// Whether clearing would change anything.
fn has_leftovers(before: &OldChunk<'_>, grid: &Grid) -> Result<bool> {
    with_scratch(grid.block_bytes(), |block| {
        for number in 0..grid.blocks_per_chunk() {
            if before.has_outside(number) && before.block(number, block)? {
                return Ok(true);
            }
        }
        Ok(false)
    })
}

/// Encodes a chunk with what counts of its old content.
fn rewritten(
    old: OldChunk<'_>,
    encoder: &ChunkEncoder<'_>,
    number: u64,
    job: &Job<'_>,
) -> Result<EncodedChunk> {
    let blocks = KeptBlocks { old, failed: FirstError::default() };
    let keeps_items = encoder.grid.holds_all_of(encoder.old.grid);
    let edit = Edit { number, is_covered: false, keeps_items, may_repeat: false };
    let made = encoder.encode(edit, &blocks, &Ticket::alone(), job);
    blocks.failed.or(made)
}

/// The blocks of a chunk as they were.
struct KeptBlocks<'w> {
    old: OldChunk<'w>,
    failed: FirstError,
}

impl BlockSource for KeptBlocks<'_> {
    fn fill(&self, number: usize, out: &mut [u8]) {
        let _ = self.failed.note(number, self.old.block(number, out));
    }
}

impl ChunkBlocks for KeptBlocks<'_> {
    fn fill_old(&self, number: usize, out: &mut [u8]) {
        self.fill(number, out);
    }

    fn written(&self) -> Vec<usize> {
        Vec::new()
    }

    fn old_header(&self) -> Option<Header> {
        self.old.header()
    }
}

/// What is to be known after a resize of the chunks that stay as they are stored, where the edge of the array moves
/// through them: those that grow have zeros more, and those that shrink may have lost their least or greatest item.
pub(crate) fn statistics_after_resize(
    old: &Source<'_>,
    grid: &Grid,
    made: &[(u64, Entry)],
) -> Vec<(u64, Option<Statistics>)> {
    let Some(ty) = old.statistics.filter(|_| old.chunks.knows_any()) else { return Vec::new() };
    let mut made: Vec<u64> = made.iter().map(|(number, _)| *number).collect();
    made.sort_unstable();
    let moved = (0..grid.ndim()).filter(|&axis| grid.shape()[axis] != old.grid.shape()[axis]);
    let mut numbers = grid.edge_chunks(old.grid, moved);
    numbers.retain(|number| made.binary_search(number).is_err());
    let known = |number| {
        let before = grid.number_in(old.grid, number)?;
        Some((
            number,
            resized(ty, old.chunks.statistics(before)?, &old.grid.region(before), &grid.region(number)),
        ))
    };
    numbers.into_iter().filter_map(known).collect()
}

type Region = [Range<u64>];

/// What is known of a chunk that held the items of one region and holds those of another.
fn resized(ty: Type, statistics: Statistics, old: &Region, new: &Region) -> Option<Statistics> {
    let shrinks = old.iter().zip(new).any(|(old, new)| new.end < old.end);
    let grows = old.iter().zip(new).any(|(old, new)| new.end > old.end);
    let statistics = Statistics { is_exact: statistics.is_exact && !shrinks, ..statistics };
    if !grows {
        return Some(statistics);
    }
    statistics.and(ty, &Statistics::of_item(ty, &[0; 8][..ty.bytes()])?)
}
