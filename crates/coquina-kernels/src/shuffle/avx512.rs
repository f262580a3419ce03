//! Shuffle in blocks of 64 rows.
//!
//! Widths up to 16, with `P` the next power of two: `P` registers of `64 / P` rows each. One byte permutation groups
//! the columns of each register, then log2 P rounds of zipping swap registers with groups. Loads and stores of
//! rows are masked, so a width below its power of two needs no room after the last row.
//!
//! Widths above 16: tiles of 16 columns, as in the AVX2 variant, with four quarters in place of two halves. Not so
//! for `join`: with four stores per register, this was tried and found slower than the AVX2 variant.

use core::arch::x86_64::{__m512i, _mm512_castsi128_si512, _mm512_inserti32x4, _mm512_setzero_si512};
use core::arch::x86_64::{_mm512_permutex2var_epi32, _mm512_permutex2var_epi64, _mm512_permutexvar_epi8};
use core::arch::x86_64::{_mm512_unpackhi_epi8, _mm512_unpacklo_epi8};

use super::{Layout, lead, starts, starts_with_lead};
use crate::x86::{load_front, load16_unchecked, load64, prefetch, store_front, store64};

/// The rows of a block.
pub(super) const ROWS: usize = 64;

/// `split` for 64 rows or more.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
pub(super) fn split(layout: Layout, rows: &[u8], streams: &mut [u8]) {
    match layout.width {
        2 => split_narrow::<2>(layout, rows, streams),
        3 | 4 => split_narrow::<4>(layout, rows, streams),
        5..=8 => split_narrow::<8>(layout, rows, streams),
        9..=16 if layout.row_step == layout.width => split_narrow::<16>(layout, rows, streams),
        _ => {
            for row in starts_with_lead(layout.rows, ROWS, lead(layout, streams, ROWS)) {
                for column in starts(layout.width, 16) {
                    let from = &rows[row * layout.row_step + column..];
                    let block = transposed_tile(read_tile(from, layout.row_step));
                    let to = &mut streams[column * layout.stream_step + row..];
                    write_streams(block, to, layout.stream_step, 16);
                }
            }
        }
    }
}

/// Whether [`join`] takes this layout: 64 rows or more, side by side and up to 16 bytes wide.
pub(super) fn joins(layout: Layout) -> bool {
    layout.rows >= ROWS && layout.width <= 16 && layout.row_step == layout.width
}

/// `join` for the layouts that it [takes](joins).
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
pub(super) fn join(layout: Layout, streams: &[u8], rows: &mut [u8]) {
    match layout.width {
        2 => join_narrow::<2>(layout, streams, rows),
        3 | 4 => join_narrow::<4>(layout, streams, rows),
        5..=8 => join_narrow::<8>(layout, streams, rows),
        _ => join_narrow::<16>(layout, streams, rows),
    }
}

/// Widths up to `P`.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
fn split_narrow<const P: usize>(layout: Layout, rows: &[u8], streams: &mut [u8]) {
    let width = layout.width;
    let order = load64(&GROUP[width]);
    let piece = 64 / P * width;
    for row in starts_with_lead(layout.rows, ROWS, lead(layout, streams, ROWS)) {
        let from = &rows[row * width..][..ROWS * width];
        let mut block = [_mm512_setzero_si512(); P];
        for (k, register) in block.iter_mut().enumerate() {
            let bytes = &from[k * piece..];
            let read = if width == P { load64(bytes) } else { load_front(bytes, piece) };
            *register = _mm512_permutexvar_epi8(order, read);
        }
        write_streams(transposed(block), &mut streams[row..], layout.stream_step, width);
    }
}

/// Widths up to `P`.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
fn join_narrow<const P: usize>(layout: Layout, streams: &[u8], rows: &mut [u8]) {
    let width = layout.width;
    let order = load64(&SPREAD[width]);
    let piece = 64 / P * width;
    for row in starts(layout.rows, ROWS) {
        let block = transposed(read_streams::<P>(&streams[row..], layout.stream_step, width));
        let to = &mut rows[row * width..][..ROWS * width];
        for (k, register) in block.into_iter().enumerate() {
            let register = _mm512_permutexvar_epi8(order, register);
            let bytes = &mut to[k * piece..];
            if width == P {
                store64(bytes, register);
            } else {
                store_front(bytes, piece, register);
            }
        }
    }
}

/// For each width, the permutation of 64 bytes from rows of `width` bytes to groups of one column each, where the
/// number of groups is the next power of two.
static GROUP: [[u8; 64]; 17] = permutations(false);
/// The inverses.
static SPREAD: [[u8; 64]; 17] = permutations(true);

