//! Appending to Bloscpack files.
//!
//! The last chunk is filled up and the rest follows. The result is written beside the old file and takes its
//! place when it is complete, so a kill or a full disk leaves the old one: the price is a copy of its chunks,
//! which are not decoded, only verified against their checksums.
//! Source: `docs/formats/bloscpack.md`, "Append".

use std::fs::File;
use std::path::Path;

use super::header::CHUNK_BYTES_DEFAULT;
use super::read::Reader;
use super::write::{Options, PackFile, Packed, Pieces, Source, encode_chunks, write_file};
use crate::base::error::{Error, Result};
use crate::base::io::{Existing, ReadAt};
use crate::base::limits::Limits;
use crate::base::ordered::Take as _;
use crate::base::pool::Job;

/// The last chunk's bytes with the new ones behind them.
struct Joined<'a> {
    front: Vec<u8>,
    back: &'a Source<'a>,
}

impl ReadAt for Joined<'_> {
    fn len(&self) -> Result<u64> {
        Ok(self.front.len() as u64 + self.back.len()?)
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> Result<()> {
        let start = usize::try_from(offset).unwrap_or(usize::MAX).min(self.front.len());
        let of_front = (self.front.len() - start).min(buffer.len());
        let (head, rest) = buffer.split_at_mut(of_front);
        head.copy_from_slice(&self.front[start..start + of_front]);
        let skip = offset.saturating_sub(self.front.len() as u64);
        rest.copy_from_slice(&self.back.read(skip, rest.len())?);
        Ok(())
    }
}

/// Adds `source` to the packed bytes of the file at `path`; returns the bytes of the new file.
///
/// Chunk size (of more than one chunk), typesize, checksum and whether there are offsets are the file's own; the codec, level and filters
/// for new chunks come from `options`, and so does new metadata if there is any.
///
/// # Errors
/// Those of [`Reader::open`] and [`super::pack`]; the file is then as it was.
pub fn append(path: &Path, source: &Source<'_>, options: &Options, job: &Job<'_>) -> Result<u64> {
    options.check()?;
    let place = |e: Error| e.at(path.display().to_string());
    let file = File::open(path).map_err(|e| place(e.into()))?;
    let old = Reader::open(Box::new(file), Limits::default()).map_err(place)?;
    write_file(path, Existing::Replace, |out| {
        let mut options = options.clone();
        options.checksum = old.header().checksum;
        options.offsets = old.header().has_offsets;
        options.params.typesize = usize::from(old.header().typesize).max(1);
        options.metadata = options.metadata.or_else(|| old.metadata().map(<[u8]>::to_vec));

        // Metadata keep the room that they have, where they are not longer.
        let room = old.metadata_room_bytes();
        let fits = options.metadata.as_ref().is_some_and(|text| text.len() <= room);
        options.metadata_room_bytes = options.metadata_room_bytes.or(fits.then_some(room));

        let (kept, chunk_bytes) = kept_chunks(&old, options.params.typesize);
        let kept_bytes = kept as u64 * chunk_bytes as u64;
        let mut front = vec![0; usize::try_from(old.nbytes() - kept_bytes).unwrap_or(usize::MAX)];
        old.read_range(kept_bytes, &mut front, &Job::default())?;
        let joined = Joined { front, back: source };
        let nbytes = joined.len()?;

        let header = options.header(kept_bytes + nbytes, chunk_bytes);
        let mut file = PackFile::begin(out, header, &options)?;
        for number in 0..kept {
            let (mut bytes, digest) = old.stored_chunk(number)?;
            bytes.extend(digest);
            file.take(Packed { len: bytes.len(), bytes })?;
        }
        if nbytes == 0 && kept > 0 {
            return file.finish();
        }
        let joined = Source::At(&joined);
        let pieces = Pieces { source: &joined, start: 0, nbytes, chunk_bytes };
        encode_chunks(&pieces, file, &options, job)?.finish()
    })
}

/// How many chunks stay as they are, and the size of chunks.
///
/// A file of one chunk was perhaps made of few bytes, which need not bind what follows: its chunk may grow.
fn kept_chunks(old: &Reader, typesize: usize) -> (usize, usize) {
    let chunk_bytes = old.chunk_bytes();
    if old.nchunks() == 1 {
        let default = CHUNK_BYTES_DEFAULT / typesize * typesize;
        let chunk_bytes = chunk_bytes.max(default);
        return (usize::from(old.nbytes() == chunk_bytes as u64), chunk_bytes);
    }
    let full = usize::try_from(old.nbytes() / chunk_bytes as u64).unwrap_or(usize::MAX);
    // A last chunk that is larger than the others, as version 1 has it, does not stay.
    let is_larger = old.nbytes() > old.nchunks() as u64 * chunk_bytes as u64;
    (full.min(old.nchunks() - usize::from(is_larger)), chunk_bytes)
}
