//! Two records that are written in turns: a commit to a frame of many chunks writes what differs, not the whole index.
//!
//! In: the state to commit. Out: its header, and the ranges of bytes that the record out of force lacks. Before the two
//! records there is room for chunks, and in both there is room for their entries; when one of these is full, two new
//! records are begun behind them. So a commit takes the same time for any number of chunks, but for the few that begin.
//! Source: `docs/formats/frame.md`, "Records in turns".
//! Invariant: nothing is written to the record in force, nor where its chunks are.

use std::ops::Range;
use std::sync::Arc;

use crate::base::error::Result;
use crate::chunk::HEADER_BYTES;
use crate::frame::format::fingerprint::{self, FINGERPRINT_BYTES, Fingerprint, PAGE_BYTES};
use crate::frame::format::header::{Counts, Header};
use crate::frame::format::layer::{self, Notes, Places, Turn};
use crate::frame::format::offsets::{ENTRY_BYTES, stored_index_header};
use crate::frame::format::slots::Slots;
use crate::frame::format::spec::METALAYERS_MAX;
use crate::frame::format::statistics;
use crate::frame::format::trailer::{self, END_BYTES};
use crate::frame::load::{header_copy, header_copy_len};
use crate::frame::state::FrameState;

/// Frames of fewer chunks have small records, which are written whole.
const CHUNKS_MIN: u64 = 256;
/// There is room for a quarter more chunks, and for so many at least.
const SPARE_CHUNKS_MIN: u64 = 256;
/// The most bytes of room for chunks. It is a hole in the file until they come.
const ROOM_BYTES_MAX: u64 = 64 << 20;
/// Where there would be room for fewer chunks, beginning again would cost more than it saves.
const ROOM_CHUNKS_MIN: u64 = 32;
/// Ranges that are closer to each other than this are written as one.
const NEAR_BYTES: usize = 512;

/// Records that were written so often have been worth their room.
const COMMITS_WORTH: u64 = 16;
/// So many commits at most are written whole before records in turns are tried again.
const WHOLE_MAX: u32 = 1 << 12;

/// How long commits are written whole. Who makes one only had better do so, and whoever gives records up all the time.
pub(super) struct Patience {
    /// Commits that were written whole since records in turns were given up.
    whole: u32,
    /// How many there must be before the next records are begun.
    needed: u32,
}

impl Default for Patience {
    fn default() -> Self {
        Self { whole: 0, needed: 1 }
    }
}

impl Patience {
    /// Notes that these records are not written any more.
    pub(super) fn give_up(&mut self, turns: Option<Turns>) {
        let Some(turns) = turns else { return };
        // Records that were full have been worth it, and the next ones are begun at once.
        let was_worth = turns.number >= COMMITS_WORTH;
        self.whole = u32::from(was_worth);
        self.needed = if was_worth { 1 } else { (self.needed * 4).min(WHOLE_MAX) };
    }

    /// Notes a commit that was written whole.
    pub(super) fn note_whole(&mut self) {
        self.whole = self.whole.saturating_add(1);
    }

    /// Whether records in turns may be begun.
    pub(super) fn is_over(&self) -> bool {
        self.whole >= self.needed
    }
}

/// Two records, and the room before them.
pub(super) struct Turns {
    /// Bytes of the file that are free for chunks; `free` of them as of the last commit.
    room: Range<u64>,
    free: u64,
    /// Where the two records start.
    starts: [u64; 2],
    /// Which of them the last commit wrote.
    in_force: usize,
    number: u64,
    /// What the next record is to hold, but for what the commit itself adds.
    image: Image,
    /// What each record lacks of it.
    lacking: [Vec<Range<usize>>; 2],
}

/// The content of a record: what was last committed.
struct Image {
    bytes: Vec<u8>,
    /// Of each page before the trailer, then of each page of the trailer.
    sums: Vec<[u8; 8]>,
    copy_at: usize,
    trailer_at: usize,
    /// Where the layer of ours is.
    layer_at: usize,
    places: Places,
    capacity: u64,
    slots: Slots,
    vlmetalayers: Vec<(String, Arc<[u8]>)>,
    notes: Notes,
}

/// A commit that is to be written: ranges of the record first, then the header.
pub(super) struct Step {
    pub(super) header: Header,
    pub(super) sum: u64,
    pub(super) start: u64,
    pub(super) ranges: Vec<Range<usize>>,
}

