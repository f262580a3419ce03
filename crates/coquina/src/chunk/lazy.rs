//! A chunk in a file, of which only the head is read; blocks are fetched when they are wanted.
//!
//! In: a source, and the place of a chunk in it. Out: the bytes of any blocks. Where the chunk has sums, the head is
//! verified when it is opened and each block before it is decoded.
//! Invariant: what is decoded is what [`super::Chunk`] decodes from the same bytes.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use super::block::DICTIONARY_BYTES_MAX;
use super::content::Content;
use super::fetch::ChunkBytes;
use super::header::{HEADER_BYTES, Header, Kind};
use super::params::Params;
use super::planes::{BytePlanes, NextPlane};
use super::spans::{head_bytes, starts_range};
use super::sums::{BlockSums, Place, SumsApart, table_bytes};
use crate::base::error::{Error, Result};
use crate::base::io::ReadAt;
use crate::base::layout::BlockLayout;
use crate::base::limits::Limits;
use crate::filter::DELTA;

/// The first read: the head of most chunks, and small chunks whole.
pub(crate) const FIRST_READ_BYTES: usize = 4096;

/// A chunk of which only the head is in memory.
pub struct LazyChunk {
    header: Header,
    content: Content<'static>,
}

impl LazyChunk {
    /// Reads the head of the chunk at `place`, and verifies it if the place has a sum.
    ///
    /// # Errors
    /// Those of [`super::Chunk::parse`], `Corrupt` for a wrong sum, or what the source says.
    pub fn open(source: Arc<dyn ReadAt>, place: Place, limits: &Limits) -> Result<Self> {
        Self::open_in(&BlockLayout::default(), source, place, limits)
    }

    /// As [`LazyChunk::open`], of a chunk of an array with such blocks.
    ///
    /// # Errors
    /// As [`LazyChunk::open`].
    pub fn open_in(
        layout: &BlockLayout,
        source: Arc<dyn ReadAt>,
        place: Place,
        limits: &Limits,
    ) -> Result<Self> {
        Self::open_by(layout, source, place, limits, None)
    }

    /// As [`LazyChunk::open_in`]; the sums may stand apart from the chunk.
    pub(crate) fn open_by(
        layout: &BlockLayout,
        source: Arc<dyn ReadAt>,
        place: Place,
        limits: &Limits,
        apart: Option<&SumsApart<'_>>,
    ) -> Result<Self> {
        let mut front = Front::read(&*source, place)?;
        let header = Header::read(&front.bytes, limits)?;
        if header.cbytes > front.room {
            let (cbytes, room) = (header.cbytes, front.room);
            return Err(Error::truncated(format!("chunk: {cbytes} bytes announced, {room} there")));
        }
        front.read_head(&header)?;
        let chunk = front.bytes.get(..header.cbytes).unwrap_or(&front.bytes);
        let head = chunk.get(..head_bytes(&header, chunk)?).unwrap_or_default();
        let sums = match (apart, place.sum) {
            (Some(apart), _) => Some(apart.verified(&header, head)?),
            (None, Some(sum)) => Some(BlockSums::verified(sum, head, &front.table(&header)?)?),
            (None, None) => None,
        };
        let content = Content::lazy(&header, head, front.keep(&source, &header), sums, layout)?;
        Ok(Self { header, content })
    }

    /// Takes the bytes for those of an encoder, as bytes that match their sums are taken: where only the front of a
    /// block is wanted, the rest need not be decoded.
    #[must_use]
    pub fn trusted(mut self) -> Self {
        if let Content::Blocks(blocks) = &mut self.content {
            blocks.trust();
        }
        self
    }

    /// The header.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// How many blocks there are.
    pub fn nblocks(&self) -> usize {
        self.header.nblocks()
    }

    /// Where block `number` lies in the decoded chunk; at its end for a number that it does not have.
    pub fn block_range(&self, number: usize) -> Range<usize> {
        self.content.block_range(&self.header, number)
    }

