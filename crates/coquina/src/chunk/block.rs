//! Decoding one block: needs the header, the dictionary, the block's bytes, and for delta the decoded block 0.
//! Nothing else, so that a block can be read from the middle of a file.
//!
//! Source: `docs/formats/chunk.md`, "Blocks".

use std::sync::atomic::{AtomicU32, Ordering};

use super::header::{Header, Kind};
use super::planes::{BytePlanes, NextPlane};
use super::stream;
use crate::base::error::{Error, Result};
use crate::base::layout::BlockLayout;
use crate::codec::{Decode, DecodeOptions};
use crate::filter::{Buffers, Steps};

/// Decodes the blocks of one chunk.
pub(super) struct BlockDecoder {
    header: Header,
    steps: Steps,
    decoder: Box<dyn Decode>,
    fronts: Fronts,
}

/// Whether the fronts of blocks have been enough for who looked at planes.
#[derive(Default)]
struct Fronts {
    enough: AtomicU32,
    tried: AtomicU32,
    /// Blocks that have been decoded as a whole since.
    passed: AtomicU32,
}

/// Where fronts were of no use, one block in so many is tried again.
const TRY_AGAIN: u32 = 16;

impl Fronts {
    /// To decode piece by piece costs a little more where all is wanted in the end.
    fn are_worth_it(&self) -> bool {
        let [enough, tried, passed] =
            [&self.enough, &self.tried, &self.passed].map(|counter| counter.load(Ordering::Relaxed));
        tried <= 4 * enough || passed >= TRY_AGAIN
    }

