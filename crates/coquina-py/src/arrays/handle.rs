//! An array of the engine as Python holds it: commits, metadata, saving, checking; all that needs no dtype.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use coquina::Existing;
use coquina::array::{Array, Damage};
use coquina::chunk::Special;
use coquina::frame::{Kind, SumState};
use coquina::{Job, Result};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use super::lossy::{self, LossyTuple, ReachedTerms, Terms};
use super::tuning::{self, GoalTerms, GoalTuple};
use crate::errors::Raised;
use crate::{options, watch};

/// An array of the engine, without a dtype.
#[pyclass(frozen, module = "coquina._core")]
pub(crate) struct ArrayHandle {
    pub(crate) array: Arc<Array>,
    /// Its bytes come from an object of Python's, so that reading needs the GIL.
    pub(crate) reads_python: bool,
    path: Option<PathBuf>,
    offset: u64,
    /// The `RangeReader` that its bytes come from, if it is far away.
    remote: Option<Py<PyAny>>,
}

impl ArrayHandle {
    /// An array in memory, or at the start of a file.
    pub(crate) fn new(array: Array, path: Option<PathBuf>) -> Self {
        Self { array: Arc::new(array), reads_python: false, path, offset: 0, remote: None }
    }

    /// An array that others have too, in a file.
    pub(crate) fn shared(array: Arc<Array>, path: PathBuf) -> Self {
        Self { array, reads_python: false, path: Some(path), offset: 0, remote: None }
    }

    /// The same array, which starts at this byte of its file.
    pub(crate) fn at(self, offset: u64) -> Self {
        Self { offset, ..self }
    }

    /// The same array, whose bytes come from this `RangeReader`.
    pub(crate) fn of_reader(self, reader: &Bound<'_, PyAny>) -> Self {
        Self { remote: Some(reader.clone().unbind()), ..self }
    }

    /// The same array, whose bytes come from an object of Python's.
    pub(crate) fn of_python(self) -> Self {
        Self { reads_python: true, ..self }
    }
}

pub(crate) fn existing(overwrite: bool) -> Existing {
    if overwrite { Existing::Replace } else { Existing::Refuse }
}

pub(crate) fn kind(contiguous: bool) -> Kind {
    if contiguous { Kind::Contiguous } else { Kind::Sparse }
}

/// Bounds of a chunk for Python: least and greatest item, whether these are exact, whether there is a NaN.
type BoundsTuple<'py> = (Bound<'py, PyBytes>, Bound<'py, PyBytes>, bool, bool);

/// A damaged chunk for Python: its number, its region, and what is wrong.
type DamageTuple = (u64, Vec<(u64, u64)>, Py<PyAny>);

fn damages(py: Python<'_>, damages: Vec<Damage>) -> Vec<DamageTuple> {
    let tuple = |damage: Damage| {
        let region = damage.region.into_iter().map(|range| (range.start, range.end)).collect();
        (damage.chunk, region, Raised::from(damage.error).0.into_value(py).into_any())
    };
    damages.into_iter().map(tuple).collect()
}

impl ArrayHandle {
    /// Work of unknown length, watched.
    fn work<T: Send>(
        &self,
        py: Python<'_>,
        threads: Option<i64>,
        work: impl FnOnce(&Array, &Job<'_>) -> Result<T> + Send,
    ) -> Result<T, Raised> {
        watch::run(py, usize::MAX, threads, None, |job| work(&self.array, job))
    }
}

#[pymethods]
impl ArrayHandle {
    /// The dtype as it is stored.
    #[getter]
    fn dtype_text(&self) -> Option<&str> {
        self.array.dtype()
    }

    #[getter]
    fn typesize(&self) -> usize {
        self.array.typesize()
    }

    #[getter]
    fn is_writable(&self, py: Python<'_>) -> bool {
        py.detach(|| self.array.is_writable())
    }

    /// Whether it was closed.
    #[getter]
    fn is_closed(&self, py: Python<'_>) -> bool {
        py.detach(|| self.array.is_closed())
    }

    /// A number that tells the array from all others that are open.
    #[getter]
    fn identity(&self) -> usize {
        Arc::as_ptr(&self.array).addr()
    }

    #[getter]
    fn path(&self) -> Option<std::ffi::OsString> {
        self.path.clone().map(PathBuf::into_os_string)
    }

    /// The `RangeReader` that its bytes come from; `None` for what is not far away.
    #[getter]
    fn remote(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        self.remote.as_ref().map(|reader| reader.clone_ref(py))
    }

    /// Where in the file it starts.
    #[getter]
    fn offset(&self) -> u64 {
        self.offset
    }

    #[getter]
    fn durable(&self, py: Python<'_>) -> bool {
        py.detach(|| self.array.is_durable())
    }

    #[getter]
    fn cache_bytes(&self) -> usize {
        self.array.cache_bytes()
    }

    /// A number that tells this state of its file from others; see `Array::state_sum`.
    #[getter]
    fn state_sum(&self, py: Python<'_>) -> Option<u64> {
        py.detach(|| self.array.state_sum())
    }

