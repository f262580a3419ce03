//! Encodes the items of a chunk as its store does, and decodes them again: for what is tried before one is taken.

use crate::base::error::Result;
use crate::base::pool::Job;
use crate::chunk::Params;
use crate::policy::NewChunk;
use crate::policy::tuned::{self, Choice, Tuned};

/// Encodes items of one chunk.
pub(super) struct ChunkCoder<'c> {
    pub(super) chunk: &'c NewChunk<'c>,
    /// What chooses how they are encoded, if something does.
    pub(super) tuned: Option<Tuned<'c>>,
    pub(super) job: &'c Job<'c>,
}

impl ChunkCoder<'_> {
    /// How they are encoded without loss, if they are Blosc chunks: then other codecs and filters may be used too.
    pub(super) fn params(&self) -> Option<&Params> {
        self.chunk.format.params().filter(|_| self.chunk.format.is_blosc())
    }

    /// The stored bytes of a chunk; by these parameters, or without loss.
    pub(super) fn encode(&self, plain: &[u8], params: Option<&Params>) -> Result<Vec<u8>> {
        let NewChunk { format, shape, .. } = self.chunk;
        let (None, Some(tuned)) = (params, self.tuned) else {
            return format.encode_plain(plain, shape, params, self.job);
        };
        // What each chunk gets depends on its items alone, as they are after they have been rounded.
        let Choice { params, is_uniform } = tuned.choose_alone(plain, shape.block_bytes, self.job)?;
        if is_uniform
            && format.is_blosc()
            && let Some(item) = tuned::one_item(plain, params.typesize)
            && let Some(made) = tuned::repeated(item, plain.len(), &params)?
        {
            return Ok(made);
        }
        format.encode_plain(plain, shape, Some(&params), self.job)
    }

    /// Whether time counts for more than bytes, so that slow means do not pay.
    pub(super) fn is_for_speed(&self) -> bool {
        let is_blosc = self.chunk.format.is_blosc();
        is_blosc && self.tuned.is_some_and(|tuned| tuned.tuner.goal().tradeoff() < 0.5)
    }

    /// Fills `out` with the items of a chunk.
    pub(super) fn decode(&self, stored: &[u8], out: &mut [u8]) -> Result<()> {
        self.chunk.format.decode(stored, out, self.job)
    }
}
