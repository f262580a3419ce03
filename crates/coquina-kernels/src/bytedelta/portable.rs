//! Sums of a stream, 8 bytes at a time in a whole number.

/// The lower byte of each 16 bits.
const LOWER: u64 = 0x00FF_00FF_00FF_00FF;
/// As a factor: the sum of all lower 16 bits' parts in each; or one small number in all four.
const SPREAD: u64 = 0x0001_0001_0001_0001;

/// Writes to each byte of `dst` the sum of `before` and of `src` up to there.
///
/// The sums of pairs of bytes, in 16 bits each, are summed by one product; no sum reaches 2^16. Those are the results
/// for the upper bytes of pairs, and less the upper byte for the lower ones.
#[inline(always)]
pub(super) fn sums(before: u8, src: &[u8], dst: &mut [u8]) {
    let (groups, rest) = src.as_chunks::<8>();
    let (groups_out, rest_out) = dst.as_chunks_mut::<8>();
    let mut before = u64::from(before);
    for (out, group) in groups_out.iter_mut().zip(groups) {
        let bytes = u64::from_le_bytes(*group);
        let upper = bytes >> 8 & LOWER;
        let inner = ((bytes & LOWER) + upper).wrapping_mul(SPREAD);
        let upper_sums = inner + before * SPREAD;
        let lower_sums = upper_sums - upper;
        *out = (lower_sums & LOWER | (upper_sums & LOWER) << 8).to_le_bytes();
        before = (before + (inner >> 48)) & 0xFF;
    }
    let mut before = before.to_le_bytes()[0];
    for (out, &byte) in rest_out.iter_mut().zip(rest) {
        before = before.wrapping_add(byte);
        *out = before;
    }
}
