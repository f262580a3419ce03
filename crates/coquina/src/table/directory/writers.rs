//! One writer for each directory: its lock, and who in this process has it.
//!
//! In: paths of directories. Out: locks, and the one open directory that writes.
//! Invariant: a directory is written by one process at a time, and in it by one [`TableDirectory`].

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use super::handle::TableDirectory;
use crate::base::error::{Error, Result};
use crate::frame::FolderLock;

const STEP: Duration = Duration::from_millis(20);

/// What tells a directory from all others, for this process: one that was forked has nothing open for writing.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    process: u32,
    #[cfg(unix)]
    folder: [u64; 2],
    #[cfg(not(unix))]
    folder: std::path::PathBuf,
}

/// Who writes which directory in this process.
static WRITERS: Mutex<BTreeMap<Key, Weak<TableDirectory>>> = Mutex::new(BTreeMap::new());

fn writers() -> MutexGuard<'static, BTreeMap<Key, Weak<TableDirectory>>> {
    WRITERS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn key_of(place: &Path) -> io::Result<Key> {
    let process = std::process::id();
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let found = std::fs::metadata(place)?;
        Ok(Key { process, folder: [found.dev(), found.ino()] })
    }
    #[cfg(not(unix))]
    {
        Ok(Key { process, folder: std::fs::canonicalize(place)? })
    }
}

/// Who writes a directory in this process.
pub(super) fn found(place: &Path) -> Option<Arc<TableDirectory>> {
    let key = key_of(place).ok()?;
    // What is dropped may be the last of a directory, which is not to be dropped while the list is locked.
    let writer = writers().get(&key).and_then(Weak::upgrade);
    writer.filter(|writer| !writer.is_broken())
}

/// Remembers who writes a directory.
pub(super) fn note(place: &Path, writer: &Arc<TableDirectory>) -> Result<()> {
    let key = key_of(place).map_err(|e| Error::from(e).at(place.display().to_string()))?;
    let mut writers = writers();
    writers.retain(|_, writer| writer.strong_count() > 0);
    writers.insert(key, Arc::downgrade(writer));
    Ok(())
}

/// The lock of a directory, if need be after some time. `look` is called now and then, and may end the waiting.
///
/// # Errors
/// `Io`, of kind `WouldBlock` if another process has it all the time; those of `look`.
pub(super) fn taken(
    place: &Path,
    wait: Duration,
    look: &mut dyn FnMut() -> Result<()>,
) -> Result<FolderLock> {
    let start = Instant::now();
    loop {
        let error = match FolderLock::take(place) {
            Ok(lock) => return Ok(lock),
            Err(error) => error,
        };
        if error.io().is_none_or(|error| error.kind() != io::ErrorKind::WouldBlock) {
            return Err(error);
        }
        let left = wait.saturating_sub(start.elapsed());
        if left.is_zero() {
            let what = "it is open for writing in another process; close it there, or pass wait=seconds";
            let error = io::Error::new(io::ErrorKind::WouldBlock, what);
            return Err(Error::from(error).at(place.display().to_string()));
        }
        thread::sleep(STEP.min(left));
        look()?;
    }
}
