//! Arrays: what `coquina.Array` is built on.
//!
//! An [`ArrayHandle`] is an array of the engine, made by a function of `create.rs`. [`ArrayBase`] is that with a
//! NumPy dtype, and the base class of `coquina.Array`: it reads and writes items, the handle does the rest. Common
//! keys are read here, without a step in Python code; all others come back as selections from there.
//!
//! What must hold: whatever may wait for another thread that works on the array is called without the GIL.

mod create;
mod handle;
mod keys;
mod lossy;
mod selection;
mod tuning;

use std::sync::Arc;

use coquina::array::{Array, Selection, Values, Window};
use coquina::{Error, Job};
use numpy::{PyArrayDescr, PyArrayDescrMethods};
use pyo3::basic::CompareOp;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

use crate::buffers::{Items, new_array, scalar};
use crate::errors::Raised;
use crate::watch;
pub(crate) use handle::{ArrayHandle, existing, kind, sums_name};
use keys::Basic;
pub(crate) use lossy::{ReachedTerms, Terms, reached_tuple, record};
pub(crate) use tuning::{GoalTerms, GoalTuple, ProfileHandle, goal_of, to_tuple};

/// Results of more bytes go through Python code, which asks first whether there is memory for them.
const UNASKED_BYTES_MAX: usize = 1 << 28;
/// What is decoded with the GIL held: to let go of it and to get it back may take longer.
const HELD_BLOCK_BYTES_MAX: usize = 512 << 10;

pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    create::add_to(module)?;
    lossy::add_to(module)?;
    tuning::add_to(module)?;
    module.add_class::<ArrayHandle>()?;
    module.add_class::<ArrayBase>()
}

/// An array of the engine with its NumPy dtype.
#[pyclass(frozen, subclass, module = "coquina._core")]
pub(crate) struct ArrayBase {
    array: Arc<Array>,
    handle: Py<ArrayHandle>,
    reads_python: bool,
    dtype: Py<PyArrayDescr>,
    typesize: usize,
    chunks: Vec<u64>,
    blocks: Vec<u64>,
    has_small_blocks: bool,
}

#[pymethods]
impl ArrayBase {
    #[new]
    #[pyo3(signature = (handle, dtype, /))]
    fn new(handle: &Bound<'_, ArrayHandle>, dtype: &Bound<'_, PyArrayDescr>) -> PyResult<Self> {
        let (object, handle, typesize) = (handle, handle.get(), dtype.itemsize());
        if dtype.has_object() || dtype.has_subarray() {
            return Err(PyTypeError::new_err(format!(
                "dtype {dtype}: arrays take elements of a fixed size without references"
            )));
        }
        if typesize != handle.array.typesize() {
            let stored = handle.array.typesize();
            return Err(PyValueError::new_err(format!("dtype {dtype}: the items have {stored} bytes")));
        }
        let grid = handle.array.grid();
        let blocks = grid.blocks().to_vec();
        let block_items = blocks.iter().try_fold(1, |items: u64, &len| items.checked_mul(len));
        let block_bytes = block_items.and_then(|items| items.checked_mul(typesize as u64));
        Ok(Self {
            array: Arc::clone(&handle.array),
            handle: object.clone().unbind(),
            reads_python: handle.reads_python,
            dtype: dtype.clone().unbind(),
            typesize,
            chunks: grid.chunks().to_vec(),
            blocks,
            has_small_blocks: block_bytes.is_some_and(|bytes| bytes <= HELD_BLOCK_BYTES_MAX as u64),
        })
    }

