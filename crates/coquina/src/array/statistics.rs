//! What is known of the items of each chunk: the least and the greatest, and whether there is a NaN.
//!
//! Gathered from the blocks of a chunk while they are on their way into it and still in the cache, and kept with the
//! chunk. Only items inside the shape count. Blocks that are taken over as they are stored do not pass: then what was
//! known of the chunk before holds on, as limits, or nothing is known.
//! Source: `docs/formats/frame.md`, "Statistics"; `docs/decisions/0007-statistics-of-chunks.md`.
//! Invariant: no item of a chunk lies outside of its bounds, and exact ones are items of it.

use std::sync::{Mutex, PoisonError};

use coquina_kernels::boxes::{Axis, Steps, copy_box};
use coquina_kernels::{Bounds as Found, Type, best_level, bounds};

use super::before::old_number;
use super::boxes::{Bounds, BoxSource};
use super::grid::Grid;
use super::handle::Array;
use super::read::{Source, with_scratch};
use super::resize::edge_chunks;
use super::selection::Selection;
use super::write::{Made, encoded};
use crate::base::error::Result;
use crate::base::pool::Job;
use crate::chunk::{BlockSource, Params};
use crate::store::{Access, Entry, Statistics, Stored};

/// The type of the items, if a dtype of this text has numbers with an order, in the byte order of files and machine.
pub(super) fn item_type(dtype: &str, item_bytes: usize) -> Option<Type> {
    let ty = match dtype {
        "|b1" => Type::Bool,
        "|i1" | "<i1" => Type::I8,
        "|u1" | "<u1" => Type::U8,
        "<i2" => Type::I16,
        "<u2" => Type::U16,
        "<i4" => Type::I32,
        "<u4" => Type::U32,
        "<i8" => Type::I64,
        "<u8" => Type::U64,
        "<f4" => Type::F32,
        "<f8" => Type::F64,
        _ => return None,
    };
    (cfg!(target_endian = "little") && ty.bytes() == item_bytes).then_some(ty)
}

fn exact(found: Found) -> Statistics {
    let Found { min, max, has_nan } = found;
    Statistics { min, max, is_exact: true, has_nan }
}

/// What is known of items that are all this one.
pub(super) fn of_item(ty: Type, item: &[u8]) -> Option<Statistics> {
    if item.len() != ty.bytes() {
        return None;
    }
    bounds(best_level(), ty, item).map(exact)
}

/// What is known of the items of two lots.
fn merged(ty: Type, a: &Statistics, b: &Statistics) -> Option<Statistics> {
    let size = ty.bytes();
    let ends: Vec<u8> = [a.min, a.max, b.min, b.max].iter().flat_map(|item| &item[..size]).copied().collect();
    let Found { min, max, .. } = bounds(best_level(), ty, &ends)?;
    Some(Statistics { min, max, is_exact: a.is_exact && b.is_exact, has_nan: a.has_nan || b.has_nan })
}

/// The bounds that statistics say; `None` for what none of ours say.
pub(super) fn checked(ty: Type, statistics: &Statistics) -> Option<Bounds> {
    let size = ty.bytes();
    let &Statistics { min, max, is_exact, has_nan } = statistics;
    let ends = [&min[..size], &max[..size]].concat();
    let found = bounds(best_level(), ty, &ends)?;
    let is_right = found == Found { has_nan: found.has_nan, min, max } && (has_nan || !found.has_nan);
    is_right.then(|| Bounds { min: min[..size].into(), max: max[..size].into(), is_exact, has_nan })
}

impl Array {
    /// What is known of the items of chunk `number` without decoding any: those inside the shape. Limits that are not
    /// exact may be wider than the items, and say that there is a NaN where there may be one. Of a chunk that has
    /// only NaNs, both limits are NaN.
    pub fn chunk_bounds(&self, number: u64) -> Option<Bounds> {
        let (state, ty) = (self.state(), self.item_type?);
        if let Some(statistics) = state.chunks.statistics(number) {
            return checked(ty, &statistics);
        }
        let Ok(Access::Free) = state.chunks.access(1) else { return None };
        let statistics = match state.chunks.chunk(number).ok()? {
            Stored::Special(special) => of_item(ty, &special.item(state.grid.typesize()).ok()?),
            Stored::Item(item) => of_item(ty, &item),
            Stored::At { .. } => None,
            Stored::Other { .. } => {
                let region = state.grid.region(number);
                let (start, shape): (Vec<_>, Vec<_>) =
                    region.iter().map(|range| (range.start, range.end - range.start)).unzip();
                return self.bounds(&start, &shape);
            }
        };
        checked(ty, &statistics?)
    }
}

