//! Other metadata for a Bloscpack file: in the room that it has for them, else by a new file in its place.
//!
//! Source: `docs/formats/bloscpack.md`, "Metadata".
//! Invariant: the chunks stay as they are stored. A new file takes the old one's place when it is complete; in the room
//! one write changes all, so that a kill leaves the old metadata or the new ones.

use std::fs::OpenOptions;
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

use super::append::append;
use super::metadata;
use super::read::Reader;
use super::write::{Options, PackFile, Packed, Source, write_file};
use crate::base::error::{Error, Result};
use crate::base::io::Existing;
use crate::base::limits::Limits;
use crate::base::ordered::Take as _;
use crate::base::pool::Job;

/// Gives a file other metadata, a JSON text; says whether they fitted into its room. `room_bytes`: what a new file is to
/// set aside for them; `None` for the file's own room, or ten times what they need.
///
/// # Errors
/// Those of [`Reader::open`], and `Limit` for metadata that are longer than the room asked for; the file is then as it was.
pub fn set_metadata(path: &Path, text: &[u8], room_bytes: Option<usize>, job: &Job<'_>) -> Result<bool> {
    let place = |e: Error| e.at(path.display().to_string());
    let mut file = OpenOptions::new().read(true).write(true).open(path).map_err(|e| place(e.into()))?;
    let reading = file.try_clone().map_err(|e| place(e.into()))?;
    let old = Reader::open(Box::new(reading), Limits::default()).map_err(place)?;
    if let Some(known) = old.metadata_place().filter(|known| room_bytes.is_none_or(|b| b == known.room_bytes))
        && let Ok(bytes) = metadata::write(text, known.checksum, Some(known.room_bytes))
    {
        file.seek(SeekFrom::Start(known.at)).map_err(|e| place(e.into()))?;
        file.write_all(&bytes).map_err(|e| place(e.into()))?;
        return Ok(true);
    }
    let options =
        Options { metadata: Some(text.to_vec()), metadata_room_bytes: room_bytes, ..options_of(&old) };
    let header = options.header(old.nbytes(), old.chunk_bytes());
    if header.nchunks != Some(old.nchunks() as u64) {
        // A last chunk that is larger than the others, as version 1 has it.
        append(path, &Source::Bytes(&[]), &options, job)?;
        return Ok(false);
    }
    write_file(path, Existing::Replace, |out| {
        let mut file = PackFile::begin(out, header, &options)?;
        for number in 0..old.nchunks() {
            let (mut bytes, digest) = old.stored_chunk(number)?;
            bytes.extend(digest);
            file.take(Packed { len: bytes.len(), bytes })?;
        }
        file.finish()
    })?;
    Ok(false)
}

/// How a file is written.
fn options_of(old: &Reader) -> Options {
    let mut options = Options { chunk_bytes: old.chunk_bytes(), ..Options::default() };
    options.checksum = old.header().checksum;
    options.offsets = old.header().has_offsets;
    options.params.typesize = usize::from(old.header().typesize).max(1);
    options
}
