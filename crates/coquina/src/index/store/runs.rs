//! Runs of an index: sorted and stored, and opened again.
//!
//! In: a place for arrays, values, ranges of rows. Out: what metadata say of a run, and runs that can be searched.
//! Source: `docs/formats/indexes.md`, "Runs".
//! Invariant: a run never changes. Who asks it leaves out the spans that it does not own any longer.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use coquina_kernels::items::items;

use super::metadata::RunEntry;
use super::place::{AppendItems, ArrayItems, IndexPlace, ItemKind, NewIndexArray};
use crate::base::error::{Error, Result};
use crate::base::pool::Job;
use crate::base::scratch::with_scratch;
use crate::index::blocks::{Batch, RowNumbers};
use crate::index::current::NumberedRun;
use crate::index::read::Keyed;
use crate::index::run::Run;
use crate::index::sort::{Sorting, sort};
use crate::index::sorted::Sorted;
use crate::index::stored::Stored;

/// Chunks are single blocks: one key takes a whole chunk, since that has a checksum.
const ENTRIES: u64 = 1 << 12;
const ENTRIES_LEVEL: u8 = 1;
/// What is read at once when a run is opened.
const SUMMARY: u64 = 1 << 14;
const SUMMARY_LEVEL: u8 = 5;

/// Who watches an index being built, and runs the steps of it.
pub trait BuildWatch {
    /// Runs work that reads so many rows, about so many bytes; a run that is sorted is half done then.
    ///
    /// # Errors
    /// Those of the work, and `Cancelled`.
    fn read(
        &self,
        rows: u64,
        bytes: usize,
        is_sorted: bool,
        work: &mut (dyn FnMut(&Job<'_>) -> Result<()> + Send),
    ) -> Result<()>;

    /// Runs other work.
    ///
    /// # Errors
    /// Those of the work, and `Cancelled`.
    fn run(&self, work: &mut (dyn FnMut(&Job<'_>) -> Result<()> + Send)) -> Result<()>;

    /// So many of the rows of a run have been stored.
    ///
    /// # Errors
    /// What the one who is told raises.
    fn stored(&self, done: u64, rows: u64) -> Result<()>;
}

/// Nobody watches.
pub struct Unwatched;

impl BuildWatch for Unwatched {
    fn read(
        &self,
        _: u64,
        _: usize,
        _: bool,
        work: &mut (dyn FnMut(&Job<'_>) -> Result<()> + Send),
    ) -> Result<()> {
        work(&Job::default())
    }

    fn run(&self, work: &mut (dyn FnMut(&Job<'_>) -> Result<()> + Send)) -> Result<()> {
        work(&Job::default())
    }

    fn stored(&self, _: u64, _: u64) -> Result<()> {
        Ok(())
    }
}

/// What is indexed, and how.
#[derive(Clone, Copy)]
pub struct Building<'b> {
    /// How many rows there are.
    pub nrows: u64,
    /// Whether all rows are indexed anew, and not only those that are open.
    pub whole: bool,
    /// Bytes of memory that may be used, about.
    pub memory_limit: u64,
    /// Who watches.
    pub watch: &'b dyn BuildWatch,
}

/// A run that is open.
#[derive(Clone)]
pub struct OpenRun {
    /// What metadata say of it.
    pub entry: RunEntry,
    /// The run.
    pub run: Arc<Run>,
}

impl OpenRun {
    /// Opens a stored run.
    pub(super) fn open(
        place: &dyn IndexPlace,
        key: &str,
        entry: RunEntry,
        block_entries: u64,
    ) -> Result<Self> {
        let at = format!("{key}/runs/{}", entry.number);
        let array = |name: &str, item_bytes: &[usize]| {
            let path = format!("{at}/{name}");
            let array = place.array(&path)?;
            let bytes = array.source.item_bytes();
            if !array.is_unsigned || array.source.shape().len() != 1 || !item_bytes.contains(&bytes) {
                let (dtype, shape) = (&array.dtype, array.source.shape());
                return Err(Error::corrupt(format!("{path}: {dtype} of shape {shape:?}")));
            }
            Ok(array)
        };
        let (offsets, rows) = (array("offsets", &[2])?, array("rows", &[4, 8])?);
        let (first, shifts) = (array("first", &[8])?, array("shifts", &[1])?);
        let placed = |error: Error| error.at(at.clone());
        let bytes = first.read().map_err(placed)?;
        let first = with_scratch(bytes.len(), |aligned| {
            aligned.copy_from_slice(&bytes);
            items::<u64>(aligned).to_vec()
        });
        let RunEntry { entries, missing, .. } = entry;
        let stored = Stored {
            offsets: offsets.source,
            rows: rows.source,
            first,
            shifts: shifts.read().map_err(placed)?,
            entries,
            missing,
            block_entries,
        };
        Ok(Self { entry, run: Arc::new(Run::open(stored).map_err(placed)?) })
    }

    /// It, as those know it who ask.
    pub(super) fn numbered(&self) -> NumberedRun {
        NumberedRun { number: self.entry.number, rows: self.entry.rows, run: Arc::clone(&self.run) }
    }
}

/// What a run is made of, and how it is stored.
pub(super) struct NewRun<'r> {
    pub(super) key: &'r str,
    pub(super) number: u64,
    /// Rows that share a number, and entries of a block.
    pub(super) bucket_rows: u64,
    pub(super) block_entries: u64,
    pub(super) codec: &'static str,
    pub(super) ranges: &'r [Range<u64>],
}

impl NewRun<'_> {
    /// Sorts the rows and stores them.
    pub(super) fn write(
        &self,
        place: &mut dyn IndexPlace,
        column: Keyed<'_>,
        building: Building<'_>,
    ) -> Result<RunEntry> {
        let folder: PathBuf = place.folder().unwrap_or_else(std::env::temp_dir);
        let block_entries = usize::try_from(self.block_entries).unwrap_or(usize::MAX);
        let sorting = Sorting {
            column,
            ranges: self.ranges,
            memory_limit: building.memory_limit,
            folder: &folder,
            bucket_rows: self.bucket_rows,
            block_entries,
        };
        let rows = sorting.rows();
        let mut sorted = None;
        building.watch.read(rows, sorting.read_bytes(), true, &mut |job| {
            sorted = Some(sort(&sorting, job)?);
            Ok(())
        })?;
        let Some(mut sorted) = sorted else { return Err(Error::cancelled()) };
        let bucket = i64::try_from(self.bucket_rows).unwrap_or(i64::MAX);
        let mut missing: Vec<u64> =
            sorted.missing().iter().map(|row| (row / bucket).unsigned_abs()).collect();
        missing.dedup();
        let entry =
            RunEntry { number: self.number, entries: sorted.entries(), missing: missing.len() as u64, rows };
        self.store(place, &mut sorted, &missing, building)?;
        Ok(entry)
    }

    fn store(
        &self,
        place: &mut dyn IndexPlace,
        sorted: &mut Sorted,
        missing: &[u64],
        building: Building<'_>,
    ) -> Result<()> {
        let is_wide = self.ranges.last().is_some_and(|range| range.end > 1 << 32);
        let rows_kind = if is_wide { ItemKind::U64 } else { ItemKind::U32 };
        let rows = self.ranges.iter().map(|range| range.end - range.start).sum();
        let array = |name: &str, kind, codec, level, chunk| {
            let path = format!("{}/runs/{}/{name}", self.key, self.number);
            NewIndexArray { path, kind, codec, level, chunk, rises: name == "offsets" }
        };
        let entries = [
            array("offsets", ItemKind::U16, self.codec, ENTRIES_LEVEL, ENTRIES),
            array("rows", rows_kind, self.codec, ENTRIES_LEVEL, ENTRIES),
        ];
        let (mut first, mut shifts, mut done) = (Vec::new(), Vec::new(), 0);
        place.write(&entries, &mut |append: &mut AppendItems<'_>| {
            loop {
                let mut batch = None;
                building.watch.run(&mut |job| {
                    batch = sorted.next(job)?;
                    Ok(())
                })?;
                let Some(Batch { offsets, rows: numbers, first: keys, shifts: bits }) = batch else { break };
                done += offsets.len() as u64;
                append(vec![ArrayItems::U16(offsets), in_kind(numbers, is_wide)])?;
                building.watch.stored(done, rows)?;
                first.extend(keys);
                shifts.extend(bits);
            }
            if missing.is_empty() {
                return Ok(());
            }
            append(vec![ArrayItems::U16(Vec::new()), in_kind(RowNumbers::U64(missing.to_vec()), is_wide)])
        })?;
        let summary = [
            array("first", ItemKind::U64, "zstd", SUMMARY_LEVEL, SUMMARY),
            array("shifts", ItemKind::U8, "zstd", SUMMARY_LEVEL, SUMMARY),
        ];
        place.write(&summary, &mut |append: &mut AppendItems<'_>| {
            append(vec![ArrayItems::U64(first.clone()), ArrayItems::U8(shifts.clone())])
        })
    }
}

/// Numbers of rows in four bytes each, or eight.
fn in_kind(numbers: RowNumbers, is_wide: bool) -> ArrayItems {
    match (numbers, is_wide) {
        (RowNumbers::U32(rows), false) => ArrayItems::U32(rows),
        (RowNumbers::U64(rows), true) => ArrayItems::U64(rows),
        (RowNumbers::U32(rows), true) => ArrayItems::U64(rows.into_iter().map(u64::from).collect()),
        (RowNumbers::U64(rows), false) => {
            ArrayItems::U32(rows.into_iter().map(|row| u32::try_from(row).unwrap_or(u32::MAX)).collect())
        }
    }
}
