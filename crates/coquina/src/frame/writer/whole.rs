//! Writing a whole contiguous frame in one pass, to anything that takes bytes.
//!
//! The chunks are asked for twice: first for their sizes, since the header stands in front and tells the length
//! of all, then for their bytes.
//! Source: `docs/formats/frame.md`, "Whole layout" and "Chunks in a frame".

use std::io::Write;
use std::num::NonZeroU64;
use std::sync::Arc;

use super::record::Parts;
use crate::base::error::{Error, Result};
use crate::base::limits::Limits;
use crate::base::pool::Job;
use crate::chunk::{self, Chunk, Params, Special, Sums, encode, encode_special, sums, table_bytes};
use crate::frame::NCHUNKS_MAX;
use crate::frame::format::header::{self, Counts, Header};
use crate::frame::format::layer::{self, Notes};
use crate::frame::format::metalayers::check_name;
use crate::frame::format::offsets::special_raw;
use crate::frame::format::slots::{Builder, Slot, Slots};
use crate::frame::format::spec::{Kind, METALAYERS_MAX, Spec};
use crate::frame::format::statistics::Statistics;
use crate::frame::snapshot::{Stored, read_verified};

/// Where a writer of whole frames gets chunk `number`.
pub type Chunks<'a> = &'a dyn Fn(u64) -> Result<Stored>;

/// Where it gets what is known of the items of chunk `number`, which must be that of just this chunk at this place.
pub type StatisticsOf<'a> = &'a (dyn Fn(u64) -> Option<Statistics> + Sync);

/// Where the run ends of chunks that are equal to chunk `number`: beyond it, if it is one for which nothing is stored.
pub type AlikeUntil<'a> = &'a dyn Fn(u64) -> u64;

/// All that a frame is made of.
#[derive(Clone, Copy)]
pub struct Whole<'a> {
    /// What it is to be.
    pub spec: &'a Spec,
    /// Bytes that all chunks decode to.
    pub nbytes: u64,
    /// How many chunks there are.
    pub nchunks: u64,
    /// Gives a chunk by its number. Each is asked for twice.
    pub chunk: Chunks<'a>,
    /// What is known of the items of chunks.
    pub statistics: Option<StatisticsOf<'a>>,
    /// Says of how many chunks the first is enough, where it is special.
    pub alike_until: Option<AlikeUntil<'a>>,
    /// Variable-length metalayers, by name and value.
    pub vlmetalayers: &'a [(String, Vec<u8>)],
}

/// Writes a whole contiguous frame. Returns its length. Chunks are held against their sums on the way.
///
/// # Errors
/// `Invalid` or `Limit` for what does not fit together, `Corrupt` for a chunk whose sum does not match, and what
/// chunks and `out` say.
pub fn write_frame(out: &mut dyn Write, whole: &Whole<'_>) -> Result<u64> {
    let Whole { spec, nbytes, nchunks, chunk, statistics, alike_until, vlmetalayers } = *whole;
    let mut packed: Vec<(String, Arc<[u8]>)> = Vec::new();
    for (name, value) in vlmetalayers {
        check_name(name)?;
        if name == layer::NAME || packed.iter().any(|(known, _)| known == name) {
            return Err(Error::invalid(format!("metalayer {name:?}: the name is taken")));
        }
        packed.push((name.clone(), layer::pack(value)?.into()));
    }
    if packed.len() >= METALAYERS_MAX {
        return Err(Error::limit(format!(
            "{} metalayers: takes at most {}",
            packed.len(),
            METALAYERS_MAX - 1
        )));
    }
    let mut header = Header::new(spec, Kind::Contiguous)?;
    header.set_counts(Counts { nbytes, ..header.counts });
    let notes =
        Notes { has_sums: spec.with_sums, has_statistics: spec.with_statistics, live_bytes: 0, turn: None };
    let contents = Contents { chunks: chunk, nchunks, statistics, alike_until };
    write_parts(out, header, notes, &packed, &contents)
}

/// The chunks of a frame that is written in one pass.
pub(crate) struct Contents<'a> {
    pub(crate) chunks: Chunks<'a>,
    pub(crate) nchunks: u64,
    pub(crate) statistics: Option<StatisticsOf<'a>>,
    pub(crate) alike_until: Option<AlikeUntil<'a>>,
}

