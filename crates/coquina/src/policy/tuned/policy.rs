//! Chunks whose codec, level and filters are chosen for each.
//!
//! In: the blocks of a chunk as they are to be, and what stood there. Out: the chunk by its own parameters. If fewer than
//! half of a chunk's blocks change, it keeps its codec and filters, so that its other blocks can stay as they are stored.
//! Invariant: choices are made in the order of the chunks, by whatever thread, so bytes do not depend on threads.

use std::sync::{Mutex, PoisonError};

use super::{Choice, Looks, Sampled, Tuner, one_item, repeated};
use crate::base::error::Result;
use crate::base::pool::Job;
use crate::base::sequencer::Ticket;
use crate::chunk::{BlockSource, ChunkShape, Header, Kind, Params, Plain, Unpadded};
use crate::policy::{EncodePolicy, NewChunk};
use crate::store::EncodedChunk;

/// What a goal says of the level of chunks whose codec stays: those of speed, of both alike, and of size.
const LEVELS: [(f64, u8); 3] = [(0.25, 1), (0.75, 5), (1.0, 9)];

/// Encodes each chunk as a tuner chooses.
#[derive(Clone, Copy)]
pub(crate) struct Tuned<'w> {
    /// What chooses.
    pub(crate) tuner: &'w Tuner,
    /// What is not chosen.
    pub(crate) params: &'w Params,
}

impl EncodePolicy for Tuned<'_> {
    fn encode(&self, chunk: &NewChunk<'_>, ticket: &Ticket<'_>, job: &Job<'_>) -> Result<EncodedChunk> {
        let Choice { params, is_uniform } = self.choose(chunk, ticket, job)?;
        // A chunk of which samples were one item over and over has no blocks if it is that as a whole.
        if is_uniform
            && chunk.may_repeat
            && chunk.format.is_blosc()
            && let Some(item) = item_of(chunk.blocks, &chunk.shape)
            && let Some(bytes) = repeated(&item, chunk.shape.chunk_bytes(), &params)?
        {
            let made = chunk.format.finished(bytes)?;
            return Ok(made.with_statistics(chunk.statistics_of_item(&item)));
        }
        chunk.encode_by(Some(&params), job)
    }
}

impl Tuned<'_> {
    /// How to encode a chunk. It is looked at now, and chosen for in its turn.
    fn choose(&self, chunk: &NewChunk<'_>, ticket: &Ticket<'_>, job: &Job<'_>) -> Result<Choice> {
        if let Some(header) = chunk.blocks.old_header().filter(|_| chunk.format.is_blosc())
            && 2 * chunk.blocks.written().len() < chunk.shape.blocks_inside()
            && let Some(params) = self.kept(&header)
        {
            return Ok(Choice { params, is_uniform: false });
        }
        // Those that are not written too: all are encoded anew.
        let unpadded = Unpadded { blocks: chunk.blocks, shape: &chunk.shape };
        let parts = BlockParts::new(&unpadded, chunk.shape.block_bytes, self.params);
        let numbers = parts.numbers(&chunk.shape.blocks_of_items());
        let sampled = parts.sampled(&numbers);
        let looks = Looks::of(&sampled, self.params);
        ticket.in_order(|| self.tuner.choose_for(&looks, &sampled, self.params, job))
    }

    /// The same for a chunk of these bytes, block behind block, by itself.
    pub(crate) fn choose_alone(&self, plain: &[u8], block_bytes: usize, job: &Job<'_>) -> Result<Choice> {
        let blocks = Plain { plain, block_bytes };
        let parts = BlockParts::new(&blocks, block_bytes, self.params);
        let numbers: Vec<usize> = (0..plain.len() / block_bytes.max(1)).collect();
        let numbers = parts.numbers(&numbers);
        self.tuner.choose_alone(&parts.sampled(&numbers), self.params, job)
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
fn item_of<B: BlockSource + ?Sized>(blocks: &B, shape: &ChunkShape<'_>) -> Option<Vec<u8>> {
    let mut item: Option<Vec<u8>> = None;
    let mut block = vec![0; shape.block_bytes];
    for number in 0..shape.nblocks {
        blocks.fill(number, &mut block);
        let is_same = shape.with_inside(number, &block, |inside| {
            let here = one_item(inside, shape.item_bytes);
            here.is_some_and(|here| item.get_or_insert_with(|| here.to_vec()) == here)
        });
        if is_same == Some(false) {
            return None;
        }
    }
    item
}

/// Blocks as they are encoded: parts of those of the array, which HDF5 may cut no further than into chunks.
struct BlockParts<'b> {
    blocks: &'b dyn BlockSource,
    block_bytes: usize,
    part_bytes: usize,
    /// The block of this number, of which several parts may be wanted.
    last: Mutex<Option<(usize, Vec<u8>)>>,
}

