//! Checksums of a frame of one chunk that is inside of another file: a metalayer in the header of the frame.
//!
//! In: the header, what the index says of the chunk, and what stands before its blocks. Out: the sums that its blocks
//! are verified by, and where the chunk belongs.
//! Source: `docs/formats/hdf5-filters.md`, "Checksums".
//! Invariant: what a changed byte of the header, the index, or the chunk would decode to is never returned; the rest of
//! the frame says nothing about items.

use std::num::{NonZeroU32, NonZeroU64};
use std::ops::Range;

use xxhash_rust::xxh3::{Xxh3Default, xxh3_64};

use super::header::{Header, THREADS};
use crate::base::bytes::ByteReader;
use crate::base::error::{Error, Result};
use crate::chunk::{SumsApart, block_sums};

/// The metalayer.
pub(crate) const METALAYER: &str = "coquina_sums";
const VERSION: u8 = 1;
/// The sum and the place, which the sum is not over: the place is told when the chunk gets one.
const OPEN_BYTES: usize = 12;
const SUM_BYTES: usize = 8;
/// These, the version, and three bytes that are 0.
const HEAD_BYTES: usize = 16;

/// What guards a chunk.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Guard<'a> {
    /// The sums of the chunk.
    pub(crate) sums: SumsApart<'a>,
    place: Option<NonZeroU32>,
}

impl Guard<'_> {
    /// What the chunk says of its place.
    pub(crate) fn place(&self) -> Option<NonZeroU32> {
        self.place
    }
}

/// Checks that what a chunk says of its place is true of `start`.
pub(crate) fn check_place(place: Option<NonZeroU32>, start: &[u64]) -> Result<()> {
    match place {
        Some(place) if place != place_of(start) => {
            Err(Error::corrupt(format!("checksum of the place: the chunk is not the one of {start:?}")))
        }
        _ => Ok(()),
    }
}

/// The content of the metalayer for a chunk, of which `chunk` are exactly the bytes; not yet sealed.
pub(crate) fn content(chunk: &[u8], is_stored: bool) -> Result<Vec<u8>> {
    let mut content = vec![0; HEAD_BYTES];
    content[OPEN_BYTES] = VERSION;
    if is_stored {
        content.extend(block_sums(chunk)?.1);
    }
    Ok(content)
}

/// Seals the metalayer, if there is one, once all else of the header is as it will be.
pub(crate) fn seal(header: &mut Header, slot: i64, stored: &[u8]) -> Result<()> {
    let Some(content) = header.metalayer_range(METALAYER) else { return Ok(()) };
    let head = if stored.is_empty() { stored } else { block_sums(stored)?.0 };
    let sum = SumsApart::sum(around(header.raw(), &content, slot), head);
    let mut sealed = header.raw().get(content).unwrap_or_default().to_vec();
    if let Some(place) = sealed.get_mut(..SUM_BYTES) {
        place.copy_from_slice(&sum.get().to_le_bytes());
    }
    header.set_metalayer(METALAYER, &sealed)
}

/// Reads the metalayer of a frame whose index says `slot` of its one chunk. `None` if there is none, and if another
/// program wrote the header: then it is about a chunk that was there before.
pub(crate) fn read(header: &Header, slot: i64) -> Result<Option<Guard<'_>>> {
    let raw = header.raw();
    let Some(content) = header.metalayer_range(METALAYER).filter(|_| !may_be_foreign(raw)) else {
        return Ok(None);
    };
    let around = around(raw, &content, slot);
    let read = || {
        let bytes = raw.get(content).unwrap_or_default();
        let mut r = ByteReader::new(bytes);
        let sum = NonZeroU64::new(u64::from_le_bytes(r.array("sum")?));
        let place = NonZeroU32::new(u32::from_le_bytes(r.array("place")?));
        let [version, zeros @ ..]: [u8; 4] = r.array("version")?;
        let sum = sum.filter(|_| version == VERSION && zeros == [0; 3]);
        let sum = sum.ok_or_else(|| Error::corrupt(format!("version {version}: takes {VERSION}")))?;
        let table = bytes.get(HEAD_BYTES..).unwrap_or_default();
        Ok(Some(Guard { sums: SumsApart { sum, around, table }, place }))
    };
    read().map_err(|e: Error| e.at(format!("metalayer {METALAYER}")))
}

/// A hash over the header, but for what of the metalayer is open, and over what the index says.
fn around(raw: &[u8], content: &Range<usize>, slot: i64) -> u64 {
    let mut hash = Xxh3Default::new();
    hash.update(raw.get(..content.start).unwrap_or_default());
    hash.update(raw.get(content.start.saturating_add(OPEN_BYTES)..).unwrap_or_default());
    hash.update(&slot.to_le_bytes());
    hash.digest()
}

/// Writes into a frame where its chunk belongs: the coordinates of its first item. Without effect on bytes that are no
/// frame with sums.
pub(crate) fn put_place(frame: &mut [u8], start: &[u64]) {
    let available = frame.len() as u64;
    let Ok(header) = Header::load(&&*frame, 0, available) else { return };
    if may_be_foreign(header.raw()) {
        return;
    }
    let Some(content) = header.metalayer_range(METALAYER) else { return };
    let at = content.start + SUM_BYTES;
    if let Some(place) = frame.get_mut(at..at + 4).filter(|_| content.len() >= HEAD_BYTES) {
        place.copy_from_slice(&place_of(start).get().to_le_bytes());
    }
}

/// Whether the bytes are a frame with sums.
pub(crate) fn has_sums(frame: &[u8]) -> bool {
    let header = Header::load(&frame, 0, frame.len() as u64);
    header.is_ok_and(|header| header.metalayer_range(METALAYER).is_some() && !may_be_foreign(header.raw()))
}

/// What tells a place from others.
fn place_of(start: &[u64]) -> NonZeroU32 {
    let bytes: Vec<u8> = start.iter().flat_map(|at| at.to_le_bytes()).collect();
    let [a, b, c, d, ..] = xxh3_64(&bytes).to_le_bytes();
    NonZeroU32::new(u32::from_le_bytes([a, b, c, d])).unwrap_or(NonZeroU32::MIN)
}

/// Whether another program may have written a header: it says numbers of threads, if only of one kind.
fn may_be_foreign(raw: &[u8]) -> bool {
    // Between the two numbers there is a marker.
    !matches!(raw.get(THREADS), Some([0, 0, _, 0, 0]))
}
