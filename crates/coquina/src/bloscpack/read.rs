//! Reading Bloscpack files: all of it or any range of bytes, touching only the chunks that hold them.
//!
//! In: bytes at positions. Out: the packed bytes, verified against their checksums.
//! Source: `docs/formats/bloscpack.md`, "Checks of a reader".

use std::io::Write;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use super::header::{Header, OFFSET_BYTES};
use super::metadata;
use crate::base::error::{Error, Result};
use crate::base::io::ReadAt;
use crate::base::limits::Limits;
use crate::base::pool::Job;
use crate::chunk::{self, Chunk, HEADER_BYTES_BLOSC1};

/// While all of a file is written somewhere, about this much of it is in memory.
const BATCH_BYTES: u64 = 32 << 20;
/// Chunks of this size and more are decoded one after another by all threads, smaller ones one by each thread.
const BIG_CHUNK_BYTES: usize = 8 << 20;

/// An open Bloscpack file.
pub struct Reader {
    source: Box<dyn ReadAt>,
    header: Header,
    metadata: Option<Vec<u8>>,
    place: Option<metadata::Place>,
    /// Where each chunk stands in the file, and its bytes there.
    places: Vec<Range<u64>>,
    chunk_bytes: u64,
    nbytes: u64,
    limits: Limits,
    chunks_read: AtomicU64,
}

impl Reader {
    /// Opens a file: reads its header, its metadata and the places of its chunks.
    ///
    /// # Errors
    /// `Corrupt`, `Truncated`, `Unsupported` or `Limit` for what it holds; `Io`.
    pub fn open(source: Box<dyn ReadAt>, limits: Limits) -> Result<Self> {
        let file_bytes = source.len()?;
        let header = Header::read(&read_array(&*source, 0)?)?;
        let mut at = header.bytes as u64;
        let (mut metadata, mut place) = (None, None);
        if header.has_metadata {
            let meta = metadata::Header::read(&read_array(&*source, at)?)?;
            place = Some(metadata::Place { at, room_bytes: meta.room_bytes, checksum: meta.checksum });
            at += metadata::HEADER_BYTES as u64;
            limits.check_chunk(meta.text_bytes)?;
            let room =
                read_vec(&*source, at, meta.room_bytes as u64, file_bytes).map_err(|e| e.at("metadata"))?;
            at += meta.room_bytes as u64;
            let digest = read_vec(&*source, at, meta.checksum.digest_bytes as u64, file_bytes)?;
            at += digest.len() as u64;
            metadata = Some(meta.text(&room, &digest)?);
        }
        let mut reader = Self {
            source,
            header,
            metadata,
            place,
            places: Vec::new(),
            chunk_bytes: 0,
            nbytes: 0,
            limits,
            chunks_read: AtomicU64::new(0),
        };
        reader.places = reader.find_chunks(at, file_bytes)?;
        reader.measure()?;
        Ok(reader)
    }

    /// The header.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The metadata's JSON text, if there is any.
    pub fn metadata(&self) -> Option<&[u8]> {
        self.metadata.as_deref()
    }

    /// Where the metadata stand; `None` if there are none.
    pub(super) fn metadata_place(&self) -> Option<&metadata::Place> {
        self.place.as_ref()
    }

    /// Bytes that are set aside for the metadata.
    pub fn metadata_room_bytes(&self) -> usize {
        self.place.as_ref().map_or(0, |place| place.room_bytes)
    }

    /// The packed bytes, uncompressed.
    pub fn nbytes(&self) -> u64 {
        self.nbytes
    }

    /// Bytes of the chunks as stored, checksums included.
    pub fn cbytes(&self) -> u64 {
        self.places.iter().map(|place| place.end - place.start).sum()
    }

    /// Bytes of every chunk but the last, uncompressed; at least 1.
    pub(super) fn chunk_bytes(&self) -> usize {
        usize::try_from(self.chunk_bytes).unwrap_or(usize::MAX)
    }

    /// How many chunks there are.
    pub fn nchunks(&self) -> usize {
        self.places.len()
    }

    /// Where the chunks stand in the file.
    pub fn offsets(&self) -> impl Iterator<Item = u64> {
        self.places.iter().map(|place| place.start)
    }

    /// How many chunks have been read so far: shows that a partial read is one.
    pub fn chunks_read(&self) -> u64 {
        self.chunks_read.load(Ordering::Relaxed)
    }

    fn digest_bytes(&self) -> u64 {
        self.header.checksum.digest_bytes as u64
    }

