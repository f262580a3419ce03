//! Writing frames in one file.
//!
//! What is new goes behind the end of the last commit: chunks, then index, copy of the header and trailer. Only
//! then the header is switched, in one small write; what stood behind the old chunks becomes unused room.
//! Source: `docs/formats/frame.md`, "Commit".
//! Invariant: until the header is written, all bytes of the last commit are as they were.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Writer;
use super::compact::rewrite;
use super::record::{Parts, Record};
use super::turns::{Patience, Turns};
use crate::base::error::{Error, Result};
use crate::base::file_names::{check_in_place, is_at};
use crate::base::io::{Existing, NewFile};
use crate::base::limits::Limits;
use crate::frame::disk::{GrowingFile, sync, sync_folder, write_all_at};
use crate::frame::format::header::{Header, THREADS, is_foreign};
use crate::frame::format::spec::Kind;
use crate::frame::load::Origin;
use crate::frame::lock;
use crate::frame::snapshot::{Chunks, Snapshot};
use crate::frame::state::CommitId;

/// So often a file that is replaced while we take its lock is opened again.
const ATTEMPTS: usize = 10;

/// A commit of which all is written but the header in front.
struct Prepared {
    header: Vec<u8>,
    end: u64,
}

/// Says that a frame has to be opened again, and why.
const TORN: &str = "a commit has failed half way";
const NOT_DURABLE: &str = "a commit could not be made durable";
const UNKNOWN: &str = "it could not be told whether a commit has happened";

/// The writer of a contiguous frame. It holds the lock.
pub(crate) struct Contiguous {
    path: PathBuf,
    growing: Arc<GrowingFile>,
    /// The header of the last commit; of a frame that never had one, the header to come.
    header: Vec<u8>,
    /// Where the last commit ends.
    committed_end: u64,
    /// Whether nothing stands behind the last commit but what we have put there.
    is_cut: bool,
    /// The file's way to its name, as long as it has none.
    new: Option<NewFile>,
    /// How the next commits are written, if it is in turns.
    turns: Option<Turns>,
    patience: Patience,
    /// What was written behind the last commit, to become the next one.
    prepared: Option<Prepared>,
    /// Why nothing more is written: a commit has failed, and it is not known how much of it is there.
    broken: Option<&'static str>,
    /// The process that opened the frame. One that was forked from it must not touch what it goes on writing.
    process: u32,
    /// Whether somebody has asked for durable commits: then a new name must be durable too.
    is_durable: bool,
    /// Whether the file has taken a name since the folder was synced last.
    is_name_new: bool,
}

impl Contiguous {
    /// Starts a frame that is to be at `path`.
    pub(crate) fn create(path: &Path, header: &Header, existing: Existing) -> Result<Self> {
        if path.is_dir() {
            return Err(std::io::Error::from(std::io::ErrorKind::IsADirectory).into());
        }
        let mut new = NewFile::create(path, existing)?;
        let file = new.file().try_clone()?;
        lock::take(&file)?;
        Ok(Self {
            path: path.to_path_buf(),
            growing: Arc::new(GrowingFile::new(file, header.len())),
            header: header.raw().to_vec(),
            committed_end: header.len(),
            is_cut: true,
            new: Some(new),
            turns: None,
            patience: Patience::default(),
            prepared: None,
            broken: None,
            process: std::process::id(),
            is_durable: false,
            is_name_new: false,
        })
    }

    /// Opens the frame at `path`, with the lock: its newest state, or the one of an id.
    pub(crate) fn open(path: &Path, id: Option<CommitId>, limits: Limits) -> Result<(Self, Snapshot)> {
        let mut attempts = 0..ATTEMPTS;
        let file = loop {
            let file = std::fs::OpenOptions::new().read(true).write(true).open(path)?;
            lock::take(&file)?;
            if is_at(&file, path)? || attempts.next().is_none() {
                break file;
            }
        };
        let origin =
            Origin { source: &file, base: 0, kind: Kind::Contiguous, limits: &limits, is_damaged: false };
        let (loaded, is_recovered) = match id {
            Some(id) => origin.load_at(id, false)?,
            None => origin.load()?,
        };
        if is_recovered {
            write_all_at(&file, loaded.header.raw(), 0)?;
        }
        let committed_end = loaded.header.counts.frame_len;
        let growing = Arc::new(GrowingFile::new(file, committed_end));
        let header = loaded.header.raw().to_vec();
        let chunks = Chunks::Contiguous(growing.clone(), 0);
        let snapshot = Snapshot::new(loaded, chunks, limits, 0);
        let writer = Self {
            path: path.to_path_buf(),
            growing,
            header,
            committed_end,
            is_cut: false,
            new: None,
            turns: None,
            patience: Patience::default(),
            prepared: None,
            broken: None,
            process: std::process::id(),
            is_durable: false,
            is_name_new: false,
        };
        Ok((writer, snapshot))
    }

