//! Blocks of an array in a chunk: which items each holds, copied out of them and into them.
//!
//! Blocks stand one after another, the last axis fastest; one that the chunk's edge cuts has the shape of all others.

use coquina_kernels::boxes::{Axis, Steps, copy_box};

use crate::base::error::Result;

/// The most axes of an array.
const NDIM_MAX: usize = crate::frame::b2nd::NDIM_MAX;

/// A box that is cut into blocks, within an array that lies in C order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tiles {
    /// Items of the whole array along each axis.
    pub(super) shape: Vec<usize>,
    /// The first item of the box along each axis.
    pub(super) start: Vec<usize>,
    /// Items of the box along each axis, all within the array.
    pub(super) extent: Vec<usize>,
    /// Items of a block along each axis, at least 1.
    pub(super) block: Vec<usize>,
    /// Blocks from one to the next along each axis: those of the chunk, of which the box may be the front.
    pub(super) grid: Vec<usize>,
    pub(super) itemsize: usize,
}

/// The part of a block that lies within the box.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tile {
    /// Where the first item stands in the array along each axis, and how many there are.
    start: [usize; NDIM_MAX],
    len: [usize; NDIM_MAX],
}

impl Tiles {
    /// Bytes of a block.
    pub(super) fn block_bytes(&self) -> usize {
        self.block.iter().product::<usize>() * self.itemsize
    }

    /// Whether the items stand in the blocks, one after another, as they stand in the array, padding at the end aside.
    pub(super) fn are_in_order(&self) -> bool {
        let ndim = self.shape.len();
        let is_all = self.start.iter().all(|&start| start == 0) && self.extent == self.shape;
        // Single items, then one axis that is cut, then whole axes.
        let cut = (0..ndim).rev().find(|&axis| self.block[axis] != self.shape[axis]);
        let Some(cut) = cut else { return is_all };
        let outer = self.shape[..cut].iter().product::<usize>();
        let is_row = self.block[..cut].iter().all(|&n| n == 1);
        is_all && is_row && (outer == 1 || self.shape[cut].is_multiple_of(self.block[cut]))
    }

    /// Numbers of the blocks that hold items of the box, and which ones.
    pub(super) fn each(&self, mut each: impl FnMut(usize, &Tile) -> Result<()>) -> Result<()> {
        let counts: Vec<usize> = self.extent.iter().zip(&self.block).map(|(&n, &b)| n.div_ceil(b)).collect();
        for nth in 0..counts.iter().product() {
            let (mut left, mut number, mut step) = (nth, 0, 1);
            for (count, grid) in counts.iter().zip(&self.grid).rev() {
                number += left % count * step;
                left /= count;
                step *= grid;
            }
            each(number, &self.tile(number))?;
        }
        Ok(())
    }

    /// The block of this number and what of it lies within the box.
    pub(super) fn tile(&self, mut number: usize) -> Tile {
        let mut tile = Tile { start: [0; NDIM_MAX], len: [0; NDIM_MAX] };
        for axis in (0..self.shape.len()).rev() {
            let first = number % self.grid[axis] * self.block[axis];
            number /= self.grid[axis];
            tile.start[axis] = self.start[axis] + first;
            tile.len[axis] = self.block[axis].min(self.extent[axis].saturating_sub(first));
        }
        tile
    }

    /// Whether a block has no padding.
    pub(super) fn is_full(&self, tile: &Tile) -> bool {
        self.block.iter().zip(tile.len).all(|(&block, len)| block == len)
    }

    /// Copies the items of a block to their places in the array.
    pub(super) fn scatter(&self, tile: &Tile, block: &[u8], array: &mut [u8]) {
        self.with_axes(tile, |in_array, in_block| {
            let axes = self.axes(tile, in_array, in_block);
            copy_box(array, block, &axes, self.itemsize);
        });
    }

    /// Copies the items of a block from their places in the array.
    pub(super) fn gather(&self, tile: &Tile, array: &[u8], block: &mut [u8]) {
        self.with_axes(tile, |in_array, in_block| {
            let axes = self.axes(tile, in_block, in_array);
            copy_box(block, array, &axes, self.itemsize);
        });
    }

    /// Where the positions of each axis stand in the array, and in the block.
    fn with_axes(&self, tile: &Tile, work: impl FnOnce(&[(usize, usize)], &[(usize, usize)])) {
        let ndim = self.shape.len();
        let (mut in_array, mut in_block) = ([(0, 0); NDIM_MAX], [(0, 0); NDIM_MAX]);
        let (mut array_step, mut block_step) = (self.itemsize, self.itemsize);
        for axis in (0..ndim).rev() {
            in_array[axis] = (tile.start[axis] * array_step, array_step);
            in_block[axis] = (0, block_step);
            array_step *= self.shape[axis];
            block_step *= self.block[axis];
        }
        work(&in_array[..ndim], &in_block[..ndim]);
    }

    fn axes(&self, tile: &Tile, to: &[(usize, usize)], from: &[(usize, usize)]) -> Vec<Axis<'static>> {
        // Steps within buffers that exist are countable.
        let steps = |&(start, step): &(usize, usize)| Steps::Even { start, step: step.cast_signed() };
        let axes = tile.len.iter().zip(to).zip(from);
        axes.map(|((&len, to), from)| Axis { len, to: steps(to), from: steps(from) }).collect()
    }
}
