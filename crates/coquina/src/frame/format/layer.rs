//! Values of variable-length metalayers, which are chunks, and the one that is ours: `coquina`.
//!
//! It holds the sums of all stored chunks, what is known of their items, and how many bytes are in use. Others hand it on and see a byte
//! string in it.
//! Source: `docs/formats/frame.md`, "Values of vlmetalayers" and "The coquina layer".

use super::slots::Slots;
use super::statistics;
use crate::base::error::{Error, Result};
use crate::base::limits::Limits;
use crate::base::pool::Job;
use crate::chunk::{Chunk, HEADER_BYTES, Header, Kind, Params, encode};

/// The layer's name, which users cannot take.
pub(crate) const NAME: &str = "coquina";
const VERSION: u8 = 1;
/// That of layers in which statistics follow the sums.
const VERSION_STATISTICS: u8 = 2;
/// That of layers in records that are written in turns.
const VERSION_TURNS: u8 = 3;
const FLAG_SUMS: u8 = 1;
/// Statistics follow the sums.
const FLAG_STATISTICS: u8 = 2;
/// None are to be kept.
const FLAG_NO_STATISTICS: u8 = 4;
/// The marker of a byte string in MessagePack, and its length: who unpacks all layers must not stumble.
const MARKER: u8 = 0xc6;
const MARKER_BYTES: usize = 5;
const HEAD_BYTES: usize = 16;
/// Behind the head, in records that are written in turns.
const TURN_BYTES: usize = 24;

/// A value as a chunk.
pub(crate) fn pack(value: &[u8]) -> Result<Vec<u8>> {
    encode(value, &Params::default(), &Job::inline())
}

/// The value that a chunk holds.
pub(crate) fn unpack(chunk: &[u8], limits: &Limits) -> Result<Vec<u8>> {
    let header = Header::read(chunk, limits)?;
    if header.cbytes != chunk.len() {
        return Err(Error::corrupt(format!("value: a chunk of {} in {} bytes", header.cbytes, chunk.len())));
    }
    let chunk = Chunk::parse(chunk, limits)?;
    let mut value = vec![0; header.nbytes];
    chunk.decode_into(&mut value, &Job::inline())?;
    Ok(value)
}

/// What the layer says besides the sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Notes {
    /// Whether chunks get sums.
    pub(crate) has_sums: bool,
    /// Whether statistics of chunks are kept where there are some.
    pub(crate) has_statistics: bool,
    /// Bytes of chunks and tables of sums that the index refers to.
    pub(crate) live_bytes: u64,
    /// What a record says of itself that is written in turns with another one.
    pub(crate) turn: Option<Turn>,
}

/// One of two records that are written in turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Turn {
    /// Counts the commits to both.
    pub(crate) number: u64,
    /// Where in the frame the other record ends.
    pub(crate) other_end: u64,
    /// For how many chunks there is room in the record.
    pub(crate) capacity: u64,
}

/// Where things are in the layer of a record with room for more chunks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Places {
    /// The head, which tells what changes with each commit.
    pub(crate) head: usize,
    /// The sum of chunk 0; eight bytes for each chunk.
    pub(crate) sums: usize,
    /// What is known of chunk 0, and bytes for each; there are none where that is 0.
    pub(crate) entries: usize,
    pub(crate) entry_bytes: usize,
    /// All bytes of the layer.
    pub(crate) len: usize,
}

impl Places {
    /// For frames that have sums.
    pub(crate) fn of(notes: &Notes, capacity: usize, typesize: usize) -> Self {
        let entry_bytes = statistics::entry_bytes(typesize).filter(|_| notes.has_statistics).unwrap_or(0);
        let head = HEADER_BYTES + MARKER_BYTES;
        let sums = head + HEAD_BYTES + TURN_BYTES;
        let entries = sums + capacity * 8;
        Self { head, sums, entries, entry_bytes, len: entries + capacity * entry_bytes }
    }
}

