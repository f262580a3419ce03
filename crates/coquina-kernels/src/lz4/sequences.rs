//! The sequences of an LZ4 block that lie far from its ends, decoded with hardly a branch.
//!
//! In: a block and room for what it holds. Out: how much of both is done, up to the border of two sequences; liblz4
//! decodes the rest.
//! Source: the LZ4 block format, `lz4_Block_format.md` of liblz4.
//! Invariant: what is done is valid and the same as liblz4 writes; what liblz4 may refuse is left to it.
//!
//! Byte planes of measured numbers are short matches at distances that nobody can predict: liblz4 branches on whether a
//! match overlaps itself and loses most of its time where that is predicted wrongly. Here a match of up to 16 bytes takes a
//! load, a permutation by a table of distances, and a store.

use core::arch::x86_64::_mm_shuffle_epi8;

use super::Progress;
use crate::x86::{load2_unchecked, load16, load16_unchecked, store16_unchecked};

/// Bytes of one register.
const REGISTER: usize = 16;
/// The most bytes of a match that is copied without a loop.
const MATCH_MAX: usize = 2 * REGISTER;
/// Bytes that a sequence without a loop reads, at most: a token, literals in a register, a distance, a byte of length.
const READS: usize = 32;
/// Bytes that it writes, at most: 14 literals and two registers.
const WRITES: usize = 64;
/// The length in a token that says that more bytes of length follow.
const MORE: usize = 15;
const LENGTH_MIN: usize = 4;
/// Bytes that stores of so far back are no longer on their way to memory: a load that spans two of them need not wait.
const FAR: usize = 4096;
/// No match reaches the last bytes of a block.
const LAST_LITERALS: usize = 5;

/// For each distance up to 16: which of the bytes there become bytes `from..from + 16` of the match.
const fn periods(from: usize) -> [[u8; REGISTER]; REGISTER + 1] {
    let mut tables = [[0; REGISTER]; REGISTER + 1];
    let mut distance = 1;
    while distance <= REGISTER {
        let mut place = 0;
        while place < REGISTER {
            #[expect(clippy::cast_possible_truncation, reason = "it is less than 16")]
            let source = ((from + place) % distance) as u8;
            tables[distance][place] = source;
            place += 1;
        }
        distance += 1;
    }
    tables
}

/// Aligned, so that no row crosses a cache line.
#[repr(align(16))]
struct Rows([[u8; REGISTER]; REGISTER + 1]);

static FIRST: Rows = Rows(periods(0));
static SECOND: Rows = Rows(periods(REGISTER));

/// Decodes from the front until an end is near; `None` for what liblz4 may refuse, with anything in `dst`.
#[target_feature(enable = "avx2")]
pub(super) fn decode(src: &[u8], dst: &mut [u8]) -> Option<Progress> {
    let (mut read, mut written) = (0, 0);
    let src_last = src.len().saturating_sub(READS);
    let dst_last = dst.len().saturating_sub(WRITES);
    while read < src_last && written < dst_last {
        // SAFETY: `READS` bytes are left.
        let token = usize::from(unsafe { *src.get_unchecked(read) });
        // SAFETY: the same.
        let bytes = unsafe { load16_unchecked(src, read + 1) };
        // SAFETY: there is room for `WRITES` bytes.
        unsafe { store16_unchecked(dst, written, bytes) };
        let literals = token >> 4;
        read += 1;
        if literals == MORE {
            let Some(ends) = long_literals(src, dst, read, written) else {
                return Some(Progress { read: read - 1, written });
            };
            (read, written) = ends;
        } else {
            read += literals;
            written += literals;
        }
        // SAFETY: of `READS` bytes at most 1 + 14 were read; behind more literals as many are left.
        let distance = usize::from(unsafe { load2_unchecked(src, read) });
        // SAFETY: the same.
        let more = usize::from(unsafe { *src.get_unchecked(read + 2) });
        let is_long = token & MORE == MORE;
        read += 2 + usize::from(is_long);
        let mut length = (token & MORE) + LENGTH_MIN + if is_long { more } else { 0 };
        if distance.wrapping_sub(1) >= written {
            return None;
        }
        let from = written - distance;
        let period = distance.min(REGISTER);
        // SAFETY: `from` lies before `written`, behind which there is still room for 50 bytes.
        let first = unsafe { load16_unchecked(dst, from) };
        let bytes = _mm_shuffle_epi8(first, load16(&FIRST.0[period]));
        // SAFETY: the same.
        unsafe { store16_unchecked(dst, written, bytes) };
        if length > REGISTER {
            // SAFETY: the same.
            let far = unsafe { load16_unchecked(dst, from + REGISTER) };
            let second = if distance < REGISTER { first } else { far };
            let bytes = _mm_shuffle_epi8(second, load16(&SECOND.0[period]));
            // SAFETY: the same.
            unsafe { store16_unchecked(dst, written + REGISTER, bytes) };
            if length > MATCH_MAX {
                if more == usize::from(u8::MAX) {
                    length += long_length(src, &mut read)?;
                }
                long_match(dst, written, distance, length)?;
            }
        }
        written += length;
    }
    Some(Progress { read, written })
}