impl Contents<'_> {
    /// Where the run ends of special chunks that are equal to this one, and of its size.
    fn run_end(&self, number: u64) -> u64 {
        // The last chunk may be shorter.
        let last = self.nchunks.saturating_sub(1);
        self.alike_until.map_or(0, |alike_until| alike_until(number).min(last)).max(number + 1)
    }
}

/// The same with a header and notes that tell all but the counts that follow from the chunks.
pub(crate) fn write_parts(
    out: &mut dyn Write,
    mut header: Header,
    notes: Notes,
    vlmetalayers: &[(String, Arc<[u8]>)],
    contents: &Contents<'_>,
) -> Result<u64> {
    let &Contents { chunks, nchunks, .. } = contents;
    let has_sums = notes.has_sums;
    let expected = header::nchunks(header.counts.nbytes, header.chunk_bytes);
    if expected.map_or(nchunks == 0, |expected| expected != nchunks) {
        let nbytes = header.counts.nbytes;
        return Err(Error::invalid(format!("{nchunks} chunks for {nbytes} bytes")));
    }
    if nchunks > NCHUNKS_MAX {
        return Err(Error::limit(format!("{nchunks} chunks: a frame holds {NCHUNKS_MAX}")));
    }
    let (mut slots, cbytes) = measure(&mut header, has_sums, contents)?;
    let notes = Notes { live_bytes: cbytes, ..notes };
    let parts = Parts { header: &header, slots: &slots, vlmetalayers, notes };
    let front = parts.record(cbytes)?.header;
    out.write_all(front.raw())?;
    let stored: Vec<u64> = slots.stored().map(|(number, _)| number).collect();
    for number in stored {
        let piece = chunks(number).and_then(|stored| Piece::read(&header, number, stored));
        let piece = piece.map_err(|e| e.at(format!("chunk {number}")))?;
        if let (Piece::Bytes(bytes), Some(slot)) = (piece, slots.get(number)) {
            let sums = if has_sums { Some(sums(&bytes)?) } else { None };
            out.write_all(&bytes)?;
            out.write_all(table(sums.as_ref()))?;
            slots.set(number, Slot { sum: sum(sums.as_ref()).map_or(0, u64::from), ..slot });
        }
    }
    let record = Parts { header: &header, slots: &slots, vlmetalayers, notes }.record(cbytes)?;
    out.write_all(&record.tail)?;
    Ok(record.header.counts.frame_len)
}

/// The table of block sums, if there is one.
pub(crate) fn table(sums: Option<&Sums>) -> &[u8] {
    sums.map_or(&[], |sums| &sums.table)
}

/// The sum of a chunk, if there is one.
pub(crate) fn sum(sums: Option<&Sums>) -> Option<NonZeroU64> {
    sums.map(|sums| sums.chunk)
}

/// Where each chunk will be, and how many bytes all of them take.
fn measure(header: &mut Header, has_sums: bool, contents: &Contents<'_>) -> Result<(Slots, u64)> {
    let (mut slots, mut at) = (Builder::default(), 0_u64);
    let mut next = 0;
    while next < contents.nchunks {
        let number = next;
        next += 1;
        let size = (contents.chunks)(number).and_then(|stored| Size::of(header, number, stored));
        let slot = match size.map_err(|e| e.at(format!("chunk {number}")))? {
            Size::Special(special) => {
                next = contents.run_end(number);
                slots.push_same(Slot::new(special_raw(special).unwrap_or(i64::MIN)), next - number);
                continue;
            }
            Size::Bytes(cbytes, table) => {
                let start = i64::try_from(at).map_err(|_| Error::limit(format!("a frame of {at} bytes")))?;
                at += (cbytes + if has_sums { table } else { 0 }) as u64;
                let statistics = contents.statistics.and_then(|statistics| statistics(number));
                Slot { statistics, ..Slot::new(start) }
            }
        };
        slots.push(slot);
    }
    Ok((slots.finish(), at))
}

/// What a chunk takes.
enum Size {
    Special(Special),
    /// The chunk, and its table of sums.
    Bytes(usize, usize),
}

