//! Reading chunks that are far away: what the touched blocks need is fetched in two questions, then decoded.
//!
//! The first question is for what says where the blocks of each chunk stand, and for whole chunks of which little
//! is not wanted; the second one for the blocks. Both are for many chunks at once: so many that what is fetched has
//! about [`HELD_BYTES`]. What was fetched is let go of when its blocks are decoded.
//! Invariant: decoding reads what was fetched; what a head does not say, or says wrongly, is asked for on its own.

use std::ops::Range;

use super::block_reader::BlockReader;
use super::snapshot::{Content, Source};
use crate::array::geometry::Touched;
use crate::base::error::Result;
use crate::base::held::Held;
use crate::base::pool::Job;
use crate::chunk::FIRST_READ_BYTES;
use crate::store::{Extent, Parts, Remote, Stored};

/// What is fetched for one pass of decoding.
const HELD_BYTES: u64 = 32 << 20;
/// More chunks are not looked at in one pass, however little they hold.
const PASS_CHUNKS_MAX: usize = 4096;
/// A chunk is fetched whole where up to so many of its bytes are not wanted: to ask twice takes longer.
const UNWANTED_BYTES_MAX: u64 = 64 << 10;
/// What tells of so many chunks is fetched at once by who goes from one to the next.
const HEADS_AHEAD: u64 = 32;
/// Bytes of a block's start, and of its sum.
const BLOCK_ENTRY_BYTES: u64 = 4;

/// About how many of a chunk's `len` bytes `wanted` of its blocks take.
fn wanted_share(len: u64, wanted: usize, blocks: usize) -> u64 {
    let (wanted, blocks) = (wanted as u64, blocks.max(1) as u64);
    if wanted >= blocks { len } else { len / blocks * wanted }
}

impl Source<'_> {
    /// What is to be fetched of a chunk before its blocks are asked for, if so many of them are wanted.
    fn first_parts(&self, extent: &Extent, wanted: usize, parts: &mut Vec<Range<u64>>) {
        let Range { start, end } = extent.bytes;
        let len = end.saturating_sub(start);
        let blocks = self.grid.blocks_per_chunk();
        let unwanted = len - wanted_share(len, wanted, blocks);
        match extent.parts {
            Parts::Blocks => {}
            Parts::EndsFirst(ends) if unwanted > UNWANTED_BYTES_MAX => {
                let entries = BLOCK_ENTRY_BYTES * blocks as u64;
                parts.push(start..end.min(start.saturating_add(ends.front + entries)));
                parts.push(end.saturating_sub(ends.back + entries).max(start)..end);
            }
            // Of what is shorter than a first read some that follows is read too.
            Parts::EndsFirst(_) => parts.push(start..end.max(start.saturating_add(FIRST_READ_BYTES as u64))),
            Parts::All => parts.push(start..end),
        }
    }

    /// How many blocks of a chunk hold items of the array; at its ends some are padding.
    fn blocks_with_items(&self, number: u64) -> usize {
        let region = self.grid.region(number);
        let counts = region.iter().zip(self.grid.blocks()).map(|(axis, &block)| {
            usize::try_from((axis.end - axis.start).div_ceil(block.max(1))).unwrap_or(usize::MAX)
        });
        counts.fold(1, usize::saturating_mul)
    }

    /// Whether the head of a chunk is kept.
    fn knows_head(&self, number: u64) -> Result<bool> {
        Ok(match self.chunks.chunk(number)? {
            Stored::At { id, .. } | Stored::Other { id } => self.cache.head(id).is_some(),
            Stored::Special(_) | Stored::Item(_) => true,
        })
    }

    /// Has all of a chunk fetched, if it is far away.
    pub(crate) fn hold_chunk(&self, number: u64) -> Result<Held> {
        let Some(remote) = self.chunks.remote() else { return Ok(Held::default()) };
        let extent = remote.extents.extent(number)?;
        remote.source.hold(extent.map(|extent| extent.bytes).as_slice())
    }

    /// Has what tells of a chunk fetched, if that is far away; `None` where it costs as much as to read the chunk.
    /// Who looks at one chunk looks at the next ones too: what tells of them is fetched with it, and kept.
    pub(crate) fn hold_head(&self, number: u64) -> Option<Held> {
        let Some(remote) = self.chunks.remote() else { return Some(Held::default()) };
        if self.knows_head(number).ok()? {
            return Some(Held::default());
        }
        let mut parts = Vec::new();
        self.add_head(remote, number, &mut parts)?;
        let last = self.chunks.nchunks().min(number.saturating_add(HEADS_AHEAD));
        let ahead: Vec<u64> =
            (number + 1..last).filter(|&next| self.add_head(remote, next, &mut parts).is_some()).collect();
        let held = remote.source.hold(&parts).ok()?;
        // One that is damaged says so when it is read.
        ahead.into_iter().for_each(|next| drop(self.content(next)));
        Some(held)
    }

    /// Adds what tells of a chunk, if that is not known and much less than all of it.
    fn add_head(&self, remote: Remote<'_>, number: u64, parts: &mut Vec<Range<u64>>) -> Option<()> {
        let extent = remote.extents.extent(number).ok()??;
        let is_small = extent.bytes.end.saturating_sub(extent.bytes.start) <= UNWANTED_BYTES_MAX;
        if is_small || !matches!(extent.parts, Parts::EndsFirst(_)) || self.knows_head(number).ok()? {
            return None;
        }
        self.first_parts(&extent, 0, parts);
        Some(())
    }
}

