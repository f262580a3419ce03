//! Indexes: rows sorted by keys, and the search of what was stored of them.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use coquina::Result;
use coquina::index::{
    Batch, Found, KeyKind, KeyRanges, Keyed, RowNumbers, Run, Sorted, Sorting, Stored, sort,
};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;

use crate::errors::Raised;
use crate::lazy::Lazy;
use crate::query::Wanted;
use crate::watch;

pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<IndexSort>()?;
    module.add_class::<IndexRun>()
}

/// Rows in the order of their keys, handed out in blocks.
#[pyclass(frozen, module = "coquina._core")]
struct IndexSort {
    sorted: Mutex<Sorted>,
    told: Told,
    threads: Option<i64>,
}

/// Offsets, rows, first keys and shifts of some blocks.
type Blocks<'py> =
    (Bound<'py, PyArray1<u16>>, Bound<'py, PyAny>, Bound<'py, PyArray1<u64>>, Bound<'py, PyArray1<u8>>);

/// Who is told how far it is: reading is the first half of the way, handing out the second one.
struct Told {
    progress: Option<Py<PyAny>>,
    rows: u64,
    handed: AtomicU64,
}

impl Told {
    /// Some more rows have been handed out.
    fn hand(&self, py: Python<'_>, rows: u64) -> PyResult<()> {
        let done = self.rows + self.handed.fetch_add(rows, Ordering::Relaxed) + rows;
        let Some(progress) = &self.progress else { return Ok(()) };
        progress.call1(py, (done, 2 * self.rows)).map(drop)
    }
}

/// Tells of reading, whose progress is counted in bytes.
#[pyclass(frozen)]
struct Reading {
    progress: Py<PyAny>,
    rows: u64,
    bytes: u64,
    /// What was told last; sorting behind it counts nothing.
    told: AtomicU64,
}

#[pymethods]
impl Reading {
    fn __call__(&self, py: Python<'_>, done: u64) -> PyResult<()> {
        let rows = u128::from(done.min(self.bytes)) * u128::from(self.rows) / u128::from(self.bytes.max(1));
        let rows = u64::try_from(rows).unwrap_or(self.rows);
        let rows = self.told.fetch_max(rows, Ordering::Relaxed).max(rows);
        self.progress.call1(py, (rows, 2 * self.rows)).map(drop)
    }
}

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
                let (progress, told) = (progress.clone_ref(py), AtomicU64::new(0));
                let reading = Reading { progress, rows, bytes: bytes as u64, told };
                Some(Py::new(py, reading)?.into_any())
            }
        };
        let total = if reading.is_some() { bytes } else { usize::MAX };
        let sorted = watch::run(py, total, threads, reading, |job| sort(&sorting, job))?;
        let told = Told { progress, rows, handed: AtomicU64::new(0) };
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

/// A stored run that can be searched.
#[pyclass(frozen, module = "coquina._core")]
struct IndexRun {
    run: Run,
}

/// Rows that are sure, and rows that are not.
type Rows<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>);

fn ranges(low: &PyReadonlyArray1<'_, u64>, high: &PyReadonlyArray1<'_, u64>) -> Result<KeyRanges, Raised> {
    let slice = |keys: &PyReadonlyArray1<'_, u64>| keys.as_array().to_vec();
    Ok(KeyRanges::new(&slice(low), &slice(high))?)
}

#[pymethods]
impl IndexRun {
    #[new]
    #[pyo3(signature = (offsets, rows, first, shifts, entries, missing, block_entries=4096))]
    #[expect(clippy::too_many_arguments, reason = "they are the arguments of a Python function")]
    fn new(
        offsets: &Lazy,
        rows: &Lazy,
        first: PyReadonlyArray1<'_, u64>,
        shifts: PyReadonlyArray1<'_, u8>,
        entries: u64,
        missing: u64,
        block_entries: u64,
    ) -> Result<Self, Raised> {
        let (offsets, rows) = (Arc::clone(&offsets.source), Arc::clone(&rows.source));
        let (first, shifts) = (first.as_array().to_vec(), shifts.as_array().to_vec());
        let stored = Stored { offsets, rows, first, shifts, entries, missing, block_entries };
        Ok(Self { run: Run::open(stored)? })
    }

    /// No more entries than this have keys in the ranges.
    fn estimate(
        &self,
        low: PyReadonlyArray1<'_, u64>,
        high: PyReadonlyArray1<'_, u64>,
    ) -> Result<u64, Raised> {
        Ok(self.run.estimate(&ranges(&low, &high)?))
    }

    /// How many entries have keys in the ranges, and how many more may have.
    fn count(
        &self,
        py: Python<'_>,
        low: PyReadonlyArray1<'_, u64>,
        high: PyReadonlyArray1<'_, u64>,
    ) -> Result<(u64, u64), Raised> {
        let ranges = ranges(&low, &high)?;
        watch::run(py, usize::MAX, None, None, |job| self.run.count(&ranges, job))
    }

    /// The rows whose keys are in the ranges, and those whose keys may be.
    #[pyo3(signature = (low, high, *, threads=None))]
    fn find<'py>(
        &self,
        py: Python<'py>,
        low: PyReadonlyArray1<'py, u64>,
        high: PyReadonlyArray1<'py, u64>,
        threads: Option<i64>,
    ) -> Result<Rows<'py>, Raised> {
        let ranges = ranges(&low, &high)?;
        let Found { sure, unsure } =
            watch::run(py, usize::MAX, threads, None, |job| self.run.find(&ranges, job))?;
        Ok((PyArray1::from_vec(py, sure), PyArray1::from_vec(py, unsure)))
    }

    /// The rows of entries in the order of their keys, and behind these the rows without one.
    #[pyo3(signature = (start, stop, *, threads=None))]
    fn rows_at<'py>(
        &self,
        py: Python<'py>,
        start: u64,
        stop: u64,
        threads: Option<i64>,
    ) -> Result<Bound<'py, PyArray1<i64>>, Raised> {
        let rows = watch::run(py, usize::MAX, threads, None, |job| self.run.rows_at(start, stop, job))?;
        Ok(PyArray1::from_vec(py, rows))
    }
}
