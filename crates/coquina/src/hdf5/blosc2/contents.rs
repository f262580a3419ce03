//! What the frame of a chunk holds, and all of it decoded.
//!
//! In: the bytes of a stored chunk, and how many bytes must come out. Out: these bytes, in C order.
//! Source: `docs/formats/hdf5-filters.md`, "Blosc2"; `docs/formats/b2nd.md`.
//! Invariant: nothing is made room for that is not in proportion to what must come out.

use std::ops::Range;

use super::boxes::Tiles;
use crate::base::error::{Error, Result};
use crate::base::io::ReadAt;
use crate::base::layout::BlockLayout;
use crate::base::limits::Limits;
use crate::base::pool::Job;
use crate::base::scratch::{ScratchStack, with_scratch_of};
use crate::chunk::{Chunk, Header, Special};
use crate::frame::b2nd::{METALAYER, METALAYER_OLD, Meta, Sizes};
use crate::frame::inside::{Inside, InsideChunk};

/// What padding may add to a chunk: its extent along each of up to so many axes may double.
const DOUBLED_AXES: u32 = 8;
const SLACK_BYTES: usize = 64 << 10;

thread_local! {
    static BLOCK: ScratchStack<Vec<u8>> = const { ScratchStack::new(4 << 20) };
}

/// What a frame holds.
pub(super) struct Contents {
    pub(super) inside: Inside,
    /// The array, if it is one.
    pub(super) array: Option<(Meta, Sizes)>,
    /// What codecs and filters are told of it.
    pub(super) layout: BlockLayout,
    /// Bytes that come out, without padding.
    plain: usize,
}

/// An inner chunk.
enum Piece<'a> {
    /// These bytes over and over, and how many in all.
    Repeated(Vec<u8>, usize),
    Chunk(Chunk<'a>),
}

/// How many bytes come out of a frame.
pub(crate) fn decoded_bytes(stored: &[u8]) -> Result<Option<usize>> {
    let inside = Inside::read(&stored, &Limits { chunk_bytes: SLACK_BYTES as u64 })?;
    let bytes = match metalayer(&inside)? {
        None => inside.nbytes(),
        Some(meta) => {
            let item = meta.item_bytes(inside.typesize(), inside.blocksize())? as u64;
            let bytes = meta.shape.iter().try_fold(item, |all, &n| all.checked_mul(n));
            bytes.ok_or_else(|| Error::corrupt(format!("shape {:?} of items of {item} bytes", meta.shape)))?
        }
    };
    Ok(usize::try_from(bytes).ok())
}

/// Decodes the frame at the front of `stored` to exactly fill `out`.
pub(crate) fn decode_frame(stored: &[u8], out: &mut [u8]) -> Result<()> {
    let contents = Contents::read(&stored, out.len())?;
    match &contents.array {
        None => contents.decode_flat(stored, out),
        Some((meta, sizes)) => with_block(|block| contents.decode_array(stored, meta, sizes, block, out)),
    }
}

impl Contents {
    /// Reads what the frame at the front of `source` says; `plain` bytes must come out.
    pub(super) fn read(source: &dyn ReadAt, plain: usize) -> Result<Self> {
        let inside = Inside::read(source, &Limits { chunk_bytes: bound(plain) as u64 })?;
        let Some(meta) = metalayer(&inside)? else {
            if inside.nbytes() != plain as u64 {
                let nbytes = inside.nbytes();
                return Err(Error::corrupt(format!("frame: {nbytes} bytes in place of {plain}")));
            }
            return Ok(Self { inside, array: None, layout: BlockLayout::default(), plain });
        };
        // The frame's typesize may be 1 for items of more than 255 bytes: what must come out tells.
        let items = meta.shape.iter().try_fold(1_u64, |all, &n| all.checked_mul(n)).unwrap_or(u64::MAX);
        let items = usize::try_from(items).unwrap_or(usize::MAX);
        let item = plain.checked_div(items).filter(|&item| item > 0 && item * items == plain);
        let item =
            item.ok_or_else(|| Error::corrupt(format!("array of shape {:?} for {plain} bytes", meta.shape)))?;
        let sizes = meta.sizes(item)?;
        let padded =
            plain.saturating_mul(1 << DOUBLED_AXES.min(u32::try_from(meta.shape.len()).unwrap_or(0)));
        if sizes.block_bytes > bound(plain) || sizes.chunk_bytes > padded.saturating_add(SLACK_BYTES) {
            let Sizes { block_bytes, chunk_bytes, .. } = sizes;
            return Err(Error::corrupt(format!(
                "array of {plain} bytes in chunks of {chunk_bytes}, blocks of {block_bytes}"
            )));
        }
        if (inside.nbytes(), inside.nchunks()) != (sizes.nbytes, sizes.nchunks) {
            let (nbytes, nchunks) = (inside.nbytes(), inside.nchunks());
            return Err(Error::corrupt(format!(
                "frame: {nbytes} bytes in {nchunks} chunks in place of {} in {}",
                sizes.nbytes, sizes.nchunks
            )));
        }
        let layout = meta.layout(item);
        Ok(Self { inside, array: Some((meta, sizes)), layout, plain })
    }

