//! Rows in the order of columns, with the values of others, in memory that is bounded.
//!
//! In: a condition, columns, what they are sorted by, and how much memory may be used. Out: rows in their order, some at
//! a time. The rows are read once, as many at a time as memory has room for; each lot is sorted, and waits in a file
//! unless it is the only one. So each row is read once, and written and read once more if there are several lots,
//! however little memory there is.
//! Invariant: rows that are equal stay in the order of the table; what is missing comes last, whichever way.

mod column_keys;
mod lot;
mod merge;
mod row_keys;
mod spilled;
#[cfg(test)]
mod tests;

use std::path::Path;

pub use lot::SortedRowsPart;

use self::column_keys::column_keys;
use self::lot::Lot;
use self::merge::Merge;
use self::row_keys::RowKeys;
use self::spilled::SpilledLot;
use super::spill::Spill;
use crate::array::BoxSource;
use crate::base::error::{Error, Result};
use crate::base::pool::Job;
use crate::query::{Column, Direction, Part, Query, QueryColumn, Rows, scan};

/// What a row takes beside its values: its places in orders, its number, its key.
const ROW_BYTES: u64 = 64;
/// Values are there twice while they are put in order.
const COPIES: u64 = 2;
/// Fewer rows are not worth a lot, or a block of one in the file.
const LOT_ROWS_MIN: u64 = 256;
const BLOCK_ROWS_MIN: u64 = 32;

/// What rows are sorted, and how.
#[derive(Clone, Copy)]
pub struct RowSort<'s> {
    /// Which rows: all, if there is none.
    pub condition: Option<&'s dyn BoxSource>,
    /// The columns that are handed out.
    pub columns: &'s [Column<'s>],
    /// What they are sorted by; the first weighs most.
    pub keys: &'s [(QueryColumn, Direction)],
    /// Which rows are looked at.
    pub rows: Rows,
    /// Whether the numbers of the rows are wanted.
    pub numbers: bool,
    /// Bytes of memory that may be used, about; what n^(2/3) of n rows take, if that is more.
    pub memory_limit: u64,
    /// Where a file can be.
    pub folder: &'s Path,
}

/// Rows in their order, to be handed out.
pub struct SortedRows(State);

enum State {
    InMemory { rows: Lot, order: Vec<i64>, at: usize, widths: Vec<usize> },
    InFile(Merge),
}

impl SortedRows {
    /// Reads and sorts rows.
    ///
    /// # Errors
    /// `Unsupported` for values without an order, `Invalid` for a memory limit of 0, `Io` for the file, and what goes
    /// wrong with reading.
    pub fn new(sort: &RowSort<'_>, job: &Job<'_>) -> Result<Self> {
        if sort.memory_limit == 0 {
            return Err(Error::invalid("memory_limit=0: takes 1 byte or more"));
        }
        let mut lots = Lots::new(sort)?;
        let widths = lots.widths();
        let first = lots.next(job)?.unwrap_or_default();
        let order = first.keys.order(job)?;
        let Some(mut lot) = lots.next(job)? else {
            return Ok(Self(State::InMemory { rows: first.rows, order, at: 0, widths }));
        };
        let mut spill = Spill::create(sort.folder)?;
        let like = first.rows.taken(&[], &widths, job)?;
        let mut spilled = vec![spilled_lot(&first, &order, &lots, &mut spill, job)?];
        drop(first);
        loop {
            let order = lot.keys.order(job)?;
            spilled.push(spilled_lot(&lot, &order, &lots, &mut spill, job)?);
            let Some(next) = lots.next(job)? else { break };
            lot = next;
        }
        drop(lot);
        Ok(Self(State::InFile(Merge::new(spill, spilled, like, widths)?)))
    }

    /// Whether the rows wait in a file.
    pub fn is_in_file(&self) -> bool {
        matches!(self.0, State::InFile(_))
    }

    /// The next rows, at most `most` of them, which is not 0; `None` behind the last.
    ///
    /// # Errors
    /// `Io` for the file; `Cancelled`.
    pub fn next(&mut self, most: usize, job: &Job<'_>) -> Result<Option<SortedRowsPart>> {
        match &mut self.0 {
            State::InMemory { rows, order, at, widths } => {
                let places = &order[*at..order.len().min(at.saturating_add(most.max(1)))];
                *at += places.len();
                if places.is_empty() {
                    return Ok(None);
                }
                rows.taken(places, widths, job).map(Some)
            }
            State::InFile(merge) => merge.next(most.max(1), job),
        }
    }
}

/// Writes the rows of a lot in their order.
fn spilled_lot(
    lot: &KeyedLot,
    order: &[i64],
    lots: &Lots<'_>,
    spill: &mut Spill,
    job: &Job<'_>,
) -> Result<SpilledLot> {
    let (mut spilled, widths) = (SpilledLot::new(lot.keys.words.len()), lots.widths());
    for places in order.chunks(lots.block_rows) {
        spilled.put(&lot.rows.taken(places, &widths, job)?, &lot.keys.taken(places), spill)?;
    }
    Ok(spilled)
}

/// Rows with their keys.
#[derive(Default)]
struct KeyedLot {
    rows: Lot,
    keys: RowKeys,
}

/// Where the parts of a key are among the sources.
struct KeyPlace {
    values: usize,
    mask: Option<usize>,
}

