//! The bounds of the keys of zones of rows.

use std::sync::{Arc, Mutex, PoisonError};

use coquina::index::{KeyKind, Keyed, SPAN_ROWS, ZONE_ROWS, Zones};
use numpy::PyReadonlyArray2;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::progress::Reading;
use super::row_set::ranges_of;
use crate::errors::Raised;
use crate::lazy::Lazy;
use crate::query::Wanted;
use crate::watch;

/// The zones of an index.
#[pyclass(frozen, module = "coquina._core")]
pub(super) struct IndexZones {
    zones: Mutex<Arc<Zones>>,
}

impl IndexZones {
    /// The zones as they are now.
    pub(super) fn zones(&self) -> Arc<Zones> {
        Arc::clone(&self.zones.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[pymethods]
impl IndexZones {
    /// The stored zones, of so many rows each, of spans of so many rows.
    #[new]
    #[pyo3(signature = (stored=None, zone_rows=ZONE_ROWS, span_rows=SPAN_ROWS))]
    fn new(stored: Option<&[u8]>, zone_rows: u64, span_rows: u64) -> Result<Self, Raised> {
        let zones = Zones::read(stored.unwrap_or_default(), zone_rows, span_rows)?;
        Ok(Self { zones: Mutex::new(Arc::new(zones)) })
    }

    /// The zones as they are stored: 24 bytes each.
    fn bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.zones().bytes())
    }

    /// Looks at the rows of ranges, which ascend and begin where zones do.
    #[pyo3(signature = (source, kind, missing, ranges, *, progress=None))]
    #[expect(clippy::too_many_arguments, reason = "they are the arguments of a Python function")]
    fn compute(
        &self,
        py: Python<'_>,
        source: Wanted<'_>,
        kind: &str,
        missing: Option<&Lazy>,
        ranges: PyReadonlyArray2<'_, i64>,
        progress: Option<Py<PyAny>>,
    ) -> Result<(), Raised> {
        let missing = missing.map(|missing| &*missing.source);
        let column = Keyed { column: source.column(), kind: KeyKind::by_name(kind)?, missing };
        let row = |row: i64| u64::try_from(row).unwrap_or(u64::MAX);
        let ranges: Vec<_> = ranges_of(&ranges)?.iter().map(|pair| row(pair[0])..row(pair[1])).collect();
        let rows: u64 = ranges.iter().map(|range| range.end.saturating_sub(range.start)).sum();
        let bytes = column.read_bytes(rows);
        let mut total = usize::MAX;
        let mut reading = None;
        if let Some(progress) = progress {
            total = bytes;
            reading = Some(Py::new(py, Reading::all(progress, rows, bytes as u64))?.into_any());
        }
        // Who asks meanwhile gets what was there before.
        let mut zones = (*self.zones()).clone();
        watch::run(py, total, None, reading, |job| zones.compute(&column, &ranges, job))?;
        *self.zones.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(zones);
        Ok(())
    }
}
