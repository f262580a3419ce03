//! A chunk that is to be encoded: its blocks as they are to be, those that stood there, and what is known of its items.
//!
//! Statistics are gathered from the blocks while they are on their way into the chunk and still in the cache. Blocks that
//! are taken over as they are stored do not pass: then what was known of the chunk before holds on, as limits, or
//! nothing is known.

use std::sync::{Mutex, PoisonError};

use coquina_kernels::Type;

use crate::base::error::Result;
use crate::base::pool::Job;
use crate::chunk::{BlockSource, ChunkShape, Header, Params};
use crate::store::{ChunkFormat, EncodedChunk, Statistics};

/// The blocks of a chunk as they are to be, over those that stood there.
pub(crate) trait ChunkBlocks: BlockSource {
    /// Fills `out` with block `number` as it was.
    fn fill_old(&self, number: usize, out: &mut [u8]);

    /// The numbers of the blocks that are written.
    fn written(&self) -> Vec<usize>;

    /// The stored bytes of block `number`, if they can stay as they are in a chunk encoded by these parameters.
    fn reused(&self, _number: usize, _params: &Params) -> Option<Vec<u8>> {
        None
    }

    /// The header of the Blosc chunk that stood there, if one did.
    fn old_header(&self) -> Option<Header>;
}

/// What is to be known of the items of a chunk.
#[derive(Clone, Copy)]
pub(crate) struct KnownItems<'c> {
    /// Their type.
    pub(crate) ty: Type,
    /// What is known of the items that stay, where some blocks are taken over as they are stored.
    pub(crate) before: &'c (dyn Fn() -> Option<Statistics> + Sync),
}

/// A chunk that is to be encoded.
#[derive(Clone, Copy)]
pub(crate) struct NewChunk<'c> {
    /// Its blocks.
    pub(crate) blocks: &'c dyn ChunkBlocks,
    /// How its items lie in them.
    pub(crate) shape: ChunkShape<'c>,
    /// Whether all of its items are written, so that nothing is left of what stood there.
    pub(crate) is_covered: bool,
    /// Whether it may become one item over and over where all of its items are the same.
    pub(crate) may_repeat: bool,
    /// What encodes it.
    pub(crate) format: &'c dyn ChunkFormat,
    /// The item that stands for what was never written, if the store has one.
    pub(crate) fill: Option<&'c [u8]>,
    /// What is to be known of its items, if the store keeps that.
    pub(crate) known: Option<KnownItems<'c>>,
}

impl NewChunk<'_> {
    /// Encodes it by these parameters, or by those of its array, and gathers what is to be known of it.
    ///
    /// # Errors
    /// As [`ChunkFormat::encode`].
    pub(crate) fn encode_by(&self, params: Option<&Params>, job: &Job<'_>) -> Result<EncodedChunk> {
        let used = params.or(self.format.params());
        // What passes must be what is decoded again.
        let known = self.known.filter(|_| used.is_some_and(|params| !params.is_lossy()));
        let seen = Seen { blocks: vec![false; known.map_or(0, |_| self.shape.nblocks)], statistics: None };
        let passing = Passing { chunk: self, used, ty: known.map(|known| known.ty), seen: Mutex::new(seen) };
        let bytes = self.format.encode(&passing, &self.shape, params, job)?;
        let made = self.format.finished(bytes)?;
        let Some(known) = known else { return Ok(made) };
        let seen = passing.seen.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(made.with_statistics(seen.with_others(&known)))
    }

    /// What is known of a chunk that decodes to these bytes, block behind block.
    pub(crate) fn statistics_of(&self, plain: &[u8]) -> Option<Statistics> {
        let ty = self.known?.ty;
        let blocks = plain.chunks(self.shape.block_bytes.max(1)).enumerate();
        let all = blocks.filter_map(|(number, block)| Statistics::of_block(ty, &self.shape, number, block));
        all.reduce(|a, b| a.and(ty, &b).unwrap_or(a))
    }

    /// What is known of a chunk that is this item over and over.
    pub(crate) fn statistics_of_item(&self, item: &[u8]) -> Option<Statistics> {
        Statistics::of_item(self.known?.ty, item)
    }

    /// All of its blocks, one behind another.
    pub(crate) fn plain(&self, job: &Job<'_>) -> Result<Vec<u8>> {
        self.gathered(|number, block| self.blocks.fill(number, block), job)
    }

    /// All of its blocks as they were, if some of its items stay.
    pub(crate) fn old_plain(&self, job: &Job<'_>) -> Result<Option<Vec<u8>>> {
        let old = || self.gathered(|number, block| self.blocks.fill_old(number, block), job);
        (!self.is_covered).then(old).transpose()
    }

    fn gathered(&self, fill: impl Fn(usize, &mut [u8]) + Sync, job: &Job<'_>) -> Result<Vec<u8>> {
        let bytes = self.shape.block_bytes;
        let mut plain = vec![0; self.shape.chunk_bytes()];
        job.run(plain.len(), plain.chunks_mut(bytes.max(1)).enumerate(), |(number, block)| {
            fill(number, block);
            Ok(bytes)
        })?;
        Ok(plain)
    }
}

/// The blocks of a chunk on their way into it.
struct Passing<'c> {
    chunk: &'c NewChunk<'c>,
    /// By what it is encoded.
    used: Option<&'c Params>,
    /// The type of its items, if something is to be known of them.
    ty: Option<Type>,
    seen: Mutex<Seen>,
}

/// What has passed.
struct Seen {
    blocks: Vec<bool>,
    statistics: Option<Statistics>,
}

impl Seen {
    /// What is known of them and of those that have not passed.
    fn with_others(&self, known: &KnownItems<'_>) -> Option<Statistics> {
        if self.blocks.iter().all(|&seen| seen) {
            return self.statistics;
        }
        // The others stay as they are stored, with items of which the old limits are true.
        let before = (known.before)()?;
        match &self.statistics {
            Some(statistics) => before.and(known.ty, statistics),
            None => Some(before),
        }
    }
}

impl BlockSource for Passing<'_> {
    fn fill(&self, number: usize, out: &mut [u8]) {
        self.chunk.blocks.fill(number, out);
        let Some(ty) = self.ty else { return };
        let new = Statistics::of_block(ty, &self.chunk.shape, number, out);
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(is_seen) = seen.blocks.get_mut(number) {
            *is_seen = true;
        }
        // To see a block once more makes no difference.
        seen.statistics = match (&seen.statistics, &new) {
            (Some(old), Some(new)) => old.and(ty, new),
            (old, new) => old.or(*new),
        };
    }

    fn encoded(&self, number: usize) -> Option<Vec<u8>> {
        self.chunk.blocks.reused(number, self.used?)
    }
}
