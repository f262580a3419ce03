//! Sums of a stream, 8 bytes at a time in a whole number.

/// Each byte's high bit.
const HIGH: u64 = 0x8080_8080_8080_8080;

/// Writes to each byte of `dst` the sum of `before` and of `src` up to there.
#[inline(always)]
pub(super) fn sums(before: u8, src: &[u8], dst: &mut [u8]) {
    let (groups, rest) = src.as_chunks::<8>();
    let (groups_out, rest_out) = dst.as_chunks_mut::<8>();
    let mut before = before;
    for (out, group) in groups_out.iter_mut().zip(groups) {
        let mut inner = u64::from_le_bytes(*group);
        inner = added(inner, inner << 8);
        inner = added(inner, inner << 16);
        inner = added(inner, inner << 32);
        let total = inner.to_le_bytes()[7];
        *out = added(inner, u64::from(before) * 0x0101_0101_0101_0101).to_le_bytes();
        before = before.wrapping_add(total);
    }
    for (out, &byte) in rest_out.iter_mut().zip(rest) {
        before = before.wrapping_add(byte);
        *out = before;
    }
}

/// The sums of bytes modulo 256, without carries from one into the next.
#[inline(always)]
fn added(a: u64, b: u64) -> u64 {
    ((a & !HIGH) + (b & !HIGH)) ^ ((a ^ b) & HIGH)
}
