//! How a chunk of HDF5 is cut into blocks, for arrays to work on.
//!
//! HDF5 knows no blocks. Where a filter has some that can be decoded alone, blocks are those; else a block is a slab
//! of neighbours in C order, mostly all of the chunk.

use std::ops::Range;

use coquina_kernels::boxes::{Axis, Steps, copy_box};

/// Blocks of a chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cut {
    chunks: Vec<u64>,
    blocks: Vec<u64>,
    typesize: usize,
    /// Blocks are slabs along this axis; else n-dimensional tiles, padded to full ones.
    axis: Option<usize>,
}

fn size(n: u64) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}

fn product(sizes: &[u64]) -> usize {
    sizes.iter().fold(1, |all: usize, &n| all.saturating_mul(size(n)))
}

impl Cut {
    /// Tiles of `blocks` items.
    pub(crate) fn tiles(chunks: &[u64], blocks: &[u64], typesize: usize) -> Self {
        Self { chunks: chunks.to_vec(), blocks: blocks.to_vec(), typesize, axis: None }
    }

    /// Slabs of at most `bytes` bytes, or one item.
    pub(crate) fn slabs(chunks: &[u64], typesize: usize, bytes: usize) -> Self {
        let mut blocks = chunks.to_vec();
        let mut axis = 0;
        // The first axis along which what stands behind one index is no more than asked for.
        while axis + 1 < chunks.len() && product(&chunks[axis + 1..]).saturating_mul(typesize) > bytes {
            blocks[axis] = chunks[axis].min(1);
            axis += 1;
        }
        if let Some(&len) = chunks.get(axis) {
            let row = product(&chunks[axis + 1..]).saturating_mul(typesize).max(1);
            blocks[axis] = len.min((bytes / row).max(1) as u64);
        }
        Self { chunks: chunks.to_vec(), blocks, typesize, axis: Some(axis) }
    }

    /// All of the chunk as one block.
    pub(crate) fn whole(chunks: &[u64], typesize: usize) -> Self {
        Self { chunks: chunks.to_vec(), blocks: chunks.to_vec(), typesize, axis: Some(0) }
    }

    /// Items of a block along each axis.
    pub(crate) fn blocks(&self) -> &[u64] {
        &self.blocks
    }

    pub(super) fn is_tiles(&self) -> bool {
        self.axis.is_none()
    }

    /// Bytes of an item.
    pub(super) fn item_bytes(&self) -> usize {
        self.typesize
    }

    /// Bytes of a chunk, without the padding of tiles.
    pub(super) fn chunk_bytes(&self) -> usize {
        product(&self.chunks).saturating_mul(self.typesize)
    }

    pub(super) fn block_bytes(&self) -> usize {
        product(&self.blocks).saturating_mul(self.typesize)
    }

    fn counts(&self) -> Vec<u64> {
        self.chunks.iter().zip(&self.blocks).map(|(&chunk, &block)| chunk.div_ceil(block.max(1))).collect()
    }

    pub(super) fn nblocks(&self) -> usize {
        product(&self.counts())
    }

    /// Where block `number` stands in a chunk in C order, if blocks are slabs.
    pub(super) fn range(&self, number: usize) -> Range<usize> {
        let Some(axis) = self.axis else { return 0..0 };
        let (Some(&len), Some(&block)) = (self.chunks.get(axis), self.blocks.get(axis)) else {
            return 0..self.typesize;
        };
        let row = product(&self.chunks[axis + 1..]) * self.typesize;
        let (len, block) = (size(len), size(block).max(1));
        let count = len.div_ceil(block).max(1);
        let (outer, at) = (number / count, number % count * block);
        let start = (outer * len + at) * row;
        start..start + block.min(len - at) * row
    }

    /// Fills `out` with the front of block `number` of a chunk in C order; what lies outside of the chunk is zeros.
    pub(super) fn take(&self, plain: &[u8], number: usize, out: &mut [u8]) {
        if self.axis.is_some() {
            let range = self.range(number);
            let bytes = range.len().min(out.len());
            out[..bytes].copy_from_slice(&plain[range.start..range.start + bytes]);
            out[bytes..].fill(0);
            return;
        }
        if out.len() == self.block_bytes() {
            return self.copy_tile(number, out, plain, true);
        }
        let mut block = vec![0; self.block_bytes()];
        self.copy_tile(number, &mut block, plain, true);
        out.copy_from_slice(&block[..out.len()]);
    }

