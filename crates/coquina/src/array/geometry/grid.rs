//! How a shape is cut into chunks, and these into blocks.
//!
//! Source: `docs/formats/b2nd.md`, "Items in chunks in blocks".
//! Invariant: all products below have been checked: a grid that exists can be computed with.

use std::ops::Range;

use crate::base::error::{Error, Result};
use crate::base::layout::BlockLayout;
use crate::chunk::ChunkShape;
use crate::frame::b2nd::{Meta, Sizes};

/// A shape, its cut into chunks and blocks, and the bytes of an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grid {
    shape: Vec<u64>,
    chunks: Vec<u64>,
    blocks: Vec<u64>,
    typesize: usize,
    /// For each axis: what one step along it adds to the number of a chunk, of a block in its chunk, and to the
    /// place of an item in its block, in bytes.
    chunk_strides: Vec<u64>,
    block_strides: Vec<usize>,
    item_strides: Vec<usize>,
    nchunks: u64,
    blocks_per_chunk: usize,
    block_bytes: usize,
}

/// Strides in C order, of whole axes of `counts` with `unit` at the end, and the total.
fn strides(counts: &[usize], unit: usize) -> (Vec<usize>, usize) {
    let mut total = unit;
    let mut strides = vec![0; counts.len()];
    for (stride, count) in strides.iter_mut().zip(counts).rev() {
        *stride = total;
        total *= count;
    }
    (strides, total)
}

impl Grid {
    /// The grid of `shape` cut into `chunks` cut into `blocks`, of items of `typesize` bytes.
    ///
    /// # Errors
    /// `Invalid` for lists of different lengths or a size of zero where the shape has none, `Limit` for more axes,
    /// bytes or chunks than the format can count.
    pub fn new(shape: &[u64], chunks: &[u64], blocks: &[u64], typesize: usize) -> Result<Self> {
        if typesize == 0 {
            return Err(Error::invalid("items of 0 bytes: an item has at least one"));
        }
        let sizes = Sizes::of(shape, chunks, blocks, typesize).map_err(Error::limit)?;
        for (axis, ((&len, &chunk), &block)) in shape.iter().zip(chunks).zip(blocks).enumerate() {
            if len > 0 && (chunk == 0 || block == 0) {
                return Err(Error::invalid(format!("axis {axis}: chunks of {chunk}, blocks of {block}")));
            }
        }
        Ok(Self::with_strides(shape, chunks, blocks, typesize, sizes.nchunks))
    }

    fn with_strides(shape: &[u64], chunks: &[u64], blocks: &[u64], typesize: usize, nchunks: u64) -> Self {
        // All of these have been found to fit.
        let size = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        let axes = 0..shape.len();
        let per_chunk: Vec<usize> =
            axes.clone().map(|at| size(chunks[at].div_ceil(blocks[at].max(1)))).collect();
        let (block_strides, blocks_per_chunk) = strides(&per_chunk, 1);
        let block_items: Vec<usize> = blocks.iter().map(|&n| size(n)).collect();
        let (item_strides, block_bytes) = strides(&block_items, typesize);
        let mut total = 1;
        let mut chunk_strides = vec![0; shape.len()];
        for at in axes.rev() {
            chunk_strides[at] = total;
            total *= shape[at].div_ceil(chunks[at].max(1)).max(1);
        }
        Self {
            shape: shape.to_vec(),
            chunks: chunks.to_vec(),
            blocks: blocks.to_vec(),
            typesize,
            chunk_strides,
            block_strides,
            item_strides,
            nchunks,
            blocks_per_chunk,
            block_bytes,
        }
    }

    /// What a frame says of an array of this grid, but for its dtype.
    pub(crate) fn meta(&self) -> Meta {
        // A grid that exists has chunks that fit.
        let narrow = |sizes: &[u64]| sizes.iter().map(|&n| u32::try_from(n).unwrap_or(u32::MAX)).collect();
        Meta {
            shape: self.shape.clone(),
            chunks: narrow(&self.chunks),
            blocks: narrow(&self.blocks),
            dtype_format: 0,
            dtype: None,
        }
    }

