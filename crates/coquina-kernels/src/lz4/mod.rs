//! LZ4 blocks through liblz4 1.10: safe doors to its compressors and its checked decompressor, of which `sequences` does
//! the most in less time.
//!
//! In: up to 2,113,929,216 bytes and, if wanted, a dictionary (a plain prefix, of which the last 64 KiB count).
//! Out: one LZ4 block, without a frame.
//! Source: `lz4.h` and `lz4hc.h` of liblz4 1.10.0, as the crate `lz4-sys` builds them.
//! Invariant: compressed bytes follow from the input, the level and the dictionary, never from what a state
//! was used for before. So no function with `fastReset` in its name is called here: those keep hash tables, and
//! their output changes with them for inputs below 4 KiB. A full reset costs 16 KiB of zeros (a third of a
//! microsecond) for [`FastState`] and 256 KiB for [`HcState`], little beside the compression of a block.

mod fast;
mod ffi;
mod hc;
#[cfg(target_arch = "x86_64")]
mod sequences;

use core::ffi::c_int;

pub use fast::{FastDictionary, FastState};
pub use hc::{HcDictionary, HcState};

use crate::level::{Isa, Level};

/// The reach of an LZ4 match: bytes of a dictionary before its last 64 KiB are never used.
const WINDOW_BYTES: usize = 64 << 10;

/// The bytes are no LZ4 block, or one that holds more than there was room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

impl core::fmt::Display for Malformed {
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        out.write_str("no LZ4 block, or one that holds more than there is room for")
    }
}

impl core::error::Error for Malformed {}

/// The most bytes that [`FastState`] or [`HcState`] make of `src_bytes` bytes; `None` for more than they take.
pub fn compressed_bytes_max(src_bytes: usize) -> Option<usize> {
    // Source: `LZ4_MAX_INPUT_SIZE` and `LZ4_COMPRESSBOUND` of lz4.h.
    (src_bytes <= 0x7E00_0000).then(|| src_bytes + src_bytes / 255 + 16)
}

/// How much of a block is decoded, and how much that gave.
#[derive(Clone, Copy, Debug, Default)]
struct Progress {
    read: usize,
    written: usize,
}

/// Decompresses the block `src` to the front of `dst` and returns the number of bytes written.
///
/// # Errors
/// [`Malformed`] if `src` is not one whole block or holds more than `dst.len()` bytes; `dst` then holds anything.
pub fn decompress(level: Level, src: &[u8], dst: &mut [u8]) -> Result<usize, Malformed> {
    let Progress { read, written } = far_from_the_ends(level, src, dst);
    let (before, dst) = dst.split_at_mut(written);
    decompress_behind(before, &src[read..], dst).map(|more| written + more)
}

/// Decodes all but the ends of a block, where there is a way for it.
fn far_from_the_ends(level: Level, src: &[u8], dst: &mut [u8]) -> Progress {
    match level.0 {
        Isa::Portable => Progress::default(),
        #[cfg(target_arch = "x86_64")]
        // SAFETY: such a level exists only where `levels` has found AVX2 on this CPU.
        Isa::Avx2 | Isa::Avx512 => unsafe { sequences::decode(src, dst) }.unwrap_or_default(),
    }
}

/// Decompresses what follows `before`, which lies in front of `dst` in memory, or anywhere.
fn decompress_behind(before: &[u8], src: &[u8], dst: &mut [u8]) -> Result<usize, Malformed> {
    let src_bytes = c_int::try_from(src.len()).map_err(|_too_long| Malformed)?;
    let room = clamped(dst.len());
    let before = window(before);
    let (from, bytes) = (before.as_ptr(), clamped(before.len()));
    let (to, block) = (dst.as_mut_ptr(), src.as_ptr());
    // SAFETY: the three pointers come with the lengths of their slices; nothing beyond them is read or written.
    let written = unsafe { ffi::LZ4_decompress_safe_usingDict(block, to, src_bytes, room, from, bytes) };
    usize::try_from(written).map_err(|_negative| Malformed)
}

/// Fills `dst` with the first bytes of the block `src`, which may hold more, and returns the number written.
///
/// # Errors
/// [`Malformed`] if `src` is no block as far as it was looked at; `dst` then holds anything.
pub fn decompress_front(src: &[u8], dst: &mut [u8]) -> Result<usize, Malformed> {
    let src_bytes = c_int::try_from(src.len()).map_err(|_too_long| Malformed)?;
    let (to, room) = (dst.as_mut_ptr(), clamped(dst.len()));
    // SAFETY: both pointers come with the lengths of their slices; liblz4 reads and writes nothing beyond them.
    let written = unsafe { ffi::LZ4_decompress_safe_partial(src.as_ptr(), to, src_bytes, room, room) };
    usize::try_from(written).map_err(|_negative| Malformed)
}

/// As [`decompress`], for a block that was compressed with `dictionary`.
///
/// # Errors
/// [`Malformed`] as there. Another dictionary of the same length goes unseen and gives other bytes.
pub fn decompress_with(dictionary: &[u8], src: &[u8], dst: &mut [u8]) -> Result<usize, Malformed> {
    decompress_behind(dictionary, src, dst)
}

/// The bytes of a dictionary that can be used.
fn window(dictionary: &[u8]) -> &[u8] {
    &dictionary[dictionary.len().saturating_sub(WINDOW_BYTES)..]
}

/// A length for liblz4; room beyond 2 GiB cannot be used and is not mentioned.
fn clamped(bytes: usize) -> c_int {
    c_int::try_from(bytes).unwrap_or(c_int::MAX)
}

/// The length of an input for liblz4, or `None` where it takes no input of that length.
fn input_bytes(src: &[u8]) -> Option<c_int> {
    compressed_bytes_max(src.len())?;
    c_int::try_from(src.len()).ok()
}

/// The compressed form of no bytes at all: one token that announces nothing.
///
/// liblz4 must not be asked for it. It computes addresses before the end of the input and compares them, which
/// goes wrong (reads anywhere, in the slow levels) with the made-up address of an empty slice.
fn compress_nothing(dst: &mut [u8]) -> Option<usize> {
    *dst.first_mut()? = 0;
    Some(1)
}

/// What liblz4 answers, as the number of bytes written: it says 0 where the room did not suffice.
fn written(answer: c_int) -> Option<usize> {
    usize::try_from(answer).ok().filter(|&bytes| bytes > 0)
}

/// Zeroed memory for a state of `bytes` bytes, aligned to 8: no field of a state wants more.
fn state_memory(bytes: c_int) -> Vec<u64> {
    vec![0; usize::try_from(bytes).unwrap_or(0).div_ceil(size_of::<u64>())]
}

#[cfg(test)]
mod tests;
