//! The index chunk: eight bytes for each chunk of the frame, themselves compressed as a chunk.
//!
//! In: the bytes of the index. Out: [`Slots`], and back.
//! Source: `docs/formats/frame.md`, "Index chunk".

use super::slots::{Builder, RAW_BYTES, Slot, Slots};
use crate::base::error::{Error, Result};
use crate::base::limits::Limits;
use crate::base::pool::Job;
use crate::chunk::{
    BlockSource, Chunk, HEADER_BYTES, Header, Kind, Params, Special, Split, encode_blocks_of, encode_special,
    stored_header,
};
use crate::codec;
use crate::filter::{Pipeline, SHUFFLE};
use crate::frame::NCHUNKS_MAX;

/// Bytes of an entry.
pub(crate) const ENTRY_BYTES: usize = RAW_BYTES;
/// Fewer equal entries are written one by one, as C-Blosc2 does.
const REPEATED_MIN: u64 = 4;
const BLOCK_BYTES: usize = 16 << 10;
/// Of an index that is stored as it is, and that has at least as many bytes.
const STORED_BLOCK_BYTES: usize = 1 << 10;
/// Blocks that readers take; writers are content with far less.
const BLOCK_BYTES_MAX: usize = 16 << 20;
/// The index is decoded in windows of about this much.
const WINDOW_BYTES: usize = 256 << 10;
/// So many entries become slots, which take five times as much memory, before the limit is looked at again.
const CHECKED_ENTRIES: usize = 4 << 10;

/// What the index says of a chunk of this special value.
pub(crate) fn special_raw(special: Special) -> Option<i64> {
    let code: i64 = match special {
        Special::Zeros => 1,
        Special::Nans => 2,
        Special::Uninit => 4,
        Special::Value => return None,
    };
    Some(i64::MIN | code << 56)
}

/// The special value that a negative entry tells.
pub(crate) fn special(raw: i64) -> Result<Special> {
    [Special::Zeros, Special::Nans, Special::Uninit]
        .into_iter()
        .find(|&special| special_raw(special) == Some(raw))
        .ok_or_else(|| Error::corrupt(format!("index: {raw:#018x} is not a special value")))
}

/// The index chunk of these slots, of which there is at least one.
pub(crate) fn encode_index(slots: &Slots) -> Result<Vec<u8>> {
    if slots.len() > NCHUNKS_MAX {
        return Err(Error::limit(format!("{} chunks: a frame holds {NCHUNKS_MAX}", slots.len())));
    }
    let nbytes = usize::try_from(slots.len()).unwrap_or(usize::MAX) * ENTRY_BYTES;
    if let Some(slot) = slots.all_same().filter(|_| slots.len() >= REPEATED_MIN) {
        return encode_special(Special::Value, &slot.raw.to_le_bytes(), nbytes, ENTRY_BYTES);
    }
    let params = params(BLOCK_BYTES)?;
    let block_bytes = params.block_bytes(nbytes);
    let mut chunk = Vec::new();
    let len = encode_blocks_of(&Entries { slots, block_bytes }, nbytes, &params, &mut chunk, &Job::inline())?;
    chunk.truncate(len);
    chunk.shrink_to_fit();
    Ok(chunk)
}

fn params(blocksize: usize) -> Result<Params> {
    Ok(Params {
        codec: codec::by_id(0)?,
        level: 5,
        typesize: ENTRY_BYTES,
        pipeline: Pipeline::last(SHUFFLE),
        blocksize: Some(blocksize),
        split: Split::Never,
        ..Params::default()
    })
}

/// What stands before `count` entries that are stored as they are, 128 of them or more.
pub(crate) fn stored_index_header(count: usize) -> Result<[u8; HEADER_BYTES]> {
    Ok(stored_header(&params(STORED_BLOCK_BYTES)?, count * ENTRY_BYTES))
}

/// The index block by block: all of it at once may be gigabytes that compress to kilobytes.
struct Entries<'s> {
    slots: &'s Slots,
    block_bytes: usize,
}

impl BlockSource for Entries<'_> {
    fn fill(&self, number: usize, out: &mut [u8]) {
        self.slots.write_raw((number * self.block_bytes / ENTRY_BYTES) as u64, out);
    }
}

/// The slots that an index chunk tells, without sums. `nchunks` is how many there must be, if that is known.
pub(crate) fn decode_index(chunk: &[u8], nchunks: Option<u64>, limits: &Limits) -> Result<Slots> {
    decode(chunk, nchunks, limits).map_err(|e| e.at("frame index"))
}

fn decode(chunk: &[u8], nchunks: Option<u64>, limits: &Limits) -> Result<Slots> {
    // An index of equal entries takes no memory, however long it is: it is checked by itself.
    let header = Header::read(chunk, &Limits::default())?;
    let count = (header.nbytes / ENTRY_BYTES) as u64;
    let is_whole = header.nbytes.is_multiple_of(ENTRY_BYTES) && header.nbytes > 0;
    if !is_whole || nchunks.is_some_and(|nchunks| nchunks != count) {
        let nbytes = header.nbytes;
        return Err(Error::corrupt(format!("{nbytes} bytes for {} chunks", nchunks.unwrap_or(count))));
    }
    let stored = chunk.get(header.len()..header.cbytes).unwrap_or_default();
    match header.kind()? {
        Kind::Special(Special::Value) if stored.len() == ENTRY_BYTES => {
            let raw = i64::from_le_bytes(stored.try_into().unwrap_or_default());
            return Ok(Slots::same(Slot::new(raw), count));
        }
        Kind::Blocks if header.block_bytes() > BLOCK_BYTES_MAX => {
            let bytes = header.block_bytes();
            return Err(Error::limit(format!("blocks of {bytes} bytes, the limit is {BLOCK_BYTES_MAX}")));
        }
        Kind::Blocks | Kind::Memcpyed | Kind::Special(_) => {}
        Kind::VariableBlocks => return Err(Error::corrupt("blocks of unequal size")),
    }
    let chunk = Chunk::parse(chunk, &Limits::default())?;
    decode_windows(&chunk, limits)
}

