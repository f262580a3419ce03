//! Byte delta: in each stream of shuffled bytes, the differences of neighbours, modulo 256.
//!
//! In: `width` streams of `n` bytes (the output of a byte shuffle) and a tail. Out: as many bytes; each stream starts
//! with its first byte as it is, and the tail is copied.
//! Source: `docs/formats/filters.md`, "Bytedelta".
//! Invariant: `bytedelta_decode(bytedelta_encode(x)) == x` for every length and every width.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod portable;

use crate::level::{Isa, Level};

/// Writes the differences of each stream of `src` to `dst` and copies the tail.
///
/// Panics if the lengths differ or `width` is 0.
pub fn bytedelta_encode(level: Level, width: usize, src: &[u8], dst: &mut [u8]) {
    each_stream(width, src, dst, |src, dst| match level.0 {
        Isa::Portable => differences(src, dst),
        #[cfg(target_arch = "x86_64")]
        // SAFETY: an `Avx2` level exists only where `levels` has found AVX2 on this CPU.
        Isa::Avx2 => unsafe { differences_avx2(src, dst) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: an `Avx512` level exists only where `levels` has found these features on this CPU.
        Isa::Avx512 => unsafe { differences_avx512(src, dst) },
    });
}

/// The inverse of [`bytedelta_encode`].
///
/// Panics if the lengths differ or `width` is 0.
pub fn bytedelta_decode(level: Level, width: usize, src: &[u8], dst: &mut [u8]) {
    each_stream(width, src, dst, |src, dst| match level.0 {
        Isa::Portable => portable::sums(0, src, dst),
        #[cfg(target_arch = "x86_64")]
        // SAFETY: an `Avx2` level exists only where `levels` has found AVX2 on this CPU.
        Isa::Avx2 => unsafe { avx2::sums(src, dst) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: an `Avx512` level exists only where `levels` has found these features on this CPU.
        Isa::Avx512 => unsafe { avx512::sums(src, dst) },
    });
}

/// Calls `filter` with each stream of `src` and its place in `dst`, and copies the tail.
fn each_stream(width: usize, src: &[u8], dst: &mut [u8], filter: impl Fn(&[u8], &mut [u8])) {
    assert_eq!(src.len(), dst.len(), "a filter never changes the length");
    let stream_bytes = src.len() / width;
    if stream_bytes == 0 {
        dst.copy_from_slice(src);
        return;
    }
    let (whole, tail) = dst.split_at_mut(stream_bytes * width);
    tail.copy_from_slice(&src[whole.len()..]);
    for (from, to) in src.chunks_exact(stream_bytes).zip(whole.chunks_exact_mut(stream_bytes)) {
        filter(from, to);
    }
}

#[inline(always)]
fn differences(src: &[u8], dst: &mut [u8]) {
    let (Some((first_out, rest_out)), Some((&first, rest))) = (dst.split_first_mut(), src.split_first())
    else {
        return;
    };
    *first_out = first;
    for ((out, &byte), &before) in rest_out.iter_mut().zip(rest).zip(src) {
        *out = byte.wrapping_sub(before);
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn differences_avx2(src: &[u8], dst: &mut [u8]) {
    differences(src, dst);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
fn differences_avx512(src: &[u8], dst: &mut [u8]) {
    differences(src, dst);
}

#[cfg(test)]
mod tests;
