//! How each chunk of a write is to be encoded, where the array is tuned.
//!
//! In: the blocks of a chunk as they are to be, and what stood there. Out: its parameters. Of a chunk of which less
//! than half of the blocks is written, codec and filters stay, so that its other blocks can stay as they are stored.
//! Invariant: choices are made in the order of the chunks, by whatever thread, so bytes do not depend on threads.

use std::sync::{Mutex, PoisonError};

use super::grid::Grid;
use super::statistics::with_inside;
use crate::base::error::Result;
use crate::base::pool::Job;
use crate::base::turns::Turn;
use crate::chunk::{self, BlockSource, Header, Kind, Params, Plain};
use crate::tune::{self, Choice, Looks, Sampled, Tuner};

/// What a goal says of the level of chunks whose codec stays: those of speed, of both alike, and of size.
const LEVELS: [(f64, u8); 3] = [(0.25, 1), (0.75, 5), (1.0, 9)];

/// Chooses how the chunks of a write are encoded.
#[derive(Clone, Copy)]
pub(super) struct Chooser<'w> {
    pub(super) tuner: &'w Tuner,
    /// What is not chosen.
    pub(super) params: &'w Params,
    /// Whether blocks of a chunk that stood there are taken over as they are stored.
    pub(super) lends: bool,
}

/// A chunk that is to be encoded.
pub(super) struct Chosen<'c> {
    /// Its blocks as they are to be.
    pub(super) blocks: &'c dyn BlockSource,
    pub(super) grid: &'c Grid,
    /// Its number in the grid.
    pub(super) number: u64,
    /// Which blocks are written.
    pub(super) touched: Vec<usize>,
    /// The Blosc chunk that stood there, if there was one.
    pub(super) header: Option<Header>,
}

impl Chosen<'_> {
    /// Whether all blocks are full of items of the array, as they mostly are.
    fn is_full(&self) -> bool {
        let lens = lens(self.grid, self.number);
        let axes = lens.iter().zip(self.grid.chunks()).zip(self.grid.blocks());
        axes.into_iter().all(|((len, chunk), block)| len == chunk && chunk.is_multiple_of(*block))
    }

    /// How many blocks have items of the array.
    fn count(&self) -> usize {
        let all = 0..self.grid.blocks_per_chunk();
        if self.is_full() {
            return all.len();
        }
        let lens = lens(self.grid, self.number);
        all.filter(|&number| !self.grid.inside_block(&lens, number).contains(&0)).count()
    }

    /// Blocks that have items of the array, of those; of such as are half full of them if there are any.
    fn counting(&self, numbers: impl Iterator<Item = usize>) -> Vec<usize> {
        if self.is_full() {
            return numbers.collect();
        }
        let lens = lens(self.grid, self.number);
        let items = |number: usize| self.grid.inside_block(&lens, number).iter().product::<usize>();
        let full = self.grid.block_bytes() / self.grid.typesize();
        let mut kept: Vec<(usize, usize)> = numbers.map(|number| (number, items(number))).collect();
        kept.retain(|&(_, items)| items > 0);
        if kept.iter().any(|&(_, items)| 2 * items >= full) {
            kept.retain(|&(_, items)| 2 * items >= full);
        }
        kept.into_iter().map(|(number, _)| number).collect()
    }
}

/// Items of a chunk along each axis that are inside the shape.
fn lens(grid: &Grid, number: u64) -> Vec<u64> {
    grid.region(number).into_iter().map(|range| range.end - range.start).collect()
}

