//! Reads what a frame says about itself: header, trailer, index.
//!
//! In: a source and where the frame starts in it. Out: all of the frame's state but the chunks; two reads for a
//! frame with a small index. If header and fingerprint do not hold, the copy of the header at the end is used.
//! Source: `docs/formats/frame.md`, "What a reader checks" and "Recovery".

use super::format::fingerprint::{self, FINGERPRINT_BYTES, PAGE_BYTES};
use super::format::header::{FIRST_BYTES, HEADER_BYTES_MIN, Header, is_foreign};
use super::format::layer::{self, Notes};
use super::format::offsets::decode_index;
use super::format::slots::Slots;
use super::format::spec::Kind;
use super::format::trailer::{self, END_BYTES, Trailer};
use super::state::{CommitId, FrameState, SumState};
use crate::base::error::{Error, Result};
use crate::base::io::ReadAt;
use crate::base::limits::Limits;
use crate::chunk;

/// Up to so many bytes behind the chunks are read at once.
const TAIL_BYTES: u64 = 1 << 20;
/// Behind the copy of the header: its length, and this.
const COPY_MARK: [u8; 4] = *b"coqh";
const COPY_END_BYTES: usize = 8;
/// So often a reader looks again if the header changes while it reads. Records that are written in turns are whole for
/// the time of a commit only, so a busy writer may let many attempts fail.
const ATTEMPTS: usize = 500;

/// What the fingerprint says about header, index and trailer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fingerprint {
    Right,
    Wrong,
    Absent,
}

/// Where a frame is, and how it is read.
pub(super) struct Origin<'a> {
    pub(super) source: &'a dyn ReadAt,
    pub(super) base: u64,
    pub(super) kind: Kind,
    pub(super) limits: &'a Limits,
    /// Whether what can still be read is wanted although the fingerprint does not match.
    pub(super) is_damaged: bool,
}

/// What is made of a fingerprint that does not match.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Trust {
    /// Damage.
    None,
    /// The header is right, and another program has written it.
    Header,
    /// All that can be read is to be taken, and chunks are held against their sums.
    Sums,
}

/// The copy of the header that stands before the trailer.
pub(super) fn header_copy(header: &[u8]) -> Vec<u8> {
    let length = u32::try_from(header.len()).unwrap_or(u32::MAX);
    [header, &length.to_le_bytes(), &COPY_MARK].concat()
}

/// How long the copy of a header of this length is.
pub(super) fn header_copy_len(header_len: u64) -> u64 {
    header_len + COPY_END_BYTES as u64
}