    /// Checks the header of an inner chunk, which is `expected` bytes, if that is known.
    pub(super) fn check(&self, header: &Header, expected: Option<usize>) -> Result<()> {
        if let Some(expected) = expected.filter(|&expected| expected != header.nbytes) {
            let nbytes = header.nbytes;
            return Err(Error::corrupt(format!("chunk: {nbytes} bytes in place of {expected}")));
        }
        if header.block_bytes() > bound(self.plain) {
            let bytes = header.block_bytes();
            return Err(Error::corrupt(format!("chunk: blocks of {bytes} bytes for {} bytes", self.plain)));
        }
        Ok(())
    }

    /// The item that a special chunk repeats.
    pub(super) fn special(&self, special: Special) -> Result<Vec<u8>> {
        match special {
            Special::Zeros | Special::Uninit => Ok(vec![0]),
            _ => special.item(self.inside.typesize()),
        }
    }

    /// What tells where the items of inner chunk `number` are.
    pub(super) fn tiles(&self, number: u64, meta: &Meta) -> Result<Tiles> {
        let wide = |n: u64| usize::try_from(n).map_err(|_| Error::limit(format!("{n} items along an axis")));
        let shape: Vec<usize> = meta.shape.iter().map(|&n| wide(n)).collect::<Result<_>>()?;
        let chunk: Vec<usize> = meta.chunks.iter().map(|&n| (n as usize).max(1)).collect();
        let block: Vec<usize> = meta.blocks.iter().map(|&n| (n as usize).max(1)).collect();
        let (mut start, mut left) = (vec![0; shape.len()], wide(number)?);
        for axis in (0..shape.len()).rev() {
            let count = shape[axis].div_ceil(chunk[axis]).max(1);
            start[axis] = left % count * chunk[axis];
            left /= count;
        }
        let extent = (0..shape.len()).map(|k| chunk[k].min(shape[k] - start[k])).collect();
        let grid = chunk.iter().zip(&block).map(|(chunk, block)| chunk.div_ceil(*block)).collect();
        let itemsize = self.plain / shape.iter().product::<usize>().max(1);
        Ok(Tiles { shape, start, extent, block, grid, itemsize })
    }