/// Chunks of which blocks are wanted, as many as are fetched at once.
#[derive(Default)]
struct Pass {
    chunks: Vec<Touched>,
    /// What is asked for before the places of blocks are known.
    first: Vec<Range<u64>>,
    bytes: u64,
}

impl BlockReader<'_> {
    /// Reads all touched blocks from a source that is far away.
    pub(crate) fn run_remote(&self, remote: Remote<'_>, job: &Job<'_>) -> Result<()> {
        let mut pass = Pass::default();
        for touched in self.plan.chunks() {
            let place = |e: crate::base::error::Error| e.at(format!("chunk {}", touched.chunk));
            let bytes = self.prepare(remote, &touched, &mut pass.first).map_err(place)?;
            pass.bytes = pass.bytes.saturating_add(bytes);
            pass.chunks.push(touched);
            if pass.bytes >= HELD_BYTES || pass.chunks.len() >= PASS_CHUNKS_MAX {
                self.run_pass(remote, std::mem::take(&mut pass), job)?;
            }
        }
        self.run_pass(remote, pass, job)
    }

    /// Adds what is to be asked of a chunk first; returns about how many bytes will be fetched of it.
    fn prepare(&self, remote: Remote<'_>, touched: &Touched, first: &mut Vec<Range<u64>>) -> Result<u64> {
        let Some(extent) = remote.extents.extent(touched.chunk)? else { return Ok(0) };
        let blocks = self.source.grid.blocks_per_chunk().max(1);
        // Blocks that are padding take next to no bytes: who wants all others wants the chunk.
        let is_whole = touched.nblocks() >= self.source.blocks_with_items(touched.chunk);
        let wanted = if is_whole { blocks } else { touched.nblocks() };
        let known = first.len();
        if !self.source.knows_head(touched.chunk)? {
            self.source.first_parts(&extent, wanted, first);
        }
        let asked: u64 = first[known..].iter().map(|part| part.end.saturating_sub(part.start)).sum();
        let len = extent.bytes.end.saturating_sub(extent.bytes.start);
        let share = if extent.parts == Parts::All { len } else { wanted_share(len, wanted, blocks) };
        // Small chunks are fetched as a whole, however few of their blocks are wanted.
        Ok(share.max(asked))
    }

    /// Fetches what the blocks of some chunks need, and decodes them.
    fn run_pass(&self, remote: Remote<'_>, pass: Pass, job: &Job<'_>) -> Result<()> {
        let _first = remote.source.hold(&pass.first)?;
        let mut places = Vec::new();
        let (mut groups, mut blocks) = (vec![0; self.plan.axes.len()], 0_usize);
        for touched in &pass.chunks {
            let content = self.source.content(touched.chunk);
            let content = content.map_err(|e| e.at(format!("chunk {}", touched.chunk)))?;
            blocks = blocks.saturating_add(touched.nblocks());
            let Content::Blocks(id, chunk) = content else { continue };
            for number in 0..touched.nblocks() {
                let block = touched.block(self.plan, number, &mut groups);
                if self.source.cache.block(id, block).is_none() {
                    chunk.places(block, &mut places);
                }
            }
        }
        let _blocks = remote.source.hold(&places)?;
        let total = blocks.saturating_mul(self.source.grid.block_bytes());
        self.run_all(pass.chunks.into_iter(), total, job)
    }
}
