//! A run: entries in the order of their keys, as they are stored, and the search of ranges of keys in it.
//!
//! In: the stored parts of a run, and ranges of keys. Out: the rows whose keys are in them: those that are for sure,
//! and those of which the stored bits do not tell. Only blocks in which a range ends are decoded to find where its
//! entries stand, and of the rows those that are asked for.
//! Source: `docs/formats/indexes.md`.
//! Invariant: no row whose key is in a range is left out, and no row that is sure has a key that is in none. What is
//! stored may be anything: blocks whose offsets fall, and numbers that no row has, are errors.

use coquina_kernels::items::items;

use super::distinct::distinct;
use super::ends::{Cursor, Ends};
use super::key_ranges::KeyRanges;
use super::stored::Stored;
use super::windows::{Segment, Window, windows};
use crate::array::gather;
use crate::base::error::{Error, Result};
use crate::base::ordered::{Ordered, Take};
use crate::base::pool::Job;
use crate::base::scratch::with_scratch;

/// So many ranges are looked for by one task.
const TASK_RANGES: usize = 64;

/// Rows that were found, or buckets of rows: each list ascending, nothing twice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Those whose keys are in the ranges.
    pub sure: Vec<i64>,
    /// Those whose keys may be.
    pub unsure: Vec<i64>,
}

/// A run that can be searched.
pub struct Run {
    stored: Stored,
}

impl Run {
    /// Checks that the parts fit together.
    ///
    /// # Errors
    /// `Corrupt` if they do not.
    pub fn open(stored: Stored) -> Result<Self> {
        stored.check()?;
        Ok(Self { stored })
    }

    /// How many rows have a key.
    pub fn entries(&self) -> u64 {
        self.stored.entries
    }

    /// How many have none.
    pub fn missing(&self) -> u64 {
        self.stored.missing
    }

    /// The rows without a key.
    ///
    /// # Errors
    /// As [`Run::rows_at`].
    pub fn missing_rows(&self, job: &Job<'_>) -> Result<Vec<i64>> {
        let Stored { entries, missing, .. } = &self.stored;
        if *missing == 0 {
            return Ok(Vec::new());
        }
        self.rows_at(*entries, entries + missing, job)
    }

    /// No more entries than this have keys in the ranges; nothing is read for it.
    pub fn estimate(&self, ranges: &KeyRanges) -> u64 {
        let Stored { first, entries, block_entries, .. } = &self.stored;
        let (mut seen, mut count) = (0, 0);
        for range in ranges.ranges() {
            let start = first.partition_point(|key| key < range.start()).saturating_sub(1) as u64;
            let stop = first.partition_point(|key| key <= range.end()) as u64;
            let start = start.max(seen);
            if start < stop {
                let end = stop.saturating_mul(*block_entries).min(*entries);
                count += end - start.saturating_mul(*block_entries).min(end);
                seen = stop;
            }
        }
        count
    }

    /// How many entries have keys in the ranges for sure, and how many more may have.
    ///
    /// # Errors
    /// `Corrupt` for offsets that fall, and what goes wrong with reading.
    pub fn count(&self, ranges: &KeyRanges, job: &Job<'_>) -> Result<(u64, u64)> {
        let ends = self.ends(ranges, job)?;
        let sure: u64 = ends.iter().map(|ends| ends.sure.end - ends.sure.start).sum();
        let all: u64 = ends.iter().map(|ends| ends.all.end - ends.all.start).sum();
        Ok((sure, all - sure))
    }

    /// The rows whose keys are in the ranges.
    ///
    /// # Errors
    /// `Corrupt` for offsets that fall and numbers that no row has, and what goes wrong with reading.
    pub fn find(&self, ranges: &KeyRanges, job: &Job<'_>) -> Result<Found> {
        let windows = windows(&self.ends(ranges, job)?);
        let item_bytes = self.stored.rows.item_bytes();
        let bytes = |window: &Window| window.len.saturating_mul(item_bytes);
        let total = windows.iter().fold(0, |total: usize, window| total.saturating_add(bytes(window)));
        let ordered = Ordered::new(Found::default(), job.width(total));
        job.run(total, windows.iter().enumerate(), |(number, window)| {
            ordered.put(number, || self.rows_of(window))?;
            Ok(bytes(window))
        })?;
        let Found { sure, unsure } = ordered.into_taker();
        Ok(Found { sure: distinct(sure), unsure: distinct(unsure) })
    }

