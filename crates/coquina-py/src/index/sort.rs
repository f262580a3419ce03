//! Rows sorted by the keys of a column, handed out in blocks.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use coquina::index::{Batch, KeyKind, Keyed, RowNumbers, Sorted, Sorting, sort};
use numpy::PyArray1;
use pyo3::prelude::*;

use super::progress::{Reading, Told};
use crate::errors::Raised;
use crate::lazy::Lazy;
use crate::query::Wanted;
use crate::watch;

/// Rows in the order of their keys, handed out in blocks.
#[pyclass(frozen, module = "coquina._core")]
pub(super) struct IndexSort {
    sorted: Mutex<Sorted>,
    told: Told,
    threads: Option<i64>,
}

/// Offsets, rows, first keys and shifts of some blocks.
type Blocks<'py> =
    (Bound<'py, PyArray1<u16>>, Bound<'py, PyAny>, Bound<'py, PyArray1<u64>>, Bound<'py, PyArray1<u8>>);

#[pymethods]
impl IndexSort {
    /// Reads and sorts the rows of some ranges.
    #[new]
    #[pyo3(signature = (
        source, kind, missing, ranges, *, memory_limit, folder, bucket_rows=1, block_entries=4096, progress=None,
        threads=None,
    ))]
    #[expect(clippy::too_many_arguments, reason = "they are the keywords of a Python function")]
    fn new(
        py: Python<'_>,
        source: Wanted<'_>,
        kind: &str,
        missing: Option<&Lazy>,
        ranges: Vec<(u64, u64)>,
        memory_limit: u64,
        folder: PathBuf,
        bucket_rows: u64,
        block_entries: usize,
        progress: Option<Py<PyAny>>,
        threads: Option<i64>,
    ) -> Result<Self, Raised> {
        let missing = missing.map(|missing| &*missing.source);
        let column = Keyed { column: source.column(), kind: KeyKind::by_name(kind)?, missing };
        let ranges: Vec<_> = ranges.into_iter().map(|(start, stop)| start..stop).collect();
        let sorting =
            Sorting { column, ranges: &ranges, memory_limit, folder: &folder, bucket_rows, block_entries };
        let (rows, bytes) = (sorting.rows(), sorting.read_bytes());
        let reading = match &progress {
            None => None,
            Some(progress) => {
                let reading = Reading::half(progress.clone_ref(py), rows, bytes as u64);
                Some(Py::new(py, reading)?.into_any())
            }
        };
        let total = if reading.is_some() { bytes } else { usize::MAX };
        let sorted = watch::run(py, total, threads, reading, |job| sort(&sorting, job))?;
        let told = Told::new(progress, rows);
        Ok(Self { sorted: Mutex::new(sorted), told, threads })
    }

    /// How many rows have a key.
    #[getter]
    fn entries(&self, py: Python<'_>) -> u64 {
        self.with(py, |sorted| sorted.entries())
    }

    /// The rows without one.
    #[getter]
    fn missing<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        PyArray1::from_vec(py, self.with(py, |sorted| sorted.missing().to_vec()))
    }

    /// The bytes that the number of a row has.
    #[getter]
    fn row_bytes(&self, py: Python<'_>) -> usize {
        self.with(py, |sorted| if sorted.has_large_rows() { 8 } else { 4 })
    }

    /// The next blocks.
    fn next<'py>(&self, py: Python<'py>) -> Result<Option<Blocks<'py>>, Raised> {
        let batch = watch::run(py, usize::MAX, self.threads, None, |job| {
            self.sorted.lock().unwrap_or_else(PoisonError::into_inner).next(job)
        })?;
        let Some(Batch { offsets, rows, first, shifts }) = batch else { return Ok(None) };
        self.told.hand(py, offsets.len() as u64)?;
        let rows = match rows {
            RowNumbers::U32(rows) => PyArray1::from_vec(py, rows).into_any(),
            RowNumbers::U64(rows) => PyArray1::from_vec(py, rows).into_any(),
        };
        let offsets = PyArray1::from_vec(py, offsets);
        Ok(Some((offsets, rows, PyArray1::from_vec(py, first), PyArray1::from_vec(py, shifts))))
    }
}

impl IndexSort {
    /// Looks at what was sorted; another thread may be taking blocks.
    fn with<T: Send>(&self, py: Python<'_>, look: impl FnOnce(&Sorted) -> T + Send) -> T {
        py.detach(|| look(&self.sorted.lock().unwrap_or_else(PoisonError::into_inner)))
    }
}
