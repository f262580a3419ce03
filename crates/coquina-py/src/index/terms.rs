//! What a condition asks of indexes, as objects: terms, joined by and and or.

use std::collections::HashMap;
use std::sync::Arc;

use coquina::Error;
use coquina::index::terms::{Node, Operand, Tree, trees};
use coquina::index::{KeyKind, Wanted};
use coquina::query::TimeType;
use coquina::query::condition::{ItemType, NumberType};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyList, PyTuple};

use super::key_ranges::PyKeyRanges;
use crate::errors::Raised;

/// What is asked of one operand.
#[pyclass(frozen, module = "coquina._core")]
pub(crate) struct Term {
    /// What the index was made of, as Python has it.
    #[pyo3(get)]
    operand: Py<PyAny>,
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

/// An operand as Python has it, and what the reader of trees knows of it.
#[derive(FromPyObject)]
struct Given {
    kind: String,
    width: usize,
    can_be_nan: bool,
    can_be_null: bool,
}

/// The trees of the nodes of these numbers: what the condition that they are asks of indexes.
///
/// A node is a tuple that begins with its kind: `("values", operand, type)`, `("mask", operand)`, `("known", value)`,
/// `("constant", type, bytes)`, `("cast", node, type)`, `("call", name, nodes, is_truth)`,
/// `("lookup", operand, type, table, other)`, `("among", operand, type, items)`, `("among texts", operand, texts)`,
/// `("matches", operand, op, text)`, `("other", is_truth)`. Types are NumPy's names.
#[pyfunction]
pub(crate) fn condition_trees<'py>(
    py: Python<'py>,
    nodes: &Bound<'py, PyList>,
    operands: &Bound<'py, PyList>,
    wanted: Vec<usize>,
) -> Result<Vec<Option<Py<PyAny>>>, Raised> {
    let given: Vec<Given> = operands.extract()?;
    let nodes = nodes.iter().map(|node| node_of(&node)).collect::<Result<Vec<_>, Raised>>()?;
    let known = given
        .iter()
        .map(|one| Ok(Operand { kind: KeyKind::by_name(&one.kind)?, width: one.width }))
        .collect::<Result<Vec<_>, Error>>()?;
    let found = trees(&nodes, &known)?;
    let mut made = Made { py, operands, given, known: HashMap::new() };
    let tree = |at: usize| found.get(at).and_then(Option::as_ref);
    Ok(wanted
        .into_iter()
        .map(|at| tree(at).map(|tree| made.tree(tree)).transpose())
        .collect::<PyResult<_>>()?)
}

/// Trees as objects: one for each, however often it stands in others.
struct Made<'a, 'py> {
    py: Python<'py>,
    operands: &'a Bound<'py, PyList>,
    given: Vec<Given>,
    known: HashMap<*const Tree, Py<PyAny>>,
}

impl Made<'_, '_> {
    fn tree(&mut self, tree: &Arc<Tree>) -> PyResult<Py<PyAny>> {
        let key = Arc::as_ptr(tree);
        if let Some(known) = self.known.get(&key) {
            return Ok(known.clone_ref(self.py));
        }
        let made = match &**tree {
            Tree::Known(value) => PyBool::new(self.py, *value).to_owned().into_any().unbind(),
            Tree::Term(operand, wanted) => {
                let given = &self.given[*operand];
                let missing = wanted.missing(given.can_be_nan, given.can_be_null);
                let operand = self.operands.get_item(*operand)?.unbind();
                Py::new(self.py, Term { operand, wanted: wanted.clone(), missing })?.into_any()
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

/// A type by NumPy's name; nothing for one without kernels.
fn type_of(name: &Bound<'_, PyAny>) -> PyResult<Option<ItemType>> {
    let name: &str = name.extract()?;
    if name == ItemType::Half.name() {
        return Ok(Some(ItemType::Half));
    }
    let number = NumberType::by_name(name).map(ItemType::Number);
    Ok(number.or_else(|| TimeType::by_name(name).map(ItemType::Time)))
}

/// Bytes of Python's.
fn bytes_of(bytes: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    Ok(bytes.cast::<PyBytes>()?.as_bytes().to_vec())
}

fn node_of(node: &Bound<'_, PyAny>) -> Result<Node, Raised> {
    let node = node.cast::<PyTuple>().map_err(PyErr::from)?;
    let part = |at: usize| node.get_item(at);
    let kind: String = part(0)?.extract()?;
    let number = || -> PyResult<usize> { part(1)?.extract() };
    Ok(match kind.as_str() {
        "values" => Node::Values(number()?, type_of(&part(2)?)?),
        "mask" => Node::Mask(number()?),
        "known" => Node::Known(part(1)?.extract()?),
        "constant" => Node::Constant(type_of(&part(1)?)?, bytes_of(&part(2)?)?),
        "cast" => Node::Cast(number()?, type_of(&part(2)?)?),
        "call" => Node::Call(part(1)?.extract()?, part(2)?.extract()?, part(3)?.extract()?),
        "lookup" => Node::Lookup {
            operand: number()?,
            ty: type_of(&part(2)?)?,
            table: bytes_of(&part(3)?)?,
            other: bytes_of(&part(4)?)?,
        },
        "among" => Node::Among(number()?, type_of(&part(2)?)?, bytes_of(&part(3)?)?),
        "among texts" => {
            let texts: Vec<Bound<'_, PyAny>> = part(2)?.extract()?;
            Node::AmongTexts(number()?, texts.iter().map(bytes_of).collect::<PyResult<_>>()?)
        }
        "matches" => Node::Matches(number()?, part(2)?.extract()?, bytes_of(&part(3)?)?),
        "other" => Node::Other(part(1)?.extract()?),
        _ => return Err(Error::invalid(format!("node {kind:?} of a condition")).into()),
    })
}
