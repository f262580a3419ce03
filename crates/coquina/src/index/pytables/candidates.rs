//! What an index stores beside its values, as rows: rows themselves, or buckets of rows.
//!
//! In: places in slices. Out: rows, or ranges of rows; candidates.
//! Source: `docs/formats/pytables-indexes.md`, "Where a value came from".
//! Invariant: the row that a value came from is among them, also where PyTables takes a bucket for the one before.
//! Numbers that no row can have are errors.

use std::ops::Range;

use coquina_kernels::items::items;

use super::shape::{Arrays, Shape};
use super::value_keys::each_part;
use crate::base::error::{Error, Result};
use crate::base::pool::Job;
use crate::index::distinct::distinct;

/// What is asked of an index: for each slice places, in order.
pub(super) struct Candidates<'c> {
    pub(super) arrays: &'c Arrays,
    pub(super) shape: &'c Shape,
    pub(super) places: &'c [Vec<Range<u64>>],
}

/// The buckets that the numbers of a slice may stand for.
struct Buckets {
    /// The first one, from which numbers count.
    first: u64,
    /// The greatest number.
    most: u64,
    /// By how many a number may be less than what it stands for.
    beyond: u64,
}

impl Candidates<'_> {
    /// Calls `see` with the numbers that are stored at the places of a slice, some at a time.
    fn each(
        &self,
        slice: usize,
        job: &Job<'_>,
        mut see: impl FnMut(&mut dyn Iterator<Item = u64>) -> Result<()>,
    ) -> Result<()> {
        let (number, item_bytes) = (slice as u64, self.shape.item_bytes);
        let is_full = number < self.shape.full_slices;
        let source = if is_full { &self.arrays.indices } else { &self.arrays.rest_indices };
        for range in &self.places[slice] {
            let start = [number, range.start];
            let start = if is_full { &start[..] } else { &start[1..] };
            each_part(&**source, start, range.end - range.start, job, |bytes| match item_bytes {
                1 => see(&mut bytes.iter().map(|&item| u64::from(item))),
                2 => see(&mut items::<u16>(bytes).iter().map(|&item| u64::from(item))),
                4 => see(&mut items::<u32>(bytes).iter().map(|&item| u64::from(item))),
                _ => see(&mut items::<u64>(bytes).iter().copied()),
            })?;
        }
        Ok(())
    }

    /// The buckets that the numbers of a slice may stand for.
    fn buckets(&self, slice: usize) -> Buckets {
        let Shape { chunking, bucket_rows, rows, item_bytes, .. } = *self.shape;
        let number = slice as u64;
        let (start, end, beyond) = match item_bytes {
            1 => (number * chunking.slice, (number + 1) * chunking.slice, 0),
            2 => {
                // Slices of a block exchange their chunks. The sum of two parts is stored, each of them rounded down.
                let start = number / (chunking.block / chunking.slice) * chunking.block;
                (start, start + chunking.block, u64::from(!chunking.block.is_multiple_of(bucket_rows)))
            }
            _ => (0, rows, 0),
        };
        let first = start / bucket_rows;
        Buckets { first, most: ((end.min(rows) - 1) / bucket_rows).saturating_sub(first), beyond }
    }
}

/// The rows that stand at places of an index that tells each row.
pub(super) fn rows_at(candidates: &Candidates<'_>, job: &Job<'_>) -> Result<Vec<i64>> {
    let rows = candidates.shape.rows;
    let mut found = Vec::new();
    for slice in 0..candidates.places.len() {
        candidates.each(slice, job, |numbers| {
            for row in numbers {
                if row >= rows {
                    return Err(Error::corrupt(format!("row {row} of {rows}")));
                }
                found.push(row.cast_signed());
            }
            Ok(())
        })?;
    }
    let count = found.len();
    let found = distinct(found);
    if found.len() < count {
        return Err(Error::corrupt("a row has two values"));
    }
    Ok(found)
}

/// The rows of the buckets that stand at places.
pub(super) fn ranges_at(candidates: &Candidates<'_>, job: &Job<'_>) -> Result<Vec<Range<i64>>> {
    let Shape { bucket_rows, rows, item_bytes, .. } = *candidates.shape;
    let mut is_in = vec![false; usize::try_from(rows.div_ceil(bucket_rows)).unwrap_or(0)];
    for slice in 0..candidates.places.len() {
        if candidates.places[slice].is_empty() {
            continue;
        }
        let buckets = candidates.buckets(slice);
        let mut numbers = Vec::new();
        candidates.each(slice, job, |found| {
            numbers.extend(found);
            numbers.sort_unstable();
            numbers.dedup();
            Ok(())
        })?;
        mark(&numbers, &buckets, 8 * item_bytes, &mut is_in)?;
    }
    let mut ranges = Vec::new();
    let mut at = 0;
    for together in is_in.chunk_by(|one, next| one == next) {
        let (start, end) = (at as u64 * bucket_rows, ((at + together.len()) as u64 * bucket_rows).min(rows));
        if together.first() == Some(&true) {
            ranges.push(start.cast_signed()..end.cast_signed());
        }
        at += together.len();
    }
    Ok(ranges)
}

/// Marks the buckets that numbers may stand for: those of which they are the lowest bits.
fn mark(numbers: &[u64], buckets: &Buckets, bits: usize, is_in: &mut [bool]) -> Result<()> {
    let &Buckets { first, most, beyond } = buckets;
    if let Some(number) = numbers.last().filter(|&&number| number > most) {
        return Err(Error::corrupt(format!("bucket {number} of {}", most + 1)));
    }
    for turn in (0..=most).step_by(1 << bits.min(32)) {
        for more in 0..=beyond {
            for found in numbers.iter().map(|number| number + turn + more).filter(|&found| found <= most) {
                let place = usize::try_from(first + found).ok().and_then(|at| is_in.get_mut(at));
                let Some(place) = place else {
                    return Err(Error::corrupt(format!("bucket {} of {}", first + found, is_in.len())));
                };
                *place = true;
            }
        }
    }
    Ok(())
}
