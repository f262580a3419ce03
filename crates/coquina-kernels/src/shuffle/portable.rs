//! Shuffle in blocks of 16 rows, with operations that compilers know on every CPU with 16-byte registers.
//!
//! A block is a matrix of 16 rows by `P` columns, `P` a power of two: `P` registers of 16 bytes. Seen as bits, the
//! number of a byte is (row: 4 bits, column: log2 P bits). Zipping register `i` with register `i + P / 2` into
//! registers `2 * i` and `2 * i + 1` turns that number left by one bit. So 4 rounds of it lead to (column, row),
//! the streams; and log2 P more of it lead back.

use super::register::{Register, load, store, zipped};
use super::{Layout, lead, starts, starts_with_lead};

/// The rows of a block.
pub(super) const ROWS: usize = 16;

/// `split` for 16 rows or more.
pub(super) fn split(layout: Layout, rows: &[u8], streams: &mut [u8]) {
    match layout.width {
        2 => split_narrow::<2>(layout, rows, streams),
        3 | 4 => split_narrow::<4>(layout, rows, streams),
        5..=8 => split_narrow::<8>(layout, rows, streams),
        9..=15 => split_narrow::<16>(layout, rows, streams),
        _ => {
            for row in starts_with_lead(layout.rows, ROWS, lead(layout, streams, ROWS)) {
                for column in starts(layout.width, 16) {
                    let block = read_rows(&rows[row * layout.row_step + column..], layout.row_step);
                    let to = &mut streams[column * layout.stream_step + row..];
                    write_streams::<16>(turned(block, 4), to, layout.stream_step, 16);
                }
            }
        }
    }
}

/// `join` for 16 rows or more.
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
                    let block = read_streams::<16>(from, layout.stream_step, 16);
                    let to = &mut rows[row * layout.row_step + column..];
                    write_rows(turned(block, 4), to, layout.row_step);
                }
            }
        }
    }
}

/// Widths up to `P`. Rows are read `P` bytes wide, so the last block goes through a padded copy.
fn split_narrow<const P: usize>(layout: Layout, rows: &[u8], streams: &mut [u8]) {
    let width = layout.width;
    for row in starts_with_lead(layout.rows, ROWS, lead(layout, streams, ROWS)) {
        let from = &rows[row * width..];
        let block = if width == P {
            read_rows::<P>(from, P)
        } else if from.len() >= (ROWS - 1) * width + P {
            read_rows::<P>(from, width)
        } else {
            let mut padded = [0; ROWS * 16];
            padded[..ROWS * width].copy_from_slice(&from[..ROWS * width]);
            read_rows::<P>(&padded, width)
        };
        write_streams(turned(block, 4), &mut streams[row..], layout.stream_step, width);
    }
}

/// Widths up to `P`. Rows are written `P` bytes wide, each over the rubbish after the one before; so the last block
/// goes through a padded copy.
fn join_narrow<const P: usize>(layout: Layout, streams: &[u8], rows: &mut [u8]) {
    let width = layout.width;
    let mut padded = [0; ROWS * 16];
    for row in starts(layout.rows, ROWS) {
        let block = turned(read_streams::<P>(&streams[row..], layout.stream_step, width), P.ilog2());
        let to = &mut rows[row * width..];
        if width == P {
            write_rows(block, to, P);
            continue;
        }
        let has_room = to.len() >= (ROWS - 1) * width + P;
        write_rows(block, if has_room { &mut *to } else { &mut padded[..] }, width);
        if !has_room {
            to[..ROWS * width].copy_from_slice(&padded[..ROWS * width]);
        }
    }
}

/// 16 rows of `P` bytes each, `16 / P` of them in a register.
#[inline(always)]
fn read_rows<const P: usize>(from: &[u8], step: usize) -> [Register; P] {
    let mut block = [load(&[0; 16]); P];
    for (k, register) in block.iter_mut().enumerate() {
        let from = &from[k * (16 / P) * step..];
        *register = if step == P || P == 16 {
            load(from)
        } else {
            let rows =
                (0..16 / P).rev().fold(0, |rows, row| rows << (8 * P) | row_at::<P>(&from[row * step..]));
            load(&rows.to_le_bytes())
        };
    }
    block
}

/// The first `P` bytes, fewer than 16, as a number.
#[inline(always)]
fn row_at<const P: usize>(from: &[u8]) -> u128 {
    let mut bytes = [0; 16];
    bytes[..P].copy_from_slice(&from[..P]);
    u128::from_le_bytes(bytes)
}

#[inline(always)]
fn write_rows<const P: usize>(block: [Register; P], to: &mut [u8], step: usize) {
    for (k, register) in block.into_iter().enumerate() {
        let to = &mut to[k * (16 / P) * step..];
        if step == P || P == 16 {
            store(to, register);
        } else {
            let mut rows = [0; 16];
            store(&mut rows, register);
            for (row, bytes) in rows.chunks_exact(P).enumerate() {
                to[row * step..][..P].copy_from_slice(bytes);
            }
        }
    }
}

#[inline(always)]
fn read_streams<const P: usize>(from: &[u8], step: usize, count: usize) -> [Register; P] {
    let mut block = [load(&[0; 16]); P];
    for (number, register) in block.iter_mut().enumerate() {
        if number < count {
            *register = load(&from[number * step..]);
        }
    }
    block
}

#[inline(always)]
fn write_streams<const P: usize>(block: [Register; P], to: &mut [u8], step: usize, count: usize) {
    for (number, register) in block.into_iter().enumerate() {
        if number < count {
            store(&mut to[number * step..], register);
        }
    }
}

/// `rounds` turns of the bytes' numbers by one bit to the left.
#[inline(always)]
fn turned<const P: usize>(mut block: [Register; P], rounds: u32) -> [Register; P] {
    for _round in 0..rounds {
        let mut next = block;
        for i in 0..P / 2 {
            (next[2 * i], next[2 * i + 1]) = zipped(block[i], block[i + P / 2]);
        }
        block = next;
    }
    block
}