impl Origin<'_> {
    /// Reads the frame; says too whether its header had to be replaced by the copy.
    pub(super) fn load(&self) -> Result<(FrameState, bool)> {
        let mut seen = None;
        for _ in 0..ATTEMPTS {
            let error = match self.header().and_then(|header| self.load_with(header, Trust::None)) {
                Ok(loaded) => return Ok((loaded, false)),
                Err(error) => error,
            };
            // A writer may have switched between our reads; if not, looking again does not help.
            let now = Some(self.first_bytes());
            if seen == now {
                return self.load_mismatched().ok_or(error);
            }
            seen = now;
        }
        Err(Error::corrupt("frame header: changes faster than it can be read"))
    }

    /// The state of a frame whose header and fingerprint do not fit each other, if it can be told; says too
    /// whether it goes with the copy of the header.
    fn load_mismatched(&self) -> Option<(FrameState, bool)> {
        let changed = self.header().ok().and_then(|header| self.load_changed(header));
        if let Some(loaded) = changed {
            return Some((loaded, false));
        }
        let end = self.source.len().ok().filter(|_| !self.is_cut())?;
        let recovered = |trust| Some((self.recover_newest(end, trust).ok()?, true));
        if let Some(loaded) = recovered(Trust::None) {
            return Some(loaded);
        }
        if !self.is_damaged {
            return None;
        }
        let header = self.header().and_then(|header| self.load_with(header, Trust::Sums));
        header.ok().map(|loaded| (loaded, false)).or_else(|| recovered(Trust::Sums))
    }

    /// The state with a header that another program has written while all else stayed as it was: C-Blosc2 writes
    /// nothing more where no chunk comes or goes, as for a new shape. The copy of ours says whether it is so.
    fn load_changed(&self, header: Header) -> Option<FrameState> {
        let end = self.base.checked_add(header.counts.frame_len)?;
        let is_changed = is_foreign(header.raw())
            && match header.nchunks() {
                // There is no copy, and no chunk that could be lost.
                Some(0) => true,
                _ => header.is_foreign_change_of(&self.recover(end, Trust::None).ok()?.header),
            };
        if is_changed { self.load_with(header, Trust::Header).ok() } else { None }
    }

    /// Reads the state with an id; says too whether the header is that of another one. `is_followed`: it is known that
    /// there may be later states.
    pub(super) fn load_at(&self, id: CommitId, is_followed: bool) -> Result<(FrameState, bool)> {
        let is_wanted = |loaded: &FrameState| loaded.has_fingerprint && loaded.tail_sum == id.sum;
        let header = self.header().ok().filter(|header| header.counts.frame_len == id.end);
        let by_header = header.and_then(|header| self.load_with(header, Trust::None).ok());
        if let Some(loaded) = by_header.filter(is_wanted) {
            return Ok((loaded, false));
        }
        // The header is written after the id is known to all: one that is ahead of it belongs to another id.
        let is_ahead = self.header().is_ok_and(|header| header.counts.frame_len > id.end);
        if !is_followed
            && is_ahead
            && self.load().is_ok_and(|(loaded, _)| loaded.header.counts.frame_len > id.end)
        {
            return Err(Error::corrupt(
                "a newer commit than the one that is said to be the last, or not the file that belongs here",
            ));
        }
        let end = self.base.checked_add(id.end).filter(|&end| self.source.len().is_ok_and(|len| end <= len));
        let end = end.ok_or_else(|| {
            Error::truncated(format!("the committed state ends at byte {}, the file before", id.end))
        })?;
        match self.recover(end, Trust::None) {
            Ok(loaded) if is_wanted(&loaded) => Ok((loaded, true)),
            Err(error) if self.load().is_err() => Err(error),
            _ => Err(Error::corrupt(
                "the committed state is not in it: it is of another version, or not the file that belongs here",
            )),
        }
    }

    /// Whether the frame is still in this state. Two small reads; says no where only reading all can tell.
    pub(super) fn is_same(&self, state: &FrameState) -> bool {
        let raw = state.header.raw();
        let mut header = vec![0; raw.len()];
        let mut field = [0; FINGERPRINT_BYTES];
        let end = self.base + state.header.counts.frame_len;
        let field_at = end - FINGERPRINT_BYTES as u64;
        state.has_fingerprint
            && self.source.read_exact_at(&mut header, self.base).is_ok()
            && header == raw
            && self.source.read_exact_at(&mut field, field_at).is_ok()
            && fingerprint::read(&field).is_ok_and(|found| found.is_some_and(|f| f.sum() == state.tail_sum))
    }

    /// Whether the header is whole and the end of the frame is missing. What is at the end then may be the record
    /// of an older commit, with which the frame must not be opened as if that were all.
    fn is_cut(&self) -> bool {
        let (Ok(available), Ok(header)) = (self.available(), self.header()) else { return false };
        header.counts.frame_len > available && header.len().saturating_add(header.counts.cbytes) >= available
    }

    fn available(&self) -> Result<u64> {
        let len = self.source.len()?;
        let available = len.saturating_sub(self.base);
        if available < HEADER_BYTES_MIN as u64 {
            return Err(Error::truncated(format!(
                "frame header: needs {HEADER_BYTES_MIN} bytes, {available} left"
            )));
        }
        Ok(available)
    }

    fn first_bytes(&self) -> Option<Vec<u8>> {
        let bytes = self.available().ok()?.min(FIRST_BYTES);
        read_vec(self.source, self.base, bytes).ok()
    }

    fn header(&self) -> Result<Header> {
        Header::load(self.source, self.base, self.available()?)
    }

    /// Reads the state that goes with a header.
    fn load_with(&self, header: Header, trust: Trust) -> Result<FrameState> {
        let chunks = if self.kind == Kind::Contiguous { header.counts.cbytes } else { 0 };
        let index_at = header.len() + chunks;
        self.load_from(header, index_at, trust)
    }

    /// The same where it is known at which byte of the frame the index stands.
    fn load_from(&self, header: Header, index_at: u64, trust: Trust) -> Result<FrameState> {
        let frame_len = header.counts.frame_len;
        let available = self.available()?;
        if header.kind != self.kind {
            return Err(Error::corrupt(format!("frame header: {:?}, not {:?}", header.kind, self.kind)));
        }
        if frame_len > available {
            return Err(Error::truncated(format!("frame_len: {frame_len}, {available} bytes are there")));
        }
        let tail = Tail::read(self, &header, index_at)?;
        let trailer = Trailer::read(tail.trailer)?;
        let found = trailer.fingerprint();
        let tail_sum = match found {
            Ok(Some(fingerprint::Fingerprint::Pages(_))) => {
                let pages = tail.room.chunks(PAGE_BYTES).chain(trailer.body().chunks(PAGE_BYTES));
                let sums: Vec<[u8; 8]> = pages.map(fingerprint::page_sum).collect();
                fingerprint::sum_of_pages(header.raw(), &sums)
            }
            _ => fingerprint::sum(&[header.raw(), &tail.room, trailer.body()]),
        };
        let is_whole = tail.room_len == tail.room.len() as u64;
        let fingerprint = match found {
            Err(error) if trust == Trust::None => return Err(error),
            Err(_) => Fingerprint::Wrong,
            Ok(None) => Fingerprint::Absent,
            Ok(Some(found)) if found.sum() == tail_sum && is_whole => Fingerprint::Right,
            Ok(Some(_)) if trust == Trust::None => {
                return Err(Error::corrupt("fingerprint: header, index or trailer are damaged"));
            }
            Ok(Some(_)) => Fingerprint::Wrong,
        };
        let slots = match header.nchunks() {
            Some(0) => Slots::default(),
            nchunks => decode_index(&tail.room, nchunks, self.limits)?,
        };
        let are_sums_used =
            fingerprint == Fingerprint::Right || fingerprint == Fingerprint::Wrong && trust == Trust::Sums;
        let has_fingerprint = fingerprint == Fingerprint::Right;
        let mut loaded = finish(header, slots, &trailer, are_sums_used)?;
        if !has_fingerprint {
            // Sums are held against what they are about; what is known of items is only believed.
            loaded.slots.forget_statistics();
        }
        Ok(FrameState { tail_sum, has_fingerprint, ..loaded })
    }

    /// The same of two records that are written in turns, of which one ends at `end`: the newer one that is whole.
    fn recover_newest(&self, end: u64, trust: Trust) -> Result<FrameState> {
        let found = self.recover(end, trust)?;
        let Some(turn) = found.turn else { return Ok(found) };
        let other_end = self.base.checked_add(turn.other_end).filter(|&other| other != end);
        let other = other_end.and_then(|end| self.recover(end, Trust::None).ok());
        let is_newer = |other: &FrameState| other.turn.is_some_and(|other| other.number > turn.number);
        Ok(other.filter(is_newer).unwrap_or(found))
    }

    /// The state that a whole record that ends at `end` tells, whatever the header says.
    fn recover(&self, end: u64, trust: Trust) -> Result<FrameState> {
        let trailer_len = read_trailer_len(self.source, end)?;
        let copy_end = end.checked_sub(trailer_len + COPY_END_BYTES as u64).filter(|&at| at > self.base);
        let copy_end = copy_end.ok_or_else(|| Error::truncated("no room for a copy of the header"))?;
        let mut mark = [0; COPY_END_BYTES];
        self.source.read_exact_at(&mut mark, copy_end)?;
        let (length, mark) = mark.split_first_chunk::<4>().unwrap_or((&[0; 4], &[]));
        let length = u64::from(u32::from_le_bytes(*length));
        let copy_at = copy_end.checked_sub(length).filter(|&at| at > self.base && mark == COPY_MARK);
        let copy_at = copy_at.ok_or_else(|| Error::corrupt("no copy of the header"))?;
        let header = Header::read(read_vec(self.source, copy_at, length)?)?;
        if header.counts.frame_len != end - self.base {
            return Err(Error::corrupt("a copy of the header of another state"));
        }
        let loaded = match header.nchunks() {
            // What lies between header and record is of chunks that there were, and the header does not count it.
            Some(0) => self.load_from(header, copy_at - self.base, trust)?,
            _ => self.load_with(header, trust)?,
        };
        // Without a fingerprint of ours, nothing says that the copy belongs to what is around it.
        if !loaded.has_fingerprint && trust == Trust::None {
            return Err(Error::corrupt("a copy of the header without fingerprint"));
        }
        Ok(loaded)
    }
}

