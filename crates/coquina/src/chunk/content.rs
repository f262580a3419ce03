//! What a chunk decodes to, readable from any byte on: the one walk over its blocks.
//!
//! Invariant: [`Content::read`] gives for every range the bytes that decoding the whole chunk gives there.

use super::block::{BlockDecoder, dictionary};
use super::header::{Header, Kind, Special};
use super::scratch::with_buffers;
use crate::base::bytes::ByteReader;
use crate::base::error::{Error, Result};
use crate::filter::Buffers;

/// The content of a chunk, ready to be read by several threads.
pub(super) enum Content<'a> {
    /// The bytes themselves.
    Copy(&'a [u8]),
    /// These bytes over and over; never empty.
    Repeat(Vec<u8>),
    /// Encoded blocks.
    Blocks(Box<Blocks<'a>>),
}

/// Encoded blocks, their places, and what decodes them.
pub(super) struct Blocks<'a> {
    chunk: &'a [u8],
    header: Header,
    decoder: BlockDecoder,
    /// Where the first block may start.
    data_start: usize,
    /// Where each variable block starts in the decoded chunk, and where the last one ends; else empty.
    variable_starts: Vec<usize>,
    /// The decoded block 0, if other blocks need it.
    reference: Option<Vec<u8>>,
}

impl<'a> Content<'a> {
    /// The content of the chunk that `chunk`, exactly its bytes, holds. With delta, block 0 is decoded.
    pub(super) fn new(header: &Header, chunk: &'a [u8]) -> Result<Self> {
        let stored = chunk.get(header.len()..).unwrap_or_default();
        Ok(match header.kind()? {
            // Also of special chunks, whose value may then be missing.
            _ if header.nbytes == 0 => Self::Copy(&[]),
            Kind::Memcpyed => Self::Copy(stored),
            Kind::Special(Special::Zeros | Special::Uninit) => Self::Repeat(vec![0]),
            Kind::Special(Special::Value) => Self::Repeat(stored.to_vec()),
            Kind::Special(Special::Nans) if header.typesize == 4 => {
                Self::Repeat(0x7fc0_0000_u32.to_le_bytes().to_vec())
            }
            Kind::Special(Special::Nans) => Self::Repeat(0x7ff8_0000_0000_0000_u64.to_le_bytes().to_vec()),
            Kind::Blocks | Kind::VariableBlocks => Self::Blocks(Box::new(Blocks::new(header, chunk)?)),
        })
    }

    /// Fills `out` with the bytes from `start` on; returns how many blocks it decoded.
    pub(super) fn read(&self, start: usize, out: &mut [u8]) -> Result<usize> {
        match self {
            Self::Copy(bytes) => {
                let part = bytes.get(start..).and_then(|rest| rest.get(..out.len()));
                out.copy_from_slice(
                    part.ok_or_else(|| Error::truncated("stored bytes: the chunk ends before"))?,
                );
                Ok(0)
            }
            Self::Repeat(value) => {
                repeat(value, start, out);
                Ok(0)
            }
            Self::Blocks(blocks) => with_buffers(|buffers| blocks.read(start, out, buffers)),
        }
    }

    /// Whether there is more to do than to copy or fill.
    pub(super) fn is_encoded(&self) -> bool {
        matches!(self, Self::Blocks(_))
    }

