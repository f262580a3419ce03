//! Writing frames that are a directory: a file for each chunk, and one for the rest.
//!
//! A chunk's file is written once, under a number that no other has; the file of the index is replaced in one
//! step. Files that no index refers to are removed when the frame is compacted or closed.
//! Source: `docs/formats/frame.md`, "Sparse frames".

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Writer;
use super::record::Parts;
use crate::base::error::{Error, Result};
use crate::base::io::Existing;
use crate::base::limits::Limits;
use crate::chunk::HEADER_BYTES;
use crate::frame::disk::{Folder, replace_file, sync, sync_folder, write_all_at};
use crate::frame::exchange::exchange;
use crate::frame::format::spec::Kind;
use crate::frame::load::Origin;
use crate::frame::lock;
use crate::frame::snapshot::{Chunks, Snapshot};
use crate::frame::state::FrameState;

/// The writer of a sparse frame. It holds the lock.
pub(crate) struct Sparse {
    folder: Arc<Folder>,
    lock: File,
    /// The number of the next chunk's file.
    next: u64,
    /// Files that were written since the last commit.
    fresh: Vec<u64>,
    /// The directory's way to its name, as long as it has none.
    new: Option<NewFolder>,
    /// Whether somebody has asked for durable commits: then the directory's name must be durable too.
    is_durable: bool,
    /// Whether a commit could not be made durable: then nothing more is written.
    is_broken: bool,
    /// The process that opened the frame. One that was forked from it must not touch what it goes on writing.
    process: u32,
}

/// Reads the index of a sparse frame; says too whether its header had to be replaced by the copy.
pub(crate) fn load(folder: &Folder, limits: &Limits, is_damaged: bool) -> Result<(FrameState, bool)> {
    let path = folder.index();
    if !fs::symlink_metadata(&path)?.is_file() {
        return Err(Error::corrupt("not a file").at(path.display().to_string()));
    }
    let file = File::open(&path)?;
    Origin { source: &file, base: 0, kind: Kind::Sparse, limits, is_damaged }.load()
}

impl Sparse {
    /// Starts a frame that is to be at `path`.
    pub(crate) fn create(path: &Path, existing: Existing) -> Result<Self> {
        let new = NewFolder::create(path, existing)?;
        let lock = lock::open_folder(&new.temporary)?;
        lock::take(&lock)?;
        let folder = Arc::new(Folder::new(new.temporary.clone()));
        Ok(Self::over(folder, lock, 0, Some(new)))
    }

    /// Opens the frame at `path`, with the lock.
    pub(crate) fn open(path: &Path, limits: Limits) -> Result<(Self, Snapshot)> {
        let lock = lock::open_folder(path)?;
        lock::take(&lock)?;
        lock::check_folder(&lock, path)?;
        let folder = Arc::new(Folder::new(path.to_path_buf()));
        let (loaded, is_recovered) = load(&folder, &limits, false)?;
        if is_recovered {
            let file = File::options().write(true).open(folder.index())?;
            write_all_at(&file, loaded.header.raw(), 0)?;
        }
        // Numbers of files that nothing refers to are not used again either: a reader may still look at them.
        let used =
            folder.numbers()?.into_iter().chain(loaded.slots.stored().filter_map(|(_, s)| s.key())).max();
        let next = used.map_or(Some(0), |used| used.checked_add(1));
        let next = next.ok_or_else(|| Error::limit("no number is left for another chunk"))?;
        let snapshot = Snapshot::new(loaded, Chunks::Sparse(folder.clone()), limits, 0);
        Ok((Self::over(folder, lock, next, None), snapshot))
    }

    fn over(folder: Arc<Folder>, lock: File, next: u64, new: Option<NewFolder>) -> Self {
        let process = std::process::id();
        Self { folder, lock, next, fresh: Vec::new(), new, is_durable: false, is_broken: false, process }
    }