    /// The same cut of another shape.
    ///
    /// # Errors
    /// As [`Grid::new`].
    pub fn resized(&self, shape: &[u64]) -> Result<Self> {
        Self::new(shape, &self.chunks, &self.blocks, self.typesize)
    }

    /// Items along each axis.
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// Items of a chunk along each axis.
    pub fn chunks(&self) -> &[u64] {
        &self.chunks
    }

    /// Items of a block along each axis.
    pub fn blocks(&self) -> &[u64] {
        &self.blocks
    }

    /// What codecs and filters are told of the blocks; of items of `dtype`, or of some dtype if that is empty.
    pub(crate) fn layout(&self, dtype: &str) -> BlockLayout {
        BlockLayout::new(&self.blocks, self.typesize, dtype)
    }

    /// How many axes.
    pub fn ndim(&self) -> usize {
        self.shape.len()
    }

    /// Bytes of an item.
    pub fn typesize(&self) -> usize {
        self.typesize
    }

    /// Items in all.
    pub fn size(&self) -> u64 {
        self.shape.iter().product()
    }

    /// How many chunks.
    pub fn nchunks(&self) -> u64 {
        self.nchunks
    }

    /// How many blocks a chunk has.
    pub fn blocks_per_chunk(&self) -> usize {
        self.blocks_per_chunk
    }

    /// Bytes of a block, padding included.
    pub fn block_bytes(&self) -> usize {
        self.block_bytes
    }

    /// Bytes of a chunk, padding included: every chunk has as many.
    pub fn chunk_bytes(&self) -> usize {
        self.block_bytes * self.blocks_per_chunk
    }

    pub(crate) fn chunk_stride(&self, axis: usize) -> u64 {
        self.chunk_strides[axis]
    }

    pub(crate) fn item_stride(&self, axis: usize) -> usize {
        self.item_strides[axis]
    }

    /// Where position `x` of an axis lies: what its chunk and block add to their numbers, and its place in the
    /// block in bytes.
    pub(crate) fn locate(&self, axis: usize, x: u64) -> Located {
        let (chunk, block) = (self.chunks[axis], self.blocks[axis]);
        let in_chunk = x % chunk;
        let small = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        Located {
            chunk: x / chunk * self.chunk_strides[axis],
            block: small(in_chunk / block) * self.block_strides[axis],
            place: small(in_chunk % block) * self.item_strides[axis],
            ahead: (block - in_chunk % block).min(chunk - in_chunk),
            behind: in_chunk % block + 1,
        }
    }

    /// Which of the blocks along an axis position `x` is in: they are numbered as they follow each other.
    pub(crate) fn block_along(&self, axis: usize, x: u64) -> usize {
        let (chunk, block) = (self.chunks[axis], self.blocks[axis]);
        let number = x / chunk * chunk.div_ceil(block) + x % chunk / block;
        usize::try_from(number).unwrap_or(usize::MAX)
    }

    /// The position of chunk `number` in the grid of chunks.
    pub(crate) fn chunk_at(&self, number: u64) -> Vec<u64> {
        let counts = self.shape.iter().zip(&self.chunks).map(|(&s, &c)| s.div_ceil(c.max(1)).max(1));
        counts.zip(&self.chunk_strides).map(|(count, stride)| number / stride % count).collect()
    }

    /// How many items of chunk `number` are inside the shape, along each axis.
    pub(crate) fn inside(&self, number: u64) -> Vec<u64> {
        self.region(number).into_iter().map(|range| range.end - range.start).collect()
    }

    /// A chunk of which so many items along each axis count.
    pub(crate) fn chunk_shape<'g>(&'g self, inside: &'g [u64]) -> ChunkShape<'g> {
        ChunkShape {
            chunk: &self.chunks,
            block: &self.blocks,
            inside,
            item_bytes: self.typesize,
            block_bytes: self.block_bytes,
            nblocks: self.blocks_per_chunk,
        }
    }

    /// Whether it holds all items of another shape of the same cut.
    pub(crate) fn holds_all_of(&self, old: &Self) -> bool {
        self.shape.iter().zip(&old.shape).all(|(new, old)| new >= old)
    }

    /// Whether chunks that are in both shapes, of the same cut, have the same numbers.
    pub(crate) fn numbers_as(&self, old: &Self) -> bool {
        self.chunk_strides == old.chunk_strides
    }

