//! Items of one size for the rows of a column: one array.

use std::sync::Arc;

use super::part::{Part, PartRows, RowChoice, count_of, damage_of, other_kind, pieces, staying};
use super::texts::Texts;
use crate::array::{Array, Selection, Values, Window};
use crate::base::error::{Error, Result};
use crate::base::pool::Job;

/// An array with an item for each row.
pub(crate) struct ItemPart {
    array: Arc<Array>,
    /// What new rows have for which there is no value; `None` for zeros.
    new_item: Option<Vec<u8>>,
}

impl ItemPart {
    /// The part of an array of one axis.
    pub(crate) fn new(array: Arc<Array>, new_item: Option<Vec<u8>>) -> Self {
        Self { array, new_item }
    }

    fn len(&self) -> u64 {
        self.array.grid().shape().first().copied().unwrap_or(0)
    }

    fn window(&self) -> Window {
        Window { offset: 0, bytes: self.array.typesize() }
    }

    fn put(&self, selection: &Selection, values: Values<'_>, job: &Job<'_>) -> Result<()> {
        self.array.write(selection, self.window(), values, job)
    }

    /// Overwrites the items of these rows, all of which are there.
    pub(super) fn write_items(&self, rows: RowChoice<'_>, items: &[u8], job: &Job<'_>) -> Result<()> {
        if rows.count()?.checked_mul(self.array.typesize()) != Some(items.len()) {
            return Err(other_kind());
        }
        if items.is_empty() { Ok(()) } else { self.put(&rows.selection(), Values::Bytes(items), job) }
    }

    fn bytes<'r>(&self, rows: &'r PartRows) -> Result<&'r [u8]> {
        match rows {
            PartRows::Items { item_bytes, bytes } if *item_bytes == self.array.typesize() => Ok(bytes),
            _ => Err(other_kind()),
        }
    }

    /// Fills `out` with the items of some rows.
    pub(super) fn fill_by(&self, rows: RowChoice<'_>, out: &mut [u8], job: &Job<'_>) -> Result<()> {
        if out.is_empty() {
            return Ok(());
        }
        self.array.read(&rows.selection(), self.window(), out, job)
    }

    /// The items of a range.
    fn read(&self, start: u64, end: u64, job: &Job<'_>) -> Result<Vec<u8>> {
        let mut out = vec![0; count_of(end - start)?.saturating_mul(self.array.typesize())];
        self.fill_by(RowChoice::Range { start, end }, &mut out, job)?;
        Ok(out)
    }
}

impl Part for ItemPart {
    fn arrays(&self) -> Vec<&Arc<Array>> {
        vec![&self.array]
    }

    fn rows(&self, _job: &Job<'_>) -> Result<u64> {
        Ok(self.len())
    }

    fn append(&self, rows: &PartRows, job: &Job<'_>) -> Result<()> {
        let bytes = self.bytes(rows)?;
        self.array.append(0, rows.len() as u64, Values::Bytes(bytes), job)
    }

    fn write(&self, start: u64, rows: &PartRows, job: &Job<'_>) -> Result<()> {
        let end = start.saturating_add(rows.len() as u64);
        self.write_items(RowChoice::Range { start, end }, self.bytes(rows)?, job)
    }

    fn write_at(&self, places: &[u64], rows: &PartRows, job: &Job<'_>) -> Result<()> {
        self.write_items(RowChoice::List(places), self.bytes(rows)?, job)
    }

    fn remove(&self, gone: &[u64], rows: u64, job: &Job<'_>) -> Result<()> {
        let size = self.array.typesize();
        let Some(&first) = gone.first() else { return self.truncate(rows, job) };
        let mut to = first;
        for piece in pieces(first, rows) {
            let mut items = self.read(piece.start, piece.end, job)?;
            let mut kept = 0;
            for run in staying(&piece, gone) {
                let (start, count) = (run.start * size, run.len() * size);
                items.copy_within(start..start + count, kept);
                kept += count;
            }
            let end = to + (kept / size) as u64;
            self.write_items(RowChoice::Range { start: to, end }, &items[..kept], job)?;
            to = end;
        }
        self.truncate(to, job)
    }

    fn truncate(&self, rows: u64, job: &Job<'_>) -> Result<()> {
        if self.len() > rows { self.array.resize(&[rows], job) } else { Ok(()) }
    }

    fn grow(&self, rows: u64, job: &Job<'_>) -> Result<()> {
        let before = self.len();
        if rows <= before {
            return Ok(());
        }
        self.array.resize(&[rows], job)?;
        let Some(item) = &self.new_item else { return Ok(()) };
        self.put(&RowChoice::range(before..rows).selection(), Values::Uniform(item), job)
    }

    fn fill(&self, rows: RowChoice<'_>, out: &mut [u8]) -> Result<()> {
        self.fill_by(rows, out, &Job::default())
    }

    fn texts(&self, _rows: RowChoice<'_>) -> Result<Texts> {
        Err(Error::invalid("items are no texts"))
    }

    fn verify(&self, _rows: u64) -> Result<Vec<String>> {
        damage_of(&self.array)
    }
}
