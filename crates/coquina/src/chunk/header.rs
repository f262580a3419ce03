//! The header of a chunk: 16 bytes as C-Blosc writes it, or 32 bytes as C-Blosc2 does.
//!
//! In: the first bytes of a chunk. Out: a [`Header`] whose fields have been checked against each other, so that
//! the arithmetic of its methods cannot overflow or divide by zero.
//! Source: `docs/formats/chunk.md`, "Header" and "What a reader checks".

use crate::base::bytes::ByteReader;
use crate::base::error::{Error, Result};
use crate::base::limits::Limits;
use crate::codec::{self, Codec};
use crate::filter::{BITSHUFFLE, DELTA, Pipeline, SHUFFLE, SLOTS, Slot};

/// Bytes of a Blosc1 header.
pub const HEADER_BYTES_BLOSC1: usize = 16;
/// Bytes of a Blosc2 header.
pub const HEADER_BYTES: usize = 32;
/// The largest block that the format knows.
pub const BLOCK_BYTES_MAX: usize = 536_866_816;

pub(super) const VERSION_BLOSC1: u8 = 2;
pub(super) const VERSION_BLOSC2: u8 = 5;
const VERSION_NEWEST: u8 = 6;
/// Alpha versions left rubbish in the last filter slot.
const VERSION_ALPHA: u8 = 3;

pub(super) const FLAG_SHUFFLE: u8 = 0x01;
pub(super) const FLAG_MEMCPYED: u8 = 0x02;
pub(super) const FLAG_BITSHUFFLE: u8 = 0x04;
pub(super) const FLAG_DELTA: u8 = 0x08;
pub(super) const FLAG_NOT_SPLIT: u8 = 0x10;
/// Both shuffle flags at once say that the header is a long one.
pub(super) const FLAGS_EXTENDED: u8 = FLAG_SHUFFLE | FLAG_BITSHUFFLE;
/// The stream format that says: see the codec byte.
pub(super) const FORMAT_SEE_CODEC: u8 = 6;

const FLAG2_VARIABLE_BLOCKS: u8 = 0x01;
pub(super) const BLOSC2_DICTIONARY: u8 = 0x01;
const BLOSC2_LAZY: u8 = 0x08;
const BLOSC2_INSTRUMENTED: u8 = 0x80;

/// What a chunk holds in place of blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Special {
    /// Zero bytes.
    Zeros,
    /// Quiet NaNs of the typesize, 4 or 8.
    Nans,
    /// The value that follows the header, over and over.
    Value,
    /// Nothing in particular; read as zeros.
    Uninit,
}

/// How the content of a chunk is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Filtered and encoded blocks of one size.
    Blocks,
    /// Filtered and encoded blocks that each have their own size.
    VariableBlocks,
    /// The bytes themselves.
    Memcpyed,
    /// A special value.
    Special(Special),
}

impl Kind {
    /// Whether there are encoded blocks.
    fn has_blocks(self) -> bool {
        matches!(self, Self::Blocks | Self::VariableBlocks)
    }
}

/// A checked chunk header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Version of the chunk format.
    pub version: u8,
    /// Byte 2, see `docs/formats/chunk.md`.
    pub flags: u8,
    /// Bytes of an item, 1..=255; items above 255 bytes have 1.
    pub typesize: usize,
    /// Bytes that the chunk decodes to.
    pub nbytes: usize,
    /// Bytes of a block as stored; of chunks with variable blocks, how many there are.
    pub blocksize: usize,
    /// Bytes of the whole chunk, header included.
    pub cbytes: usize,
    /// The filters.
    pub pipeline: Pipeline,
    /// Byte 22: the codec's id. Meaningful only where the stream format says so.
    pub codec_id: u8,
    /// Byte 23: the codec's parameter.
    pub codec_meta: u8,
    /// Byte 30.
    pub flags2: u8,
    /// Byte 31.
    pub blosc2_flags: u8,
}

impl Header {
    /// Reads and checks the header at the front of `bytes`, which need not hold the rest of the chunk.
    ///
    /// # Errors
    /// `Truncated` for fewer bytes than the header has, `Corrupt` or `Unsupported` for what its fields say,
    /// `Limit` for a chunk larger than `limits` allow.
    pub fn read(bytes: &[u8], limits: &Limits) -> Result<Self> {
        let header = Self::parse(bytes).and_then(Self::check).map_err(|e| e.at("chunk header"))?;
        limits.check_chunk(header.nbytes)?;
        Ok(header)
    }

