//! How a chunk is to be written, and the shape that follows: block size, split, header fields.
//!
//! Source: `docs/formats/chunk.md`, "Writing".
//! Invariant: the plan depends on the parameters and the number of bytes only, never on this machine.

use super::header::{
    BLOCK_BYTES_MAX, FLAG_BITSHUFFLE, FLAG_DELTA, FLAG_NOT_SPLIT, FLAG_SHUFFLE, FLAGS_EXTENDED,
    FORMAT_SEE_CODEC, HEADER_BYTES, HEADER_BYTES_BLOSC1, Header, VERSION_BLOSC1, VERSION_BLOSC2,
};
use crate::base::error::{Error, Result};
use crate::base::layout::BlockLayout;
use crate::codec::{self, Codec, EncodeOptions, LEVEL_MAX, Shape, Streams};
use crate::filter::{BITSHUFFLE, BYTEDELTA, DELTA, Pipeline, SHUFFLE, SLOTS};

/// The most bytes that a Blosc2 chunk can hold: with its header they must be countable.
pub const CHUNK_BYTES_MAX: usize = i32::MAX as usize - HEADER_BYTES;
/// Fewer bytes are stored as they are.
const COMPRESS_BYTES_MIN: usize = 32;
const COMPRESS_BYTES_MIN_BLOSC1: usize = 128;
/// The largest item whose shuffled blocks are split, and the fewest items of a block that is.
const SPLIT_TYPESIZE_MAX: usize = 16;
const SPLIT_ITEMS_MIN: usize = 32;
const SPLIT_ITEMS_MIN_BLOSC1: usize = 128;
const KIB: usize = 1024;

/// Which library's chunks to write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Generation {
    /// 16-byte header: what C-Blosc reads. At most one filter, shuffle or bitshuffle.
    Blosc1,
    /// 32-byte header: what C-Blosc2 reads.
    #[default]
    Blosc2,
}

/// Whether shuffled blocks are cut into one stream per byte plane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Split {
    /// Where it pays, by the codec, level, filters and sizes.
    #[default]
    Auto,
    /// Always, if the typesize divides the block.
    Always,
    /// Never.
    Never,
}

/// How to write a chunk.
#[derive(Clone, Copy)]
pub struct Params {
    /// The codec.
    pub codec: &'static dyn Codec,
    /// 0 (store) to 9 (smallest).
    pub level: u8,
    /// Bytes of an item, at least 1.
    pub typesize: usize,
    /// The filters, in order.
    pub pipeline: Pipeline,
    /// Bytes of a block; `None` for the rule of the format.
    pub blocksize: Option<usize>,
    /// Whether blocks are split.
    pub split: Split,
    /// Whether all streams share a dictionary made from the data.
    pub dictionary: bool,
    /// Which library's chunks to write.
    pub generation: Generation,
    /// The codec's parameter byte, for those that have one.
    pub codec_meta: u8,
    /// Further options of a codec from outside, in its own words.
    pub codec_options: &'static str,
    /// The blocks of the array that chunks are to be of, for codecs and filters that work along its axes.
    pub layout: BlockLayout,
}

impl Default for Params {
    /// Zstd level 1 after byte shuffle of single bytes, as Blosc2 chunks: near the best balanced choice for most data.
    fn default() -> Self {
        let codec = codec::by_id(5).unwrap_or(codec::CODECS[0]);
        Self {
            codec,
            level: 1,
            typesize: 1,
            pipeline: Pipeline::last(SHUFFLE),
            blocksize: None,
            split: Split::Auto,
            dictionary: false,
            generation: Generation::Blosc2,
            codec_meta: 0,
            codec_options: "",
            layout: BlockLayout::default(),
        }
    }
}

