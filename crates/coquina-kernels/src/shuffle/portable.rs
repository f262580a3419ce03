//! Shuffle in blocks of 16 rows, with operations that compilers know on every CPU with 16-byte registers.
//!
//! A block is a matrix of 16 rows by `P` columns, `P` a power of two: `P` registers of 16 bytes. Seen as bits, the
//! number of a byte is (row: 4 bits, column: log2 P bits). Zipping register `i` with register `i + P / 2` into
//! registers `2 * i` and `2 * i + 1` turns that number left by one bit. So 4 rounds of it lead to (column, row),
//! the streams; and log2 P more of it lead back.

use super::{Layout, starts};

/// The rows of a block.
pub(super) const ROWS: usize = 16;

type Register = [u8; 16];

/// `split` for 16 rows or more.
pub(super) fn split(layout: Layout, rows: &[u8], streams: &mut [u8]) {
    match layout.width {
        1 | 2 => split_narrow::<2>(layout, rows, streams),
        3 | 4 => split_narrow::<4>(layout, rows, streams),
        5..=8 => split_narrow::<8>(layout, rows, streams),
        9..=15 => split_narrow::<16>(layout, rows, streams),
        _ => {
            for row in starts(layout.rows, ROWS) {
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
        1 | 2 => join_narrow::<2>(layout, streams, rows),
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
    for row in starts(layout.rows, ROWS) {
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
    for row in starts(layout.rows, ROWS) {
        let block = read_streams::<P>(&streams[row..], layout.stream_step, width);
        let block = turned(block, P.ilog2());
        let to = &mut rows[row * width..];
        if width == P {
            write_rows(block, to, P);
        } else if to.len() >= (ROWS - 1) * width + P {
            write_rows(block, to, width);
        } else {
            let mut padded = [0; ROWS * 16];
            write_rows(block, &mut padded, width);
            to[..ROWS * width].copy_from_slice(&padded[..ROWS * width]);
        }
    }
}

/// 16 rows of `P` bytes each, `16 / P` of them in a register.
#[inline(always)]
fn read_rows<const P: usize>(from: &[u8], step: usize) -> [Register; P] {
    let mut block = [[0; 16]; P];
    for (row, to) in block.as_flattened_mut().chunks_exact_mut(P).enumerate() {
        to.copy_from_slice(&from[row * step..][..P]);
    }
    block
}

#[inline(always)]
fn write_rows<const P: usize>(block: [Register; P], to: &mut [u8], step: usize) {
    for (row, bytes) in block.as_flattened().chunks_exact(P).enumerate() {
        to[row * step..][..P].copy_from_slice(bytes);
    }
}

#[inline(always)]
fn read_streams<const P: usize>(from: &[u8], step: usize, count: usize) -> [Register; P] {
    let mut block = [[0; 16]; P];
    for (number, register) in block.iter_mut().enumerate().take(count) {
        register.copy_from_slice(&from[number * step..][..16]);
    }
    block
}

#[inline(always)]
fn write_streams<const P: usize>(block: [Register; P], to: &mut [u8], step: usize, count: usize) {
    for (number, register) in block.iter().enumerate().take(count) {
        to[number * step..][..16].copy_from_slice(register);
    }
}

/// `rounds` turns of the bytes' numbers by one bit to the left.
#[inline(always)]
fn turned<const P: usize>(mut block: [Register; P], rounds: u32) -> [Register; P] {
    for _round in 0..rounds {
        let mut next = [[0; 16]; P];
        for i in 0..P / 2 {
            (next[2 * i], next[2 * i + 1]) = zipped(block[i], block[i + P / 2]);
        }
        block = next;
    }
    block
}

/// The bytes of `a` and `b` in turn: those of the lower halves, and those of the upper ones.
#[inline(always)]
fn zipped(a: Register, b: Register) -> (Register, Register) {
    let (mut low, mut high) = ([0; 16], [0; 16]);
    for i in 0..8 {
        (low[2 * i], low[2 * i + 1]) = (a[i], b[i]);
        (high[2 * i], high[2 * i + 1]) = (a[i + 8], b[i + 8]);
    }
    (low, high)
}
