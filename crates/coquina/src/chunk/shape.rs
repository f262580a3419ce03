//! How the items of a chunk lie in its blocks, and which of them are inside the array: those of the others do not count.
//!
//! In: the cut of an array, and how many items of a chunk along each axis are inside its shape. Out: the items of any
//! block that count, where they stand in it, and all of them as runs.

use std::ops::Range;

use coquina_kernels::boxes::{Axis, Steps, copy_box};

use super::BlockSource;
use crate::base::scratch::with_scratch;

/// The items of a chunk that are inside the array, in its blocks.
#[derive(Clone, Copy)]
pub(crate) struct ChunkShape<'g> {
    /// Items of a chunk along each axis.
    pub(crate) chunk: &'g [u64],
    /// Items of a block along each axis.
    pub(crate) block: &'g [u64],
    /// Items of this chunk along each axis that are inside.
    pub(crate) inside: &'g [u64],
    /// Bytes of an item.
    pub(crate) item_bytes: usize,
    /// Bytes of a block, padding included.
    pub(crate) block_bytes: usize,
    /// How many blocks a chunk has.
    pub(crate) nblocks: usize,
}

impl ChunkShape<'_> {
    /// Bytes of a chunk, padding included.
    pub(crate) fn chunk_bytes(&self) -> usize {
        self.block_bytes * self.nblocks
    }

    /// Items along the first axis that are inside.
    pub(crate) fn rows(&self) -> u64 {
        self.inside.first().copied().unwrap_or(1)
    }

    /// Whether all items along the first axis are inside.
    pub(crate) fn has_all_rows(&self) -> bool {
        self.chunk.first().is_none_or(|&rows| self.rows() == rows)
    }

    /// Whether all blocks are full of items of the array, as they mostly are.
    pub(crate) fn is_full(&self) -> bool {
        let axes = self.inside.iter().zip(self.chunk).zip(self.block);
        axes.into_iter().all(|((inside, chunk), block)| inside == chunk && chunk.is_multiple_of(*block))
    }

    /// How many items of block `number` are inside, along each axis.
    pub(crate) fn inside_block(&self, mut number: usize) -> Vec<usize> {
        let mut counts = vec![0; self.inside.len()];
        let axes = self.chunk.iter().zip(self.block).zip(self.inside);
        for (count, ((&chunk, &block), &inside)) in counts.iter_mut().zip(axes).rev() {
            let blocks = usize::try_from(chunk.div_ceil(block.max(1))).unwrap_or(1).max(1);
            let start = (number % blocks) as u64 * block;
            *count = usize::try_from(inside.saturating_sub(start).min(block)).unwrap_or(usize::MAX);
            number /= blocks;
        }
        counts
    }

    /// Whether so many items along each axis are all of a block.
    fn is_block(&self, counts: &[usize]) -> bool {
        counts.iter().zip(self.block).all(|(&count, &block)| count as u64 == block)
    }

    /// Whether all items of block `number` are inside.
    pub(crate) fn is_inside(&self, number: usize) -> bool {
        self.is_block(&self.inside_block(number))
    }

    /// How many blocks have items of the array.
    pub(crate) fn blocks_inside(&self) -> usize {
        let all = 0..self.nblocks;
        if self.is_full() {
            return all.len();
        }
        all.filter(|&number| !self.inside_block(number).contains(&0)).count()
    }

    /// The blocks that have items of the array; those that are half full of them if there are any.
    pub(crate) fn blocks_of_items(&self) -> Vec<usize> {
        let all = 0..self.nblocks;
        if self.is_full() {
            return all.collect();
        }
        let full = self.block_bytes / self.item_bytes;
        let items = |number: usize| self.inside_block(number).iter().product::<usize>();
        let mut kept: Vec<(usize, usize)> = all.map(|number| (number, items(number))).collect();
        kept.retain(|&(_, items)| items > 0);
        if kept.iter().any(|&(_, items)| 2 * items >= full) {
            kept.retain(|&(_, items)| 2 * items >= full);
        }
        kept.into_iter().map(|(number, _)| number).collect()
    }

    /// Runs `work` with the items of block `number` that are inside, one behind another; `None` if none is.
    pub(crate) fn with_inside<T>(
        &self,
        number: usize,
        block: &[u8],
        work: impl FnOnce(&[u8]) -> T,
    ) -> Option<T> {
        let counts = self.inside_block(number);
        if counts.contains(&0) {
            return None;
        }
        let size = self.item_bytes;
        let items: usize = counts.iter().product();
        if items * size == block.len() {
            return Some(work(block));
        }
        // One run over a copy of those that count, since rows at the edge can be short.
        with_scratch(items * size, |inside| {
            self.copy_inside(&counts, block, inside, |stride| stride.packed);
            Some(work(inside))
        })
    }

    /// Copies the items of a block that are inside, of which so many are along each axis, to the same places of another.
    pub(crate) fn copy_in_place(&self, number: usize, from: &[u8], to: &mut [u8]) {
        let counts = self.inside_block(number);
        if !counts.contains(&0) {
            self.copy_inside(&counts, from, to, |stride| stride.in_block);
        }
    }

    /// Copies so many items along each axis out of a block, with the strides that `to` picks.
    fn copy_inside(&self, counts: &[usize], from: &[u8], out: &mut [u8], to: fn(&Strides) -> usize) {
        let mut strides = Strides { packed: self.item_bytes, in_block: self.item_bytes };
        let mut axes = Vec::with_capacity(counts.len());
        for (&len, &block) in counts.iter().zip(self.block).rev() {
            let even = |step: usize| Steps::Even { start: 0, step: step.cast_signed() };
            axes.push(Axis { len, to: even(to(&strides)), from: even(strides.in_block) });
            strides.packed *= len;
            strides.in_block *= usize::try_from(block).unwrap_or(usize::MAX);
        }
        axes.reverse();
        copy_box(out, from, &axes, self.item_bytes);
    }

    /// The items that are inside: runs, in the order of the blocks.
    pub(crate) fn runs(&self) -> Vec<Range<usize>> {
        let items = self.block_bytes / self.item_bytes;
        let mut runs: Vec<Range<usize>> = Vec::new();
        let mut push = |start: usize, len: usize| match runs.last_mut() {
            Some(last) if last.end == start => last.end += len,
            _ => runs.push(start..start + len),
        };
        for number in 0..self.nblocks {
            let start = number * items;
            let counts = self.inside_block(number);
            if self.is_block(&counts) {
                push(start, items);
                continue;
            }
            let Some((&row, outer)) = counts.split_last() else { continue };
            for at in 0..outer.iter().product() {
                push(start + self.place(outer, at), row);
            }
        }
        runs.retain(|run| !run.is_empty());
        runs
    }

    /// Where in a block row `at` of its items stands, of so many rows along each axis but the last.
    fn place(&self, outer: &[usize], mut at: usize) -> usize {
        let mut stride = 1;
        let mut place = 0;
        for (axis, &block) in self.block.iter().enumerate().rev() {
            if let Some(&len) = outer.get(axis) {
                place += at % len * stride;
                at /= len;
            }
            stride *= usize::try_from(block).unwrap_or(usize::MAX);
        }
        place
    }
}