    /// The number that a chunk had in another shape of the same cut; `None` if it was not there.
    pub(crate) fn number_in(&self, old: &Self, number: u64) -> Option<u64> {
        if self == old {
            return Some(number);
        }
        if old.nchunks() == 0 {
            return None;
        }
        let mut total = 0;
        for (axis, at) in self.chunk_at(number).into_iter().enumerate() {
            if at * self.chunks[axis] >= old.shape[axis] {
                return None;
            }
            total += at * old.chunk_strides[axis];
        }
        Some(total)
    }

    /// The numbers in it of the chunks that lie in both shapes, and through which the edge of one of these axes moves
    /// where `old` becomes it; in order.
    pub(crate) fn edge_chunks(&self, old: &Self, axes: impl Iterator<Item = usize>) -> Vec<u64> {
        let mut numbers: Vec<u64> = axes.flat_map(|axis| self.edge_chunks_of(old, axis)).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }

    fn edge_chunks_of(&self, old: &Self, axis: usize) -> Vec<u64> {
        let mut numbers = vec![0];
        for at in 0..self.ndim() {
            let len = old.shape[at].min(self.shape[at]);
            let chunk = self.chunks[at].max(1);
            let chunks = len.div_ceil(chunk);
            let range = if at == axis { len / chunk..chunks } else { 0..chunks };
            let stride = self.chunk_strides[at];
            numbers = numbers.iter().flat_map(|n| range.clone().map(move |at| n + at * stride)).collect();
        }
        numbers
    }

    /// The items that chunk `number` holds, along each axis.
    pub fn region(&self, number: u64) -> Vec<Range<u64>> {
        let starts = self.chunk_at(number).into_iter().zip(&self.chunks).map(|(at, chunk)| at * chunk);
        let axes = starts.zip(&self.chunks).zip(&self.shape);
        axes.map(|((start, &chunk), &len)| start..(start + chunk).min(len)).collect()
    }
}

/// Where a position of an axis lies.
pub(crate) struct Located {
    pub(crate) chunk: u64,
    pub(crate) block: usize,
    pub(crate) place: usize,
    /// Positions from this one on, forwards and backwards, that lie in the same block; this one counts.
    pub(crate) ahead: u64,
    pub(crate) behind: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_the_format() {
        let grid = Grid::new(&[2, 5], &[2, 3], &[1, 2], 2).unwrap();
        assert_eq!((grid.nchunks(), grid.blocks_per_chunk()), (2, 4));
        assert_eq!((grid.block_bytes(), grid.chunk_bytes()), (4, 16));
        assert_eq!(grid.region(1), [0..2, 3..5]);
        let (row, column) = (grid.locate(0, 1), grid.locate(1, 2));
        assert_eq!((row.chunk + column.chunk, row.block + column.block, row.place + column.place), (0, 3, 0));
    }

    #[test]
    fn a_single_item_without_axes_is_one_chunk() {
        let grid = Grid::new(&[], &[], &[], 8).unwrap();
        assert_eq!((grid.nchunks(), grid.size(), grid.chunk_bytes()), (1, 1, 8));
    }

    #[test]
    fn no_items_need_no_chunk() {
        let grid = Grid::new(&[3, 0], &[3, 0], &[3, 0], 8).unwrap();
        assert_eq!((grid.nchunks(), grid.size(), grid.chunk_bytes()), (0, 0, 0));
    }

    #[test]
    fn sizes_that_overflow_are_refused() {
        let (big, huge) = (1_u64 << 40, i64::MAX.cast_unsigned());
        assert!(Grid::new(&[huge, 2], &[1, 1], &[1, 1], 1).is_err());
        assert!(Grid::new(&[huge], &[1], &[1], 8).is_err());
        assert!(Grid::new(&[big], &[big], &[1], 1).is_err());
        assert!(Grid::new(&[1; 17], &[1; 17], &[1; 17], 1).is_err());
        assert!(Grid::new(&[1], &[0], &[1], 1).is_err());
        assert!(Grid::new(&[1], &[1], &[1], 0).is_err());
        assert!(Grid::new(&[1], &[u64::MAX], &[u64::MAX], 1).is_err());
    }
}
