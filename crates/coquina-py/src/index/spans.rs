//! Which run of an index knows which rows.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use coquina::index::Spans;
use numpy::{PyArray1, PyArray2, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::row_set::pairs;
use crate::errors::Raised;
use crate::query::Wanted;
use crate::rows::fingerprints_of;

/// The owner of each span of rows, and a fingerprint of its values.
#[pyclass(frozen, name = "Spans", module = "coquina._core")]
pub(crate) struct PySpans {
    spans: Mutex<Spans>,
}

impl PySpans {
    /// The spans. Nobody who has them waits for anything.
    pub(super) fn spans(&self) -> MutexGuard<'_, Spans> {
        self.spans.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl PySpans {
    /// The stored spans, of so many rows each.
    #[new]
    #[pyo3(signature = (stored=None, span_rows=coquina::index::SPAN_ROWS))]
    fn new(stored: Option<&[u8]>, span_rows: u64) -> Result<Self, Raised> {
        Ok(Self { spans: Mutex::new(Spans::read(stored.unwrap_or_default(), span_rows)?) })
    }

    /// The spans as they are stored: 16 bytes each.
    fn bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.spans().bytes())
    }

    /// The row behind the last that is owned.
    #[getter]
    fn stop(&self) -> u64 {
        self.spans().stop()
    }

    /// How many rows are owned.
    #[getter]
    fn rows(&self) -> u64 {
        self.spans().rows()
    }

    /// How many rows each run owns.
    fn rows_of(&self) -> BTreeMap<i32, u64> {
        self.spans().rows_of()
    }

    /// The ranges of `nrows` rows that nobody owns: pairs, ascending, not adjacent.
    fn open_ranges<'py>(&self, py: Python<'py>, nrows: u64) -> PyResult<Bound<'py, PyArray2<i64>>> {
        pairs(py, &self.spans().open_ranges(nrows))
    }

    /// Forgets what was known of rows; returns whether that was anything.
    fn changed(&self, start: u64, stop: u64) -> bool {
        self.spans().changed(start..stop)
    }

    /// Forgets what lies behind `nrows` rows; returns whether that was anything.
    fn resized(&self, nrows: u64) -> bool {
        self.spans().resized(nrows)
    }

    /// Forgets the spans whose values have other fingerprints now; returns whether there are some.
    fn verify<'py>(&self, py: Python<'py>, sources: Vec<Wanted<'py>>) -> Result<bool, Raised> {
        let ranges = self.spans().fingerprinted();
        let found = fingerprints_of(py, &sources, &ranges, None)?;
        Ok(self.spans().verify(&found)?)
    }

    /// The spans of `nrows` rows that are open, or owned by one of `runs`, by their numbers.
    fn wanted<'py>(&self, py: Python<'py>, runs: BTreeSet<i32>, nrows: u64) -> Bound<'py, PyArray1<u64>> {
        PyArray1::from_vec(py, self.spans().wanted(&runs, nrows))
    }

    /// The rows of spans, by their numbers, of `nrows` rows: pairs, of adjacent ones one.
    fn ranges<'py>(
        &self,
        py: Python<'py>,
        spans: PyReadonlyArray1<'py, u64>,
        nrows: u64,
    ) -> PyResult<Bound<'py, PyArray2<i64>>> {
        pairs(py, &self.spans().joined(&spans.as_array().to_vec(), nrows))
    }

    /// Gives spans of `nrows` rows to a run, which knows all of their rows.
    fn own<'py>(
        &self,
        py: Python<'py>,
        spans: PyReadonlyArray1<'py, u64>,
        run: u64,
        nrows: u64,
        sources: Vec<Wanted<'py>>,
    ) -> Result<(), Raised> {
        let spans = spans.as_array().to_vec();
        let ranges = self.spans().ranges(&spans, nrows);
        let found = fingerprints_of(py, &sources, &ranges, None)?;
        Ok(self.spans().own(&spans, run, nrows, &found)?)
    }

    /// A copy, which is changed by itself.
    fn copy(&self) -> Self {
        Self { spans: Mutex::new(self.spans().clone()) }
    }
}
