//! The file that libhdf5 writes to: what is committed stays as it is until the journal has what replaces it.
//!
//! In: reads, writes and lengths, as a file driver gets them, and the word that all of it is a commit. Out: bytes at
//! positions. Bytes behind the end of the last commit go to the file at once, changed pages before it stay in memory,
//! or in the journal where they are many.
//! Invariant: after an error all that was written is still there, to be committed again or given up, unless the disk
//! did not say what it has: then nothing more is written.

use std::collections::BTreeMap;

use super::Gate;
use super::format::PAGE_BYTES;
use super::log::{Change, Log};
use super::pages::{OldPage, StoredPages, overlap, page_of, patch, start_of};
use super::replay::{apply, check_belongs};
use super::scan::scan;
use super::superblock::without_mark;
use super::tail::{Tail, UNWRITTEN_BYTES_MAX, put_over};
use crate::base::error::{Error, Result};
use crate::base::io::WriteAt;

/// Changed pages are kept in memory up to so many, then they go to the journal.
const PAGES_IN_MEMORY: usize = 16_384;
/// A journal whose commits are in the file, though perhaps not on its disk, begins anew when it is this long.
const JOURNAL_BYTES_MAX: u64 = 4 << 20;

static ZEROS: [u8; 1 << 16] = [0; 1 << 16];

/// A file and its journal, open for writing.
pub struct Writer<D> {
    tail: Tail<D>,
    log: Log<D>,
    /// How long the file is for those who write.
    len: u64,
    /// Where the last commit ends.
    end: u64,
    /// Bytes before this one are of some commit that a reader or a replay may need.
    protected: u64,
    /// Pages of commits that the file does not have yet.
    committed: StoredPages,
    /// Pages of no commit that went to the journal for want of memory.
    spilled: StoredPages,
    /// Pages of no commit.
    dirty: BTreeMap<u64, Vec<u8>>,
    /// Why nothing can be written any more.
    broken: Option<String>,
    /// Whether nobody knows the file yet, so that it needs no journal.
    is_new: bool,
}

impl<D: WriteAt> Writer<D> {
    /// A file that nobody knows yet: all is written to it at once, until [`Writer::publish`].
    ///
    /// # Errors
    /// What the operating system says.
    pub fn create(file: D, journal: D) -> Result<Self> {
        Ok(Self { is_new: true, protected: 0, ..Self::at(file, journal)? })
    }

    /// Whether the journal has commits of what has the name of a new file: they stay until [`Writer::publish`].
    ///
    /// # Errors
    /// What the operating system says.
    pub fn has_old_journal(&self) -> Result<bool> {
        Ok(self.is_new && scan(&self.log.journal)?.is_some())
    }

    /// A file that is there. What its journal holds is applied first; where readers are in the way, it is gone on from.
    ///
    /// # Errors
    /// `Corrupt` for a journal of another file, or what the operating system says.
    pub fn open(file: D, journal: D, gate: &mut dyn Gate) -> Result<Self> {
        let mut writer = Self::at(file, journal)?;
        let Some(found) = scan(&writer.log.journal)? else { return Ok(writer) };
        check_belongs(&writer.tail.file, &writer.log.journal, &found)?;
        writer.log.go_on(&found);
        (writer.end, writer.len) = (found.end, found.end);
        writer.protected = found.protected.max(writer.tail.file_len);
        writer.committed = found.pages;
        writer.settle(gate)?;
        Ok(writer)
    }

    fn at(file: D, journal: D) -> Result<Self> {
        let tail = Tail::new(file)?;
        let len = tail.file_len;
        Ok(Self {
            tail,
            log: Log::new(journal),
            len,
            end: len,
            protected: len,
            committed: StoredPages::new(),
            spilled: StoredPages::new(),
            dirty: BTreeMap::new(),
            broken: None,
            is_new: false,
        })
    }