/// Takes the parts together.
fn finish(header: Header, mut slots: Slots, trailer: &Trailer, are_sums_used: bool) -> Result<FrameState> {
    let own = trailer.layers().find(|(name, _)| *name == layer::NAME);
    let vlmetalayers = trailer.layers().filter(|(name, _)| *name != layer::NAME);
    let vlmetalayers = vlmetalayers.map(|(name, packed)| (name.to_owned(), packed.into())).collect();
    let unknown =
        Notes { has_sums: true, has_statistics: true, live_bytes: header.counts.cbytes, turn: None };
    let (sums, notes) = match (own, are_sums_used) {
        (None, _) => (SumState::Absent, unknown),
        (Some(_), false) => (SumState::Stale, unknown),
        (Some((_, chunk)), true) => {
            let notes = layer::unpack_notes(chunk, &mut slots, header.typesize)?;
            (if notes.has_sums { SumState::Fresh } else { SumState::Absent }, notes)
        }
    };
    let Notes { has_sums, has_statistics, live_bytes, turn } = notes;
    let (tail_sum, has_fingerprint) = (0, false);
    Ok(FrameState {
        header,
        slots,
        vlmetalayers,
        sums,
        has_sums,
        has_statistics,
        live_bytes,
        turn,
        tail_sum,
        has_fingerprint,
    })
}

