//! Rows that are put behind the last: they wait in memory, and are written together.

use super::append_buffer::nbytes_of;
use super::batch::Batch;
use super::encodings::{extend_categories, new_categories};
use super::handle::Table;
use super::part::PartRows;
use super::schema::ColumnType;
use super::values::Values;
use crate::base::error::{Error, Result};
use crate::base::pool::Job;

/// Encoded rows of a column, by its place in the table.
pub(super) struct Encoded {
    pub(super) column: usize,
    pub(super) rows: Vec<PartRows>,
}

impl Table {
    /// Puts rows behind the last: values for every column.
    ///
    /// They wait in memory until a flush. One comes by itself when more than [`Table::buffer_bytes`] have gathered: up to
    /// the end of the last whole chunk, so that few chunks are written twice; what is behind it waits on. Values that are
    /// no category of theirs yet become one, unless categories are ordered.
    ///
    /// # Errors
    /// `Invalid` for columns that are missing or unknown, for unequal lengths and for values that a column does not take:
    /// no row is added then. `Io`.
    pub fn append(&mut self, batch: &Batch<'_>) -> Result<()> {
        self.check_writable()?;
        self.columns.check_sizable().map_err(|e| self.placed(e))?;
        let rows = self.check_batch(batch)?;
        let missing = self.columns.names().find(|name| batch.get(name).is_none());
        if let Some(name) = missing {
            return Err(self.placed(Error::invalid(format!("append: no values for column {name:?}"))));
        }
        if rows == 0 {
            return Ok(());
        }
        let encoded: Vec<_> = self.encode(batch)?.into_iter().map(|one| one.rows).collect();
        let buffer_bytes = self.buffer_bytes();
        if self.buffer.nbytes().saturating_add(nbytes_of(&encoded)) <= buffer_bytes {
            self.buffer.push(&encoded, 0..rows);
            return Ok(());
        }
        // Where chunks end the fewest arrays have one that is partly filled, to be written again.
        let beyond = (self.nrows_appended() + rows as u64) % self.options.chunk_rows;
        let beyond = usize::try_from(beyond).unwrap_or(rows);
        let until = if beyond < rows { rows - beyond } else { rows };
        self.buffer.push(&encoded, 0..until);
        self.flush()?;
        self.buffer.push(&encoded, until..rows);
        // Texts of a chunk may be more than the buffer is to hold.
        if self.buffer.nbytes() > buffer_bytes { self.flush() } else { Ok(()) }
    }

    /// Writes the rows that wait, as one commit.
    ///
    /// # Errors
    /// `Io` and others: the rows wait on, unless they are part of a transaction.
    pub fn flush(&mut self) -> Result<()> {
        if self.buffer.rows() == 0 {
            return self.check();
        }
        self.check_writable()?;
        self.look_at_indexes().map_err(|e| self.placed(e))?;
        let trusted = self.indexes.trusted();
        let waiting = std::mem::take(&mut self.buffer);
        let written = self.change(|table| {
            table.settle()?;
            for (one, rows) in table.columns.stored.iter().zip(waiting.columns()) {
                one.each(rows, |part, rows| part.append(rows, &Job::default()))?;
            }
            table.rows += waiting.rows() as u64;
            Ok(())
        });
        if written.is_err() && !self.is_changing() {
            self.buffer = waiting;
        }
        if written.is_ok() {
            // Indexes know nothing of rows behind the last.
            self.indexes.trust(&trusted);
        }
        written
    }

    /// How many rows a batch has, all of whose columns are columns of the table.
    pub(super) fn check_batch(&self, batch: &Batch<'_>) -> Result<usize> {
        let known = batch.names().try_for_each(|name| self.columns.place(name).map(drop));
        known.and_then(|()| batch.rows()).map_err(|e| self.placed(e))
    }

    /// The rows of the columns of a batch, in the order of the table. Values that are no category yet become one, once
    /// all others are known to fit.
    pub(super) fn encode(&mut self, batch: &Batch<'_>) -> Result<Vec<Encoded>> {
        let given: Vec<(usize, &Values<'_>)> = (0..self.columns.stored.len())
            .filter_map(|place| Some((place, batch.get(self.spec(place).name())?)))
            .collect();
        let is_categories =
            |place: usize| matches!(self.columns.stored[place].spec.ty(), ColumnType::Categories { .. });
        let mut encoded = Vec::with_capacity(given.len());
        let mut new = Vec::new();
        for &(column, values) in &given {
            let one = &self.columns.stored[column];
            if is_categories(column) {
                let found = new_categories(one, values).map_err(|e| self.placed(e))?;
                new.extend(found.map(|found| (column, found)));
            } else {
                let rows = one.encode(values).map_err(|e| self.placed(e))?;
                encoded.push(Encoded { column, rows });
            }
        }
        let later: Vec<_> = given.into_iter().filter(|(column, _)| is_categories(*column)).collect();
        if !new.is_empty() {
            self.add_categories(&new)?;
        }
        for (column, values) in later {
            let rows = self.columns.stored[column].encode(values).map_err(|e| self.placed(e))?;
            encoded.push(Encoded { column, rows });
        }
        encoded.sort_by_key(|one| one.column);
        Ok(encoded)
    }

    /// Puts new values behind the lists of some columns. Rows that wait are flushed before: their codes may be of another
    /// width.
    fn add_categories(&mut self, new: &[(usize, Values<'static>)]) -> Result<()> {
        self.flush()?;
        self.change(|table| {
            table.settle()?;
            for (column, values) in new {
                let known = &table.columns.stored[*column];
                let made = extend_categories(&mut *table.storage, known, values, &table.options)?;
                table.columns.stored[*column] = made;
            }
            Ok(())
        })
    }
}
