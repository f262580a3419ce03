//! What a condition asks of indexes, as objects: terms, joined by and and or.

use std::sync::Arc;

use coquina::index::Wanted;
use coquina::index::terms::Tree;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyTuple};

use super::key_ranges::PyKeyRanges;

/// What is asked of one index.
#[pyclass(frozen, module = "coquina._core")]
pub(crate) struct Term {
    /// The index, as Python has it.
    #[pyo3(get)]
    pub(super) index: Py<PyAny>,
    pub(super) wanted: Wanted,
    /// Whether rows without a key meet it; None: some may.
    #[pyo3(get)]
    pub(super) missing: Option<bool>,
}

#[pymethods]
impl Term {
    /// Keys of which all rows meet it.
    #[getter]
    fn sure(&self) -> PyKeyRanges {
        PyKeyRanges { keys: Arc::clone(&self.wanted.sure) }
    }

    /// Keys of which some rows may meet it.
    #[getter]
    fn maybe(&self) -> PyKeyRanges {
        PyKeyRanges { keys: Arc::clone(&self.wanted.maybe) }
    }

    /// Which rows have keys that it wants, for those of which the index does not know that.
    fn __call__<'py>(&self, py: Python<'py>, rows: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.index.bind(py).getattr("source")?.call_method1("has", (self.maybe(), rows))
    }
}

/// What meets all of the parts.
#[pyclass(frozen, module = "coquina._core")]
pub(crate) struct Both {
    #[pyo3(get)]
    parts: Py<PyTuple>,
    /// Whether there are no others, that were not understood.
    #[pyo3(get)]
    is_whole: bool,
}

/// What meets any of the parts.
#[pyclass(frozen, module = "coquina._core")]
pub(crate) struct Either {
    #[pyo3(get)]
    parts: Py<PyTuple>,
}

/// A tree as Python has it, of terms that `term` makes of operands.
pub(super) fn tree_of(
    py: Python<'_>,
    tree: &Tree,
    term: &mut dyn FnMut(usize, &Wanted) -> Term,
) -> PyResult<Py<PyAny>> {
    let mut all = |parts: &[Arc<Tree>]| -> PyResult<Py<PyTuple>> {
        let parts = parts.iter().map(|part| tree_of(py, part, term)).collect::<PyResult<Vec<_>>>()?;
        Ok(PyTuple::new(py, parts)?.unbind())
    };
    Ok(match tree {
        Tree::Known(value) => PyBool::new(py, *value).to_owned().into_any().unbind(),
        Tree::Term(operand, wanted) => Py::new(py, term(*operand, wanted))?.into_any(),
        Tree::Both { parts, is_whole } => {
            Py::new(py, Both { parts: all(parts)?, is_whole: *is_whole })?.into_any()
        }
        Tree::Either(parts) => Py::new(py, Either { parts: all(parts)? })?.into_any(),
    })
}