    /// What holds the chunks.
    pub(crate) fn chunks(&self) -> Chunks {
        Chunks::Contiguous(self.growing.clone(), 0)
    }

    fn header_len(&self) -> u64 {
        self.header.len() as u64
    }

    /// Whether anything may be written.
    fn check(&self) -> Result<()> {
        if let Some(why) = self.broken {
            return Err(Error::invalid(format!("{why}: the frame must be opened again")));
        }
        if self.process != std::process::id() {
            return Err(Error::invalid("it was opened before this process was forked; open it again"));
        }
        if self.new.is_none() {
            check_in_place(self.growing.file(), &self.path, "frame")?;
        }
        Ok(())
    }

    /// Removes what an unfinished commit has left, before anything is written in its place.
    fn clear(&mut self) -> Result<()> {
        self.check()?;
        if !self.is_cut {
            self.growing.cut(self.committed_end)?;
            self.is_cut = true;
        }
        Ok(())
    }

    /// Writes a record behind the last bytes.
    fn write_record(&mut self, record: &Record, durable: bool) -> Result<()> {
        self.growing.push(&[&record.tail])?;
        self.growing.flush()?;
        if durable {
            sync(self.growing.file())?;
        }
        Ok(())
    }

    /// Writes the header, the step that makes a commit happen.
    fn switch(&mut self, header: &[u8]) -> Result<()> {
        let file = self.growing.file();
        let write = || {
            // What is torn from here on must not look as if another program had written it.
            if is_foreign(&self.header)
                && let Some(threads) = header.get(THREADS)
            {
                write_all_at(file, threads, THREADS.start as u64)?;
            }
            write_all_at(file, header, 0)
        };
        let Err(error) = write() else { return Ok(()) };
        // Half a header with a whole record at the end of the file is opened as the new commit, and must not
        // lose that record; but the old state is what the caller is told.
        if write_all_at(file, &self.header, 0).is_err() {
            self.broken = Some(TORN);
        }
        Err(error.into())
    }

    /// Makes a state the committed one by what differs from the state before; `None` if that cannot be. After an error
    /// the records in turns are given up, and what is behind the last commit is cut off.
    fn commit_in_turns(&mut self, snapshot: &Snapshot, durable: bool) -> Result<Option<Snapshot>> {
        let mut turns = self.turns.take();
        let mut step = turns.as_mut().map(|turns| turns.step(&snapshot.state)).transpose()?.flatten();
        if step.is_none() {
            self.patience.give_up(turns.take());
        }
        if step.is_none() && self.patience.is_over() && self.new.is_none() {
            self.growing.flush()?;
            turns = Turns::begin(&snapshot.state, self.growing.end())?;
            if let Some(turns) = &mut turns {
                self.growing.reserve(turns.end())?;
                step = turns.step(&snapshot.state)?;
            }
        }
        let (Some(mut turns), Some(step)) = (turns, step) else { return Ok(None) };
        for range in step.ranges {
            let at = step.start + range.start as u64;
            write_all_at(self.growing.file(), turns.bytes(range), at)?;
        }
        if durable {
            sync(self.growing.file())?;
        }
        self.switch(step.header.raw())?;
        turns.commit();
        self.turns = Some(turns);
        self.header = step.header.raw().to_vec();
        self.committed_end = step.header.counts.frame_len;
        Ok(Some(snapshot.committed(step.header, step.sum)))
    }

    /// Writes all of the frame to a new file, which takes the place of this one.
    fn replace(&mut self, snapshot: &Snapshot) -> Result<Snapshot> {
        if self.new.is_none() {
            lock::check_only_name(self.growing.file(), &self.path)?;
        }
        self.turns = None;
        let mut new = rewrite(&self.path, snapshot)?;
        let file = new.file().try_clone()?;
        let limits = snapshot.limits;
        let origin =
            Origin { source: &file, base: 0, kind: Kind::Contiguous, limits: &limits, is_damaged: false };
        let (loaded, _) = origin.load()?;
        if self.new.is_none() {
            new.commit()?;
            // What fails from here on must not keep us at the file that has no name any more.
            self.is_name_new = true;
        } else {
            self.new = Some(new);
        }
        // Snapshots may keep the old file open: nobody is to wait for them.
        let _ = self.growing.file().unlock();
        self.header = loaded.header.raw().to_vec();
        self.committed_end = loaded.header.counts.frame_len;
        self.growing = Arc::new(GrowingFile::new(file, self.committed_end));
        self.is_cut = true;
        Ok(Snapshot::new(loaded, self.chunks(), limits, snapshot.epoch + 1))
    }
}

