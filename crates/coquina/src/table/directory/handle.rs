//! An open directory of frames: who has it open, and which commit of it is shown.
//!
//! In: the path of a directory. Out: its nodes, changes of one thread at a time, newer commits of other writers.
//! Invariant: the state is locked for moments only, and never while a file is read or written.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::manifest::{self, Writing};
use super::nodes::Nodes;
use super::turn::Turn;
use crate::array::Array;
use crate::base::error::{Error, Result};
use crate::frame::{CommitId, FolderLock};

/// As long as anybody waits.
const FOREVER: Duration = Duration::from_secs(u64::MAX >> 32);

/// How to open a directory.
#[derive(Clone, Copy, Debug, Default)]
pub struct DirectoryOptions {
    /// For writing too.
    pub writable: bool,
    /// Commits wait until the disk has them, so that not even a power cut can take them back.
    pub durable: bool,
    /// For so long, if another process writes.
    pub wait: Duration,
    /// To read what is left of a damaged one.
    pub damaged: bool,
}

/// A directory of frames that is open. What is open for writing is so once in a process.
pub struct TableDirectory {
    pub(super) path: PathBuf,
    id: u64,
    writable: bool,
    pub(super) damaged: bool,
    pub(super) turn: Turn,
    state: Mutex<State>,
    pub(super) writing: Mutex<Writing>,
    /// Held while an array is opened, which nobody else is to open then.
    pub(super) opening: Mutex<()>,
}

/// What is shown, and what is open.
pub(super) struct State {
    pub(super) nodes: Nodes,
    pub(super) committed: Nodes,
    pub(super) generation: u64,
    /// Arrays that are open, by their numbers.
    pub(super) arrays: BTreeMap<u64, OpenArray>,
    pub(super) durable: bool,
    /// Who has it open besides the first.
    pub(super) users: usize,
    pub(super) broken: Option<String>,
    pub(super) lock: Option<FolderLock>,
}

/// An array that is open.
#[derive(Clone)]
pub(super) struct OpenArray {
    pub(super) array: Arc<Array>,
    /// The state that it was last committed in.
    pub(super) id: Option<CommitId>,
}

