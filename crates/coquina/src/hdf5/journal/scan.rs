//! What a journal holds: the pages of its commits, of which the last complete one counts.
//!
//! In: the bytes of a journal, which a kill may have cut anywhere. Out: where the pages are.
//! Invariant: frames behind the last commit, and all behind the first that is not whole, are not looked at.

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
    /// Of each page that the commits have: how many bytes of it the file had, and their sum.
    pub(super) bases: Vec<(u64, usize, u64)>,
    /// Where the file ends as of the last commit.
    pub(super) end: u64,
    /// The greatest of all the ends.
    pub(super) protected: u64,
    /// Whether pages were being applied.
    pub(super) is_applying: bool,
    /// Where the frames of the last commit end.
    pub(super) stop: u64,
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
        bases: Vec::new(),
        end: header.end,
        protected: header.end,
        is_applying: false,
        stop: FRAMES_AT,
    };
    let (mut at, mut waiting, mut commits) = (FRAMES_AT, Vec::new(), 0_u64);
    while let Some(frame) = read_frame(journal, header.salt, at, len)? {
        let payload = at + FRAME_BYTES as u64;
        at = payload + frame.payload() as u64;
        match frame {
            Frame::Page { number, bytes, base } => {
                waiting.push((number, Stored { at: payload, bytes }, base))
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
    fn take(&mut self, waiting: &mut Vec<(u64, Stored, u64)>, end: u64) {
        for (number, stored, base) in waiting.drain(..) {
            if self.pages.insert(number, stored).is_none() {
                self.bases.push((number, stored.bytes, base));
            }
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
