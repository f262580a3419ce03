//! The pages of a file that are different elsewhere: where their bytes are, and reading through them.
//!
//! In: numbers of pages, and places in the journal. Out: the bytes of the file as they are with these pages.

use std::collections::BTreeMap;

use super::format::{PAGE_BYTES, SECTOR_BYTES, page_sum};
use crate::base::error::Result;
use crate::base::io::ReadAt;

/// Where in a journal the bytes of a page stand, and how many there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stored {
    pub(super) at: u64,
    pub(super) bytes: usize,
}

/// What stands in the file in place of a changed page: its sum, and the sectors that differ, by a bit for each.
pub(super) struct OldPage {
    pub(super) sum: u64,
    pub(super) changed: u8,
    pub(super) sectors: Vec<u8>,
}

impl OldPage {
    pub(super) fn of(old: &[u8], new: &[u8]) -> Self {
        let (mut changed, mut sectors) = (0, Vec::new());
        for (number, (old, new)) in old.chunks(SECTOR_BYTES).zip(new.chunks(SECTOR_BYTES)).enumerate() {
            if old != new {
                changed |= 1 << number;
                sectors.extend_from_slice(old);
            }
        }
        Self { sum: page_sum(old), changed, sectors }
    }
}

/// Pages in a journal, by their number.
pub(super) type StoredPages = BTreeMap<u64, Stored>;

/// The number of the page that holds the byte at `offset`.
pub(super) fn page_of(offset: u64) -> u64 {
    offset / PAGE_BYTES as u64
}

/// Where a page starts in the file.
pub(super) fn start_of(page: u64) -> u64 {
    page * PAGE_BYTES as u64
}

/// The part of a range of the file that a page with so many bytes covers: where in the page, and where in the range.
pub(super) fn overlap(page: u64, bytes: usize, offset: u64, len: usize) -> Option<(usize, usize, usize)> {
    let (start, stop) = (start_of(page), start_of(page) + bytes as u64);
    let first = start.max(offset);
    let last = stop.min(offset + len as u64);
    if first >= last {
        return None;
    }
    let narrow = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
    Some((narrow(first - start), narrow(first - offset), narrow(last - first)))
}

/// Puts the bytes of pages that are in a journal over what was read at `offset`.
pub(super) fn patch(
    pages: &StoredPages,
    journal: &impl ReadAt,
    buffer: &mut [u8],
    offset: u64,
) -> Result<()> {
    if pages.is_empty() || buffer.is_empty() {
        return Ok(());
    }
    let last = page_of(offset + buffer.len() as u64 - 1);
    for (&page, stored) in pages.range(page_of(offset)..=last) {
        if let Some((inside, at, len)) = overlap(page, stored.bytes, offset, buffer.len()) {
            journal.read_exact_at(&mut buffer[at..at + len], stored.at + inside as u64)?;
        }
    }
    Ok(())
}
