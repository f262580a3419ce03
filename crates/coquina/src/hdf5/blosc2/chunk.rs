//! A stored frame that is read where it stands: its head once, blocks when they are wanted.
//!
//! In: a file, and the place of a stored chunk in it. Out: any bytes of the one chunk in the frame.
//! Invariant: what is read is what decoding the whole frame gives.

use std::num::NonZeroU32;
use std::ops::Range;
use std::sync::Arc;

use coquina_kernels::Type;

use super::boxes::Tiles;
use super::contents::{Contents, read_tiles, repeat, with_block};
use super::zones::{self, Zones};
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::io::ReadAt;
use crate::base::limits::Limits;
use crate::base::text_bounds::TextBounds;
use crate::chunk::{BytePlanes, Header, LazyChunk, NextPlane};
use crate::frame::Statistics;
use crate::frame::guard;
use crate::frame::inside::InsideChunk;

/// Frames up to this size are read at once, and kept.
const SMALL_BYTES: u64 = 8 << 10;
/// What is called a block where nothing is stored.
const REPEATED_BLOCK_BYTES: usize = 64 << 10;

/// A stored frame, of which only what is asked for is read.
pub struct FrameChunk {
    inner: Inner,
    /// Where the frame starts in the source.
    at: u64,
    /// Bytes that the inner chunk decodes to, and those that come out without padding.
    nbytes: usize,
    plain: usize,
    array: Option<(Tiles, Vec<u64>)>,
    zones: Option<Box<Zones>>,
    has_sums: bool,
    /// What it says of where it belongs.
    place: Option<NonZeroU32>,
}

enum Inner {
    Lazy(LazyChunk),
    /// These bytes over and over.
    Repeated(Vec<u8>),
}

impl Inner {
    /// The one chunk of a frame, of `nbytes` bytes.
    fn open(contents: &Contents, window: Arc<dyn ReadAt>, nbytes: usize) -> Result<Self> {
        let sums = contents.inside.guard()?.map(|guard| guard.sums);
        match contents.inside.chunk(0)?.0 {
            InsideChunk::Special(special, found) if found == nbytes => {
                sums.map_or(Ok(()), |sums| sums.check(&[]))?;
                Ok(Self::Repeated(contents.special(special)?))
            }
            InsideChunk::Special(_, found) => {
                Err(Error::corrupt(format!("chunk: {found} bytes in place of {nbytes}")))
            }
            InsideChunk::At(place) => {
                let limits = Limits { chunk_bytes: nbytes as u64 };
                let chunk =
                    LazyChunk::open_by(&contents.layout, window, place, &limits, sums.as_ref())
                        // The limit is what the dataset says of its chunks.
                        .map_err(|e| {
                            if e.kind() == ErrorKind::Limit { Error::corrupt(e.to_string()) } else { e }
                        })?;
                contents.check(chunk.header(), Some(nbytes))?;
                Ok(Self::Lazy(chunk))
            }
        }
    }
}

/// Where the items of an array are, and the items of its blocks along each axis; `None` for a frame of plain bytes.
fn blocks_of(contents: &Contents, dims: &[u64]) -> Result<Option<(Tiles, Vec<u64>)>> {
    let other = |what: &str| Error::unsupported(format!("frame: {what}: only the whole of it can be read"));
    if contents.inside.nchunks() != 1 {
        return Err(other("several chunks"));
    }
    let Some((meta, _)) = &contents.array else { return Ok(None) };
    if meta.shape != dims || !meta.chunks.iter().map(|&n| u64::from(n)).eq(dims.iter().copied()) {
        return Err(other(&format!("an array of shape {:?}, not {dims:?}", meta.shape)));
    }
    Ok(Some((contents.tiles(0, meta)?, meta.blocks.iter().map(|&n| n.into()).collect())))
}

