//! One writer at a time: an advisory lock on the frame's file, or on a sparse frame's directory.
//!
//! It belongs to the open file, so that it ends with its owner, however that ends. Readers do not ask for it.

use std::fs::{File, TryLockError};
use std::path::Path;

use crate::base::error::{Error, Result};
use crate::base::file_names::{is_at, names, replaced};

/// What is locked where directories cannot be.
const FOLDER_LOCK: &str = ".coquina.lock";

/// Takes the lock.
///
/// # Errors
/// `Io` of kind `WouldBlock` if another writer has it.
pub(super) fn take(file: &File) -> Result<()> {
    match file.try_lock() {
        Ok(()) => Ok(()),
        // Some file systems have no locks: then who writes has to know.
        Err(TryLockError::Error(e)) if e.kind() == std::io::ErrorKind::Unsupported => Ok(()),
        Err(TryLockError::Error(e)) => Err(e.into()),
        Err(TryLockError::WouldBlock) => {
            let sentence = "it is open for writing already, here or in another program";
            Err(std::io::Error::new(std::io::ErrorKind::WouldBlock, sentence).into())
        }
    }
}

/// Checks that a file can be made anew: its name leads to it, and it has no other, by which it would stay as it is.
///
/// # Errors
/// `Io` if not.
pub(super) fn check_only_name(file: &File, path: &Path) -> Result<()> {
    let complain = |sentence: &str| Err(std::io::Error::other(sentence).into());
    if !is_at(file, path).unwrap_or(false) {
        return complain(
            "the file was renamed or removed after it was opened, and cannot be replaced; open it by its current name",
        );
    }
    if names(file)? > 1 {
        return complain(
            "the file has several names (hard links), of which only one would lead to the new file; copy it",
        );
    }
    Ok(())
}

/// Checks that a path leads to the directory that was locked.
///
/// # Errors
/// `Io` if another one has taken its place, or what the system says.
pub(super) fn check_folder(lock: &File, path: &Path) -> Result<()> {
    if !cfg!(unix) || is_at(lock, path)? { Ok(()) } else { Err(replaced("frame")) }
}

/// The lock of a directory, for who writes several files in it. It ends when this is dropped.
pub struct FolderLock {
    file: File,
    process: u32,
}

impl FolderLock {
    /// Takes the lock of the directory at `path`.
    ///
    /// # Errors
    /// `Io`, of kind `WouldBlock` if another writer has it.
    pub fn take(path: &Path) -> Result<Self> {
        let open = || {
            let file = open_folder(path)?;
            take(&file)?;
            Ok(Self { file, process: std::process::id() })
        };
        open().map_err(|e: Error| e.at(path.display().to_string()))
    }

    /// Whether `path` still leads to the directory that is locked, and this is the process that has locked it.
    pub fn is_at(&self, path: &Path) -> bool {
        // What the lock is on is the directory itself, or a file in it.
        let locked = if cfg!(unix) { path.to_path_buf() } else { path.join(FOLDER_LOCK) };
        self.process == std::process::id() && is_at(&self.file, &locked).unwrap_or(false)
    }
}

impl Drop for FolderLock {
    fn drop(&mut self) {
        // A process that was forked from the owner has the lock in common with it.
        if self.process == std::process::id() {
            let _ = self.file.unlock();
        }
    }
}

/// Opens what the lock of a sparse frame is on.
pub(super) fn open_folder(folder: &Path) -> Result<File> {
    if cfg!(unix) {
        return Ok(File::open(folder)?);
    }
    Ok(File::options().create(true).truncate(false).write(true).open(folder.join(FOLDER_LOCK))?)
}