    /// What the items may have lost: name and value of the bound, the means, and what was reached.
    fn lossy(&self, py: Python<'_>) -> Result<Option<LossyTuple>, Raised> {
        lossy::get(py, &self.array)
    }

    /// What is written to an HDF5 dataset from now on is within its bound already and stays as it is, or is not.
    #[pyo3(signature = (is_exact, /))]
    fn set_exact(&self, py: Python<'_>, is_exact: bool) -> Result<(), Raised> {
        Ok(py.detach(|| self.array.set_exact(is_exact))?)
    }

    /// Counts what was lost before a write, as another array has reached it.
    #[pyo3(signature = (reached, /))]
    fn add_loss(&self, py: Python<'_>, reached: ReachedTerms) -> Result<(), Raised> {
        Ok(py.detach(|| self.array.add_loss(&reached.into()))?)
    }

    /// Lets the metadata say what was lost so far.
    fn write_loss(&self, py: Python<'_>) -> Result<(), Raised> {
        Ok(py.detach(|| self.array.write_loss())?)
    }

    /// From now on what is written may lose so much; `reached` is what it has lost before.
    #[pyo3(signature = (terms, reached=None, /))]
    fn set_lossy(&self, py: Python<'_>, terms: Terms, reached: Option<ReachedTerms>) -> Result<(), Raised> {
        lossy::set(py, &self.array, terms, reached)
    }

    /// What chunks are tuned for; `None` if they are all encoded alike.
    fn tuning(&self, py: Python<'_>) -> Result<Option<GoalTuple>, Raised> {
        tuning::get(py, &self.array)
    }

    /// From now on the codec, level and filters of each chunk that is written are chosen for this goal, or no more.
    #[pyo3(signature = (goal, /))]
    fn set_tuning(&self, py: Python<'_>, goal: Option<GoalTerms>) -> Result<(), Raised> {
        tuning::set(py, &self.array, goal)
    }

    /// How many chunks are encoded how, from what their headers say.
    fn encodings(&self, py: Python<'_>) -> Result<BTreeMap<String, u64>, Raised> {
        tuning::encodings(py, &self.array)
    }

    /// What the tuner has done for this handle so far, by name.
    fn tuner_counters<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyDict>, Raised> {
        tuning::counters(py, &self.array)
    }

    /// Takes over the chunks of another array as they are stored; its first item is at `start` here.
    #[pyo3(signature = (start, other, /))]
    fn adopt(&self, py: Python<'_>, start: Vec<u64>, other: &Bound<'_, Self>) -> Result<(), Raised> {
        let other = &other.get().array;
        Ok(py.detach(|| self.array.adopt(&start, other))?)
    }

    /// Gives a created file its name.
    fn publish(&self, py: Python<'_>) -> Result<(), Raised> {
        Ok(py.detach(|| self.array.publish())?)
    }

    /// From here on changes are one commit.
    fn begin(&self, py: Python<'_>) -> Result<(), Raised> {
        Ok(py.detach(|| self.array.begin())?)
    }

    fn commit(&self, py: Python<'_>) -> Result<(), Raised> {
        Ok(py.detach(|| self.array.commit())?)
    }

    /// What tells the last commit from all other states of the file: where it ends, and its sum.
    #[getter]
    fn commit_id(&self, py: Python<'_>) -> Option<(u64, u64)> {
        py.detach(|| self.array.commit_id()).map(|id| (id.end, id.sum))
    }

    /// Writes all changes, to be committed by `commit_together`; returns the id of the state with them.
    fn prepare(&self, py: Python<'_>) -> Result<(u64, u64), Raised> {
        let id = py.detach(|| self.array.prepare())?;
        Ok((id.end, id.sum))
    }

    /// Forgets all changes since the last commit, and goes on in a transaction.
    fn undo(&self, py: Python<'_>) -> Result<(), Raised> {
        Ok(py.detach(|| self.array.undo())?)
    }

    fn rollback(&self, py: Python<'_>) {
        py.detach(|| self.array.rollback());
    }

    fn compact(&self, py: Python<'_>) -> Result<(), Raised> {
        Ok(py.detach(|| self.array.compact())?)
    }

    fn refresh(&self, py: Python<'_>) -> Result<bool, Raised> {
        Ok(py.detach(|| self.array.refresh())?)
    }

    fn close(&self, py: Python<'_>) -> Result<(), Raised> {
        Ok(py.detach(|| self.array.close())?)
    }

    #[pyo3(signature = (durable, /))]
    fn set_durable(&self, py: Python<'_>, durable: bool) {
        py.detach(|| self.array.set_durable(durable));
    }

    #[pyo3(signature = (cache_bytes, /))]
    fn set_cache_bytes(&self, py: Python<'_>, cache_bytes: i64) -> Result<(), Raised> {
        let bytes = options::number("cache_bytes", cache_bytes, 0)?;
        py.detach(|| self.array.set_cache_bytes(bytes));
        Ok(())
    }

    /// Writes the array as it is stored to a new file.
    #[pyo3(signature = (path, /, *, overwrite=false))]
    fn save(&self, py: Python<'_>, path: PathBuf, overwrite: bool) -> Result<(), Raised> {
        Ok(py.detach(|| self.array.save(&path, Kind::Contiguous, existing(overwrite)))?)
    }

