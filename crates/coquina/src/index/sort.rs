//! The rows of a column in the order of their keys.
//!
//! In: a column with keys, ranges of its rows, and how much memory may be used. Out: blocks of entries, and the rows
//! without a key. All is sorted in memory if there is enough of it; else pairs are written to partitions by key in a
//! file, and one partition after another is sorted.
//! Source: `docs/formats/indexes.md`.
//! Invariant: entries are in the order of their keys, and of their rows where these are equal, however it is done.

use std::ops::Range;
use std::path::Path;

use super::blocks::Numbered;
use super::partitions::{Cut, Partitions, Spilling, waiting_bytes};
use super::piece::Piece;
use super::radix::Bounds;
use super::read::Keyed;
use super::sorted::{BATCH_ENTRIES, Part, Sorted, Spilled, partitions_for};
use super::spill::Spill;
use super::splitters::Splitters;
use crate::base::error::{Error, Result};
use crate::base::ordered::Take;
use crate::base::pool::Job;

/// Bytes of memory for an entry that is sorted in memory: its key, its bucket, its pair.
const ENTRY_BYTES: u64 = 8 + 2 + 16;
/// Less memory than this is not worth a file.
const MEMORY_MIN: u64 = 1 << 16;
/// What is to be sorted, and how.
#[derive(Clone, Copy)]
pub struct Sorting<'s> {
    /// The column.
    pub column: Keyed<'s>,
    /// The rows, ascending and disjoint.
    pub ranges: &'s [Range<u64>],
    /// Bytes of memory that may be used, about.
    pub memory_limit: u64,
    /// Where a file can be.
    pub folder: &'s Path,
    /// So many rows share a number.
    pub bucket_rows: u64,
    /// Entries of a block.
    pub block_entries: usize,
}

impl Sorting<'_> {
    /// How many rows are sorted.
    pub fn rows(&self) -> u64 {
        self.ranges.iter().fold(0, |rows, range| rows.saturating_add(range.end.saturating_sub(range.start)))
    }

    /// How many bytes a job tells that it has done, when all rows have been read.
    pub fn read_bytes(&self) -> usize {
        usize::try_from(self.rows()).unwrap_or(usize::MAX).saturating_mul(self.column.row_bytes())
    }

    fn check(&self) -> Result<()> {
        let mut before = 0;
        for range in self.ranges {
            if range.start < before || range.end < range.start {
                let Range { start, end } = range;
                return Err(Error::invalid(format!("rows {start}..{end} behind row {before}")));
            }
            before = range.end;
        }
        if self.bucket_rows == 0 || self.block_entries == 0 || self.block_entries > BATCH_ENTRIES {
            let Self { bucket_rows, block_entries, .. } = self;
            return Err(Error::invalid(format!("buckets of {bucket_rows} rows, blocks of {block_entries}")));
        }
        self.column.check(before)
    }
}

/// Sorts rows by their keys.
///
/// # Errors
/// `Invalid` for ranges that do not rise, a column that has no such items, and sizes of 0; `OutOfBounds` for rows that
/// are not there; `Limit` for more rows at once than can be; `Io` for the file; and what goes wrong with reading.
pub fn sort(sorting: &Sorting<'_>, job: &Job<'_>) -> Result<Sorted> {
    sorting.check()?;
    let ranges: Vec<_> = sorting.ranges.iter().filter(|range| !range.is_empty()).cloned().collect();
    let memory = sorting.memory_limit.max(MEMORY_MIN);
    let last_row = ranges.last().map_or(0, |range| range.end - 1);
    let numbered = Numbered {
        has_large_rows: last_row / sorting.bucket_rows > u64::from(u32::MAX),
        bucket_rows: sorting.bucket_rows,
        block_entries: sorting.block_entries,
    };
    if sorting.rows().saturating_mul(ENTRY_BYTES) <= memory {
        let Pieces { pieces, missing } = sorting.column.each_piece(&ranges, Ok, Pieces::default(), job)?;
        let entries = pieces.iter().map(|piece| piece.len() as u64).sum();
        let part = Bounds::of(&pieces).map(|bounds| Part::sorted(pieces, &bounds, job)).transpose()?;
        return Ok(Sorted::new(entries, missing, numbered).with(part, None));
    }
    let partitions = partitions_for(sorting.rows(), memory);
    let splitters = Splitters::new(sorting.column.sample(&ranges, job)?, partitions);
    let partitions = Partitions::new(&splitters, waiting_bytes(memory));
    let taker = Spilling { partitions, spill: Spill::create(sorting.folder)?, missing: Vec::new() };
    let cut = |piece| Ok(Cut::of(piece, &splitters));
    let Spilling { partitions, mut spill, missing } = sorting.column.each_piece(&ranges, cut, taker, job)?;
    let mut left = partitions.finish(&mut spill)?;
    left.reverse();
    let entries = left.iter().map(|partition| partition.len as u64).sum();
    Ok(Sorted::new(entries, missing, numbered).with(None, Some(Spilled { spill, left, memory })))
}

/// All pieces, and the rows without a key.
#[derive(Default)]
struct Pieces {
    pieces: Vec<Piece>,
    missing: Vec<i64>,
}

impl Take<Piece> for Pieces {
    type Rest = ();

    fn take(&mut self, mut piece: Piece) -> Result<()> {
        self.missing.extend(piece.take_missing().map(u64::cast_signed));
        self.pieces.push(piece);
        Ok(())
    }
}