    /// The places of all chunks. `at` is where the offsets start, or without them the first chunk.
    fn find_chunks(&self, at: u64, file_bytes: u64) -> Result<Vec<Range<u64>>> {
        if !self.header.has_offsets {
            return self.walk_chunks(at, file_bytes);
        }
        let first = at + self.header.offsets_bytes();
        if first > file_bytes {
            return Err(Error::truncated(format!(
                "offsets: end at {first}, the file has {file_bytes} bytes"
            )));
        }
        let nchunks = usize::try_from(self.header.nchunks.unwrap_or(0)).unwrap_or(usize::MAX);
        let offsets = read_vec(&*self.source, at, first - at, file_bytes)?;
        let (offsets, _) = offsets.as_chunks::<OFFSET_BYTES>();
        let (offsets, spare) = offsets.split_at_checked(nchunks).unwrap_or_default();
        // A damaged number of chunks would otherwise cut the data short without a word.
        if spare.iter().any(|&slot| i64::from_le_bytes(slot) != -1) {
            return Err(Error::corrupt(format!("nchunks: {nchunks}, but there are offsets of more")));
        }
        let mut places = Vec::with_capacity(offsets.len());
        for (number, &offset) in offsets.iter().enumerate() {
            let offset = i64::from_le_bytes(offset);
            let start = u64::try_from(offset).ok().filter(|&start| start >= first && start < file_bytes);
            let start = start.ok_or_else(|| {
                Error::corrupt(format!("offset: {offset} is not in {first}..{file_bytes}"))
                    .at(format!("chunk {number}"))
            })?;
            // How long the chunk is says its own header; until that is read it may reach the end of the file.
            places.push(start..file_bytes);
        }
        // Chunks stand in order in all files that were written in one go: then the next one is the end.
        for i in 1..places.len() {
            let next = places[i].start;
            if next > places[i - 1].start {
                places[i - 1].end = next;
            }
        }
        Ok(places)
    }

    /// Without offsets, every chunk says where the next one is.
    fn walk_chunks(&self, mut at: u64, file_bytes: u64) -> Result<Vec<Range<u64>>> {
        let mut places = Vec::new();
        while self.header.nchunks.map_or(at < file_bytes, |n| (places.len() as u64) < n) {
            let header = self.chunk_header(at).map_err(|e| e.at(format!("chunk {}", places.len())))?;
            let end = at + header.cbytes as u64 + self.digest_bytes();
            if end > file_bytes {
                let sentence = format!("ends at {end}, the file has {file_bytes} bytes");
                return Err(Error::truncated(sentence).at(format!("chunk {}", places.len())));
            }
            places.push(at..end);
            at = end;
        }
        if places.is_empty() {
            return Err(Error::truncated("chunks: there are none"));
        }
        // Only appending leaves rubbish at the end, and needs offsets.
        if at != file_bytes {
            let nchunks = places.len();
            return Err(Error::corrupt(format!("nchunks: {nchunks} end at {at}, the file at {file_bytes}")));
        }
        Ok(places)
    }

    fn chunk_header(&self, at: u64) -> Result<chunk::Header> {
        let bytes: [u8; HEADER_BYTES_BLOSC1] = read_array(&*self.source, at)?;
        chunk::Header::read(&bytes, &self.limits)
    }

    /// Works out the sizes, from chunk headers where the file's header does not say them.
    fn measure(&mut self) -> Result<()> {
        let nbytes = |place: Option<&Range<u64>>| match place {
            Some(place) => self.chunk_header(place.start).map(|header| header.nbytes),
            None => Ok(0),
        };
        let last = match self.header.last_chunk_bytes {
            Some(bytes) => bytes,
            None => nbytes(self.places.last())?,
        };
        let each = match self.header.chunk_bytes {
            Some(bytes) => bytes,
            None => nbytes(self.places.first())?,
        };
        let full = self.places.len() as u64 - 1;
        if full > 0 && each == 0 {
            return Err(Error::corrupt(format!("chunk_size: 0 for {} chunks", full + 1)).at("header"));
        }
        let total = full.checked_mul(each as u64).and_then(|bytes| bytes.checked_add(last as u64));
        self.nbytes = total.ok_or_else(|| Error::corrupt("nchunks and chunk_size: too large a product"))?;
        self.chunk_bytes = each.max(1) as u64;
        Ok(())
    }

    /// The bytes of a chunk as stored, and its digest, which has been verified.
    pub(super) fn stored_chunk(&self, number: usize) -> Result<(Vec<u8>, Vec<u8>)> {
        self.load(number).map_err(|e| e.at(format!("chunk {number}")))
    }

