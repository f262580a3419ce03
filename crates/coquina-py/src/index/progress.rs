//! Who is told how far the sorting of an index is.

use std::sync::atomic::{AtomicU64, Ordering};

use pyo3::prelude::*;

/// Who is told how far it is: reading is the first half of the way, handing out the second one.
pub(super) struct Told {
    progress: Option<Py<PyAny>>,
    rows: u64,
    handed: AtomicU64,
}

impl Told {
    pub(super) fn new(progress: Option<Py<PyAny>>, rows: u64) -> Self {
        Self { progress, rows, handed: AtomicU64::new(0) }
    }

    /// Some more rows have been handed out.
    pub(super) fn hand(&self, py: Python<'_>, rows: u64) -> PyResult<()> {
        let done = self.rows + self.handed.fetch_add(rows, Ordering::Relaxed) + rows;
        let Some(progress) = &self.progress else { return Ok(()) };
        progress.call1(py, (done, 2 * self.rows)).map(drop)
    }
}

/// Tells of reading, whose progress is counted in bytes.
#[pyclass(frozen)]
pub(super) struct Reading {
    progress: Py<PyAny>,
    rows: u64,
    bytes: u64,
    /// How many rows make the whole way.
    total: u64,
    /// What was told last; sorting behind it counts nothing.
    told: AtomicU64,
}

impl Reading {
    /// For reading that is the first half of the way.
    pub(super) fn half(progress: Py<PyAny>, rows: u64, bytes: u64) -> Self {
        Self { progress, rows, bytes, total: 2 * rows, told: AtomicU64::new(0) }
    }

    /// For reading that is all there is to do.
    pub(super) fn all(progress: Py<PyAny>, rows: u64, bytes: u64) -> Self {
        Self { progress, rows, bytes, total: rows, told: AtomicU64::new(0) }
    }
}

#[pymethods]
impl Reading {
    fn __call__(&self, py: Python<'_>, done: u64) -> PyResult<()> {
        let rows = u128::from(done.min(self.bytes)) * u128::from(self.rows) / u128::from(self.bytes.max(1));
        let rows = u64::try_from(rows).unwrap_or(self.rows);
        let rows = self.told.fetch_max(rows, Ordering::Relaxed).max(rows);
        self.progress.call1(py, (rows, self.total)).map(drop)
    }
}
