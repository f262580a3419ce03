//! Where the functions of libhdf5 are looked up.
//!
//! In: the module `h5py.defs`. Out: pointers to C functions, with the types that HDF5's reference manual gives.
#![expect(unsafe_code, reason = "functions of a C library")]
#![cfg_attr(not(unix), expect(dead_code, reason = "there are no raw symbols"))]

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};

use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyCapsuleMethods, PyDict};

/// An identifier of libhdf5 (`hid_t`, of 8 bytes from 1.10 on).
pub(super) type Id = i64;

pub(super) type GetVersion = unsafe extern "C" fn(*mut c_uint, *mut c_uint, *mut c_uint) -> c_int;
pub(super) type IsValid = unsafe extern "C" fn(Id) -> c_int;
pub(super) type StoredBytes = unsafe extern "C" fn(Id, *const u64, *mut u64) -> c_int;
type ReadChunk = unsafe extern "C" fn(Id, Id, *const u64, *mut u32, *mut c_void) -> c_int;
type ReadChunkRoom = unsafe extern "C" fn(Id, Id, *const u64, *mut u32, *mut c_void, *mut usize) -> c_int;
pub(super) type WriteChunk = unsafe extern "C" fn(Id, Id, u32, *const u64, usize, *const c_void) -> c_int;
type OnChunk = unsafe extern "C" fn(*const u64, c_uint, u64, u64, *mut c_void) -> c_int;
pub(super) type Iterate = unsafe extern "C" fn(Id, Id, OnChunk, *mut c_void) -> c_int;
pub(super) type ChunkOptions = unsafe extern "C" fn(Id, *mut c_uint) -> c_int;
type OnError = unsafe extern "C" fn(c_uint, *const ErrorRecord, *mut c_void) -> c_int;
pub(super) type WalkErrors = unsafe extern "C" fn(Id, c_int, OnError, *mut c_void) -> c_int;
type SetPrinter = unsafe extern "C" fn(Id, *mut c_void, *mut c_void) -> c_int;

/// One entry of the error stack (`H5E_error2_t`).
#[repr(C)]
pub(super) struct ErrorRecord {
    pub(super) class: Id,
    pub(super) major: Id,
    pub(super) minor: Id,
    pub(super) line: c_uint,
    pub(super) function: *const c_char,
    pub(super) file: *const c_char,
    pub(super) sentence: *const c_char,
}

#[derive(Clone, Copy)]
pub(super) enum Read {
    /// Up to 1.14, and in capsules: nothing is said about the room.
    Plain(ReadChunk),
    /// From 2.0 on.
    WithRoom(ReadChunkRoom),
}

/// How a failed call tells what was wrong.
pub(super) enum Way {
    /// By the error stack. The handle keeps the library loaded.
    #[cfg(unix)]
    Raw { walk: WalkErrors, set_printer: SetPrinter, _library: libloading::Library },
    /// By a Python exception; needs the GIL.
    Capsules,
}

/// Where functions are looked up.
pub(super) enum Source<'py> {
    #[cfg(unix)]
    Raw(libloading::Library),
    Capsules(Bound<'py, PyDict>),
}

pub(super) fn lacks(name: &str, why: impl std::fmt::Display) -> PyErr {
    PyOSError::new_err(format!("the libhdf5 of h5py: {name}: {why}"))
}

impl<'py> Source<'py> {
    #[cfg(unix)]
    pub(super) fn raw(defs: &Bound<'py, PyModule>) -> PyResult<Self> {
        let file: std::path::PathBuf = defs.getattr("__file__")?.extract()?;
        // SAFETY: Python has loaded this file already, so nothing of it runs; the call only counts one user more.
        let library = unsafe { libloading::Library::new(&file) };
        Ok(Self::Raw(library.map_err(|error| lacks("h5py.defs", error))?))
    }

    #[cfg(not(unix))]
    pub(super) fn raw(_defs: &Bound<'py, PyModule>) -> PyResult<Self> {
        Err(lacks("raw symbols", "several libraries of this name may be loaded here, so capsules are used"))
    }

    pub(super) fn capsules(defs: &Bound<'py, PyModule>) -> PyResult<Self> {
        Ok(Self::Capsules(defs.getattr("__pyx_capi__")?.cast_into::<PyDict>()?))
    }

    /// The function `name`. `F` is the type of a pointer to a C function with `parameters` parameters.
    pub(super) fn find<F: Copy>(&self, name: &str, parameters: usize) -> PyResult<F> {
        const { assert!(size_of::<F>() == size_of::<*mut c_void>()) };
        match self {
            #[cfg(unix)]
            Self::Raw(library) => {
                // SAFETY: the callers name the types that HDF5's reference manual gives for these functions.
                let symbol = unsafe { library.get::<F>(name) };
                Ok(*symbol.map_err(|error| lacks(name, error))?)
            }
            Self::Capsules(table) => {
                let capsule = table.get_item(name)?.ok_or_else(|| lacks(name, "no such capsule"))?;
                let capsule = capsule.cast_into::<PyCapsule>()?;
                let signature =
                    capsule.name()?.ok_or_else(|| lacks(name, "a capsule without a signature"))?;
                // SAFETY: Cython names capsules by texts that it never frees nor changes.
                let signature: &CStr = unsafe { signature.as_cstr() };
                // Spellings of types differ between builds, their number does not.
                if signature.to_bytes().iter().filter(|&&c| c == b',').count() + 1 != parameters {
                    return Err(lacks(name, format!("takes not {parameters} parameters: {signature:?}")));
                }
                let function = capsule.pointer_checked(Some(signature))?.as_ptr();
                // SAFETY: as long as a pointer, and Cython's wrapper has the parameters of the function it wraps.
                Ok(unsafe { std::mem::transmute_copy(&function) })
            }
        }
    }

    pub(super) fn way(self) -> PyResult<Way> {
        Ok(match self {
            #[cfg(unix)]
            Self::Raw(_) => {
                let walk = self.find("H5Ewalk2", 4)?;
                let set_printer = self.find("H5Eset_auto2", 3)?;
                let Self::Raw(library) = self else { return Ok(Way::Capsules) };
                Way::Raw { walk, set_printer, _library: library }
            }
            Self::Capsules(_) => Way::Capsules,
        })
    }

    pub(super) fn read(&self) -> PyResult<Read> {
        // A capsule has one name and five parameters in all versions.
        match self.find("H5Dread_chunk2", 6) {
            Ok(read) => Ok(Read::WithRoom(read)),
            Err(_) => {
                self.find("H5Dread_chunk", 5).or_else(|_| self.find("H5Dread_chunk1", 5)).map(Read::Plain)
            }
        }
    }
}
