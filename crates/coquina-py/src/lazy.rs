//! What is computed when it is asked for: arrays, memory, programs over these, and functions of Python's.
//!
//! A [`Lazy`] is a source of boxes of the engine. Programs run without the GIL; a source that is a Python function
//! takes it for each of its boxes.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use coquina::array::{Array, BoxSource, Part, Walk, Window, gather};
use coquina::compute::{Bound, Input};
use coquina::expr::{Node, Program, Tree};
use coquina::{Error, Result};
use coquina_kernels::{Type, elementwise};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

use crate::arrays::ArrayBase;
use crate::buffers::{Items, SharedItems};
use crate::errors::Raised;
use crate::watch;

pub(crate) fn add_to(module: &Bound_<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Lazy>()?;
    module.add_function(wrap_pyfunction!(lazy_array, module)?)?;
    module.add_function(wrap_pyfunction!(lazy_memory, module)?)?;
    module.add_function(wrap_pyfunction!(lazy_function, module)?)?;
    module.add_function(wrap_pyfunction!(lazy_program, module)?)?;
    module.add_function(wrap_pyfunction!(default_walk, module)?)?;
    module.add_function(wrap_pyfunction!(is_strict, module)?)?;
    module.add_function(wrap_pyfunction!(has_kernel, module)?)
}

/// PyO3's name for it is also that of what is bound to a program.
type Bound_<'py, T> = pyo3::Bound<'py, T>;

/// Something that is computed box by box.
#[pyclass(frozen, module = "coquina._core")]
pub(crate) struct Lazy {
    pub(crate) source: Arc<dyn BoxSource>,
    bound: Option<Arc<Bound>>,
    pub(crate) is_stored: bool,
}

impl Lazy {
    pub(crate) fn of(source: Arc<dyn BoxSource>, is_stored: bool) -> Self {
        Self { source, bound: None, is_stored }
    }

    /// What a program gives.
    pub(crate) fn of_program(bound: Bound) -> Self {
        let bound = Arc::new(bound);
        let source: Arc<dyn BoxSource> = Arc::<Bound>::clone(&bound);
        Self { source, bound: Some(bound), is_stored: true }
    }
}

#[pymethods]
impl Lazy {
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound_<'py, PyTuple>> {
        PyTuple::new(py, self.source.shape())
    }

    /// How it is walked over: items of a chunk and of a block along each axis.
    #[getter]
    fn walk(&self, py: Python<'_>) -> (Vec<u64>, Vec<u64>) {
        let Walk { chunks, blocks } = py.detach(|| self.source.walk());
        (chunks, blocks)
    }

    /// Fills `out`, a NumPy array in C order, with the items of a box.
    #[pyo3(signature = (start, shape, out, threads=None))]
    fn read(
        &self,
        py: Python<'_>,
        start: Vec<u64>,
        shape: Vec<u64>,
        out: &Bound_<'_, PyAny>,
        threads: Option<i64>,
    ) -> Result<(), Raised> {
        let mut items = Items::writable(out)?;
        let out = items.bytes_mut();
        let source = &*self.source;
        watch::run(py, usize::MAX, threads, None, |job| gather(source, &start, &shape, out, job))
    }

    /// Writes all of it to an array of the same shape and dtype.
    #[pyo3(signature = (array, threads=None))]
    fn write_to(
        &self,
        py: Python<'_>,
        array: &Bound_<'_, ArrayBase>,
        threads: Option<i64>,
    ) -> Result<(), Raised> {
        let array: &Array = array.get().array();
        let source = &*self.source;
        watch::run(py, usize::MAX, threads, None, |job| array.write_all(source, job))
    }

    /// What the program is, and what has been done; empty for what is no program.
    fn report<'py>(&self, py: Python<'py>) -> PyResult<Bound_<'py, PyDict>> {
        let report = PyDict::new(py);
        if let Some(bound) = &self.bound {
            let (program, counters) = (bound.program(), bound.counters());
            report.set_item("steps", program.steps())?;
            report.set_item("registers", program.registers())?;
            report.set_item("batch_items", program.batch_items())?;
            report.set_item("boxes_computed", counters.computed.load(Ordering::Relaxed))?;
            report.set_item("boxes_known", counters.known.load(Ordering::Relaxed))?;
            report.set_item("operands_skipped", counters.skipped.load(Ordering::Relaxed))?;
        }
        Ok(report)
    }
}

/// The items of an array, or `item_bytes` bytes of each from `offset` on, whose numbers of `swapped_bytes` bytes are
/// turned.
#[pyfunction]
#[pyo3(signature = (array, offset, item_bytes, swapped_bytes=1))]
fn lazy_array(array: &Bound_<'_, ArrayBase>, offset: usize, item_bytes: usize, swapped_bytes: usize) -> Lazy {
    let array = array.get().shared_array();
    let window = Window { offset, bytes: item_bytes };
    if window == (Window { offset: 0, bytes: array.typesize() }) && swapped_bytes <= 1 {
        return Lazy::of(array, true);
    }
    Lazy::of(Arc::new(Part { array, window, swapped_bytes }), true)
}

/// The items of a NumPy array in C order.
#[pyfunction]
fn lazy_memory(values: &Bound_<'_, PyAny>) -> Result<Lazy, Raised> {
    let items = SharedItems::of(values)?;
    let shape: Vec<u64> = values.getattr("shape")?.extract()?;
    Ok(Lazy::of(Arc::new(Memory { items, shape }), false))
}