impl<'b> BlockParts<'b> {
    fn new(blocks: &'b dyn BlockSource, block_bytes: usize, params: &Params) -> Self {
        let part_bytes = params.blocksize.map_or(block_bytes, |bytes| bytes.clamp(1, block_bytes.max(1)));
        Self { blocks, block_bytes, part_bytes, last: Mutex::new(None) }
    }

    fn per_block(&self) -> usize {
        (self.block_bytes / self.part_bytes.max(1)).max(1)
    }

    /// The parts of these blocks.
    fn numbers(&self, blocks: &[usize]) -> Vec<usize> {
        let per_block = self.per_block();
        blocks.iter().flat_map(|block| block * per_block..(block + 1) * per_block).collect()
    }

    fn sampled<'s>(&'s self, numbers: &'s [usize]) -> Sampled<'s> {
        Sampled { source: self, numbers, block_bytes: self.part_bytes }
    }
}

impl BlockSource for BlockParts<'_> {
    fn fill(&self, number: usize, out: &mut [u8]) {
        if self.part_bytes == self.block_bytes {
            return self.blocks.fill(number, out);
        }
        let (block, part) = (number / self.per_block(), number % self.per_block());
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let (kept, bytes) = last.get_or_insert_with(|| (usize::MAX, vec![0; self.block_bytes]));
        if *kept != block {
            self.blocks.fill(block, bytes);
            *kept = block;
        }
        let start = part * self.part_bytes;
        out.copy_from_slice(&bytes[start..start + out.len()]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_the_bytes_of_the_blocks() {
        let plain: Vec<u8> = (0..48).collect();
        let blocks = Plain { plain: &plain, block_bytes: 16 };
        for (blocksize, part_bytes) in
            [(None, 16), (Some(4), 4), (Some(5), 5), (Some(16), 16), (Some(99), 16)]
        {
            let params = Params { blocksize, ..Params::default() };
            let parts = BlockParts::new(&blocks, 16, &params);
            let numbers = parts.numbers(&[0, 2]);
            let sampled = parts.sampled(&numbers);
            assert_eq!(sampled.block_bytes, part_bytes);
            let mut out = vec![0; part_bytes];
            let per_block = 16 / part_bytes;
            assert_eq!(numbers.len(), 2 * per_block);
            for (at, &number) in numbers.iter().enumerate() {
                sampled.source.fill(number, &mut out);
                let start = if at < per_block { at * part_bytes } else { 32 + (at - per_block) * part_bytes };
                assert_eq!(out, &plain[start..start + part_bytes], "{number}");
            }
        }
    }

    #[test]
    fn a_chunk_is_one_item_by_what_is_inside_the_shape() {
        let shape =
            ChunkShape { chunk: &[8], block: &[2], inside: &[5], item_bytes: 2, block_bytes: 4, nblocks: 4 };
        let mut plain = [7, 8].repeat(8);
        plain[10..].fill(0);
        let one = |plain: &[u8]| item_of(&Plain { plain, block_bytes: 4 }, &shape);
        assert_eq!(one(&plain), Some(vec![7, 8]));
        plain[9] = 1;
        assert_eq!(one(&plain), None);
        assert_eq!(one(&[0; 16]), Some(vec![0, 0]));
    }
}