    /// Decodes the blocks from `first` on that fill `out`, which must be whole ones; returns how many had to be
    /// decoded. Blocks that stand next to each other are read at once.
    ///
    /// # Errors
    /// `Invalid` if `out` ends inside of a block, and those of [`LazyChunk::read`].
    pub fn decode_blocks(&self, first: usize, out: &mut [u8]) -> Result<usize> {
        let start = self.block_range(first).start;
        let stop = start.saturating_add(out.len());
        if !self.content.is_border(&self.header, stop) {
            return Err(Error::invalid(format!(
                "output: {} bytes from block {first} on are no whole blocks",
                out.len()
            )));
        }
        self.read(start, out)
    }

    /// Decodes the bytes from `start` on that fill `out`; returns how many blocks had to be decoded.
    ///
    /// # Errors
    /// `OutOfBounds` if the chunk ends before, `Corrupt` for a block that is damaged, or what the source says.
    pub fn read(&self, start: usize, out: &mut [u8]) -> Result<usize> {
        let nbytes = self.header.nbytes;
        if start > nbytes || out.len() > nbytes - start {
            let bytes = out.len();
            return Err(Error::out_of_bounds(format!(
                "bytes {start}..{start}+{bytes} of a chunk of {nbytes}"
            )));
        }
        self.content.read(start, out)
    }

    /// Decodes the byte planes of the block at byte `start` that `next` asks for, one after another; whether it is stored
    /// as planes. If not, nothing has been done. A damaged plane that is not asked for may go unnoticed where the chunk
    /// has no sums.
    ///
    /// # Errors
    /// As [`LazyChunk::read`].
    pub fn read_planes(
        &self,
        start: usize,
        planes: &mut BytePlanes,
        next: &mut NextPlane<'_>,
    ) -> Result<bool> {
        match &self.content {
            Content::Blocks(blocks) if start < self.header.nbytes => blocks.read_planes(start, planes, next),
            _ => Ok(false),
        }
    }

    /// Adds where in the source the stored bytes stand that decoding these bytes of the chunk needs; none for what is
    /// in memory, or beyond the end.
    pub fn places(&self, bytes: Range<usize>, places: &mut Vec<Range<u64>>) {
        let end = bytes.end.min(self.header.nbytes);
        self.content.places(bytes.start.min(end)..end, places);
    }

    /// Whether its encoded blocks can stand as they are in a chunk that is encoded by `params`.
    pub fn can_reuse(&self, params: &Params) -> bool {
        let (ours, theirs) = (&self.header, params.header(self.header.nbytes));
        // With delta a block depends on block 0, and with a dictionary on that.
        ours.kind().is_ok_and(|kind| kind == Kind::Blocks)
            && !(params.dictionary || ours.has_dictionary() || ours.pipeline.has(DELTA))
            && (ours.version, ours.flags, ours.typesize) == (theirs.version, theirs.flags, theirs.typesize)
            && (ours.blocksize, ours.pipeline) == (theirs.blocksize, theirs.pipeline)
            && (ours.codec_id, ours.codec_meta, ours.flags2)
                == (theirs.codec_id, theirs.codec_meta, theirs.flags2)
    }

    /// The stored bytes of block `number`, verified if it has a sum; nothing if blocks are not encoded.
    ///
    /// # Errors
    /// As [`LazyChunk::read`].
    pub fn encoded_block(&self, number: usize) -> Result<Option<Vec<u8>>> {
        match &self.content {
            Content::Blocks(blocks) if number < self.nblocks() => blocks.encoded(number).map(Some),
            _ => Ok(None),
        }
    }

    /// Bytes of memory that keeping it takes, the source aside.
    pub fn memory_bytes(&self) -> usize {
        let dictionary = if self.header.has_dictionary() { DICTIONARY_BYTES_MAX } else { 0 };
        size_of::<Self>() + self.content.memory_bytes() + dictionary
    }
}

