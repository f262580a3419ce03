//! The C functions between coquina and a plugin: what they are called with, and what they answer.
//!
//! In: nothing but numbers, pointers and lengths. Out: the same. No Rust, no structure but the table of functions.
//! Source: `docs/formats/plugins.md`; `include/coquina_plugin.h` says the same to C.
//! Invariant: a minor version adds functions behind the last; what stands here never changes its place or meaning.

use core::ffi::c_char;

/// The name of the function that a plugin exports, of the type [`Entry`].
pub const ENTRY: &str = "coquina_plugin";

/// Gives the table for a host of this major and minor version; null if the plugin cannot serve it. The table, and
/// whatever the functions in it return, stays as it is for as long as the library is loaded.
pub type Entry = unsafe extern "C" fn(major: u32, minor: u32) -> *const Table;

/// The major version of this file: hosts and plugins of different ones do not understand each other.
pub const MAJOR: u32 = 1;
/// The minor version: how often functions were added.
pub const MINOR: u32 = 0;

/// Says that codecs are meant.
pub const CODEC: u32 = 0;
/// Says that filters are meant.
pub const FILTER: u32 = 1;

/// What [`Encode`] returns in place of a length: store the bytes as they are.
pub const STORE: i64 = -1;
/// What [`Encode`] returns in place of a length, and [`Decode`] for failure: the text says why.
pub const FAILED: i64 = -2;

/// How many codecs or filters there are.
pub type Count = unsafe extern "C" fn(what: u32) -> u32;

/// The id of one of them. `number` counts from 0.
pub type Id = unsafe extern "C" fn(what: u32, number: u32) -> u32;

/// The name of one of them, in UTF-8; its length goes to `bytes`.
pub type Name = unsafe extern "C" fn(what: u32, number: u32, bytes: *mut usize) -> *const c_char;

/// Whether one of them is lossy with this parameter byte and these options: 1 or 0.
pub type IsLossy = unsafe extern "C" fn(
    what: u32,
    number: u32,
    meta: u32,
    options: *const c_char,
    options_bytes: usize,
) -> u32;

/// Whether a codec must have blocks with the items as they are: 1 or 0.
pub type NeedsItems = unsafe extern "C" fn(what: u32, number: u32) -> u32;

/// Encodes a block: the bytes of the result, [`STORE`] or [`FAILED`]. A filter fills `out` and returns its length.
///
/// `kind` is the letter of the items' kind, 0 if it is not known. `error` has room for `error_bytes` bytes of UTF-8; the
/// length of the text that was put there goes to `error_len`.
pub type Encode = unsafe extern "C" fn(
    what: u32,
    number: u32,
    typesize: usize,
    shape: *const u32,
    axes: usize,
    kind: u32,
    meta: u32,
    level: u32,
    options: *const c_char,
    options_bytes: usize,
    input: *const u8,
    input_bytes: usize,
    out: *mut u8,
    out_bytes: usize,
    error: *mut c_char,
    error_bytes: usize,
    error_len: *mut usize,
) -> i64;

/// Decodes a block: fills `out` and returns 0, or [`FAILED`].
pub type Decode = unsafe extern "C" fn(
    what: u32,
    number: u32,
    typesize: usize,
    shape: *const u32,
    axes: usize,
    kind: u32,
    meta: u32,
    input: *const u8,
    input_bytes: usize,
    out: *mut u8,
    out_bytes: usize,
    error: *mut c_char,
    error_bytes: usize,
    error_len: *mut usize,
) -> i64;

/// The table of functions. Its first three fields are the same in every version there will be.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Table {
    /// The plugin's [`MAJOR`].
    pub major: u32,
    /// The plugin's [`MINOR`].
    pub minor: u32,
    /// Bytes of the plugin's table: functions beyond are not there, whatever the versions say.
    pub size: usize,
    /// Since 1.0.
    pub count: Option<Count>,
    /// Since 1.0.
    pub id: Option<Id>,
    /// Since 1.0.
    pub name: Option<Name>,
    /// Since 1.0.
    pub is_lossy: Option<IsLossy>,
    /// Since 1.0.
    pub needs_items: Option<NeedsItems>,
    /// Since 1.0.
    pub encode: Option<Encode>,
    /// Since 1.0.
    pub decode: Option<Decode>,
}