impl FrameChunk {
    /// Opens the frame at `at`, which takes at most `room` bytes and holds a chunk of `dims` items of `itemsize` bytes.
    ///
    /// # Errors
    /// `Corrupt` or `Truncated` for damaged bytes, `Limit`, `Unsupported` for a frame that only
    /// [`super::super::Pipeline::decode`] can decode (of several chunks, or of an array of another shape), what the
    /// source says.
    pub fn open(
        source: Arc<dyn ReadAt>,
        at: u64,
        room: u64,
        dims: &[u64],
        itemsize: usize,
        limits: &Limits,
    ) -> Result<Self> {
        let plain = dims.iter().try_fold(itemsize as u64, |all, &n| all.checked_mul(n));
        let plain = plain.and_then(|bytes| usize::try_from(bytes).ok());
        let plain =
            plain.ok_or_else(|| Error::limit(format!("chunks of {dims:?} items of {itemsize} bytes")))?;
        limits.check_chunk(plain)?;
        let window = window(source, at, room)?;
        let contents = Contents::read(&*window, plain)?;
        let array = blocks_of(&contents, dims)?;
        let nbytes = contents.array.as_ref().map_or(plain, |(_, sizes)| sizes.chunk_bytes);
        let guard = contents.inside.guard()?;
        let inner = Inner::open(&contents, window, nbytes)?;
        let zones = match (dims, &array, contents.inside.sealed(zones::METALAYER)) {
            (&[rows], None, Some(content)) => {
                Zones::read(content, usize::try_from(rows).unwrap_or(usize::MAX), itemsize).map(Box::new)
            }
            _ => None,
        };
        let (has_sums, place) = (guard.is_some(), guard.and_then(|guard| guard.place()));
        Ok(Self { inner, at, nbytes, plain, array, zones, has_sums, place })
    }

    /// Whether what is read is verified.
    pub fn has_sums(&self) -> bool {
        self.has_sums
    }

    /// Checks that the chunk was written for these coordinates of its first item, if it says where it belongs.
    ///
    /// # Errors
    /// `Corrupt` if it was written for others.
    pub fn check_place(&self, start: &[u64]) -> Result<()> {
        guard::check_place(self.place, start)
    }

    /// The shape of a block, if it holds an n-dimensional array: blocks then stand one after another, each padded
    /// to a full one.
    pub fn blocks(&self) -> Option<&[u64]> {
        self.array.as_ref().map(|(_, blocks)| &blocks[..])
    }

    /// Bytes of a block: of the array's, or if it holds none of those that are decoded at once.
    pub fn block_bytes(&self) -> usize {
        match (&self.array, &self.inner) {
            (Some((tiles, _)), _) => tiles.block_bytes(),
            (None, Inner::Lazy(chunk)) => chunk.header().block_bytes(),
            (None, Inner::Repeated(_)) => REPEATED_BLOCK_BYTES.min(self.nbytes).max(1),
        }
    }

    /// Bytes of the inner chunk: with padding, if it holds an array.
    pub fn nbytes(&self) -> usize {
        self.nbytes
    }

    /// The bytes that it repeats, if that is all that it holds.
    pub fn repeated(&self) -> Option<&[u8]> {
        match &self.inner {
            Inner::Repeated(value) => Some(value),
            Inner::Lazy(_) => None,
        }
    }

    /// The header of the inner chunk, if that holds more than bytes over and over.
    pub fn header(&self) -> Option<&Header> {
        match &self.inner {
            Inner::Lazy(chunk) => Some(chunk.header()),
            Inner::Repeated(_) => None,
        }
    }

    /// What is known, without decoding, of `width` bytes at `offset` of each of these items, and their type.
    pub fn bounds(&self, rows: Range<u64>, offset: usize, width: usize) -> Option<(Type, Statistics)> {
        let (start, end) = (usize::try_from(rows.start).ok()?, usize::try_from(rows.end).ok()?);
        self.zones.as_ref()?.bounds(start..end, offset, width)
    }

    /// What is known, without decoding, of the texts that `width` bytes at `offset` of each of these items are.
    pub fn text_bounds(&self, rows: Range<u64>, offset: usize, width: usize) -> Option<TextBounds> {
        let (start, end) = (usize::try_from(rows.start).ok()?, usize::try_from(rows.end).ok()?);
        self.zones.as_ref()?.text_bounds(&(start..end), offset, width)
    }

