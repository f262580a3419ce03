//! Memory that Python owns, as slices: any contiguous buffer for reading or writing, the items of NumPy arrays,
//! and new `bytes` objects and NumPy arrays.
//!
//! This is the one file besides the kernels with `unsafe`: PyO3 has no safe way to read a foreign buffer without
//! a copy, nor to fill a `bytes` object by several threads, and either copy would cost more than decoding does.
//!
//! What must hold: the objects are kept alive by what this file returns, and nobody resizes them meanwhile
//! (the buffer protocol locks them; NumPy resizes no array that somebody else holds). Another Python thread that writes to an input while it is being compressed
//! gets a chunk of a mixture of both states, as with every library of this kind.
#![expect(unsafe_code, reason = "foreign buffers without a copy")]

use numpy::npyffi::{_PyArray_GET_ITEM_DATA, NPY_ARRAY_WRITEABLE, NpyTypes, PY_ARRAY_API, get_type_object};
use numpy::{PyArrayDescr, PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::buffer::PyUntypedBuffer;
use pyo3::exceptions::{PyBufferError, PyMemoryError, PyTypeError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

unsafe extern "C" {
    /// Part of Python's stable ABI, though PyO3 does not declare it there.
    fn _PyBytes_Resize(object: *mut *mut ffi::PyObject, size: ffi::Py_ssize_t) -> std::ffi::c_int;
}

/// Bytes that an object lends for reading.
pub(crate) struct Input {
    buffer: PyUntypedBuffer,
}

fn get(object: &Bound<'_, PyAny>) -> PyResult<PyUntypedBuffer> {
    let buffer = match PyUntypedBuffer::get(object) {
        Ok(buffer) => buffer,
        Err(error) => PyUntypedBuffer::get(&raw_items(object).ok_or(error)?)?,
    };
    if holds_references(buffer.format().to_bytes()) {
        return Err(PyTypeError::new_err(
            "a buffer of Python objects cannot be stored: they are references, not data",
        ));
    }
    if buffer.is_c_contiguous() || buffer.is_fortran_contiguous() {
        return Ok(buffer);
    }
    Err(PyBufferError::new_err("the buffer is not contiguous; numpy.ascontiguousarray makes a copy that is"))
}

/// The bytes of a NumPy array as raw items: NumPy lends no buffer of datetimes, and PyO3 takes none without axes.
fn raw_items<'py>(object: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    let item_bytes: usize = object.getattr("itemsize").ok()?.extract().ok()?;
    let raw = object.call_method1("view", (format!("V{item_bytes}"),)).ok()?;
    let axes: usize = raw.getattr("ndim").ok()?.extract().ok()?;
    if axes == 0 { raw.call_method1("reshape", (1,)).ok() } else { Some(raw) }
}

/// Whether a format of the buffer protocol has an item of type `O`; names of fields stand between colons.
fn holds_references(format: &[u8]) -> bool {
    format.split(|&c| c == b':').step_by(2).any(|types| types.contains(&b'O'))
}

impl Input {
    /// The buffer of a bytes-like object, which must be contiguous in C or Fortran order.
    pub(crate) fn of(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(Self { buffer: get(object)? })
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        let (start, len) = (self.buffer.buf_ptr().cast::<u8>(), self.buffer.len_bytes());
        if len == 0 {
            return &[];
        }
        // SAFETY: a contiguous buffer has `len` bytes from `start`, and lives as long as `self.buffer`.
        unsafe { std::slice::from_raw_parts(start, len) }
    }

    pub(crate) fn item_bytes(&self) -> usize {
        self.buffer.item_size().max(1)
    }
}

/// Bytes that an object lends for writing.
pub(crate) struct Output {
    buffer: PyUntypedBuffer,
}

impl Output {
    /// The buffer of a writable bytes-like object, which must be contiguous in C or Fortran order.
    pub(crate) fn of(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let buffer = get(object)?;
        if buffer.readonly() {
            return Err(PyBufferError::new_err("the output buffer is read-only"));
        }
        Ok(Self { buffer })
    }

    /// Refuses to write to what is being read.
    pub(crate) fn check_apart(&self, input: &Input) -> PyResult<()> {
        let range = |buffer: &PyUntypedBuffer| {
            let start = buffer.buf_ptr() as usize;
            start..start + buffer.len_bytes()
        };
        let (read, written) = (range(&input.buffer), range(&self.buffer));
        if read.start < written.end && written.start < read.end {
            return Err(PyBufferError::new_err("the output buffer overlaps the input"));
        }
        Ok(())
    }

    pub(crate) fn bytes(&mut self) -> &mut [u8] {
        let (start, len) = (self.buffer.buf_ptr().cast::<u8>(), self.buffer.len_bytes());
        if len == 0 {
            return &mut [];
        }
        // SAFETY: a contiguous writable buffer has `len` bytes from `start`, and lives as long as `self.buffer`.
        unsafe { std::slice::from_raw_parts_mut(start, len) }
    }
}

/// A `bytes` object in the making: nobody else knows it yet.
pub(crate) struct NewBytes {
    object: Py<PyBytes>,
    len: usize,
}

impl NewBytes {
    /// A new object of `len` bytes, not yet filled.
    pub(crate) fn new(py: Python<'_>, len: usize) -> PyResult<Self> {
        let size = ffi::Py_ssize_t::try_from(len).map_err(|_| PyMemoryError::new_err(len))?;
        // SAFETY: a null source asks for an object whose content the caller fills before showing it to anybody.
        let object = unsafe { ffi::PyBytes_FromStringAndSize(std::ptr::null(), size) };
        // SAFETY: the call returns a new reference, or null with an exception set.
        let object = unsafe { Bound::from_owned_ptr_or_err(py, object) }?;
        Ok(Self { object: object.cast_into::<PyBytes>()?.unbind(), len })
    }

    /// The bytes to fill. What is read before it was written is any value.
    pub(crate) fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: the object lives as long as `self`; the call only computes an address, and needs no GIL.
        let start = unsafe { ffi::PyBytes_AsString(self.object.as_ptr()) }.cast::<u8>();
        // SAFETY: the object has `len` bytes, and `self` holds its only reference.
        unsafe { std::slice::from_raw_parts_mut(start, self.len) }
    }

    /// The finished object, cut to its first `len` bytes.
    pub(crate) fn finish(self, py: Python<'_>, len: usize) -> PyResult<Bound<'_, PyBytes>> {
        if len == self.len {
            return Ok(self.object.into_bound(py));
        }
        let size = ffi::Py_ssize_t::try_from(len).map_err(|_| PyMemoryError::new_err(len))?;
        let mut object = self.object.into_ptr();
        // SAFETY: this is the only reference; on failure the call frees the object and leaves null.
        let _failed = unsafe { _PyBytes_Resize(&raw mut object, size) };
        // SAFETY: the call leaves a new reference to the cut object, or null with an exception set.
        let object = unsafe { Bound::from_owned_ptr_or_err(py, object) }?;
        Ok(object.cast_into::<PyBytes>()?)
    }
}

/// The items of a NumPy array, in C order, of any dtype without objects.
///
/// NumPy lends no buffer of datetimes, and needs microseconds to describe a structured dtype to one who asks.
pub(crate) struct Items<'py> {
    array: Bound<'py, PyUntypedArray>,
    item_bytes: usize,
    len: usize,
}

