//! A dataset of h5py's as Python code of the package holds it: lent to the engine, and its stored chunks one by one.

use std::sync::Arc;

use coquina::store::hdf5::Library;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::Dataset;
use super::rows::{ChunkRows, RowTuple, row_tuples};
use super::versions::DatasetVersion;
use crate::buffers::{Input, Output};
use crate::errors::Raised;

/// An h5py dataset, lent to the engine.
#[pyclass(frozen, module = "coquina._core")]
pub(crate) struct Hdf5Library {
    pub(crate) dataset: Arc<Dataset>,
}

#[pymethods]
impl Hdf5Library {
    /// `raw` chooses the way to libhdf5's functions: its symbols or h5py's capsules; `None` the best there is.
    /// `memory_type` is the `TypeID` of items that libhdf5 reads and writes, if it is not that of the file.
    /// `attributes` reads and writes the attributes that say how chunks are encoded; without it they are not looked at.
    /// `version` counts the changes of the dataset, by all of its handles; without it, small reads always ask libhdf5.
    /// `name` is what errors call it; h5py's by default.
    #[new]
    #[pyo3(signature = (dataset, /, *, raw=None, memory_type=None, attributes=None, version=None, name=None))]
    fn new(
        dataset: &Bound<'_, PyAny>,
        raw: Option<bool>,
        memory_type: Option<Bound<'_, PyAny>>,
        attributes: Option<Py<PyAny>>,
        version: Option<&Bound<'_, DatasetVersion>>,
        name: Option<String>,
    ) -> PyResult<Self> {
        let version = version.map(|version| version.get().clone());
        let dataset = Dataset::new(dataset, raw, memory_type, name)?.with_attributes(attributes);
        let dataset = dataset.with_version(version);
        Ok(Self { dataset: Arc::new(dataset) })
    }

    /// The h5py dataset.
    #[getter]
    fn dataset<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        self.dataset.object(py)
    }

    /// Whether libhdf5 is called by its own symbols, without the GIL.
    #[getter]
    fn raw_symbols(&self) -> bool {
        self.dataset.is_raw()
    }

    /// Whether chunks that the edge cuts go through the filters; `None` if libhdf5 cannot be asked.
    #[getter]
    fn filters_partial_edges(&self) -> Result<Option<bool>, Raised> {
        Ok(self.dataset.filters_partial_edges()?)
    }

    /// Stored bytes and filter mask of the chunk that starts here; `None` if it is not stored.
    #[pyo3(signature = (start, /))]
    fn read_chunk<'py>(
        &self,
        py: Python<'py>,
        start: Vec<u64>,
    ) -> Result<Option<(Bound<'py, PyBytes>, u32)>, Raised> {
        let found = py.detach(|| {
            let session = self.dataset.session()?;
            self.dataset.find(&start, || session.read(&start))
        })?;
        Ok(found.map(|(bytes, mask)| (PyBytes::new(py, &bytes), mask)))
    }

    /// Fills the front of `out` with the stored bytes of a chunk; returns how many, and the filter mask.
    #[pyo3(signature = (start, out, /))]
    fn read_chunk_into(
        &self,
        py: Python<'_>,
        start: Vec<u64>,
        out: &Bound<'_, PyAny>,
    ) -> Result<Option<(usize, u32)>, Raised> {
        let mut out = Output::of(out)?;
        let bytes = out.bytes();
        Ok(py.detach(|| {
            let session = self.dataset.session()?;
            self.dataset.find(&start, || session.read_into(&start, bytes))
        })?)
    }

    /// Stores the bytes of a chunk as they are, with no filter skipped.
    #[pyo3(signature = (start, data, /))]
    fn write_chunk(&self, py: Python<'_>, start: Vec<u64>, data: &Bound<'_, PyAny>) -> Result<(), Raised> {
        let data = Input::of(data)?;
        let bytes = data.bytes();
        Ok(py.detach(|| self.dataset.write(&self.dataset.session()?, &start, bytes))?)
    }

    /// All stored chunks. `by_number` asks for one after the other, as where libhdf5 cannot list them.
    #[pyo3(signature = (*, by_number=false))]
    fn chunk_table<'py>(&self, py: Python<'py>, by_number: bool) -> Result<Vec<RowTuple<'py>>, Raised> {
        let rows = py.detach(|| -> coquina::Result<_> {
            let mut rows = Vec::new();
            let mut each = |start: &[u64], row| {
                rows.push((start.to_vec(), row));
                Ok(())
            };
            if by_number {
                self.dataset.table_by_number(&mut each)?;
            } else {
                self.dataset.chunk_table(&mut each)?;
            }
            Ok(rows)
        })?;
        row_tuples(py, rows)
    }

    /// All stored chunks, to be looked up.
    fn chunk_rows(&self, py: Python<'_>) -> Result<ChunkRows, Raised> {
        Ok(py.detach(|| ChunkRows::of(|each| self.dataset.chunk_table(each)))?)
    }

    /// A number that is larger after each change of the dataset; `None` where there may be some that nobody counts.
    #[getter]
    fn version(&self) -> Option<u64> {
        self.dataset.version()
    }

    /// Gives all that was written to the file to the operating system.
    fn flush(&self, py: Python<'_>) -> Result<(), Raised> {
        Ok(py.detach(|| self.dataset.flush())?)
    }
}
