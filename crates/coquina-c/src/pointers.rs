//! Pointers that C hands over, as references and slices.
//!
//! Invariant: null is an error, or nothing where nothing is asked for; what is no null pointer is as its caller
//! promises.

use std::ffi::{CStr, c_char};
use std::slice;

use coquina::{Error, Result};

/// What a pointer points to.
///
/// # Errors
/// `Invalid` for null.
///
/// # Safety
/// If it is not null, it points to a `T` that lives and is not changed for `'a`.
pub(crate) unsafe fn reference<'a, T>(pointer: *const T, name: &str) -> Result<&'a T> {
    // SAFETY: as the caller promises.
    unsafe { pointer.as_ref() }.ok_or_else(|| null(name))
}

/// Text that ends with a zero byte.
///
/// # Errors
/// `Invalid` for null, and for what is not UTF-8.
///
/// # Safety
/// If it is not null, bytes up to a zero byte stand there, and are not changed for `'a`.
pub(crate) unsafe fn text<'a>(pointer: *const c_char, name: &str) -> Result<&'a str> {
    if pointer.is_null() {
        return Err(null(name));
    }
    // SAFETY: as the caller promises.
    let bytes = unsafe { CStr::from_ptr(pointer) };
    bytes.to_str().map_err(|_| Error::invalid(format!("{name}: {bytes:?} is not UTF-8")))
}

/// `len` items from a pointer on; nothing for 0.
///
/// # Errors
/// `Invalid` for null where items are asked for.
///
/// # Safety
/// If it is not null, `len` items stand there, and are not changed for `'a`.
pub(crate) unsafe fn items<'a, T>(pointer: *const T, len: usize, name: &str) -> Result<&'a [T]> {
    match (len, pointer.is_null()) {
        (0, _) => Ok(&[]),
        (_, true) => Err(null(name)),
        // SAFETY: as the caller promises.
        (len, false) => Ok(unsafe { slice::from_raw_parts(pointer, len) }),
    }
}

/// `len` bytes from a pointer on, to be written; nothing for 0.
///
/// # Errors
/// `Invalid` for null where bytes are asked for.
///
/// # Safety
/// If it is not null, `len` bytes stand there, and nobody else uses them for `'a`.
pub(crate) unsafe fn bytes_mut<'a>(pointer: *mut u8, len: usize, name: &str) -> Result<&'a mut [u8]> {
    match (len, pointer.is_null()) {
        (0, _) => Ok(&mut []),
        (_, true) => Err(null(name)),
        // SAFETY: as the caller promises.
        (len, false) => Ok(unsafe { slice::from_raw_parts_mut(pointer, len) }),
    }
}

/// A variable of C's, to be written.
///
/// # Errors
/// `Invalid` for null.
///
/// # Safety
/// If it is not null, it points to a variable that nobody else uses for `'a`.
pub(crate) unsafe fn variable<'a, T>(pointer: *mut T, name: &str) -> Result<&'a mut T> {
    // SAFETY: as the caller promises.
    unsafe { pointer.as_mut() }.ok_or_else(|| null(name))
}

/// A place where C wants a handle: null until it is there.
///
/// # Errors
/// `Invalid` for null.
///
/// # Safety
/// If it is not null, it points to a variable that nobody else uses for `'a`.
pub(crate) unsafe fn place<'a, T>(pointer: *mut *mut T, name: &str) -> Result<&'a mut *mut T> {
    // SAFETY: as the caller promises.
    let place = unsafe { variable(pointer, name) }?;
    *place = std::ptr::null_mut();
    Ok(place)
}

/// Drops what a handle holds; nothing for null.
///
/// # Safety
/// If it is not null, it came from `Box::into_raw`, and nobody uses it any more.
pub(crate) unsafe fn close<T>(handle: *mut T) {
    if !handle.is_null() {
        // SAFETY: as the caller promises.
        drop(unsafe { Box::from_raw(handle) });
    }
}

fn null(name: &str) -> Error {
    Error::invalid(format!("{name}: is a null pointer"))
}