    /// How long the file is, with what is not committed.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether it has no bytes.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Fills `buffer` with the bytes from `offset` on, with what is not committed; zeros behind the end.
    ///
    /// # Errors
    /// What the operating system says.
    pub fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<()> {
        self.read_committed(buffer, offset)?;
        patch(&self.spilled, &self.log.journal, buffer, offset)?;
        self.tail.put_over(buffer, offset);
        if !self.dirty.is_empty() && !buffer.is_empty() {
            let last = page_of(offset + buffer.len() as u64 - 1);
            for (&page, bytes) in self.dirty.range(page_of(offset)..=last) {
                put_over(buffer, offset, start_of(page), bytes);
            }
        }
        let inside = usize::try_from(self.len.saturating_sub(offset)).unwrap_or(usize::MAX);
        if let Some(behind) = buffer.get_mut(inside..) {
            behind.fill(0);
        }
        Ok(())
    }

    /// The bytes of the last commit, and whatever lies behind its end.
    fn read_committed(&self, buffer: &mut [u8], offset: u64) -> Result<()> {
        self.tail.read_file(buffer, offset)?;
        patch(&self.committed, &self.log.journal, buffer, offset)
    }

    /// Writes bytes, which are of no commit yet. What the disk refuses stays in memory, and the next commit says so;
    /// so it does where an error ended writing, and what comes is dropped. libhdf5 cannot close a file of which a
    /// write has failed.
    ///
    /// # Errors
    /// What the operating system says of bytes that are read, and `Invalid` for a place that no file has.
    pub fn write_at(&mut self, bytes: &[u8], offset: u64) -> Result<()> {
        if self.broken.is_some() {
            return Ok(());
        }
        let stop = offset.checked_add(bytes.len() as u64);
        let stop = stop.ok_or_else(|| Error::invalid(format!("{} bytes at {offset}", bytes.len())))?;
        self.clear_until(offset)?;
        self.write_at_once(bytes, offset)?;
        self.len = self.len.max(stop);
        Ok(())
    }

    /// Puts zeros where the file ended before, and older bytes stand: up to `offset`.
    fn clear_until(&mut self, offset: u64) -> Result<()> {
        let stop = offset.min(self.protected.max(self.tail.file_len));
        while self.len < stop {
            let len = usize::try_from(stop - self.len).unwrap_or(usize::MAX).min(ZEROS.len());
            self.write_at_once(&ZEROS[..len], self.len)?;
            self.len += len as u64;
        }
        Ok(())
    }

    fn write_at_once(&mut self, bytes: &[u8], offset: u64) -> Result<()> {
        let before = usize::try_from(self.protected.saturating_sub(offset)).unwrap_or(usize::MAX);
        let (below, behind) = bytes.split_at(before.min(bytes.len()));
        if !below.is_empty() {
            self.write_pages(below, offset)?;
        }
        if !behind.is_empty()
            && let Err(error) = self.tail.write(behind, offset + below.len() as u64)
        {
            self.stop(&error.to_string());
        }
        Ok(())
    }

    fn write_pages(&mut self, bytes: &[u8], offset: u64) -> Result<()> {
        for page in page_of(offset)..=page_of(offset + bytes.len() as u64 - 1) {
            let start = start_of(page);
            let room = usize::try_from(self.protected - start).unwrap_or(usize::MAX).min(PAGE_BYTES);
            let Some((inside, at, len)) = overlap(page, room, offset, bytes.len()) else { continue };
            if !self.dirty.contains_key(&page) {
                let mut content = vec![0; room];
                if len < room {
                    self.read_at(&mut content, start)?;
                }
                self.make_room()?;
                self.dirty.insert(page, content);
            }
            if let Some(content) = self.dirty.get_mut(&page) {
                content[inside..inside + len].copy_from_slice(&bytes[at..at + len]);
            }
        }
        Ok(())
    }

    /// Sends changed pages to the journal where they are too many.
    fn make_room(&mut self) -> Result<()> {
        if self.dirty.len() < PAGES_IN_MEMORY {
            return Ok(());
        }
        match self.forget_unchanged().and_then(|old| self.put_pages(&old)) {
            Ok(()) => self.dirty.clear(),
            Err(error) if self.dirty.len() * PAGE_BYTES < UNWRITTEN_BYTES_MAX => {
                self.tail.failure.get_or_insert(error);
            }
            Err(error) => self.stop(&error.to_string()),
        }
        Ok(())
    }

