//! The indexes of a table as they are stored beside it: opened, compared with their values, extended and saved.
//!
//! In: a storage, and the columns that are indexed. Out: indexes that can be asked, or the reason why not.
//! Source: `docs/formats/indexes.md`.
//! Invariant: an index is asked only for rows whose values are those that it was made of. Nothing but appended rows has
//! been written since its values were compared, or it was told which rows were, or they are compared again.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::encodings::StoredColumn;
use super::index_place::{PREFIX, StoragePlace};
use super::storage::TableStorage;
use crate::array::{Array, BoxSource};
use crate::base::error::{Error, Result};
use crate::base::json::{Json, JsonObject};
use crate::base::pool::Job;
use crate::index::KeyKind;
use crate::index::store::{Building, IndexParams, IndexState, IndexedValues, Metadata, Unwatched};
use crate::index::terms::Operand;
use crate::query::condition::NumberType;
use crate::query::{Column as Source, ColumnValues, QueryColumn};

/// Memory that sorting takes at most.
const MEMORY_LIMIT: u64 = 1 << 30;
/// Two writes within this time may give a file the same time of modification.
const RACY: Duration = Duration::from_millis(50);
/// So much older a file is made that was just written, so that no write to come gives it this time.
const STAMP_BACK: Duration = Duration::from_millis(20);
/// The indexes of a table.
#[derive(Default)]
pub(super) struct TableIndexes {
    known: Mutex<Known>,
}

#[derive(Default)]
pub(super) struct Known {
    pub(super) storage: Option<Box<dyn TableStorage>>,
    pub(super) items: Vec<OneIndex>,
    pub(super) is_read: bool,
}

/// An index that may be open.
pub(super) struct OneIndex {
    pub(super) key: String,
    pub(super) meta: Metadata,
    pub(super) state: Option<IndexState>,
    /// Whether the values are those that the state was made of, but for rows that it knows nothing of.
    pub(super) is_fresh: Option<bool>,
    pub(super) is_changed: bool,
    /// Why it cannot be asked.
    pub(super) reason: String,
}

/// The values of a column that are indexed.
pub(super) struct ColumnSources {
    pub(super) arrays: Vec<Arc<Array>>,
    pub(super) query: QueryColumn,
    kind: KeyKind,
    /// The name of the kind of its keys.
    pub(super) name: String,
}

impl ColumnSources {
    /// Those of a column.
    ///
    /// # Errors
    /// `Unsupported` for values without keys.
    pub(super) fn of(column: &StoredColumn) -> Result<Self> {
        let query = column.query_column()?;
        let name = match &query.values {
            ColumnValues::Numbers { ty, .. } | ColumnValues::Enumeration { ty, .. } => ty.name(),
            ColumnValues::Times { .. } => "time",
            ColumnValues::Texts { .. } => "text",
            ColumnValues::FixedBytes(_) => "S",
            ColumnValues::FixedPoints(_) => "U",
            _ => "",
        };
        let kind = KeyKind::by_name(name);
        let (Ok(kind), true) = (kind, query.axes().is_empty()) else {
            let ty = column.spec.ty();
            return Err(Error::unsupported(format!("create_index: columns of {ty} cannot be indexed")));
        };
        Ok(Self { arrays: column.arrays(), query, kind, name: name.to_owned() })
    }

