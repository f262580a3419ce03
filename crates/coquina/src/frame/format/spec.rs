//! What a new frame is to be.
//!
//! Source: `docs/formats/frame.md`, "Header".

use crate::base::error::{Error, Result};
use crate::chunk::Split;
use crate::codec::{self, LEVEL_MAX};
use crate::filter::{self, Pipeline, SLOTS};

/// Where a frame keeps its chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// All in one file, or in one buffer.
    Contiguous,
    /// A directory with a file for each chunk, and one for the rest.
    Sparse,
}

/// What a frame is made of, and the defaults that it keeps for chunks to come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spec {
    /// Bytes of an item, at least 1; the true size, also above 255.
    pub typesize: usize,
    /// Uncompressed bytes of every chunk but the last; 0 if each chunk has its own size.
    pub chunk_bytes: usize,
    /// Bytes of a block, 0 for automatic.
    pub blocksize: usize,
    /// The compressor id.
    pub codec_id: u8,
    /// The codec's parameter.
    pub codec_meta: u8,
    /// 0 to 9.
    pub level: u8,
    /// The filters.
    pub pipeline: Pipeline,
    /// Whether shuffled blocks are split.
    pub split: Split,
    /// Whether streams of a chunk share a dictionary.
    pub dictionary: bool,
    /// Names and contents; the names and lengths stay as they are as long as the frame lives.
    pub metalayers: Vec<(String, Vec<u8>)>,
    /// Whether blocks of chunks have sizes of their own, as in batches of values.
    pub has_variable_blocks: bool,
    /// Whether chunks get checksums.
    pub with_sums: bool,
    /// Whether what is known of the items of chunks is kept.
    pub with_statistics: bool,
}

impl Default for Spec {
    /// Single bytes in chunks of 1 MiB, Zstd level 1 after a shuffle, with sums and statistics.
    fn default() -> Self {
        Self {
            typesize: 1,
            chunk_bytes: 1 << 20,
            blocksize: 0,
            codec_id: 5,
            codec_meta: 0,
            level: 1,
            pipeline: Pipeline::last(crate::filter::SHUFFLE),
            split: Split::Auto,
            dictionary: false,
            metalayers: Vec::new(),
            has_variable_blocks: false,
            with_sums: true,
            with_statistics: true,
        }
    }
}

/// The most metalayers of a frame, of either sort, that C-Blosc2 reads and writes.
pub(crate) const METALAYERS_MAX: usize = 16;

impl Spec {
    /// Checks that the codec and the filters are here.
    ///
    /// # Errors
    /// `Unsupported` with the id of what is not, and how to get it.
    pub fn check_known(&self) -> Result<()> {
        codec::by_id(self.codec_id)?;
        self.pipeline
            .slots
            .iter()
            .filter(|slot| slot.id != 0)
            .try_for_each(|slot| filter::by_id(slot.id).map(drop))
    }

    pub(crate) fn check(&self) -> Result<()> {
        let within = |what: &str, bytes: usize, least: usize, most: usize| {
            if (least..=most).contains(&bytes) {
                return Ok(());
            }
            Err(Error::invalid(format!("{what} {bytes}: takes {least}..={most}")))
        };
        within("typesize", self.typesize, 1, crate::chunk::BLOCK_BYTES_MAX)?;
        within("chunk size", self.chunk_bytes, 0, crate::chunk::CHUNK_BYTES_MAX)?;
        within("blocksize", self.blocksize, 0, crate::chunk::BLOCK_BYTES_MAX)?;
        within("level", self.level.into(), 0, LEVEL_MAX.into())?;
        within("metalayers", self.metalayers.len(), 0, METALAYERS_MAX)
    }
}

const _: () = assert!(SLOTS == 6, "the header has six filter bytes");
