//! Writing Bloscpack files: chunks are encoded in parallel and written in order.
//!
//! In: bytes, or a file read piece by piece. Out: a file that the Bloscpack package reads.
//! Source: `docs/formats/bloscpack.md`.

use std::borrow::Cow;
use std::fs::File;
use std::io::{BufWriter, Seek, SeekFrom, Write};
use std::path::Path;

use super::checksum::{CHECKSUMS, Checksum};
use super::header::{CHUNK_BYTES_DEFAULT, CHUNK_BYTES_MAX, HEADER_BYTES, Header};
use super::metadata;
use crate::base::error::{Error, Result};
use crate::base::io::{Existing, NewFile, ReadAt};
use crate::base::ordered::{Ordered, Take};
use crate::base::pool::Job;
use crate::base::sequencer::{Sequencer, Ticket};
use crate::chunk::{Generation, Params, encode_into};
use crate::policy::tuned::{self, Goal, Tuner};

/// Chunks of this size and more are encoded one after another by all threads, smaller ones one by each thread.
const BIG_CHUNK_BYTES: usize = 4 << 20;
/// Spare entries of the offsets, for each chunk.
const SPARE_FACTOR: u64 = 10;

/// Where the bytes to pack come from.
pub enum Source<'a> {
    /// Memory.
    Bytes(&'a [u8]),
    /// A file or the like, of which a few chunks are in memory at a time.
    At(&'a dyn ReadAt),
}

impl Source<'_> {
    pub(super) fn len(&self) -> Result<u64> {
        match self {
            Self::Bytes(bytes) => Ok(<[u8]>::len(bytes) as u64),
            Self::At(source) => source.len(),
        }
    }

    pub(super) fn read(&self, start: u64, bytes: usize) -> Result<Cow<'_, [u8]>> {
        match self {
            Self::Bytes(all) => {
                let part = usize::try_from(start).ok().and_then(|start| all.get(start..)?.get(..bytes));
                part.map(Cow::Borrowed).ok_or_else(|| Error::truncated(format!("{bytes} bytes at {start}")))
            }
            Self::At(source) => {
                let mut buffer = vec![0; bytes];
                source.read_exact_at(&mut buffer, start)?;
                Ok(Cow::Owned(buffer))
            }
        }
    }
}

/// How to write a Bloscpack file.
#[derive(Clone)]
pub struct Options {
    /// How to write the chunks; they are always Blosc1 chunks.
    pub params: Params,
    /// Uncompressed bytes of a chunk.
    pub chunk_bytes: usize,
    /// The checksum of every chunk.
    pub checksum: &'static Checksum,
    /// Whether the places of the chunks are listed, which partial reads and appends want.
    pub offsets: bool,
    /// A JSON text to keep with the data.
    pub metadata: Option<Vec<u8>>,
    /// Bytes that are set aside for the metadata, which may grow in them; `None` for ten times what they need.
    pub metadata_room_bytes: Option<usize>,
    /// What codec, level and filters of each chunk are chosen for; `None` for those of `params`.
    pub tuning: Option<Goal>,
}

impl Default for Options {
    /// Chunks of 1 MiB of BloscLZ level 7 after a shuffle of eight-byte items, with Adler-32 and offsets.
    fn default() -> Self {
        let blosclz = crate::codec::CODECS[0];
        let generation = Generation::Blosc1;
        Self {
            params: Params { codec: blosclz, level: 7, typesize: 8, generation, ..Params::default() },
            chunk_bytes: CHUNK_BYTES_DEFAULT,
            checksum: &CHECKSUMS[1],
            offsets: true,
            metadata: None,
            metadata_room_bytes: None,
            tuning: None,
        }
    }
}

impl Options {
    pub(super) fn check(&self) -> Result<()> {
        if !(1..=CHUNK_BYTES_MAX).contains(&self.chunk_bytes) {
            let bytes = self.chunk_bytes;
            return Err(Error::invalid(format!("chunk size {bytes}: takes 1..={CHUNK_BYTES_MAX}")));
        }
        if self.params.generation != Generation::Blosc1 {
            return Err(Error::invalid("format: a Bloscpack file holds Blosc1 chunks"));
        }
        self.tuning.as_ref().map_or(Ok(()), |_| tuned::check(&self.params))?;
        self.params.check()
    }