/// What stands behind the chunks.
struct Tail {
    /// The index and what follows it, as far as it is read.
    room: Vec<u8>,
    /// All that is between the chunks and the trailer.
    room_len: u64,
    trailer: Vec<u8>,
}

impl Tail {
    fn read(origin: &Origin<'_>, header: &Header, index_at: u64) -> Result<Self> {
        let frame_len = header.counts.frame_len;
        let bytes = frame_len.checked_sub(index_at);
        let bytes =
            bytes.ok_or_else(|| Error::corrupt(format!("frame_len: {frame_len}, an index at {index_at}")))?;
        let at = origin.base + index_at;
        if bytes <= TAIL_BYTES {
            let mut room = read_vec(origin.source, at, bytes)?;
            let end = room.last_chunk::<END_BYTES>().ok_or_else(|| no_trailer(bytes))?;
            let room_len = bytes.checked_sub(trailer::length(end)?).ok_or_else(|| no_trailer(bytes))?;
            let trailer = room.split_off(usize::try_from(room_len).unwrap_or(usize::MAX));
            return Ok(Self { room, room_len, trailer });
        }
        let trailer_len = read_trailer_len(origin.source, at + bytes)?;
        let room_len = bytes.checked_sub(trailer_len).ok_or_else(|| no_trailer(bytes))?;
        let trailer = read_vec(origin.source, at + room_len, trailer_len)?;
        // Of a long room, what counts is the index, and behind it the copy of the header. Where there is room for more
        // entries, the trailer has as much room for their sums.
        let index_len = index_len(origin, at, room_len)?.max(trailer_len);
        let wanted = index_len.saturating_add(header_copy_len(header.len())).min(room_len);
        let room = read_vec(origin.source, at, wanted)?;
        Ok(Self { room, room_len, trailer })
    }
}

fn no_trailer(bytes: u64) -> Error {
    Error::truncated(format!("frame trailer: {bytes} bytes behind the chunks do not hold it"))
}

/// The bytes of the index chunk that starts at `at`, if there is room for one.
fn index_len(origin: &Origin<'_>, at: u64, room: u64) -> Result<u64> {
    let mut bytes = [0; chunk::HEADER_BYTES];
    if room < bytes.len() as u64 {
        return Ok(0);
    }
    origin.source.read_exact_at(&mut bytes, at)?;
    // Without chunks there may be anything.
    Ok(chunk::Header::read(&bytes, &Limits::default()).map_or(0, |header| header.cbytes as u64))
}

/// How long the trailer is that ends at `end`.
fn read_trailer_len(source: &dyn ReadAt, end: u64) -> Result<u64> {
    let at = end.checked_sub(END_BYTES as u64).ok_or_else(|| no_trailer(end))?;
    let mut bytes = [0; END_BYTES];
    source.read_exact_at(&mut bytes, at)?;
    trailer::length(&bytes)
}

/// Reads `bytes` bytes, which are known to be there: only then room is made for them.
fn read_vec(source: &dyn ReadAt, at: u64, bytes: u64) -> Result<Vec<u8>> {
    let len = source.len()?;
    if at.checked_add(bytes).is_none_or(|end| end > len) {
        return Err(Error::truncated(format!("{bytes} bytes at {at}: there are {len}")));
    }
    let mut buffer = vec![0; usize::try_from(bytes).map_err(|_| Error::limit(format!("{bytes} bytes")))?];
    source.read_exact_at(&mut buffer, at)?;
    Ok(buffer)
}
