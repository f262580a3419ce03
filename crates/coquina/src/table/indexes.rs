//! The indexes of a table: made, kept right when rows change, and asked by queries.
//!
//! In: names of columns, and what changes. Out: [`IndexInfo`], and the access paths of conditions.
//! Source: `docs/formats/indexes.md`.
//! Invariant: an index is asked only for rows whose values are those that it was made of. Nothing but appended rows has
//! been written since its values were compared, or it was told which rows were, or they are compared again.

use std::ops::Range;
use std::sync::Arc;

use super::handle::Table;
use super::index_access::{IndexAccess, KnownIndex};
use super::index_list::{ColumnSources, Known, OneIndex, committed};
use super::index_place::{PREFIX, remove_arrays};
use super::storage::TableStorage;
use crate::base::error::{Error, Result};
use crate::index::choice::{IndexChooser, IndexedRows, IndexedValues, QueryIndex};
use crate::index::store::{IndexKind, IndexParams, IndexState, Metadata};
use crate::query::AccessPaths;

/// More rows than these are not left open when a table is closed, or one of so many of those that are known.
const CLOSE_ROWS: u64 = 1 << 16;
const OPEN_SHARE: u64 = 8;
const CLOSE_ROWS_MAX: u64 = 1 << 20;

/// What an index is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexInfo {
    /// Its name.
    pub name: String,
    /// The column that it is of, or an expression.
    pub column: String,
    /// Of which kind it is.
    pub kind: IndexKind,
    /// Why it is not used; empty if it is.
    pub reason: String,
    /// How many rows it knows.
    pub rows: u64,
}

impl Table {
    /// Makes an index of a column, which has the name of the column. Queries use it from then on, and it is kept right
    /// when rows change: appended rows are indexed once they are many.
    ///
    /// ```
    /// use coquina::Job;
    /// use coquina::index::store::IndexKind;
    /// use coquina::table::{Batch, ColumnSpec, Schema, Table, TableOptions};
    ///
    /// # let path = std::env::temp_dir().join(format!("coquina-indexed-{}", std::process::id()));
    /// let schema = Schema::new([ColumnSpec::number::<i64>("id")]);
    /// let mut table = Table::create(&path, &schema, &TableOptions::default())?;
    /// table.append(&Batch::new().with("id", (0..200_000).map(|n| n * 7919 % 200_003).collect::<Vec<i64>>()))?;
    /// table.create_index("id", IndexKind::Full)?;
    /// let found = table.query("id == 7919")?;
    /// assert_eq!(found.numbers(&Job::default())?, [1]);
    /// assert!(found.explain(&Job::default())?.starts_with("index id"));
    /// # table.close()?;
    /// # std::fs::remove_dir_all(&path).map_err(coquina::Error::from)?;
    /// # Ok::<(), coquina::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Invalid` for a column that there is not, or that has an index of this name; `Unsupported` for values without an
    /// order, and for tables that are in no directory; `Io`.
    pub fn create_index(&mut self, column: &str, kind: IndexKind) -> Result<()> {
        self.check_writable()?;
        self.flush()?;
        self.make_index(column, kind).map_err(|e| self.placed(e))
    }

    fn make_index(&self, column: &str, kind: IndexKind) -> Result<()> {
        let sources = ColumnSources::of(self.column(column)?.stored)?;
        let mut known = self.indexes.known();
        known.read(&*self.storage)?;
        if known.items.iter().any(|one| one.meta.name.as_str() == Some(column)) {
            return Err(Error::invalid(format!("create_index: column {column:?} has an index already")));
        }
        if known.storage.is_none() {
            known.storage = self.storage.index_storage(true)?;
        }
        let params = IndexParams::default();
        let meta = Metadata::new(column.into(), column.into(), kind, &sources.name, &params);
        let Known { storage: Some(storage), items, .. } = &mut *known else {
            return Err(Error::unsupported("create_index: only tables in directories have indexes here"));
        };
        let key = free_key(&**storage, column);
        let dtype = sources.arrays.first().and_then(|array| array.dtype()).unwrap_or_default();
        let meta = Metadata { dtype: dtype.into(), ..meta };
        let reason = String::new();
        let mut one = OneIndex { key, meta, state: None, is_fresh: Some(true), is_changed: false, reason };
        one.build(&mut **storage, &sources, self.nrows(), true)?;
        items.push(one);
        Ok(())
    }

