//! Arrays: opened by their path, and read box by box.

use std::ffi::{CString, c_char, c_void};
use std::path::Path;
use std::ptr::null;

use coquina::array::{Array as EngineArray, OpenOptions, Selection, Window};
use coquina::{Error, Job, Result};

use crate::pointers::{bytes_mut, close, items, place, reference, text};
use crate::status::{Status, guard};

/// An array that was opened for reading, as of the commit that was the newest then.
pub struct Array {
    array: EngineArray,
    shape: Vec<u64>,
    dtype: Option<CString>,
}

impl Array {
    fn open(path: &str) -> Result<Self> {
        let array = EngineArray::open(Path::new(path), &OpenOptions::default())?;
        let dtype = array.dtype().and_then(|dtype| CString::new(dtype).ok());
        Ok(Self { shape: array.grid().shape().to_vec(), dtype, array })
    }

    fn read(&self, start: &[u64], shape: &[u64], out: &mut [u8]) -> Result<()> {
        let end = |(start, len): (&u64, &u64)| {
            let end = start.checked_add(*len);
            end.map(|end| *start..end)
                .ok_or_else(|| Error::out_of_bounds(format!("{len} items from {start} on: has no end")))
        };
        let ranges = start.iter().zip(shape).map(end).collect::<Result<Vec<_>>>()?;
        let window = Window { offset: 0, bytes: self.array.typesize() };
        self.array.read(&Selection::region(&ranges), window, out, &Job::default())
    }
}

/// Opens the array in a file or directory (`.b2nd`, a contiguous or sparse frame) for reading. `*array` is a handle
/// for `coquina_array_close`, and null after an error.
///
/// # Safety
/// `path` is text that ends with a zero byte; `array` points to a variable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn coquina_array_open(path: *const c_char, array: *mut *mut Array) -> Status {
    guard(|| {
        // SAFETY: as the caller promises.
        let place = unsafe { place(array, "array") }?;
        // SAFETY: as the caller promises.
        let path = unsafe { text(path, "path") }?;
        *place = Box::into_raw(Box::new(Array::open(path)?));
        Ok(())
    })
}

/// Gives the handle back. Nothing happens for null.
///
/// # Safety
/// `array` is null or an open handle, which is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn coquina_array_close(array: *mut Array) {
    // SAFETY: as the caller promises.
    unsafe { close(array) }
}

/// How many axes the array has; 0 for null.
///
/// # Safety
/// `array` is null or an open handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn coquina_array_ndim(array: *const Array) -> usize {
    // SAFETY: as the caller promises.
    unsafe { array.as_ref() }.map_or(0, |array| array.shape.len())
}

/// How many items there are along each axis: as many numbers as axes, valid as long as the handle. Null for null.
///
/// # Safety
/// `array` is null or an open handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn coquina_array_shape(array: *const Array) -> *const u64 {
    // SAFETY: as the caller promises.
    unsafe { array.as_ref() }.map_or(null(), |array| array.shape.as_ptr())
}

/// How many bytes an item has; 0 for null.
///
/// # Safety
/// `array` is null or an open handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn coquina_array_item_bytes(array: *const Array) -> usize {
    // SAFETY: as the caller promises.
    unsafe { array.as_ref() }.map_or(0, |array| array.array.typesize())
}

/// What an item is, in NumPy's words, such as "<f8": valid as long as the handle. Null if the file does not say.
///
/// # Safety
/// `array` is null or an open handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn coquina_array_dtype(array: *const Array) -> *const c_char {
    // SAFETY: as the caller promises.
    let dtype = unsafe { array.as_ref() }.and_then(|array| array.dtype.as_ref());
    dtype.map_or(null(), |dtype| dtype.as_ptr())
}

/// Reads a box of the array: `shape[i]` items from `start[i]` on along each axis, in C order. `out_bytes` is the size
/// of `out`, and must be that of the box: only the blocks that it touches are read, verified and decoded. After an
/// error `out` may hold parts of the box.
///
/// # Safety
/// `array` is an open handle; `start` and `shape` point to as many numbers as it has axes; `out` to `out_bytes` bytes
/// that nobody else uses during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn coquina_array_read(
    array: *const Array,
    start: *const u64,
    shape: *const u64,
    out: *mut c_void,
    out_bytes: usize,
) -> Status {
    guard(|| {
        // SAFETY: as the caller promises.
        let array = unsafe { reference(array, "array") }?;
        let ndim = array.shape.len();
        // SAFETY: as the caller promises.
        let start = unsafe { items(start, ndim, "start") }?;
        // SAFETY: as the caller promises.
        let shape = unsafe { items(shape, ndim, "shape") }?;
        // SAFETY: as the caller promises.
        let out = unsafe { bytes_mut(out.cast(), out_bytes, "out") }?;
        array.read(start, shape, out)
    })
}
