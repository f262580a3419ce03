//! Coquina for C: arrays and tables in files and directories, opened, read and queried.
//!
//! `include/coquina.h` is made from this crate; `examples/` has programs in C. Functions take and give plain
//! pointers: what each asks of them stands in its `# Safety`. A panic does not leave the library: it is a status.

mod arrays;
mod pointers;
mod queries;
mod status;
mod tables;
mod values;

pub use arrays::Array;
pub use arrays::{
    coquina_array_close, coquina_array_dtype, coquina_array_item_bytes, coquina_array_ndim,
    coquina_array_open, coquina_array_read, coquina_array_shape,
};
pub use queries::{coquina_table_count, coquina_table_query};
pub use status::{Status, coquina_error};
pub use tables::{
    Table, coquina_table_close, coquina_table_column_name, coquina_table_column_type, coquina_table_ncolumns,
    coquina_table_nrows, coquina_table_open, coquina_table_read, coquina_table_read_rows,
};
pub use values::{
    Values, coquina_values_close, coquina_values_item_bytes, coquina_values_items, coquina_values_len,
    coquina_values_missing, coquina_values_offsets, coquina_values_type,
};

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