    fn column(&self) -> Source<'_> {
        match &self.query.values {
            ColumnValues::Texts { offsets, bytes } => {
                Source::Strings { offsets: &**offsets, bytes: &**bytes }
            }
            _ => Source::Items(&**self.query.source()),
        }
    }

    fn missing(&self) -> Option<&dyn BoxSource> {
        self.query.mask.as_deref()
    }

    /// All that a value depends on.
    fn fingerprinted(&self) -> Vec<Source<'_>> {
        [self.column()].into_iter().chain(self.missing().map(Source::Items)).collect()
    }

    pub(super) fn operand(&self) -> Operand {
        let is_float = matches!(self.kind, KeyKind::Number(NumberType::F32 | NumberType::F64));
        let width = match &self.query.values {
            ColumnValues::FixedBytes(source) | ColumnValues::FixedPoints(source) => source.item_bytes(),
            _ => 0,
        };
        let can_be_nan = is_float || self.kind == KeyKind::Time;
        Operand { kind: self.kind, width, can_be_nan, can_be_null: self.query.mask.is_some() }
    }

    /// What says that nothing has been written to the values since: sizes, times and states of their files. Nothing
    /// where that cannot be known.
    fn stamp(&self) -> JsonObject {
        let mut files = JsonObject::default();
        for array in &self.arrays {
            let Some((name, found)) = stamped(array) else { return JsonObject::default() };
            files.set(name.as_str().into(), Json::List(found));
        }
        let mut stamp = JsonObject::default();
        stamp.set("files".into(), Json::Object(files));
        stamp
    }

    /// Whether the files are as a stamp says.
    pub(super) fn is_stamped(&self, stamp: &JsonObject) -> bool {
        let Some(Json::Object(files)) = stamp.get(b"files") else { return false };
        self.arrays.iter().all(|array| {
            let found = look(array);
            found.is_some_and(|(name, found)| {
                let kept = files.get(name.as_bytes()).and_then(Json::as_list);
                kept.is_some_and(|kept| kept == found)
            })
        })
    }
}

/// The name of the file of an array, and its size, time and state, as JSON.
fn look(array: &Array) -> Option<(String, Vec<Json>)> {
    let path = array.path()?;
    let found = std::fs::metadata(&path).ok().filter(std::fs::Metadata::is_file)?;
    let modified = nanoseconds(found.modified().ok()?)?;
    let state = array.state_sum()?;
    let name = path.file_name()?.to_str()?.to_owned();
    Some((name, vec![found.len().into(), modified.into(), format!("{state:016x}").as_str().into()]))
}

fn nanoseconds(time: SystemTime) -> Option<u64> {
    u64::try_from(time.duration_since(UNIX_EPOCH).ok()?.as_nanos()).ok()
}

/// As [`look`], of a file that has a time that no write to come gives it again.
fn stamped(array: &Array) -> Option<(String, Vec<Json>)> {
    let path = array.path()?;
    let now = SystemTime::now();
    let modified = std::fs::metadata(&path).ok()?.modified().ok()?;
    if now.duration_since(modified).is_ok_and(|age| age > RACY) {
        return look(array);
    }
    set_back(&path, now.checked_sub(STAMP_BACK)?)?;
    look(array)
}

/// Gives a file an odd time in microseconds, as no clock of a file system does.
fn set_back(path: &Path, time: SystemTime) -> Option<()> {
    let odd = ((nanoseconds(time)? / 1000) | 1) * 1000;
    let file = std::fs::OpenOptions::new().write(true).open(path).ok()?;
    file.set_modified(UNIX_EPOCH + Duration::from_nanos(odd)).ok()
}

impl OneIndex {
    /// Opens it and compares its values, where that is not known to be needless. It cannot be asked if a reason is
    /// left.
    pub(super) fn open(&mut self, storage: &mut dyn TableStorage, sources: &ColumnSources, rows: u64) {
        let opened = self.opened(storage, sources, rows);
        self.reason = opened.err().map_or_else(String::new, |error| format!("damaged: {error}"));
    }

    fn opened(&mut self, storage: &mut dyn TableStorage, sources: &ColumnSources, rows: u64) -> Result<()> {
        if self.meta.key_kind != sources.name {
            let (was, now) = (&self.meta.key_kind, &sources.name);
            return Err(Error::corrupt(format!("made of {was}, and the column is {now} now")));
        }
        if self.state.is_none() {
            let place = StoragePlace(storage);
            self.state =
                Some(IndexState::load(&place, &self.key, self.meta.clone(), IndexParams::default())?);
        }
        let Some(state) = &mut self.state else { return Ok(()) };
        self.is_changed |= state.resized(rows);
        if !*self.is_fresh.get_or_insert_with(|| sources.is_stamped(&self.meta.stamp)) {
            self.is_changed |= state.verify(&sources.fingerprinted(), &Job::default())?;
            self.is_fresh = Some(true);
        }
        Ok(())
    }