impl Chooser<'_> {
    /// How to encode a chunk. It is looked at now, and chosen for in its turn.
    pub(super) fn choose(&self, chunk: &Chosen<'_>, turn: &Turn<'_>, job: &Job<'_>) -> Result<Choice> {
        let all = 0..chunk.grid.blocks_per_chunk();
        if let Some(header) = chunk.header.filter(|_| self.lends)
            && 2 * chunk.touched.len() < chunk.count()
            && let Some(params) = self.kept(&header)
        {
            return Ok(Choice { params, is_uniform: false });
        }
        // Those that are not written too: all are encoded anew.
        let numbers = chunk.counting(all);
        let inside = Inside { blocks: chunk.blocks, grid: chunk.grid, lens: lens(chunk.grid, chunk.number) };
        let pieces = Pieces::new(&inside, chunk.grid.block_bytes(), self.params);
        let numbers = pieces.numbers(&numbers);
        let sampled = pieces.sampled(&numbers);
        let looks = Looks::of(&sampled, self.params);
        turn.take(|| self.tuner.choose_for(&looks, &sampled, self.params, job))
    }

    /// The same for a chunk of these bytes, block behind block, by itself.
    fn choose_alone(&self, plain: &[u8], block_bytes: usize, job: &Job<'_>) -> Result<Choice> {
        let blocks = Plain { plain, block_bytes };
        let pieces = Pieces::new(&blocks, block_bytes, self.params);
        let numbers: Vec<usize> = (0..plain.len() / block_bytes.max(1)).collect();
        let numbers = pieces.numbers(&numbers);
        self.tuner.choose_alone(&pieces.sampled(&numbers), self.params, job)
    }

    /// Parameters for a chunk of these bytes, block behind block, by itself.
    pub(super) fn params_alone(&self, plain: &[u8], block_bytes: usize, job: &Job<'_>) -> Result<Params> {
        Ok(self.choose_alone(plain, block_bytes, job)?.params)
    }

    /// A chunk of these bytes, block behind block, by itself.
    pub(super) fn encode_alone(&self, plain: &[u8], block_bytes: usize, job: &Job<'_>) -> Result<Vec<u8>> {
        let Choice { params, is_uniform } = self.choose_alone(plain, block_bytes, job)?;
        if is_uniform
            && let Some(item) = tune::one_item(plain, params.typesize)
            && let Some(made) = tune::repeated(item, plain.len(), &params)?
        {
            return Ok(made);
        }
        chunk::encode(plain, &params, job)
    }

    /// What encodes blocks as those of a chunk are.
    fn kept(&self, header: &Header) -> Option<Params> {
        if header.kind().ok()? != Kind::Blocks {
            return None;
        }
        // No header says by which level its blocks were made.
        let goal = self.tuner.goal().tradeoff();
        let (_, level) = LEVELS.into_iter().find(|(end, _)| goal <= *end)?;
        self.params.like(header, level)
    }
}

/// The item that all items of a chunk are that are inside the shape, if they are; all of its blocks are made.
pub(super) fn one_item(blocks: &dyn BlockSource, grid: &Grid, number: u64) -> Option<Vec<u8>> {
    let lens = lens(grid, number);
    let mut item: Option<Vec<u8>> = None;
    let mut block = vec![0; grid.block_bytes()];
    for number in 0..grid.blocks_per_chunk() {
        blocks.fill(number, &mut block);
        let is_same = with_inside(grid, &lens, (number, &block), |inside| {
            let here = tune::one_item(inside, grid.typesize());
            here.is_some_and(|here| item.get_or_insert_with(|| here.to_vec()) == here)
        });
        if is_same == Some(false) {
            return None;
        }
    }
    item
}

/// Blocks at the edges with their items in place of the padding, so that nobody takes it for items.
struct Inside<'b> {
    blocks: &'b dyn BlockSource,
    grid: &'b Grid,
    lens: Vec<u64>,
}

impl BlockSource for Inside<'_> {
    fn fill(&self, number: usize, out: &mut [u8]) {
        self.blocks.fill(number, out);
        let items = |inside: &[u8]| (inside.len() < out.len()).then(|| inside.to_vec());
        if let Some(items) = with_inside(self.grid, &self.lens, (number, out), items).flatten() {
            for part in out.chunks_mut(items.len()) {
                part.copy_from_slice(&items[..part.len()]);
            }
        }
    }
}