    /// The header of a file of `nbytes` packed bytes in chunks of `chunk_bytes`.
    pub(super) fn header(&self, nbytes: u64, chunk_bytes: usize) -> Header {
        let each = chunk_bytes.max(1) as u64;
        let nchunks = nbytes.div_ceil(each).max(1);
        let last = usize::try_from(nbytes - (nchunks - 1) * each).unwrap_or(chunk_bytes);
        Header {
            has_offsets: self.offsets,
            has_metadata: self.metadata.is_some(),
            checksum: self.checksum,
            typesize: u8::try_from(self.params.typesize).unwrap_or(1),
            chunk_bytes: Some(chunk_bytes),
            last_chunk_bytes: Some(last),
            nchunks: Some(nchunks),
            spare_chunks: if self.offsets { SPARE_FACTOR * nchunks } else { 0 },
            bytes: HEADER_BYTES,
        }
    }
}

/// Packs `source` to `out`, from its current position on; returns the bytes written.
///
/// # Errors
/// `Invalid` for the options, `Cancelled`, or what source and `out` say.
pub fn pack(
    source: &Source<'_>,
    out: &mut (impl Write + Seek + Send),
    options: &Options,
    job: &Job<'_>,
) -> Result<u64> {
    options.check()?;
    let nbytes = source.len()?;
    let chunk_bytes = usize::try_from(nbytes).unwrap_or(usize::MAX).min(options.chunk_bytes);
    let header = options.header(nbytes, chunk_bytes);
    let file = PackFile::begin(out, header, options)?;
    let pieces = Pieces { source, start: 0, nbytes, chunk_bytes: chunk_bytes.max(1) };
    encode_chunks(&pieces, file, options, job)?.finish()
}

/// Packs `source` to a new file at `path`, which appears when it is complete; returns the bytes written.
///
/// # Errors
/// As [`pack`]; the path then holds what it held before.
pub fn pack_file(
    source: &Source<'_>,
    path: &Path,
    existing: Existing,
    options: &Options,
    job: &Job<'_>,
) -> Result<u64> {
    options.check()?;
    write_file(path, existing, |out| pack(source, out, options, job))
}

/// Lets `write` fill a new file at `path`, which appears when it is complete.
pub(super) fn write_file(
    path: &Path,
    existing: Existing,
    write: impl FnOnce(&mut BufWriter<&mut File>) -> Result<u64>,
) -> Result<u64> {
    let mut file = NewFile::create(path, existing)?;
    let mut out = BufWriter::with_capacity(1 << 18, file.file());
    let place = |e: Error| e.at(path.display().to_string());
    let written = write(&mut out).map_err(place)?;
    out.flush().map_err(|e| place(e.into()))?;
    drop(out);
    file.commit()?;
    Ok(written)
}

/// The bytes to encode, and how they are cut.
pub(super) struct Pieces<'a> {
    pub(super) source: &'a Source<'a>,
    pub(super) start: u64,
    pub(super) nbytes: u64,
    pub(super) chunk_bytes: usize,
}

impl Pieces<'_> {
    fn count(&self) -> u64 {
        self.nbytes.div_ceil(self.chunk_bytes as u64).max(1)
    }

    fn read(&self, number: u64) -> Result<Cow<'_, [u8]>> {
        let at = number * self.chunk_bytes as u64;
        let bytes = usize::try_from(self.nbytes - at).unwrap_or(usize::MAX).min(self.chunk_bytes);
        self.source.read(self.start + at, bytes)
    }
}

