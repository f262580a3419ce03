//! The journal as it is written: a header, and frames behind each other.
//!
//! In: pages and commits. Out: their frames, and where the pages stand.
//! Invariant: frames behind `stop` are of no commit; what stood there before has another salt, or is of none either.

use std::collections::BTreeMap;
use std::hash::{BuildHasher as _, RandomState};

use super::format::{FRAME_BYTES, FRAMES_AT, Frame, HEADER_AT, HEADER_BYTES, Header};
use super::pages::{OldPage, Stored, StoredPages};
use super::scan::Scanned;
use crate::base::error::Result;
use crate::base::io::WriteAt;

/// Frames are written so many bytes at a time.
const WRITE_BYTES: usize = 8 << 20;

/// A journal that frames are added to.
pub(super) struct Log<D> {
    pub(super) journal: D,
    /// Once it is written.
    header: Option<Header>,
    /// Where the frames of commits end, and where the next frame goes.
    stop: u64,
    next: u64,
    /// Whether it has commits that were promised to be on the disk.
    pub(super) is_durable: bool,
}

/// A changed page, and what the file has in its place; frames before may have said so.
pub(super) struct Change<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) old: Option<&'a OldPage>,
}

impl<D: WriteAt> Log<D> {
    pub(super) fn new(journal: D) -> Self {
        Self { journal, header: None, stop: FRAMES_AT, next: FRAMES_AT, is_durable: false }
    }

    /// Goes on behind the commits of a journal.
    pub(super) fn go_on(&mut self, found: &Scanned) {
        self.header = Some(found.header);
        (self.stop, self.next) = (found.stop, found.stop);
        // Nobody knows what was promised of them.
        self.is_durable = true;
    }

    /// Whether there are commits in it.
    pub(super) fn has_commits(&self) -> bool {
        self.stop > FRAMES_AT
    }

    /// How many bytes its commits take.
    pub(super) fn bytes(&self) -> u64 {
        self.stop - FRAMES_AT
    }

    /// Adds pages, which are of no commit yet; returns where they stand. `end`: where the last commit ends.
    pub(super) fn put_pages(&mut self, pages: &BTreeMap<u64, Change<'_>>, end: u64) -> Result<StoredPages> {
        let mut out = self.begin(end);
        let mut placed = StoredPages::new();
        for (&number, change) in pages {
            if let Some(old) = change.old {
                let frame = Frame::Old { number, bytes: old.sectors.len(), changed: old.changed };
                out.put(frame, &old.sectors);
            }
            let at = out.end() + FRAME_BYTES as u64;
            let bytes = change.bytes.len();
            let base = change.old.map_or(0, |old| old.sum);
            out.put(Frame::Page { number, bytes, base }, change.bytes);
            placed.insert(number, Stored { at, bytes });
            if out.bytes.len() > WRITE_BYTES {
                out.flush(&self.journal)?;
            }
        }
        self.finish(out)?;
        Ok(placed)
    }

    /// Makes all frames so far a commit after which the file ends at `end`. is_alone: its pages are applied at once.
    pub(super) fn put_commit(&mut self, end: u64, is_alone: bool, last_end: u64) -> Result<()> {
        let mut out = self.begin(last_end);
        out.put(Frame::Commit { end }, &[]);
        if is_alone {
            out.put(Frame::Applying, &[]);
        }
        self.finish(out)
    }

    /// What was put is a commit from now on.
    pub(super) fn settle_commit(&mut self) {
        self.stop = self.next;
    }

    /// Says that the pages of the commits are being written to the file.
    pub(super) fn put_applying(&mut self, end: u64) -> Result<()> {
        self.next = self.stop;
        let mut out = self.begin(end);
        out.put(Frame::Applying, &[]);
        self.finish(out)?;
        self.stop = self.next;
        Ok(())
    }

    fn begin(&self, end: u64) -> Frames {
        if let Some(header) = self.header {
            return Frames { bytes: Vec::new(), at: self.next, header };
        }
        let header = Header { salt: RandomState::new().hash_one(end), end };
        Frames { bytes: header.to_bytes().to_vec(), at: HEADER_AT, header }
    }

    fn finish(&mut self, mut out: Frames) -> Result<()> {
        out.flush(&self.journal)?;
        self.header = Some(out.header);
        self.next = out.at;
        Ok(())
    }

    /// Takes back the frames that are of no commit.
    pub(super) fn take_back(&mut self) -> Result<()> {
        self.next = self.stop;
        if self.header.is_none() || !self.has_commits() {
            return self.begin_anew();
        }
        self.journal.write_all_at(&[0; FRAME_BYTES], self.stop)
    }

    /// Empties the journal of a file that is about to be replaced.
    pub(super) fn forget_all(&mut self) -> Result<()> {
        // The name of the new file must not reach the disk before this does.
        self.is_durable = true;
        self.begin_anew()
    }

    /// Empties the journal: all of its commits are in the file.
    pub(super) fn begin_anew(&mut self) -> Result<()> {
        if self.journal.len()? > HEADER_AT {
            self.journal.write_all_at(&[0; HEADER_BYTES], HEADER_AT)?;
            if self.is_durable {
                // Old frames must not come back once others stand behind them.
                self.journal.sync()?;
            }
        }
        self.header = None;
        (self.stop, self.next) = (FRAMES_AT, FRAMES_AT);
        self.is_durable = false;
        Ok(())
    }
}

/// Frames on their way to the journal.
struct Frames {
    bytes: Vec<u8>,
    at: u64,
    header: Header,
}

impl Frames {
    fn end(&self) -> u64 {
        self.at + self.bytes.len() as u64
    }

    fn put(&mut self, frame: Frame, page: &[u8]) {
        frame.put(self.header.salt, self.end(), page, &mut self.bytes);
    }

    fn flush(&mut self, journal: &impl WriteAt) -> Result<()> {
        if !self.bytes.is_empty() {
            journal.write_all_at(&self.bytes, self.at)?;
            self.at = self.end();
            self.bytes.clear();
        }
        Ok(())
    }
}
