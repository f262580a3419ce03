//! Shuffle in blocks of 32 rows: 16 in the lower halves of the registers, 16 in the upper ones.
//!
//! The rounds are those of the portable variant on each half; for widths up to 8 one byte permutation of each
//! register takes the place of the rounds that work inside a register only. It also skips the bytes that a width
//! below its power of two has not.

use core::arch::x86_64::{__m256i, _mm256_castsi128_si256, _mm256_castsi256_si128};
use core::arch::x86_64::{_mm256_broadcastsi128_si256, _mm256_shuffle_epi8};
use core::arch::x86_64::{_mm256_extracti128_si256, _mm256_inserti128_si256, _mm256_setzero_si256};
use core::arch::x86_64::{_mm256_unpackhi_epi8, _mm256_unpackhi_epi16, _mm256_unpackhi_epi32};
use core::arch::x86_64::{_mm256_unpackhi_epi64, _mm256_unpacklo_epi8, _mm256_unpacklo_epi16};
use core::arch::x86_64::{_mm256_unpacklo_epi32, _mm256_unpacklo_epi64};

use super::{Layout, lead, starts, starts_with_lead};
use crate::x86::{load16, load16_unchecked, load32, prefetch, store16_unchecked, store32};

/// The rows of a block.
pub(super) const ROWS: usize = 32;

/// `split` for 32 rows or more.
#[target_feature(enable = "avx2")]
pub(super) fn split(layout: Layout, rows: &[u8], streams: &mut [u8]) {
    match layout.width {
        2 => split_narrow::<2>(layout, rows, streams),
        3 | 4 => split_narrow::<4>(layout, rows, streams),
        5..=8 => split_narrow::<8>(layout, rows, streams),
        9..=15 => split_narrow::<16>(layout, rows, streams),
        _ => {
            for row in starts_with_lead(layout.rows, ROWS, lead(layout, streams, ROWS)) {
                for column in starts(layout.width, 16) {
                    let from = &rows[row * layout.row_step + column..];
                    let block = transposed(read_rows::<16>(from, layout.row_step));
                    let to = &mut streams[column * layout.stream_step + row..];
                    write_streams::<16>(block, to, layout.stream_step, 16);
                }
            }
        }
    }
}

/// `join` for 32 rows or more.
#[target_feature(enable = "avx2")]
pub(super) fn join(layout: Layout, streams: &[u8], rows: &mut [u8]) {
    match layout.width {
        2 => join_narrow::<2>(layout, streams, rows),
        3 | 4 => join_narrow::<4>(layout, streams, rows),
        5..=8 => join_narrow::<8>(layout, streams, rows),
        9..=15 => join_narrow::<16>(layout, streams, rows),
        _ => {
            for row in starts(layout.rows, ROWS) {
                for column in starts(layout.width, 16) {
                    let from = &streams[column * layout.stream_step + row..];
                    let block = transposed(read_streams::<16>(from, layout.stream_step, 16));
                    let to = &mut rows[row * layout.row_step + column..];
                    write_rows(block, to, layout.row_step);
                }
            }
        }
    }
}

/// Widths up to `P`. Registers are read 16 bytes wide, so the last block may go through a padded copy.
#[target_feature(enable = "avx2")]
fn split_narrow<const P: usize>(layout: Layout, rows: &[u8], streams: &mut [u8]) {
    let width = layout.width;
    let order = _mm256_broadcastsi128_si256(load16(&GROUP[width]));
    let mut padded = [0; ROWS * 16];
    for row in starts_with_lead(layout.rows, ROWS, lead(layout, streams, ROWS)) {
        let mut from = &rows[row * width..];
        if from.len() < reach::<P>(width) {
            padded[..ROWS * width].copy_from_slice(&from[..ROWS * width]);
            from = &padded;
        }
        let block = transposed(permuted(read_rows::<P>(from, width), order));
        write_streams(block, &mut streams[row..], layout.stream_step, width);
    }
}

/// Widths up to `P`. Registers are written 16 bytes wide, each over the rubbish after the one before, so the last
/// block may go through a padded copy.
#[target_feature(enable = "avx2")]
fn join_narrow<const P: usize>(layout: Layout, streams: &[u8], rows: &mut [u8]) {
    let width = layout.width;
    let order = _mm256_broadcastsi128_si256(load16(&SPREAD[width]));
    let mut padded = [0; ROWS * 16];
    for row in starts(layout.rows, ROWS) {
        let block = read_streams::<P>(&streams[row..], layout.stream_step, width);
        let to = &mut rows[row * width..];
        let has_room = to.len() >= reach::<P>(width);
        let written = if has_room { &mut *to } else { &mut padded[..] };
        write_rows(permuted(transposed(block), order), written, width);
        if !has_room {
            to[..ROWS * width].copy_from_slice(&padded[..ROWS * width]);
        }
    }
}