/// The head of the layer of a record that is written in turns.
pub(crate) fn turn_head(notes: &Notes, turn: Turn, has_entries: bool) -> [u8; HEAD_BYTES + TURN_BYTES] {
    let flags = FLAG_SUMS
        | if has_entries { FLAG_STATISTICS } else { 0 }
        | if notes.has_statistics { 0 } else { FLAG_NO_STATISTICS };
    let mut head = [0; HEAD_BYTES + TURN_BYTES];
    (head[0], head[1]) = (VERSION_TURNS, flags);
    for (at, number) in [(8, notes.live_bytes), (16, turn.number), (24, turn.other_end), (32, turn.capacity)]
    {
        head[at..at + 8].copy_from_slice(&number.to_le_bytes());
    }
    head
}

/// The layer of a record with room for more chunks, as a chunk: nothing is known of any yet.
pub(crate) fn pack_room(places: &Places) -> Result<Vec<u8>> {
    let mut value = vec![0; places.len - HEADER_BYTES];
    let bytes = value.len() - MARKER_BYTES;
    let length = u32::try_from(bytes).map_err(|_| Error::limit(format!("{bytes} bytes of sums")))?;
    value[0] = MARKER;
    value[1..MARKER_BYTES].copy_from_slice(&length.to_be_bytes());
    encode(&value, &Params { level: 0, ..Params::default() }, &Job::inline())
}

/// The layer of a frame with items of `typesize` bytes, as a chunk.
pub(crate) fn pack_notes(notes: &Notes, slots: &Slots, typesize: usize) -> Result<Vec<u8>> {
    let has_some = notes.has_statistics
        && statistics::entry_bytes(typesize).is_some()
        && slots.stored().any(|(_, slot)| slot.statistics.is_some());
    let flag = |is_set, flag| if is_set { flag } else { 0 };
    let flags = flag(notes.has_sums, FLAG_SUMS)
        | flag(has_some, FLAG_STATISTICS)
        | flag(!notes.has_statistics, FLAG_NO_STATISTICS);
    let version = if has_some { VERSION_STATISTICS } else { VERSION };
    let sum_bytes = if notes.has_sums { 8 } else { 0 };
    let entry_bytes = statistics::entry_bytes(typesize).filter(|_| has_some).unwrap_or(0);
    let mut nstored = 0;
    slots.visit_stored(|_| nstored += 1);
    let bytes = HEAD_BYTES + nstored * (sum_bytes + entry_bytes);
    let length = u32::try_from(bytes).map_err(|_| Error::limit(format!("{bytes} bytes of sums")))?;
    let mut value = Vec::with_capacity(MARKER_BYTES + bytes);
    value.push(MARKER);
    value.extend(length.to_be_bytes());
    value.extend([version, flags, 0, 0, 0, 0, 0, 0]);
    value.extend(notes.live_bytes.to_le_bytes());
    if notes.has_sums {
        slots.visit_stored(|slot| value.extend_from_slice(&slot.sum.to_le_bytes()));
    }
    if has_some {
        slots.visit_stored(|slot| statistics::write(slot.statistics.as_ref(), typesize, &mut value));
    }
    // Sums do not compress, and the length must be known before the sums are.
    encode(&value, &Params { level: 0, ..Params::default() }, &Job::inline())
}

/// Reads the layer and gives the slots their sums and statistics.
pub(crate) fn unpack_notes(chunk: &[u8], slots: &mut Slots, typesize: usize) -> Result<Notes> {
    parse_notes(chunk, slots, typesize).map_err(|e| e.at(format!("metalayer {NAME}")))
}

