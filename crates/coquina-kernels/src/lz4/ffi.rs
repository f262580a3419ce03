//! The functions of liblz4 that we call, declared here because `lz4-sys` lacks most of them. It still builds and
//! links the library. All of these are exported (`LZ4LIB_API`) by liblz4 1.10.0; pointers to characters are
//! declared as pointers to bytes.

use core::ffi::{c_int, c_void};

use lz4_sys as _;

unsafe extern "C" {
    /// A function of no state.
    pub(super) safe fn LZ4_sizeofState() -> c_int;
    /// A function of no state.
    pub(super) safe fn LZ4_sizeofStateHC() -> c_int;

    pub(super) fn LZ4_compress_fast_extState(
        state: *mut c_void,
        src: *const u8,
        dst: *mut u8,
        src_bytes: c_int,
        dst_bytes: c_int,
        acceleration: c_int,
    ) -> c_int;
    pub(super) fn LZ4_initStream(state: *mut c_void, bytes: usize) -> *mut c_void;
    pub(super) fn LZ4_loadDict(state: *mut c_void, dictionary: *const u8, bytes: c_int) -> c_int;
    pub(super) fn LZ4_attach_dictionary(state: *mut c_void, dictionary: *const c_void);
    pub(super) fn LZ4_compress_fast_continue(
        state: *mut c_void,
        src: *const u8,
        dst: *mut u8,
        src_bytes: c_int,
        dst_bytes: c_int,
        acceleration: c_int,
    ) -> c_int;

    pub(super) fn LZ4_compress_HC_extStateHC(
        state: *mut c_void,
        src: *const u8,
        dst: *mut u8,
        src_bytes: c_int,
        dst_bytes: c_int,
        level: c_int,
    ) -> c_int;
    pub(super) fn LZ4_initStreamHC(state: *mut c_void, bytes: usize) -> *mut c_void;
    pub(super) fn LZ4_resetStreamHC_fast(state: *mut c_void, level: c_int);
    pub(super) fn LZ4_loadDictHC(state: *mut c_void, dictionary: *const u8, bytes: c_int) -> c_int;
    pub(super) fn LZ4_attach_HC_dictionary(state: *mut c_void, dictionary: *const c_void);
    pub(super) fn LZ4_compress_HC_continue(
        state: *mut c_void,
        src: *const u8,
        dst: *mut u8,
        src_bytes: c_int,
        dst_bytes: c_int,
    ) -> c_int;

    pub(super) fn LZ4_decompress_safe_partial(
        src: *const u8,
        dst: *mut u8,
        src_bytes: c_int,
        wanted_bytes: c_int,
        dst_bytes: c_int,
    ) -> c_int;
    pub(super) fn LZ4_decompress_safe_usingDict(
        src: *const u8,
        dst: *mut u8,
        src_bytes: c_int,
        dst_bytes: c_int,
        dictionary: *const u8,
        dictionary_bytes: c_int,
    ) -> c_int;
}