/// What the bytes of length at `read` add, or `None` if the block ends in them; moves `read` behind them.
fn long_length(src: &[u8], read: &mut usize) -> Option<usize> {
    let mut length = 0;
    loop {
        let byte = *src.get(*read)?;
        *read += 1;
        length += usize::from(byte);
        if byte != u8::MAX {
            return Some(length);
        }
    }
}

/// Copies literals whose length goes on at `read`. Where both end, or `None` if that is near the end of either.
#[inline(always)]
fn long_literals(src: &[u8], dst: &mut [u8], mut read: usize, written: usize) -> Option<(usize, usize)> {
    let length = MORE + long_length(src, &mut read)?;
    let literals = src.get(read..)?.get(..length + WRITES)?;
    let room = dst.get_mut(written..)?.get_mut(..length + WRITES)?;
    let mut at = 0;
    while at < length {
        for at in [at, at + REGISTER] {
            // SAFETY: `at` is less than `length` + 16, and both have 64 bytes more than `length`.
            let bytes = unsafe { load16_unchecked(literals, at) };
            // SAFETY: the same.
            unsafe { store16_unchecked(room, at, bytes) };
        }
        at += 2 * REGISTER;
    }
    Some((read + length, written + length))
}

/// Copies what follows the first `MATCH_MAX` bytes of a match; `None` if that leaves no room for the last literals.
#[inline(always)]
fn long_match(dst: &mut [u8], written: usize, distance: usize, length: usize) -> Option<()> {
    let end = written + length;
    if end > dst.len() - LAST_LITERALS {
        return None;
    }
    let whole = end.min(dst.len() - 2 * REGISTER + 1);
    let mut at = written + MATCH_MAX;
    if distance >= REGISTER {
        // What repeats at a distance repeats at twice of it too, and from there it need not be waited for.
        let (from, mut back) = (written - distance, distance);
        while at < whole {
            if back < FAR && at - from >= 2 * back {
                back *= 2;
            }
            for at in [at, at + REGISTER] {
                // SAFETY: 32 bytes are left from `at` on at least, and `back` is at most `at - from`.
                let bytes = unsafe { load16_unchecked(dst, at - back) };
                // SAFETY: the same.
                unsafe { store16_unchecked(dst, at, bytes) };
            }
            at += 2 * REGISTER;
        }
    } else {
        // Whole periods at a time.
        let step = REGISTER / distance * distance;
        at = written + MATCH_MAX / step * step;
        let bytes = load16(&dst[written..]);
        while at < whole {
            // SAFETY: 32 bytes are left from `at` on at least.
            unsafe { store16_unchecked(dst, at, bytes) };
            at += step;
        }
    }
    for at in at..end {
        dst[at] = dst[at - distance];
    }
    Some(())
}
