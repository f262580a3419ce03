//! The values of a column in slices, as PyTables stores complete indexes.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use coquina::Error;
use coquina::index::KeyKind;
use coquina::index::pytables::{Edges, Making, SlicePart, Sorting};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::pytables_search::Sizes;
use crate::errors::Raised;
use crate::lazy::Lazy;
use crate::watch;

/// Sorted values of a column, handed out slice by slice.
#[pyclass(frozen, module = "coquina._core")]
pub(super) struct PyTablesSort {
    making: Mutex<Option<Making>>,
}

/// A slice, the place in it, the bytes of values, and their rows.
type Part<'py> = (u64, u64, Bound<'py, PyArray1<u8>>, Bound<'py, PyArray1<u64>>);

#[pymethods]
impl PyTablesSort {
    /// Reads and sorts the values.
    #[new]
    #[pyo3(signature = (values, kind, sizes, *, window_rows, memory_limit, folder, progress=None))]
    #[expect(clippy::too_many_arguments, reason = "they are the keywords of a Python function")]
    fn new(
        py: Python<'_>,
        values: &Lazy,
        kind: &str,
        sizes: Sizes,
        window_rows: u64,
        memory_limit: u64,
        folder: PathBuf,
        progress: Option<Py<PyAny>>,
    ) -> Result<Self, Raised> {
        let kind = KeyKind::by_name(kind)?;
        let sorting = Sorting { values: &*values.source, kind, memory_limit, folder: &folder };
        let seen = |rows: u64| {
            let Some(progress) = &progress else { return Ok(()) };
            let told = Python::attach(|py| progress.call1(py, (rows,)).map(drop));
            told.map_err(|raised| std::io::Error::other(raised).into())
        };
        let making = watch::run(py, usize::MAX, None, None, |job| {
            Making::new(&sorting, sizes.into(), window_rows, seen, job)
        })?;
        Ok(Self { making: Mutex::new(Some(making)) })
    }

    /// The next values: which slice, the place in it, their bytes, and their rows; None behind the last.
    fn next<'py>(&self, py: Python<'py>) -> Result<Option<Part<'py>>, Raised> {
        let part = watch::run(py, usize::MAX, None, None, |job| {
            let mut making = self.making.lock().unwrap_or_else(PoisonError::into_inner);
            making.as_mut().ok_or_else(finished)?.next(job)
        })?;
        let Some(SlicePart { slice, start, values, rows }) = part else { return Ok(None) };
        Ok(Some((slice, start, PyArray1::from_vec(py, values), PyArray1::from_vec(py, rows))))
    }

    /// The bytes of what small arrays have, by their names; "sortedLR" for what is behind its values. Nothing more is
    /// handed out then.
    fn finish<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyDict>, Raised> {
        let making = py.detach(|| self.making.lock().unwrap_or_else(PoisonError::into_inner).take());
        let Edges { ranges, bounds, mranges, abounds, mbounds, zbounds, rest_bounds } =
            making.ok_or_else(finished)?.finish();
        let edges = PyDict::new(py);
        for (name, bytes) in [
            ("ranges", ranges),
            ("bounds", bounds),
            ("mranges", mranges),
            ("abounds", abounds),
            ("mbounds", mbounds),
            ("zbounds", zbounds),
            ("sortedLR", rest_bounds),
        ] {
            edges.set_item(name, PyArray1::from_vec(py, bytes))?;
        }
        Ok(edges)
    }
}

fn finished() -> Error {
    Error::invalid("all values have been handed out")
}
