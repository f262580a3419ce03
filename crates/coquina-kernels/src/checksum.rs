//! XXH3-64 of long inputs, without a seed.
//!
//! In: bytes, more than 240 of them. Out: their sum, the same as of any XXH3. Shorter inputs have other formulas, and
//! take no time.
//! Source: the specification of XXH3 in the repository of xxHash, `doc/xxhash_spec.md`.
//! Invariant: eight sums run side by side; nothing here depends on how many of them a register holds.

use crate::level::{Isa, Level};

/// Inputs of more bytes are long.
pub const SHORT_BYTES_MAX: usize = 240;

const STRIPE_BYTES: usize = 64;
/// After so many stripes the sums are scrambled.
const BLOCK_STRIPES: usize = (SECRET.len() - STRIPE_BYTES) / 8;
const BLOCK_BYTES: usize = BLOCK_STRIPES * STRIPE_BYTES;

const P32: [u64; 3] = [0x9e37_79b1, 0x85eb_ca77, 0xc2b2_ae3d];
const P64: [u64; 5] = [
    0x9e37_79b1_85eb_ca87,
    0xc2b2_ae3d_27d4_eb4f,
    0x1656_67b1_9e37_79f9,
    0x85eb_ca77_c2b2_ae63,
    0x27d4_eb2f_1656_67c5,
];
const SUMS: [u64; 8] = [P32[2], P64[0], P64[1], P64[2], P64[3], P32[1], P64[4], P32[0]];

/// Random bytes, the same for everybody.
#[rustfmt::skip]
const SECRET: [u8; 192] = [
    0xb8, 0xfe, 0x6c, 0x39, 0x23, 0xa4, 0x4b, 0xbe, 0x7c, 0x01, 0x81, 0x2c, 0xf7, 0x21, 0xad, 0x1c,
    0xde, 0xd4, 0x6d, 0xe9, 0x83, 0x90, 0x97, 0xdb, 0x72, 0x40, 0xa4, 0xa4, 0xb7, 0xb3, 0x67, 0x1f,
    0xcb, 0x79, 0xe6, 0x4e, 0xcc, 0xc0, 0xe5, 0x78, 0x82, 0x5a, 0xd0, 0x7d, 0xcc, 0xff, 0x72, 0x21,
    0xb8, 0x08, 0x46, 0x74, 0xf7, 0x43, 0x24, 0x8e, 0xe0, 0x35, 0x90, 0xe6, 0x81, 0x3a, 0x26, 0x4c,
    0x3c, 0x28, 0x52, 0xbb, 0x91, 0xc3, 0x00, 0xcb, 0x88, 0xd0, 0x65, 0x8b, 0x1b, 0x53, 0x2e, 0xa3,
    0x71, 0x64, 0x48, 0x97, 0xa2, 0x0d, 0xf9, 0x4e, 0x38, 0x19, 0xef, 0x46, 0xa9, 0xde, 0xac, 0xd8,
    0xa8, 0xfa, 0x76, 0x3f, 0xe3, 0x9c, 0x34, 0x3f, 0xf9, 0xdc, 0xbb, 0xc7, 0xc7, 0x0b, 0x4f, 0x1d,
    0x8a, 0x51, 0xe0, 0x4b, 0xcd, 0xb4, 0x59, 0x31, 0xc8, 0x9f, 0x7e, 0xc9, 0xd9, 0x78, 0x73, 0x64,
    0xea, 0xc5, 0xac, 0x83, 0x34, 0xd3, 0xeb, 0xc3, 0xc5, 0x81, 0xa0, 0xff, 0xfa, 0x13, 0x63, 0xeb,
    0x17, 0x0d, 0xdd, 0x51, 0xb7, 0xf0, 0xda, 0x49, 0xd3, 0x16, 0x55, 0x26, 0x29, 0xd4, 0x68, 0x9e,
    0x2b, 0x16, 0xbe, 0x58, 0x7d, 0x47, 0xa1, 0xfc, 0x8f, 0xf8, 0xb8, 0xd1, 0x7a, 0xd0, 0x31, 0xce,
    0x45, 0xcb, 0x3a, 0x8f, 0x95, 0x16, 0x04, 0x28, 0xaf, 0xd7, 0xfb, 0xca, 0xbb, 0x4b, 0x40, 0x7e,
];