/// Bytes from one item of an axis to the next.
struct Strides {
    /// Of items that stand one behind another.
    packed: usize,
    /// Of items in their block.
    in_block: usize,
}

/// Blocks at the edges with their items in place of the padding, so that nobody takes it for items.
pub(crate) struct Unpadded<'b> {
    /// The blocks as they are.
    pub(crate) blocks: &'b dyn BlockSource,
    /// Which of their items count.
    pub(crate) shape: &'b ChunkShape<'b>,
}

impl BlockSource for Unpadded<'_> {
    fn fill(&self, number: usize, out: &mut [u8]) {
        self.blocks.fill(number, out);
        let items = |inside: &[u8]| (inside.len() < out.len()).then(|| inside.to_vec());
        if let Some(items) = self.shape.with_inside(number, out, items).flatten() {
            for part in out.chunks_mut(items.len()) {
                part.copy_from_slice(&items[..part.len()]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Plain;
    use super::*;

    #[test]
    fn padding_is_not_seen() {
        let shape =
            ChunkShape { chunk: &[8], block: &[4], inside: &[5], item_bytes: 1, block_bytes: 4, nblocks: 2 };
        let plain = [1, 2, 3, 4, 5, 0, 0, 0];
        let blocks = Plain { plain: &plain, block_bytes: 4 };
        let unpadded = Unpadded { blocks: &blocks, shape: &shape };
        let mut out = [0; 4];
        unpadded.fill(0, &mut out);
        assert_eq!(out, [1, 2, 3, 4]);
        unpadded.fill(1, &mut out);
        assert_eq!(out, [5; 4]);
    }

    #[test]
    fn runs_are_the_items_that_each_block_counts() {
        let (chunk, block) = ([6, 8, 5], [4, 3, 2]);
        let item_bytes = 2;
        let (block_bytes, nblocks) = (24 * item_bytes, 2 * 3 * 3);
        for inside in [[6, 8, 5], [1, 1, 1], [5, 7, 4], [0, 8, 5], [4, 3, 2], [6, 2, 5]] {
            let shape = ChunkShape {
                chunk: &chunk,
                block: &block,
                inside: &inside,
                item_bytes,
                block_bytes,
                nblocks,
            };
            let count = |number| shape.inside_block(number).iter().product::<usize>();
            assert_eq!((0..nblocks).map(count).sum::<usize>() as u64, inside.iter().product::<u64>());
            let runs = shape.runs();
            assert!(runs.windows(2).all(|pair| pair[0].end < pair[1].start));
            let plain: Vec<u8> =
                (0..nblocks * block_bytes).map(|at| u8::try_from(at % 251).unwrap()).collect();
            let by_runs: Vec<u8> = runs
                .iter()
                .flat_map(|run| plain[run.start * item_bytes..run.end * item_bytes].to_vec())
                .collect();
            let by_blocks: Vec<u8> = plain
                .chunks(block_bytes)
                .enumerate()
                .filter_map(|(number, block)| shape.with_inside(number, block, <[u8]>::to_vec))
                .flatten()
                .collect();
            assert_eq!(by_runs, by_blocks, "{inside:?}");
        }
    }
}