impl Params {
    /// Checks the parameters against each other.
    ///
    /// # Errors
    /// `Invalid`, `Unsupported` or `Limit`, with what is allowed.
    pub fn check(&self) -> Result<()> {
        if self.level > LEVEL_MAX {
            return Err(Error::invalid(format!("level {}: takes 0..={LEVEL_MAX}", self.level)));
        }
        if self.typesize == 0 || self.typesize > BLOCK_BYTES_MAX {
            return Err(Error::invalid(format!("typesize {}: takes 1..={BLOCK_BYTES_MAX}", self.typesize)));
        }
        if let Some(bytes) = self.blocksize
            && !(1..=BLOCK_BYTES_MAX).contains(&bytes)
        {
            return Err(Error::invalid(format!("blocksize {bytes}: takes 1..={BLOCK_BYTES_MAX}")));
        }
        self.check_codec()?;
        if self.dictionary && !self.codec.takes_dictionary() {
            return Err(Error::invalid(format!("{}: takes no dictionary", self.codec.name())));
        }
        self.pipeline.for_encoding(self.header_typesize(), self.version(), &self.layout)?;
        self.codec.check(self.codec_meta, self.typesize, &self.layout)?;
        self.check_streams()?;
        if self.generation == Generation::Blosc1 { self.check_blosc1() } else { Ok(()) }
    }

    /// Checks that chunks of this generation are written with the codec.
    fn check_codec(&self) -> Result<()> {
        let name = self.codec.name();
        if self.generation == Generation::Blosc1 && self.codec.is_writable_in_blosc1()
            || self.codec.is_writable()
        {
            return Ok(());
        }
        if self.codec.is_writable_in_blosc1() {
            return Err(Error::unsupported(format!(
                "{name}: C-Blosc2 does not read it; it is written in Blosc1 chunks only (format=\"blosc1\", Bloscpack, filter \"blosc\")"
            )));
        }
        Err(Error::unsupported(format!("{name}: can be read, not written")))
    }

    /// Checks that the codec gets what it can work on, and that nothing depends on items that it loses.
    fn check_streams(&self) -> Result<()> {
        let name = self.codec.name();
        if self.codec.streams() == Streams::Items {
            if let Some(filter) = self.pipeline.first_undone() {
                let filter = filter.name();
                return Err(Error::invalid(format!(
                    "{name}: needs whole elements, and {filter} moves their bytes; use filters=\"nofilter\""
                )));
            }
            if self.split == Split::Always {
                return Err(Error::invalid(format!(
                    "{name}: needs whole elements, and split=\"always\" divides them"
                )));
            }
        }
        if self.codec.streams() == Streams::Planes && self.typesize > 1 && !self.is_planes() {
            return Err(Error::invalid(format!(
                "{name}: works on single bytes: elements of {} bytes need filters=\"shuffle\" and split streams",
                self.typesize
            )));
        }
        if self.pipeline.has(DELTA) && self.codec.is_lossy(self.codec_meta, self.codec_options) {
            return Err(Error::invalid(format!(
                "{name}: changes the block that delta refers to; leave out one of the two"
            )));
        }
        Ok(())
    }

    /// Whether shuffled items are cut into byte planes for a codec that needs these.
    fn is_planes(&self) -> bool {
        self.pipeline.has(SHUFFLE) && self.split != Split::Never && self.typesize <= usize::from(u8::MAX)
    }

    /// The same, but codec, filters and split are those of a chunk with this header, so that it can lend its blocks;
    /// `None` where nothing can be encoded so without loss.
    pub fn like(&self, header: &Header, level: u8) -> Option<Self> {
        let split = if header.flags & FLAG_NOT_SPLIT == 0 { Split::Always } else { Split::Never };
        let params = Self {
            codec: header.codec().ok()?,
            codec_meta: header.codec_meta,
            codec_options: "",
            pipeline: header.pipeline,
            dictionary: false,
            level,
            split,
            ..*self
        };
        (params.check().is_ok() && !params.is_lossy()).then_some(params)
    }

    /// Whether what is decoded may not be what was encoded.
    pub fn is_lossy(&self) -> bool {
        self.pipeline.is_lossy() || self.codec.is_lossy(self.codec_meta, self.codec_options)
    }

