//! Writing frames in one file.
//!
//! What is new goes behind the end of the last commit: chunks, then index, copy of the header and trailer. Only
//! then the header is switched, in one small write; what stood behind the old chunks becomes unused room.
//! Source: `docs/formats/frame.md`, "Commit".
//! Invariant: until the header is written, all bytes of the last commit are as they were.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::compact::rewrite;
use super::disk::{GrowingFile, sync_folder, write_all_at};
use super::header::{Header, THREADS, is_foreign};
use super::load::Origin;
use super::lock;
use super::record::{Parts, Record};
use super::snapshot::{Chunks, Snapshot, SumState};
use super::spec::Kind;
use super::writer::Writer;
use crate::base::error::{Error, Result};
use crate::base::io::{Existing, NewFile};
use crate::base::limits::Limits;

/// So often a file that is replaced while we take its lock is opened again.
const ATTEMPTS: usize = 10;

/// The writer of a contiguous frame. It holds the lock.
pub(super) struct Contiguous {
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
    /// Whether a header was written in part, and could not be put right.
    is_broken: bool,
    /// Whether somebody has asked for durable commits: then a new name must be durable too.
    is_durable: bool,
    /// Whether the file has taken a name since the folder was synced last.
    is_name_new: bool,
}

impl Contiguous {
    /// Starts a frame that is to be at `path`.
    pub(super) fn create(path: &Path, header: &Header, existing: Existing) -> Result<Self> {
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
            is_broken: false,
            is_durable: false,
            is_name_new: false,
        })
    }

    /// Opens the frame at `path`, with the lock.
    pub(super) fn open(path: &Path, limits: Limits) -> Result<(Self, Snapshot)> {
        let mut attempts = 0..ATTEMPTS;
        let file = loop {
            let file = std::fs::OpenOptions::new().read(true).write(true).open(path)?;
            lock::take(&file)?;
            if lock::is_at(&file, path)? || attempts.next().is_none() {
                break file;
            }
        };
        let origin =
            Origin { source: &file, base: 0, kind: Kind::Contiguous, limits: &limits, is_damaged: false };
        let (loaded, is_recovered) = origin.load()?;
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
            is_broken: false,
            is_durable: false,
            is_name_new: false,
        };
        Ok((writer, snapshot))
    }

    /// What holds the chunks.
    pub(super) fn chunks(&self) -> Chunks {
        Chunks::Contiguous(self.growing.clone(), 0)
    }

    fn header_len(&self) -> u64 {
        self.header.len() as u64
    }

    /// Removes what an unfinished commit has left, before anything is written in its place.
    fn prepare(&mut self) -> Result<()> {
        if self.is_broken {
            return Err(Error::invalid("a commit has failed half way: the frame must be opened again"));
        }
        if !self.is_cut {
            self.growing.cut(self.committed_end)?;
            self.is_cut = true;
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
        self.is_broken = write_all_at(file, &self.header, 0).is_err();
        Err(error.into())
    }

    /// Writes all of the frame to a new file, which takes the place of this one.
    fn replace(&mut self, snapshot: &Snapshot) -> Result<Snapshot> {
        let mut new = rewrite(&self.path, snapshot)?;
        let file = new.file().try_clone()?;
        let limits = snapshot.limits;
        let origin =
            Origin { source: &file, base: 0, kind: Kind::Contiguous, limits: &limits, is_damaged: false };
        let (loaded, _) = origin.load()?;
        if self.new.is_some() {
            self.new = Some(new);
        } else {
            new.commit()?;
            // What fails from here on must not keep us at the file that has no name any more.
            self.is_name_new = true;
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
        self.prepare()?;
        Ok(self.growing.push(parts)? - self.header_len())
    }

    fn cbytes(&self) -> u64 {
        self.growing.end() - self.header_len()
    }

    fn commit(&mut self, snapshot: &Snapshot, durable: bool) -> Result<Snapshot> {
        self.prepare()?;
        if snapshot.nchunks() == 0 {
            // The trailer of a frame without chunks must follow the header, where now other bytes may be.
            if self.new.is_none() {
                return self.replace(snapshot);
            }
            self.growing.cut(self.header_len())?;
        }
        let Record { header, tail, tail_sum } = Parts::of(snapshot).record(self.cbytes())?;
        self.growing.push(&[&tail])?;
        self.growing.flush()?;
        if durable {
            self.growing.file().sync_data()?;
        }
        self.switch(header.raw())?;
        self.header = header.raw().to_vec();
        self.committed_end = self.growing.end();
        Ok(committed(snapshot, header, tail_sum))
    }

    fn sync(&mut self) -> Result<()> {
        self.is_durable = true;
        self.growing.file().sync_data()?;
        self.sync_name()
    }

    fn sync_name(&mut self) -> Result<()> {
        if let Some(folder) = self.path.parent().filter(|_| self.is_durable && self.is_name_new) {
            sync_folder(folder)?;
            self.is_name_new = false;
        }
        Ok(())
    }

    fn rollback(&mut self) -> Result<()> {
        if self.is_broken || !self.is_cut {
            return Ok(());
        }
        self.growing.cut(self.committed_end)
    }

    fn publish(&mut self) -> Result<()> {
        let Some(new) = self.new.take() else { return Ok(()) };
        new.commit()?;
        self.is_name_new = true;
        self.sync_name()
    }

    fn compact(&mut self, committed: &Snapshot) -> Result<Snapshot> {
        self.prepare()?;
        self.replace(committed)
    }
}

impl Drop for Contiguous {
    fn drop(&mut self) {
        // Snapshots may keep the file open; the lock must end with its owner, and ends with the file at last.
        let _ = self.growing.file().unlock();
    }
}

/// The state of a frame after `snapshot` has been written with this header.
pub(super) fn committed(snapshot: &Snapshot, header: Header, tail_sum: u64) -> Snapshot {
    let sums = if snapshot.has_sums { SumState::Fresh } else { SumState::Absent };
    Snapshot { header, tail_sum, sums, has_fingerprint: true, ..snapshot.clone() }
}
