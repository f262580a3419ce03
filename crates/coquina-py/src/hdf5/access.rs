//! How a file is opened below h5py: to be written, as a snapshot for those who read beside a writer, or to be replaced.
//!
//! In: paths. Out: the engine's writer with its lock, or a snapshot.
//! Invariant: a journal is used only with the file that has its name while its lock, or the file's, is held.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::sync::Arc;

use coquina::hdf5::journal::{FileGate, Snapshot, WriteLock, Writer, beside, location, lock_shared};
use coquina::{Error, ErrorKind, Result, is_at};

/// What is open below h5py's file.
pub(super) enum Access {
    Closed,
    Read { file: Arc<File>, snapshot: Snapshot<Arc<File>> },
    Write { file: Arc<File>, writer: Box<Writer<Arc<File>>>, lock: WriteLock },
}

/// Whether another file has got the name of an open one.
pub(super) fn is_replaced(file: &File, path: &Path) -> bool {
    !is_at(file, path).unwrap_or(true)
}

/// Opens a file for writing, after what a kill left of its last commit was completed.
pub(super) fn open_writer(path: &Path, locking: bool) -> Result<Access> {
    let (file, lock) = loop {
        let file = Arc::new(File::options().read(true).write(true).open(path)?);
        if locking {
            lock_shared(&file)?;
        }
        let lock = WriteLock::take(&location(&file, path))?;
        // Whoever had the lock before may have replaced the file that was opened here; somebody else may have begun to
        // write to it by another name.
        if !is_replaced(&file, path) && lock.claim(&file)? {
            break (file, lock);
        }
        lock.give_up()?;
    };
    let journal = Arc::new(lock.journal().try_clone()?);
    let mut gate = FileGate { file: locking.then_some(&*file) };
    let writer = Box::new(Writer::open(Arc::clone(&file), journal, &mut gate)?);
    Ok(Access::Write { file, writer, lock })
}

/// Completes what a kill left, if nobody writes or reads, and it may be changed.
pub(super) fn complete(path: &Path, locking: bool) -> Result<()> {
    let Ok(file) = File::open(path) else { return Ok(()) };
    if !location(&file, path).try_exists().unwrap_or(false) {
        return Ok(());
    }
    drop(file);
    let done = open_writer(path, locking).and_then(|access| finish(access, locking).map(drop));
    match done {
        // Whoever cannot change the file reads past its journal.
        Err(error) if error.kind() == ErrorKind::Io => Ok(()),
        done => done,
    }
}

/// Makes the file `part`, which is to get the name `path`; whoever writes to what has that name now is waited for.
pub(super) fn create_writer(path: &Path, part: &Path, locking: bool) -> Result<Access> {
    let lock = WriteLock::take(&beside(path))?;
    complete_replaced(path, &lock, locking)?;
    let made = File::options().read(true).write(true).create_new(true).open(part);
    let file = Arc::new(made.map_err(|e| Error::from(e).at(part.display().to_string()))?);
    if let Ok(old) = fs::metadata(path) {
        file.set_permissions(old.permissions())?;
    }
    if locking {
        lock_shared(&file)?;
    }
    lock.claim(&file)?;
    let journal = Arc::new(lock.journal().try_clone()?);
    let writer = Box::new(Writer::create(Arc::clone(&file), journal)?);
    Ok(Access::Write { file, writer, lock })
}

/// Brings the commits of a journal into the file that is about to be replaced, so that it has them if it is not. Those
/// that are of no use, as the file is another one or gone, stay where they are.
fn complete_replaced(path: &Path, lock: &WriteLock, locking: bool) -> Result<()> {
    let Ok(file) = File::options().read(true).write(true).open(path) else { return Ok(()) };
    let (file, journal) = (Arc::new(file), Arc::new(lock.journal().try_clone()?));
    let mut gate = FileGate { file: locking.then_some(&*file) };
    let opened = Writer::open(Arc::clone(&file), journal, &mut gate);
    let settled = opened.and_then(|mut old| old.settle(&mut gate));
    match settled {
        Ok(true) => Ok(()),
        Ok(false) => {
            let why = "commits in its journal wait for those who read it; close it there, or wait with wait=seconds";
            Err(io::Error::new(io::ErrorKind::WouldBlock, why).into())
        }
        Err(error) if error.kind() == ErrorKind::Corrupt => Ok(()),
        Err(error) => Err(error),
    }
}

/// Applies what the journal has; whether nothing is left to be applied.
pub(super) fn finish(access: Access, locking: bool) -> Result<bool> {
    let Access::Write { file, mut writer, lock } = access else { return Ok(true) };
    if writer.has_old_journal()? {
        return Ok(false);
    }
    let mut gate = FileGate { file: locking.then_some(&*file) };
    // Where writing was ended, whoever opens the file next completes what the journal has.
    let is_stopped = writer.is_stopped();
    let is_settled = if is_stopped { !writer.has_commits() } else { writer.settle(&mut gate)? };
    if is_settled {
        drop(writer);
        lock.remove(&file)?;
    }
    Ok(is_settled && !is_stopped)
}

/// Opens the last commit of a file to be read, after what a kill left was completed.
pub(super) fn open_snapshot(path: &Path, locking: bool) -> Result<Access> {
    let mut is_completed = false;
    let (file, journal) = loop {
        let file = Arc::new(File::open(path)?);
        if locking {
            lock_shared(&file)?;
        }
        let journal = match File::open(location(&file, path)) {
            Ok(journal) => Some(Arc::new(journal)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error.into()),
        };
        if journal.is_some() && !is_completed {
            // Without a lock of ours, which would keep a journal from being applied.
            drop((file, journal));
            complete(path, locking)?;
            is_completed = true;
            continue;
        }
        // The journal may be that of a file which has replaced the one that was opened.
        if !is_replaced(&file, path) {
            break (file, journal);
        }
    };
    let snapshot = Snapshot::new(Arc::clone(&file), journal)?;
    Ok(Access::Read { file, snapshot })
}