fn parse_notes(chunk: &[u8], slots: &mut Slots, typesize: usize) -> Result<Notes> {
    // Stored and not compressed: then all that is made room for below is there already.
    let header = Header::read(chunk, &Limits::default())?;
    if header.kind()? != Kind::Memcpyed {
        return Err(Error::corrupt("a compressed layer"));
    }
    let value = unpack(chunk, &Limits::default())?;
    let content = value.get(MARKER_BYTES..).unwrap_or_default();
    let (head, rest) = content
        .split_first_chunk::<HEAD_BYTES>()
        .ok_or_else(|| Error::truncated(format!("{} bytes, needs {HEAD_BYTES}", content.len())))?;
    let [version, flags, ..] = *head;
    if !matches!(version, VERSION | VERSION_STATISTICS | VERSION_TURNS) {
        let most = VERSION_TURNS;
        return Err(Error::unsupported(format!("version {version} of the layer: takes {VERSION}..={most}")));
    }
    let has_sums = flags & FLAG_SUMS != 0;
    let sum_bytes = if has_sums { 8 } else { 0 };
    let entry_bytes = match statistics::entry_bytes(typesize) {
        _ if version < VERSION_STATISTICS || flags & FLAG_STATISTICS == 0 => 0,
        Some(bytes) => bytes,
        None => return Err(Error::corrupt(format!("statistics of items of {typesize} bytes"))),
    };
    let has_statistics = flags & FLAG_NO_STATISTICS == 0;
    let live_bytes = u64::from_le_bytes(head.last_chunk().copied().unwrap_or_default());
    let notes = Notes { has_sums, has_statistics, live_bytes, turn: None };
    if version == VERSION_TURNS {
        return parse_turn(notes, rest, slots, typesize, entry_bytes);
    }
    let nstored = if sum_bytes + entry_bytes > 0 { slots.stored_count() } else { 0 };
    if nstored.checked_mul(sum_bytes + entry_bytes) != Some(rest.len()) {
        let bytes = rest.len();
        return Err(Error::corrupt(format!("{bytes} bytes of sums and statistics for {nstored} chunks")));
    }
    let (mut sums, entries) = rest.split_at_checked(nstored * sum_bytes).unwrap_or_default();
    let mut entries = entries.chunks_exact(entry_bytes.max(1));
    if nstored > 0 {
        slots.change_stored(|number, slot| {
            if let Some((sum, left)) = sums.split_first_chunk() {
                (slot.sum, sums) = (u64::from_le_bytes(*sum), left);
            }
            let Some(entry) = entries.next() else { return Ok(()) };
            let read = statistics::read(entry, typesize);
            slot.statistics = read.map_err(|e| e.at(format!("chunk {number}")))?;
            Ok(())
        })?;
    }
    Ok(notes)
}

/// Reads what follows the head of the layer in a record that is written in turns: a sum and an entry by the number of
/// each chunk, and room for more.
fn parse_turn(
    notes: Notes,
    content: &[u8],
    slots: &mut Slots,
    typesize: usize,
    entry_bytes: usize,
) -> Result<Notes> {
    let (turn, rest) = content.split_first_chunk::<TURN_BYTES>().unwrap_or((&[0; TURN_BYTES], &[]));
    let (numbers, _) = turn.as_chunks::<8>();
    let mut numbers = numbers.iter().map(|bytes| u64::from_le_bytes(*bytes));
    let mut next = || numbers.next().unwrap_or(0);
    let turn = Turn { number: next(), other_end: next(), capacity: next() };
    let capacity = usize::try_from(turn.capacity).unwrap_or(usize::MAX);
    let is_whole = capacity.checked_mul(8 + entry_bytes) == Some(rest.len());
    if !notes.has_sums || !is_whole || turn.capacity < slots.len() {
        let (bytes, nchunks) = (rest.len(), slots.len());
        return Err(Error::corrupt(format!("{bytes} bytes with room for {capacity}, of {nchunks} chunks")));
    }
    let (sums, entries) = rest.split_at_checked(capacity * 8).unwrap_or_default();
    let (sums, _) = sums.as_chunks::<8>();
    slots.change_stored(|number, slot| {
        let place = usize::try_from(number).unwrap_or(usize::MAX);
        slot.sum = sums.get(place).map_or(0, |sum| u64::from_le_bytes(*sum));
        let entry = entries.get(place * entry_bytes..(place + 1) * entry_bytes).unwrap_or_default();
        slot.statistics = statistics::read(entry, typesize).map_err(|e| e.at(format!("chunk {number}")))?;
        Ok(())
    })?;
    Ok(Notes { turn: Some(turn), ..notes })
}

