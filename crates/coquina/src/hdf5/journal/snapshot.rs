//! A file as of its last commit, for those who read it while it is written.
//!
//! In: the file, and its journal if there is one. Out: the bytes of that commit, however far the writer has come.
//! Invariant: the reader holds the shared lock from before this is made: as long as it does, no page is applied and
//! no journal begins anew.

use super::pages::{StoredPages, patch};
use super::replay::check_belongs;
use super::scan::scan;
use crate::base::error::Result;
use crate::base::io::{ReadAt, ends_early};

/// A file at a commit.
pub struct Snapshot<D> {
    file: D,
    journal: Option<D>,
    pages: StoredPages,
    end: u64,
    commit: (u64, u64),
}

impl<D: ReadAt> Snapshot<D> {
    /// The last commit of a file, with its journal.
    ///
    /// # Errors
    /// `Corrupt` if the journal has a commit for which bytes of the file are missing; or what the system says.
    pub fn new(file: D, journal: Option<D>) -> Result<Self> {
        if let Some(journal) = journal
            && let Some(scanned) = scan(&journal)?
        {
            check_belongs(&file, &journal, &scanned)?;
            let commit = (scanned.header.salt, scanned.stop);
            return Ok(Self { file, journal: Some(journal), pages: scanned.pages, end: scanned.end, commit });
        }
        let end = file.len()?;
        Ok(Self { file, journal: None, pages: StoredPages::new(), end, commit: (0, 0) })
    }

    /// What tells this commit from others of the file, as long as the reader holds its lock.
    pub fn commit(&self) -> (u64, u64) {
        self.commit
    }

    /// Whether the file alone is at this commit.
    pub fn is_plain(&self) -> bool {
        self.journal.is_none()
    }
}

impl<D: ReadAt> ReadAt for Snapshot<D> {
    fn len(&self) -> Result<u64> {
        Ok(self.end)
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> Result<()> {
        let is_inside = offset.checked_add(buffer.len() as u64).is_some_and(|stop| stop <= self.end);
        if !is_inside {
            return Err(ends_early(buffer, offset));
        }
        self.file.read_exact_at(buffer, offset)?;
        match &self.journal {
            Some(journal) => patch(&self.pages, journal, buffer, offset),
            None => Ok(()),
        }
    }
}