impl<'py> Items<'py> {
    /// The items of a NumPy array that is contiguous in C order.
    pub(crate) fn of(object: &Bound<'py, PyAny>) -> PyResult<Self> {
        let array = object.cast::<PyUntypedArray>()?.clone();
        let dtype = array.dtype();
        if dtype.has_object() {
            return Err(PyTypeError::new_err(
                "an array of Python objects cannot be stored: they are references, not data",
            ));
        }
        if !array.is_c_contiguous() {
            return Err(PyBufferError::new_err("the array is not contiguous in C order"));
        }
        let item_bytes = dtype.itemsize();
        let len = array.len() * item_bytes;
        Ok(Self { array, item_bytes, len })
    }

    /// The items of an array that may be written to.
    pub(crate) fn writable(object: &Bound<'py, PyAny>) -> PyResult<Self> {
        let items = Self::of(object)?;
        // SAFETY: the pointer is that of a living array.
        let fields = unsafe { _PyArray_GET_ITEM_DATA(items.array.as_array_ptr()) };
        // SAFETY: so are its fields.
        if unsafe { (*fields).flags } & NPY_ARRAY_WRITEABLE == 0 {
            return Err(PyBufferError::new_err("the array is read-only"));
        }
        Ok(items)
    }

    /// Bytes of an item.
    pub(crate) fn item_bytes(&self) -> usize {
        self.item_bytes
    }

