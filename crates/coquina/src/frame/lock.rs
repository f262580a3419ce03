//! One writer at a time: an advisory lock on the frame's file, or on a sparse frame's directory.
//!
//! It belongs to the open file, so that it ends with its owner, however that ends. Readers do not ask for it.

use std::fs::{File, TryLockError};
use std::path::Path;

use crate::base::error::Result;

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

/// Whether `path` leads to this open file: who replaced it meanwhile holds the lock on the file that counts.
pub(super) fn is_at(file: &File, path: &Path) -> Result<bool> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let (ours, theirs) = (file.metadata()?, std::fs::metadata(path)?);
        Ok(ours.dev() == theirs.dev() && ours.ino() == theirs.ino())
    }
    #[cfg(not(unix))]
    {
        let (_, _) = (file, path);
        Ok(true)
    }
}

/// Opens what the lock of a sparse frame is on.
pub(super) fn open_folder(folder: &Path) -> Result<File> {
    if cfg!(unix) {
        return Ok(File::open(folder)?);
    }
    Ok(File::options().create(true).truncate(false).write(true).open(folder.join(".coquina.lock"))?)
}