/// The rows in the order of the table, as many at a time as are sorted at once.
struct Lots<'s> {
    sort: &'s RowSort<'s>,
    /// The columns, and the keys that are none of them.
    sources: Vec<Column<'s>>,
    keys: Vec<KeyPlace>,
    /// Rows of a lot, and of a block of one.
    lot_rows: u64,
    block_rows: usize,
    /// Rows that were looked at.
    done: u64,
    waiting: Lot,
}

impl<'s> Lots<'s> {
    fn new(sort: &'s RowSort<'s>) -> Result<Self> {
        sort.rows.check()?;
        let mut sources = sort.columns.to_vec();
        let mut keys = Vec::with_capacity(sort.keys.len());
        for (column, _) in sort.keys {
            if !column.axes().is_empty() {
                let sentence = format!("column {:?} has no single value in a row", column.path);
                return Err(Error::unsupported(sentence));
            }
            let values = place_of(&mut sources, column.gathered());
            let mask = column.mask.as_deref().map(|mask| place_of(&mut sources, Column::Items(mask)));
            keys.push(KeyPlace { values, mask });
        }
        let count = sort.rows.count_in(&(sort.rows.start..sort.rows.stop));
        let bytes: u64 = sources.iter().map(bytes_of_row).sum();
        let cost = COPIES.saturating_mul(bytes).saturating_add(ROW_BYTES);
        // So many that neither the lots are too many, nor the blocks of which one of each is in memory.
        let lot_rows = LOT_ROWS_MIN.max(two_thirds_power(count)).max(sort.memory_limit / cost);
        let lots = count.div_ceil(lot_rows).max(1);
        let block_rows = usize::try_from((lot_rows / (2 * lots)).max(BLOCK_ROWS_MIN)).unwrap_or(usize::MAX);
        Ok(Self { sort, sources, keys, lot_rows, block_rows, done: 0, waiting: Lot::default() })
    }

    /// The bytes of the items of each column; 0 for texts.
    fn widths(&self) -> Vec<usize> {
        let width = |column: &Column<'_>| match column {
            Column::Items(source) => source.item_bytes(),
            Column::Strings { .. } => 0,
        };
        self.sort.columns.iter().map(width).collect()
    }

    /// The next rows; none behind the last.
    fn next(&mut self, job: &Job<'_>) -> Result<Option<KeyedLot>> {
        let Rows { start, stop, step } = self.sort.rows;
        let count = self.sort.rows.count_in(&(start..stop));
        // Where few of the rows match, those that do wait for more.
        let size = if self.sort.condition.is_some() { (self.lot_rows / 2).max(1) } else { self.lot_rows };
        while self.done < count {
            let looked_at = size.min(count - self.done);
            let from = start + self.done * step;
            let rows = Rows { start: from, stop: from + (looked_at - 1) * step + 1, step };
            self.done += looked_at;
            let query = Query {
                condition: self.sort.condition,
                columns: &self.sources,
                rows,
                numbers: self.sort.numbers,
                limit: None,
            };
            let found = scan(&query, job)?;
            let count = usize::try_from(found.matched).unwrap_or(usize::MAX);
            let found = Lot { count, parts: found.parts, numbers: found.numbers };
            if (self.waiting.count + found.count) as u64 > size && self.waiting.count > 0 {
                let full = std::mem::replace(&mut self.waiting, found);
                return self.keyed(full).map(Some);
            }
            self.waiting.extend(found)?;
        }
        let last = std::mem::take(&mut self.waiting);
        if last.count == 0 { Ok(None) } else { self.keyed(last).map(Some) }
    }

    /// Rows with their keys, of which only those values are kept that are handed out.
    fn keyed(&self, mut rows: Lot) -> Result<KeyedLot> {
        let mut keys = Vec::new();
        for ((column, direction), place) in self.sort.keys.iter().zip(&self.keys) {
            let mask = place.mask.and_then(|mask| match rows.parts.get(mask) {
                Some(Part::Items(items)) => Some(&items[..]),
                _ => None,
            });
            keys.extend(column_keys(column, &rows.parts[place.values], mask, *direction, rows.count)?);
        }
        let keys = RowKeys::new(keys, rows.count);
        rows.parts.truncate(self.sort.columns.len());
        Ok(KeyedLot { rows, keys })
    }
}

/// The place of a source among those that are read, to which it is added if it is none of them.
fn place_of<'s>(sources: &mut Vec<Column<'s>>, column: Column<'s>) -> usize {
    let is_same = |a: &dyn BoxSource, b: &dyn BoxSource| std::ptr::addr_eq(a, b);
    let known = sources.iter().position(|known| match (known, &column) {
        (Column::Items(a), Column::Items(b)) => is_same(*a, *b),
        (Column::Strings { offsets: a, bytes: c }, Column::Strings { offsets: b, bytes: d }) => {
            is_same(*a, *b) && is_same(*c, *d)
        }
        _ => false,
    });
    known.unwrap_or_else(|| {
        sources.push(column);
        sources.len() - 1
    })
}

/// What a value of a column takes, of texts on the average.
fn bytes_of_row(column: &Column<'_>) -> u64 {
    let len = |source: &dyn BoxSource| source.shape().first().copied().unwrap_or(0);
    match column {
        Column::Items(source) => source.item_bytes() as u64,
        Column::Strings { offsets, bytes } => 8 + len(*bytes) / len(*offsets).max(1),
    }
}

/// n^(2/3), about.
fn two_thirds_power(count: u64) -> u64 {
    let root = (0..=21_u32).rev().map(|bit| 1_u64 << bit).fold(0, |root: u64, bit| {
        let larger = root | bit;
        if larger.saturating_mul(larger).saturating_mul(larger) <= count { larger } else { root }
    });
    root * root
}