/// Encodes all pieces and adds them to the file.
pub(super) fn encode_chunks<W: Write + Seek + Send>(
    pieces: &Pieces<'_>,
    mut file: PackFile<W>,
    options: &Options,
    job: &Job<'_>,
) -> Result<PackFile<W>> {
    let tuner = options.tuning.clone().map(Tuner::new);
    let encode = |number: u64, mut room: Vec<u8>, ticket: &Ticket<'_>, job: &Job<'_>| {
        let bytes = pieces.read(number)?;
        let chosen = |tuner: &Tuner| tuner.choose_for_bytes(&bytes, &options.params, job);
        // In its ticket, since it depends on the chunks before.
        let choice = tuner.as_ref().map(|tuner| ticket.in_order(|| chosen(tuner))).transpose()?;
        let params = choice.map_or(options.params, |choice| choice.params);
        let bound = options.params.bound(pieces.chunk_bytes) + options.checksum.digest_bytes;
        room.resize(bound, 0);
        let len = encode_into(&bytes, &params, &mut room, job)?;
        let digest = options.checksum.digest(&room[..len]);
        room[len..len + digest.len()].copy_from_slice(&digest);
        Ok::<_, Error>((bytes.len(), Packed { len: len + digest.len(), bytes: room }))
    };
    if pieces.chunk_bytes >= BIG_CHUNK_BYTES || pieces.count() == 1 {
        for number in 0..pieces.count() {
            let room = file.room();
            file.take(encode(number, room, &Ticket::alone(), job)?.1)?;
        }
        return Ok(file);
    }
    let total = usize::try_from(pieces.nbytes).unwrap_or(usize::MAX);
    let ordered = Ordered::new(file, job.width(total));
    let sequencer = Sequencer::default();
    job.run(total, 0..pieces.count(), |number| {
        let mut done = 0;
        let at = usize::try_from(number).unwrap_or(usize::MAX);
        ordered.put(at, || {
            let ticket = sequencer.ticket(at);
            let room = ordered.with(PackFile::room);
            let (bytes, packed) = encode(number, room, &ticket, &Job::inline())?;
            done = bytes;
            Ok(packed)
        })?;
        Ok(done)
    })?;
    Ok(ordered.into_taker())
}

/// A chunk with its digest: the first `len` bytes.
pub(super) struct Packed {
    pub(super) bytes: Vec<u8>,
    pub(super) len: usize,
}

/// A Bloscpack file being written: takes chunks with their digests, in order.
pub(super) struct PackFile<W> {
    out: W,
    header: Header,
    start: u64,
    offsets_at: u64,
    at: u64,
    offsets: Vec<u8>,
    /// Memory of chunks that have been written, to be used again.
    spare: Vec<Vec<u8>>,
}

impl<W: Write + Seek> PackFile<W> {
    /// Writes what stands before the chunks, with room for the offsets.
    pub(super) fn begin(mut out: W, header: Header, options: &Options) -> Result<Self> {
        let start = out.stream_position()?;
        out.write_all(&header.write())?;
        if let Some(text) = &options.metadata {
            out.write_all(&metadata::write(text, &CHECKSUMS[1], options.metadata_room_bytes)?)?;
        }
        let offsets_at = out.stream_position()?;
        let room = header.offsets_bytes();
        std::io::copy(&mut std::io::Read::take(std::io::repeat(0xff), room), &mut out)?;
        let (at, offsets, spare) = (offsets_at + room, Vec::new(), Vec::new());
        Ok(Self { out, header, start, offsets_at, at, offsets, spare })
    }

    /// Writes the offsets into their room; returns the length of the file.
    pub(super) fn finish(mut self) -> Result<u64> {
        if self.header.has_offsets {
            self.out.seek(SeekFrom::Start(self.offsets_at))?;
            self.out.write_all(&self.offsets)?;
            self.out.seek(SeekFrom::Start(self.at))?;
        }
        self.out.flush()?;
        Ok(self.at - self.start)
    }
}

impl<W> PackFile<W> {
    /// Memory for a chunk.
    fn room(&mut self) -> Vec<u8> {
        self.spare.pop().unwrap_or_default()
    }
}

impl<W: Write> Take<Packed> for PackFile<W> {
    type Rest = ();

    fn take(&mut self, packed: Packed) -> Result<()> {
        self.out.write_all(&packed.bytes[..packed.len])?;
        self.offsets.extend((self.at - self.start).to_le_bytes());
        self.at += packed.len as u64;
        self.spare.push(packed.bytes);
        Ok(())
    }
}