/// Decodes block by block: what a few bytes can repeat must not be in memory at once.
fn decode_windows(chunk: &Chunk<'_>, limits: &Limits) -> Result<Slots> {
    let header = chunk.header();
    let block_bytes = header.block_bytes().next_multiple_of(ENTRY_BYTES);
    let window = WINDOW_BYTES.div_ceil(block_bytes) * block_bytes;
    let mut buffer = vec![0; window.min(header.nbytes)];
    let (mut slots, mut at) = (Builder::default(), 0);
    while at < header.nbytes {
        let bytes = (header.nbytes - at).min(window);
        let part = buffer.get_mut(..bytes).unwrap_or_default();
        chunk.decode_range(at, part, &Job::inline())?;
        at += bytes;
        for entries in part.as_chunks().0.chunks(CHECKED_ENTRIES) {
            slots.push_raw(entries);
            let listed = (slots.listed() * ENTRY_BYTES) as u64;
            if listed > limits.chunk_bytes {
                return Err(Error::limit(format!(
                    "more than {listed} bytes, the limit is {}",
                    limits.chunk_bytes
                )));
            }
        }
    }
    Ok(slots.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip(slots: &Slots) -> usize {
        let chunk = encode_index(slots).unwrap();
        let again = decode_index(&chunk, Some(slots.len()), &Limits::default()).unwrap();
        assert_eq!(again.len(), slots.len());
        assert!((0..slots.len()).all(|n| again.get(n) == slots.get(n)));
        assert!(decode_index(&chunk, Some(slots.len() + 1), &Limits::default()).is_err());
        chunk.len()
    }

    #[test]
    fn an_index_is_read_as_written() {
        let zeros = Slot::new(special_raw(Special::Zeros).unwrap());
        for len in [1, 3, 4, 1023, 1024, 5000] {
            assert!(round_trip(&Slots::same(zeros, len)) <= 56);
            let mut slots = Slots::same(zeros, len);
            for number in (0..len).step_by(3) {
                slots.set(number, Slot::new(i64::try_from(number * 977).unwrap()));
            }
            round_trip(&slots);
        }
    }

    #[test]
    fn an_index_that_is_stored_as_it_is_is_read() {
        for len in [128, 129, 1024, 5000] {
            let mut slots = Slots::same(Slot::new(special_raw(Special::Nans).unwrap()), len);
            (0..len).step_by(3).for_each(|n| slots.set(n, Slot::new(i64::try_from(n * 977).unwrap())));
            let count = usize::try_from(len).unwrap();
            let mut chunk = stored_index_header(count).unwrap().to_vec();
            chunk.resize(chunk.len() + count * ENTRY_BYTES, 0);
            slots.write_raw(0, &mut chunk[HEADER_BYTES..]);
            let again = decode_index(&chunk, Some(len), &Limits::default()).unwrap();
            assert!((0..len).all(|n| again.get(n) == slots.get(n)));
        }
    }

    #[test]
    fn the_limit_is_looked_at_before_many_places_are_in_memory() {
        let mut slots = Slots::same(Slot::new(0), 1 << 17);
        (0..slots.len()).for_each(|n| slots.set(n, Slot::new(i64::try_from(n % 2048).unwrap())));
        let chunk = encode_index(&slots).unwrap();
        let limits = Limits { chunk_bytes: 1 << 15 };
        let error = decode_index(&chunk, None, &limits).unwrap_err().to_string();
        let listed = (1 << 15) + CHECKED_ENTRIES * ENTRY_BYTES;
        assert_eq!(error, format!("frame index: more than {listed} bytes, the limit is {}", 1 << 15));
    }

    #[test]
    fn very_many_equal_chunks_take_no_memory_and_no_time() {
        let slots = Slots::same(Slot::new(special_raw(Special::Nans).unwrap()), NCHUNKS_MAX);
        let chunk = encode_index(&slots).unwrap();
        let limits = Limits { chunk_bytes: 1 << 20 };
        assert_eq!(decode_index(&chunk, Some(NCHUNKS_MAX), &limits).unwrap().len(), NCHUNKS_MAX);
        assert!(encode_index(&Slots::same(slots.get(0).unwrap(), NCHUNKS_MAX + 1)).is_err());
    }

    #[test]
    fn a_small_index_of_many_different_chunks_is_held_against_the_limits() {
        let mut slots = Slots::same(Slot::new(0), 1 << 20);
        (0..1 << 20).step_by(2).for_each(|number| slots.set(number, Slot::new(5)));
        let chunk = encode_index(&slots).unwrap();
        let error = decode_index(&chunk, None, &Limits { chunk_bytes: 1 << 20 }).unwrap_err();
        assert_eq!(error.kind(), crate::base::error::ErrorKind::Limit);
    }

    #[test]
    fn special_values_are_what_the_format_says() {
        for (special_value, top) in [(Special::Zeros, 0x81), (Special::Nans, 0x82), (Special::Uninit, 0x84)] {
            let raw = special_raw(special_value).unwrap();
            assert_eq!(raw.to_be_bytes(), [top, 0, 0, 0, 0, 0, 0, 0]);
            assert_eq!(special(raw).unwrap(), special_value);
        }
        for raw in [-1, i64::MIN, i64::MIN | 3 << 56, i64::MIN | 1 << 56 | 1] {
            assert!(special(raw).is_err());
        }
    }
}