    fn see(&self, is_enough: bool, is_tried: bool) {
        if is_tried {
            // Halved now and then: what others looked for matters less.
            let (tried, enough) = (self.tried.load(Ordering::Relaxed), self.enough.load(Ordering::Relaxed));
            let halves = u32::from(tried >= 2 * TRY_AGAIN);
            self.tried.store((tried >> halves) + 1, Ordering::Relaxed);
            self.enough.store((enough >> halves) + u32::from(is_enough), Ordering::Relaxed);
            self.passed.store(0, Ordering::Relaxed);
        } else {
            self.passed.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl BlockDecoder {
    /// For a chunk with this header, of such an array. `dictionary` is empty for none.
    pub(super) fn new(header: &Header, dictionary: &[u8], layout: &BlockLayout) -> Result<Self> {
        let steps = header.pipeline.for_decoding(header.typesize, header.version, layout)?;
        let (meta, typesize) = (header.codec_meta, header.typesize);
        let options = DecodeOptions { dictionary, meta, typesize, layout: *layout };
        let decoder = header.codec()?.decoder(&options)?;
        Ok(Self { header: *header, steps, decoder, fronts: Fronts::default() })
    }

    /// Whether blocks other than 0 need the decoded block 0.
    pub(super) fn needs_reference(&self) -> bool {
        self.steps.need_reference()
    }

    /// Decodes the block whose bytes stand at the front of `bytes` to exactly fill `out`.
    /// `reference` is the decoded block 0, `None` for block 0 itself and where nothing needs it.
    pub(super) fn decode(
        &self,
        bytes: &[u8],
        reference: Option<&[u8]>,
        buffers: &mut Buffers,
        out: &mut [u8],
    ) -> Result<()> {
        if reference.is_some_and(|r| r.len() < out.len()) {
            return Err(Error::corrupt(format!("a block of {} bytes is longer than block 0", out.len())));
        }
        if self.steps.decode_to_themselves() {
            return self.decode_streams(bytes, out);
        }
        buffers.fit(out.len());
        self.decode_streams(bytes, &mut buffers.first[..out.len()])?;
        self.steps.decode(reference, buffers, out)
    }

    /// Decodes the first bytes of a block of `block_bytes` to exactly fill `out`, if that is less work than to decode
    /// all of it; says whether it was done.
    pub(super) fn decode_front(
        &self,
        bytes: &[u8],
        block_bytes: usize,
        buffers: &mut Buffers,
        out: &mut [u8],
    ) -> Result<bool> {
        let nstreams = self.header.nstreams(block_bytes);
        let is_planes = nstreams == self.header.typesize && self.steps.decode_fronts();
        let is_plain = nstreams == 1 && self.steps.decode_to_themselves();
        let is_possible = (is_planes || is_plain)
            && self.header.kind()? == Kind::Blocks
            && block_bytes.is_multiple_of(nstreams)
            && out.len().is_multiple_of(nstreams)
            && out.len() >= nstreams;
        if !is_possible {
            return Ok(false);
        }
        buffers.fit(out.len());
        let front = &mut buffers.first[..out.len()];
        let (has_runs, stream_bytes) = (stream::has_runs(&self.header), block_bytes / nstreams);
        let mut left = bytes;
        for plane in front.chunks_exact_mut(out.len() / nstreams) {
            match stream::decode_front(left, plane, stream_bytes, &*self.decoder, has_runs)? {
                Some(rest) => left = rest,
                None => return Ok(false),
            }
        }
        self.steps.decode(None, buffers, out)?;
        Ok(true)
    }

    /// Whether blocks of so many bytes are the byte planes of items of `item_bytes` bytes, one behind another.
    pub(super) fn has_planes(&self, block_bytes: usize, item_bytes: usize) -> bool {
        let nstreams = self.header.nstreams(block_bytes);
        self.header.typesize == item_bytes
            && block_bytes.is_multiple_of(item_bytes)
            && (nstreams == item_bytes || nstreams == 1)
            && self.header.kind().is_ok_and(|kind| kind == Kind::Blocks)
            && self.steps.decode_fronts()
    }

    /// Decodes the planes of a block that `next` asks for, where it has planes. `has_fronts`: those of one stream may be
    /// decoded from the first on and no further than needed.
    pub(super) fn decode_planes(
        &self,
        bytes: &[u8],
        planes: &mut BytePlanes,
        has_fronts: bool,
        next: &mut NextPlane<'_>,
    ) -> Result<()> {
        let has_runs = stream::has_runs(&self.header);
        if self.header.nstreams(planes.nbytes()) == 1 {
            return self.decode_one_stream(bytes, planes, has_fronts, next);
        }
        while let Some(number) = next(planes) {
            let mut left = bytes;
            for _ in 0..number {
                (_, left) = stream::stored(left, has_runs)?;
            }
            planes.put(number, |plane| stream::decode(left, plane, &*self.decoder, has_runs).map(drop))?;
        }
        Ok(())
    }

    fn decode_one_stream(
        &self,
        bytes: &[u8],
        planes: &mut BytePlanes,
        has_fronts: bool,
        next: &mut NextPlane<'_>,
    ) -> Result<()> {
        let (stream, _) = stream::stored(bytes, stream::has_runs(&self.header))?;
        let stream = stream.filter(|stream| stream.len() < planes.nbytes() && has_fronts);
        let mut pieces = match stream.filter(|_| self.fronts.are_worth_it()) {
            Some(stream) => self.decoder.pieces(stream),
            None => None,
        };
        while let Some(number) = next(planes) {
            planes.put_front(number, |all, end| match &mut pieces {
                Some(pieces) => pieces.decode_until(end, all),
                None => self.decode_streams(bytes, all).map(|()| all.len()),
            })?;
        }
        self.fronts.see(planes.first_missing().is_some(), pieces.is_some());
        Ok(())
    }

    fn decode_streams(&self, bytes: &[u8], block: &mut [u8]) -> Result<()> {
        if self.header.kind()? == Kind::VariableBlocks {
            return self.decode_variable(bytes, block);
        }
        let nstreams = self.header.nstreams(block.len());
        let stream_bytes = block.len() / nstreams;
        if stream_bytes == 0 || !block.len().is_multiple_of(nstreams) {
            let block = block.len();
            return Err(Error::corrupt(format!("a block of {block} bytes cannot be {nstreams} streams")));
        }
        let has_runs = stream::has_runs(&self.header);
        let mut left = bytes;
        for out in block.chunks_exact_mut(stream_bytes) {
            left = stream::decode(left, out, &*self.decoder, has_runs)?;
        }
        Ok(())
    }

    /// A variable block is one stream whose length is its extent; its first four bytes are its decoded size.
    fn decode_variable(&self, bytes: &[u8], block: &mut [u8]) -> Result<()> {
        let data = bytes.get(stream::LENGTH_BYTES..).unwrap_or_default();
        if data.len() == block.len() {
            block.copy_from_slice(data);
            return Ok(());
        }
        self.decoder.decode(data, block)
    }
}

/// The dictionary that stands behind the block starts, and where it ends; empty if the chunk has none.
pub(super) fn dictionary<'a>(header: &Header, chunk: &'a [u8]) -> Result<(&'a [u8], usize)> {
    let end = header.bstarts_end();
    let start = usize::try_from(end).map_err(|_| Error::corrupt("block starts: too many"))?;
    if !header.has_dictionary() {
        return Ok((&[], start));
    }
    let Some((length, rest)) = chunk.get(start..).and_then(|rest| rest.split_first_chunk::<4>()) else {
        return Err(Error::truncated("dictionary length: the chunk ends before"));
    };
    let length = i32::from_le_bytes(*length);
    let bytes = usize::try_from(length).ok().filter(|n| (1..=DICTIONARY_BYTES_MAX).contains(n));
    let Some(bytes) = bytes else {
        return Err(Error::corrupt(format!("dictionary length: {length} is not 1..={DICTIONARY_BYTES_MAX}")));
    };
    let left = rest.len();
    let dictionary = rest
        .get(..bytes)
        .ok_or_else(|| Error::truncated(format!("dictionary: {bytes} bytes announced, {left} left")))?;
    Ok((dictionary, start + 4 + bytes))
}

/// The largest dictionary of the format.
pub(super) const DICTIONARY_BYTES_MAX: usize = 32768;
