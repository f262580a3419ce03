//! How the chunks of a store are encoded: as Blosc chunks, or as its own.

use std::cell::Cell;

use super::change::EncodedChunk;
use crate::base::error::{Error, Result};
use crate::base::limits::Limits;
use crate::base::pool::Job;
use crate::base::scratch::with_scratch;
use crate::chunk::{self, BlockSource, Chunk, ChunkShape, Header, Kind, Params, Plain, Special};

/// Encodes the chunks of a store. An array has one from when its store is opened.
pub(crate) trait ChunkFormat: Send + Sync {
    /// By what chunks are encoded, with the size of a block, where each may have another codec and other filters.
    fn params(&self) -> Option<&Params>;

    /// Whether chunks are Blosc chunks as they are: of any codec and filters, whose blocks can be taken over.
    fn is_blosc(&self) -> bool;

    /// The stored bytes of a chunk with these blocks. `params` are those of [`ChunkFormat::params`] with another codec,
    /// level, other filters or another split, if they were chosen.
    ///
    /// # Errors
    /// `Unsupported` where there is no encoder for the format, `Limit`, `Cancelled`.
    fn encode(
        &self,
        blocks: &dyn BlockSource,
        shape: &ChunkShape<'_>,
        params: Option<&Params>,
        job: &Job<'_>,
    ) -> Result<Vec<u8>>;

    /// The same of blocks in memory, one behind another.
    ///
    /// # Errors
    /// As [`ChunkFormat::encode`].
    fn encode_plain(
        &self,
        plain: &[u8],
        shape: &ChunkShape<'_>,
        params: Option<&Params>,
        job: &Job<'_>,
    ) -> Result<Vec<u8>> {
        self.encode(&Plain { plain, block_bytes: shape.block_bytes }, shape, params, job)
    }

    /// A chunk as the store takes it.
    ///
    /// # Errors
    /// `Corrupt` for bytes that are no chunk.
    fn finished(&self, bytes: Vec<u8>) -> Result<EncodedChunk> {
        Ok(EncodedChunk::Bytes(bytes, None))
    }

    /// A chunk of so many bytes that is one item over and over, which needs no blocks if it is a Blosc chunk.
    ///
    /// # Errors
    /// `Limit` for more bytes than a chunk holds, `Unsupported` for what is no Blosc chunk.
    fn repeated(&self, _item: &[u8], _chunk_bytes: usize) -> Result<EncodedChunk> {
        Err(Error::unsupported("only Blosc chunks are one item without blocks"))
    }

    /// Fills `out` with the blocks of a chunk that was encoded, one behind another; what blocks have beyond the chunk is
    /// zeros.
    ///
    /// # Errors
    /// `Corrupt` for bytes that do not decode.
    fn decode(&self, stored: &[u8], out: &mut [u8], job: &Job<'_>) -> Result<()>;

    /// Shows `see` each block of a chunk that was encoded, with its number; by several threads.
    ///
    /// # Errors
    /// As [`ChunkFormat::decode`].
    fn decode_blocks(
        &self,
        stored: &[u8],
        shape: &ChunkShape<'_>,
        see: &(dyn Fn(usize, &[u8]) + Sync),
        job: &Job<'_>,
    ) -> Result<()> {
        with_scratch(shape.chunk_bytes(), |plain| {
            self.decode(stored, plain, job)?;
            let blocks = plain.chunks(shape.block_bytes.max(1)).enumerate();
            job.run(shape.chunk_bytes(), blocks, |(number, block)| {
                see(number, block);
                Ok(block.len())
            })
        })
    }
}

/// Blosc chunks, all of these parameters unless others are chosen.
pub(crate) struct BloscFormat(pub(crate) Params);

impl ChunkFormat for BloscFormat {
    fn params(&self) -> Option<&Params> {
        Some(&self.0)
    }

    fn is_blosc(&self) -> bool {
        true
    }

    fn encode(
        &self,
        blocks: &dyn BlockSource,
        shape: &ChunkShape<'_>,
        params: Option<&Params>,
        job: &Job<'_>,
    ) -> Result<Vec<u8>> {
        let params = params.unwrap_or(&self.0);
        let mut room = ENCODED.take();
        let cbytes = chunk::encode_blocks_of(blocks, shape.chunk_bytes(), params, &mut room, job)?;
        let bytes = room[..cbytes].to_vec();
        if room.len() <= ENCODED_BYTES_KEPT {
            ENCODED.set(room);
        }
        Ok(bytes)
    }

    fn encode_plain(
        &self,
        plain: &[u8],
        _shape: &ChunkShape<'_>,
        params: Option<&Params>,
        job: &Job<'_>,
    ) -> Result<Vec<u8>> {
        chunk::encode(plain, params.unwrap_or(&self.0), job)
    }

    /// One of a special value takes no bytes.
    fn finished(&self, bytes: Vec<u8>) -> Result<EncodedChunk> {
        let header = Header::read(&bytes, &Limits::default())?;
        match header.kind()? {
            Kind::Special(special) if special != Special::Value => Ok(EncodedChunk::Special(special)),
            _ => Ok(EncodedChunk::Bytes(bytes, None)),
        }
    }

    fn repeated(&self, item: &[u8], chunk_bytes: usize) -> Result<EncodedChunk> {
        if item.iter().all(|&byte| byte == 0) {
            return Ok(EncodedChunk::Special(Special::Zeros));
        }
        Ok(EncodedChunk::Bytes(chunk::encode_repeated(item, chunk_bytes, &self.0)?, None))
    }

    fn decode(&self, stored: &[u8], out: &mut [u8], job: &Job<'_>) -> Result<()> {
        Chunk::parse_in(&self.0.layout, stored, &Limits::default())?.decode_into(out, job)
    }

    /// A block is seen while it is in the cache, and no room for all of them is needed.
    fn decode_blocks(
        &self,
        stored: &[u8],
        shape: &ChunkShape<'_>,
        see: &(dyn Fn(usize, &[u8]) + Sync),
        job: &Job<'_>,
    ) -> Result<()> {
        let chunk = Chunk::parse_in(&self.0.layout, stored, &Limits::default())?;
        let bytes = shape.block_bytes;
        job.run(shape.chunk_bytes(), 0..shape.nblocks, |number| {
            with_scratch(bytes, |block| {
                chunk.decode_range(number * bytes, block, &Job::inline())?;
                see(number, block);
                Ok(bytes)
            })
        })
    }
}

/// More room than this is given back.
const ENCODED_BYTES_KEPT: usize = 40 << 20;

thread_local! {
    /// Room for a chunk on its way; kept, as fresh memory is slow to touch. No [`crate::base::scratch`], which touches all of
    /// what it gives.
    static ENCODED: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}