    fn parse(bytes: &[u8]) -> Result<Self> {
        let mut r = ByteReader::new(bytes);
        let version = r.u8("version")?;
        let _versionlz = r.u8("versionlz")?;
        let flags = r.u8("flags")?;
        let mut header = Self {
            version,
            flags,
            typesize: r.u8("typesize")?.into(),
            nbytes: r.size_le("nbytes")?,
            blocksize: r.size_le("blocksize")?,
            cbytes: r.size_le("cbytes")?,
            pipeline: short_pipeline(flags),
            codec_id: 0,
            codec_meta: 0,
            flags2: 0,
            blosc2_flags: 0,
        };
        if header.is_extended() {
            let ids: [u8; SLOTS] = r.array("filters")?;
            header.codec_id = r.u8("codec")?;
            header.codec_meta = r.u8("codec_meta")?;
            let metas: [u8; SLOTS] = r.array("filters_meta")?;
            header.flags2 = r.u8("flags2")?;
            header.blosc2_flags = r.u8("blosc2_flags")?;
            header.pipeline.slots = std::array::from_fn(|i| Slot { id: ids[i], meta: metas[i] });
            if version <= VERSION_ALPHA {
                header.pipeline.slots[SLOTS - 1] = Slot::default();
            }
        }
        Ok(header)
    }

    fn check(self) -> Result<Self> {
        let corrupt = |what: String| Err(Error::corrupt(what));
        if !(VERSION_BLOSC1..=VERSION_NEWEST).contains(&self.version) {
            return Err(Error::unsupported(format!(
                "version {}: takes {VERSION_BLOSC1}..={VERSION_NEWEST} (not a Blosc chunk?)",
                self.version
            )));
        }
        if self.typesize == 0 {
            return corrupt("typesize: 0 is not a size".into());
        }
        if self.cbytes < self.len() {
            return corrupt(format!("cbytes: {} is less than the header's {}", self.cbytes, self.len()));
        }
        if self.blosc2_flags & BLOSC2_LAZY != 0 {
            return corrupt("blosc2_flags: lazy chunks exist in memory only".into());
        }
        if self.blosc2_flags & BLOSC2_INSTRUMENTED != 0 {
            return Err(Error::unsupported(
                "blosc2_flags: an instrumented chunk holds measurements, not data",
            ));
        }
        if self.flags2 & !FLAG2_VARIABLE_BLOCKS != 0 {
            return Err(Error::unsupported(format!("flags2: {:#04x} has unknown bits", self.flags2)));
        }
        self.check_kind()
    }

    fn check_kind(self) -> Result<Self> {
        let stored = self.cbytes - self.len();
        match self.kind()? {
            Kind::VariableBlocks if self.blocksize == 0 || self.nbytes == 0 => {
                Err(Error::corrupt(format!("blocksize: {} variable blocks", self.blocksize)))
            }
            Kind::VariableBlocks => self.check_bstarts(),
            _ if self.nbytes == 0 && stored == 0 => Ok(self),
            _ if self.blocksize == 0 || self.blocksize > BLOCK_BYTES_MAX => {
                Err(Error::corrupt(format!("blocksize: {} is not a block's", self.blocksize)))
            }
            Kind::Blocks if self.nbytes == 0 => {
                Err(Error::corrupt(format!("cbytes: {} for an empty chunk", self.cbytes)))
            }
            Kind::Blocks => self.check_bstarts(),
            Kind::Memcpyed if stored != self.nbytes => {
                let nbytes = self.nbytes;
                Err(Error::corrupt(format!("cbytes: a stored chunk of {nbytes} bytes holds {stored}")))
            }
            Kind::Memcpyed => Ok(self),
            Kind::Special(special) => self.check_special(special, stored),
        }
    }

    fn check_bstarts(self) -> Result<Self> {
        if self.bstarts_end() > self.cbytes as u64 {
            let (nblocks, cbytes) = (self.nblocks(), self.cbytes);
            return Err(Error::corrupt(format!("cbytes: {cbytes} cannot hold {nblocks} block starts")));
        }
        Ok(self)
    }

    fn check_special(self, special: Special, stored: usize) -> Result<Self> {
        let (nbytes, typesize) = (self.nbytes, self.typesize);
        let fits = match special {
            Special::Zeros => stored == 0,
            Special::Nans => stored == 0 && matches!(typesize, 4 | 8) && nbytes % typesize == 0,
            Special::Uninit => stored == 0 && nbytes % typesize == 0,
            Special::Value => stored > 0 && stored <= nbytes && nbytes % stored == 0,
        };
        if fits {
            return Ok(self);
        }
        Err(Error::corrupt(format!(
            "special value {special:?}: {nbytes} bytes of typesize {typesize}, {stored} bytes stored"
        )))
    }

    /// Appends the header's bytes.
    pub(super) fn write(&self, out: &mut [u8; HEADER_BYTES]) -> usize {
        let size = |n: usize| u32::try_from(n).unwrap_or(u32::MAX).to_le_bytes();
        out[0] = self.version;
        out[1] = 1;
        out[2] = self.flags;
        out[3] = u8::try_from(self.typesize).unwrap_or(1);
        out[4..8].copy_from_slice(&size(self.nbytes));
        out[8..12].copy_from_slice(&size(self.blocksize));
        out[12..16].copy_from_slice(&size(self.cbytes));
        if self.is_extended() {
            out[16..22].copy_from_slice(&self.pipeline.slots.map(|slot| slot.id));
            out[22] = self.codec_id;
            out[23] = self.codec_meta;
            out[24..30].copy_from_slice(&self.pipeline.slots.map(|slot| slot.meta));
            out[30] = self.flags2;
            out[31] = self.blosc2_flags;
        }
        self.len()
    }