impl Size {
    fn of(header: &mut Header, number: u64, stored: Stored) -> Result<Self> {
        let (source, place) = match stored {
            Stored::Special(special, nbytes) if header.takes_special(special).is_ok() => {
                check_nbytes(header, number, nbytes)?;
                return Ok(Self::Special(special));
            }
            Stored::Special(special, nbytes) => {
                let bytes = real_chunk(special, nbytes, header.typesize, header.typesize)?;
                return Self::of_bytes(&bytes);
            }
            Stored::At { source, place, .. } => (source, place),
        };
        let known = chunk::read_header(&*source, &place, &Limits::default())?;
        check_nbytes(header, number, known.nbytes)?;
        match known.kind()? {
            chunk::Kind::Special(special) if special != Special::Value => {
                if is_told_by_index(header, special, &known) {
                    return Ok(Self::Special(special));
                }
                return Self::of_bytes(&real_chunk(special, known.nbytes, known.typesize, header.typesize)?);
            }
            chunk::Kind::VariableBlocks => header.set_variable_blocks(),
            _ => {}
        }
        Ok(Self::Bytes(known.cbytes, table_bytes(&known)?))
    }

    fn of_bytes(chunk: &[u8]) -> Result<Self> {
        Ok(Self::Bytes(chunk.len(), sums(chunk)?.table.len()))
    }
}

/// What is written for a chunk.
pub(crate) enum Piece {
    /// The index tells all.
    Special(Special),
    /// These bytes.
    Bytes(Vec<u8>),
}

impl Piece {
    /// The bytes to write for a stored chunk, verified.
    fn read(header: &Header, number: u64, stored: Stored) -> Result<Self> {
        match stored {
            Stored::Special(special, _) if header.takes_special(special).is_ok() => {
                Ok(Self::Special(special))
            }
            Stored::Special(special, nbytes) => {
                real_chunk(special, nbytes, header.typesize, header.typesize).map(Self::Bytes)
            }
            Stored::At { source, place, .. } => {
                let known = chunk::read_header(&*source, &place, &Limits::default())?;
                check_nbytes(header, number, known.nbytes)?;
                let bytes = read_verified(&*source, &place, &known)?;
                Ok(Self::of(header, &known, &bytes)?.unwrap_or(Self::Bytes(bytes)))
            }
        }
    }

    /// What to write in place of a chunk that must not be written as it is; `None` for all others.
    pub(crate) fn of(header: &Header, known: &chunk::Header, bytes: &[u8]) -> Result<Option<Self>> {
        if known.cbytes != bytes.len() || !known.is_extended() {
            return Err(Error::invalid(format!("{} bytes are not exactly one Blosc2 chunk", bytes.len())));
        }
        match known.kind()? {
            chunk::Kind::Special(special) if special != Special::Value => {
                if is_told_by_index(header, special, known) {
                    return Ok(Some(Self::Special(special)));
                }
                Ok(Some(Self::Bytes(real_chunk(special, known.nbytes, known.typesize, header.typesize)?)))
            }
            chunk::Kind::VariableBlocks if !header.has_variable_blocks() => {
                Err(Error::unsupported("a chunk of blocks of unequal sizes, in a frame of other ones"))
            }
            _ => Ok(None),
        }
    }
}

/// Whether the index alone can tell what this special chunk holds.
fn is_told_by_index(header: &Header, special: Special, known: &chunk::Header) -> bool {
    // NaNs are of the frame's typesize then.
    let is_same = special != Special::Nans || known.typesize == header.typesize;
    is_same && header.takes_special(special).is_ok()
}

fn check_nbytes(header: &Header, number: u64, nbytes: usize) -> Result<()> {
    match header.nbytes_of(number).filter(|&expected| expected != nbytes) {
        None => Ok(()),
        Some(expected) => Err(Error::invalid(format!("{nbytes} bytes in place of {expected}"))),
    }
}

/// A chunk of a special value that holds its size itself, and that C-Blosc2 takes from a file: a repeated value
/// of the frame's typesize. NaNs are of `nan_bytes` each.
fn real_chunk(special: Special, nbytes: usize, nan_bytes: usize, typesize: usize) -> Result<Vec<u8>> {
    // Zeros are zeros whatever they are of.
    let item = if special == Special::Nans { nan_bytes } else { 1 };
    let chunk = encode_special(special, &[], nbytes, item)?;
    let chunk = Chunk::parse(&chunk, &Limits::default())?;
    let mut data = vec![0; nbytes];
    chunk.decode_into(&mut data, &Job::inline())?;
    match data.get(..typesize) {
        Some(value) if nbytes.is_multiple_of(typesize) && typesize.is_multiple_of(item) => {
            encode_special(Special::Value, value, nbytes, typesize)
        }
        _ => encode(&data, &Params { typesize, level: 0, ..Params::default() }, &Job::inline()),
    }
}