    #[getter]
    fn handle(&self, py: Python<'_>) -> Py<ArrayHandle> {
        self.handle.clone_ref(py)
    }

    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> Bound<'py, PyArrayDescr> {
        self.dtype.bind(py).clone()
    }

    #[getter]
    fn typesize(&self) -> usize {
        self.typesize
    }

    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.array.grid().shape())
    }

    #[getter]
    fn chunks<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.chunks)
    }

    #[getter]
    fn blocks<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.blocks)
    }

    /// To compare by identity, as Python does where nothing is said, would answer `a == 3` with a wrong False.
    fn __richcmp__(&self, _other: &Bound<'_, PyAny>, _op: CompareOp) -> PyResult<bool> {
        Err(PyTypeError::new_err("these arrays cannot be compared element by element; compare a[...]"))
    }

    fn __hash__(slf: &Bound<'_, Self>) -> usize {
        slf.as_ptr() as usize
    }

    fn __getitem__<'py>(
        slf: &Bound<'py, Self>,
        key: &Bound<'py, PyAny>,
    ) -> Result<Bound<'py, PyAny>, Raised> {
        let this = slf.get();
        let basic = keys::basic(key, this.array.grid().shape());
        match basic.map(|basic| (basic.bytes(this.typesize), basic)) {
            Some((Some(bytes), basic)) if bytes <= UNASKED_BYTES_MAX => {
                this.read_basic(slf.py(), basic, bytes)
            }
            _ => Ok(slf.call_method1(intern!(slf.py(), "_getitem_general"), (key,))?),
        }
    }

    /// Fills `out`, a NumPy array in C order, with the selected items, or with bytes of them from `offset` on.
    #[pyo3(signature = (axes, points, points_at, out, offset=0, threads=None))]
    #[expect(clippy::too_many_arguments, reason = "a selection is three arguments")]
    fn read_selection(
        &self,
        py: Python<'_>,
        axes: &Bound<'_, PyList>,
        points: Option<&Bound<'_, PyList>>,
        points_at: usize,
        out: &Bound<'_, PyAny>,
        offset: usize,
        threads: Option<i64>,
    ) -> Result<(), Raised> {
        let selection = selection::selection(axes, points, points_at)?;
        let mut items = Items::writable(out)?;
        let window = Window { offset, bytes: items.item_bytes() };
        let out = items.bytes_mut();
        let array = &self.array;
        watch::run(py, out.len(), threads, None, |job| array.read(&selection, window, out, job))
    }

    /// Writes `values`, a NumPy array in C order, to the selected items, or to their bytes from `offset` on.
    /// `uniform`: it holds one item, which goes everywhere.
    /// `shape`: nothing is written, and the answer is false, if the array has another one by now.
    #[pyo3(signature = (axes, points, points_at, values, offset=0, threads=None, *, uniform=false, shape=None))]
    #[expect(clippy::too_many_arguments, reason = "a selection is three arguments")]
    fn write_selection(
        &self,
        py: Python<'_>,
        axes: &Bound<'_, PyList>,
        points: Option<&Bound<'_, PyList>>,
        points_at: usize,
        values: &Bound<'_, PyAny>,
        offset: usize,
        threads: Option<i64>,
        uniform: bool,
        shape: Option<Vec<u64>>,
    ) -> Result<bool, Raised> {
        let selection = selection::selection(axes, points, points_at)?;
        let items = Items::of(values)?;
        let window = Window { offset, bytes: items.item_bytes() };
        let (array, bytes) = (&self.array, items.bytes());
        let values = if uniform { Values::Uniform(bytes) } else { Values::Bytes(bytes) };
        // However few items are given, whole chunks may have to be written.
        watch::run(py, usize::MAX, threads, None, |job| match &shape {
            Some(shape) => array.write_in_shape(shape, &selection, window, values, job),
            None => array.write(&selection, window, values, job).map(|()| true),
        })
    }

    /// How many blocks hold the selected items.
    #[pyo3(signature = (axes, points, points_at=0))]
    fn blocks_of_selection(
        &self,
        axes: &Bound<'_, PyList>,
        points: Option<&Bound<'_, PyList>>,
        points_at: usize,
    ) -> Result<u64, Raised> {
        Ok(self.array.blocks_touched(&selection::selection(axes, points, points_at)?)?)
    }

    /// Makes axis `axis` longer by `len` with `values` at its end, in one commit.
    #[pyo3(signature = (axis, len, values, threads=None))]
    fn append_items(
        &self,
        py: Python<'_>,
        axis: usize,
        len: u64,
        values: &Bound<'_, PyAny>,
        threads: Option<i64>,
    ) -> Result<(), Raised> {
        let items = Items::of(values)?;
        let (array, bytes) = (&self.array, items.bytes());
        watch::run(py, usize::MAX, threads, None, |job| array.append(axis, len, Values::Bytes(bytes), job))
    }

    #[pyo3(signature = (shape, threads=None))]
    fn resize_axes(&self, py: Python<'_>, shape: Vec<u64>, threads: Option<i64>) -> Result<(), Raised> {
        watch::run(py, usize::MAX, threads, None, |job| self.array.resize(&shape, job))
    }
}

impl ArrayBase {
    pub(crate) fn array(&self) -> &Array {
        &self.array
    }

    pub(crate) fn shared_array(&self) -> Arc<Array> {
        Arc::clone(&self.array)
    }

    /// The array or the element that a common key selects.
    fn read_basic<'py>(
        &self,
        py: Python<'py>,
        mut basic: Basic,
        bytes: usize,
    ) -> Result<Bound<'py, PyAny>, Raised> {
        let result = new_array(self.dtype.bind(py), &mut basic.shape)?;
        let is_at_hand =
            self.has_small_blocks && !self.reads_python && basic.is_in_one_block(&self.chunks, &self.blocks);
        let selection = Selection { axes: basic.axes, points: None };
        let window = Window { offset: 0, bytes: self.typesize };
        let mut items = Items::of(&result)?;
        let out = items.bytes_mut();
        if out.len() != bytes {
            return Err(Error::invalid(format!(
                "dtype {}: arrays take elements of a fixed size without references",
                self.dtype.bind(py)
            ))
            .into());
        }
        if is_at_hand {
            // This job waits for no other thread, which may need the GIL.
            self.array.read(&selection, window, out, &Job::default())?;
        } else {
            watch::run(py, bytes, None, None, |job| self.array.read(&selection, window, out, job))?;
        }
        drop(items);
        if basic.is_element { Ok(scalar(result)?) } else { Ok(result) }
    }
}
