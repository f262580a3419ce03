//! Serves one more filter id from the plugin for HDF5, which stands beside it.
//!
//! HDF5 asks each file in a plugin folder for one filter. A copy of this library, named
//! `libcoquina_filter_32001.so`, serves the id that its name ends with: it loads `libcoquina_h5plugin.so` from its own
//! folder and asks that for the filter. Copies are a few KiB each, since the standard library is left out where panics
//! abort (the profile `h5alias`). They must be real copies: the loader takes links for one and the same file.

#![cfg_attr(panic = "abort", no_std)]

use core::ffi::{CStr, c_char, c_int, c_void};
use core::mem::{MaybeUninit, transmute};

/// The library that has the filters, as the loader wants its name.
const PLUGIN: &[u8] =
    if cfg!(target_os = "macos") { b"libcoquina_h5plugin.dylib\0" } else { b"libcoquina_h5plugin.so\0" };
/// A longer path is not found: this library has no memory to put it.
const PATH_BYTES: usize = 4096;

type FilterById = unsafe extern "C" fn(c_int) -> *const c_void;

/// Says that this is a plugin with a filter: `H5PL_TYPE_FILTER`.
// SAFETY: no other library that a process links to has a function of this name: plugins are looked into one by one.
#[unsafe(export_name = "H5PLget_plugin_type")]
pub extern "C" fn plugin_type() -> c_int {
    0
}

/// The `H5Z_class2_t` of the filter that this file is named after, or null.
// SAFETY: as for `plugin_type`.
#[unsafe(export_name = "H5PLget_plugin_info")]
pub extern "C" fn plugin_info() -> *const c_void {
    let mut found = MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: any address may be asked about; the answer has its room.
    let status = unsafe { libc::dladdr(plugin_type as *const c_void, found.as_mut_ptr()) };
    // SAFETY: zeroed pointers are valid ones.
    let path = unsafe { found.assume_init() }.dli_fname;
    if status == 0 || path.is_null() {
        return core::ptr::null();
    }
    // SAFETY: the loader's string lives as long as this library is loaded.
    let path = unsafe { CStr::from_ptr(path) };
    filter(path.to_bytes()).unwrap_or(core::ptr::null())
}

fn filter(path: &[u8]) -> Option<*const c_void> {
    let folder_bytes = path.iter().rposition(|&byte| byte == b'/').map_or(0, |slash| slash + 1);
    let (folder, name) = path.split_at_checked(folder_bytes)?;
    let mut room = [0; PATH_BYTES];
    if folder.len() + PLUGIN.len() > room.len() {
        return None;
    }
    for (to, from) in room.iter_mut().zip(folder.iter().chain(PLUGIN)) {
        *to = *from;
    }
    let plugin: *const c_char = room.as_ptr().cast();
    // SAFETY: a string that ends with 0. The library is ours, and is never closed: filters stay callable.
    let plugin = unsafe { libc::dlopen(plugin, libc::RTLD_NOW | libc::RTLD_LOCAL) };
    if plugin.is_null() {
        return None;
    }
    // SAFETY: the handle was just opened.
    let by_id = unsafe { libc::dlsym(plugin, c"coquina_h5_filter".as_ptr()) };
    if by_id.is_null() {
        return None;
    }
    // SAFETY: only our plugin has this name, and there it has this type.
    let by_id = unsafe { transmute::<*mut c_void, FilterById>(by_id) };
    // SAFETY: it takes any number.
    Some(unsafe { by_id(number_in(name)) })
}

/// The number that a file name holds, after its last letter before the ending.
fn number_in(name: &[u8]) -> c_int {
    let stem = name.iter().rposition(|&byte| byte == b'.').and_then(|dot| name.get(..dot)).unwrap_or(name);
    let digits = stem.rsplit(|byte| !byte.is_ascii_digit()).next().unwrap_or_default();
    digits.iter().fold(0, |number: c_int, digit| {
        number.wrapping_mul(10).wrapping_add(c_int::from(digit.wrapping_sub(b'0')))
    })
}

#[cfg(panic = "abort")]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    // SAFETY: it may be called anywhere.
    unsafe { libc::abort() }
}