    /// Whether anything may be written.
    fn check(&self) -> Result<()> {
        if self.is_broken {
            return Err(Error::invalid("a commit could not be made durable: the frame must be opened again"));
        }
        if self.process != std::process::id() {
            return Err(Error::invalid("it was opened before this process was forked; open it again"));
        }
        if self.new.is_none() {
            lock::check_folder(&self.lock, &self.folder.path())?;
        }
        Ok(())
    }

    /// What holds the chunks.
    pub(crate) fn chunks(&self) -> Chunks {
        Chunks::Sparse(self.folder.clone())
    }

    /// A file for a new chunk, and its number.
    fn start(&mut self) -> Result<(File, u64)> {
        loop {
            let number = self.next;
            self.next =
                number.checked_add(1).ok_or_else(|| Error::limit("no number is left for another chunk"))?;
            if let Some(file) = self.folder.create_chunk(number)? {
                self.fresh.push(number);
                return Ok((file, number));
            }
        }
    }

    /// Removes chunks that nothing refers to, and what killed writers left of an index.
    fn remove_orphans(&self, committed: &Snapshot) -> Result<()> {
        self.folder.half_indexes()?.iter().try_for_each(fs::remove_file)?;
        let used: BTreeSet<u64> = committed.state.slots.stored().filter_map(|(_, slot)| slot.key()).collect();
        let orphans = self.folder.numbers()?.into_iter().filter(|number| !used.contains(number));
        orphans.into_iter().try_for_each(|number| Ok(fs::remove_file(self.folder.chunk(number))?))
    }
}

impl Writer for Sparse {
    fn put(&mut self, parts: &[&[u8]]) -> Result<u64> {
        self.check()?;
        let (file, number) = self.start()?;
        write_all_at(&file, &parts.concat(), 0)?;
        Ok(number)
    }

    fn cbytes(&self) -> u64 {
        0
    }

    fn commit(&mut self, snapshot: &Snapshot, durable: bool) -> Result<Snapshot> {
        self.check()?;
        if durable {
            for number in &self.fresh {
                sync(&File::options().write(true).open(self.folder.chunk(*number))?)?;
            }
        }
        // C-Blosc2 holds the numbers of chunks against this, as if they were places.
        let numbers = snapshot.state.slots.stored().filter_map(|(_, slot)| slot.key()).max();
        let least = numbers.map_or(0, |number| number.saturating_add(HEADER_BYTES as u64));
        let record = Parts::of(&snapshot.state).record(snapshot.state.live_bytes.max(least))?;
        replace_file(&self.folder.index(), &[record.header.raw(), &record.tail], durable)?;
        self.fresh.clear();
        Ok(snapshot.committed(record.header, record.tail_sum))
    }

    fn sync(&mut self) -> Result<()> {
        self.is_durable = true;
        sync_folder(&self.folder.path()).inspect_err(|_| self.is_broken = true)
    }

    fn prepare(&mut self, _snapshot: &Snapshot, _durable: bool) -> Result<Snapshot> {
        Err(Error::unsupported("a commit together with others, of a frame that is a directory"))
    }

    fn finish(&mut self) {}

    fn abandon(&mut self) {
        self.is_broken = true;
    }

    fn rollback(&mut self) -> Result<()> {
        self.check()?;
        let fresh = std::mem::take(&mut self.fresh);
        fresh.into_iter().try_for_each(|number| Ok(fs::remove_file(self.folder.chunk(number))?))
    }

    fn publish(&mut self) -> Result<()> {
        if let Some(new) = self.new.take() {
            let path = new.publish()?;
            self.folder.set_path(path.clone());
            if let Some(parent) = path.parent().filter(|_| self.is_durable) {
                sync_folder(parent).inspect_err(|_| self.is_broken = true)?;
            }
        }
        Ok(())
    }

    fn compact(&mut self, committed: &Snapshot) -> Result<Snapshot> {
        self.check()?;
        self.remove_orphans(committed)?;
        Ok(committed.clone())
    }
}

