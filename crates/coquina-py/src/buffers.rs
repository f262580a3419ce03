//! Memory that Python owns, as slices: any contiguous buffer for reading or writing, and new `bytes` objects.
//!
//! This is the one file besides the kernels with `unsafe`: PyO3 has no safe way to read a foreign buffer without
//! a copy, nor to fill a `bytes` object by several threads, and either copy would cost more than decoding does.
//!
//! What must hold: the objects are kept alive by what this file returns, and nobody resizes them meanwhile
//! (the buffer protocol locks them). Another Python thread that writes to an input while it is being compressed
//! gets a chunk of a mixture of both states, as with every library of this kind.
#![expect(unsafe_code, reason = "foreign buffers without a copy")]

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
        return Err(PyTypeError::new_err("the buffer holds Python objects, which are references, not data"));
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
