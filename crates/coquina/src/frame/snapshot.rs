//! The state of a frame as of one commit.
//!
//! It never changes, so that any number of threads read it while a writer goes on.
//! Source: `docs/formats/frame.md`.

use std::fs::File;
use std::num::NonZeroU64;
use std::sync::Arc;

use super::disk::Folder;
use super::format::b2nd::{METALAYER, METALAYER_OLD, Meta};
use super::format::header::Header;
use super::format::layer;
use super::format::offsets::special;
use super::format::slots::Slot;
use super::format::spec::{Kind, Spec};
use super::format::statistics::{Statistics, entry_bytes};
use super::state::{FrameState, SumState};
use crate::base::error::{Error, Result};
use crate::base::io::ReadAt;
use crate::base::layout::BlockLayout;
use crate::base::limits::Limits;
use crate::chunk::{self, HEADER_BYTES, Place, Special, sums};

/// Where to get a chunk.
#[derive(Clone)]
pub enum Stored {
    /// A special value, and how many bytes of it.
    Special(Special, usize),
    /// Stored bytes.
    At {
        /// The same for the same content, and for other content another one, as long as the frame is open.
        id: u64,
        /// What holds the chunk.
        source: Arc<dyn ReadAt>,
        /// Where in it.
        place: Place,
    },
}

/// What holds the chunks of a frame.
#[derive(Clone)]
pub(super) enum Chunks {
    /// The frame itself, which starts at this byte.
    Contiguous(Arc<dyn ReadAt>, u64),
    /// A directory.
    Sparse(Arc<Folder>),
}

/// The state of a frame as of one commit.
#[derive(Clone)]
pub struct Snapshot {
    pub(super) state: FrameState,
    pub(super) chunks: Chunks,
    pub(super) limits: Limits,
    /// Tells apart what was at a place from what is there now, where chunks have no sums.
    pub(super) epoch: u64,
}

impl Snapshot {
    pub(super) fn new(state: FrameState, chunks: Chunks, limits: Limits, epoch: u64) -> Self {
        Self { state, chunks, limits, epoch }
    }

    /// The same after it has been written with this header.
    pub(super) fn committed(&self, header: Header, tail_sum: u64) -> Self {
        Self { state: self.state.committed(header, tail_sum), ..self.clone() }
    }

    /// How many chunks there are.
    pub fn nchunks(&self) -> u64 {
        self.state.slots.len()
    }

    /// How many chunks are a special value, of which nothing is stored.
    pub fn special_chunks(&self) -> u64 {
        self.nchunks() - self.state.slots.stored().count() as u64
    }

    /// Bytes that all chunks decode to.
    pub fn nbytes(&self) -> u64 {
        self.state.header.counts.nbytes
    }

    /// Bytes that are set aside for chunks, those that nothing refers to included.
    pub fn cbytes(&self) -> u64 {
        self.state.header.counts.cbytes
    }

    /// Bytes among [`Snapshot::cbytes`] that nothing refers to, as far as it was counted: what other programs
    /// left behind is found by rewriting only.
    pub fn dead_bytes(&self) -> u64 {
        match self.state.header.kind {
            Kind::Contiguous => self.cbytes().saturating_sub(self.state.live_bytes),
            Kind::Sparse => 0,
        }
    }

    /// Bytes of the frame's file: all of it, or if it is sparse the file of the index.
    pub fn frame_len(&self) -> u64 {
        self.state.header.counts.frame_len
    }

    /// Where the chunks are kept.
    pub fn kind(&self) -> Kind {
        self.state.header.kind
    }

    /// Uncompressed bytes of each chunk but the last; 0 if each has its own size.
    pub fn chunk_bytes(&self) -> usize {
        self.state.header.chunk_bytes
    }

    /// Whether streams of a chunk share a dictionary, which stands before its blocks.
    pub(crate) fn has_dictionaries(&self) -> bool {
        self.state.header.dictionary
    }

    /// Whether it is known how large chunks are, or that they vary. C-Blosc2 leaves it open until there are some.
    pub fn knows_chunk_bytes(&self) -> bool {
        self.state.header.knows_chunk_bytes()
    }

    /// Bytes of an item.
    pub fn typesize(&self) -> usize {
        self.state.header.typesize
    }

    /// All that a new frame must be told to be like this one: the defaults for new chunks, and the metalayers.
    pub fn spec(&self) -> Spec {
        self.state.header.spec(self.state.has_sums, self.state.has_statistics)
    }

    /// Whether chunks have sums.
    pub fn sums(&self) -> SumState {
        self.state.sums
    }

    /// Where the chunks end that are the same as chunk `number`: beyond it, `end` at most.
    pub fn alike_until(&self, number: u64, end: u64) -> u64 {
        self.state.slots.alike_until(number, end)
    }

    /// What is known of the items of chunk `number`.
    pub fn statistics(&self, number: u64) -> Option<Statistics> {
        self.state.slots.get(number)?.statistics
    }

