//! Chunks of HDF5, opened: each gives blocks as the array is cut.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use coquina_kernels::Type;

use super::cut::Cut;
use super::meaning::{Meaning, Shown};
use super::stored::StoredBytes;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::limits::Limits;
use crate::base::text_bounds::TextBounds;
use crate::chunk::{BytePlanes, Header, LazyChunk, NextPlane, Params, Place};
use crate::hdf5::{FrameChunk, Inner, Pipeline};
use crate::store::{OpenChunk, Statistics};

/// How a dataset is decoded.
pub(super) struct Format {
    pub(super) pipeline: Pipeline,
    pub(super) cut: Cut,
    /// Items of a chunk along each axis of the dataset, and their bytes.
    pub(super) dims: Vec<u64>,
    pub(super) itemsize: usize,
    /// What items mean, where it is not what their bytes say.
    pub(super) meaning: Option<Meaning>,
}

impl Format {
    /// Opens the chunk that starts at these coordinates and was stored with this mask.
    pub(super) fn open(
        self: &Arc<Self>,
        start: &[u64],
        stored: StoredBytes,
        mask: u32,
        limits: &Limits,
    ) -> Result<Arc<dyn OpenChunk>> {
        Ok(self.shown(self.open_as_stored(start, stored, mask, limits)?))
    }

    /// Bytes that no filter has changed; they may end before the chunk does.
    pub(super) fn plain(&self, stored: StoredBytes) -> Arc<dyn OpenChunk> {
        let held = stored.memory_bytes();
        self.shown(Arc::new(Flat { bytes: Bytes::Stored(stored), cut: self.cut.clone(), held }))
    }

    /// A chunk whose items are what they mean.
    fn shown(&self, chunk: Arc<dyn OpenChunk>) -> Arc<dyn OpenChunk> {
        match &self.meaning {
            Some(meaning) => Arc::new(Shown { chunk, meaning: meaning.clone() }),
            None => chunk,
        }
    }

    fn open_as_stored(
        self: &Arc<Self>,
        start: &[u64],
        stored: StoredBytes,
        mask: u32,
        limits: &Limits,
    ) -> Result<Arc<dyn OpenChunk>> {
        let chunk_bytes = self.pipeline.chunk_bytes();
        let is_tiles = self.cut.is_tiles();
        let held = stored.memory_bytes();
        match self.pipeline.inner(mask) {
            Inner::Blosc2 => {
                let StoredBytes { source, at, len } = stored.clone();
                let frame = FrameChunk::open(source, at, len, &self.dims, self.itemsize, limits);
                if let Ok(frame) = &frame {
                    frame.check_place(start)?;
                }
                match frame {
                    Ok(frame) if is_tiles && self.has_tiles(&frame) => {
                        let block_bytes = self.cut.block_bytes();
                        return Ok(Arc::new(Tiles { frame, block_bytes, held }));
                    }
                    Ok(frame) if !is_tiles && frame.blocks().is_none() => {
                        return Ok(Arc::new(Flat {
                            bytes: Bytes::Frame(frame),
                            cut: self.cut.clone(),
                            held,
                        }));
                    }
                    // Other blocks than the rest of the dataset, or a frame that can be decoded as a whole only.
                    Ok(_) => {}
                    Err(error) if error.kind() == ErrorKind::Unsupported => {}
                    Err(error) => return Err(error),
                }
            }
            Inner::Blosc if !is_tiles => {
                let place = Place { at: stored.at, room: stored.len, sum: None };
                let chunk = LazyChunk::open(Arc::clone(&stored.source), place, limits)?;
                if chunk.header().nbytes != chunk_bytes {
                    let found = chunk.header().nbytes;
                    return Err(Error::corrupt(format!("{found} bytes in a chunk of {chunk_bytes}")));
                }
                return Ok(Arc::new(Flat { bytes: Bytes::Blosc(chunk), cut: self.cut.clone(), held }));
            }
            Inner::Stored if !is_tiles => {
                if stored.len != chunk_bytes as u64 {
                    let len = stored.len;
                    return Err(Error::corrupt(format!("{len} bytes stored as they are, of {chunk_bytes}")));
                }
                return Ok(Arc::new(Flat { bytes: Bytes::Stored(stored), cut: self.cut.clone(), held }));
            }
            _ => {}
        }
        Ok(Arc::new(Whole { format: Arc::clone(self), stored, mask, plain: OnceLock::new() }))
    }

    /// Whether the blocks of a frame are those of the array. Axes of items that are arrays count as one with their item.
    fn has_tiles(&self, frame: &FrameChunk) -> bool {
        let Some(blocks) = frame.blocks() else { return false };
        let rank = self.dims.len();
        frame.block_bytes() == self.cut.block_bytes() && self.cut.blocks().get(..rank) == Some(blocks)
    }
}

/// A frame whose blocks are those of the array.
struct Tiles {
    frame: FrameChunk,
    block_bytes: usize,
    /// Bytes of memory that the stored chunk takes.
    held: usize,
}

impl OpenChunk for Tiles {
    fn read_block(&self, number: usize, out: &mut [u8]) -> Result<()> {
        self.frame.read(number * self.block_bytes, out)
    }

    fn read_planes(&self, number: usize, planes: &mut BytePlanes, next: &mut NextPlane<'_>) -> Result<bool> {
        self.frame.read_planes(number * self.block_bytes, planes, next)
    }

    fn places(&self, number: usize, places: &mut Vec<Range<u64>>) {
        let start = number * self.block_bytes;
        self.frame.places(start..start + self.block_bytes, places);
    }

    fn reuse_encoded(&self, _number: usize, _params: &Params) -> Result<Option<Vec<u8>>> {
        Ok(None)
    }