/// XXH3-64 of long input, with seed 0.
///
/// Panics if there are no more than [`SHORT_BYTES_MAX`] bytes.
pub fn xxh3_of_long(level: Level, bytes: &[u8]) -> u64 {
    assert!(bytes.len() > SHORT_BYTES_MAX, "{} bytes are not long", bytes.len());
    let sums = match level.0 {
        Isa::Portable => sums(bytes),
        #[cfg(target_arch = "x86_64")]
        // SAFETY: these levels exist only where `levels` has found AVX2 on this CPU. Multiplying in registers of 512 bits
        // is faster by itself, but whole reads take 5 % longer with it: the CPU runs slower for a while.
        Isa::Avx2 | Isa::Avx512 => unsafe { avx2(bytes) },
    };
    let keys: [u64; 8] = secret(11);
    let start = (bytes.len() as u64).wrapping_mul(P64[0]);
    let merged = sums.chunks_exact(2).zip(keys.chunks_exact(2)).fold(start, |merged, (sums, keys)| {
        let (one, other) = (sums[0] ^ keys[0], sums[1] ^ keys[1]);
        let high = (u128::from(one) * u128::from(other)) >> 64;
        let high = u64::try_from(high).unwrap_or_default();
        merged.wrapping_add(one.wrapping_mul(other) ^ high)
    });
    let mixed = (merged ^ (merged >> 37)).wrapping_mul(0x1656_6791_9e37_79f9);
    mixed ^ (mixed >> 32)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn avx2(bytes: &[u8]) -> [u64; 8] {
    sums(bytes)
}

/// The eight sums over all bytes.
#[inline(always)]
fn sums(bytes: &[u8]) -> [u64; 8] {
    let mut sums = SUMS;
    // The last block is never whole: the last stripe stands for itself.
    let (blocks, rest) = bytes.split_at((bytes.len() - 1) / BLOCK_BYTES * BLOCK_BYTES);
    for block in blocks.chunks_exact(BLOCK_BYTES) {
        add_stripes(&mut sums, block);
        let keys = secret(SECRET.len() - STRIPE_BYTES);
        for (sum, key) in sums.iter_mut().zip(keys) {
            *sum = (*sum ^ (*sum >> 47) ^ key).wrapping_mul(P32[0]);
        }
    }
    add_stripes(&mut sums, &rest[..(rest.len() - 1) / STRIPE_BYTES * STRIPE_BYTES]);
    let last = bytes.last_chunk().map(words).unwrap_or_default();
    add(&mut sums, last, secret(SECRET.len() - STRIPE_BYTES - 7));
    sums
}

/// Adds whole stripes of a block, each with keys of its own.
#[inline(always)]
fn add_stripes(sums: &mut [u64; 8], stripes: &[u8]) {
    let (stripes, _) = stripes.as_chunks::<STRIPE_BYTES>();
    for (number, stripe) in stripes.iter().enumerate() {
        add(sums, words(stripe), secret(8 * number));
    }
}

#[inline(always)]
fn add(sums: &mut [u64; 8], words: [u64; 8], keys: [u64; 8]) {
    for i in 0..8 {
        let keyed = words[i] ^ keys[i];
        let product = (keyed & 0xffff_ffff) * (keyed >> 32);
        sums[i] = sums[i].wrapping_add(words[i ^ 1]).wrapping_add(product);
    }
}

#[inline(always)]
fn words(stripe: &[u8; STRIPE_BYTES]) -> [u64; 8] {
    let mut words = [0; 8];
    let (eights, _) = stripe.as_chunks::<8>();
    for (word, eight) in words.iter_mut().zip(eights) {
        *word = u64::from_le_bytes(*eight);
    }
    words
}

/// The keys from a byte of the secret on; zeros behind its end.
#[inline(always)]
fn secret(at: usize) -> [u64; 8] {
    SECRET.get(at..).and_then(|secret| secret.first_chunk()).map(words).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::level::levels;
    use xxhash_rust::xxh3::xxh3_64;

    #[test]
    fn all_levels_give_the_sums_of_another_implementation() {
        let bytes: Vec<u8> = (0..70_000_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        let lens = (SHORT_BYTES_MAX + 1..3_200).chain([4_096, 65_535, 65_536, 65_537, 70_000]);
        for len in lens {
            let part = &bytes[bytes.len() - len..];
            for &level in levels() {
                assert_eq!(xxh3_of_long(level, part), xxh3_64(part), "{len} bytes, {}", level.name());
            }
        }
    }

    #[test]
    #[should_panic(expected = "240 bytes are not long")]
    fn short_input_is_refused() {
        xxh3_of_long(levels()[0], &[0; SHORT_BYTES_MAX]);
    }
}
