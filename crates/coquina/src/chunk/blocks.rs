//! The one walk over a chunk's blocks: finds them, verifies them where they have sums, decodes them.
//!
//! In: a header, what stands before the blocks, and the chunk's bytes, wherever they are. Out: any range of what the
//! blocks decode to. Blocks that are not encoded are walked over too where they have sums.
//! Source: `docs/formats/chunk.md`, "Ordinary chunks", "Variable blocks".

use std::ops::Range;
use std::sync::OnceLock;

use super::block::BlockDecoder;
use super::fetch::{ChunkBytes, Fetcher};
use super::header::Header;
use super::planes::{BytePlanes, NextPlane};
use super::scratch::{ChunkScratch, room, with_chunk_scratch};
use super::spans::Spans;
use super::sums::BlockSums;
use crate::base::bytes::ByteReader;
use crate::base::error::{Error, Result};
use crate::filter::Buffers;

/// Blocks, their places, and what decodes them.
pub(super) struct Blocks<'a> {
    bytes: ChunkBytes<'a>,
    header: Header,
    spans: Spans<'a>,
    /// `None` where blocks are stored as they are.
    decoder: Option<BlockDecoder>,
    /// Where each variable block starts in the decoded chunk, and where the last one ends; else empty.
    variable_starts: Vec<usize>,
    /// Whether other blocks need the decoded block 0.
    needs_reference: bool,
    /// The decoded block 0, once it was needed.
    reference: OnceLock<Vec<u8>>,
    sums: Option<BlockSums>,
    /// Whether fronts of blocks may be decoded alone. Of bytes that no encoder has written a front may be another one
    /// than that of the whole, and all reads of a chunk should agree.
    has_fronts: bool,
}

/// What a walk over blocks works with.
struct Walk<'f> {
    fetcher: Fetcher<'f>,
    buffers: &'f mut Buffers,
    block: &'f mut Vec<u8>,
}

impl<'a> Blocks<'a> {
    /// `decoder` is `None` for blocks that are stored as they are.
    pub(super) fn new(
        header: &Header,
        bytes: ChunkBytes<'a>,
        spans: Spans<'a>,
        decoder: Option<BlockDecoder>,
        sums: Option<BlockSums>,
    ) -> Self {
        Self {
            bytes,
            header: *header,
            spans,
            variable_starts: Vec::new(),
            needs_reference: decoder.as_ref().is_some_and(BlockDecoder::needs_reference)
                && header.nblocks() > 1,
            decoder,
            reference: OnceLock::new(),
            has_fronts: sums.is_some(),
            sums,
        }
    }

    /// For variable blocks: reads all their sizes, so that they must be in memory.
    pub(super) fn find_variable(&mut self) -> Result<()> {
        self.variable_starts = self.scan_variable()?;
        self.spans.rise();
        Ok(())
    }

    /// Decodes block 0 if others need it, and keeps it.
    pub(super) fn prepare(&self) -> Result<()> {
        if !self.needs_reference {
            return Ok(());
        }
        with_chunk_scratch(|scratch| self.reference(&mut self.walk(0..1, scratch)).map(drop))
    }

    /// The bytes are known to come from an encoder.
    pub(super) fn trust(&mut self) {
        self.has_fronts = true;
    }

    /// Checks all block starts, and ends each block at the next one in the chunk.
    pub(super) fn find_ends(&mut self) -> Result<()> {
        self.spans.find_ends()
    }

    /// Bytes of a block, the last one aside; 0 for variable ones.
    pub(super) fn block_bytes(&self) -> usize {
        if self.variable_starts.is_empty() { self.header.block_bytes() } else { 0 }
    }

    /// Whether a block starts at byte `at` of the decoded chunk.
    pub(super) fn is_border(&self, at: usize) -> bool {
        self.range(self.block_at(at)).start == at
    }

    /// Bytes of memory that it takes, block 0 included where it may come to be kept.
    pub(super) fn memory_bytes(&self) -> usize {
        let sums = self.sums.as_ref().map_or(0, BlockSums::memory_bytes);
        let reference = if self.needs_reference { self.range(0).len() } else { 0 };
        let starts = size_of_val(&self.variable_starts[..]) + self.spans.memory_bytes();
        size_of::<Self>() + self.bytes.memory_bytes() + sums + reference + starts
    }