pub(super) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl TableDirectory {
    pub(super) fn new(
        path: &Path,
        commit: manifest::Commit,
        lock: Option<FolderLock>,
        options: DirectoryOptions,
    ) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let state = State {
            nodes: commit.nodes.clone(),
            committed: commit.nodes,
            generation: commit.generation,
            arrays: BTreeMap::new(),
            durable: options.durable,
            users: 0,
            broken: None,
            lock,
        };
        Self {
            path: path.to_path_buf(),
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            writable: options.writable,
            damaged: options.damaged,
            turn: Turn::default(),
            state: Mutex::new(state),
            writing: Mutex::new(Writing::new(path)),
            opening: Mutex::new(()),
        }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        locked(&self.state)
    }

    /// An error with the path of the directory.
    pub(super) fn placed(&self, error: Error) -> Error {
        error.at(self.path.display().to_string())
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A number that no other open directory of this process has, nor had.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Whether it was opened for writing.
    pub fn is_writable(&self) -> bool {
        self.writable
    }

    /// Whether commits wait for the disk.
    pub fn is_durable(&self) -> bool {
        self.state().durable
    }

    /// The number of the commit that is shown; 0 if there was none.
    pub fn generation(&self) -> u64 {
        self.state().generation
    }

    /// Whether nothing more can be written, because of a commit that has failed.
    pub fn is_broken(&self) -> bool {
        self.state().broken.is_some()
    }

    /// Checks that no commit has failed, and that the directory has not been closed.
    ///
    /// # Errors
    /// `Invalid`, with the reason.
    pub fn check_usable(&self) -> Result<()> {
        match &self.state().broken {
            Some(why) => Err(self.placed(Error::invalid(format!("{why}; open it again")))),
            None => Ok(()),
        }
    }

    /// Checks that it was opened for writing.
    pub(super) fn check_writable(&self) -> Result<()> {
        if self.writable {
            return Ok(());
        }
        Err(self.placed(Error::invalid("the table is open for reading only; open it for writing")))
    }

    /// Lets go of the directory, and refuses to write anything from here on.
    pub(super) fn abandon(&self, why: &str) {
        let (open, lock) = {
            let mut state = self.state();
            state.broken = Some(why.into());
            (state.arrays.values().cloned().collect::<Vec<_>>(), state.lock.take())
        };
        // What they say has no consequences: nothing of them is committed any more.
        open.iter().for_each(|one| drop(one.array.close()));
        drop(lock);
    }

    /// Whether this process has the lock of the directory, and the path still leads there. The lock is the first
    /// condition of all that writes.
    pub(super) fn is_in_place(&self) -> bool {
        self.state().lock.as_ref().is_some_and(|lock| lock.is_at(&self.path))
    }

    /// Begins a commit, or a part of one: what this thread changes until the matching [`TableDirectory::end`] is
    /// committed together. Other threads that begin wait.
    ///
    /// # Errors
    /// `Invalid` if the directory cannot be used any more.
    pub fn begin(&self) -> Result<()> {
        while !self.begin_within(FOREVER)? {}
        Ok(())
    }

    /// As [`TableDirectory::begin`]; returns false, with nothing begun, if another thread has begun and goes on for so
    /// long.
    ///
    /// # Errors
    /// As [`TableDirectory::begin`].
    pub fn begin_within(&self, wait: Duration) -> Result<bool> {
        if !self.turn.take(wait) {
            return Ok(false);
        }
        self.check_usable().inspect_err(|_| self.turn.give_back())?;
        Ok(true)
    }

    /// Ends what [`TableDirectory::begin`] began. With the outermost end all of it is committed, or undone, if it is
    /// not good.
    ///
    /// # Errors
    /// Those of the commit. All is then as at the last commit, or nobody knows, and the directory cannot be used.
    pub fn end(&self, is_good: bool) -> Result<()> {
        let depth = self.turn.depth();
        if depth == 0 {
            return Err(Error::invalid("the end of a change that was not begun"));
        }
        let done = match (depth, is_good) {
            (1, true) => self.commit().inspect_err(|_| self.undo()),
            (1, false) => {
                self.undo();
                Ok(())
            }
            _ => Ok(()),
        };
        self.turn.give_back();
        done
    }

    /// Whether what this thread changes now is part of a commit to come.
    pub fn is_changing(&self) -> bool {
        self.turn.depth() > 0
    }

    /// Makes all that `work` does one commit, or part of one; nothing of it, if it fails.
    ///
    /// # Errors
    /// Those of `work`, and of [`TableDirectory::begin`] and [`TableDirectory::end`].
    pub fn change<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        self.begin()?;
        let done = work();
        let ended = self.end(done.is_ok());
        let value = done?;
        ended.map(|()| value)
    }

    /// Whether there is a newer commit than the one that is shown.
    ///
    /// # Errors
    /// Those of reading the manifest.
    pub fn is_outdated(&self) -> Result<bool> {
        Ok(!self.writable && manifest::read(&self.path)?.generation != self.generation())
    }

    /// Goes to the newest commit of whoever writes the table; returns whether there is one.
    ///
    /// # Errors
    /// Those of reading the manifest.
    pub fn refresh(&self) -> Result<bool> {
        if self.writable {
            return Ok(false);
        }
        let newest = manifest::read(&self.path)?;
        let mut state = self.state();
        if newest.generation == state.generation {
            return Ok(false);
        }
        let known: BTreeMap<u64, Option<CommitId>> =
            newest.nodes.arrays().map(|(entry, number)| (number, entry.node.state)).collect();
        let changed =
            state.nodes.arrays().filter(|(entry, number)| known.get(number) != Some(&entry.node.state));
        let changed: Vec<u64> = changed.map(|(_, number)| number).collect();
        // Who still reads them has them as they were.
        let dropped: Vec<_> = changed.iter().map(|number| state.arrays.remove(number)).collect();
        state.generation = newest.generation;
        state.nodes = newest.nodes.clone();
        state.committed = newest.nodes;
        drop(state);
        drop(dropped);
        Ok(true)
    }
}
