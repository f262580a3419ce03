//! A stored run of entries, and the search of ranges of keys in it.

use std::sync::Arc;

use coquina::index::{Found, Run, Stored};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;

use super::key_ranges::PyKeyRanges;
use crate::errors::Raised;
use crate::lazy::Lazy;
use crate::watch;

/// A stored run that can be searched.
#[pyclass(frozen, module = "coquina._core")]
pub(super) struct IndexRun {
    pub(super) run: Arc<Run>,
}

/// Rows that are sure, and rows that are not.
type Rows<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>);

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
        Ok(Self { run: Arc::new(Run::open(stored)?) })
    }

    /// No more entries than this have keys in the ranges.
    fn estimate(&self, keys: &PyKeyRanges) -> u64 {
        self.run.estimate(&keys.keys)
    }

    /// How many entries have keys in the ranges, and how many more may have.
    fn count(&self, py: Python<'_>, keys: &PyKeyRanges) -> Result<(u64, u64), Raised> {
        watch::run(py, usize::MAX, None, None, |job| self.run.count(&keys.keys, job))
    }

    /// The rows whose keys are in the ranges, and those whose keys may be.
    #[pyo3(signature = (keys, *, threads=None))]
    fn find<'py>(
        &self,
        py: Python<'py>,
        keys: &PyKeyRanges,
        threads: Option<i64>,
    ) -> Result<Rows<'py>, Raised> {
        let Found { sure, unsure } =
            watch::run(py, usize::MAX, threads, None, |job| self.run.find(&keys.keys, job))?;
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