/// The header of the chunk at `place`, whatever its codec and filters are.
///
/// # Errors
/// Those of [`Header::read`], `Truncated` for a chunk that reaches beyond its place, what the source says.
pub fn read_header(source: &dyn ReadAt, place: &Place, limits: &Limits) -> Result<Header> {
    let mut bytes = [0; HEADER_BYTES];
    let room = usize::try_from(place.room).unwrap_or(usize::MAX);
    let bytes = &mut bytes[..HEADER_BYTES.min(room)];
    source.read_exact_at(bytes, place.at)?;
    let header = Header::read(bytes, limits)?;
    if header.cbytes as u64 > place.room {
        let cbytes = header.cbytes;
        return Err(Error::truncated(format!("{cbytes} bytes announced, {} there", place.room)));
    }
    Ok(header)
}

/// The front of a chunk, as much of it as is known to be needed.
struct Front<'s> {
    source: &'s dyn ReadAt,
    at: u64,
    /// Bytes that the chunk and its table may take.
    room: usize,
    bytes: Cow<'s, [u8]>,
}

impl<'s> Front<'s> {
    fn read(source: &'s dyn ReadAt, place: Place) -> Result<Self> {
        let at = place.at;
        // What the sizes of the chunk ask for must be there before memory is taken for it.
        let room = place.room.min(source.len()?.saturating_sub(at));
        let room = usize::try_from(room).unwrap_or(usize::MAX);
        let mut front = Self { source, at, room, bytes: Cow::Owned(Vec::new()) };
        let all = usize::try_from(at).ok().and_then(|at| source.as_slice()?.get(at..)?.get(..room));
        match all {
            Some(all) => front.bytes = Cow::Borrowed(all),
            // Of what is far away no more than is needed: the head, which was fetched before.
            None if source.is_far() && room > FIRST_READ_BYTES => front.need(HEADER_BYTES)?,
            None => front.need(FIRST_READ_BYTES.min(room))?,
        }
        Ok(front)
    }

    /// Reads on, until there are so many bytes.
    fn need(&mut self, bytes: usize) -> Result<()> {
        let have = self.bytes.len();
        if bytes > have {
            let all = self.bytes.to_mut();
            all.resize(bytes, 0);
            self.source.read_exact_at(&mut all[have..], self.at.saturating_add(have as u64))?;
        }
        Ok(())
    }

    /// Reads on, until all is there that stands before the blocks; where that says too little, all of the chunk.
    fn read_head(&mut self, header: &Header) -> Result<()> {
        let cbytes = header.cbytes;
        match header.kind()? {
            Kind::Special(_) | Kind::VariableBlocks => self.need(cbytes),
            Kind::Memcpyed => self.need(HEADER_BYTES.min(cbytes)),
            Kind::Blocks => {
                let starts = starts_range(header).end;
                self.need(starts)?;
                if !header.has_dictionary() {
                    return Ok(());
                }
                self.need(starts.saturating_add(4).min(cbytes))?;
                let length = self.bytes.get(starts..).and_then(|rest| rest.first_chunk::<4>());
                let length = length.map_or(0, |length| u32::from_le_bytes(*length) as usize);
                self.need((starts + 4 + length.min(DICTIONARY_BYTES_MAX)).min(cbytes))
            }
        }
    }

    /// The table of block sums, which follows the chunk.
    fn table(&self, header: &Header) -> Result<Cow<'_, [u8]>> {
        let (cbytes, bytes) = (header.cbytes, table_bytes(header)?);
        let left = self.room - cbytes;
        if bytes > left {
            return Err(Error::truncated(format!("block checksums: {bytes} bytes needed, {left} there")));
        }
        if let Some(table) = self.bytes.get(cbytes..cbytes + bytes) {
            return Ok(table.into());
        }
        let mut table = vec![0; bytes];
        self.source.read_exact_at(&mut table, self.at.saturating_add(cbytes as u64))?;
        Ok(table.into())
    }

    /// The chunk's bytes: those here if they are all that there are, and read.
    fn keep(&self, source: &Arc<dyn ReadAt>, header: &Header) -> ChunkBytes<'static> {
        let (source, cbytes) = (Arc::clone(source), header.cbytes);
        match &self.bytes {
            Cow::Owned(bytes) if bytes.len() >= cbytes => ChunkBytes::Here(bytes[..cbytes].to_vec().into()),
            _ => ChunkBytes::There { source, at: self.at, cbytes },
        }
    }
}