    /// The rows of entries in the order of their keys; behind all entries are the rows without a key.
    ///
    /// # Errors
    /// `OutOfBounds` for entries that are not there, `Corrupt` for numbers that no row has, and what goes wrong with
    /// reading.
    pub fn rows_at(&self, start: u64, stop: u64, job: &Job<'_>) -> Result<Vec<i64>> {
        let rows = &*self.stored.rows;
        let all = self.stored.entries + self.stored.missing;
        if start > stop || stop > all {
            return Err(Error::out_of_bounds(format!("entries {start}..{stop} of {all}")));
        }
        let len = usize::try_from(stop - start).unwrap_or(usize::MAX);
        let too_many = || Error::limit(format!("{len} rows"));
        let bytes = len.checked_mul(rows.item_bytes()).ok_or_else(too_many)?;
        let mut numbers = Vec::new();
        numbers.try_reserve_exact(len).map_err(|_| too_many())?;
        with_scratch(bytes, |room| {
            gather(rows, &[start], &[stop - start], room, job)?;
            push_rows(room, rows.item_bytes(), &mut numbers)
        })?;
        Ok(numbers)
    }

    /// Where the entries of each range stand; those of one range begin where those before it end, at least.
    fn ends(&self, ranges: &KeyRanges, job: &Job<'_>) -> Result<Vec<Ends>> {
        let mut ends = vec![Ends::default(); ranges.ranges().len()];
        let block_bytes = usize::try_from(self.stored.block_entries).unwrap_or(usize::MAX);
        let total = ranges.ranges().len().saturating_mul(block_bytes);
        let tasks = ranges.ranges().chunks(TASK_RANGES).zip(ends.chunks_mut(TASK_RANGES));
        job.run(total, tasks, |(ranges, ends)| {
            let mut cursor = Cursor::new(&self.stored);
            for (range, ends) in ranges.iter().zip(ends) {
                *ends = cursor.ends(range)?;
            }
            Ok(block_bytes.saturating_mul(ranges.len()))
        })?;
        let mut before = 0;
        for ends in &mut ends {
            // What may be in two ranges is met once.
            ends.clip(before);
            before = ends.all.end;
        }
        Ok(ends)
    }

    /// The rows of the entries of a window.
    fn rows_of(&self, window: &Window) -> Result<Found> {
        let rows = &*self.stored.rows;
        let item_bytes = rows.item_bytes();
        let bytes = window.len.checked_mul(item_bytes);
        let bytes = bytes.ok_or_else(|| Error::limit(format!("{} rows", window.len)))?;
        let mut found = Found::default();
        with_scratch(bytes, |room| {
            rows.fill(&[window.start], &[window.len as u64], room)?;
            for Segment { entries, is_sure } in &window.segments {
                let [from, to] = [entries.start, entries.end]
                    .map(|at| usize::try_from(at - window.start).unwrap_or(usize::MAX) * item_bytes);
                let out = if *is_sure { &mut found.sure } else { &mut found.unsure };
                push_rows(&room[from..to], item_bytes, out)?;
            }
            Ok(found)
        })
    }
}

/// Appends numbers of rows.
fn push_rows(bytes: &[u8], item_bytes: usize, out: &mut Vec<i64>) -> Result<()> {
    if item_bytes == size_of::<u32>() {
        out.extend(items::<u32>(bytes).iter().map(|&row| i64::from(row)));
        return Ok(());
    }
    let rows = items::<u64>(bytes);
    if let Some(&row) = rows.iter().find(|&&row| i64::try_from(row).is_err()) {
        return Err(Error::corrupt(format!("row {row}: no table has so many")));
    }
    out.extend(rows.iter().map(|row| row.cast_signed()));
    Ok(())
}

impl Take<Self> for Found {
    type Rest = ();

    fn take(&mut self, mut found: Self) -> Result<()> {
        self.sure.append(&mut found.sure);
        self.unsure.append(&mut found.unsure);
        Ok(())
    }
}

#[cfg(test)]
pub(super) mod tests;