#[cfg(test)]
mod tests {
    use super::super::slots::Slot;
    use super::super::statistics::Statistics;
    use super::*;

    #[test]
    fn notes_sums_and_statistics_are_read_as_written() {
        let known = Statistics { min: [1; 8], max: [2; 8], is_exact: true, has_nan: false };
        for case in 0..8 {
            let (has_sums, has_statistics, has_some) = (case & 1 > 0, case & 2 > 0, case & 4 > 0);
            let notes = Notes { has_sums, has_statistics, live_bytes: 1 << 40, turn: None };
            let slot = |n: u64| {
                let statistics = (has_some && n.is_multiple_of(2)).then_some(known);
                Slot { raw: 5, sum: n + 1, statistics }
            };
            let mut slots = Slots::same(Slot::new(-1), 3000);
            (0..3000).step_by(7).for_each(|n| slots.set(n, slot(n)));
            let chunk = pack_notes(&notes, &slots, 8).unwrap();
            let is_listed = has_statistics && has_some;
            let each = if has_sums { 8 } else { 0 } + if is_listed { 17 } else { 0 };
            assert_eq!((chunk.len(), chunk[37]), (32 + 21 + each * 429, 1 + u8::from(is_listed)));
            let mut bare = Slots::same(Slot::new(-1), 3000);
            (0..3000).step_by(7).for_each(|n| bare.set(n, Slot::new(5)));
            assert_eq!(unpack_notes(&chunk, &mut bare, 8).unwrap(), notes);
            for n in 0..3000 {
                let (slot, bare) = (slots.get(n).unwrap(), bare.get(n).unwrap());
                assert!(!has_sums || bare.sum == slot.sum);
                assert_eq!(bare.statistics, slot.statistics.filter(|_| is_listed));
            }
            let mut fewer = Slots::same(Slot::new(5), 428);
            assert!(unpack_notes(&chunk, &mut fewer, 8).is_err() == (each > 0));
            assert!(unpack_notes(&chunk, &mut Slots::same(Slot::new(5), 429), 4).is_err() == is_listed);
        }
    }

    #[test]
    fn a_layer_with_room_is_read_as_written() {
        let known = Statistics { min: [1; 8], max: [2; 8], is_exact: true, has_nan: false };
        for has_statistics in [false, true] {
            let notes = Notes { has_sums: true, has_statistics, live_bytes: 77, turn: None };
            let turn = Turn { number: 9, other_end: 1 << 33, capacity: 40 };
            let places = Places::of(&notes, 40, 8);
            let mut chunk = pack_room(&places).unwrap();
            assert_eq!(chunk.len(), places.len);
            let head = turn_head(&notes, turn, places.entry_bytes > 0);
            chunk[places.head..places.head + head.len()].copy_from_slice(&head);
            let mut slots = Slots::same(Slot::new(-1), 30);
            for number in (0..30).step_by(4) {
                slots.set(number, Slot::new(5));
                let place = usize::try_from(number).unwrap();
                chunk[places.sums + 8 * place] = 3;
                let mut entry = Vec::new();
                statistics::write(Some(&known), 8, &mut entry);
                if has_statistics {
                    let at = places.entries + place * places.entry_bytes;
                    chunk[at..at + entry.len()].copy_from_slice(&entry);
                }
            }
            let read = unpack_notes(&chunk, &mut slots, 8).unwrap();
            assert_eq!(read, Notes { turn: Some(turn), ..notes });
            for number in 0..30 {
                let expected = match number % 4 {
                    0 => Slot { raw: 5, sum: 3, statistics: has_statistics.then_some(known) },
                    _ => Slot::new(-1),
                };
                assert_eq!(slots.get(number), Some(expected));
            }
            assert!(unpack_notes(&chunk, &mut Slots::same(Slot::new(5), 41), 8).is_err());
            for end in 0..chunk.len() {
                assert!(unpack_notes(&chunk[..end], &mut slots, 8).is_err(), "{end}");
            }
        }
    }
}
