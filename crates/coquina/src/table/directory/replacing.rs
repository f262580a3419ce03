//! Tables that are directories and give way to new ones.
//!
//! In: paths of a table that is complete, and of the one whose place it takes. Out: one table, under that name.
//! Invariant: only tables are replaced, and nothing that is not theirs is removed. Where the system can exchange
//! two names (Linux, macOS), one of the tables is there at every moment.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::manifest::NAME;
use super::sweeping::is_own;
use super::writers;
use crate::base::error::{Error, Result};
use crate::frame::{FolderLock, exchange};

/// So many names are told.
const NAMES_MAX: usize = 5;

fn placed<T>(place: &Path, done: io::Result<T>) -> Result<T> {
    done.map_err(|e| Error::from(e).at(place.display().to_string()))
}

fn exists(sentence: String) -> Error {
    io::Error::new(io::ErrorKind::AlreadyExists, sentence).into()
}

fn lock(place: &Path) -> Result<FolderLock> {
    writers::taken(place, Duration::ZERO, &mut || Ok(()))
}

/// Checks that there is a table, and nothing else, in this directory.
///
/// # Errors
/// `Io`, of kind `AlreadyExists` if not, and of kind `WouldBlock` if another process writes it.
pub fn check_is_replaceable(place: &Path) -> Result<()> {
    let path = place.display();
    if !place.join(NAME).is_file() {
        return Err(exists(format!("{path} exists and is not a table; only tables are replaced")));
    }
    let mut others = Vec::new();
    for entry in placed(place, fs::read_dir(place))? {
        let name = placed(place, entry)?.file_name();
        if !name.to_str().is_some_and(is_own) {
            others.push(name.to_string_lossy().into_owned());
        }
    }
    if !others.is_empty() {
        others.sort_unstable();
        others.truncate(NAMES_MAX);
        let names = others.join(", ");
        return Err(exists(format!("{path} has files that are not of the table ({names}); move them first")));
    }
    if writers::found(place).is_none() {
        drop(lock(place)?);
    }
    Ok(())
}

/// Gives a table its name; one that has it gives way.
///
/// # Errors
/// `Io`; the table at `place` is then the one that was there.
pub fn put_in_place(new: &Path, place: &Path) -> Result<()> {
    if fs::symlink_metadata(place).is_err_and(|e| e.kind() == io::ErrorKind::NotFound) {
        return placed(place, fs::rename(new, place));
    }
    check_is_replaceable(place)?;
    if let Some(writer) = writers::found(place) {
        writer.abandon("the table has been replaced by a new one");
    }
    // Nobody begins to write what is about to go.
    let lock = lock(place)?;
    let old = if placed(place, exchange(new, place))? { new.to_path_buf() } else { moved_away(new, place)? };
    let removed = placed(&old, fs::remove_dir_all(&old));
    drop(lock);
    removed
}

/// Gives a table its name in two steps; returns where the old one is now.
fn moved_away(new: &Path, place: &Path) -> Result<PathBuf> {
    let mut name = new.as_os_str().to_owned();
    name.push(".old");
    let old = PathBuf::from(name);
    placed(place, fs::rename(place, &old))?;
    if let Err(error) = fs::rename(new, place) {
        placed(place, fs::rename(&old, place))?;
        return placed(place, Err(error));
    }
    Ok(old)
}