/// A chunk that is being made.
pub(super) struct Gather<'w> {
    /// What there was before.
    pub(super) old: &'w Source<'w>,
    /// The grid to come.
    pub(super) grid: &'w Grid,
    /// The number of the chunk in it.
    pub(super) number: u64,
    /// Whether all items that it held are still in it.
    pub(super) keeps_items: bool,
    /// Whether its parameters were chosen, also where chunks are not the store's.
    pub(super) is_chosen: bool,
}

impl Gather<'_> {
    /// Encodes the chunk, and gathers what is to be known of it.
    pub(super) fn encoded(&self, blocks: &dyn BlockSource, params: &Params, job: &Job<'_>) -> Result<Made> {
        let encoder = self.old.chunks.encoder();
        // What passes must be what is decoded again.
        let is_kept = encoder.is_none() && !params.is_lossy();
        let Some(ty) = self.old.statistics.filter(|_| is_kept) else {
            let rows = self.grid.region(self.number).first().map_or(1, |rows| rows.end - rows.start);
            let encoder = encoder.map(|encoder| (encoder, rows, self.is_chosen));
            return encoded(blocks, self.grid, params, encoder, job);
        };
        let lens = self.grid.region(self.number).into_iter().map(|range| range.end - range.start);
        let seen = Seen { blocks: vec![false; self.grid.blocks_per_chunk()], statistics: None };
        let passing = Passing { blocks, grid: self.grid, ty, inside: lens.collect(), seen: Mutex::new(seen) };
        let made = encoded(&passing, self.grid, params, None, job)?;
        let seen = passing.seen.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(made.with_statistics(self.statistics(ty, &seen)))
    }

    /// What is known of a chunk that decodes to these bytes, block behind block.
    pub(super) fn of_plain(&self, plain: &[u8]) -> Option<Statistics> {
        let ty = self.old.statistics.filter(|_| self.old.chunks.encoder().is_none())?;
        let lens: Vec<u64> =
            self.grid.region(self.number).into_iter().map(|range| range.end - range.start).collect();
        let blocks = plain.chunks(self.grid.block_bytes().max(1)).enumerate();
        let all = blocks.filter_map(|(number, block)| of_block(ty, self.grid, &lens, (number, block)));
        all.reduce(|a, b| merged(ty, &a, &b).unwrap_or(a))
    }

    fn statistics(&self, ty: Type, seen: &Seen) -> Option<Statistics> {
        if seen.blocks.iter().all(|&seen| seen) {
            return seen.statistics;
        }
        // The others stay as they are stored, with items of which the old limits are true.
        let before = old_number(self.number, self.grid, self.old.grid)?;
        let before = self.old.chunks.statistics(before)?;
        let before = Statistics { is_exact: before.is_exact && self.keeps_items, ..before };
        match &seen.statistics {
            Some(statistics) => merged(ty, &before, statistics),
            None => Some(before),
        }
    }
}

/// Whether all items that chunks of `old` hold are still in them when the selected ones have been written.
pub(super) fn keeps_items(old: &Grid, grid: &Grid, written: Option<&Selection>) -> bool {
    let is_grown = grid.shape().iter().zip(old.shape()).all(|(new, old)| new >= old);
    let is_behind = |selection: &Selection| {
        let (starts, _) = selection.as_box()?;
        Some(starts.iter().zip(old.shape()).any(|(start, len)| start >= len))
    };
    is_grown && written.is_none_or(|written| is_behind(written).unwrap_or(false))
}

/// The blocks of a chunk on their way into it.
struct Passing<'w> {
    blocks: &'w dyn BlockSource,
    grid: &'w Grid,
    ty: Type,
    /// How many items of the chunk along each axis are inside the shape.
    inside: Vec<u64>,
    seen: Mutex<Seen>,
}

/// What has passed.
struct Seen {
    blocks: Vec<bool>,
    statistics: Option<Statistics>,
}

impl BlockSource for Passing<'_> {
    fn fill(&self, number: usize, out: &mut [u8]) {
        self.blocks.fill(number, out);
        let new = of_block(self.ty, self.grid, &self.inside, (number, out));
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(is_seen) = seen.blocks.get_mut(number) {
            *is_seen = true;
        }
        // To see a block once more makes no difference.
        seen.statistics = match (&seen.statistics, &new) {
            (Some(old), Some(new)) => merged(self.ty, old, new),
            (old, new) => old.or(*new),
        };
    }

    fn encoded(&self, number: usize) -> Option<Vec<u8>> {
        self.blocks.encoded(number)
    }
}

/// What is known of the items of a block that are inside, of a chunk of which so many are along each axis.
fn of_block(ty: Type, grid: &Grid, inside: &[u64], (number, block): (usize, &[u8])) -> Option<Statistics> {
    with_inside(grid, inside, (number, block), |items| bounds(best_level(), ty, items).map(exact))?
}

