//! Exclusive or: of two buffers, and of each element with the one before.
//!
//! In: bytes, for the chains as elements of 1, 2, 4 or 8 bytes and a tail. Out: as many bytes; the tail is copied.
//! Source: `docs/formats/filters.md`, "Delta".
//! Invariant: `xor_chain_decode(xor_chain_encode(x)) == x` for every length; `xor_into` undoes itself.

use crate::level::{Isa, Level};

/// Writes `src[i] ^ reference[i]` to `dst[i]`.
///
/// Panics if the lengths differ.
pub fn xor_into(level: Level, src: &[u8], reference: &[u8], dst: &mut [u8]) {
    assert!(src.len() == dst.len() && reference.len() == dst.len(), "lengths differ");
    match level.0 {
        Isa::Portable => body(src, reference, dst),
        #[cfg(target_arch = "x86_64")]
        // SAFETY: an `Avx2` level exists only where `levels` has found AVX2 on this CPU.
        Isa::Avx2 => unsafe { avx2(src, reference, dst) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: an `Avx512` level exists only where `levels` has found these features on this CPU.
        Isa::Avx512 => unsafe { avx512(src, reference, dst) },
    }
}

/// Writes each whole element of `src`, but for the first one, as the exclusive or with the element before.
///
/// Panics if the lengths differ or `width` is not 1, 2, 4 or 8.
pub fn xor_chain_encode(level: Level, width: usize, src: &[u8], dst: &mut [u8]) {
    let whole_bytes = copy_tail(width, src, dst);
    let first_bytes = width.min(whole_bytes);
    dst[..first_bytes].copy_from_slice(&src[..first_bytes]);
    let before = &src[..whole_bytes - first_bytes];
    xor_into(level, &src[first_bytes..whole_bytes], before, &mut dst[first_bytes..whole_bytes]);
}

/// The inverse of [`xor_chain_encode`].
///
/// Panics if the lengths differ or `width` is not 1, 2, 4 or 8.
pub fn xor_chain_decode(_level: Level, width: usize, src: &[u8], dst: &mut [u8]) {
    let whole_bytes = copy_tail(width, src, dst);
    let (src, dst) = (&src[..whole_bytes], &mut dst[..whole_bytes]);
    // Eight bytes at a time in a whole number; wider registers need more steps for a step's bytes, and one block
    // of a chunk at most is a chain.
    match width {
        1 => prefixes::<1>(src, dst),
        2 => prefixes::<2>(src, dst),
        4 => prefixes::<4>(src, dst),
        _ => prefixes::<8>(src, dst),
    }
}

/// Checks the arguments of a chain, copies the bytes after the last whole element and returns the length before.
fn copy_tail(width: usize, src: &[u8], dst: &mut [u8]) -> usize {
    assert_eq!(src.len(), dst.len(), "a filter never changes the length");
    assert!(matches!(width, 1 | 2 | 4 | 8), "width {width}: a chain takes 1, 2, 4 and 8");
    let whole_bytes = src.len() / width * width;
    dst[whole_bytes..].copy_from_slice(&src[whole_bytes..]);
    whole_bytes
}

#[inline(always)]
fn body(src: &[u8], reference: &[u8], dst: &mut [u8]) {
    for ((out, byte), other) in dst.iter_mut().zip(src).zip(reference) {
        *out = byte ^ other;
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn avx2(src: &[u8], reference: &[u8], dst: &mut [u8]) {
    body(src, reference, dst);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
fn avx512(src: &[u8], reference: &[u8], dst: &mut [u8]) {
    body(src, reference, dst);
}

/// Naively: `out[i] = src[i] ^ out[i - W]`, for every byte. Here with the chain inside 8 bytes done in log steps, and
/// one exclusive or per 8 bytes from one to the next.
fn prefixes<const W: usize>(src: &[u8], dst: &mut [u8]) {
    let (groups, rest) = src.as_chunks::<8>();
    let (groups_out, rest_out) = dst.as_chunks_mut::<8>();
    // One element in every place; `before` is the last one so, in every place.
    let everywhere = u64::MAX / (u64::MAX >> (64 - 8 * W));
    let mut before = 0;
    for (out, group) in groups_out.iter_mut().zip(groups) {
        let mut inner = u64::from_le_bytes(*group);
        for shift in [8, 16, 32] {
            if shift >= 8 * W {
                inner ^= inner << shift;
            }
        }
        *out = (inner ^ before).to_le_bytes();
        before ^= (inner >> (64 - 8 * W)) * everywhere;
    }
    let mut before = before.to_le_bytes();
    for (place, (out, byte)) in rest_out.iter_mut().zip(rest).enumerate() {
        before[place % W] ^= byte;
        *out = before[place % W];
    }
}

#[cfg(test)]
mod tests {
    use super::{xor_chain_decode, xor_chain_encode, xor_into};
    use crate::levels;
    use crate::testing::{Random, lengths, run};

    #[test]
    fn the_examples_of_the_format() {
        let src = [5, 0, 7, 0, 7, 0, 5, 1, 0x99];
        for &level in levels() {
            let out = run(&src, |src, dst| xor_chain_encode(level, 2, src, dst));
            assert_eq!(out, [5, 0, 2, 0, 0, 0, 2, 1, 0x99]);
            let out = run(&[5, 0, 6, 0, 7, 0], |src, dst| xor_into(level, src, &[5, 0, 7, 0, 7, 0], dst));
            assert_eq!(out, [0, 0, 1, 0, 0, 0]);
        }
    }

    #[test]
    fn all_levels_equal_the_naive_loop_and_undo_it() {
        let mut random = Random::new(6);
        for width in [1, 2, 4, 8] {
            for bytes in lengths(width) {
                let src = random.bytes(bytes);
                let whole_bytes = bytes / width * width;
                let expected: Vec<u8> = (0..bytes)
                    .map(|i| src[i] ^ if i >= width && i < whole_bytes { src[i - width] } else { 0 })
                    .collect();
                for &level in levels() {
                    let out = run(&src, |src, dst| xor_chain_encode(level, width, src, dst));
                    assert!(out == expected, "encode {level:?}, width {width}, {bytes} bytes");
                    let back = run(&expected, |src, dst| xor_chain_decode(level, width, src, dst));
                    assert!(back == src, "decode {level:?}, width {width}, {bytes} bytes");
                    let out = run(&src, |src, dst| xor_into(level, src, &expected, dst));
                    assert!((0..bytes).all(|i| out[i] == src[i] ^ expected[i]), "{level:?}, {bytes} bytes");
                }
            }
        }
    }
}
