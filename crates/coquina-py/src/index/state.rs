//! The state of an index as Python holds it: opened, extended and written in a place that is a Python object.

use coquina::index::store::{BuildWatch, Building, IndexState as State, IndexedValues, sweep};
use coquina::query::Column;
use coquina::{Job, JsonObject, Result as EngineResult};
use pyo3::prelude::*;

use super::current::CurrentIndex;
use super::metadata::{IndexMetadata, Params, run_of, stamp_of};
use super::place::{PythonPlace, raised};
use super::progress::{Reading, Told};
use crate::directories::attributes::Text;
use crate::errors::Raised;
use crate::lazy::Lazy;
use crate::query::Wanted;
use crate::tuples::tuple_struct;
use crate::watch;

type Work<'w> = &'w mut (dyn FnMut(&Job<'_>) -> EngineResult<()> + Send);

/// An index as it is stored. Calls do not overlap: who has it has a lock.
#[pyclass(module = "coquina._core")]
pub(crate) struct IndexState {
    state: State,
    key: String,
}

tuple_struct! {
    /// What is indexed: the values that have keys, where there is none, and all that a value depends on.
    struct Values<'py> {
        values: Wanted<'py>,
        missing: Option<PyRef<'py, Lazy>>,
        fingerprinted: Vec<Wanted<'py>>,
    }
}

#[pymethods]
impl IndexState {
    /// An index of metadata that name no arrays yet.
    #[new]
    fn new(key: String, meta: &IndexMetadata, params: Params) -> Result<Self, Raised> {
        Ok(Self { state: State::new(&key, meta.meta.clone(), params.engine())?, key })
    }

    /// Opens all that metadata name. Raises CorruptError, also for what is not there.
    #[staticmethod]
    fn load(
        place: &Bound<'_, PyAny>,
        key: String,
        meta: &IndexMetadata,
        params: Params,
    ) -> Result<Self, Raised> {
        let state = State::load(&PythonPlace(place), &key, meta.meta.clone(), params.engine())?;
        Ok(Self { state, key })
    }

    /// Its metadata, as they are now.
    #[getter]
    fn metadata(&self) -> IndexMetadata {
        IndexMetadata { meta: self.state.metadata().clone() }
    }

    /// Its runs: number, entries, rows without a key, and rows of each.
    #[getter]
    fn runs(&self) -> Vec<(u64, u64, u64, u64)> {
        self.state.runs().iter().map(|run| run_of(&run.entry)).collect()
    }

    /// The bytes of its spans and zones.
    #[getter]
    fn list_bytes(&self) -> u64 {
        self.state.list_bytes()
    }

    /// What can be asked of `nrows` rows until spans change. Raises CorruptError for spans of runs that there are not.
    fn current(&self, nrows: u64) -> Result<CurrentIndex, Raised> {
        Ok(CurrentIndex { current: self.state.current(nrows)? })
    }

    /// Forgets what was known of rows; returns whether that was anything.
    fn changed(&mut self, start: u64, stop: u64) -> bool {
        self.state.changed(start..stop)
    }

    /// Forgets what lies behind `nrows` rows; returns whether that was anything.
    fn resized(&mut self, nrows: u64) -> bool {
        self.state.resized(nrows)
    }

    /// Forgets the spans whose values have other fingerprints now; returns whether there are some.
    fn verify(&mut self, py: Python<'_>, sources: Vec<Wanted<'_>>) -> Result<bool, Raised> {
        let columns: Vec<Column<'_>> = sources.iter().map(Wanted::column).collect();
        let state = &mut self.state;
        watch::run(py, usize::MAX, None, None, |job| state.verify(&columns, job))
    }

    /// Indexes the spans of `nrows` rows that are open, or all of them if `whole`, and saves the index. `stamp` gives JSON.
    #[pyo3(signature = (place, values, nrows, stamp, *, whole, memory_limit, progress))]
    #[expect(clippy::too_many_arguments, reason = "they are the keywords of a Python function")]
    fn extend(
        &mut self,
        place: &Bound<'_, PyAny>,
        values: Values<'_>,
        nrows: u64,
        stamp: &Bound<'_, PyAny>,
        whole: bool,
        memory_limit: u64,
        progress: Option<Py<PyAny>>,
    ) -> Result<(), Raised> {
        let fingerprinted: Vec<Column<'_>> = values.fingerprinted.iter().map(Wanted::column).collect();
        let missing = values.missing.as_ref().map(|missing| &*missing.source);
        let values = IndexedValues { column: values.values.column(), missing, fingerprinted: &fingerprinted };
        let watch = Watched { py: place.py(), progress };
        let building = Building { nrows, whole, memory_limit, watch: &watch };
        let mut stamp = || stamped(stamp);
        Ok(self.state.extend(&mut PythonPlace(place), &values, building, &mut stamp)?)
    }

    /// Writes what has changed, metadata last; removes what is not named any more. `stamp` gives JSON.
    fn save(&mut self, place: &Bound<'_, PyAny>, nrows: u64, stamp: &Bound<'_, PyAny>) -> Result<(), Raised> {
        Ok(self.state.save(&mut PythonPlace(place), nrows, &mut || stamped(stamp))?)
    }

    /// Gives the index another name, and what it is of; its arrays stay as they are.
    fn rename(&mut self, place: &Bound<'_, PyAny>, name: Text, column: Text) -> Result<(), Raised> {
        Ok(self.state.rename(&mut PythonPlace(place), name.0, column.0)?)
    }

    /// Removes the arrays of the index that metadata do not name.
    fn sweep(&self, place: &Bound<'_, PyAny>, meta: &IndexMetadata) -> Result<(), Raised> {
        Ok(sweep(&mut PythonPlace(place), &self.key, &meta.meta)?)
    }
}

fn stamped(stamp: &Bound<'_, PyAny>) -> EngineResult<JsonObject> {
    let text: Text = stamp.call0().and_then(|text| text.extract()).map_err(raised)?;
    stamp_of(&text.0)
}

/// Runs the steps without the GIL, and tells of them.
struct Watched<'py> {
    py: Python<'py>,
    progress: Option<Py<PyAny>>,
}

impl BuildWatch for Watched<'_> {
    fn read(&self, rows: u64, bytes: usize, is_sorted: bool, work: Work<'_>) -> EngineResult<()> {
        let py = self.py;
        let (mut total, mut reading) = (usize::MAX, None);
        if let Some(progress) = &self.progress {
            let (progress, done) = (progress.clone_ref(py), bytes as u64);
            let made = if is_sorted {
                Reading::half(progress, rows, done)
            } else {
                Reading::all(progress, rows, done)
            };
            total = bytes;
            reading = Some(Py::new(py, made).map_err(raised)?.into_any());
        }
        watch::run(py, total, None, reading, |job| work(job)).map_err(|error| raised(error.0))
    }

    fn run(&self, work: Work<'_>) -> EngineResult<()> {
        watch::run(self.py, usize::MAX, None, None, |job| work(job)).map_err(|error| raised(error.0))
    }

    fn stored(&self, done: u64, rows: u64) -> EngineResult<()> {
        let told = Told::new(self.progress.as_ref().map(|progress| progress.clone_ref(self.py)), rows);
        told.hand(self.py, done).map_err(raised)
    }
}