const fn permutations(back: bool) -> [[u8; 64]; 17] {
    let mut tables = [[0; 64]; 17];
    let mut width = 2_u8;
    while width <= 16 {
        let group = 64 / width.next_power_of_two();
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
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
fn read_streams<const P: usize>(from: &[u8], step: usize, count: usize) -> [__m512i; P] {
    let mut block = [_mm512_setzero_si512(); P];
    for (number, register) in block.iter_mut().enumerate() {
        if number < count {
            *register = load64(&from[number * step..]);
        }
    }
    block
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
fn write_streams<const P: usize>(block: [__m512i; P], to: &mut [u8], step: usize, count: usize) {
    for (number, register) in block.iter().enumerate() {
        if number < count {
            store64(&mut to[number * step..], *register);
            prefetch(to, number * step + AHEAD_BYTES);
        }
    }
}

/// How far ahead of the stores to a stream its lines are asked for.
const AHEAD_BYTES: usize = 128;

/// Swaps registers with groups of `64 / P` bytes: log2 P rounds of zipping. Its own inverse.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
fn transposed<const P: usize>(mut block: [__m512i; P]) -> [__m512i; P] {
    let mut round = 1;
    while round < P {
        let mut next = [_mm512_setzero_si512(); P];
        for i in 0..P / 2 {
            (next[2 * i], next[2 * i + 1]) = zipped::<P>(block[i], block[i + P / 2]);
        }
        block = next;
        round *= 2;
    }
    block
}

/// Groups of `64 / P` bytes of `a` and `b` in turn.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
fn zipped<const P: usize>(a: __m512i, b: __m512i) -> (__m512i, __m512i) {
    if P == 16 {
        let low = load64(&ZIP_4_BYTES[0]);
        let high = load64(&ZIP_4_BYTES[1]);
        return (_mm512_permutex2var_epi32(a, low, b), _mm512_permutex2var_epi32(a, high, b));
    }
    let [low, high] = match P {
        2 => &ZIP_32_BYTES,
        4 => &ZIP_16_BYTES,
        _ => &ZIP_8_BYTES,
    };
    let (low, high) = (load64(low), load64(high));
    (_mm512_permutex2var_epi64(a, low, b), _mm512_permutex2var_epi64(a, high, b))
}

/// Which parts of two registers make the zipped ones, in units of 4 bytes: bit 4 chooses the second.
static ZIP_4_BYTES: [[u8; 64]; 2] = zip_table(1, 4);
/// The same in units of 8 bytes: bit 3 chooses the second.
static ZIP_8_BYTES: [[u8; 64]; 2] = zip_table(1, 8);
static ZIP_16_BYTES: [[u8; 64]; 2] = zip_table(2, 8);
static ZIP_32_BYTES: [[u8; 64]; 2] = zip_table(4, 8);

/// The two tables that zip groups of `group` units of `unit_bytes` bytes, as little-endian numbers of that size.
const fn zip_table(group: u8, unit_bytes: u8) -> [[u8; 64]; 2] {
    let mut tables = [[0; 64]; 2];
    let units = 64 / unit_bytes;
    let mut place = 0;
    while place < 2 * units {
        // Group `g` of the zipped pair is group `g / 2` of the first register or, for odd `g`, of the second.
        let (g, inside) = (place / group, place % group);
        let source = g / 2 * group + inside + g % 2 * units;
        tables[(place / units) as usize][(place % units * unit_bytes) as usize] = source;
        place += 1;
    }
    tables
}

/// Quarter `q` of register `k` holds 16 columns of row `16 * q + k`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
fn read_tile(from: &[u8], step: usize) -> [__m512i; 16] {
    assert!(from.len() >= tile_reach(step));
    let mut block = [_mm512_setzero_si512(); 16];
    for (k, register) in block.iter_mut().enumerate() {
        // SAFETY: row `k` is one of the 64 that the length has been checked for.
        let row = unsafe { load16_unchecked(from, k * step) };
        *register = _mm512_castsi128_si512(row);
        // SAFETY: row `16 + k` is one of the 64 that the length has been checked for.
        let row = unsafe { load16_unchecked(from, (16 + k) * step) };
        *register = _mm512_inserti32x4::<1>(*register, row);
        // SAFETY: row `32 + k` is one of the 64 that the length has been checked for.
        let row = unsafe { load16_unchecked(from, (32 + k) * step) };
        *register = _mm512_inserti32x4::<2>(*register, row);
        // SAFETY: row `48 + k` is one of the 64 that the length has been checked for.
        let row = unsafe { load16_unchecked(from, (48 + k) * step) };
        *register = _mm512_inserti32x4::<3>(*register, row);
    }
    block
}

/// The bytes from the first of a tile to its last, for rows `step` bytes apart.
fn tile_reach(step: usize) -> usize {
    let reach = (ROWS - 1).checked_mul(step).and_then(|bytes| bytes.checked_add(16));
    reach.expect("a step between rows of one slice")
}

/// Swaps registers with bytes in each quarter: 4 rounds of zipping bytes. Its own inverse.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
fn transposed_tile(mut block: [__m512i; 16]) -> [__m512i; 16] {
    for _round in 0..4 {
        let mut next = [_mm512_setzero_si512(); 16];
        for i in 0..8 {
            next[2 * i] = _mm512_unpacklo_epi8(block[i], block[i + 8]);
            next[2 * i + 1] = _mm512_unpackhi_epi8(block[i], block[i + 8]);
        }
        block = next;
    }
    block
}
