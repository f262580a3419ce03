//! A table: its columns in a storage, and the change that is open.
//!
//! Invariant: all columns have `nrows` rows that can be read. What is longer, a killed writer has left; it is cut off
//! before anything is changed. After an error the table shows what the storage has.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use super::append_buffer::AppendBuffer;
use super::column::Column;
use super::columns::{Columns, Skipped};
use super::encodings::{StoredColumn, make_column, text_of};
use super::index_list::TableIndexes;
use super::memory::MemoryStorage;
use super::names::{Names, check_name, put_table};
use super::options::{ArrayOptions, TableOptions};
use super::schema::{ColumnSpec, Schema};
use super::storage::TableStorage;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::json::JsonObject;
use crate::base::pool::Job;

/// Appended rows are flushed when they are more bytes than this, or than a chunk of all columns if that is more.
const BUFFER_BYTES: usize = 1 << 20;
/// So often a reader begins again where a writer has come to the next commit.
const ATTEMPTS: usize = 20;

/// Columns of equal length, by name.
///
/// ```
/// use coquina::table::{Batch, ColumnSpec, Schema, Table};
///
/// let schema = Schema::new([ColumnSpec::number::<f64>("price"), ColumnSpec::text("name").nullable()]);
/// let mut table = Table::in_memory(&schema)?;
/// let names = vec![Some("oak"), None, Some("beech")];
/// table.append(&Batch::new().with("price", [9.5, 3.0, 7.25]).with("name", names))?;
/// table.flush()?;
/// assert_eq!(table.nrows(), 3);
/// assert_eq!(table.column("price")?.read::<f64>(1..)?, [3.0, 7.25]);
/// assert_eq!(table.column("name")?.missing(..)?, [false, true, false]);
/// # Ok::<(), coquina::Error>(())
/// ```
///
/// Rows that are appended wait in memory for [`Table::flush`]; a table that is dropped flushes too, but tells nobody
/// what went wrong. [`Table::close`] does.
pub struct Table {
    pub(super) storage: Box<dyn TableStorage>,
    pub(super) columns: Columns,
    pub(super) rows: u64,
    pub(super) options: ArrayOptions,
    pub(super) buffer: AppendBuffer,
    buffer_bytes: Option<usize>,
    /// Whether nothing is left behind the last row of any column.
    pub(super) is_settled: bool,
    pub(super) indexes: TableIndexes,
    change: Change,
    /// Why the table cannot be used any more.
    broken: Option<String>,
}

/// Whether a change is open.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Change {
    None,
    Open,
    /// A part of it has failed, so none of it is to be committed.
    Failed,
}

impl Table {
    /// A new table in memory.
    ///
    /// # Errors
    /// As [`Table::create_in`].
    pub fn in_memory(schema: &Schema) -> Result<Self> {
        Self::create_in(Box::new(MemoryStorage::new()), schema, &TableOptions::default())
    }

    /// A new table in an empty storage, which is closed again after an error.
    ///
    /// # Errors
    /// `Invalid` for a schema without columns, and for names that columns cannot have; `Unsupported` for types that
    /// cannot be stored; `Io`.
    pub fn create_in(
        mut storage: Box<dyn TableStorage>,
        schema: &Schema,
        options: &TableOptions,
    ) -> Result<Self> {
        if schema.columns().is_empty() {
            return Err(Error::invalid("a table needs at least one column"));
        }
        let order: Vec<String> = schema.names().map(str::to_owned).collect();
        for (at, name) in order.iter().enumerate() {
            check_name(name, order[..at].iter().map(String::as_str))?;
        }
        let arrays = ArrayOptions::of(options)?;
        storage.begin()?;
        let made = put_table(&mut *storage, &arrays, &options.title)
            .and_then(|()| {
                schema
                    .columns()
                    .iter()
                    .try_for_each(|spec| make_column(&mut *storage, spec, &arrays).map(drop))
            })
            .and_then(|()| Names { index: order.first().cloned(), order }.write(&mut *storage));
        let done = match made {
            Ok(()) => storage.commit(),
            Err(error) => storage.undo().and(Err(error)),
        };
        match done {
            Ok(()) => Self::open_in(storage),
            Err(error) => {
                // What went wrong first is the reason.
                let _ = storage.close();
                Err(error)
            }
        }
    }

