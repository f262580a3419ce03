//! What a condition asks of indexes, as objects: terms, joined by and and or.

use std::collections::HashMap;
use std::sync::Arc;

use coquina::index::terms::{Operand, Operands, Side, Terms, Tree, row_bytes};
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
    missing: Option<bool>,
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

    /// Whether it is told by keys alone which rows meet it.
    #[getter]
    fn is_whole(&self) -> bool {
        self.missing.is_some() && self.wanted.is_sharp()
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

#[pymethods]
impl Both {
    #[new]
    fn new(parts: Py<PyTuple>, is_whole: bool) -> Self {
        Self { parts, is_whole }
    }
}

/// What meets any of the parts.
#[pyclass(frozen, module = "coquina._core")]
pub(crate) struct Either {
    #[pyo3(get)]
    parts: Py<PyTuple>,
}

#[pymethods]
impl Either {
    #[new]
    fn new(parts: Py<PyTuple>) -> Self {
        Self { parts }
    }
}

/// All that the indexes of a table know the values of.
#[pyclass(frozen, module = "coquina._core")]
pub(crate) struct IndexOperands {
    known: Operands,
    given: Vec<Given>,
}

/// An index as Python has it, and what else is known of its values.
struct Given {
    index: Py<PyAny>,
    can_be_nan: bool,
    can_be_null: bool,
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
        let mut made = Self { known: Operands::default(), given: Vec::with_capacity(indexes.len()) };
        for one in indexes {
            let Made(index, kind, column, text, values, mask) = one.extract()?;
            let kind = KeyKind::by_name(&kind)?;
            let column = column.as_ref().map(column_of).transpose()?;
            if let Some(column) = &column {
                made.known.add_column(Operand { kind, width: width_of(column) }, column)?;
            } else if let Some(text) = &text {
                let text = &text.text;
                let source = text.source().map_err(crate::conditions::raised)?;
                made.known.add_expression(Operand { kind, width: 0 }, &source, text.ty().stored());
            }
            if let Some(values) = &values {
                made.known.add_values(&values.source);
            }
            if let Some(mask) = &mask {
                made.known.add_mask(&mask.source);
            }
            made.given.push(Given {
                index,
                can_be_nan: matches!(
                    kind,
                    KeyKind::Time | KeyKind::Number(NumberType::F32 | NumberType::F64)
                ),
                can_be_null: column.as_ref().is_some_and(can_be_null),
            });
        }
        Ok(made)
    }

    /// Whether there are none.
    #[getter]
    fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// What a condition asks; None if that is nothing that the indexes answer.
    fn terms(&self, py: Python<'_>, condition: &Lazy) -> Result<Option<ConditionTerms>, Raised> {
        let found = py.detach(|| self.known.terms(&condition.source))?;
        let Terms { tree: Some(tree), sides } = found else { return Ok(None) };
        let mut trees = Trees { py, given: &self.given, known: HashMap::new() };
        let tree = trees.tree(&tree)?;
        let sides = sides
            .into_iter()
            .map(|Side { source, tree }| Ok((source, tree.map(|tree| trees.tree(&tree)).transpose()?)));
        let sides = sides.collect::<PyResult<Vec<_>>>()?;
        Ok(Some(ConditionTerms { tree, sides }))
    }
}

/// How many bytes are decoded for each row to compute a condition.
#[pyfunction]
pub(crate) fn condition_row_bytes(condition: &Lazy) -> u64 {
    row_bytes(&condition.source)
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

/// What a condition asks of indexes: a tree; and what each side of its `and` asks for itself.
#[pyclass(frozen, module = "coquina._core")]
pub(crate) struct ConditionTerms {
    #[pyo3(get)]
    tree: Py<PyAny>,
    sides: Vec<(Arc<dyn coquina::array::BoxSource>, Option<Py<PyAny>>)>,
}

#[pymethods]
impl ConditionTerms {
    /// The sides that have to be computed of rows that were looked up, by a part of the tree.
    fn rest(&self, py: Python<'_>, looked_up: &Bound<'_, PyAny>) -> PyResult<Vec<Lazy>> {
        let parts: Vec<Bound<'_, PyAny>> = match looked_up.cast::<Both>() {
            Ok(both) => both.get().parts.bind(py).iter().collect(),
            Err(_) => vec![looked_up.clone()],
        };
        let is_answered = |tree: &Bound<'_, PyAny>| {
            let is_whole_term = |term: &Bound<'_, Term>| {
                let is_asked = |part: &Bound<'_, PyAny>| {
                    part.cast::<Term>().is_ok_and(|part| part.get().index.is(&term.get().index))
                };
                term.get().is_whole() && parts.iter().any(is_asked)
            };
            tree.cast::<Term>().is_ok_and(is_whole_term)
                || tree.cast::<PyBool>().is_ok_and(|truth| truth.is_true())
                || parts.iter().any(|part| part.is(tree))
        };
        let rest = self
            .sides
            .iter()
            .filter(|(_, tree)| !tree.as_ref().is_some_and(|tree| is_answered(tree.bind(py))));
        Ok(rest.map(|(source, _)| Lazy::of(Arc::clone(source), true)).collect())
    }
}

/// Trees as objects: one for each, however often it stands in others.
struct Trees<'a, 'py> {
    py: Python<'py>,
    given: &'a [Given],
    known: HashMap<*const Tree, Py<PyAny>>,
}

impl Trees<'_, '_> {
    fn tree(&mut self, tree: &Arc<Tree>) -> PyResult<Py<PyAny>> {
        let key = Arc::as_ptr(tree);
        if let Some(known) = self.known.get(&key) {
            return Ok(known.clone_ref(self.py));
        }
        let made = match &**tree {
            Tree::Known(value) => PyBool::new(self.py, *value).to_owned().into_any().unbind(),
            Tree::Term(operand, wanted) => {
                let Given { index, can_be_nan, can_be_null } = &self.given[*operand];
                let missing = wanted.missing(*can_be_nan, *can_be_null);
                let index = index.clone_ref(self.py);
                Py::new(self.py, Term { index, wanted: wanted.clone(), missing })?.into_any()
            }
            Tree::Both { parts, is_whole } => {
                let parts = self.parts(parts)?;
                Py::new(self.py, Both { parts, is_whole: *is_whole })?.into_any()
            }
            Tree::Either(parts) => {
                let parts = self.parts(parts)?;
                Py::new(self.py, Either { parts })?.into_any()
            }
        };
        self.known.insert(key, made.clone_ref(self.py));
        Ok(made)
    }

    fn parts(&mut self, parts: &[Arc<Tree>]) -> PyResult<Py<PyTuple>> {
        let parts = parts.iter().map(|part| self.tree(part)).collect::<PyResult<Vec<_>>>()?;
        Ok(PyTuple::new(self.py, parts)?.unbind())
    }
}
