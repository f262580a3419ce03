//! The fast compressor: one pass, with an acceleration that trades size for speed.

use super::{clamped, compress_nothing, ffi, input_bytes, state_memory, window, written};

/// The memory of the fast compressor: 16 KiB, owned by one thread and used again and again.
#[derive(Debug)]
pub struct FastState {
    memory: Vec<u64>,
}

impl Default for FastState {
    fn default() -> Self {
        Self::new()
    }
}

impl FastState {
    /// A state ready for use.
    pub fn new() -> Self {
        Self { memory: state_memory(ffi::LZ4_sizeofState()) }
    }

    /// Compresses `src` to the front of `dst` and returns the number of bytes written.
    ///
    /// `acceleration` is 1 for the best ratio up to 65537; values outside are taken as the nearest of these.
    /// `None` if the result does not fit in `dst` or `src` is longer than LZ4 takes.
    pub fn compress(&mut self, src: &[u8], dst: &mut [u8], acceleration: i32) -> Option<usize> {
        if src.is_empty() {
            return compress_nothing(dst);
        }
        let (src_bytes, room) = (input_bytes(src)?, clamped(dst.len()));
        let state = self.memory.as_mut_ptr().cast();
        let (from, to) = (src.as_ptr(), dst.as_mut_ptr());
        // SAFETY: `state` has the size that liblz4 asks for, and this function resets it before use; the other
        // pointers come with the lengths of their slices.
        let answer =
            unsafe { ffi::LZ4_compress_fast_extState(state, from, to, src_bytes, room, acceleration) };
        written(answer)
    }

    /// As [`compress`](Self::compress), with matches in `dictionary` too. Decoding needs the same dictionary.
    pub fn compress_with(
        &mut self,
        dictionary: &FastDictionary,
        src: &[u8],
        dst: &mut [u8],
        acceleration: i32,
    ) -> Option<usize> {
        if src.is_empty() {
            return compress_nothing(dst);
        }
        let (src_bytes, room) = (input_bytes(src)?, clamped(dst.len()));
        let bytes = size_of_val(self.memory.as_slice());
        let state = self.memory.as_mut_ptr().cast();
        // SAFETY: `state` points to `bytes` bytes that we borrow mutably.
        let _same = unsafe { ffi::LZ4_initStream(state, bytes) };
        // SAFETY: both states are initialised. The dictionary is read by the call below only, while we borrow
        // it: every later use of this state starts with a reset.
        unsafe { ffi::LZ4_attach_dictionary(state, dictionary.table.as_ptr().cast()) };
        let (from, to) = (src.as_ptr(), dst.as_mut_ptr());
        // SAFETY: `state` is initialised, its dictionary is alive, and the other pointers come with the lengths
        // of their slices.
        let answer =
            unsafe { ffi::LZ4_compress_fast_continue(state, from, to, src_bytes, room, acceleration) };
        written(answer)
    }
}

/// A dictionary prepared for [`FastState`]: its last 64 KiB and their hash table. Threads may share it.
#[derive(Debug)]
pub struct FastDictionary {
    /// A state of liblz4 that points into `content`; nobody writes to either after `new`.
    table: Vec<u64>,
    /// A `Vec`, not a `Box`, since its bytes are pointed to while the dictionary is moved.
    content: Vec<u8>,
}

impl FastDictionary {
    /// Prepares `dictionary`, of which the last 64 KiB are kept. One shorter than 8 bytes has no effect.
    pub fn new(dictionary: &[u8]) -> Self {
        let content = window(dictionary).to_vec();
        let mut table = state_memory(ffi::LZ4_sizeofState());
        let state = table.as_mut_ptr().cast();
        // SAFETY: `state` has the size that liblz4 asks for, and this function resets it before use; `content`
        // comes with its length and lives, unmoved on the heap, as long as the table.
        let _kept = unsafe { ffi::LZ4_loadDict(state, content.as_ptr(), clamped(content.len())) };
        Self { table, content }
    }

    /// The bytes that a decoder needs.
    pub fn content(&self) -> &[u8] {
        &self.content
    }
}