    /// Checks the parameters, and that a chunk can hold so many bytes.
    pub(super) fn check_input(&self, nbytes: usize) -> Result<()> {
        self.check()?;
        if nbytes > self.nbytes_max() {
            return Err(Error::limit(format!("{nbytes} bytes: a chunk holds {}", self.nbytes_max())));
        }
        Ok(())
    }

    fn check_blosc1(&self) -> Result<()> {
        let filters: Vec<u8> = self.pipeline.slots.iter().map(|s| s.id).filter(|&id| id != 0).collect();
        if !matches!(filters[..], [] | [SHUFFLE | BITSHUFFLE])
            || self.pipeline.slots.iter().any(|s| s.meta != 0)
        {
            return Err(Error::invalid("filters: a Blosc1 chunk takes none, shuffle or bitshuffle"));
        }
        if self.dictionary {
            return Err(Error::invalid("dictionary: a Blosc1 chunk has none"));
        }
        if self.codec.format() >= FORMAT_SEE_CODEC {
            let name = self.codec.name();
            return Err(Error::invalid(format!("{name}: a Blosc1 chunk cannot name it")));
        }
        Ok(())
    }

    /// The typesize as the header can hold it.
    fn header_typesize(&self) -> usize {
        if self.typesize > usize::from(u8::MAX) { 1 } else { self.typesize }
    }

    pub(super) fn version(&self) -> u8 {
        match self.generation {
            Generation::Blosc1 => VERSION_BLOSC1,
            Generation::Blosc2 => VERSION_BLOSC2,
        }
    }

    fn header_bytes(&self) -> usize {
        match self.generation {
            Generation::Blosc1 => HEADER_BYTES_BLOSC1,
            Generation::Blosc2 => HEADER_BYTES,
        }
    }

    /// The most bytes that a chunk can hold.
    fn nbytes_max(&self) -> usize {
        i32::MAX as usize - self.header_bytes()
    }

    /// The most bytes that a chunk of `nbytes` can take.
    pub fn bound(&self, nbytes: usize) -> usize {
        nbytes.saturating_add(self.header_bytes())
    }

    /// Whether so few bytes, or this level, are stored as they are.
    pub(super) fn stores(&self, nbytes: usize) -> bool {
        let min = match self.generation {
            Generation::Blosc1 => COMPRESS_BYTES_MIN_BLOSC1,
            Generation::Blosc2 => COMPRESS_BYTES_MIN,
        };
        self.level == 0 || nbytes < min
    }

    /// The header of a chunk of `nbytes`, with `cbytes` still to be filled in.
    pub(super) fn header(&self, nbytes: usize) -> Header {
        let blocksize = self.block_bytes(nbytes);
        let mut header = Header {
            version: self.version(),
            flags: 0,
            typesize: self.header_typesize(),
            nbytes,
            blocksize,
            cbytes: self.bound(nbytes),
            pipeline: self.pipeline,
            codec_id: self.codec.id(),
            codec_meta: self.codec_meta,
            flags2: 0,
            blosc2_flags: 0,
        };
        header.flags = self.filter_flags(blocksize) | self.codec.format().min(FORMAT_SEE_CODEC) << 5;
        if !self.is_split(blocksize) {
            header.flags |= FLAG_NOT_SPLIT;
        }
        header
    }

    fn filter_flags(&self, blocksize: usize) -> u8 {
        if self.generation == Generation::Blosc2 {
            return FLAGS_EXTENDED | if self.pipeline.has(DELTA) { FLAG_DELTA } else { 0 };
        }
        if self.pipeline.has(SHUFFLE) && self.header_typesize() > 1 {
            FLAG_SHUFFLE
        } else if self.pipeline.has(BITSHUFFLE) && blocksize >= self.header_typesize() {
            FLAG_BITSHUFFLE
        } else {
            0
        }
    }