impl Turns {
    /// Begins behind byte `end` of the file, for a frame in this state, if it is worth it.
    pub(super) fn begin(state: &FrameState, end: u64) -> Result<Option<Self>> {
        let nchunks = state.slots.len();
        if nchunks < CHUNKS_MIN || !state.has_sums || state.vlmetalayers.len() >= METALAYERS_MAX {
            return Ok(None);
        }
        let spare = SPARE_CHUNKS_MIN.max(nchunks / 4);
        let each = state.live_bytes / nchunks + state.live_bytes / nchunks / 4 + 64;
        if ROOM_BYTES_MAX / each < ROOM_CHUNKS_MIN {
            return Ok(None);
        }
        let Some(image) = Image::new(state, nchunks + spare)? else { return Ok(None) };
        let room = end..end + (each * spare).min(ROOM_BYTES_MAX);
        let len = image.bytes.len();
        let starts = [room.end, room.end + len as u64];
        let lacking = std::array::from_fn(|_| std::iter::once(0..len).collect());
        Ok(Some(Self { free: room.start, room, starts, in_force: 1, number: 0, image, lacking }))
    }

    /// Where the second record ends.
    pub(super) fn end(&self) -> u64 {
        self.starts[1] + self.image.bytes.len() as u64
    }

    /// Where the records begin, and the room for chunks ends.
    pub(super) fn room_end(&self) -> u64 {
        self.room.end
    }

    /// Where the next chunk will be.
    pub(super) fn room_start(&self) -> u64 {
        self.room.start
    }

    /// Where the second record begins.
    pub(super) fn second_start(&self) -> u64 {
        self.starts[1]
    }

    /// Whether the second record is in force, so that the first may be written over.
    pub(super) fn is_second_in_force(&self) -> bool {
        self.in_force == 1 && self.number > 0
    }

    /// Takes room for so many bytes of a chunk, if there is enough.
    pub(super) fn take(&mut self, bytes: u64) -> Option<u64> {
        let at = self.room.start;
        let end = at.checked_add(bytes).filter(|&end| end <= self.room.end)?;
        self.room.start = end;
        Some(at)
    }

    /// Gives back the room that was taken since the last commit.
    pub(super) fn roll_back(&mut self) {
        self.room.start = self.free;
    }

    /// The bytes of a range of the record.
    pub(super) fn bytes(&self, range: Range<usize>) -> &[u8] {
        self.image.bytes.get(range).unwrap_or_default()
    }

    /// The next commit; `None` if there is no room for what the state holds. If it is not written, nothing more may be.
    pub(super) fn step(&mut self, state: &FrameState) -> Result<Option<Step>> {
        let Some(mut edits) = self.image.change(state)? else { return Ok(None) };
        let target = 1 - self.in_force;
        let (start, len) = (self.starts[target], self.image.bytes.len() as u64);
        let other_end = self.starts[self.in_force] + len;
        self.number += 1;
        let turn = Turn { number: self.number, other_end, capacity: self.image.capacity };
        let mut header = state.header.clone();
        let cbytes = start - header.len();
        let counts = Counts { frame_len: start + len, cbytes, has_vlmetalayers: true, ..header.counts };
        header.set_counts(counts);
        self.image.put_turn(&header, turn, &mut edits);
        let sum = self.image.seal(&header, &mut edits);
        for lacking in &mut self.lacking {
            lacking.extend(edits.iter().cloned());
        }
        let ranges = joined(std::mem::take(&mut self.lacking[target]));
        self.in_force = target;
        Ok(Some(Step { header, sum, start, ranges }))
    }

    /// The commit has been written.
    pub(super) fn commit(&mut self) {
        self.free = self.room.start;
    }
}

impl Image {
    /// A record of `capacity` chunks in this state; `None` where that is more than a record can hold.
    fn new(state: &FrameState, capacity: u64) -> Result<Option<Self>> {
        let Ok(count) = usize::try_from(capacity) else { return Ok(None) };
        let notes = state.notes();
        let places = Places::of(&notes, count, state.header.typesize);
        let own = layer::pack_room(&places)?;
        let others = state.vlmetalayers.iter().map(|(name, packed)| (name.as_str(), &**packed));
        let body = trailer::body(others.chain(Some((layer::NAME, own.as_slice()))))?;
        let copy_at = HEADER_BYTES + count * ENTRY_BYTES;
        let copy_len = usize::try_from(header_copy_len(state.header.len())).unwrap_or(usize::MAX);
        let trailer_at = copy_at + copy_len;
        let mut bytes = vec![0; trailer_at];
        bytes.extend(body);
        bytes.resize(bytes.len() + FINGERPRINT_BYTES, 0);
        let layer_at = bytes.len() - END_BYTES - own.len();
        let mut image = Self {
            bytes,
            sums: Vec::new(),
            copy_at,
            trailer_at,
            layer_at,
            places,
            capacity,
            slots: Slots::default(),
            vlmetalayers: state.vlmetalayers.clone(),
            notes,
        };
        if image.change(state)?.is_none() {
            return Ok(None);
        }
        image.sums = image.pages().map(|page| image.page_sum(page)).collect();
        Ok(Some(image))
    }