    /// Indexes what is open, or all, and saves it, as one commit.
    pub(super) fn build(
        &mut self,
        storage: &mut dyn TableStorage,
        sources: &ColumnSources,
        rows: u64,
        whole: bool,
    ) -> Result<()> {
        let mut state = match self.state.take() {
            Some(state) => state,
            None => IndexState::new(&self.key, self.meta.clone(), IndexParams::default())?,
        };
        let fingerprinted = sources.fingerprinted();
        let values = IndexedValues {
            column: sources.column(),
            missing: sources.missing(),
            fingerprinted: &fingerprinted,
        };
        let building = Building { nrows: rows, whole, memory_limit: MEMORY_LIMIT, watch: &Unwatched };
        committed(storage, |storage| {
            let mut place = StoragePlace(storage);
            state.extend(&mut place, &values, building, &mut || Ok(sources.stamp()))
        })?;
        // Its runs are opened when somebody asks.
        (self.meta, self.is_fresh, self.is_changed) = (state.metadata().clone(), Some(true), false);
        Ok(())
    }

    /// Saves what has become of it.
    pub(super) fn save(
        &mut self,
        storage: &mut dyn TableStorage,
        sources: &ColumnSources,
        rows: u64,
    ) -> Result<()> {
        let Some(state) = &mut self.state else { return Ok(()) };
        committed(storage, |storage| {
            state.save(&mut StoragePlace(storage), rows, &mut || Ok(sources.stamp()))
        })?;
        (self.meta, self.is_changed) = (state.metadata().clone(), false);
        Ok(())
    }

    pub(super) fn is_of(&self, column: &str) -> bool {
        self.meta.column.as_str() == Some(column) && !self.meta.is_expression
    }
}

/// Makes what `work` does one commit.
pub(super) fn committed<T>(
    storage: &mut dyn TableStorage,
    work: impl FnOnce(&mut dyn TableStorage) -> Result<T>,
) -> Result<T> {
    storage.begin()?;
    match work(storage) {
        Ok(made) => storage.commit().map(|()| made),
        Err(error) => storage.undo().and(Err(error)),
    }
}

impl TableIndexes {
    pub(super) fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forgets all that was read: what is stored may be other than before.
    pub(super) fn forget(&self) {
        *self.known() = Known::default();
    }

    /// The values of all columns may change: they are compared before an index is asked again.
    pub(super) fn distrust(&self) {
        self.known().items.iter_mut().for_each(|one| one.is_fresh = Some(false));
    }

    /// Which of them need no comparison.
    pub(super) fn trusted(&self) -> Vec<Option<bool>> {
        self.known().items.iter().map(|one| one.is_fresh).collect()
    }

    /// All that was written is told to them, or rows that were appended: those stay trusted that were.
    pub(super) fn trust(&self, trusted: &[Option<bool>]) {
        let mut known = self.known();
        known.items.iter_mut().zip(trusted).for_each(|(one, &is_fresh)| one.is_fresh = is_fresh);
    }
}

impl Known {
    /// Reads what there is. Metadata that are not understood are left alone.
    pub(super) fn read(&mut self, storage: &dyn TableStorage) -> Result<()> {
        if self.is_read {
            return Ok(());
        }
        self.storage = storage.index_storage(false)?;
        let attributes = self.storage.as_ref().map(|storage| storage.attributes("")).unwrap_or_default();
        for (name, text) in attributes.iter() {
            let key = name.as_str().and_then(|name| name.strip_prefix(PREFIX));
            let (Some(key), Some(text)) = (key, text.as_str()) else { continue };
            if let Ok(meta) = Metadata::read(text.as_bytes(), &IndexParams::default()) {
                let state = None;
                let key = key.to_owned();
                let reason = String::new();
                self.items.push(OneIndex { key, meta, state, is_fresh: None, is_changed: false, reason });
            }
        }
        self.is_read = true;
        Ok(())
    }
}
