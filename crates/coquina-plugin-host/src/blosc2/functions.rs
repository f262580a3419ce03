//! Opens a plugin library of Blosc2, and calls its two functions.
//!
//! In: the library's path; then slices and what is known of a block. Out: what the functions answer, checked.
//! Source: `docs/formats/plugins.md`, "Plugins of Blosc2".
//! Invariant: functions get as many bytes as they are told, and no more than that are taken from them.
#![expect(unsafe_code, reason = "functions of a C library")]

use std::ffi::{CStr, c_char, c_int, c_void};
use std::mem::ManuallyDrop;
use std::path::Path;

use coquina::{Error, Result};

use super::abi::{Context, DecodeParams, EncodeParams};

/// `info`: the names of the function that encodes and of the one that decodes.
#[repr(C)]
#[derive(Clone, Copy)]
struct Names {
    encode: *const c_char,
    decode: *const c_char,
}

type Encode =
    unsafe extern "C" fn(*const u8, i32, *mut u8, i32, u8, *mut EncodeParams, *const c_void) -> c_int;
type Decode =
    unsafe extern "C" fn(*const u8, i32, *mut u8, i32, u8, *mut DecodeParams, *const c_void) -> c_int;
type Forward = unsafe extern "C" fn(*const u8, *mut u8, i32, u8, *mut EncodeParams, u8) -> c_int;
type Backward = unsafe extern "C" fn(*const u8, *mut u8, i32, u8, *mut DecodeParams, u8) -> c_int;

/// The functions of a library. Whether they are a codec's or a filter's its id says, not the library.
pub(super) struct Functions {
    library: ManuallyDrop<libloading::Library>,
    encode: Vec<u8>,
    decode: Vec<u8>,
}

impl Functions {
    /// # Errors
    /// `Invalid` for a file that cannot be loaded, or is no plugin of Blosc2.
    pub(super) fn open(path: &Path) -> Result<Self> {
        // A name without a folder would be looked for all over the system.
        let path = path.canonicalize()?;
        // SAFETY: the library's initialisers run; its user has allowed it.
        let library = unsafe { libloading::Library::new(&path) };
        let library = library.map_err(|error| Error::invalid(format!("cannot be loaded: {error}")))?;
        // Functions of it are held from here on, and it may have started threads.
        let library = ManuallyDrop::new(library);
        // SAFETY: the symbol is that of Blosc2's plugins, and the type what it has there.
        let names = unsafe { library.get::<*const Names>(b"info\0") };
        let names = *names.map_err(|_| Error::invalid("is not a Blosc2 plugin: it has no symbol `info`"))?;
        if names.is_null() {
            return Err(Error::invalid("is not a Blosc2 plugin: its `info` is null"));
        }
        // SAFETY: the symbol's address, at which the library has two pointers.
        let Names { encode, decode } = unsafe { names.read() };
        let functions = Self { library, encode: name(encode)?, decode: name(decode)? };
        for name in [&functions.encode, &functions.decode] {
            functions.symbol::<*const c_void>(name).map_err(Error::invalid)?;
        }
        Ok(functions)
    }

    /// The address of a function as a value of type `T`, a pointer to it.
    fn symbol<T: Copy>(&self, name: &[u8]) -> Result<T, String> {
        // SAFETY: callers give the type that the function of this name has by Blosc2's headers.
        let symbol = unsafe { self.library.get::<T>(name) };
        symbol
            .map(|symbol| *symbol)
            .map_err(|error| format!("lacks a function that its `info` names: {error}"))
    }

    /// Bytes that the codec wrote to `out`; 0 where they would not be fewer.
    pub(super) fn encode(
        &self,
        context: &mut Context,
        meta: u8,
        input: &[u8],
        out: &mut [u8],
    ) -> Result<usize, String> {
        let function = self.symbol::<Encode>(&self.encode)?;
        let (length, room) = (length(input)?, length(out)?);
        let chunk = context.chunk.as_ptr().cast();
        let params = &raw mut *context.encode;
        // SAFETY: slices with their lengths, and a context that outlives the call.
        let answer = unsafe { function(input.as_ptr(), length, out.as_mut_ptr(), room, meta, params, chunk) };
        bytes_of(answer, out.len())
    }

    /// Bytes that the codec decoded into `out`.
    pub(super) fn decode(
        &self,
        context: &mut Context,
        meta: u8,
        input: &[u8],
        out: &mut [u8],
    ) -> Result<usize, String> {
        let function = self.symbol::<Decode>(&self.decode)?;
        let (length, room) = (length(input)?, length(out)?);
        let chunk = context.chunk.as_ptr().cast();
        let params = &raw mut *context.decode;
        // SAFETY: slices with their lengths, and a context that outlives the call.
        let answer = unsafe { function(input.as_ptr(), length, out.as_mut_ptr(), room, meta, params, chunk) };
        bytes_of(answer, out.len())
    }

    /// Fills `out`, as long as `input`, with what the filter makes of it.
    pub(super) fn forward(
        &self,
        context: &mut Context,
        meta: u8,
        input: &[u8],
        out: &mut [u8],
    ) -> Result<(), String> {
        let function = self.symbol::<Forward>(&self.encode)?;
        let length = length(input)?.min(length(out)?);
        let id = context.id;
        let params = &raw mut *context.encode;
        // SAFETY: two slices of at least `length` bytes, and a context that outlives the call.
        let answer = unsafe { function(input.as_ptr(), out.as_mut_ptr(), length, meta, params, id) };
        done(answer)
    }

    /// Fills `out`, as long as `input`, with what the filter was given.
    pub(super) fn backward(
        &self,
        context: &mut Context,
        meta: u8,
        input: &[u8],
        out: &mut [u8],
    ) -> Result<(), String> {
        let function = self.symbol::<Backward>(&self.decode)?;
        let length = length(input)?.min(length(out)?);
        let id = context.id;
        let params = &raw mut *context.decode;
        // SAFETY: two slices of at least `length` bytes, and a context that outlives the call.
        let answer = unsafe { function(input.as_ptr(), out.as_mut_ptr(), length, meta, params, id) };
        done(answer)
    }
}

fn name(start: *const c_char) -> Result<Vec<u8>> {
    if start.is_null() {
        return Err(Error::invalid("its `info` lacks the name of a function"));
    }
    // SAFETY: a string of the library, which stays loaded.
    let name = unsafe { CStr::from_ptr(start) };
    Ok(name.to_bytes_with_nul().to_vec())
}

fn length(bytes: &[u8]) -> Result<i32, String> {
    i32::try_from(bytes.len()).map_err(|_| format!("takes less than 2 GiB, not {} bytes", bytes.len()))
}

fn bytes_of(answer: c_int, room: usize) -> Result<usize, String> {
    match usize::try_from(answer) {
        Ok(bytes) if bytes <= room => Ok(bytes),
        Ok(bytes) => Err(format!("says that it wrote {bytes} bytes where {room} are")),
        Err(_) => Err(format!("failed with error {answer}")),
    }
}

fn done(answer: c_int) -> Result<(), String> {
    if answer == 0 { Ok(()) } else { Err(format!("failed with error {answer}")) }
}