/// The bytes from the first of a block of `P` registers to its last, rubbish included, for rows `step` bytes apart.
fn reach<const P: usize>(step: usize) -> usize {
    let reach = (ROWS - 16 / P).checked_mul(step).and_then(|bytes| bytes.checked_add(16));
    reach.expect("a step between rows of one slice")
}

/// For each width, the permutation of 16 bytes from rows of `width` bytes to groups of one column each, where the
/// number of groups is the next power of two.
static GROUP: [[u8; 16]; 17] = permutations(false);
/// The inverses.
static SPREAD: [[u8; 16]; 17] = permutations(true);

const fn permutations(back: bool) -> [[u8; 16]; 17] {
    let mut tables = [[0x80; 16]; 17];
    let mut width = 2_u8;
    while width <= 16 {
        let group = 16 / width.next_power_of_two();
        let mut place = 0;
        while place < group * width {
            let (wide, grouped) = (place, place % width * group + place / width);
            let (to, from) = if back { (wide, grouped) } else { (grouped, wide) };
            tables[width as usize][to as usize] = from;
            place += 1;
        }
        width += 1;
    }
    tables
}

#[inline]
#[target_feature(enable = "avx2")]
fn permuted<const P: usize>(mut block: [__m256i; P], order: __m256i) -> [__m256i; P] {
    if P < 16 {
        for register in &mut block {
            *register = _mm256_shuffle_epi8(*register, order);
        }
    }
    block
}

/// Half `h` of register `k` holds the rows from `16 * h + k * 16 / P` on.
#[inline]
#[target_feature(enable = "avx2")]
fn read_rows<const P: usize>(from: &[u8], step: usize) -> [__m256i; P] {
    assert!(from.len() >= reach::<P>(step));
    let mut block = [_mm256_setzero_si256(); P];
    for (k, register) in block.iter_mut().enumerate() {
        let row = k * (16 / P);
        // SAFETY: `row` is at most `16 - 16 / P`, and the length has been checked for 16 more.
        let low = unsafe { load16_unchecked(from, row * step) };
        // SAFETY: `16 + row` is at most `ROWS - 16 / P`, which the length has been checked for.
        let high = unsafe { load16_unchecked(from, (16 + row) * step) };
        *register = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(low), high);
    }
    block
}

#[inline]
#[target_feature(enable = "avx2")]
fn write_rows<const P: usize>(block: [__m256i; P], to: &mut [u8], step: usize) {
    assert!(to.len() >= reach::<P>(step));
    // The lower rows first: their rubbish must be gone over by the upper ones.
    for (k, register) in block.iter().enumerate() {
        let (row, low) = (k * (16 / P), _mm256_castsi256_si128(*register));
        // SAFETY: `row` is at most `16 - 16 / P`, and the length has been checked for 16 more.
        unsafe { store16_unchecked(to, row * step, low) };
    }
    for (k, register) in block.iter().enumerate() {
        let (row, high) = (16 + k * (16 / P), _mm256_extracti128_si256::<1>(*register));
        // SAFETY: `row` is at most `ROWS - 16 / P`, which the length has been checked for.
        unsafe { store16_unchecked(to, row * step, high) };
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn read_streams<const P: usize>(from: &[u8], step: usize, count: usize) -> [__m256i; P] {
    let mut block = [_mm256_setzero_si256(); P];
    for (number, register) in block.iter_mut().enumerate() {
        if number < count {
            *register = load32(&from[number * step..]);
        }
    }
    block
}

#[inline]
#[target_feature(enable = "avx2")]
fn write_streams<const P: usize>(block: [__m256i; P], to: &mut [u8], step: usize, count: usize) {
    for (number, register) in block.iter().enumerate() {
        if number < count {
            store32(&mut to[number * step..], *register);
            prefetch(to, number * step + AHEAD_BYTES);
        }
    }
}

/// How far ahead of the stores to a stream its lines are asked for.
const AHEAD_BYTES: usize = 128;

/// Swaps registers with groups of `16 / P` bytes, in each half: log2 P rounds of zipping. Its own inverse.
#[inline]
#[target_feature(enable = "avx2")]
fn transposed<const P: usize>(mut block: [__m256i; P]) -> [__m256i; P] {
    let mut round = 1;
    while round < P {
        let mut next = [_mm256_setzero_si256(); P];
        for i in 0..P / 2 {
            (next[2 * i], next[2 * i + 1]) = zipped::<P>(block[i], block[i + P / 2]);
        }
        block = next;
        round *= 2;
    }
    block
}

/// Groups of `16 / P` bytes of `a` and `b` in turn, in each half.
#[inline]
#[target_feature(enable = "avx2")]
fn zipped<const P: usize>(a: __m256i, b: __m256i) -> (__m256i, __m256i) {
    match P {
        2 => (_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b)),
        4 => (_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b)),
        8 => (_mm256_unpacklo_epi16(a, b), _mm256_unpackhi_epi16(a, b)),
        _ => (_mm256_unpacklo_epi8(a, b), _mm256_unpackhi_epi8(a, b)),
    }
}
