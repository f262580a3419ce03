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

    fn put(&self, selection: &Selection, values: Values<'_>) -> Result<()> {
        self.array.write(selection, self.window(), values, &Job::default())
    }

    fn bytes<'r>(&self, rows: &'r PartRows) -> Result<&'r [u8]> {
        match rows {
            PartRows::Items { item_bytes, bytes } if *item_bytes == self.array.typesize() => Ok(bytes),
            _ => Err(other_kind()),
        }
    }

    /// The items of a range.
    fn read(&self, start: u64, end: u64) -> Result<Vec<u8>> {
        let mut out = vec![0; count_of(end - start)?.saturating_mul(self.array.typesize())];
        self.fill(RowChoice::Range { start, end }, &mut out)?;
        Ok(out)
    }
}

impl Part for ItemPart {
    fn arrays(&self) -> Vec<&Arc<Array>> {
        vec![&self.array]
    }

    fn rows(&self) -> Result<u64> {
        Ok(self.len())
    }

    fn append(&self, rows: &PartRows) -> Result<()> {
        let bytes = self.bytes(rows)?;
        self.array.append(0, rows.len() as u64, Values::Bytes(bytes), &Job::default())
    }

    fn write(&self, start: u64, rows: &PartRows) -> Result<()> {
        let end = start.saturating_add(rows.len() as u64);
        self.put(&RowChoice::Range { start, end }.selection(), Values::Bytes(self.bytes(rows)?))
    }

    fn write_at(&self, places: &[u64], rows: &PartRows) -> Result<()> {
        self.put(&RowChoice::List(places).selection(), Values::Bytes(self.bytes(rows)?))
    }

    fn remove(&self, gone: &[u64], rows: u64) -> Result<()> {
        let size = self.array.typesize();
        let Some(&first) = gone.first() else { return self.truncate(rows) };
        let mut to = first;
        for piece in pieces(first, rows) {
            let items = self.read(piece.start, piece.end)?;
            let stays = staying(&piece, gone);
            let kept: Vec<u8> =
                stays.iter().flat_map(|&row| &items[row * size..(row + 1) * size]).copied().collect();
            if !kept.is_empty() {
                self.write(to, &PartRows::items(size, kept))?;
            }
            to += stays.len() as u64;
        }
        self.truncate(to)
    }

    fn truncate(&self, rows: u64) -> Result<()> {
        if self.len() > rows { self.array.resize(&[rows], &Job::default()) } else { Ok(()) }
    }

    fn grow(&self, rows: u64) -> Result<()> {
        let before = self.len();
        if rows <= before {
            return Ok(());
        }
        self.array.resize(&[rows], &Job::default())?;
        let Some(item) = &self.new_item else { return Ok(()) };
        self.put(&RowChoice::range(before..rows).selection(), Values::Uniform(item))
    }

    fn fill(&self, rows: RowChoice<'_>, out: &mut [u8]) -> Result<()> {
        if out.is_empty() {
            return Ok(());
        }
        self.array.read(&rows.selection(), self.window(), out, &Job::default())
    }

    fn texts(&self, _rows: RowChoice<'_>) -> Result<Texts> {
        Err(Error::invalid("items are no texts"))
    }

    fn verify(&self, _rows: u64) -> Result<Vec<String>> {
        damage_of(&self.array)
    }
}