    /// Writes all changed pages behind the frames of the journal. `old`: what the file has in their place.
    fn put_pages(&mut self, old: &BTreeMap<u64, OldPage>) -> Result<()> {
        let changes = self.dirty.iter().map(|(page, bytes)| (*page, Change { bytes, old: old.get(page) }));
        let changes = changes.collect();
        let mut placed = self.log.put_pages(&changes, self.end)?;
        self.spilled.append(&mut placed);
        Ok(())
    }

    /// Gives the file another length, which is of no commit yet.
    ///
    /// # Errors
    /// As [`Writer::write_at`].
    pub fn set_len(&mut self, len: u64) -> Result<()> {
        if self.broken.is_some() {
            return Ok(());
        }
        if len < self.len {
            self.tail.cut(len, len.max(self.protected));
        }
        self.clear_until(len)?;
        self.len = len;
        Ok(())
    }

    /// Makes all that was written a commit; whether there was anything. After an error there was none, and all is
    /// still there to be committed again.
    ///
    /// durable: the disk has it when this returns.
    ///
    /// # Errors
    /// What the operating system said, now or to a write before; `Io` if that ended writing.
    pub fn commit(&mut self, durable: bool, gate: &mut dyn Gate) -> Result<bool> {
        self.check()?;
        if let Some(failure) = self.tail.failure.take() {
            return Err(failure);
        }
        self.tail.write_out(self.len)?;
        let unmarked = without_mark(self.len, |bytes, at| self.read_at(bytes, at))?;
        if let Some((bytes, at)) = unmarked {
            self.write_at(&bytes, at)?;
            self.tail.write_out(self.len)?;
        }
        if durable && self.tail.is_unsynced {
            self.sync_file()?;
        }
        if self.is_new {
            return Ok(true);
        }
        let old = self.forget_unchanged()?;
        let is_longer = self.len > self.end;
        let needs_no_frame = self.len == self.end || is_longer && !self.log.has_commits();
        if self.dirty.is_empty() && self.spilled.is_empty() && needs_no_frame {
            self.end = self.len;
            self.protected = self.protected.max(self.end);
            return Ok(is_longer);
        }
        let is_alone = gate.close()?;
        let written = self.write_commit(&old, durable, is_alone);
        if is_alone {
            if written.is_ok() {
                // The journal has the commit: what cannot be applied now is applied by the next one, or when the file
                // is opened again.
                let _later = self.apply_all();
            }
            gate.open()?;
        }
        written.map(|()| true)
    }

    fn write_commit(&mut self, old: &BTreeMap<u64, OldPage>, durable: bool, is_alone: bool) -> Result<()> {
        let put = self.put_pages(old).and_then(|()| self.log.put_commit(self.len, is_alone, self.end));
        if let Err(error) = put {
            self.take_back()?;
            return Err(error);
        }
        if durable && let Err(error) = self.log.journal.sync() {
            self.broken = Some(format!("the journal could not be synced ({error})"));
            return Err(error);
        }
        self.log.is_durable |= durable;
        self.log.settle_commit();
        self.committed.append(&mut self.spilled);
        self.dirty.clear();
        self.end = self.len;
        self.protected = self.protected.max(self.end);
        Ok(())
    }

    fn take_back(&mut self) -> Result<()> {
        // Pages that memory has are written again; the others are lost with their frames.
        let is_whole = self.spilled.keys().all(|page| self.dirty.contains_key(page));
        if !is_whole {
            return Ok(());
        }
        self.spilled.clear();
        let taken = self.log.take_back();
        if let Err(error) = &taken {
            self.broken = Some(format!("the journal could not be written ({error})"));
        }
        taken
    }

