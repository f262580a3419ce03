//! What a condition asks of indexes, as objects: terms, joined by and and or.

use std::collections::BTreeSet;
use std::sync::Arc;

use coquina::index::terms::{Operand, Operands, Terms, Tree, row_bytes};
use coquina::index::{KeyKind, Wanted};
use coquina::query::condition::NumberType;
use coquina::query::{ColumnValues, QueryColumn};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyList, PyTuple};

use super::key_ranges::PyKeyRanges;
use crate::conditions::{ReadText, column_of};
use crate::errors::Raised;
use crate::lazy::Lazy;

/// What is asked of one index.
#[pyclass(frozen, module = "coquina._core")]
pub(crate) struct Term {
    /// The index, as Python has it.
    #[pyo3(get)]
    index: Py<PyAny>,
    wanted: Wanted,
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

/// All that the indexes of a table know the values of.
#[pyclass(frozen, module = "coquina._core")]
pub(crate) struct IndexOperands {
    pub(super) known: Operands,
    /// The indexes, as Python has them.
    pub(super) indexes: Vec<Py<PyAny>>,
}

/// What an index was made of: the kind of its keys, a column or a text, and other programs of its values and its mask.
#[derive(FromPyObject)]
struct Made<'py>(
    Py<PyAny>,
    String,
    Option<Bound<'py, PyAny>>,
    Option<PyRef<'py, ReadText>>,
    Option<PyRef<'py, Lazy>>,
    Option<PyRef<'py, Lazy>>,
);

#[pymethods]
impl IndexOperands {
    /// Of indexes, each a tuple: the index, the kind of its keys, a column as conditions know it or None, the text
    /// that it is of or None, another program of its values or None, one of its mask or None. Of several for one column the first is asked.
    #[new]
    fn new(indexes: &Bound<'_, PyList>) -> Result<Self, Raised> {
        let mut made = Self { known: Operands::default(), indexes: Vec::with_capacity(indexes.len()) };
        for one in indexes {
            let Made(index, kind, column, text, values, mask) = one.extract()?;
            let kind = KeyKind::by_name(&kind)?;
            let column = column.as_ref().map(column_of).transpose()?;
            let operand = Operand {
                kind,
                width: column.as_ref().map_or(0, width_of),
                can_be_nan: matches!(
                    kind,
                    KeyKind::Time | KeyKind::Number(NumberType::F32 | NumberType::F64)
                ),
                can_be_null: column.as_ref().is_some_and(can_be_null),
            };
            if let Some(column) = &column {
                made.known.add_column(operand, column)?;
            } else if let Some(text) = &text {
                let text = &text.text;
                let source = text.source().map_err(crate::conditions::raised)?;
                made.known.add_expression(operand, &source, text.ty().stored());
            }
            if let Some(values) = &values {
                made.known.add_values(&values.source);
            }
            if let Some(mask) = &mask {
                made.known.add_mask(&mask.source);
            }
            made.indexes.push(index);
        }
        Ok(made)
    }

    /// Whether there are none.
    #[getter]
    fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// What a condition asks; None if that is nothing that the indexes answer.
    fn terms(slf: &Bound<'_, Self>, condition: &Lazy) -> Result<Option<ConditionTerms>, Raised> {
        let py = slf.py();
        let known = &slf.get().known;
        let terms = py.detach(|| known.terms(&condition.source))?;
        let row_bytes = row_bytes(&condition.source);
        let operands = slf.clone().unbind();
        Ok(terms.tree.is_some().then_some(ConditionTerms { terms, operands, row_bytes }))
    }
}

impl IndexOperands {
    pub(super) fn term(&self, py: Python<'_>, operand: usize, wanted: &Wanted) -> Term {
        let missing = self.known.all()[operand].missing(wanted);
        Term { index: self.indexes[operand].clone_ref(py), wanted: wanted.clone(), missing }
    }

    /// The names of the indexes that a tree asks.
    pub(super) fn names(&self, py: Python<'_>, tree: &Tree, names: &mut BTreeSet<String>) -> PyResult<()> {
        match tree {
            Tree::Known(_) => {}
            Tree::Term(operand, _) => {
                names.insert(self.indexes[*operand].bind(py).getattr("name")?.extract()?);
            }
            Tree::Both { parts, .. } | Tree::Either(parts) => {
                parts.iter().try_for_each(|part| self.names(py, part, names))?;
            }
        }
        Ok(())
    }

    pub(super) fn tree(&self, py: Python<'_>, tree: &Tree) -> PyResult<Py<PyAny>> {
        let all = |parts: &[Arc<Tree>]| -> PyResult<Py<PyTuple>> {
            let parts = parts.iter().map(|part| self.tree(py, part)).collect::<PyResult<Vec<_>>>()?;
            Ok(PyTuple::new(py, parts)?.unbind())
        };
        Ok(match tree {
            Tree::Known(value) => PyBool::new(py, *value).to_owned().into_any().unbind(),
            Tree::Term(operand, wanted) => Py::new(py, self.term(py, *operand, wanted))?.into_any(),
            Tree::Both { parts, is_whole } => {
                Py::new(py, Both { parts: all(parts)?, is_whole: *is_whole })?.into_any()
            }
            Tree::Either(parts) => Py::new(py, Either { parts: all(parts)? })?.into_any(),
        })
    }
}

/// Bytes of a text at most: of code points too, as one of 4 bytes takes no more than these in UTF-8.
fn width_of(column: &QueryColumn) -> usize {
    match &column.values {
        ColumnValues::FixedBytes(source) | ColumnValues::FixedPoints(source) => source.item_bytes(),
        _ => 0,
    }
}

fn can_be_null(column: &QueryColumn) -> bool {
    column.mask.is_some() || matches!(column.values, ColumnValues::Categories { .. })
}

/// What a condition asks of indexes.
#[pyclass(frozen, module = "coquina._core")]
pub(crate) struct ConditionTerms {
    pub(super) terms: Terms,
    pub(super) operands: Py<IndexOperands>,
    /// What is decoded for each row to compute the condition.
    pub(super) row_bytes: u64,
}

#[pymethods]
impl ConditionTerms {
    /// All that it asks, as a tree.
    #[getter]
    fn tree(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        self.terms.tree.as_ref().map(|tree| self.operands.get().tree(py, tree)).transpose()
    }
}
