//! What a journal holds: the pages of its commits, of which the last complete one counts.
//!
//! In: the bytes of a journal, which a kill may have cut anywhere. Out: where the pages are.
//! Invariant: frames behind the last commit, and all behind the first that is not whole, are not looked at.

use std::collections::BTreeMap;

use super::format::{FRAME_BYTES, FRAMES_AT, Frame, HEADER_AT, HEADER_BYTES, Header, PAGE_BYTES, sum};
use super::pages::{Stored, StoredPages};
use crate::base::error::Result;
use crate::base::io::ReadAt;

/// The commits of a journal.
#[derive(Debug)]
pub(super) struct Scanned {
    pub(super) header: Header,
    /// Pages as of the last commit.
    pub(super) pages: StoredPages,
    /// What the commits know of each page.
    pub(super) known: BTreeMap<u64, KnownPage>,
    /// Where the file ends as of the last commit.
    pub(super) end: u64,
    /// The greatest of all the ends.
    pub(super) protected: u64,
    /// Whether pages were being applied.
    pub(super) is_applying: bool,
    /// Where the frames of the last commit end.
    pub(super) stop: u64,
}

/// What a journal tells of a page of its file.
#[derive(Debug)]
pub(super) struct KnownPage {
    /// What the file had before the commits: how many bytes of the page, and their sum.
    pub(super) bytes: usize,
    pub(super) base: u64,
    /// Those of its sectors that the first version changes; `None` in journals of earlier releases.
    pub(super) old: Option<OldSectors>,
    /// What each commit has in its place, in order.
    pub(super) versions: Vec<Stored>,
}

/// Where the old bytes of the changed sectors of a page stand.
#[derive(Clone, Copy, Debug)]
pub(super) struct OldSectors {
    pub(super) changed: u8,
    pub(super) stored: Stored,
}

/// A page that waits for the end of its commit.
struct Waiting {
    number: u64,
    stored: Stored,
    base: u64,
    old: Option<OldSectors>,
}

/// Reads a journal; `None` if it has no commit.
pub(super) fn scan(journal: &impl ReadAt) -> Result<Option<Scanned>> {
    let len = journal.len()?;
    if len < FRAMES_AT {
        return Ok(None);
    }
    let mut header = [0; HEADER_BYTES];
    journal.read_exact_at(&mut header, HEADER_AT)?;
    let Some(header) = Header::read(&header) else { return Ok(None) };
    let mut found = Scanned {
        header,
        pages: StoredPages::new(),
        known: BTreeMap::new(),
        end: header.end,
        protected: header.end,
        is_applying: false,
        stop: FRAMES_AT,
    };
    let (mut at, mut waiting, mut commits, mut old) = (FRAMES_AT, Vec::new(), 0_u64, None);
    while let Some(frame) = read_frame(journal, header.salt, at, len)? {
        let payload = at + FRAME_BYTES as u64;
        at = payload + frame.payload() as u64;
        match frame {
            Frame::Old { bytes, changed, .. } => {
                old = Some(OldSectors { changed, stored: Stored { at: payload, bytes } });
            }
            Frame::Page { number, bytes, base } => {
                let stored = Stored { at: payload, bytes };
                waiting.push(Waiting { number, stored, base, old: old.take() });
            }
            Frame::Commit { end } => {
                commits += 1;
                found.take(&mut waiting, end);
                found.stop = at;
            }
            Frame::Applying => {
                found.is_applying = true;
                found.stop = at;
            }
        }
    }
    Ok((commits > 0).then_some(found))
}

impl Scanned {
    fn take(&mut self, waiting: &mut Vec<Waiting>, end: u64) {
        for Waiting { number, stored, base, old } in waiting.drain(..) {
            self.pages.insert(number, stored);
            let first = || KnownPage { bytes: stored.bytes, base, old, versions: Vec::new() };
            self.known.entry(number).or_insert_with(first).versions.push(stored);
        }
        self.end = end;
        self.protected = self.protected.max(end);
    }
}

/// The frame at `at`, if it is whole.
fn read_frame(journal: &impl ReadAt, salt: u64, at: u64, len: u64) -> Result<Option<Frame>> {
    if len.saturating_sub(at) < FRAME_BYTES as u64 {
        return Ok(None);
    }
    let mut head = [0; FRAME_BYTES];
    journal.read_exact_at(&mut head, at)?;
    let Some((frame, expected)) = Frame::read(&head) else { return Ok(None) };
    let mut page = [0; PAGE_BYTES];
    let page = &mut page[..frame.payload()];
    if len.saturating_sub(at + FRAME_BYTES as u64) < page.len() as u64 {
        return Ok(None);
    }
    journal.read_exact_at(page, at + FRAME_BYTES as u64)?;
    Ok((sum(salt, at, &head[..FRAME_BYTES - 8], page) == expected).then_some(frame))
}
