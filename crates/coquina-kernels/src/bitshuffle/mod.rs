//! Bit shuffle: puts the first bits of all elements together, then the second bits, and so on.
//!
//! In: `n * width` bytes, `n` a multiple of 8, and what is left over: up to 7 elements and a tail. Out: `8 * width`
//! rows of `n / 8` bytes; row `8 * j + k` holds bit `k` of byte `j` of every element. The rest is copied.
//! Source: `docs/formats/filters.md`, "Bitshuffle".
//! Invariant: `bitunshuffle(bitshuffle(x)) == x` for every length and every width.
//!
//! Three steps, each on a tile in a buffer on the stack: a byte shuffle; a transpose of each 8 by 8 bits, which
//! makes of the 8 elements' byte `j` the 8 row bytes for bits 0 to 7; and a byte shuffle of width 8, which puts
//! the row bytes of one bit together. The way back is the same from behind.

mod bits;

use crate::level::Level;
use crate::shuffle::{Layout, join, split};

/// The bytes of a tile; with its source and its destination it should fit in a first-level cache.
const TILE_BYTES: usize = 8192;

/// Memory for the streams of a tile, aligned to cache lines.
#[repr(align(64))]
struct Buffer([u8; TILE_BYTES]);

/// Columns shuffled at once; wider elements are cut, in units that [`split`] and [`join`] move at full speed.
const COLUMNS_MAX: usize = 16;

/// Shuffles the bits of the elements of `src`, the most that are a multiple of 8, into `dst` and copies the rest.
///
/// Panics if the lengths differ or `width` is 0.
pub fn bitshuffle(level: Level, width: usize, src: &[u8], dst: &mut [u8]) {
    assert_eq!(src.len(), dst.len(), "a filter never changes the length");
    let count = src.len() / width / 8 * 8;
    let (matrix, rest) = dst.split_at_mut(count * width);
    rest.copy_from_slice(&src[matrix.len()..]);
    let mut buffer = Buffer([0; TILE_BYTES]);
    for tile in tiles(width, count, lead(matrix, count)) {
        let streams = &mut buffer.0[..tile.columns * tile.elements];
        split(level, tile.as_elements(width), &src[tile.element * width + tile.column..], streams);
        bits::transpose(level, streams);
        for (j, stream) in streams.chunks_exact(tile.elements).enumerate() {
            split(level, tile.as_bit_rows(count), stream, &mut matrix[tile.bit_rows_start(j, count)..]);
        }
    }
}

/// The inverse of [`bitshuffle`].
///
/// Panics if the lengths differ or `width` is 0.
pub fn bitunshuffle(level: Level, width: usize, src: &[u8], dst: &mut [u8]) {
    assert_eq!(src.len(), dst.len(), "a filter never changes the length");
    let count = src.len() / width / 8 * 8;
    let (elements, rest) = dst.split_at_mut(count * width);
    rest.copy_from_slice(&src[elements.len()..]);
    let mut buffer = Buffer([0; TILE_BYTES]);
    for tile in tiles(width, count, 0) {
        let streams = &mut buffer.0[..tile.columns * tile.elements];
        for (j, stream) in streams.chunks_exact_mut(tile.elements).enumerate() {
            join(level, tile.as_bit_rows(count), &src[tile.bit_rows_start(j, count)..], stream);
        }
        bits::transpose(level, streams);
        join(level, tile.as_elements(width), streams, &mut elements[tile.element * width + tile.column..]);
    }
}

/// Some columns of some elements.
#[derive(Clone, Copy, Debug)]
struct Tile {
    /// The first element, a multiple of 8, and the number of elements, one as well.
    element: usize,
    elements: usize,
    /// The first column and the number of columns.
    column: usize,
    columns: usize,
}

impl Tile {
    /// Its elements as rows, its columns as streams in the tile buffer.
    fn as_elements(self, width: usize) -> Layout {
        Layout { width: self.columns, row_step: width, rows: self.elements, stream_step: self.elements }
    }

    /// One column: groups of 8 row bytes as rows, and the rows of the bit matrix as streams.
    fn as_bit_rows(self, count: usize) -> Layout {
        Layout { width: 8, row_step: 8, rows: self.elements / 8, stream_step: count / 8 }
    }

    /// Where the first bit row of column `j` of the tile starts in a matrix of `count` elements.
    fn bit_rows_start(self, j: usize, count: usize) -> usize {
        ((self.column + j) * 8 * count + self.element) / 8
    }
}

/// Tiles that cover `count` elements of `width` bytes, the first ones of `lead` elements if that is not 0; the last
/// columns are done twice if that keeps tiles wide.
fn tiles(width: usize, count: usize, lead: usize) -> impl Iterator<Item = Tile> {
    let columns = width.min(COLUMNS_MAX);
    let elements_max = TILE_BYTES / columns / 64 * 64;
    let first = (lead > 0).then_some((0, lead));
    let others = (lead..count).step_by(elements_max);
    let pieces = first.into_iter().chain(others.map(move |start| (start, elements_max.min(count - start))));
    pieces.flat_map(move |(element, elements)| {
        let starts = (0..width).step_by(columns).map(move |column| column.min(width - columns));
        starts.map(move |column| Tile { element, elements, column, columns })
    })
}

/// The elements to do apart so that all later tiles are written to whole cache lines, if there is such a number.
fn lead(matrix: &[u8], count: usize) -> usize {
    let offset = matrix.as_ptr().align_offset(64);
    let elements = if (count / 8).is_multiple_of(64) && offset < 64 { 8 * offset } else { 0 };
    elements.min(count)
}

#[cfg(test)]
mod tests;