impl Writer for Contiguous {
    fn put(&mut self, parts: &[&[u8]]) -> Result<u64> {
        self.clear()?;
        if let Some(turns) = &mut self.turns {
            let bytes = parts.iter().map(|part| <[u8]>::len(part) as u64).sum();
            if let Some(at) = turns.take(bytes) {
                write_all_at(self.growing.file(), &parts.concat(), at)?;
                return Ok(at - self.header_len());
            }
            self.patience.give_up(self.turns.take());
        }
        Ok(self.growing.push(parts)? - self.header_len())
    }

    fn cbytes(&self) -> u64 {
        let end = self.turns.as_ref().map_or_else(|| self.growing.end(), Turns::room_end);
        end - self.header_len()
    }

    fn commit(&mut self, snapshot: &Snapshot, durable: bool) -> Result<Snapshot> {
        self.clear()?;
        if snapshot.nchunks() == 0 {
            // The trailer of a frame without chunks must follow the header, where now other bytes may be.
            if self.new.is_none() {
                return self.replace(snapshot);
            }
            self.growing.cut(self.header_len())?;
        }
        if let Some(committed) = self.commit_in_turns(snapshot, durable)? {
            return Ok(committed);
        }
        let record = Parts::of(&snapshot.state).record(self.cbytes())?;
        self.write_record(&record, durable)?;
        self.switch(record.header.raw())?;
        self.header = record.header.raw().to_vec();
        self.committed_end = self.growing.end();
        self.patience.note_whole();
        Ok(snapshot.committed(record.header, record.tail_sum))
    }

    fn settle(&mut self, committed: &Snapshot) -> Result<Snapshot> {
        let Some(turns) = &self.turns else { return Ok(committed.clone()) };
        if !turns.is_second_in_force() && self.commit_in_turns(committed, self.is_durable)?.is_none() {
            return Ok(committed.clone());
        }
        let Some(turns) = self.turns.take() else { return Ok(committed.clone()) };
        let record = Parts::of(&committed.state).record(turns.room_start() - self.header_len())?;
        let end = turns.room_start() + record.tail.len() as u64;
        if end > turns.second_start() {
            return Ok(committed.clone());
        }
        write_all_at(self.growing.file(), &record.tail, turns.room_start())?;
        if self.is_durable {
            sync(self.growing.file())?;
        }
        self.switch(record.header.raw())?;
        self.header = record.header.raw().to_vec();
        self.committed_end = end;
        if self.is_durable {
            self.sync()?;
        }
        self.growing.cut(end)?;
        Ok(committed.committed(record.header, record.tail_sum))
    }

    fn sync(&mut self) -> Result<()> {
        self.is_durable = true;
        let synced = sync(self.growing.file());
        synced.inspect_err(|_| self.broken = Some(NOT_DURABLE))?;
        self.sync_name()
    }

    fn sync_name(&mut self) -> Result<()> {
        if let Some(folder) = self.path.parent().filter(|_| self.is_durable && self.is_name_new) {
            sync_folder(folder).inspect_err(|_| self.broken = Some(NOT_DURABLE))?;
            self.is_name_new = false;
        }
        Ok(())
    }

    fn prepare(&mut self, snapshot: &Snapshot, durable: bool) -> Result<Snapshot> {
        self.clear()?;
        self.turns = None;
        let record = Parts::of(&snapshot.state).findable_record(self.cbytes())?;
        self.write_record(&record, durable)?;
        self.prepared = Some(Prepared { header: record.header.raw().to_vec(), end: self.growing.end() });
        Ok(snapshot.committed(record.header, record.tail_sum))
    }

    fn finish(&mut self) {
        if let Some(Prepared { header, end }) = self.prepared.take() {
            // Who knows the state by its id finds it without the header, and the next writer mends that.
            let _ = write_all_at(self.growing.file(), &header, 0);
            (self.header, self.committed_end) = (header, end);
        }
    }

    fn abandon(&mut self) {
        self.broken = Some(UNKNOWN);
    }

    fn rollback(&mut self) -> Result<()> {
        self.prepared = None;
        if !self.is_cut || self.check().is_err() {
            return Ok(());
        }
        if let Some(turns) = &mut self.turns {
            turns.roll_back();
            return Ok(());
        }
        // What cannot be removed now is removed before anything else is written.
        self.is_cut = false;
        self.growing.cut(self.committed_end)?;
        self.is_cut = true;
        Ok(())
    }

    fn publish(&mut self) -> Result<()> {
        let Some(new) = self.new.take() else { return Ok(()) };
        new.commit()?;
        self.is_name_new = true;
        self.sync_name()
    }

    fn compact(&mut self, committed: &Snapshot) -> Result<Snapshot> {
        self.clear()?;
        self.replace(committed)
    }
}

impl Drop for Contiguous {
    fn drop(&mut self) {
        // Snapshots may keep the file open; the lock must end with its owner, and ends with the file at last. A
        // process that was forked from the owner has the lock in common with it.
        if self.process == std::process::id() {
            let _ = self.growing.file().unlock();
        }
    }
}
