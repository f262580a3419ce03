//! Sums of a stream, 32 bytes at a time: sums in each half by shifts, then the lower half's total to the upper one.

use core::arch::x86_64::{_mm256_add_epi8, _mm256_permute2x128_si256, _mm256_set1_epi8};
use core::arch::x86_64::{_mm256_setzero_si256, _mm256_shuffle_epi8, _mm256_slli_si256};

use super::portable;
use crate::x86::{load32, store32};

/// Writes to each byte of `dst` the sum of `src` up to there.
#[target_feature(enable = "avx2")]
pub(super) fn sums(src: &[u8], dst: &mut [u8]) {
    let last_of_half = _mm256_set1_epi8(15);
    let mut before = _mm256_setzero_si256();
    let mut groups = src.chunks_exact(32);
    let mut groups_out = dst.chunks_exact_mut(32);
    for (out, group) in (&mut groups_out).zip(&mut groups) {
        let mut inner = load32(group);
        inner = _mm256_add_epi8(inner, _mm256_slli_si256::<1>(inner));
        inner = _mm256_add_epi8(inner, _mm256_slli_si256::<2>(inner));
        inner = _mm256_add_epi8(inner, _mm256_slli_si256::<4>(inner));
        inner = _mm256_add_epi8(inner, _mm256_slli_si256::<8>(inner));
        let totals = _mm256_shuffle_epi8(inner, last_of_half);
        // Zeros for the lower half, the lower half's total for the upper one.
        inner = _mm256_add_epi8(inner, _mm256_permute2x128_si256::<0x08>(totals, totals));
        store32(out, _mm256_add_epi8(inner, before));
        let both = _mm256_add_epi8(totals, _mm256_permute2x128_si256::<0x01>(totals, totals));
        before = _mm256_add_epi8(before, both);
    }
    let mut last = [0; 32];
    store32(&mut last, before);
    portable::sums(last[0], groups.remainder(), groups_out.into_remainder());
}