    /// Removes an index.
    ///
    /// # Errors
    /// `Invalid` if there is none of this name, `Io`.
    pub fn drop_index(&mut self, name: &str) -> Result<()> {
        self.check_writable()?;
        let mut known = self.indexes.known();
        known.read(&*self.storage)?;
        let at = known.items.iter().position(|one| one.meta.name.as_str() == Some(name));
        let Known { storage: Some(storage), items, .. } = &mut *known else { return Err(no_index(name)) };
        let at = at.ok_or_else(|| no_index(name))?;
        let key = items[at].key.clone();
        committed(&mut **storage, |storage| {
            storage.remove_attribute("", &format!("{PREFIX}{key}"))?;
            remove_arrays(storage, &key)
        })?;
        items.remove(at);
        Ok(())
    }

    /// Indexes the rows that are not, in all indexes.
    ///
    /// # Errors
    /// `Io`, and what goes wrong with reading.
    pub fn refresh_indexes(&mut self) -> Result<()> {
        self.check_writable()?;
        self.flush()?;
        self.save_indexes(|open, _| open > 0).map_err(|e| self.placed(e))
    }

    /// The indexes of the table, opened, with those that were made by others.
    ///
    /// # Errors
    /// `Io`.
    pub fn indexes(&self) -> Result<Vec<IndexInfo>> {
        let mut known = self.indexes.known();
        self.open_indexes(&mut known)?;
        let info = |one: &OneIndex| IndexInfo {
            name: one.meta.name.to_string(),
            column: one.meta.column.to_string(),
            kind: one.meta.kind,
            reason: one.reason.clone(),
            rows: one.state.as_ref().filter(|_| one.reason.is_empty()).map_or(0, IndexState::rows),
        };
        Ok(known.items.iter().map(info).collect())
    }

    /// Before anything is written: whether the values are those of the indexes so far is seen now or never.
    pub(super) fn look_at_indexes(&self) -> Result<()> {
        let mut known = self.indexes.known();
        known.read(&*self.storage)?;
        for one in known.items.iter_mut().filter(|one| one.is_fresh.is_none()) {
            one.is_fresh = self.sources_of(one).map(|sources| sources.is_stamped(&one.meta.stamp));
        }
        Ok(())
    }

    /// Before values are changed: what is known of the indexes that are of these columns, of all if there are none, is
    /// seen now or never; and the rows that are to change are forgotten.
    pub(super) fn tell_indexes(&self, columns: &[&str], rows: &[Range<u64>]) -> Result<()> {
        let mut known = self.indexes.known();
        self.open_indexes(&mut known)?;
        for one in &mut known.items {
            let is_meant = columns.is_empty() || columns.iter().any(|column| one.is_of(column));
            if is_meant && let Some(state) = &mut one.state {
                for rows in rows {
                    one.is_changed |= state.changed(rows.clone());
                }
            }
        }
        Ok(())
    }

    /// What finds rows by indexes, if there are some that can be asked.
    pub(super) fn index_access(&self) -> Result<Option<Arc<dyn AccessPaths>>> {
        let mut known = self.indexes.known();
        self.open_indexes(&mut known)?;
        let mut usable: Vec<&OneIndex> = known.items.iter().filter(|one| one.reason.is_empty()).collect();
        usable.sort_by_key(|one| IndexKind::ALL.iter().position(|kind| *kind == one.meta.kind));
        let (mut indexes, mut boxes) = (Vec::new(), [1, 1]);
        for one in usable {
            let (Some(state), Some(sources)) = (&one.state, self.sources_of(one)) else { continue };
            let walk = sources.query.source().walk();
            boxes = [&walk.chunks, &walk.blocks].map(|lens| lens.first().copied().unwrap_or(1).max(1));
            let index = KnownIndex {
                name: one.meta.name.to_string(),
                kind: one.meta.kind,
                bucket_rows: one.meta.bucket_rows,
                current: state.current(self.nrows())?,
            };
            indexes.push(QueryIndex {
                index: Arc::new(index),
                operand: sources.operand(),
                values: IndexedValues::Column(sources.query),
                computed: None,
                mask: None,
            });
        }
        if indexes.is_empty() {
            return Ok(None);
        }
        let [chunk_rows, block_rows] = boxes;
        let table =
            IndexedRows { rows: self.nrows(), chunk_rows, block_rows, is_writable: self.is_writable() };
        Ok(Some(Arc::new(IndexAccess { chooser: IndexChooser::new(indexes)?, table })))
    }

