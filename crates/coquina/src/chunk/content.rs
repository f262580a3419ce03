//! What a chunk decodes to, readable from any byte on: by copying, filling or decoding.
//!
//! Invariant: [`Content::read`] gives for every range the bytes that decoding the whole chunk gives there.

use std::borrow::Cow;
use std::ops::Range;

use super::block::{BlockDecoder, dictionary};
use super::blocks::Blocks;
use super::fetch::ChunkBytes;
use super::header::{Header, Kind, Special};
use super::spans::{Spans, starts_range};
use super::sums::BlockSums;
use crate::base::error::Result;
use crate::base::layout::BlockLayout;

/// The content of a chunk, ready to be read by several threads.
pub(super) enum Content<'a> {
    /// The bytes that follow the header.
    Copy(ChunkBytes<'a>, usize),
    /// These bytes over and over; never empty.
    Repeat(Vec<u8>),
    /// Blocks that are encoded, or have sums.
    Blocks(Box<Blocks<'a>>),
}

impl<'a> Content<'a> {
    /// The content of the chunk that `chunk`, exactly its bytes, holds. With delta, block 0 is decoded.
    pub(super) fn new(
        header: &Header,
        chunk: &'a [u8],
        sums: Option<BlockSums>,
        layout: &BlockLayout,
    ) -> Result<Self> {
        let starts = Cow::Borrowed(chunk.get(starts_range(header)).unwrap_or_default());
        let here = ChunkBytes::Here(Cow::Borrowed(chunk));
        let has_sums = sums.is_some();
        let mut content = Self::of(header, chunk, starts, here, sums, layout)?;
        if let Self::Blocks(blocks) = &mut content {
            if has_sums {
                blocks.find_ends()?;
            }
            blocks.prepare()?;
        }
        Ok(content)
    }

    /// The content of a chunk with these bytes, of which `head` are those before the first block; a chunk of
    /// variable blocks must be in memory. Checks all block starts.
    pub(super) fn lazy(
        header: &Header,
        head: &[u8],
        bytes: ChunkBytes<'a>,
        sums: Option<BlockSums>,
        layout: &BlockLayout,
    ) -> Result<Self> {
        let starts = head.get(starts_range(header)).unwrap_or_default().to_vec();
        let mut content = Self::of(header, head, Cow::Owned(starts), bytes, sums, layout)?;
        if let Self::Blocks(blocks) = &mut content {
            blocks.find_ends()?;
        }
        Ok(content)
    }

    fn of(
        header: &Header,
        head: &[u8],
        starts: Cow<'a, [u8]>,
        bytes: ChunkBytes<'a>,
        sums: Option<BlockSums>,
        layout: &BlockLayout,
    ) -> Result<Self> {
        Ok(match header.kind()? {
            // Also of special chunks, whose value may then be missing.
            _ if header.nbytes == 0 => Self::Copy(bytes, header.len()),
            Kind::Memcpyed if sums.is_none() => Self::Copy(bytes, header.len()),
            Kind::Memcpyed => {
                Self::Blocks(Box::new(Blocks::new(header, bytes, Spans::even(header), None, sums)))
            }
            Kind::Special(Special::Zeros | Special::Uninit) => Self::Repeat(vec![0]),
            Kind::Special(Special::Value) => {
                Self::Repeat(head.get(header.len()..).unwrap_or_default().to_vec())
            }
            Kind::Special(special @ Special::Nans) => Self::Repeat(special.item(header.typesize)?),
            kind @ (Kind::Blocks | Kind::VariableBlocks) => {
                let (dictionary, data_start) = dictionary(header, head)?;
                let spans = Spans::new(header, starts, data_start);
                let decoder = BlockDecoder::new(header, dictionary, layout)?;
                let mut blocks = Box::new(Blocks::new(header, bytes, spans, Some(decoder), sums));
                if kind == Kind::VariableBlocks {
                    blocks.find_variable()?;
                }
                Self::Blocks(blocks)
            }
        })
    }

    /// Fills `out` with the bytes from `start` on; returns how many blocks it decoded.
    pub(super) fn read(&self, start: usize, out: &mut [u8]) -> Result<usize> {
        match self {
            Self::Copy(bytes, header) => bytes.read(header + start, out).map(|()| 0),
            Self::Repeat(value) => {
                repeat(value, start, out);
                Ok(0)
            }
            Self::Blocks(blocks) => blocks.read(start, out),
        }
    }

    /// Adds where the stored bytes stand that [`Content::read`] of these bytes needs.
    pub(super) fn places(&self, bytes: Range<usize>, places: &mut Vec<Range<u64>>) {
        match self {
            Self::Copy(stored, header) => {
                places.extend(stored.place(header + bytes.start..header + bytes.end))
            }
            Self::Repeat(_) => {}
            Self::Blocks(blocks) => blocks.places(bytes, places),
        }
    }

    /// Whether there is more to do than to copy or fill.
    pub(super) fn is_encoded(&self) -> bool {
        matches!(self, Self::Blocks(_))
    }

    /// Bytes of a block, for cutting work; 0 where the cut is free.
    pub(super) fn block_bytes(&self) -> usize {
        match self {
            Self::Blocks(blocks) => blocks.block_bytes(),
            _ => 0,
        }
    }

    /// Where block `number` lies in the decoded chunk; at its end for a number that it does not have.
    pub(super) fn block_range(&self, header: &Header, number: usize) -> Range<usize> {
        match self {
            Self::Blocks(blocks) => blocks.range(number),
            _ => header.block_range(number),
        }
    }

    /// Whether a block starts at byte `at`, or the last one ends there; also behind the end.
    pub(super) fn is_border(&self, header: &Header, at: usize) -> bool {
        match self {
            _ if at >= header.nbytes => true,
            Self::Blocks(blocks) => blocks.is_border(at),
            _ => at.is_multiple_of(header.block_bytes()),
        }
    }

    /// Bytes of memory that it takes beyond itself, block 0 included where it may come to be kept.
    pub(super) fn memory_bytes(&self) -> usize {
        match self {
            Self::Copy(bytes, _) => bytes.memory_bytes(),
            Self::Repeat(value) => value.len(),
            Self::Blocks(blocks) => blocks.memory_bytes(),
        }
    }
}

/// Fills `out` with `value` over and over, as it stands `start` bytes after the beginning of a value.
fn repeat(value: &[u8], start: usize, out: &mut [u8]) {
    if let [byte] = value {
        return out.fill(*byte);
    }
    let phase = start % value.len();
    let first = (value.len() - phase).min(out.len());
    let (head, rest) = out.split_at_mut(first);
    head.copy_from_slice(&value[phase..phase + first]);
    // Doubling what is there is faster than one copy for each value.
    let mut done = value.len().min(rest.len());
    rest[..done].copy_from_slice(&value[..done]);
    while done < rest.len() {
        let more = done.min(rest.len() - done);
        rest.copy_within(..more, done);
        done += more;
    }
}