    /// Bytes of a block, for cutting work; 0 where the cut is free.
    pub(super) fn block_bytes(&self) -> usize {
        match self {
            Self::Blocks(blocks) if blocks.variable_starts.is_empty() => blocks.header.block_bytes(),
            _ => 0,
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

impl<'a> Blocks<'a> {
    fn new(header: &Header, chunk: &'a [u8]) -> Result<Self> {
        let (dictionary, data_start) = dictionary(header, chunk)?;
        let decoder = BlockDecoder::new(header, dictionary)?;
        let mut blocks = Self {
            chunk,
            header: *header,
            decoder,
            data_start,
            variable_starts: Vec::new(),
            reference: None,
        };
        if header.kind()? == Kind::VariableBlocks {
            blocks.variable_starts = blocks.scan_variable()?;
        }
        if blocks.decoder.needs_reference() && header.nblocks() > 1 {
            let mut reference = vec![0; blocks.range(0).len()];
            with_buffers(|buffers| blocks.decode(0, buffers, &mut reference))?;
            blocks.reference = Some(reference);
        }
        Ok(blocks)
    }

    /// Where block `number` lies in the decoded chunk.
    fn range(&self, number: usize) -> std::ops::Range<usize> {
        if let [start, end] = self.variable_starts.get(number..).and_then(|s| s.get(..2)).unwrap_or_default()
        {
            return *start..*end;
        }
        let bytes = self.header.block_bytes();
        number * bytes..((number + 1) * bytes).min(self.header.nbytes)
    }

    /// The block that holds byte `at`.
    fn block_at(&self, at: usize) -> usize {
        if self.variable_starts.is_empty() {
            return at / self.header.block_bytes();
        }
        self.variable_starts.partition_point(|&start| start <= at) - 1
    }

    fn read(&self, start: usize, out: &mut [u8], buffers: &mut Buffers) -> Result<usize> {
        let (mut at, mut left, mut decoded) = (start, out, 0);
        let mut number = if left.is_empty() { 0 } else { self.block_at(start) };
        while !left.is_empty() {
            let range = self.range(number);
            let bytes = (range.end - at).min(left.len());
            let (part, rest) = left.split_at_mut(bytes);
            self.read_block(number, at - range.start, buffers, part)
                .map_err(|e| e.at(format!("block {number}")))?;
            (at, left, number, decoded) = (at + bytes, rest, number + 1, decoded + 1);
        }
        Ok(decoded)
    }

    /// Fills `out` with the bytes of a block from `skip` on.
    fn read_block(&self, number: usize, skip: usize, buffers: &mut Buffers, out: &mut [u8]) -> Result<()> {
        if number == 0
            && let Some(reference) = &self.reference
        {
            out.copy_from_slice(&reference[skip..skip + out.len()]);
            return Ok(());
        }
        let block_bytes = self.range(number).len();
        if out.len() == block_bytes {
            return self.decode(number, buffers, out);
        }
        let mut whole = vec![0; block_bytes];
        self.decode(number, buffers, &mut whole)?;
        out.copy_from_slice(&whole[skip..skip + out.len()]);
        Ok(())
    }

    fn decode(&self, number: usize, buffers: &mut Buffers, out: &mut [u8]) -> Result<()> {
        let reference = self.reference.as_deref().filter(|_| number > 0);
        self.decoder.decode(self.encoded(number)?, reference, buffers, out)
    }

    fn bstart(&self, number: usize) -> Result<usize> {
        let at = self.header.len() + 4 * number;
        let start = ByteReader::new(self.chunk.get(at..).unwrap_or_default()).size_le("block start")?;
        if start < self.data_start || start >= self.chunk.len() {
            let (first, end) = (self.data_start, self.chunk.len());
            return Err(Error::corrupt(format!("block start: {start} is not in {first}..{end}")));
        }
        Ok(start)
    }

    /// The bytes of a block. Where sizes are not stored they reach to the end of the chunk.
    fn encoded(&self, number: usize) -> Result<&'a [u8]> {
        let start = self.bstart(number)?;
        let is_last = number + 1 >= self.header.nblocks();
        let end = if self.variable_starts.is_empty() || is_last {
            self.chunk.len()
        } else {
            self.bstart(number + 1)?
        };
        Ok(self.chunk.get(start..end).unwrap_or_default())
    }

    /// Reads the sizes of variable blocks, and checks that they lie one after another and fill the chunk.
    fn scan_variable(&self) -> Result<Vec<usize>> {
        let nblocks = self.header.nblocks();
        let mut starts = Vec::with_capacity(nblocks + 1);
        let (mut total, mut last) = (0_usize, 0);
        for number in 0..nblocks {
            let start = self.bstart(number).map_err(|e| e.at(format!("block {number}")))?;
            if number > 0 && start < last + stream_min() {
                return Err(Error::corrupt(format!("block start: {start} after {last}"))
                    .at(format!("block {number}")));
            }
            let bytes = ByteReader::new(&self.chunk[start..]).size_le("size of a variable block")?;
            starts.push(total);
            total = total.checked_add(bytes).filter(|&t| bytes > 0 && t <= self.header.nbytes).ok_or_else(
                || Error::corrupt(format!("block of {bytes} bytes")).at(format!("block {number}")),
            )?;
            last = start;
        }
        if total != self.header.nbytes || self.chunk.len() < last + stream_min() {
            return Err(Error::corrupt(format!(
                "variable blocks: {total} bytes, not {}",
                self.header.nbytes
            )));
        }
        starts.push(total);
        Ok(starts)
    }
}

/// The least bytes of a variable block: its size, and one byte of data.
fn stream_min() -> usize {
    super::stream::LENGTH_BYTES + 1
}