impl Drop for Sparse {
    fn drop(&mut self) {
        // The lock ends with the file in any case. A forked process has it in common with the owner.
        if self.process == std::process::id() {
            let _ = self.lock.unlock();
        }
    }
}

/// A directory that is filled under a temporary name beside its target.
struct NewFolder {
    temporary: PathBuf,
    target: PathBuf,
    existing: Existing,
    is_published: bool,
    /// As of the writer.
    process: u32,
}

impl NewFolder {
    fn create(target: &Path, existing: Existing) -> Result<Self> {
        // As with files: a link goes on to point where it does.
        let target = &fs::canonicalize(target).unwrap_or_else(|_| target.to_path_buf());
        check_target(target, existing)?;
        for attempt in 0..100_u32 {
            let temporary = hidden(target, attempt)?;
            match fs::create_dir(&temporary) {
                Ok(()) => {
                    if let Ok(old) = fs::metadata(target)
                        && old.is_dir()
                    {
                        fs::set_permissions(&temporary, old.permissions())?;
                    }
                    return Ok(Self {
                        temporary,
                        target: target.to_path_buf(),
                        existing,
                        is_published: false,
                        process: std::process::id(),
                    });
                }
                Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(e) => return Err(e.into()),
            }
        }
        Err(Error::invalid("no free temporary name beside it"))
    }

    /// Gives the directory its name. What was there is moved aside first, and then removed.
    fn publish(mut self) -> Result<PathBuf> {
        check_target(&self.target, self.existing)?;
        if self.target.try_exists()? && exchange(&self.temporary, &self.target)? {
            self.is_published = true;
            // What was there before has the temporary name now.
            remove(&self.temporary)?;
            return Ok(self.target.clone());
        }
        let old = hidden(&self.target, u32::MAX)?;
        let has_old = self.target.try_exists()?;
        if has_old {
            fs::rename(&self.target, &old)?;
        }
        if let Err(error) = fs::rename(&self.temporary, &self.target) {
            if has_old {
                fs::rename(&old, &self.target)?;
            }
            return Err(error.into());
        }
        self.is_published = true;
        if has_old {
            remove(&old)?;
        }
        Ok(self.target.clone())
    }
}

impl Drop for NewFolder {
    fn drop(&mut self) {
        if !self.is_published && self.process == std::process::id() {
            // As with a temporary file: nothing can be done, and nothing is lost.
            let _ = fs::remove_dir_all(&self.temporary);
        }
    }
}

fn hidden(target: &Path, attempt: u32) -> Result<PathBuf> {
    let name = target.file_name().ok_or_else(|| Error::invalid("a path without a name"))?;
    let mut hidden = std::ffi::OsString::from(".");
    hidden.push(name);
    hidden.push(format!(".{}-{attempt}.tmp", std::process::id()));
    Ok(target.with_file_name(hidden))
}

/// Whether a new frame may take the place of what is there: nothing, a file, or a sparse frame and nothing else.
fn check_target(target: &Path, existing: Existing) -> Result<()> {
    let Ok(metadata) = fs::symlink_metadata(target) else { return Ok(()) };
    if existing == Existing::Refuse {
        let sentence = "it exists already; overwrite must be set to replace it";
        return Err(std::io::Error::new(std::io::ErrorKind::AlreadyExists, sentence).into());
    }
    if metadata.is_dir() {
        for entry in fs::read_dir(target)? {
            let name = entry?.file_name();
            let name = name.to_string_lossy();
            let is_ours = ["chunks.b2frame", ".b2lock", ".coquina.lock"].contains(&&*name)
                || name.ends_with(".chunk")
                || name.ends_with(".tmp");
            if !is_ours {
                return Err(Error::invalid(format!(
                    "the directory holds {name:?}, which is no part of a frame"
                )));
            }
        }
    }
    Ok(())
}

fn remove(path: &Path) -> Result<()> {
    let is_folder = fs::symlink_metadata(path)?.is_dir();
    if is_folder {
        fs::remove_dir_all(path)?
    } else {
        fs::remove_file(path)?
    }
    Ok(())
}