    /// Whether blocks of `blocksize` bytes are cut into one stream per byte plane.
    fn is_split(&self, blocksize: usize) -> bool {
        let typesize = self.header_typesize();
        let auto = match self.generation {
            Generation::Blosc1 => {
                // What C-Blosc does by default; every reader follows the flag and these sizes.
                self.codec.format() != 4
                    && typesize <= SPLIT_TYPESIZE_MAX
                    && blocksize / typesize >= SPLIT_ITEMS_MIN_BLOSC1
            }
            Generation::Blosc2 => {
                self.codec.splits(self.level)
                    && self.pipeline.has(SHUFFLE)
                    && typesize <= SPLIT_TYPESIZE_MAX
                    && blocksize / typesize >= SPLIT_ITEMS_MIN
            }
        };
        match self.split {
            Split::Auto if self.codec.streams() == Streams::Planes => typesize > 1 && self.is_planes(),
            Split::Auto => auto,
            Split::Never => false,
            Split::Always => blocksize.is_multiple_of(typesize),
        }
    }

    /// Bytes of a block of a chunk of `nbytes`, the last one aside, which may be shorter.
    pub fn block_bytes(&self, nbytes: usize) -> usize {
        let bytes = match (self.blocksize, self.generation) {
            (Some(bytes), Generation::Blosc1) => bytes.max(COMPRESS_BYTES_MIN_BLOSC1),
            (Some(bytes), Generation::Blosc2) => bytes,
            (None, _) if nbytes < self.typesize => nbytes,
            (None, generation) => self.default_block_bytes(nbytes, generation),
        };
        let bytes = bytes.min(nbytes).max(1);
        if bytes > self.typesize { bytes - bytes % self.typesize } else { bytes }
    }

    fn default_block_bytes(&self, nbytes: usize, generation: Generation) -> usize {
        let bytes = if nbytes < 32 * KIB { nbytes } else { self.unsplit_block_bytes() };
        if self.level == 0 || !self.is_split(nbytes) {
            return bytes;
        }
        let split = match generation {
            Generation::Blosc1 => {
                return (bytes.min(256 * KIB) * self.header_typesize()).clamp(64 * KIB, 1024 * KIB);
            }
            Generation::Blosc2 => match self.level {
                0..=3 => 32 * KIB,
                4..=6 => 64 * KIB,
                7 => 128 * KIB,
                8 => 256 * KIB,
                _ => 512 * KIB,
            },
        };
        (split * self.header_typesize()).clamp(32 * KIB, 4096 * KIB)
    }

    /// Blocks grow with the level, and for codecs that look further back.
    fn unsplit_block_bytes(&self) -> usize {
        let high_ratio = self.codec.is_high_ratio();
        let bytes = if high_ratio { 64 * KIB } else { 32 * KIB };
        match self.level {
            0 => bytes / 4,
            1 => bytes / 2,
            2 => bytes,
            3 => bytes * 2,
            4 | 5 => bytes * 4,
            9 if high_ratio => bytes * 16,
            _ => bytes * 8,
        }
    }

    /// What streams look like after the filters.
    fn shape(&self) -> Shape {
        // Shuffling single bytes changes nothing.
        if self.pipeline.has(BITSHUFFLE) {
            Shape::BitPlanes
        } else if !self.pipeline.has(SHUFFLE) || self.header_typesize() == 1 {
            Shape::Plain
        } else if self.pipeline.has(BYTEDELTA) {
            Shape::DeltaPlanes
        } else {
            Shape::Planes
        }
    }

    /// What the codec is to make an encoder for.
    pub(super) fn encode_options<'a>(&self, dictionary: &'a [u8]) -> EncodeOptions<'a> {
        EncodeOptions {
            level: self.level,
            dictionary,
            shape: self.shape(),
            meta: self.codec_meta,
            typesize: self.header_typesize(),
            layout: self.layout,
            text: self.codec_options,
        }
    }
}

const _: () = assert!(SLOTS == 6, "the header has six filter bytes");
