//! Makes chunks of a dataset of the blocks of an array.

use super::cut::Cut;
use super::meaning::{Meaning, ToStore};
use crate::base::error::Result;
use crate::base::pool::Job;
use crate::chunk::{self, BlockSource, ChunkShape, Params};
use crate::hdf5::{Blosc2Spec, Pipeline, wrap};
use crate::store::ChunkFormat;

/// Makes chunks of a dataset.
pub(super) struct Encoder {
    pipeline: Pipeline,
    cut: Cut,
    /// How chunks are encoded block by block, if blocks are tiles of a Blosc2 frame.
    tiles: Option<Blosc2Spec>,
    /// Whether the library runs the filters.
    pub(super) is_plain: bool,
    /// By what blocks are encoded, where each chunk says it.
    params: Option<Params>,
    /// What items mean, where it is not what is stored.
    meaning: Option<Meaning>,
}

impl ChunkFormat for Encoder {
    fn params(&self) -> Option<&Params> {
        self.params.as_ref()
    }

    fn is_blosc(&self) -> bool {
        false
    }

    fn encode(
        &self,
        blocks: &dyn BlockSource,
        shape: &ChunkShape<'_>,
        params: Option<&Params>,
        job: &Job<'_>,
    ) -> Result<Vec<u8>> {
        let rows = shape.rows();
        let seconds = self.meaning.as_ref().and_then(Meaning::seconds);
        let Some(seconds) = seconds else { return self.encode_stored(blocks, rows, params, job) };
        let blocks = ToStore::new(blocks, seconds);
        let encoded = self.encode_stored(&blocks, rows, params, job);
        blocks.checked(encoded)
    }

    fn decode(&self, stored: &[u8], out: &mut [u8], _job: &Job<'_>) -> Result<()> {
        let mut plain = vec![0; self.cut.chunk_bytes()];
        if self.is_plain {
            // Filters run when the library gets the items.
            plain.copy_from_slice(stored);
        } else {
            self.pipeline.decode(stored, 0, &mut plain)?;
        }
        if let Some(meaning) = &self.meaning {
            meaning.show(&mut plain);
        }
        let blocks = out.chunks_mut(self.cut.block_bytes().max(1)).enumerate();
        blocks.for_each(|(number, block)| self.cut.take(&plain, number, block));
        Ok(())
    }
}

impl Encoder {
    pub(super) fn new(pipeline: Pipeline, cut: Cut, is_plain: bool, meaning: Option<Meaning>) -> Self {
        let tiles = pipeline.blosc2().filter(|_| !is_plain && cut.is_tiles()).map(|spec| {
            let blocks = cut.blocks().get(..spec.dims.len()).unwrap_or_default();
            spec.with_blocks(blocks, cut.block_bytes())
        });
        let spec = tiles.as_ref().or(pipeline.blosc2()).filter(|_| !is_plain);
        let params = spec.map(|spec| spec.cut_params(cut.chunk_bytes()));
        Self { pipeline, cut, tiles, is_plain, params, meaning }
    }

    /// Encodes blocks of items as they are stored.
    fn encode_stored(
        &self,
        blocks: &dyn BlockSource,
        rows: u64,
        params: Option<&Params>,
        job: &Job<'_>,
    ) -> Result<Vec<u8>> {
        if let Some(spec) = &self.tiles {
            return self.encode_tiles(&spec.encoded_by(params), blocks, job);
        }
        let mut plain = vec![0; self.cut.chunk_bytes()];
        if self.cut.nblocks() == 1 && !self.cut.is_tiles() {
            blocks.fill(0, &mut plain);
        } else {
            let mut block = vec![0; self.cut.block_bytes()];
            for number in 0..self.cut.nblocks() {
                blocks.fill(number, &mut block);
                self.cut.put(&block, number, &mut plain);
            }
        }
        if self.is_plain { Ok(plain) } else { self.pipeline.encode_by(&plain, rows, params, job) }
    }

    /// Blocks are encoded as they are made.
    fn encode_tiles(&self, spec: &Blosc2Spec, blocks: &dyn BlockSource, job: &Job<'_>) -> Result<Vec<u8>> {
        let mut room = Vec::new();
        let bytes = self.cut.block_bytes().saturating_mul(self.cut.nblocks());
        let cbytes = chunk::encode_blocks_of(blocks, bytes, &spec.params, &mut room, job)?;
        room.truncate(cbytes);
        wrap(spec, room)
    }
}