    /// Returns the array as the bytes of a frame.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyBytes>, Raised> {
        Ok(PyBytes::new(py, &py.detach(|| self.array.to_bytes())?))
    }

    /// Looks at every chunk, and returns number, region and error of those that are damaged.
    #[pyo3(signature = (*, threads=None))]
    fn verify(&self, py: Python<'_>, threads: Option<i64>) -> Result<Vec<DamageTuple>, Raised> {
        Ok(damages(py, self.work(py, threads, |array, job| array.verify(job))?))
    }

    /// Writes all that is good to a new file, and returns what is not.
    #[pyo3(signature = (path, /, *, overwrite=false, nans=false, threads=None))]
    fn repair(
        &self,
        py: Python<'_>,
        path: PathBuf,
        overwrite: bool,
        nans: bool,
        threads: Option<i64>,
    ) -> Result<Vec<DamageTuple>, Raised> {
        // NaN says that something was there, but not every dtype has it, and the engine knows no dtypes.
        let lost = if nans { Special::Nans } else { Special::Zeros };
        let found =
            self.work(py, threads, |array, job| array.repair(&path, existing(overwrite), lost, job))?;
        Ok(damages(py, found))
    }

    /// The content of a variable-length metalayer.
    #[pyo3(signature = (name, /))]
    fn layer<'py>(&self, py: Python<'py>, name: &str) -> Result<Option<Bound<'py, PyBytes>>, Raised> {
        let content = py.detach(|| self.array.layer(name))?;
        Ok(content.map(|content| PyBytes::new(py, &content)))
    }

    /// Sets a variable-length metalayer, or removes it.
    #[pyo3(signature = (name, content, /))]
    fn set_layer(&self, py: Python<'_>, name: &str, content: Option<Vec<u8>>) -> Result<(), Raised> {
        Ok(py.detach(|| self.array.set_layer(name, content))?)
    }

    fn layer_names(&self, py: Python<'_>) -> Vec<String> {
        py.detach(|| self.array.layer_names())
    }

    /// The fixed metalayers: names and contents.
    fn metalayers<'py>(&self, py: Python<'py>) -> Vec<(String, Bound<'py, PyBytes>)> {
        let layers = py.detach(|| self.array.metalayers());
        layers.into_iter().map(|(name, content)| (name, PyBytes::new(py, &content))).collect()
    }

    /// What is known of the items of a chunk without decoding any: least and greatest, whether these are exact, and
    /// whether there is a NaN.
    #[pyo3(signature = (number, /))]
    fn bounds<'py>(&self, py: Python<'py>, number: u64) -> Option<BoundsTuple<'py>> {
        let bounds = py.detach(|| self.array.chunk_bounds(number))?;
        let item = |item: &[u8]| PyBytes::new(py, item);
        Some((item(&bounds.min), item(&bounds.max), bounds.is_exact, bounds.has_nan))
    }

    /// What is stored, and what has been read so far, by name.
    fn stats<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyDict>, Raised> {
        let (stats, params) = py.detach(|| (self.array.stats(), *self.array.params()));
        let spec = py.detach(|| self.array.stored_spec());
        let own = (params.codec.id(), params.codec_meta, params.level, params.pipeline);
        let (codec_id, codec_meta, level, pipeline) =
            spec.map_or(own, |s| (s.codec_id, s.codec_meta, s.level, s.pipeline));
        let facts = PyDict::new(py);
        facts.set_item("nchunks", stats.nchunks)?;
        facts.set_item("nbytes", stats.nbytes)?;
        facts.set_item("cbytes", stats.sizes.cbytes)?;
        facts.set_item("dead_bytes", stats.sizes.dead_bytes)?;
        facts.set_item("special_chunks", stats.sizes.special_chunks)?;
        facts.set_item("known_chunks", stats.known_chunks)?;
        facts.set_item("checksums", sums_name(stats.sizes.sums))?;
        facts.set_item("blocks_decoded", stats.blocks_decoded)?;
        facts.set_item("blocks_cached", stats.blocks_cached)?;
        facts.set_item("codec", options::codec_name(codec_id))?;
        facts.set_item("codec_parameter", options::codec_parameter(codec_id, codec_meta))?;
        facts.set_item("level", level)?;
        facts.set_item("filters", options::filter_names(&pipeline))?;
        if let Some(found) = stats.sizes.chunk_access {
            facts.set_item("access", found.chunk_access.name())?;
            facts.set_item("chunks_direct", found.chunks_direct)?;
            facts.set_item("chunks_fetched", found.chunks_fetched)?;
            facts.set_item("chunks_unchanged", found.chunks_unchanged)?;
            facts.set_item("boxes_whole", found.boxes_whole)?;
            facts.set_item("table_rows", found.table_rows)?;
            facts.set_item("fallbacks", found.fallbacks)?;
        }
        Ok(facts)
    }
}

pub(crate) fn sums_name(sums: SumState) -> &'static str {
    match sums {
        SumState::Fresh => "fresh",
        SumState::Absent => "absent",
        SumState::Stale => "stale",
    }
}
