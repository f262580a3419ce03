//! The arrays of one column, changed row by row, for those who describe and encode columns themselves.
//!
//! In: rows as the arrays store them, each array's items one behind another. Out: arrays with these rows.
//! Invariant: nothing here knows what the items mean. Several arrays are changed one after the other: who calls makes that
//! one commit.

use std::sync::Arc;

use super::item_part::ItemPart;
use super::part::{Part, PartRows, RowChoice};
use super::text_part::TextPart;
use super::texts::Texts;
use crate::array::Array;
use crate::base::error::{Error, Result};
use crate::base::pool::Job;

/// An array with an item for each row, and what new rows have in it; zeros, or the fill value, for `None`.
pub struct ItemArray {
    /// The array, of one axis.
    pub array: Arc<Array>,
    /// The bytes of an item.
    pub new_item: Option<Vec<u8>>,
}

/// The arrays of texts of any length.
pub struct TextArrays {
    /// Where texts begin, and where the last one ends: int64.
    pub offsets: Arc<Array>,
    /// The bytes of all.
    pub data: Arc<Array>,
    /// So many bytes of text are taken into memory at once.
    pub bytes_at_once: i64,
}

/// Rows of a column, as its arrays store them.
pub struct RowItems<'r> {
    /// The texts, of a column that has some.
    pub texts: Option<Texts>,
    /// The bytes of the items of each of the other arrays.
    pub items: Vec<&'r [u8]>,
}

/// The arrays of a column: texts or not, and arrays with an item for each row.
pub struct ColumnArrays {
    texts: Option<TextPart>,
    items: Vec<ItemPart>,
}

impl ColumnArrays {
    /// The column of these arrays.
    pub fn new(texts: Option<TextArrays>, items: Vec<ItemArray>) -> Self {
        let texts = texts.map(|one| TextPart::by_runs(one.offsets, one.data, one.bytes_at_once));
        let items = items.into_iter().map(|one| ItemPart::new(one.array, one.new_item)).collect();
        Self { texts, items }
    }

    fn parts(&self) -> impl Iterator<Item = &dyn Part> {
        let texts = self.texts.iter().map(|one| one as &dyn Part);
        texts.chain(self.items.iter().map(|one| one as &dyn Part))
    }

    /// How many rows all arrays have: a killed writer may have left some of them longer.
    ///
    /// # Errors
    /// What goes wrong with reading offsets.
    pub fn rows(&self, job: &Job<'_>) -> Result<u64> {
        let mut least = None;
        for part in self.parts() {
            let rows = part.rows(job)?;
            least = Some(least.map_or(rows, |least: u64| least.min(rows)));
        }
        Ok(least.unwrap_or(0))
    }

    /// Keeps the first `rows` rows, of those that all arrays have.
    ///
    /// # Errors
    /// `Corrupt` for an offset that is no place; what goes wrong with the change.
    pub fn truncate(&self, rows: u64, job: &Job<'_>) -> Result<()> {
        self.parts().try_for_each(|part| part.truncate(rows, job))
    }

    /// Adds rows, up to so many: new items, and empty texts.
    ///
    /// # Errors
    /// What goes wrong with the change.
    pub fn grow(&self, rows: u64, job: &Job<'_>) -> Result<()> {
        self.parts().try_for_each(|part| part.grow(rows, job))
    }

    /// Overwrites `count` rows from `start` on, all of which are there. Text of other lengths moves all that is behind it.
    ///
    /// # Errors
    /// `Invalid` for items that are not so many rows, `Corrupt` for offsets that are no places; what goes wrong with the
    /// change.
    pub fn write(&self, start: u64, count: u64, rows: RowItems<'_>, job: &Job<'_>) -> Result<()> {
        let end = start.saturating_add(count);
        self.put(RowChoice::Range { start, end }, rows, job)
    }

    /// Overwrites these rows, all of which are there; of several values for one the last stays.
    ///
    /// # Errors
    /// As [`ColumnArrays::write`].
    pub fn write_at(&self, places: &[u64], rows: RowItems<'_>, job: &Job<'_>) -> Result<()> {
        self.put(RowChoice::List(places), rows, job)
    }

    fn put(&self, places: RowChoice<'_>, rows: RowItems<'_>, job: &Job<'_>) -> Result<()> {
        let count = places.count()?;
        let has_all = rows.items.len() == self.items.len()
            && rows.texts.is_some() == self.texts.is_some()
            && rows.texts.as_ref().is_none_or(|texts| texts.len() == count);
        if !has_all {
            return Err(Error::invalid(format!("items for {count} rows: not those of each array")));
        }
        if let (Some(part), Some(texts)) = (&self.texts, rows.texts) {
            let texts = PartRows::Texts(texts);
            match places {
                RowChoice::Range { start, .. } => part.write(start, &texts, job)?,
                RowChoice::List(places) => part.write_at(places, &texts, job)?,
            }
        }
        let mut pairs = self.items.iter().zip(rows.items);
        pairs.try_for_each(|(part, items)| part.write_items(places, items, job))
    }

    /// Closes the gaps of rows that go, which ascend and are there; of the first `rows` rows, behind which nothing is left.
    ///
    /// # Errors
    /// As [`ColumnArrays::write`].
    pub fn remove(&self, gone: &[u64], rows: u64, job: &Job<'_>) -> Result<()> {
        self.parts().try_for_each(|part| part.remove(gone, rows, job))
    }
}