    /// The table in a storage.
    ///
    /// # Errors
    /// `Unsupported` for what is no table of columns, `Corrupt`, `Io`. Columns that are not understood are no error: see
    /// [`Table::skipped`].
    pub fn open_in(storage: Box<dyn TableStorage>) -> Result<Self> {
        let options = ArrayOptions::read(&storage.attributes(""), 0);
        let mut table = Self {
            storage,
            columns: Columns::default(),
            rows: 0,
            options,
            buffer: AppendBuffer::default(),
            buffer_bytes: None,
            is_settled: false,
            indexes: TableIndexes::default(),
            change: Change::None,
            broken: None,
        };
        table.see_newest().map_err(|e| table.placed(e))?;
        table.options = ArrayOptions::read(&table.storage.attributes(""), table.rows);
        Ok(table)
    }

    /// How many rows can be read. Rows that were appended count once they are flushed.
    pub fn nrows(&self) -> u64 {
        self.rows
    }

    /// How many rows there are with those that wait for a flush.
    pub fn nrows_appended(&self) -> u64 {
        self.rows + self.buffer.rows() as u64
    }

    /// The columns that are understood, in order.
    pub fn schema(&self) -> Schema {
        Schema::new(self.columns.stored.iter().map(|one| one.spec.clone()))
    }

    /// The columns that are there and are not understood, with the reasons. A table that has some takes no rows.
    pub fn skipped(&self) -> &[Skipped] {
        &self.columns.skipped
    }

