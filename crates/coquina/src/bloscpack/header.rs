//! The header of a Bloscpack file, and the places that follow from it.
//!
//! Source: `docs/formats/bloscpack.md`, "Header".

use super::checksum::{self, Checksum};
use crate::base::bytes::ByteReader;
use crate::base::error::{Error, Result};

/// Bytes of the header.
pub(super) const HEADER_BYTES: usize = 32;
/// Bytes of the header of version 1. A chunk has as many at least, so no file is shorter than [`HEADER_BYTES`].
const HEADER_BYTES_1: usize = 16;
/// Bytes of an entry of the offsets.
pub(super) const OFFSET_BYTES: usize = 8;
/// Uncompressed bytes of a chunk unless told otherwise.
pub const CHUNK_BYTES_DEFAULT: usize = 1 << 20;
/// The most uncompressed bytes of a chunk.
pub const CHUNK_BYTES_MAX: usize = i32::MAX as usize - crate::chunk::HEADER_BYTES_BLOSC1;

const MAGIC: [u8; 4] = *b"blpk";
const VERSION: u8 = 3;
const OPTION_OFFSETS: u8 = 1;
const OPTION_METADATA: u8 = 2;

/// The checked header of a Bloscpack file.
#[derive(Clone, Copy)]
pub struct Header {
    /// Whether the places of the chunks are listed.
    pub has_offsets: bool,
    /// Whether there is metadata.
    pub has_metadata: bool,
    /// The checksum behind every chunk.
    pub checksum: &'static Checksum,
    /// Bytes of an item, 0..=255. Informative.
    pub typesize: u8,
    /// Uncompressed bytes of every chunk but the last, if known.
    pub chunk_bytes: Option<usize>,
    /// Uncompressed bytes of the last chunk, if known.
    pub last_chunk_bytes: Option<usize>,
    /// How many chunks there are, if known.
    pub nchunks: Option<u64>,
    /// Spare entries of the offsets.
    pub spare_chunks: u64,
    /// Bytes of the header itself.
    pub(super) bytes: usize,
}

impl Header {
    pub(super) fn read(bytes: &[u8; HEADER_BYTES]) -> Result<Self> {
        Self::parse(bytes).and_then(Self::check).map_err(|e| e.at("header"))
    }

    fn parse(bytes: &[u8; HEADER_BYTES]) -> Result<Self> {
        let mut r = ByteReader::new(bytes);
        if r.array("magic")? != MAGIC {
            return Err(Error::corrupt("magic: not a Bloscpack file"));
        }
        let version = r.u8("version")?;
        if version == 1 {
            return Self::parse_1(r);
        }
        if version != 2 && version != VERSION {
            return Err(Error::unsupported(format!("version {version} of Bloscpack: takes 1 to {VERSION}")));
        }
        let options = r.u8("options")?;
        let known_options = if version == 2 { OPTION_OFFSETS } else { OPTION_OFFSETS | OPTION_METADATA };
        if options & !known_options != 0 {
            return Err(Error::corrupt(format!("options: {options:#04x} has unknown bits")));
        }
        Ok(Self {
            has_offsets: options & OPTION_OFFSETS != 0,
            has_metadata: options & OPTION_METADATA != 0,
            checksum: checksum::by_id(r.u8("checksum")?)?,
            typesize: r.u8("typesize")?,
            chunk_bytes: known("chunk_size", r.i32_le("chunk_size")?.into())?,
            last_chunk_bytes: known("last_chunk", r.i32_le("last_chunk")?.into())?,
            nchunks: known("nchunks", r.i64_le("nchunks")?)?,
            spare_chunks: match version {
                // These bytes were reserved, and mean nothing.
                2 => 0,
                _ => known("max_app_chunks", r.i64_le("max_app_chunks")?)?.unwrap_or(0),
            },
            bytes: HEADER_BYTES,
        })
    }

    /// Version 1 says how many chunks there are, and nothing else.
    fn parse_1(mut r: ByteReader<'_>) -> Result<Self> {
        let _reserved: [u8; 3] = r.array("reserved")?;
        Ok(Self {
            has_offsets: false,
            has_metadata: false,
            checksum: checksum::by_id(0)?,
            typesize: 0,
            chunk_bytes: None,
            last_chunk_bytes: None,
            nchunks: known("nchunks", r.i64_le("nchunks")?)?,
            spare_chunks: 0,
            bytes: HEADER_BYTES_1,
        })
    }

    fn check(self) -> Result<Self> {
        if self.last_chunk_bytes > self.chunk_bytes && self.chunk_bytes.is_some() {
            let (last, each) = (self.last_chunk_bytes, self.chunk_bytes);
            return Err(Error::corrupt(format!("last_chunk: {last:?} bytes, others have {each:?}")));
        }
        if self.has_offsets && self.nchunks.is_none() {
            return Err(Error::corrupt("nchunks: offsets of an unknown number of chunks"));
        }
        if self.nchunks == Some(0) {
            return Err(Error::corrupt("nchunks: 0 (an empty file has one empty chunk)"));
        }
        let total = self.nchunks.unwrap_or(0).checked_add(self.spare_chunks);
        if total.is_none_or(|total| total > i64::MAX.unsigned_abs() / OFFSET_BYTES as u64) {
            return Err(Error::corrupt("nchunks and max_app_chunks: too many"));
        }
        Ok(self)
    }

    pub(super) fn write(&self) -> [u8; HEADER_BYTES] {
        let small = |n: Option<usize>| n.map_or(-1, |n| i32::try_from(n).unwrap_or(-1)).to_le_bytes();
        let large = |n: Option<u64>| n.map_or(-1, |n| i64::try_from(n).unwrap_or(-1)).to_le_bytes();
        let offsets = if self.has_offsets { OPTION_OFFSETS } else { 0 };
        let metadata = if self.has_metadata { OPTION_METADATA } else { 0 };
        let mut out = [0; HEADER_BYTES];
        out[..4].copy_from_slice(&MAGIC);
        out[4..8].copy_from_slice(&[VERSION, offsets | metadata, self.checksum.id, self.typesize]);
        out[8..12].copy_from_slice(&small(self.chunk_bytes));
        out[12..16].copy_from_slice(&small(self.last_chunk_bytes));
        out[16..24].copy_from_slice(&large(self.nchunks));
        out[24..].copy_from_slice(&large(Some(self.spare_chunks)));
        out
    }

    /// Bytes of the offsets.
    pub(super) fn offsets_bytes(&self) -> u64 {
        if !self.has_offsets {
            return 0;
        }
        // `check` has seen that this does not overflow.
        (self.nchunks.unwrap_or(0) + self.spare_chunks) * OFFSET_BYTES as u64
    }
}

/// -1 stands for unknown.
fn known<T: TryFrom<i64>>(field: &str, stored: i64) -> Result<Option<T>> {
    match T::try_from(stored) {
        Ok(value) if stored >= 0 => Ok(Some(value)),
        _ if stored == -1 => Ok(None),
        _ => Err(Error::corrupt(format!("{field}: {stored}"))),
    }
}