    /// Whether this is the long header of Blosc2.
    pub fn is_extended(&self) -> bool {
        self.flags & FLAGS_EXTENDED == FLAGS_EXTENDED
    }

    /// The header's own bytes, 16 or 32.
    #[expect(clippy::len_without_is_empty, reason = "a header is never empty")]
    pub fn len(&self) -> usize {
        if self.is_extended() { HEADER_BYTES } else { HEADER_BYTES_BLOSC1 }
    }

    /// How the content is stored.
    ///
    /// # Errors
    /// `Corrupt` for an unknown special value, or one that contradicts other fields.
    pub fn kind(&self) -> Result<Kind> {
        let special = match self.blosc2_flags >> 4 & 7 {
            0 => None,
            1 => Some(Special::Zeros),
            2 => Some(Special::Nans),
            3 => Some(Special::Value),
            4 => Some(Special::Uninit),
            code => return Err(Error::corrupt(format!("blosc2_flags: {code} is not a special value"))),
        };
        let is_variable = self.flags2 & FLAG2_VARIABLE_BLOCKS != 0;
        match (special, self.flags & FLAG_MEMCPYED != 0, is_variable) {
            (None, false, false) => Ok(Kind::Blocks),
            (None, false, true) => Ok(Kind::VariableBlocks),
            (None, true, false) => Ok(Kind::Memcpyed),
            (Some(special), false, false) => Ok(Kind::Special(special)),
            _ => Err(Error::corrupt("flags: special, stored and variable blocks exclude each other")),
        }
    }

    /// The codec of the streams.
    ///
    /// # Errors
    /// `Unsupported` for one that this build does not have, `Corrupt` for an invalid format.
    pub fn codec(&self) -> Result<&'static dyn Codec> {
        let format = self.flags >> 5;
        if !self.is_extended() {
            return codec::by_format(format);
        }
        if format == FORMAT_SEE_CODEC || self.flags & FLAG_MEMCPYED != 0 {
            return codec::by_id(self.codec_id);
        }
        // LZ4 and LZ4HC share a stream format; the long header tells which one wrote it.
        codec::by_id(self.codec_id)
            .ok()
            .filter(|codec| codec.format() == format)
            .map_or_else(|| codec::by_format(format), Ok)
    }

    /// Whether a dictionary follows the block starts.
    pub fn has_dictionary(&self) -> bool {
        // A stored or special chunk may carry the bit by a fault of C-Blosc2; it means nothing there.
        self.blosc2_flags & BLOSC2_DICTIONARY != 0 && self.kind().is_ok_and(|kind| kind.has_blocks())
    }

    /// Whether blocks are cut into one stream per byte plane.
    pub fn is_split(&self) -> bool {
        self.flags & FLAG_NOT_SPLIT == 0 && self.typesize > 1
    }

    /// Bytes of a block, the last one aside. Not for variable blocks.
    pub fn block_bytes(&self) -> usize {
        let bytes = self.blocksize.min(self.nbytes).max(1);
        // C-Blosc2 may store the size that its user asked for while it cut by whole items.
        if bytes > self.typesize { bytes - bytes % self.typesize } else { bytes }
    }

    /// How many blocks there are.
    pub fn nblocks(&self) -> usize {
        if self.flags2 & FLAG2_VARIABLE_BLOCKS != 0 {
            self.blocksize
        } else {
            self.nbytes.div_ceil(self.block_bytes())
        }
    }

    /// Where block `number` lies in the decoded chunk; behind its end for a number that it does not have.
    /// Not for variable blocks.
    pub(super) fn block_range(&self, number: usize) -> std::ops::Range<usize> {
        let bytes = self.block_bytes();
        let start = number.saturating_mul(bytes).min(self.nbytes);
        start..start.saturating_add(bytes).min(self.nbytes)
    }

    /// Where the block starts end.
    pub(super) fn bstarts_end(&self) -> u64 {
        self.len() as u64 + 4 * self.nblocks() as u64
    }

    /// How many streams a block of `bytes` bytes is cut in.
    pub(super) fn nstreams(&self, bytes: usize) -> usize {
        let is_whole = bytes == self.block_bytes();
        if self.flags & FLAG_NOT_SPLIT != 0 || !is_whole {
            return 1;
        }
        let is_blosc1 = !self.is_extended() && self.version <= VERSION_BLOSC1;
        if is_blosc1 && !(self.typesize <= 16 && bytes / self.typesize >= 128) {
            return 1;
        }
        self.typesize
    }
}

/// A short header has no filter bytes: its flags say what was done.
fn short_pipeline(flags: u8) -> Pipeline {
    let mut pipeline = Pipeline::default();
    if flags & FLAG_SHUFFLE != 0 {
        pipeline.slots[SLOTS - 1].id = SHUFFLE;
    } else if flags & FLAG_BITSHUFFLE != 0 {
        pipeline.slots[SLOTS - 1].id = BITSHUFFLE;
    }
    if flags & FLAG_DELTA != 0 {
        pipeline.slots[SLOTS - 2].id = DELTA;
    }
    pipeline
}