    /// A column.
    ///
    /// # Errors
    /// `Invalid` if there is none of this name, `Unsupported` for one that is not understood.
    pub fn column(&self, name: &str) -> Result<Column<'_>> {
        self.check()?;
        let place = self.columns.place(name).map_err(|e| self.placed(e))?;
        Ok(Column { stored: &self.columns.stored[place], rows: self.rows, place: self.storage.place() })
    }

    /// What the table is about; empty if nothing says it.
    pub fn title(&self) -> String {
        text_of(&self.storage.attributes(""), "title").unwrap_or_default()
    }

    /// The attributes of the table; those of its encoding are among them.
    pub fn attributes(&self) -> JsonObject {
        self.storage.attributes("")
    }

    /// Whether it can be changed.
    pub fn is_writable(&self) -> bool {
        self.storage.is_writable()
    }

    /// How many bytes of appended rows may wait: an append that makes it more flushes. By default 1 MiB, or a chunk of
    /// all columns if that is more.
    pub fn buffer_bytes(&self) -> usize {
        let row_bytes = |one: &StoredColumn| one.arrays().iter().map(|array| array.typesize()).sum::<usize>();
        let row_bytes: usize = self.columns.stored.iter().map(row_bytes).sum();
        let chunk = usize::try_from(self.options.chunk_rows).unwrap_or(usize::MAX);
        self.buffer_bytes.unwrap_or_else(|| chunk.saturating_mul(row_bytes).max(BUFFER_BYTES))
    }

    /// Sets how many bytes of appended rows may wait; 0 for none.
    pub fn set_buffer_bytes(&mut self, bytes: usize) {
        self.buffer_bytes = Some(bytes);
    }

    /// Makes all changes that `make` makes one commit. After an error, its own or of a change within it, all of them are
    /// undone. Transactions within it are part of it. Rows that wait when it begins are flushed before.
    ///
    /// ```
    /// use coquina::Error;
    /// use coquina::table::{Batch, ColumnSpec, Schema, Table};
    ///
    /// let mut table = Table::in_memory(&Schema::new([ColumnSpec::number::<i64>("n")]))?;
    /// let failed = table.transaction(|table| {
    ///     table.append(&Batch::new().with("n", [1_i64, 2]))?;
    ///     table.flush()?;
    ///     Err::<(), _>(Error::invalid("something else went wrong"))
    /// });
    /// assert!(failed.is_err());
    /// assert_eq!(table.nrows(), 0);
    /// # Ok::<(), coquina::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of `make` and of its changes, and `Io`.
    pub fn transaction<T>(&mut self, make: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.flush()?;
        self.change(|table| {
            let made = make(table)?;
            table.flush()?;
            Ok(made)
        })
    }

    /// Makes what `make` does part of the open change, or a commit of its own.
    pub(super) fn change<T>(&mut self, make: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.check_writable()?;
        if self.change != Change::None {
            let made = make(self);
            if made.is_err() {
                self.change = Change::Failed;
            }
            return made;
        }
        self.look_at_indexes().map_err(|e| self.placed(e))?;
        self.indexes.distrust();
        self.storage.begin().map_err(|e| self.placed(e))?;
        self.change = Change::Open;
        let made = catch_unwind(AssertUnwindSafe(|| make(self)));
        let has_failed = self.change == Change::Failed;
        self.change = Change::None;
        let (undone, made) = match made {
            Ok(Ok(_)) if has_failed => {
                let why = "a change of this transaction has failed, so none was made";
                (self.storage.undo(), Err(Error::invalid(why)))
            }
            Ok(Ok(made)) => (Ok(()), self.storage.commit().map(|()| made)),
            Ok(Err(error)) => (self.storage.undo(), Err(error)),
            Err(panic) => {
                let undone = self.storage.undo();
                self.see_again(undone);
                resume_unwind(panic)
            }
        };
        if made.is_err() {
            self.see_again(undone);
        }
        made.map_err(|e| self.placed(e))
    }

    /// Shows what the storage has, whatever was shown before.
    pub(super) fn see(&mut self) -> Result<()> {
        self.buffer = AppendBuffer::default();
        self.is_settled = false;
        self.columns = Columns::open(&*self.storage)?;
        self.rows = self.columns.rows()?;
        Ok(())
    }

    /// Shows the commit that the storage shows, or a newer one, if a writer has removed files of that one meanwhile.
    fn see_newest(&mut self) -> Result<()> {
        for _ in 0..ATTEMPTS {
            match self.see() {
                Err(error) if error.kind() == ErrorKind::Corrupt && self.storage.is_outdated()? => {
                    self.storage.refresh()?;
                }
                seen => return seen,
            }
        }
        Err(Error::corrupt("changes faster than it can be read"))
    }

    /// Shows the last commit, after a change was undone.
    fn see_again(&mut self, undone: Result<()>) {
        self.indexes.distrust();
        let seen = undone.and_then(|()| self.storage.check()).and_then(|()| self.see());
        if let Err(error) = seen {
            self.columns = Columns::default();
            self.broken = Some(format!(
                "a change has failed, and the last commit cannot be read ({error}); open it again"
            ));
        }
    }

    /// Cuts off what a killed writer has left, within a change.
    pub(super) fn settle(&mut self) -> Result<()> {
        if !self.is_settled {
            let rows = self.rows;
            self.columns
                .stored
                .iter()
                .try_for_each(|one| one.all(|part| part.truncate(rows, &Job::default())))?;
            self.is_settled = true;
        }
        Ok(())
    }

    /// Whether a change that others are part of is open.
    pub(super) fn is_changing(&self) -> bool {
        self.change != Change::None
    }

    /// An error with the name of the table.
    pub(super) fn placed(&self, error: Error) -> Error {
        match self.storage.place() {
            Some(place) => error.at(place),
            None => error,
        }
    }

    pub(super) fn check(&self) -> Result<()> {
        self.broken.as_ref().map_or(Ok(()), |why| Err(self.placed(Error::invalid(why.as_str()))))
    }

    pub(super) fn check_writable(&self) -> Result<()> {
        self.check()?;
        if self.storage.is_writable() {
            return Ok(());
        }
        Err(self.placed(Error::invalid("the table is open for reading only; open it for writing")))
    }

    /// Goes to the newest commit of another writer; returns whether there was one.
    ///
    /// # Errors
    /// `Io`, `Corrupt`.
    pub fn refresh(&mut self) -> Result<bool> {
        self.check()?;
        let is_newer = self.storage.refresh().map_err(|e| self.placed(e))?;
        if is_newer {
            self.indexes.forget();
            self.see_newest().map_err(|e| self.placed(e))?;
        }
        Ok(is_newer)
    }

    /// Gives back the space of what was overwritten or removed.
    ///
    /// # Errors
    /// `Io`; the table holds then what it held.
    pub fn compact(&mut self) -> Result<()> {
        self.flush()?;
        self.change(|table| {
            table.settle()?;
            table.storage.compact()
        })?;
        self.see().map_err(|e| self.placed(e))
    }

    /// Flushes, and lets go of the storage.
    ///
    /// # Errors
    /// `Io` if what waits cannot be written.
    pub fn close(mut self) -> Result<()> {
        self.let_go()
    }

    fn let_go(&mut self) -> Result<()> {
        if self.broken.is_some() {
            return Ok(());
        }
        let flushed = self.flush().and_then(|()| self.close_indexes());
        let closed = self.storage.close();
        self.broken = Some("it has been closed".into());
        flushed.and(closed.map_err(|e| self.placed(e)))
    }

    /// The description of a column.
    pub(super) fn spec(&self, place: usize) -> &ColumnSpec {
        &self.columns.stored[place].spec
    }
}

impl Drop for Table {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let _ = self.let_go();
        }
    }
}