    fn piece<'a>(&self, stored: &'a [u8], number: u64) -> Result<Piece<'a>> {
        let piece = || {
            let (chunk, nbytes) = self.inside.chunk(number)?;
            let place = match chunk {
                InsideChunk::Special(special, nbytes) => {
                    self.inside.guard()?.map_or(Ok(()), |guard| guard.sums.check(&[]))?;
                    return Ok(Piece::Repeated(self.special(special)?, nbytes));
                }
                InsideChunk::At(place) => place,
            };
            let range = || -> Option<Range<usize>> {
                let at = usize::try_from(place.at).ok()?;
                Some(at..at.checked_add(usize::try_from(place.room).ok()?)?)
            };
            let bytes = range().and_then(|range| stored.get(range)).unwrap_or_default();
            let nbytes = self.array.as_ref().map(|(_, sizes)| sizes.chunk_bytes).or(nbytes);
            self.check(&Header::read(bytes, &Limits::default())?, nbytes)?;
            let sums = self.inside.guard()?.map(|guard| guard.sums);
            Chunk::parse_by(&self.layout, bytes, &Limits::default(), sums.as_ref()).map(Piece::Chunk)
        };
        piece().map_err(|e: Error| e.at(format!("inner chunk {number}")))
    }

    fn decode_flat(&self, stored: &[u8], out: &mut [u8]) -> Result<()> {
        let mut left = out;
        for number in 0..self.inside.nchunks() {
            let piece = self.piece(stored, number)?;
            let (nbytes, room) = (piece.nbytes(), left.len());
            let parts = std::mem::take(&mut left).split_at_mut_checked(nbytes);
            let (part, rest) = parts.ok_or_else(|| {
                Error::corrupt(format!("inner chunk {number}: {nbytes} bytes where {room} are left"))
            })?;
            piece.read(0, part).map_err(|e| e.at(format!("inner chunk {number}")))?;
            left = rest;
        }
        if left.is_empty() {
            Ok(())
        } else {
            Err(Error::corrupt(format!("{} bytes are missing", left.len())))
        }
    }

    fn decode_array(
        &self,
        stored: &[u8],
        meta: &Meta,
        sizes: &Sizes,
        block: &mut Vec<u8>,
        out: &mut [u8],
    ) -> Result<()> {
        for number in 0..sizes.nchunks {
            let (piece, tiles) = (self.piece(stored, number)?, self.tiles(number, meta)?);
            let decoded = if piece.nbytes() != sizes.chunk_bytes {
                Err(Error::corrupt(format!("{} bytes in place of {}", piece.nbytes(), sizes.chunk_bytes)))
            } else {
                read_tiles(&tiles, block, out, |start, part| piece.read(start, part))
            };
            decoded.map_err(|e| e.at(format!("inner chunk {number}")))?;
        }
        Ok(())
    }
}

/// Reads all items of `tiles` by way of `block`, or without where they are in order.
pub(super) fn read_tiles(
    tiles: &Tiles,
    block: &mut Vec<u8>,
    out: &mut [u8],
    read: impl Fn(usize, &mut [u8]) -> Result<()>,
) -> Result<()> {
    if tiles.are_in_order() {
        return read(0, out);
    }
    let bytes = tiles.block_bytes();
    if block.len() < bytes {
        *block = vec![0; bytes];
    }
    let block = block.get_mut(..bytes).unwrap_or_default();
    tiles.each(|number, tile| {
        read(number * bytes, block)?;
        tiles.scatter(tile, block, out);
        Ok(())
    })
}

impl Piece<'_> {
    fn nbytes(&self) -> usize {
        match self {
            Self::Repeated(_, nbytes) => *nbytes,
            Self::Chunk(chunk) => chunk.header().nbytes,
        }
    }

    fn read(&self, start: usize, out: &mut [u8]) -> Result<()> {
        match self {
            Self::Repeated(value, _) => {
                repeat(value, start, out);
                Ok(())
            }
            Self::Chunk(chunk) => chunk.decode_range(start, out, &Job::inline()),
        }
    }
}

/// Fills `out` with `value` over and over, as it stands `start` bytes after the beginning of a value.
pub(super) fn repeat(value: &[u8], start: usize, out: &mut [u8]) {
    if let [byte] = value {
        return out.fill(*byte);
    }
    let values = value.iter().cycle().skip(start % value.len().max(1));
    out.iter_mut().zip(values).for_each(|(byte, value)| *byte = *value);
}

/// Runs `work` with a block of this thread.
pub(super) fn with_block<T>(work: impl FnOnce(&mut Vec<u8>) -> T) -> T {
    with_scratch_of(&BLOCK, work)
}

/// What blocks and lists may take where `plain` bytes come out.
fn bound(plain: usize) -> usize {
    plain.saturating_mul(2).saturating_add(SLACK_BYTES)
}

fn metalayer(inside: &Inside) -> Result<Option<Meta>> {
    let layer = inside.metalayer(METALAYER).or_else(|| inside.metalayer(METALAYER_OLD));
    layer.map(Meta::read).transpose()
}