    /// Items along each axis.
    pub(crate) fn shape(&self) -> Vec<u64> {
        self.array.shape().iter().map(|&len| len as u64).collect()
    }

    fn start(&self) -> *mut u8 {
        // SAFETY: the pointer is that of a living array.
        let fields = unsafe { _PyArray_GET_ITEM_DATA(self.array.as_array_ptr()) };
        // SAFETY: so are its fields.
        unsafe { (*fields).data }.cast()
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        if self.len == 0 {
            return &[];
        }
        // SAFETY: an array that is contiguous has all its items from its start on, and lives as long as `self`.
        unsafe { std::slice::from_raw_parts(self.start(), self.len) }
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        if self.len == 0 {
            return &mut [];
        }
        // SAFETY: an array that is contiguous has all its items from its start on, and lives as long as `self`.
        unsafe { std::slice::from_raw_parts_mut(self.start(), self.len) }
    }
}

/// The items of a NumPy array in C order, to be read by any thread for as long as this lives.
///
/// Whoever writes to the array meanwhile is seen or not, as with every view of memory.
pub(crate) struct SharedItems {
    start: *const u8,
    len: usize,
    item_bytes: usize,
    _array: Py<PyUntypedArray>,
}

// SAFETY: plain bytes that are only read; the object that owns them lives as long.
unsafe impl Send for SharedItems {}
// SAFETY: as above.
unsafe impl Sync for SharedItems {}

impl SharedItems {
    /// The items of a NumPy array that is contiguous in C order.
    pub(crate) fn of(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let items = Items::of(object)?;
        let (start, len, item_bytes) = (items.start().cast_const(), items.len, items.item_bytes);
        Ok(Self { start, len, item_bytes, _array: items.array.unbind() })
    }

    /// Bytes of an item.
    pub(crate) fn item_bytes(&self) -> usize {
        self.item_bytes
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        if self.len == 0 {
            return &[];
        }
        // SAFETY: an array that is contiguous has all its items from its start on, and lives as long as `self`.
        unsafe { std::slice::from_raw_parts(self.start, self.len) }
    }
}

/// A new NumPy array in C order, not yet filled; nobody else knows it yet. The dtype has neither objects nor axes.
pub(crate) fn new_array<'py>(
    dtype: &Bound<'py, PyArrayDescr>,
    shape: &mut [isize],
) -> PyResult<Bound<'py, PyAny>> {
    let py = dtype.py();
    // SAFETY: NumPy is imported, or this fails.
    let kind = unsafe { get_type_object(py, NpyTypes::PyArray_Type) };
    let axes = std::ffi::c_int::try_from(shape.len()).map_err(|_| PyMemoryError::new_err("too many axes"))?;
    let null = std::ptr::null_mut();
    let descr = dtype.clone().into_dtype_ptr();
    let dims = shape.as_mut_ptr();
    // SAFETY: the call takes over the reference to the dtype, reads as many dimensions as there are, and makes memory.
    let array = unsafe {
        PY_ARRAY_API.PyArray_NewFromDescr(py, kind, descr, axes, dims, null, null.cast(), 0, null.cast())
    };
    // SAFETY: the call returns a new reference, or null with an exception set.
    unsafe { Bound::from_owned_ptr_or_err(py, array) }
}

/// The scalar that an array without axes holds.
pub(crate) fn scalar(array: Bound<'_, PyAny>) -> PyResult<Bound<'_, PyAny>> {
    let py = array.py();
    // SAFETY: the call takes over the reference to the array.
    let value = unsafe { PY_ARRAY_API.PyArray_Return(py, array.into_ptr().cast()) };
    // SAFETY: the call returns a new reference, or null with an exception set.
    unsafe { Bound::from_owned_ptr_or_err(py, value) }
}
