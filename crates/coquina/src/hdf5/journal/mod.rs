//! Commits of files that another library writes: changed pages go through a redo journal beside the file.
//!
//! In: writes at positions, as libhdf5 makes them. Out: a file that is at a commit at every moment, but while the
//! pages of one are applied; a journal that completes these after a kill; snapshots for readers beside the writer.
//! Source: `docs/formats/journal.md`.
//! Invariant: no byte below the end of the last commit changes in the file before the journal has the whole commit.

mod format;
mod location;
mod lock;
mod log;
mod pages;
mod replay;
mod scan;
mod snapshot;
mod superblock;
mod tail;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod writer;

use std::path::{Path, PathBuf};

pub use location::{beside, location};
pub use lock::{FileGate, WriteLock, lock_shared};
pub use snapshot::Snapshot;
pub use writer::Writer;

use crate::base::error::Result;

/// What the journal beside a file is called.
fn journal_path(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".journal");
    PathBuf::from(name)
}

/// The lock on the file that keeps readers away while pages are applied.
pub trait Gate {
    /// Keeps readers away, if none is there; `false` if there are some.
    ///
    /// # Errors
    /// What the operating system says.
    fn close(&mut self) -> Result<bool>;

    /// Lets readers in again.
    ///
    /// # Errors
    /// What the operating system says, `WouldBlock` if another program took the file meanwhile.
    fn open(&mut self) -> Result<()>;
}