    /// Puts block `number` to its place in a chunk in C order.
    pub(super) fn put(&self, block: &[u8], number: usize, plain: &mut [u8]) {
        if self.axis.is_some() {
            let range = self.range(number);
            plain[range.clone()].copy_from_slice(&block[..range.len()]);
        } else {
            self.copy_tile(number, plain, block, false);
        }
    }

    /// Copies what of a tile lies in the chunk, from the chunk to the tile or back.
    fn copy_tile(&self, mut number: usize, to: &mut [u8], from: &[u8], is_to_tile: bool) {
        let counts = self.counts();
        let (mut in_chunk, mut in_tile) = (self.typesize, self.typesize);
        let mut axes = Vec::with_capacity(counts.len());
        let mut start = 0;
        for axis in (0..counts.len()).rev() {
            let (chunk, block) = (size(self.chunks[axis]), size(self.blocks[axis]));
            let at = number % size(counts[axis]) * block;
            number /= size(counts[axis]);
            start += at * in_chunk;
            axes.push((block.min(chunk - at), in_chunk, in_tile));
            in_chunk *= chunk;
            in_tile *= block;
        }
        let even = |step: usize| Steps::Even { start: 0, step: step.cast_signed() };
        let axes: Vec<Axis<'_>> = axes
            .into_iter()
            .rev()
            .map(|(len, chunk, tile)| {
                let (to, from) = if is_to_tile { (tile, chunk) } else { (chunk, tile) };
                Axis { len, to: even(to), from: even(from) }
            })
            .collect();
        if is_to_tile {
            to.fill(0);
            copy_box(to, &from[start..], &axes, self.typesize);
        } else {
            copy_box(&mut to[start..], from, &axes, self.typesize);
        }
    }
}

/// Copies the front of each axis of a box in C order to another box in C order: what both have.
pub(super) fn copy_front(to: &mut [u8], to_shape: &[u64], from: &[u8], from_shape: &[u64], typesize: usize) {
    let (mut to_step, mut from_step) = (typesize, typesize);
    let mut axes = Vec::with_capacity(to_shape.len());
    for (&to_len, &from_len) in to_shape.iter().zip(from_shape).rev() {
        let even = |step: usize| Steps::Even { start: 0, step: step.cast_signed() };
        axes.push(Axis { len: size(to_len.min(from_len)), to: even(to_step), from: even(from_step) });
        to_step *= size(to_len);
        from_step *= size(from_len);
    }
    axes.reverse();
    copy_box(to, from, &axes, typesize);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cuts every chunk into blocks and puts them together again.
    fn check(cut: &Cut) {
        let plain: Vec<u8> = (0..cut.chunk_bytes()).map(|n| u8::try_from(n % 251).unwrap()).collect();
        let mut again = vec![0; plain.len()];
        let mut block = vec![9; cut.block_bytes()];
        for number in 0..cut.nblocks() {
            cut.take(&plain, number, &mut block);
            let mut front = vec![7; block.len() / 2];
            cut.take(&plain, number, &mut front);
            assert_eq!(front, block[..front.len()], "{cut:?}, front of block {number}");
            cut.put(&block, number, &mut again);
        }
        assert_eq!(again, plain, "{cut:?}");
    }

    #[test]
    fn blocks_make_up_the_chunk() {
        for chunks in [&[7_u64][..], &[5, 6], &[3, 1, 4], &[2, 3, 4, 5], &[]] {
            for typesize in [1, 3, 8] {
                check(&Cut::whole(chunks, typesize));
                for bytes in [1, 8, 20, 50, 1000] {
                    check(&Cut::slabs(chunks, typesize, bytes));
                }
                for most in [1, 2, 3, 10] {
                    let blocks: Vec<u64> = chunks.iter().map(|&len| len.min(most)).collect();
                    check(&Cut::tiles(chunks, &blocks, typesize));
                }
            }
        }
    }
}
