//! The high-compression compressor: slower than the fast one, smaller blocks, the same format.

use super::{clamped, compress_nothing, ffi, input_bytes, state_memory, window, written};

/// The memory of the high-compression compressor: 256 KiB, owned by one thread and used again and again.
#[derive(Debug)]
pub struct HcState {
    memory: Vec<u64>,
}

impl Default for HcState {
    fn default() -> Self {
        Self::new()
    }
}

impl HcState {
    /// A state ready for use.
    pub fn new() -> Self {
        Self { memory: state_memory(ffi::LZ4_sizeofStateHC()) }
    }

    /// Compresses `src` to the front of `dst` and returns the number of bytes written.
    ///
    /// `level` is 1 to 12; below stands for 9, above for 12. `None` if the result does not fit in `dst` or
    /// `src` is longer than LZ4 takes.
    pub fn compress(&mut self, src: &[u8], dst: &mut [u8], level: i32) -> Option<usize> {
        if src.is_empty() {
            return compress_nothing(dst);
        }
        let (src_bytes, room) = (input_bytes(src)?, clamped(dst.len()));
        let state = self.memory.as_mut_ptr().cast();
        let (from, to) = (src.as_ptr(), dst.as_mut_ptr());
        // SAFETY: `state` has the size that liblz4 asks for, and this function resets it before use; the other
        // pointers come with the lengths of their slices.
        let answer = unsafe { ffi::LZ4_compress_HC_extStateHC(state, from, to, src_bytes, room, level) };
        written(answer)
    }

    /// As [`compress`](Self::compress), at the level of `dictionary` and with matches in it too. Decoding needs
    /// the same dictionary.
    pub fn compress_with(&mut self, dictionary: &HcDictionary, src: &[u8], dst: &mut [u8]) -> Option<usize> {
        if src.is_empty() {
            return compress_nothing(dst);
        }
        let (src_bytes, room) = (input_bytes(src)?, clamped(dst.len()));
        reset(&mut self.memory, dictionary.level);
        let state = self.memory.as_mut_ptr().cast();
        // A table without entries is left out: liblz4 would search it all the same.
        let has_entries = dictionary.content.len() >= 8;
        let table = if has_entries { dictionary.table.as_ptr().cast() } else { core::ptr::null() };
        // SAFETY: both states are initialised. The dictionary is read by the call below only, while we borrow
        // it: every later use of this state starts with a reset.
        unsafe { ffi::LZ4_attach_HC_dictionary(state, table) };
        let (from, to) = (src.as_ptr(), dst.as_mut_ptr());
        // SAFETY: `state` is initialised, its dictionary is alive, and the other pointers come with the lengths
        // of their slices.
        let answer = unsafe { ffi::LZ4_compress_HC_continue(state, from, to, src_bytes, room) };
        written(answer)
    }
}

/// A dictionary prepared for [`HcState`] at one level: its last 64 KiB and their hash table. Threads may share it.
#[derive(Debug)]
pub struct HcDictionary {
    /// A state of liblz4 that points into `content`; nobody writes to either after `new`.
    table: Vec<u64>,
    /// A `Vec`, not a `Box`, since its bytes are pointed to while the dictionary is moved.
    content: Vec<u8>,
    level: i32,
}

impl HcDictionary {
    /// Prepares `dictionary`, of which the last 64 KiB are kept, for `level` (as in [`HcState::compress`]). One
    /// shorter than 8 bytes has no effect.
    pub fn new(dictionary: &[u8], level: i32) -> Self {
        let content = window(dictionary).to_vec();
        let mut table = state_memory(ffi::LZ4_sizeofStateHC());
        reset(&mut table, level);
        let state = table.as_mut_ptr().cast();
        // SAFETY: `state` is initialised; `content` comes with its length and lives, unmoved on the heap, as
        // long as the table.
        let _kept = unsafe { ffi::LZ4_loadDictHC(state, content.as_ptr(), clamped(content.len())) };
        Self { table, content, level }
    }

    /// The bytes that a decoder needs.
    pub fn content(&self) -> &[u8] {
        &self.content
    }
}

/// A full reset: `memory` is as good as new afterwards, and set to `level`.
fn reset(memory: &mut Vec<u64>, level: i32) {
    let bytes = size_of_val(memory.as_slice());
    let state = memory.as_mut_ptr().cast();
    // SAFETY: `state` points to `bytes` bytes that we borrow mutably.
    let _same = unsafe { ffi::LZ4_initStreamHC(state, bytes) };
    // SAFETY: `state` was initialised by the line above.
    unsafe { ffi::LZ4_resetStreamHC_fast(state, level) };
}
