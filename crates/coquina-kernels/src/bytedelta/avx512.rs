//! Sums of a stream, 64 bytes at a time: sums in each quarter by shifts, then the totals of lower quarters to upper
//! ones in two steps.

use core::arch::x86_64::{_mm512_add_epi8, _mm512_bslli_epi128, _mm512_maskz_permutexvar_epi8};
use core::arch::x86_64::{_mm512_permutexvar_epi8, _mm512_set1_epi8, _mm512_setzero_si512};

use super::portable;
use crate::x86::{load64, store64};

/// For each quarter, the last byte of the one before.
static QUARTER_BEFORE: [u8; 64] = {
    let mut table = [0; 64];
    let mut place = 16_u8;
    while place < 64 {
        table[place as usize] = place / 16 * 16 - 1;
        place += 1;
    }
    table
};

/// Writes to each byte of `dst` the sum of `src` up to there.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
pub(super) fn sums(src: &[u8], dst: &mut [u8]) {
    let quarter_before = load64(&QUARTER_BEFORE);
    let (last_of_half, last) = (_mm512_set1_epi8(31), _mm512_set1_epi8(63));
    let mut before = _mm512_setzero_si512();
    let mut groups = src.chunks_exact(64);
    let mut groups_out = dst.chunks_exact_mut(64);
    for (out, group) in (&mut groups_out).zip(&mut groups) {
        let mut inner = load64(group);
        inner = _mm512_add_epi8(inner, _mm512_bslli_epi128::<1>(inner));
        inner = _mm512_add_epi8(inner, _mm512_bslli_epi128::<2>(inner));
        inner = _mm512_add_epi8(inner, _mm512_bslli_epi128::<4>(inner));
        inner = _mm512_add_epi8(inner, _mm512_bslli_epi128::<8>(inner));
        // Quarters 1 and 3 take the total of the one before; then half 1 takes the total of half 0.
        let odd = 0xFFFF_0000_FFFF_0000;
        inner = _mm512_add_epi8(inner, _mm512_maskz_permutexvar_epi8(odd, quarter_before, inner));
        let upper = 0xFFFF_FFFF_0000_0000;
        inner = _mm512_add_epi8(inner, _mm512_maskz_permutexvar_epi8(upper, last_of_half, inner));
        store64(out, _mm512_add_epi8(inner, before));
        before = _mm512_add_epi8(before, _mm512_permutexvar_epi8(last, inner));
    }
    let mut sum = [0; 64];
    store64(&mut sum, before);
    portable::sums(sum[0], groups.remainder(), groups_out.into_remainder());
}