    fn header(&self) -> Option<Header> {
        self.frame.header().copied()
    }

    fn memory_bytes(&self) -> usize {
        size_of::<Self>() + self.held + self.frame.memory_bytes()
    }
}

/// Bytes in C order of which any part can be had.
enum Bytes {
    Frame(FrameChunk),
    Blosc(LazyChunk),
    Stored(StoredBytes),
}

/// A chunk in C order.
struct Flat {
    bytes: Bytes,
    cut: Cut,
    held: usize,
}

impl OpenChunk for Flat {
    fn read_block(&self, number: usize, out: &mut [u8]) -> Result<()> {
        let range = self.cut.range(number);
        let mut bytes = range.len().min(out.len());
        if let Bytes::Stored(stored) = &self.bytes {
            // The last slab of items that stand in one piece may be shorter than the others.
            let left = stored.len.saturating_sub(range.start as u64);
            bytes = bytes.min(usize::try_from(left).unwrap_or(usize::MAX));
        }
        let (inside, outside) = out.split_at_mut(bytes);
        outside.fill(0);
        match &self.bytes {
            Bytes::Frame(frame) => frame.read(range.start, inside),
            Bytes::Blosc(chunk) => chunk.read(range.start, inside).map(drop),
            Bytes::Stored(stored) => stored.read(range.start, inside),
        }
    }

    fn read_planes(&self, number: usize, planes: &mut BytePlanes, next: &mut NextPlane<'_>) -> Result<bool> {
        let start = self.cut.range(number).start;
        match &self.bytes {
            Bytes::Frame(frame) => frame.read_planes(start, planes, next),
            Bytes::Blosc(chunk) => chunk.read_planes(start, planes, next),
            Bytes::Stored(_) => Ok(false),
        }
    }

    fn places(&self, number: usize, places: &mut Vec<Range<u64>>) {
        let range = self.cut.range(number);
        match &self.bytes {
            Bytes::Frame(frame) => frame.places(range, places),
            Bytes::Blosc(chunk) => chunk.places(range, places),
            Bytes::Stored(stored) => stored.places(range.start as u64..range.end as u64, places),
        }
    }

    fn reuse_encoded(&self, _number: usize, _params: &Params) -> Result<Option<Vec<u8>>> {
        Ok(None)
    }

    fn header(&self) -> Option<Header> {
        match &self.bytes {
            Bytes::Frame(frame) => frame.header().copied(),
            Bytes::Blosc(chunk) => Some(*chunk.header()),
            Bytes::Stored(_) => None,
        }
    }

    fn item(&self) -> Option<Vec<u8>> {
        let Bytes::Frame(frame) = &self.bytes else { return None };
        let (value, size) = (frame.repeated()?, self.cut.item_bytes());
        (!value.is_empty() && size.is_multiple_of(value.len())).then(|| value.repeat(size / value.len()))
    }

    fn bounds(&self, rows: Range<u64>, offset: usize, width: usize) -> Option<(Type, Statistics)> {
        let Bytes::Frame(frame) = &self.bytes else { return None };
        frame.bounds(rows, offset, width)
    }

    fn text_bounds(&self, rows: Range<u64>, offset: usize, width: usize) -> Option<TextBounds> {
        let Bytes::Frame(frame) = &self.bytes else { return None };
        frame.text_bounds(rows, offset, width)
    }

    fn memory_bytes(&self) -> usize {
        let bytes = match &self.bytes {
            Bytes::Frame(frame) => frame.memory_bytes(),
            Bytes::Blosc(chunk) => chunk.memory_bytes(),
            Bytes::Stored(_) => 0,
        };
        size_of::<Self>() + self.held + bytes
    }
}

/// A chunk that is decoded as a whole.
struct Whole {
    format: Arc<Format>,
    stored: StoredBytes,
    mask: u32,
    /// Kept where several blocks are to be had of it.
    plain: OnceLock<Vec<u8>>,
}

impl Whole {
    fn decode(&self, out: &mut [u8]) -> Result<()> {
        self.stored.with(|bytes| self.format.pipeline.decode(bytes, self.mask, out))
    }

    fn plain(&self) -> Result<&[u8]> {
        if let Some(plain) = self.plain.get() {
            return Ok(plain);
        }
        let mut plain = vec![0; self.format.pipeline.chunk_bytes()];
        self.decode(&mut plain)?;
        Ok(self.plain.get_or_init(|| plain))
    }
}

impl OpenChunk for Whole {
    fn read_block(&self, number: usize, out: &mut [u8]) -> Result<()> {
        let cut = &self.format.cut;
        if !cut.is_tiles() && cut.nblocks() == 1 && out.len() == self.format.pipeline.chunk_bytes() {
            return self.decode(out);
        }
        if cut.nblocks() > 1 {
            cut.take(self.plain()?, number, out);
            return Ok(());
        }
        let mut plain = vec![0; self.format.pipeline.chunk_bytes()];
        self.decode(&mut plain)?;
        cut.take(&plain, number, out);
        Ok(())
    }

    fn decodes_whole(&self) -> bool {
        self.format.cut.nblocks() > 1 && self.plain.get().is_none()
    }

    fn places(&self, _number: usize, places: &mut Vec<Range<u64>>) {
        if self.plain.get().is_none() {
            self.stored.places(0..self.stored.len, places);
        }
    }

    fn reuse_encoded(&self, _number: usize, _params: &Params) -> Result<Option<Vec<u8>>> {
        Ok(None)
    }

    fn memory_bytes(&self) -> usize {
        let plain = if self.format.cut.nblocks() == 1 { 0 } else { self.format.pipeline.chunk_bytes() };
        size_of::<Self>() + self.stored.memory_bytes() + plain
    }
}