/// Blocks as they are encoded: parts of those of the array, which HDF5 may cut no further than into chunks.
struct Pieces<'b> {
    blocks: &'b dyn BlockSource,
    block_bytes: usize,
    piece_bytes: usize,
    /// The block of this number, of which several pieces may be wanted.
    last: Mutex<Option<(usize, Vec<u8>)>>,
}

impl<'b> Pieces<'b> {
    fn new(blocks: &'b dyn BlockSource, block_bytes: usize, params: &Params) -> Self {
        let piece_bytes = params.blocksize.map_or(block_bytes, |bytes| bytes.clamp(1, block_bytes.max(1)));
        Self { blocks, block_bytes, piece_bytes, last: Mutex::new(None) }
    }

    fn per_block(&self) -> usize {
        (self.block_bytes / self.piece_bytes.max(1)).max(1)
    }

    /// The pieces of these blocks.
    fn numbers(&self, blocks: &[usize]) -> Vec<usize> {
        let per_block = self.per_block();
        blocks.iter().flat_map(|block| block * per_block..(block + 1) * per_block).collect()
    }

    fn sampled<'s>(&'s self, numbers: &'s [usize]) -> Sampled<'s> {
        Sampled { source: self, numbers, block_bytes: self.piece_bytes }
    }
}

impl BlockSource for Pieces<'_> {
    fn fill(&self, number: usize, out: &mut [u8]) {
        if self.piece_bytes == self.block_bytes {
            return self.blocks.fill(number, out);
        }
        let (block, piece) = (number / self.per_block(), number % self.per_block());
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let (kept, bytes) = last.get_or_insert_with(|| (usize::MAX, vec![0; self.block_bytes]));
        if *kept != block {
            self.blocks.fill(block, bytes);
            *kept = block;
        }
        let start = piece * self.piece_bytes;
        out.copy_from_slice(&bytes[start..start + out.len()]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_the_bytes_of_the_blocks() {
        let plain: Vec<u8> = (0..48).collect();
        let blocks = Plain { plain: &plain, block_bytes: 16 };
        for (blocksize, piece_bytes) in
            [(None, 16), (Some(4), 4), (Some(5), 5), (Some(16), 16), (Some(99), 16)]
        {
            let params = Params { blocksize, ..Params::default() };
            let pieces = Pieces::new(&blocks, 16, &params);
            let numbers = pieces.numbers(&[0, 2]);
            let sampled = pieces.sampled(&numbers);
            assert_eq!(sampled.block_bytes, piece_bytes);
            let mut out = vec![0; piece_bytes];
            let per_block = 16 / piece_bytes;
            assert_eq!(numbers.len(), 2 * per_block);
            for (at, &number) in numbers.iter().enumerate() {
                sampled.source.fill(number, &mut out);
                let start =
                    if at < per_block { at * piece_bytes } else { 32 + (at - per_block) * piece_bytes };
                assert_eq!(out, &plain[start..start + piece_bytes], "{number}");
            }
        }
    }

    #[test]
    fn padding_is_not_seen() {
        let grid = Grid::new(&[5], &[8], &[4], 1).unwrap();
        let plain = [1, 2, 3, 4, 5, 0, 0, 0];
        let blocks = Plain { plain: &plain, block_bytes: 4 };
        let inside = Inside { blocks: &blocks, grid: &grid, lens: lens(&grid, 0) };
        let mut out = [0; 4];
        inside.fill(0, &mut out);
        assert_eq!(out, [1, 2, 3, 4]);
        inside.fill(1, &mut out);
        assert_eq!(out, [5; 4]);
    }

    #[test]
    fn a_chunk_is_one_item_by_what_is_inside_the_shape() {
        let grid = Grid::new(&[5], &[8], &[2], 2).unwrap();
        let mut plain = [7, 8].repeat(8);
        plain[10..].fill(0);
        let one = |plain: &[u8]| one_item(&Plain { plain, block_bytes: 4 }, &grid, 0);
        assert_eq!(one(&plain), Some(vec![7, 8]));
        plain[9] = 1;
        assert_eq!(one(&plain), None);
        assert_eq!(one(&[0; 16]), Some(vec![0, 0]));
    }
}
