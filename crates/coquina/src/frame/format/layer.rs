//! Values of variable-length metalayers, which are chunks, and the one that is ours: `coquina`.
//!
//! It holds the sums of all stored chunks, what is known of their items, and how many bytes are in use. Others hand it on and see a byte
//! string in it.
//! Source: `docs/formats/frame.md`, "Values of vlmetalayers" and "The coquina layer".

use super::slots::{Slot, Slots};
use super::statistics;
use crate::base::error::{Error, Result};
use crate::base::limits::Limits;
use crate::base::pool::Job;
use crate::chunk::{Chunk, Header, Kind, Params, encode};

/// The layer's name, which users cannot take.
pub(crate) const NAME: &str = "coquina";
const VERSION: u8 = 1;
/// That of layers in which statistics follow the sums.
const VERSION_STATISTICS: u8 = 2;
const FLAG_SUMS: u8 = 1;
/// Statistics follow the sums.
const FLAG_STATISTICS: u8 = 2;
/// None are to be kept.
const FLAG_NO_STATISTICS: u8 = 4;
/// The marker of a byte string in MessagePack, and its length: who unpacks all layers must not stumble.
const MARKER: u8 = 0xc6;
const MARKER_BYTES: usize = 5;
const HEAD_BYTES: usize = 16;

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
    if !matches!(version, VERSION | VERSION_STATISTICS) {
        let most = VERSION_STATISTICS;
        return Err(Error::unsupported(format!("version {version} of the layer: takes {VERSION}..={most}")));
    }
    let has_sums = flags & FLAG_SUMS != 0;
    let sum_bytes = if has_sums { 8 } else { 0 };
    let entry_bytes = match statistics::entry_bytes(typesize) {
        _ if version < VERSION_STATISTICS || flags & FLAG_STATISTICS == 0 => 0,
        Some(bytes) => bytes,
        None => return Err(Error::corrupt(format!("statistics of items of {typesize} bytes"))),
    };
    let nstored = if sum_bytes + entry_bytes > 0 { slots.stored().count() } else { 0 };
    if nstored.checked_mul(sum_bytes + entry_bytes) != Some(rest.len()) {
        let bytes = rest.len();
        return Err(Error::corrupt(format!("{bytes} bytes of sums and statistics for {nstored} chunks")));
    }
    let (mut sums, entries) = rest.split_at_checked(nstored * sum_bytes).unwrap_or_default();
    let mut entries = entries.chunks_exact(entry_bytes.max(1));
    let stored: Vec<(u64, Slot)> = slots.stored().take(nstored).collect();
    for (number, mut slot) in stored {
        if let Some((sum, left)) = sums.split_first_chunk() {
            (slot.sum, sums) = (u64::from_le_bytes(*sum), left);
        }
        if let Some(entry) = entries.next() {
            slot.statistics =
                statistics::read(entry, typesize).map_err(|e| e.at(format!("chunk {number}")))?;
        }
        slots.set(number, slot);
    }
    let has_statistics = flags & FLAG_NO_STATISTICS == 0;
    let live_bytes = u64::from_le_bytes(head.last_chunk().copied().unwrap_or_default());
    Ok(Notes { has_sums, has_statistics, live_bytes })
}

#[cfg(test)]
mod tests {
    use super::super::statistics::Statistics;
    use super::*;

    #[test]
    fn notes_sums_and_statistics_are_read_as_written() {
        let known = Statistics { min: [1; 8], max: [2; 8], is_exact: true, has_nan: false };
        for case in 0..8 {
            let (has_sums, has_statistics, has_some) = (case & 1 > 0, case & 2 > 0, case & 4 > 0);
            let notes = Notes { has_sums, has_statistics, live_bytes: 1 << 40 };
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
}