/// Runs `work` with the items of a block that are inside, one behind another; `None` if none is.
pub(super) fn with_inside<T>(
    grid: &Grid,
    inside: &[u64],
    (number, block): (usize, &[u8]),
    work: impl FnOnce(&[u8]) -> T,
) -> Option<T> {
    let kept = grid.inside_block(inside, number);
    if kept.contains(&0) {
        return None;
    }
    let size = grid.typesize();
    let items: usize = kept.iter().product();
    if items * size == block.len() {
        return Some(work(block));
    }
    // One run over a copy of those that count, since rows at the edge can be short.
    with_scratch(items * size, |inside| {
        let mut stride = size;
        let mut axes = Vec::with_capacity(kept.len());
        for (axis, &len) in kept.iter().enumerate().rev() {
            let to = Steps::Even { start: 0, step: stride.cast_signed() };
            let from = Steps::Even { start: 0, step: grid.item_stride(axis).cast_signed() };
            axes.push(Axis { len, to, from });
            stride *= len;
        }
        axes.reverse();
        copy_box(inside, block, &axes, size);
        Some(work(inside))
    })
}

/// What is to be known after a resize of the chunks that stay as they are stored, where the edge of the array moves
/// through them: those that grow have zeros more, and those that shrink may have lost their least or greatest item.
pub(super) fn after_resize(
    old: &Source<'_>,
    grid: &Grid,
    made: &[(u64, Entry)],
) -> Vec<(u64, Option<Statistics>)> {
    let Some(ty) = old.statistics.filter(|_| old.chunks.sizes().known_chunks > 0) else { return Vec::new() };
    let mut made: Vec<u64> = made.iter().map(|(number, _)| *number).collect();
    made.sort_unstable();
    let moved = (0..grid.ndim()).filter(|&axis| grid.shape()[axis] != old.grid.shape()[axis]);
    let mut numbers: Vec<u64> = moved.flat_map(|axis| edge_chunks(old.grid, grid, axis)).collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers.retain(|number| made.binary_search(number).is_err());
    let known = |number| {
        let before = old_number(number, grid, old.grid)?;
        Some((
            number,
            resized(ty, old.chunks.statistics(before)?, &old.grid.region(before), &grid.region(number)),
        ))
    };
    numbers.into_iter().filter_map(known).collect()
}

type Region = [std::ops::Range<u64>];

/// What is known of a chunk that held the items of one region and holds those of another.
fn resized(ty: Type, statistics: Statistics, old: &Region, new: &Region) -> Option<Statistics> {
    let shrinks = old.iter().zip(new).any(|(old, new)| new.end < old.end);
    let grows = old.iter().zip(new).any(|(old, new)| new.end > old.end);
    let statistics = Statistics { is_exact: statistics.is_exact && !shrinks, ..statistics };
    if !grows {
        return Some(statistics);
    }
    merged(ty, &statistics, &of_item(ty, &[0; 8][..ty.bytes()])?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statistics_that_none_of_ours_say_are_no_bounds() {
        let double = f64::to_le_bytes;
        let known = |min: f64, max: f64, has_nan| {
            checked(Type::F64, &Statistics { min: double(min), max: double(max), is_exact: true, has_nan })
        };
        assert!(known(1.0, 2.0, false).is_some() && known(1.0, 1.0, true).is_some());
        assert!(known(f64::NAN, f64::NAN, true).is_some());
        assert!(known(2.0, 1.0, false).is_none());
        assert!(known(f64::NAN, f64::NAN, false).is_none());
        assert!(known(f64::NAN, 1.0, true).is_none());
        assert!(known(-0.0, 1.0, true).is_none());
        let byte = |min: u8, max: u8| {
            let item = |byte| [byte, 0, 0, 0, 0, 0, 0, 0];
            checked(
                Type::Bool,
                &Statistics { min: item(min), max: item(max), is_exact: true, has_nan: false },
            )
        };
        assert!(byte(0, 1).is_some() && byte(0, 2).is_none());
        let spill = Statistics { min: [1; 8], max: [1; 8], is_exact: true, has_nan: false };
        assert!(checked(Type::U8, &spill).is_none());
    }

    #[test]
    fn only_numbers_of_this_byte_order_have_statistics() {
        let numbers = ["|b1", "|i1", "|u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8", "<f4", "<f8"];
        for dtype in numbers {
            let bytes = usize::from(dtype.as_bytes()[2] - b'0');
            assert_eq!(item_type(dtype, bytes).unwrap().bytes(), bytes);
            assert_eq!(item_type(dtype, 3), None);
        }
        for (dtype, bytes) in [(">i4", 4), ("<f2", 2), ("<c8", 8), ("<M8[ns]", 8), ("|S4", 4), ("<f16", 16)] {
            assert_eq!(item_type(dtype, bytes), None, "{dtype}");
        }
    }
}