    /// Decodes the bytes from `start` on that fill `out`, counted in the inner chunk.
    ///
    /// # Errors
    /// `OutOfBounds`, `Corrupt` or `Truncated`, what the source says.
    pub fn read(&self, start: usize, out: &mut [u8]) -> Result<()> {
        match &self.inner {
            Inner::Lazy(chunk) => chunk.read(start, out).map(drop),
            Inner::Repeated(value) => {
                if start > self.nbytes || out.len() > self.nbytes - start {
                    let (bytes, nbytes) = (out.len(), self.nbytes);
                    return Err(Error::out_of_bounds(format!(
                        "bytes {start}..{start}+{bytes} of a chunk of {nbytes}"
                    )));
                }
                repeat(value, start, out);
                Ok(())
            }
        }
    }

    /// Decodes the byte planes of the block at byte `start` of the inner chunk that `next` asks for; whether it has any.
    ///
    /// # Errors
    /// As [`FrameChunk::read`].
    pub fn read_planes(
        &self,
        start: usize,
        planes: &mut BytePlanes,
        next: &mut NextPlane<'_>,
    ) -> Result<bool> {
        match &self.inner {
            Inner::Lazy(chunk) => chunk.read_planes(start, planes, next),
            Inner::Repeated(_) => Ok(false),
        }
    }

    /// Adds where in the source the stored bytes stand that [`FrameChunk::read`] of these bytes needs.
    pub fn places(&self, bytes: Range<usize>, places: &mut Vec<Range<u64>>) {
        let Inner::Lazy(chunk) = &self.inner else { return };
        let first = places.len();
        chunk.places(bytes, places);
        for place in places.iter_mut().skip(first) {
            *place = self.at.saturating_add(place.start)..self.at.saturating_add(place.end);
        }
    }

    /// Decodes all items, in C order.
    ///
    /// # Errors
    /// As [`FrameChunk::read`], and `Invalid` for another length of `out`.
    pub fn read_items(&self, out: &mut [u8]) -> Result<()> {
        if out.len() != self.plain {
            return Err(Error::invalid(format!("output: {} bytes for a chunk of {}", out.len(), self.plain)));
        }
        match &self.array {
            None => self.read(0, out),
            Some((tiles, _)) => {
                with_block(|block| read_tiles(tiles, block, out, |start, part| self.read(start, part)))
            }
        }
    }

    /// Bytes of memory that keeping it takes, the source aside.
    pub fn memory_bytes(&self) -> usize {
        let inner = match &self.inner {
            Inner::Lazy(chunk) => chunk.memory_bytes(),
            Inner::Repeated(value) => value.len(),
        };
        let axes = self.array.as_ref().map_or(0, |(_, blocks)| blocks.len());
        let zones = self.zones.as_ref().map_or(0, |zones| zones.memory_bytes());
        size_of::<Self>() + inner + zones + axes * 6 * size_of::<usize>()
    }
}

/// A part of a source, which is all that there is.
struct Window {
    source: Arc<dyn ReadAt>,
    at: u64,
    len: u64,
}

/// The bytes of a frame: those of the source, or if they are few a copy of them.
fn window(source: Arc<dyn ReadAt>, at: u64, room: u64) -> Result<Arc<dyn ReadAt>> {
    let len = room.min(source.len()?.saturating_sub(at));
    let window = Window { source, at, len };
    if len <= SMALL_BYTES && window.as_slice().is_none() {
        let mut bytes = vec![0; usize::try_from(len).unwrap_or(0)];
        window.read_exact_at(&mut bytes, 0)?;
        return Ok(Arc::new(bytes));
    }
    Ok(Arc::new(window))
}

impl ReadAt for Window {
    fn len(&self) -> Result<u64> {
        Ok(self.len)
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> Result<()> {
        let end = offset.checked_add(buffer.len() as u64);
        if end.is_none_or(|end| end > self.len) {
            let (bytes, len) = (buffer.len(), self.len);
            return Err(Error::truncated(format!("{bytes} bytes at {offset}: the stored chunk has {len}")));
        }
        self.source.read_exact_at(buffer, self.at.saturating_add(offset))
    }

    fn as_slice(&self) -> Option<&[u8]> {
        let at = usize::try_from(self.at).ok()?;
        self.source.as_slice()?.get(at..)?.get(..usize::try_from(self.len).ok()?)
    }
}