    fn load(&self, number: usize) -> Result<(Vec<u8>, Vec<u8>)> {
        let place = self.places.get(number).cloned().unwrap_or_default();
        let header = self.chunk_header(place.start)?;
        let is_last = number + 1 == self.places.len();
        let full = if is_last { self.nbytes - self.chunk_bytes * number as u64 } else { self.chunk_bytes };
        if header.nbytes as u64 != full {
            return Err(Error::corrupt(format!("{} bytes in place of {full}", header.nbytes)));
        }
        let bytes = header.cbytes as u64 + self.digest_bytes();
        let mut chunk = read_vec(&*self.source, place.start, bytes, place.end)?;
        let digest = chunk.split_off(header.cbytes);
        self.header.checksum.verify(&chunk, &digest)?;
        self.chunks_read.fetch_add(1, Ordering::Relaxed);
        Ok((chunk, digest))
    }

    /// Fills `out` with the packed bytes from `start` on.
    ///
    /// # Errors
    /// `OutOfBounds` if there are not as many; `Corrupt`, `Truncated`, `Io` for the chunks that hold them.
    pub fn read_range(&self, start: u64, out: &mut [u8], job: &Job<'_>) -> Result<()> {
        let bytes = out.len();
        if start.checked_add(bytes as u64).is_none_or(|end| end > self.nbytes) {
            let nbytes = self.nbytes;
            return Err(Error::out_of_bounds(format!("bytes {start}..{start}+{bytes} of {nbytes}")));
        }
        let parts = self.cut(start, out);
        if self.chunk_bytes >= BIG_CHUNK_BYTES as u64 {
            // One chunk keeps all threads busy, and two of them need not be in memory.
            return parts
                .into_iter()
                .try_for_each(|(number, skip, out)| self.read_chunk(number, skip, out, job));
        }
        job.run(bytes, parts.into_iter(), |(number, skip, out)| {
            self.read_chunk(number, skip, out, &Job::inline())?;
            Ok(out.len())
        })
    }

    /// Which bytes of which chunk go to which part of `out`.
    fn cut<'o>(&self, start: u64, out: &'o mut [u8]) -> Vec<(usize, usize, &'o mut [u8])> {
        let (mut at, mut left, mut parts) = (start, out, Vec::new());
        let last = self.places.len() as u64 - 1;
        while !left.is_empty() {
            // In files of version 1 the last chunk may be the largest one.
            let number = (at / self.chunk_bytes).min(last);
            let skip = at - number * self.chunk_bytes;
            let room = if number == last { u64::MAX } else { self.chunk_bytes - skip };
            let (part, rest) = left.split_at_mut(usize::try_from(room).unwrap_or(usize::MAX).min(left.len()));
            let room = part.len();
            let number = usize::try_from(number).unwrap_or(usize::MAX);
            parts.push((number, usize::try_from(skip).unwrap_or(usize::MAX), part));
            (at, left) = (at + room as u64, rest);
        }
        parts
    }

    fn read_chunk(&self, number: usize, skip: usize, out: &mut [u8], job: &Job<'_>) -> Result<()> {
        let (chunk, _) = self.stored_chunk(number)?;
        let chunk = Chunk::parse(&chunk, &self.limits).and_then(|chunk| chunk.decode_range(skip, out, job));
        chunk.map_err(|e| e.at(format!("chunk {number}")))
    }

    /// Writes all packed bytes to `out`, with a few chunks in memory.
    ///
    /// # Errors
    /// Those of [`Reader::read_range`], and what `out` says.
    pub fn write_to(&self, out: &mut dyn Write, job: &Job<'_>) -> Result<()> {
        let batch = (BATCH_BYTES / self.chunk_bytes).max(1) * self.chunk_bytes;
        let mut buffer = vec![0; usize::try_from(batch.min(self.nbytes)).unwrap_or(usize::MAX)];
        let mut at = 0;
        while at < self.nbytes {
            let bytes = usize::try_from(self.nbytes - at).unwrap_or(usize::MAX).min(buffer.len());
            self.read_range(at, &mut buffer[..bytes], job)?;
            out.write_all(&buffer[..bytes])?;
            at += bytes as u64;
        }
        // An empty file has a chunk too, which must be sound.
        if self.nbytes == 0 { self.stored_chunk(0).map(drop) } else { Ok(()) }
    }
}

fn read_array<const N: usize>(source: &dyn ReadAt, at: u64) -> Result<[u8; N]> {
    let mut bytes = [0; N];
    source.read_exact_at(&mut bytes, at)?;
    Ok(bytes)
}

/// Reads `bytes` bytes that must end before `end`, which is known to exist: only then room is made for them.
fn read_vec(source: &dyn ReadAt, at: u64, bytes: u64, end: u64) -> Result<Vec<u8>> {
    if at.checked_add(bytes).is_none_or(|stop| stop > end) {
        return Err(Error::truncated(format!("{bytes} bytes at {at}: there is room to {end}")));
    }
    let mut buffer = vec![0; usize::try_from(bytes).map_err(|_| Error::limit(format!("{bytes} bytes")))?];
    source.read_exact_at(&mut buffer, at)?;
    Ok(buffer)
}
