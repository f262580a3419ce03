//! Coquina for C: arrays in files and directories, opened and read.
//!
//! `include/coquina.h` is made from this crate; `examples/` has programs in C. Functions take and give plain
//! pointers: what each asks of them stands in its `# Safety`. A panic does not leave the library: it is a status.

mod arrays;
mod pointers;
mod status;

pub use arrays::Array;
pub use arrays::{
    coquina_array_close, coquina_array_dtype, coquina_array_item_bytes, coquina_array_ndim,
    coquina_array_open, coquina_array_read, coquina_array_shape,
};
pub use status::{Status, coquina_error};

use std::ffi::{CStr, c_char};

use crate::status::guard;

const VERSION: &CStr = match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
    Ok(version) => version,
    Err(_) => c"",
};

/// The version of the library, such as "0.1.0".
#[unsafe(no_mangle)]
pub extern "C" fn coquina_version() -> *const c_char {
    VERSION.as_ptr()
}

/// Sets how many threads work at a time, in this process, from the next call on: 1 to 1024.
#[unsafe(no_mangle)]
pub extern "C" fn coquina_set_num_threads(threads: usize) -> Status {
    guard(|| coquina::set_num_threads(threads).map(|_| ()))
}