    /// Where block `number` lies in the decoded chunk.
    pub(super) fn range(&self, number: usize) -> Range<usize> {
        if self.variable_starts.is_empty() {
            return self.header.block_range(number);
        }
        let place = |number: usize| self.variable_starts.get(number).copied().unwrap_or(self.header.nbytes);
        place(number)..place(number.saturating_add(1))
    }

    /// The block that holds byte `at`.
    fn block_at(&self, at: usize) -> usize {
        if self.variable_starts.is_empty() {
            return at / self.header.block_bytes();
        }
        self.variable_starts.partition_point(|&start| start <= at) - 1
    }

    /// Fills `out` with the bytes from `start` on; returns how many blocks it decoded.
    pub(super) fn read(&self, start: usize, out: &mut [u8]) -> Result<usize> {
        if out.is_empty() {
            return Ok(0);
        }
        with_chunk_scratch(|scratch| self.read_in(scratch, start, out))
    }

    fn read_in(&self, scratch: &mut ChunkScratch, start: usize, out: &mut [u8]) -> Result<usize> {
        let first = self.block_at(start);
        let wanted = first..self.block_at(start + out.len() - 1) + 1;
        let mut walk = self.walk(wanted.clone(), scratch);
        let (mut at, mut left) = (start, out);
        for number in wanted.clone() {
            let range = self.range(number);
            let (part, rest) = left.split_at_mut((range.end - at).min(left.len()));
            let reference = self.reference(&mut walk)?;
            let Walk { fetcher, buffers, block } = &mut walk;
            match reference {
                Some(reference) if number == 0 => part.copy_from_slice(&reference[at..at + part.len()]),
                _ if part.len() == range.len() => self.decode(number, reference, fetcher, buffers, part)?,
                _ if at == range.start
                    && self.has_fronts
                    && reference.is_none()
                    && self.decode_front(number, fetcher, buffers, part)? => {}
                _ => {
                    let whole = room(block, range.len());
                    self.decode(number, reference, fetcher, buffers, whole)?;
                    part.copy_from_slice(&whole[at - range.start..][..part.len()]);
                }
            }
            (at, left) = (range.end, rest);
        }
        Ok(wanted.len())
    }

    /// Decodes the planes of the block at byte `start` that `next` asks for; whether it has any.
    pub(super) fn read_planes(
        &self,
        start: usize,
        planes: &mut BytePlanes,
        next: &mut NextPlane<'_>,
    ) -> Result<bool> {
        let number = self.block_at(start);
        let (range, bytes) = (self.range(number), planes.nbytes());
        let Some(decoder) = &self.decoder else { return Ok(false) };
        let has_planes = (range.start, range.len()) == (start, bytes)
            && !self.needs_reference
            && self.variable_starts.is_empty()
            && decoder.has_planes(bytes, planes.item_bytes());
        if !has_planes {
            return Ok(false);
        }
        if next(planes).is_none() {
            return Ok(true);
        }
        with_chunk_scratch(|scratch| {
            let mut walk = self.walk(number..number + 1, scratch);
            let decoded = self
                .verified(number, &mut walk.fetcher)
                .and_then(|bytes| decoder.decode_planes(bytes, planes, self.has_fronts, next));
            decoded.map_err(|e| e.at(format!("block {number}")))
        })?;
        Ok(true)
    }

    /// Adds where the stored bytes stand that decoding these bytes needs, as far as they are not in memory.
    pub(super) fn places(&self, bytes: Range<usize>, places: &mut Vec<Range<u64>>) {
        if bytes.is_empty() {
            return;
        }
        let needs_first = self.needs_reference && self.reference.get().is_none();
        let wanted = self.block_at(bytes.start)..self.block_at(bytes.end - 1) + 1;
        for number in needs_first.then_some(0).into_iter().chain(wanted) {
            // Where a block is wrong the walk will say so.
            places.extend(self.spans.get(number).ok().and_then(|span| self.bytes.place(span)));
        }
    }

    /// The stored bytes of block `number`, verified if it has a sum.
    pub(super) fn encoded(&self, number: usize) -> Result<Vec<u8>> {
        with_chunk_scratch(|scratch| {
            let mut walk = self.walk(number..number + 1, scratch);
            self.verified(number, &mut walk.fetcher).map(<[u8]>::to_vec)
        })
        .map_err(|e: Error| e.at(format!("block {number}")))
    }