/// Items that `read(start, shape)` gives: a NumPy array in C order for each box that is asked for.
#[pyfunction]
#[pyo3(signature = (read, shape, item_bytes, chunks, blocks, *, is_stored=true))]
fn lazy_function(
    read: Py<PyAny>,
    shape: Vec<u64>,
    item_bytes: usize,
    chunks: Vec<u64>,
    blocks: Vec<u64>,
    is_stored: bool,
) -> Lazy {
    Lazy::of(Arc::new(Function { read, shape, item_bytes, walk: Walk { chunks, blocks } }), is_stored)
}

/// A program over other sources. Its nodes: `("load", operand, type)`, `("constant", type, bytes)`,
/// `("cast", node, type)`, `("call", name, nodes)`. `grows`: sources on one axis may get more items behind the last.
#[pyfunction]
#[pyo3(signature = (nodes, inputs, shape, *, grows=false))]
fn lazy_program(
    nodes: &Bound_<'_, PyList>,
    inputs: Vec<PyRef<'_, Lazy>>,
    shape: Vec<u64>,
    grows: bool,
) -> Result<Lazy, Raised> {
    let nodes = nodes.iter().map(|node| node_of(&node)).collect::<Result<Vec<_>, Raised>>()?;
    let program = Program::new(&Tree::new(nodes)?)?;
    let input =
        |lazy: &PyRef<'_, Lazy>| Input { source: Arc::clone(&lazy.source), is_stored: lazy.is_stored };
    let inputs = inputs.iter().map(input).collect();
    let bound = match shape[..] {
        [rows] if grows => Bound::of_rows(program, inputs, rows),
        _ => Bound::new(program, inputs, shape),
    };
    Ok(Lazy::of_program(bound?))
}

/// The type of the result of a function for items of these types, if the engine has a kernel for it.
#[pyfunction]
fn has_kernel(name: &str, types: Vec<String>) -> Option<&'static str> {
    let types = types.iter().map(|name| Type::by_name(name)).collect::<Option<Vec<_>>>()?;
    elementwise::kernel(name, &types).map(|kernel| kernel.output.name())
}

/// How something of a shape is walked over that has no cut of its own.
#[pyfunction]
fn default_walk(shape: Vec<u64>, item_bytes: usize) -> (Vec<u64>, Vec<u64>) {
    let Walk { chunks, blocks } = coquina::array::default_walk(&shape, item_bytes);
    (chunks, blocks)
}

/// Whether what is slow is to be an error.
#[pyfunction]
fn is_strict() -> bool {
    coquina::is_strict()
}

fn type_of(name: &Bound_<'_, PyAny>) -> Result<Type, Raised> {
    let name: &str = name.extract()?;
    Ok(Type::by_name(name)
        .ok_or_else(|| Error::invalid(format!("type {name:?}: is not one of the kernels'")))?)
}

fn node_of(node: &Bound_<'_, PyAny>) -> Result<Node, Raised> {
    let (kind, first, second): (String, Bound_<'_, PyAny>, Bound_<'_, PyAny>) = node.extract()?;
    Ok(match kind.as_str() {
        "load" => Node::Load(first.extract()?, type_of(&second)?),
        "constant" => Node::Constant(type_of(&first)?, second.extract()?),
        "cast" => Node::Cast(first.extract()?, type_of(&second)?),
        "call" => Node::Call(first.extract()?, second.extract()?),
        _ => return Err(Error::invalid(format!("node {kind:?}: takes load, constant, cast, call")).into()),
    })
}

/// Memory of a NumPy array.
struct Memory {
    items: SharedItems,
    shape: Vec<u64>,
}

impl BoxSource for Memory {
    fn shape(&self) -> Vec<u64> {
        self.shape.clone()
    }

    fn item_bytes(&self) -> usize {
        self.items.item_bytes()
    }

    fn walk(&self) -> Walk {
        coquina::array::default_walk(&self.shape, self.item_bytes())
    }

    fn fill(&self, start: &[u64], shape: &[u64], out: &mut [u8]) -> Result<()> {
        coquina::array::copy_region(self.items.bytes(), self.item_bytes(), &self.shape, start, shape, out)
    }
}

/// A function of Python's that gives boxes.
struct Function {
    read: Py<PyAny>,
    shape: Vec<u64>,
    item_bytes: usize,
    walk: Walk,
}

impl BoxSource for Function {
    fn shape(&self) -> Vec<u64> {
        self.shape.clone()
    }

    fn item_bytes(&self) -> usize {
        self.item_bytes
    }

    fn walk(&self) -> Walk {
        self.walk.clone()
    }

    fn fill(&self, start: &[u64], shape: &[u64], out: &mut [u8]) -> Result<()> {
        let filled = Python::attach(|py| -> PyResult<Option<usize>> {
            let values = self.read.bind(py).call1((PyTuple::new(py, start)?, PyTuple::new(py, shape)?))?;
            let items = Items::of(&values)?;
            let bytes = items.bytes();
            if bytes.len() != out.len() {
                return Ok(Some(bytes.len()));
            }
            out.copy_from_slice(bytes);
            Ok(None)
        });
        match filled.map_err(std::io::Error::other)? {
            None => Ok(()),
            Some(found) => {
                let wanted = out.len();
                Err(Error::invalid(format!("a function gave {found} bytes for a box of {wanted}")))
            }
        }
    }
}
