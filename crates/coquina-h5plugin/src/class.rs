//! What libhdf5 wants to know of a filter, and the table of those that the plugin serves.
//!
//! Source: `H5Z_class2_t` in `H5Zdevelop.h`, unchanged from HDF5 1.8.3 to 2.2.

use core::ffi::{CStr, c_char, c_int, c_uint};

use crate::filter::{Callback, callback};
use crate::ids::{BITSHUFFLE, BLOSC, BLOSC2, LZ4, ZSTD};
use crate::setup::{SetLocal, set_local};

/// `H5Z_class2_t`.
#[repr(C)]
pub(crate) struct Class {
    version: c_int,
    pub(crate) id: c_int,
    encoder_present: c_uint,
    decoder_present: c_uint,
    name: *const c_char,
    can_apply: Option<SetLocal>,
    set_local: Option<SetLocal>,
    pub(crate) filter: Callback,
}

// SAFETY: the only pointer in it is to a name that is never written.
unsafe impl Sync for Class {}

/// Every filter that the plugin serves. Files keep the names, and PyTables knows Blosc and Blosc2 by theirs.
/// Adding one is a row here, and its id in `PLUGIN_IDS` of the Makefile and in
/// `FILTERS` of `python/coquina/hdf5/plugin.py`.
pub(crate) static FILTERS: &[Class] = &[
    row(BLOSC2, c"blosc2", Some(set_local::<BLOSC2>), callback::<BLOSC2>),
    row(BLOSC, c"blosc", Some(set_local::<BLOSC>), callback::<BLOSC>),
    row(BITSHUFFLE, c"Coquina bitshuffle", Some(set_local::<BITSHUFFLE>), callback::<BITSHUFFLE>),
    row(LZ4, c"Coquina LZ4", None, callback::<LZ4>),
    row(ZSTD, c"Coquina Zstd", None, callback::<ZSTD>),
];

const fn row(id: u16, name: &'static CStr, set_local: Option<SetLocal>, filter: Callback) -> Class {
    let (version, encoder_present, decoder_present) = (1, 1, 1);
    let (id, name) = (id as c_int, name.as_ptr());
    Class { version, id, encoder_present, decoder_present, name, can_apply: None, set_local, filter }
}
