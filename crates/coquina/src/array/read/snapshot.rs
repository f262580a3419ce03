//! An array as of one commit, as readers share it: its cut, its chunks, and what is kept of them.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use coquina_kernels::Type;

use super::ahead::{Ahead, Opening, chunks_ahead};
use super::block_cache::BlockCache;
use crate::array::geometry::Grid;
use crate::base::error::{Error, Result};
use crate::base::limits::Limits;
use crate::chunk::{BytePlanes, Header, Kind, LazyChunk, NextPlane, Params};
use crate::policy::Policies;
use crate::store::{Chunks, OpenChunk, Stored};

/// An array as of one moment.
#[derive(Clone)]
pub(crate) struct State {
    pub(crate) grid: Grid,
    pub(crate) chunks: Arc<dyn Chunks>,
    /// How chunks to come are encoded.
    pub(crate) policies: Policies,
}

/// What has been done for the reads of an array so far.
#[derive(Default)]
pub(crate) struct Counters {
    pub(crate) blocks_decoded: AtomicU64,
    pub(crate) blocks_cached: AtomicU64,
    pub(crate) planes_decoded: AtomicU64,
}

/// All that a read needs of an array, as of one commit.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a> {
    pub(crate) grid: &'a Grid,
    pub(crate) chunks: &'a dyn Chunks,
    pub(crate) cache: &'a BlockCache,
    pub(crate) limits: &'a Limits,
    pub(crate) counters: &'a Counters,
    /// Which chunks were opened lately, if the system is not told of chunks otherwise.
    pub(crate) ahead: Option<&'a Ahead>,
    /// The type of the items, if what is known of them is kept.
    pub(crate) statistics: Option<Type>,
}

/// What stands in a chunk: one item over and over, or blocks.
pub(crate) enum Content {
    Item(Arc<[u8]>),
    Blocks(u64, Arc<dyn OpenChunk>),
}

impl Source<'_> {
    /// What stands in chunk `number`.
    pub(crate) fn content(&self, number: u64) -> Result<Content> {
        let stored = self.chunks.chunk(number)?;
        let id = match &stored {
            Stored::Special(special) => return Ok(Content::Item(special.item(self.grid.typesize())?.into())),
            Stored::Item(item) => return Ok(Content::Item(Arc::clone(item))),
            Stored::At { id, .. } | Stored::Other { id } => *id,
        };
        if let Some(head) = self.cache.head(id) {
            return Ok(Content::Blocks(id, head));
        }
        self.tell_ahead(number);
        let head: Arc<dyn OpenChunk> = match stored {
            Stored::At { source, place, .. } => {
                let chunk = LazyChunk::open_in(&self.grid.layout(""), source, place, self.limits)?;
                self.check(chunk.header())?;
                let chunk = if self.chunks.are_ours() { chunk.trusted() } else { chunk };
                Arc::new(BloscChunk { chunk, block_bytes: self.grid.block_bytes() })
            }
            _ => self.chunks.open(number, self.limits)?,
        };
        self.cache.keep_head(id, &head);
        Ok(Content::Blocks(id, head))
    }

    /// Tells the system of the chunks that are likely to be read after this one.
    fn tell_ahead(&self, number: u64) {
        // What is far away is fetched in ways of its own.
        let Some(ahead) = self.ahead.filter(|_| self.chunks.remote().is_none()) else { return };
        let opening = Opening {
            chunk: number,
            decoded: self.counters.blocks_decoded.load(Ordering::Relaxed),
            blocks_per_chunk: self.grid.blocks_per_chunk() as u64,
        };
        let numbers = ahead.opened(&opening, chunks_ahead(self.grid.chunk_bytes()));
        self.chunks.will_read(numbers.start..numbers.end.min(self.grid.nchunks()));
    }

    /// A chunk must be cut as the array says it is.
    fn check(&self, header: &Header) -> Result<()> {
        let (nbytes, blocks) = (self.grid.chunk_bytes(), self.grid.blocks_per_chunk());
        // Stored and repeated bytes are in C order of blocks too, whatever block size their header has.
        if header.nbytes != nbytes || header.nblocks() != blocks && header.kind()? == Kind::Blocks {
            return Err(Error::corrupt(format!(
                "{} bytes in {} blocks: the array has chunks of {nbytes} bytes in {blocks} blocks",
                header.nbytes,
                header.nblocks(),
            )));
        }
        Ok(())
    }

    /// Decodes block `number` of a chunk into `out`.
    pub(crate) fn decode(&self, chunk: &dyn OpenChunk, number: usize, out: &mut [u8]) -> Result<()> {
        chunk.read_block(number, out)?;
        self.counters.blocks_decoded.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}

/// A Blosc chunk, cut as the array is.
struct BloscChunk {
    chunk: LazyChunk,
    block_bytes: usize,
}

impl OpenChunk for BloscChunk {
    fn read_block(&self, number: usize, out: &mut [u8]) -> Result<()> {
        // By bytes and not by number: a chunk that is stored as it is may say another block size.
        self.chunk.read(number * self.block_bytes, out).map(drop)
    }

    fn read_planes(&self, number: usize, planes: &mut BytePlanes, next: &mut NextPlane<'_>) -> Result<bool> {
        self.chunk.read_planes(number * self.block_bytes, planes, next)
    }

    fn places(&self, number: usize, places: &mut Vec<Range<u64>>) {
        let start = number * self.block_bytes;
        self.chunk.places(start..start + self.block_bytes, places);
    }

    fn reuse_encoded(&self, number: usize, params: &Params) -> Result<Option<Vec<u8>>> {
        if self.chunk.can_reuse(params) { self.chunk.encoded_block(number) } else { Ok(None) }
    }

    fn header(&self) -> Option<Header> {
        Some(*self.chunk.header())
    }

    fn memory_bytes(&self) -> usize {
        self.chunk.memory_bytes()
    }
}
