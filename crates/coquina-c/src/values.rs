//! Values of a column: what reads and queries of tables give.

use std::ffi::{CString, c_char, c_void};
use std::ptr::null;

use coquina::table::{Data, Values as EngineValues};

use crate::pointers::close;

/// Values of a column in memory, one for each row that was read.
pub struct Values {
    values: EngineValues<'static>,
    ty: CString,
}

impl Values {
    pub(crate) fn new(values: EngineValues<'static>) -> Self {
        let ty = CString::new(values.data().type_name()).unwrap_or_default();
        Self { values, ty }
    }

    fn items(&self) -> *const c_void {
        match self.values.data() {
            Data::Bool(items) => items.as_ptr().cast(),
            Data::I8(items) => items.as_ptr().cast(),
            Data::I16(items) => items.as_ptr().cast(),
            Data::I32(items) => items.as_ptr().cast(),
            Data::I64(items) => items.as_ptr().cast(),
            Data::U8(items) => items.as_ptr().cast(),
            Data::U16(items) | Data::F16(items) => items.as_ptr().cast(),
            Data::U32(items) => items.as_ptr().cast(),
            Data::U64(items) => items.as_ptr().cast(),
            Data::F32(items) => items.as_ptr().cast(),
            Data::F64(items) => items.as_ptr().cast(),
            Data::C64(items) => items.as_ptr().cast(),
            Data::C128(items) => items.as_ptr().cast(),
            Data::Bytes { bytes, .. } => bytes.as_ptr().cast(),
            Data::Text(texts) => texts.bytes().as_ptr().cast(),
            _ => null(),
        }
    }

    fn item_bytes(&self) -> usize {
        match self.values.data() {
            Data::Bool(_) | Data::I8(_) | Data::U8(_) => 1,
            Data::I16(_) | Data::U16(_) | Data::F16(_) => 2,
            Data::I32(_) | Data::U32(_) | Data::F32(_) => 4,
            Data::I64(_) | Data::U64(_) | Data::F64(_) | Data::C64(_) => 8,
            Data::C128(_) => 16,
            Data::Bytes { width, .. } => *width,
            _ => 0,
        }
    }
}

/// Gives the values back. Nothing happens for null.
///
/// # Safety
/// `values` is null or a handle that is not used any more; nor are the pointers into it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn coquina_values_close(values: *mut Values) {
    // SAFETY: as the caller promises.
    unsafe { close(values) }
}

/// How many values there are, with those that are missing; 0 for null.
///
/// # Safety
/// `values` is null or an open handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn coquina_values_len(values: *const Values) -> usize {
    // SAFETY: as the caller promises.
    unsafe { values.as_ref() }.map_or(0, |values| values.values.len())
}

/// What the values are: "bool", "int8" to "int64", "uint8" to "uint64", "float16", "float32", "float64", "complex64",
/// "complex128", "bytes of width 4" and so on, or "text". Times are "int64": the type of their column says what is
/// counted. Valid as long as the handle; null for null.
///
/// # Safety
/// `values` is null or an open handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn coquina_values_type(values: *const Values) -> *const c_char {
    // SAFETY: as the caller promises.
    unsafe { values.as_ref() }.map_or(null(), |values| values.ty.as_ptr())
}

/// The items, one behind another; of text the UTF-8 bytes of all texts, without zeros between them. Items of values that
/// are missing mean nothing. Valid as long as the handle; null for null.
///
/// # Safety
/// `values` is null or an open handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn coquina_values_items(values: *const Values) -> *const c_void {
    // SAFETY: as the caller promises.
    unsafe { values.as_ref() }.map_or(null(), Values::items)
}

/// How many bytes an item has; 0 for text, and for null.
///
/// # Safety
/// `values` is null or an open handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn coquina_values_item_bytes(values: *const Values) -> usize {
    // SAFETY: as the caller promises.
    unsafe { values.as_ref() }.map_or(0, Values::item_bytes)
}

/// Where each text begins in the bytes, and, one more, where the last one ends. Valid as long as the handle; null for
/// what is no text.
///
/// # Safety
/// `values` is null or an open handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn coquina_values_offsets(values: *const Values) -> *const i64 {
    // SAFETY: as the caller promises.
    let texts = unsafe { values.as_ref() }.and_then(|values| values.values.as_texts());
    texts.map_or(null(), |texts| texts.offsets().as_ptr())
}

/// For each value, whether it is missing. Valid as long as the handle; null if none can be.
///
/// # Safety
/// `values` is null or an open handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn coquina_values_missing(values: *const Values) -> *const bool {
    // SAFETY: as the caller promises.
    let missing = unsafe { values.as_ref() }.and_then(|values| values.values.missing());
    missing.map_or(null(), <[bool]>::as_ptr)
}