    /// Takes over what differs in `state`; returns where, or `None` if it does not fit.
    fn change(&mut self, state: &FrameState) -> Result<Option<Vec<Range<usize>>>> {
        let count = state.slots.len();
        let is_same = self.vlmetalayers == state.vlmetalayers
            && self.notes.has_statistics == state.has_statistics
            && state.has_sums;
        if !is_same || !(CHUNKS_MIN..=self.capacity).contains(&count) {
            return Ok(None);
        }
        let mut edits = Vec::new();
        let changed = state.slots.changed_since(&self.slots);
        let mut entry = Vec::new();
        for (number, slot) in changed.into_iter().filter_map(|n| Some((n, state.slots.get(n)?))) {
            let at = usize::try_from(number).unwrap_or(usize::MAX);
            self.put(HEADER_BYTES + at * ENTRY_BYTES, &slot.raw.to_le_bytes(), &mut edits);
            self.put(self.layer_at + self.places.sums + at * 8, &slot.sum.to_le_bytes(), &mut edits);
            if self.places.entry_bytes > 0 {
                entry.clear();
                let typesize = state.header.typesize;
                statistics::write(slot.statistics.as_ref(), typesize, &mut entry);
                let place = self.layer_at + self.places.entries + at * self.places.entry_bytes;
                self.put(place, &entry, &mut edits);
            }
        }
        let head = stored_index_header(usize::try_from(count).unwrap_or(usize::MAX))?;
        self.put(0, &head, &mut edits);
        (self.slots, self.notes) = (state.slots.clone(), state.notes());
        Ok(Some(edits))
    }

    /// Puts what says which record it is.
    fn put_turn(&mut self, header: &Header, turn: Turn, edits: &mut Vec<Range<usize>>) {
        let head = layer::turn_head(&self.notes, turn, self.places.entry_bytes > 0);
        self.put(self.layer_at + self.places.head, &head, edits);
        self.put(self.copy_at, &header_copy(header.raw()), edits);
    }

    /// Puts the fingerprint, and returns its sum.
    fn seal(&mut self, header: &Header, edits: &mut Vec<Range<usize>>) -> u64 {
        let near = joined(std::mem::take(edits));
        self.sum_pages(&near);
        let sum = fingerprint::sum_of_pages(header.raw(), &self.sums);
        *edits = near;
        self.put(self.bytes.len() - FINGERPRINT_BYTES, &Fingerprint::Pages(sum).field(), edits);
        sum
    }

    fn put(&mut self, at: usize, bytes: &[u8], edits: &mut Vec<Range<usize>>) {
        if let Some(place) = self.bytes.get_mut(at..at + bytes.len()) {
            place.copy_from_slice(bytes);
        }
        match edits.last_mut() {
            Some(last) if last.end == at => last.end = at + bytes.len(),
            _ => edits.push(at..at + bytes.len()),
        }
    }

    /// How many pages there are before the trailer.
    fn room_pages(&self) -> usize {
        self.trailer_at.div_ceil(PAGE_BYTES)
    }

    /// The numbers of all pages.
    fn pages(&self) -> Range<usize> {
        let body = self.bytes.len() - FINGERPRINT_BYTES - self.trailer_at;
        0..self.room_pages() + body.div_ceil(PAGE_BYTES)
    }

    fn page_sum(&self, page: usize) -> [u8; 8] {
        let body_end = self.bytes.len() - FINGERPRINT_BYTES;
        let (start, end) = match page.checked_sub(self.room_pages()) {
            None => (page * PAGE_BYTES, self.trailer_at),
            Some(page) => (self.trailer_at + page * PAGE_BYTES, body_end),
        };
        fingerprint::page_sum(self.bytes.get(start..end.min(start + PAGE_BYTES)).unwrap_or_default())
    }

    /// Sums the pages anew that ranges touch.
    fn sum_pages(&mut self, ranges: &[Range<usize>]) {
        let page_of = |at: usize| match at.checked_sub(self.trailer_at) {
            None => at / PAGE_BYTES,
            Some(at) => self.room_pages() + at / PAGE_BYTES,
        };
        let touched: Vec<usize> =
            ranges.iter().flat_map(|range| page_of(range.start)..=page_of(range.end - 1)).collect();
        for page in touched {
            let sum = self.page_sum(page);
            if let Some(place) = self.sums.get_mut(page) {
                *place = sum;
            }
        }
    }
}

/// The same bytes in as few ranges as it takes, and what is between near ones.
fn joined(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.sort_unstable_by_key(|range| range.start);
    let mut joined: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        match joined.last_mut() {
            Some(last) if range.start <= last.end + NEAR_BYTES => last.end = last.end.max(range.end),
            _ => joined.push(range),
        }
    }
    joined
}

#[cfg(test)]
mod tests;
