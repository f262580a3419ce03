//! Directories that are made, opened for reading or by the one writer, and closed.
//!
//! In: paths. Out: open directories; all who write one in this process have the same.
//! Invariant: who writes has the lock of the directory until it is closed, or forgotten.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::handle::{DirectoryOptions, TableDirectory};
use super::manifest;
use super::nodes::{Node, Nodes};
use super::writers;
use crate::base::error::{Error, ErrorKind, Result};

/// Files are written anew on close if more than this, and more than half of them, is unused.
const DEAD_BYTES_MAX: u64 = 4 << 20;

impl TableDirectory {
    /// Makes an empty directory.
    ///
    /// # Errors
    /// `Io`, of kind `AlreadyExists` if there is something of this name.
    pub fn make(path: &Path, durable: bool) -> Result<Arc<Self>> {
        let place = |e: io::Error| Error::from(e).at(path.display().to_string());
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(place)?;
        }
        fs::create_dir(path).map_err(place)?;
        let lock = writers::taken(path, Duration::ZERO, &mut || Ok(()))?;
        let options = DirectoryOptions { writable: true, durable, ..DirectoryOptions::default() };
        let empty = manifest::Commit { nodes: Nodes::default(), generation: 0 };
        let made = Arc::new(Self::new(path, empty, Some(lock), options));
        made.state().nodes.set("".into(), Node::group());
        writers::note(path, &made)?;
        Ok(made)
    }

    /// Opens a directory; one that is open for writing in this process is opened for writing once more.
    ///
    /// # Errors
    /// `Io`, of kind `WouldBlock` if another process writes it, and `Corrupt` if its manifest is not that of a table.
    pub fn open(path: &Path, options: DirectoryOptions) -> Result<Arc<Self>> {
        Self::open_watched(path, options, &mut || Ok(()))
    }

    /// As [`TableDirectory::open`]; `look` is called now and then as long as another process writes.
    ///
    /// # Errors
    /// As [`TableDirectory::open`], and those of `look`.
    pub fn open_watched(
        path: &Path,
        options: DirectoryOptions,
        look: &mut dyn FnMut() -> Result<()>,
    ) -> Result<Arc<Self>> {
        if !options.writable {
            return Ok(Arc::new(Self::new(path, manifest::read(path)?, None, options)));
        }
        if let Some(found) = writers::found(path) {
            found.state().users += 1;
            if options.durable {
                found.set_durable(look)?;
            }
            return Ok(found);
        }
        // Where the lock is a file, it would be made.
        fs::metadata(path).map_err(|e| Error::from(e).at(path.display().to_string()))?;
        let lock = writers::taken(path, options.wait, look)?;
        let options = DirectoryOptions { damaged: false, ..options };
        let made = Arc::new(Self::new(path, manifest::read(path)?, Some(lock), options));
        writers::note(path, &made)?;
        Ok(made)
    }

    /// Has all commits from here on wait for the disk.
    fn set_durable(&self, look: &mut dyn FnMut() -> Result<()>) -> Result<()> {
        while !self.turn.take(Duration::from_millis(50)) {
            look()?;
        }
        let open: Vec<_> = {
            let mut state = self.state();
            state.durable = true;
            state.arrays.values().cloned().collect()
        };
        open.iter().for_each(|one| one.array.set_durable(true));
        self.turn.give_back();
        Ok(())
    }

    /// Commits, gives back unused room if there is much, and closes all arrays, unless others have it open too.
    ///
    /// # Errors
    /// Those of the commit, and `Io` if the last bytes cannot be written. It is closed all the same.
    pub fn close(&self) -> Result<()> {
        {
            let mut state = self.state();
            if state.users > 0 {
                state.users -= 1;
                return Ok(());
            }
        }
        let ended = if self.is_broken() || !self.is_in_place() { Ok(()) } else { self.end_writing() };
        let (open, lock) = {
            let mut state = self.state();
            if self.is_writable() {
                state.broken.get_or_insert_with(|| "it has been closed".into());
            }
            (std::mem::take(&mut state.arrays), state.lock.take())
        };
        let closed: Vec<Result<()>> = open.into_values().map(|one| one.array.close()).collect();
        drop(lock);
        ended.and(closed.into_iter().collect())
    }

    fn end_writing(&self) -> Result<()> {
        self.change(|| Ok(()))?;
        match self.compact_files(DEAD_BYTES_MAX) {
            // All is committed, and only room is to be won: on a full disk there is none to win it with.
            Err(error) if error.kind() == ErrorKind::Io => {}
            done => done?,
        }
        self.write_whole();
        Ok(())
    }
}
