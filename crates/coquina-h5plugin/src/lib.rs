//! The HDF5 filter plugin: lets every program that uses libhdf5 read and write chunks through coquina's filters.
//!
//! A plugin file serves one filter id, since `H5PLget_plugin_info` has no argument. This library serves Blosc2; for
//! each other id of [`class::FILTERS`] there is a copy of the tiny `coquina-h5alias` beside it, which asks this
//! library for the id that its file name ends with. So there is one engine and one thread pool in a process.
//!
//! In and out: the C structures and calls of `H5PLextern.h` and `H5Zdevelop.h`, HDF5 1.10 and later. The library
//! is not linked to libhdf5: a process may hold several, and the one that calls is the one that is asked.
//! Invariant: nothing unwinds into C, nothing is printed, and what fails leaves the caller's buffer as it was.

mod buffer;
mod class;
mod engine;
mod filter;
mod ids;
mod libhdf5;
mod setup;
mod values;

use core::ffi::{c_int, c_void};
use core::ptr;
use std::sync::Once;

use class::Class;
use ids::BLOSC2;

/// Says that this is a plugin with a filter: `H5PL_TYPE_FILTER`.
// SAFETY: no other library that a process links to has a function of this name: plugins are looked into one by one.
#[unsafe(export_name = "H5PLget_plugin_type")]
pub extern "C" fn plugin_type() -> c_int {
    0
}

/// The `H5Z_class2_t` of Blosc2.
// SAFETY: as for `plugin_type`.
#[unsafe(export_name = "H5PLget_plugin_info")]
pub extern "C" fn plugin_info() -> *const c_void {
    coquina_h5_filter(c_int::from(BLOSC2))
}

/// The `H5Z_class2_t` of the filter with this id, or null. It lives as long as the process.
// SAFETY: the name is ours.
#[unsafe(no_mangle)]
pub extern "C" fn coquina_h5_filter(id: c_int) -> *const c_void {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // This library has a standard library of its own: nobody else's messages are silenced.
        std::panic::set_hook(Box::new(|_| {}));
        // libhdf5 unloads plugins at its end, when threads of the pool still wait in this code.
        libhdf5::pin(plugin_type as *const c_void);
    });
    class::FILTERS
        .iter()
        .find(|class| class.id == id)
        .map_or(ptr::null(), |class| ptr::from_ref::<Class>(class).cast())
}