    /// A sum over header, index and trailer as of the last commit: another one after each commit, unless that changed
    /// nothing. `None` for a frame whose end was not read.
    pub fn state_sum(&self) -> Option<u64> {
        (self.state.tail_sum != 0).then_some(self.state.tail_sum)
    }

    /// Whether the last commit wrote what differed from the state before it, and not all of the index.
    pub fn is_in_turns(&self) -> bool {
        self.state.turn.is_some()
    }

    /// Of how many chunks something is known.
    pub fn chunks_with_statistics(&self) -> u64 {
        self.state.slots.stored().filter(|(_, slot)| slot.statistics.is_some()).count() as u64
    }

    /// Whether something is known of any chunk.
    pub fn knows_any(&self) -> bool {
        self.state.slots.stored().any(|(_, slot)| slot.statistics.is_some())
    }

    /// Whether something may be known of chunks, and is kept.
    pub fn has_statistics(&self) -> bool {
        self.state.has_statistics && entry_bytes(self.typesize()).is_some()
    }

    /// What sizes may ask for when this frame is read.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The content of a metalayer.
    pub fn metalayer(&self, name: &str) -> Option<&[u8]> {
        self.metalayers().find(|(known, _)| *known == name).map(|(_, content)| content)
    }

    /// Names and contents of the metalayers.
    pub fn metalayers(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.state.header.metalayers()
    }

    /// What codecs and filters are told of the blocks of the array in it, if there is one.
    pub fn layout(&self) -> BlockLayout {
        let mut layers = self.metalayers().filter(|(name, _)| matches!(*name, METALAYER | METALAYER_OLD));
        let meta = layers.next().and_then(|(_, content)| Meta::read(content).ok());
        meta.map_or_else(BlockLayout::default, |meta| meta.layout(self.typesize()))
    }

    /// The names of the variable-length metalayers.
    pub fn vlmetalayer_names(&self) -> impl Iterator<Item = &str> {
        self.state.vlmetalayers.iter().map(|(name, _)| name.as_str())
    }

    /// The value of a variable-length metalayer; `None` if there is none of this name.
    ///
    /// # Errors
    /// Those of decoding the chunk that it is stored as.
    pub fn vlmetalayer(&self, name: &str) -> Result<Option<Vec<u8>>> {
        let found = self.state.vlmetalayers.iter().find(|(known, _)| known == name);
        let value = found.map(|(_, packed)| layer::unpack(packed, &self.limits)).transpose();
        value.map_err(|e| e.at(format!("metalayer {name}")))
    }

    /// Where to get chunk `number`. Nothing of a contiguous frame is read; a sparse one's file is opened.
    ///
    /// # Errors
    /// `OutOfBounds` if there is no such chunk, `Corrupt` or `Truncated` for what the index says, `Io`.
    pub fn chunk(&self, number: u64) -> Result<Stored> {
        let slot = self.state.slots.get(number).ok_or_else(|| {
            Error::out_of_bounds(format!(
                "chunk {number} is out of bounds for a frame of {} chunks",
                self.nchunks()
            ))
        })?;
        self.locate(number, slot).map_err(|e| e.at(format!("chunk {number}")))
    }

    pub(super) fn locate(&self, number: u64, slot: Slot) -> Result<Stored> {
        let Some(key) = slot.key() else {
            let special = special(slot.raw)?;
            let nbytes = self.state.header.nbytes_of(number);
            let nbytes =
                nbytes.ok_or_else(|| Error::corrupt("index: a special value where sizes of chunks vary"))?;
            self.limits.check_chunk(nbytes)?;
            return Ok(Stored::Special(special, nbytes));
        };
        let (source, at, room) = self.find(key)?;
        let place = Place { at, room, sum: NonZeroU64::new(slot.sum) };
        Ok(Stored::At { id: self.id(slot), source, place })
    }

    /// What holds the chunk with this key, where in it, and how many bytes there are from there on.
    fn find(&self, key: u64) -> Result<(Arc<dyn ReadAt>, u64, u64)> {
        match &self.chunks {
            Chunks::Contiguous(source, base) => {
                let room = self.cbytes().checked_sub(key).filter(|&room| room >= HEADER_BYTES as u64);
                let room = room.ok_or_else(|| {
                    Error::corrupt(format!("index: a chunk at {key} of {} bytes", self.cbytes()))
                })?;
                // The header and all chunks are known to be within the frame, and the frame within the source.
                Ok((Arc::clone(source), base + self.state.header.len() + key, room))
            }
            Chunks::Sparse(folder) => {
                let file: File = folder.open_chunk(key)?;
                let room = ReadAt::len(&file)?;
                Ok((Arc::new(file), 0, room))
            }
        }
    }