    fn walk<'f>(&'f self, wanted: Range<usize>, scratch: &'f mut ChunkScratch) -> Walk<'f> {
        let ChunkScratch { buffers, encoded, block } = scratch;
        Walk { fetcher: Fetcher::new(&self.bytes, &self.spans, wanted, encoded), buffers, block }
    }

    /// The decoded block 0, if other blocks need it. Decoded on first need; threads that come at once do it twice
    /// and do not wait for each other, and after an error the next one tries again.
    fn reference(&self, walk: &mut Walk<'_>) -> Result<Option<&[u8]>> {
        if !self.needs_reference {
            return Ok(None);
        }
        if let Some(reference) = self.reference.get() {
            return Ok(Some(reference));
        }
        let mut block = vec![0; self.range(0).len()];
        self.decode(0, None, &mut walk.fetcher, walk.buffers, &mut block)?;
        Ok(Some(self.reference.get_or_init(|| block)))
    }

    fn decode(
        &self,
        number: usize,
        reference: Option<&[u8]>,
        fetcher: &mut Fetcher<'_>,
        buffers: &mut Buffers,
        out: &mut [u8],
    ) -> Result<()> {
        let decoded = self.verified(number, fetcher).and_then(|bytes| match &self.decoder {
            Some(decoder) => decoder.decode(bytes, reference, buffers, out),
            None => put(bytes, out),
        });
        decoded.map_err(|e| e.at(format!("block {number}")))
    }

    /// Fills `out` with the first bytes of a block, if that is less work than to decode all of it; says whether it
    /// was done.
    fn decode_front(
        &self,
        number: usize,
        fetcher: &mut Fetcher<'_>,
        buffers: &mut Buffers,
        out: &mut [u8],
    ) -> Result<bool> {
        let (bytes, Some(decoder)) = (self.verified(number, fetcher)?, &self.decoder) else {
            return Ok(false);
        };
        let done = decoder.decode_front(bytes, self.range(number).len(), buffers, out);
        done.map_err(|e| e.at(format!("block {number}")))
    }

    /// The stored bytes of a block, held against their sum.
    fn verified<'f>(&self, number: usize, fetcher: &'f mut Fetcher<'_>) -> Result<&'f [u8]> {
        let bytes = fetcher.get(number)?;
        if let Some(sums) = &self.sums {
            sums.check(number, bytes)?;
        }
        Ok(bytes)
    }

    /// Reads the sizes of variable blocks, and checks that they lie one after another and fill the chunk.
    fn scan_variable(&self) -> Result<Vec<usize>> {
        let (nblocks, chunk) = (self.header.nblocks(), self.bytes.slice().unwrap_or_default());
        let mut starts = Vec::with_capacity(nblocks + 1);
        let (mut total, mut last) = (0_usize, 0);
        for number in 0..nblocks {
            let start = self.spans.start(number).map_err(|e| e.at(format!("block {number}")))?;
            if number > 0 && start < last + stream_min() {
                return Err(Error::corrupt(format!("block start: {start} after {last}"))
                    .at(format!("block {number}")));
            }
            let bytes = ByteReader::new(chunk.get(start..).unwrap_or_default())
                .size_le("size of a variable block")?;
            starts.push(total);
            total = total.checked_add(bytes).filter(|&t| bytes > 0 && t <= self.header.nbytes).ok_or_else(
                || Error::corrupt(format!("block of {bytes} bytes")).at(format!("block {number}")),
            )?;
            last = start;
        }
        if total != self.header.nbytes || chunk.len() < last + stream_min() {
            return Err(Error::corrupt(format!(
                "variable blocks: {total} bytes, not {}",
                self.header.nbytes
            )));
        }
        starts.push(total);
        Ok(starts)
    }
}

/// Copies a block that is stored as it is.
fn put(bytes: &[u8], out: &mut [u8]) -> Result<()> {
    if bytes.len() != out.len() {
        return Err(Error::truncated("stored bytes: the chunk ends before"));
    }
    out.copy_from_slice(bytes);
    Ok(())
}

/// The least bytes of a variable block: its size, and one byte of data.
fn stream_min() -> usize {
    super::stream::LENGTH_BYTES + 1
}