    /// Opens all indexes of columns that this can ask.
    fn open_indexes(&self, known: &mut Known) -> Result<()> {
        known.read(&*self.storage)?;
        let Known { storage: Some(storage), items, .. } = known else { return Ok(()) };
        for one in items {
            match self.sources_of(one) {
                Some(sources) => one.open(&mut **storage, &sources, self.nrows()),
                None => one.reason = "it is of no column that is known here".to_owned(),
            }
        }
        Ok(())
    }

    /// What is indexed, if it is a column that this can index.
    fn sources_of(&self, one: &OneIndex) -> Option<ColumnSources> {
        let name = one.meta.column.as_str().filter(|_| !one.meta.is_expression)?;
        ColumnSources::of(self.column(name).ok()?.stored).ok()
    }

    /// Saves the indexes that are open; those in which so much is open as `is_much` says, of how many known rows, are
    /// extended.
    pub(super) fn save_indexes(&self, is_much: impl Fn(u64, u64) -> bool) -> Result<()> {
        let mut known = self.indexes.known();
        if known.is_read && known.items.is_empty() {
            return Ok(());
        }
        self.open_indexes(&mut known)?;
        let rows = self.nrows();
        let Known { storage: Some(storage), items, .. } = &mut *known else { return Ok(()) };
        for one in items.iter_mut().filter(|one| one.reason.is_empty()) {
            let Some(sources) = self.sources_of(one) else { continue };
            let known_rows = one.state.as_ref().map_or(0, IndexState::rows);
            if is_much(rows - known_rows.min(rows), known_rows) {
                one.build(&mut **storage, &sources, rows, false)?;
            } else if one.is_changed || one.meta.rows != rows || !sources.is_stamped(&one.meta.stamp) {
                one.save(&mut **storage, &sources, rows)?;
            }
        }
        Ok(())
    }

    /// Saves the indexes of a table that is about to be closed, and lets go of them.
    pub(super) fn close_indexes(&self) -> Result<()> {
        let is_used = self.indexes.known().is_read;
        let saved = if is_used && self.is_writable() {
            let most = |known: u64| CLOSE_ROWS.max(CLOSE_ROWS_MAX.min(known / OPEN_SHARE));
            self.save_indexes(|open, known| open >= most(known))
        } else {
            Ok(())
        };
        let storage = self.indexes.known().storage.take();
        let closed = storage.map_or(Ok(()), |mut storage| storage.close());
        self.indexes.forget();
        saved.and(closed)
    }
}

fn no_index(name: &str) -> Error {
    Error::invalid(format!("there is no index {name:?}"))
}

/// What an index is called in the storage: letters, digits and `_` of its name, as no other one is.
fn free_key(storage: &dyn TableStorage, name: &str) -> String {
    let plain = |one: char| if one.is_ascii_alphanumeric() { one } else { '_' };
    let start: String = name.chars().map(plain).take(40).collect();
    let start = if start.is_empty() { "_".to_owned() } else { start };
    let attributes = storage.attributes("");
    let taken = storage.names("");
    let is_free =
        |key: &String| attributes.get(format!("{PREFIX}{key}").as_bytes()).is_none() && !taken.contains(key);
    let mut keys = std::iter::once(start.clone()).chain((2_u64..).map(|count| format!("{start}_{count}")));
    keys.find(is_free).unwrap_or(start)
}