    /// What holds all chunks, if that is one file.
    pub(crate) fn source(&self) -> Option<&dyn ReadAt> {
        match &self.chunks {
            Chunks::Contiguous(source, _) => Some(source),
            Chunks::Sparse(_) => None,
        }
    }

    /// Where in it each stored chunk starts, in order.
    pub(crate) fn starts(&self) -> Vec<u64> {
        let Chunks::Contiguous(_, base) = &self.chunks else { return Vec::new() };
        let first = base.saturating_add(self.state.header.len());
        let keys = self.state.slots.stored().filter_map(|(_, slot)| slot.key());
        let mut starts: Vec<u64> = keys.map(|key| first.saturating_add(key)).collect();
        starts.sort_unstable();
        starts.dedup();
        starts
    }

    fn id(&self, slot: Slot) -> u64 {
        // A sum tells contents apart by itself; other chunks are told apart by when the frame was looked at.
        let epoch = if slot.sum == 0 { self.epoch } else { 0 };
        let parts = [&slot.raw.to_le_bytes()[..], &slot.sum.to_le_bytes(), &epoch.to_le_bytes()];
        super::format::fingerprint::sum(&parts)
    }

    /// The bytes that chunk `number` decodes to.
    ///
    /// # Errors
    /// As [`Snapshot::chunk`]; where sizes vary the chunk's header is read.
    pub fn nbytes_of(&self, number: u64) -> Result<usize> {
        if number < self.nchunks()
            && let Some(nbytes) = self.state.header.nbytes_of(number)
        {
            return Ok(nbytes);
        }
        match self.chunk(number)? {
            Stored::Special(_, nbytes) => Ok(nbytes),
            Stored::At { source, place, .. } => Ok(self.chunk_header(&*source, &place)?.nbytes),
        }
    }

    /// Checks the header of chunk `number` against what the frame says about it.
    ///
    /// # Errors
    /// `Corrupt` for another size than the chunk must have.
    pub fn check_chunk(&self, number: u64, header: &chunk::Header) -> Result<()> {
        let misfit = self.misfit(number, header);
        misfit.map_or(Ok(()), |misfit| Err(Error::corrupt(misfit).at(format!("chunk {number}"))))
    }

    /// What is wrong with the size of a chunk, if it has a wrong one.
    pub(super) fn misfit(&self, number: u64, header: &chunk::Header) -> Option<String> {
        let expected = self.state.header.nbytes_of(number).filter(|&expected| expected != header.nbytes)?;
        Some(format!("{} bytes in place of {expected}", header.nbytes))
    }

    /// The bytes of a stored chunk, verified; of a special one, a chunk that decodes to it.
    ///
    /// # Errors
    /// As [`Snapshot::chunk`], and `Corrupt` if a sum does not match.
    pub fn chunk_data(&self, number: u64) -> Result<Vec<u8>> {
        let data = match self.chunk(number)? {
            Stored::Special(special, nbytes) => {
                chunk::encode_special(special, &[], nbytes, self.special_typesize(nbytes))
            }
            Stored::At { source, place, .. } => self.chunk_header(&*source, &place).and_then(|header| {
                self.check_chunk(number, &header)?;
                read_verified(&*source, &place, &header)
            }),
        };
        data.map_err(|e| e.at(format!("chunk {number}")))
    }

    fn special_typesize(&self, nbytes: usize) -> usize {
        // A special chunk holds whole items; a frame's last chunk may not.
        if nbytes.is_multiple_of(self.typesize()) { self.typesize() } else { 1 }
    }

    /// Bytes that the chunk of this slot takes, with its table of sums; 0 if nothing is stored, or it is damaged.
    pub(super) fn stored_bytes(&self, slot: Slot) -> u64 {
        let Some(key) = slot.key() else { return 0 };
        let header = self.find(key).and_then(|(source, at, room)| {
            if let Chunks::Sparse(_) = self.chunks {
                return Ok(room);
            }
            let header = self.chunk_header(&*source, &Place { at, room, sum: None })?;
            let table = if slot.sum == 0 { 0 } else { chunk::table_bytes(&header)? };
            Ok((header.cbytes + table) as u64)
        });
        header.unwrap_or(0)
    }

    /// The header of the chunk at `place`, which must hold all of it.
    pub(super) fn chunk_header(&self, source: &dyn ReadAt, place: &Place) -> Result<chunk::Header> {
        chunk::read_header(source, place, &self.limits)
    }
}

/// The bytes of a chunk with this header, held against its sum.
pub(crate) fn read_verified(source: &dyn ReadAt, place: &Place, header: &chunk::Header) -> Result<Vec<u8>> {
    let mut bytes = vec![0; header.cbytes];
    source.read_exact_at(&mut bytes, place.at)?;
    if let Some(sum) = place.sum
        && sums(&bytes)?.chunk != sum
    {
        return Err(Error::corrupt("checksum does not match: the bytes are damaged"));
    }
    Ok(bytes)
}
