//! Rows that are overwritten, removed, or added without values.

use std::ops::Range;

use super::append::Encoded;
use super::batch::Batch;
use super::handle::Table;
use crate::base::error::{Error, Result};
use crate::base::pool::Job;

impl Table {
    /// Overwrites rows from `start` on, in the columns that the batch has.
    ///
    /// Text of other lengths than before has all text behind it written again.
    ///
    /// # Errors
    /// `OutOfBounds` for rows that there are not, `Invalid` for values that do not fit; the table is then as it was.
    pub fn write(&mut self, start: u64, batch: &Batch<'_>) -> Result<()> {
        let count = self.prepare_write(batch)? as u64;
        let rows = self.rows;
        if start.checked_add(count).is_none_or(|end| end > rows) {
            let error = Error::out_of_bounds(format!("write: {count} rows from {start} on, of {rows}"));
            return Err(self.placed(error));
        }
        self.write_encoded(batch, std::slice::from_ref(&(start..start + count)), |one, table| {
            table.columns.stored[one.column]
                .each(&one.rows, |part, rows| part.write(start, rows, &Job::default()))
        })
    }

    /// Overwrites these rows, in the columns that the batch has; of several values for one row the last stays.
    ///
    /// # Errors
    /// As [`Table::write`].
    pub fn write_at(&mut self, rows: &[u64], batch: &Batch<'_>) -> Result<()> {
        let count = self.prepare_write(batch)?;
        if count != rows.len() && batch.names().next().is_some() {
            let error = Error::invalid(format!("write: {count} values for {} rows", rows.len()));
            return Err(self.placed(error));
        }
        self.check_rows(rows)?;
        if rows.is_empty() {
            return Ok(());
        }
        let changed: Vec<Range<u64>> = rows.iter().map(|&row| row..row + 1).collect();
        self.write_encoded(batch, &changed, |one, table| {
            table.columns.stored[one.column]
                .each(&one.rows, |part, given| part.write_at(rows, given, &Job::default()))
        })
    }

    /// Removes these rows and closes the gaps: one pass over what lies behind the first of them.
    ///
    /// # Errors
    /// `OutOfBounds` for rows that there are not; the table is then as it was.
    pub fn delete(&mut self, rows: &[u64]) -> Result<()> {
        self.prepare_resize()?;
        self.check_rows(rows)?;
        let mut gone = rows.to_vec();
        gone.sort_unstable();
        gone.dedup();
        if gone.is_empty() {
            return Ok(());
        }
        self.change(|table| {
            table.settle()?;
            let rows = table.rows;
            table
                .columns
                .stored
                .iter()
                .try_for_each(|one| one.all(|part| part.remove(&gone, rows, &Job::default())))?;
            table.rows -= gone.len() as u64;
            Ok(())
        })
    }

    /// Keeps the first `rows` rows; new ones, if there are fewer, are missing where values can be, and else 0, false,
    /// empty text, or the least number of an enumeration without 0.
    ///
    /// # Errors
    /// `Limit` for more rows than can be counted, `Io`; the table is then as it was.
    pub fn resize(&mut self, rows: u64) -> Result<()> {
        self.prepare_resize()?;
        self.change(|table| {
            table.settle()?;
            let (before, job) = (table.rows, Job::default());
            table.columns.stored.iter().try_for_each(|one| {
                one.all(|part| if rows < before { part.truncate(rows, &job) } else { part.grow(rows, &job) })
            })?;
            table.rows = rows;
            Ok(())
        })
    }

    fn prepare_write(&mut self, batch: &Batch<'_>) -> Result<usize> {
        self.check_writable()?;
        let count = self.check_batch(batch)?;
        self.flush()?;
        Ok(count)
    }

    pub(super) fn prepare_resize(&mut self) -> Result<()> {
        self.check_writable()?;
        self.columns.check_sizable().map_err(|e| self.placed(e))?;
        self.flush()
    }

    /// Writes the columns of a batch, some of these rows, as one commit.
    fn write_encoded(
        &mut self,
        batch: &Batch<'_>,
        rows: &[Range<u64>],
        write: impl Fn(&Encoded, &Self) -> Result<()>,
    ) -> Result<()> {
        let encoded = self.encode(batch)?;
        let names: Vec<&str> = batch.names().collect();
        self.tell_indexes(&names, rows).map_err(|e| self.placed(e))?;
        let trusted = self.indexes.trusted();
        self.change(|table| {
            table.settle()?;
            encoded.iter().try_for_each(|one| write(one, table))
        })?;
        self.indexes.trust(&trusted);
        Ok(())
    }

    fn check_rows(&self, rows: &[u64]) -> Result<()> {
        match rows.iter().find(|&&row| row >= self.rows) {
            None => Ok(()),
            Some(row) => Err(self.placed(Error::out_of_bounds(format!("row {row} of {}", self.rows)))),
        }
    }
}
