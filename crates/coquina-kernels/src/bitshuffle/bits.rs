//! The transpose of 8 by 8 bits: bit `b` of byte `k` becomes bit `k` of byte `b`, in each 8 bytes of a buffer.

use crate::level::{Isa, Level};

/// Transposes each 8 bytes of `bytes` in place; a length that is no multiple of 8 leaves the rest as it is.
pub(super) fn transpose(level: Level, bytes: &mut [u8]) {
    match level.0 {
        Isa::Portable => body(bytes),
        #[cfg(target_arch = "x86_64")]
        // SAFETY: an `Avx2` level exists only where `levels` has found AVX2 on this CPU.
        Isa::Avx2 => unsafe { avx2(bytes) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: an `Avx512` level exists only where `levels` has found these features on this CPU.
        Isa::Avx512 => unsafe { avx512(bytes) },
    }
}

#[inline(always)]
fn body(bytes: &mut [u8]) {
    for group in bytes.as_chunks_mut().0 {
        *group = transposed(u64::from_le_bytes(*group)).to_le_bytes();
    }
}

/// Swaps the bits off the diagonal in blocks of 1, 2 and 4. Source: Hacker's Delight, section 7-3.
#[inline(always)]
fn transposed(mut x: u64) -> u64 {
    let swap = (x ^ (x >> 7)) & 0x00AA_00AA_00AA_00AA;
    x ^= swap ^ (swap << 7);
    let swap = (x ^ (x >> 14)) & 0x0000_CCCC_0000_CCCC;
    x ^= swap ^ (swap << 14);
    let swap = (x ^ (x >> 28)) & 0x0000_0000_F0F0_F0F0;
    x ^ swap ^ (swap << 28)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn avx2(bytes: &mut [u8]) {
    body(bytes);
}

/// Two products of bit matrices in place of 18 shifts and masks.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
fn avx512(bytes: &mut [u8]) {
    use crate::x86::{load64, store64};
    use core::arch::x86_64::{_mm512_gf2p8affine_epi64_epi8, _mm512_set1_epi64};

    // The instruction makes bit `b` of byte `i` the parity of `x.byte[i] & matrix.byte[7 - b]`. With the data for a
    // matrix and byte `i` of x as `1 << i`, bit `b` is bit `i` of the data's byte `7 - b`: the transpose, with the
    // bits of each byte in reverse. With the same constant for a matrix it reverses the bits of each byte of x.
    let diagonal = _mm512_set1_epi64(i64::from_le_bytes([1, 2, 4, 8, 16, 32, 64, 128]));
    let mut chunks = bytes.chunks_exact_mut(64);
    for chunk in &mut chunks {
        let data = load64(chunk);
        let reversed = _mm512_gf2p8affine_epi64_epi8::<0>(diagonal, data);
        store64(chunk, _mm512_gf2p8affine_epi64_epi8::<0>(reversed, diagonal));
    }
    body(chunks.into_remainder());
}

#[cfg(test)]
mod tests {
    use super::transpose;
    use crate::levels;
    use crate::testing::Random;

    #[test]
    fn bits_swap_their_place_with_their_byte() {
        let mut random = Random::new(3);
        for groups in 0..40 {
            let src = random.bytes(8 * groups);
            for &level in levels() {
                let mut out = src.clone();
                transpose(level, &mut out);
                for place in 0..64 * groups {
                    let (group, byte, bit) = (place / 64, place / 8 % 8, place % 8);
                    let moved = out[8 * group + bit] >> byte & 1;
                    assert_eq!(moved, src[8 * group + byte] >> bit & 1, "{level:?}, bit {place}");
                }
            }
        }
    }
}