    fn sync_file(&mut self) -> Result<()> {
        let synced = self.tail.sync();
        if let Err(error) = &synced {
            // What the disk lacks now is not known, and a second sync would not tell.
            self.broken = Some(format!("the file could not be synced ({error})"));
        }
        synced
    }

    /// Lets go of pages that are as they were; returns what the file has in place of the others.
    fn forget_unchanged(&mut self) -> Result<BTreeMap<u64, OldPage>> {
        let (mut same, mut replaced) = (Vec::new(), BTreeMap::new());
        let mut old = [0; PAGE_BYTES];
        for (&page, bytes) in &self.dirty {
            if self.spilled.contains_key(&page) {
                continue;
            }
            let old = &mut old[..bytes.len()];
            self.read_committed(old, start_of(page))?;
            if old == bytes.as_slice() {
                same.push(page);
            } else if !self.committed.contains_key(&page) {
                // Frames before have told what stands in the file for the others.
                replaced.insert(page, OldPage::of(old, bytes));
            }
        }
        for page in same {
            self.dirty.remove(&page);
        }
        Ok(replaced)
    }

    /// Writes the pages of all commits to the file. Nobody else looks at it.
    fn apply_all(&mut self) -> Result<()> {
        self.tail.is_unsynced = true;
        apply(&self.tail.file, &self.log.journal, &self.committed, self.end)?;
        self.tail.file_len = self.tail.file.len()?;
        self.committed.clear();
        self.protected = self.end;
        if self.log.is_durable && self.log.bytes() <= JOURNAL_BYTES_MAX {
            return Ok(());
        }
        if self.log.is_durable {
            self.sync_file()?;
        }
        self.log.begin_anew()
    }

    /// Applies what the journal has, if nobody is in the way; whether nothing of it is needed any more.
    /// Only what is committed counts: this is for the beginning and the end.
    ///
    /// # Errors
    /// What the operating system says.
    pub fn settle(&mut self, gate: &mut dyn Gate) -> Result<bool> {
        self.check()?;
        if !self.log.has_commits() {
            return Ok(true);
        }
        if !self.committed.is_empty() || self.tail.file_len > self.end {
            if !gate.close()? {
                return Ok(false);
            }
            let applied = self.mark_and_apply();
            gate.open()?;
            applied?;
        }
        if self.log.is_durable {
            self.sync_file()?;
            self.log.begin_anew()?;
        }
        Ok(true)
    }

    fn mark_and_apply(&mut self) -> Result<()> {
        self.log.put_applying(self.end)?;
        if self.log.is_durable {
            self.log.journal.sync()?;
        }
        self.apply_all()
    }

    /// Gives up all that no commit has.
    ///
    /// # Errors
    /// What the operating system says.
    pub fn rollback(&mut self) -> Result<()> {
        self.check()?;
        self.dirty.clear();
        self.spilled.clear();
        self.len = self.end;
        self.tail.give_up(self.end, self.protected);
        self.take_back()
    }

    /// Whether writing has ended by an error, or by [`Writer::stop`].
    pub fn is_stopped(&self) -> bool {
        self.broken.is_some()
    }

    /// Whether the journal has commits that the file, or its disk, may lack.
    pub fn has_commits(&self) -> bool {
        self.log.has_commits()
    }

    /// Ends writing: nothing that was not committed will be.
    pub fn stop(&mut self, why: &str) {
        self.broken.get_or_insert_with(|| why.to_owned());
    }

    /// Makes all that was written so far the first commit of a file that was new, and waits for the disk. A journal
    /// of what had the name before is emptied.
    ///
    /// # Errors
    /// What the operating system says.
    pub fn publish(&mut self, gate: &mut dyn Gate) -> Result<()> {
        self.commit(true, gate)?;
        self.log.forget_all()?;
        self.is_new = false;
        self.end = self.len;
        self.tail.cut(self.len, self.len);
        self.protected = self.len;
        Ok(())
    }

    fn check(&self) -> Result<()> {
        let Some(why) = &self.broken else { return Ok(()) };
        Err(std::io::Error::other(format!("the file is closed for writing: {why}; open it again")).into())
    }
}
