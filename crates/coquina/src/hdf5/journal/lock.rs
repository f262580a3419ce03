//! Who may write a file, and who may look at it meanwhile.
//!
//! Whoever has the file open holds a shared lock on it, which is also what HDF5's own readers ask for and what keeps
//! HDF5's own writers out. The one writer holds the journal's lock besides. Pages are applied under an exclusive lock
//! on the file: while nobody else looks.
//! Locks belong to open files, so that they end with their owner, however that ends.

use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::format::{OWNER_BYTES, owner, owner_bytes};
use super::location::{forget, note};
use crate::base::error::{Error, Result};
use crate::base::file_names::{is_at, number};
use crate::base::io::{ReadAt as _, WriteAt as _};

/// Pages are applied in less, mostly.
const APPLYING_TIME: Duration = Duration::from_millis(500);
const POLL_TIME: Duration = Duration::from_millis(1);
/// Where the number of the file stands: it is not taken from a journal by who has yet to look at that.
const FILE_AT: usize = 16;

/// The result of a try to lock: whether it was got. Some file systems have no locks: then who writes has to know.
fn got(tried: Result<(), TryLockError>) -> Result<bool> {
    match tried {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(e)) if e.kind() == io::ErrorKind::Unsupported => Ok(true),
        Err(TryLockError::Error(e)) => Err(e.into()),
    }
}

fn blocked(sentence: String) -> Error {
    io::Error::new(io::ErrorKind::WouldBlock, sentence).into()
}

/// Takes the lock of those that look at a file. Waits for as long as applying pages takes.
///
/// # Errors
/// `WouldBlock` if another library writes to the file.
pub fn lock_shared(file: &File) -> Result<()> {
    let until = Instant::now() + APPLYING_TIME;
    while !got(file.try_lock_shared())? {
        if Instant::now() > until {
            return Err(blocked("another program has it open for writing; close it there".into()));
        }
        std::thread::sleep(POLL_TIME);
    }
    Ok(())
}

/// Makes a shared lock exclusive, if nobody else has one; `false` if somebody has, and the lock is shared as before.
fn try_exclusive(file: &File) -> Result<bool> {
    if got(file.try_lock())? {
        return Ok(true);
    }
    // What failed has let go of the lock that was there.
    lock_shared(file)?;
    Ok(false)
}

/// The lock of the one writer of a file: on its journal, which is there as long as somebody writes.
pub struct WriteLock {
    journal: File,
    path: PathBuf,
}

impl WriteLock {
    /// Takes it; makes the journal where there is none.
    ///
    /// # Errors
    /// `WouldBlock` if somebody writes, with the number of the process; or what the operating system says.
    pub fn take(path: &Path) -> Result<Self> {
        let place = |e: Error| e.at(path.display().to_string());
        loop {
            let mut options = File::options();
            let opened = options.read(true).write(true).create(true).truncate(false).open(path);
            let journal = opened.map_err(|e| place(e.into()))?;
            if !got(journal.try_lock()).map_err(place)? {
                return Err(is_written_by(&journal));
            }
            // Whoever had the lock before may have removed the file that was opened here.
            if is_at(&journal, path).unwrap_or(false) {
                let lock = Self { journal, path: path.to_path_buf() };
                return lock.signed().map_err(place);
            }
        }
    }

    /// Says in the journal who writes; of which file is said by `claim`.
    fn signed(self) -> Result<Self> {
        let written = self.journal.write_all_at(&owner_bytes(std::process::id(), 0)[..FILE_AT], 0);
        match written {
            Ok(()) => Ok(self),
            Err(error) => {
                // One that was made for this lock is of no use.
                if self.journal.len().is_ok_and(|len| len == 0) {
                    self.unlink()?;
                }
                Err(error)
            }
        }
    }

    /// Makes this the journal of a file, for all of its names; `false` if another one is that already.
    ///
    /// # Errors
    /// What the system says; and for a file of several names where none but this one would lead to the journal.
    pub fn claim(&self, file: &File) -> Result<bool> {
        // It has bytes of the file, so whoever may not read that may not read it. One that somebody else has made and
        // left has those of the file already.
        #[cfg(unix)]
        let _ = self.journal.set_permissions(file.metadata()?.permissions());
        let owned = owner_bytes(std::process::id(), number(file).unwrap_or(0));
        self.journal.write_all_at(&owned, 0)?;
        note(file, &self.path)
    }

    /// Lets go of a journal that was made for this lock, and of which nothing is used.
    ///
    /// # Errors
    /// What the operating system says.
    pub fn give_up(self) -> Result<()> {
        if self.journal.len()? <= OWNER_BYTES as u64 { self.unlink() } else { Ok(()) }
    }

    /// The journal.
    pub fn journal(&self) -> &File {
        &self.journal
    }

    /// Removes the journal of a file, of which nothing is needed any more, and lets go of the lock.
    ///
    /// # Errors
    /// What the operating system says.
    pub fn remove(self, file: &File) -> Result<()> {
        forget(file, &self.path);
        self.unlink()
    }

    fn unlink(self) -> Result<()> {
        // The folder may have got another name: what has this one now is of somebody else.
        if !is_at(&self.journal, &self.path).unwrap_or(false) {
            return Ok(());
        }
        std::fs::remove_file(&self.path).map_err(|e| Error::from(e).at(self.path.display().to_string()))
    }
}

fn is_written_by(journal: &File) -> Error {
    let mut bytes = [0; OWNER_BYTES];
    let process = journal.read_exact_at(&mut bytes, 0).ok().and_then(|()| owner(&bytes));
    let who = process.map_or_else(|| "another process".to_owned(), |number| format!("process {number}"));
    blocked(format!("{who} has it open for writing; close it there, or wait for it with wait=seconds"))
}

/// The lock on a file as the gate of its readers.
pub struct FileGate<'a> {
    /// The file, with a shared lock; `None` where there are no locks.
    pub file: Option<&'a File>,
}

impl super::Gate for FileGate<'_> {
    fn close(&mut self) -> Result<bool> {
        self.file.map_or(Ok(true), try_exclusive)
    }

    fn open(&mut self) -> Result<()> {
        self.file.map_or(Ok(()), lock_shared)
    }
}
