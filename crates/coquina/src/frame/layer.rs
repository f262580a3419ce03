//! Values of variable-length metalayers, which are chunks, and the one that is ours: `coquina`.
//!
//! It holds the sums of all stored chunks and says how many bytes are in use. Others hand it on and see a byte
//! string in it.
//! Source: `docs/formats/frame.md`, "Values of vlmetalayers" and "The coquina layer".

use super::slots::Slots;
use crate::base::error::{Error, Result};
use crate::base::limits::Limits;
use crate::base::pool::Job;
use crate::chunk::{Chunk, Header, Kind, Params, encode};

/// The layer's name, which users cannot take.
pub(super) const NAME: &str = "coquina";
const VERSION: u8 = 1;
const FLAG_SUMS: u8 = 1;
/// The marker of a byte string in MessagePack, and its length: who unpacks all layers must not stumble.
const MARKER: u8 = 0xc6;
const MARKER_BYTES: usize = 5;
const HEAD_BYTES: usize = 16;

/// A value as a chunk.
pub(super) fn pack(value: &[u8]) -> Result<Vec<u8>> {
    encode(value, &Params::default(), &Job::inline())
}

/// The value that a chunk holds.
pub(super) fn unpack(chunk: &[u8], limits: &Limits) -> Result<Vec<u8>> {
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
pub(super) struct Notes {
    /// Whether chunks get sums.
    pub(super) has_sums: bool,
    /// Bytes of chunks and tables of sums that the index refers to.
    pub(super) live_bytes: u64,
}

/// The layer, as a chunk.
pub(super) fn pack_notes(notes: &Notes, slots: &Slots) -> Result<Vec<u8>> {
    let mut content = vec![VERSION, if notes.has_sums { FLAG_SUMS } else { 0 }, 0, 0, 0, 0, 0, 0];
    content.extend(notes.live_bytes.to_le_bytes());
    if notes.has_sums {
        slots.stored().for_each(|(_, slot)| content.extend(slot.sum.to_le_bytes()));
    }
    let length = u32::try_from(content.len());
    let length = length.map_err(|_| Error::limit(format!("{} bytes of sums", content.len())))?;
    let value = [&[MARKER][..], &length.to_be_bytes(), &content].concat();
    // Sums do not compress, and the length must be known before the sums are.
    encode(&value, &Params { level: 0, ..Params::default() }, &Job::inline())
}

/// Reads the layer and gives the slots their sums.
pub(super) fn unpack_notes(chunk: &[u8], slots: &mut Slots) -> Result<Notes> {
    parse_notes(chunk, slots).map_err(|e| e.at(format!("metalayer {NAME}")))
}

fn parse_notes(chunk: &[u8], slots: &mut Slots) -> Result<Notes> {
    // Stored and not compressed: then all that is made room for below is there already.
    let header = Header::read(chunk, &Limits::default())?;
    if header.kind()? != Kind::Memcpyed {
        return Err(Error::corrupt("a compressed layer"));
    }
    let value = unpack(chunk, &Limits::default())?;
    let content = value.get(MARKER_BYTES..).unwrap_or_default();
    let (head, sums) = content
        .split_first_chunk::<HEAD_BYTES>()
        .ok_or_else(|| Error::truncated(format!("{} bytes, needs {HEAD_BYTES}", content.len())))?;
    if head[0] != VERSION {
        return Err(Error::unsupported(format!("version {} of the layer: takes {VERSION}", head[0])));
    }
    let has_sums = head[1] & FLAG_SUMS != 0;
    let stored = if has_sums { slots.stored().count() } else { 0 };
    if sums.len() as u64 != 8 * stored as u64 {
        return Err(Error::corrupt(format!("{} bytes of sums for {stored} chunks", sums.len())));
    }
    let stored: Vec<u64> = slots.stored().map(|(number, _)| number).take(stored).collect();
    for (number, sum) in stored.into_iter().zip(sums.chunks_exact(8)) {
        if let Some(slot) = slots.get(number) {
            let sum = u64::from_le_bytes(sum.try_into().unwrap_or_default());
            slots.set(number, super::slots::Slot { sum, ..slot });
        }
    }
    let live_bytes = u64::from_le_bytes(head.last_chunk().copied().unwrap_or_default());
    Ok(Notes { has_sums, live_bytes })
}

#[cfg(test)]
mod tests {
    use super::super::slots::Slot;
    use super::*;

    #[test]
    fn notes_and_sums_are_read_as_written() {
        for has_sums in [true, false] {
            let notes = Notes { has_sums, live_bytes: 1 << 40 };
            let mut slots = Slots::same(Slot { raw: -1, sum: 0 }, 3000);
            (0..3000).step_by(7).for_each(|n| slots.set(n, Slot { raw: 5, sum: n + 1 }));
            let chunk = pack_notes(&notes, &slots).unwrap();
            assert_eq!(chunk.len(), 32 + 21 + if has_sums { 8 * 429 } else { 0 });
            let mut bare = Slots::same(Slot { raw: -1, sum: 0 }, 3000);
            (0..3000).step_by(7).for_each(|n| bare.set(n, Slot { raw: 5, sum: 0 }));
            assert_eq!(unpack_notes(&chunk, &mut bare).unwrap(), notes);
            assert!(!has_sums || (0..3000).all(|n| bare.get(n) == slots.get(n)));
            let mut fewer = Slots::same(Slot { raw: 5, sum: 0 }, 428);
            assert!(unpack_notes(&chunk, &mut fewer).is_err() == has_sums);
        }
    }
}
