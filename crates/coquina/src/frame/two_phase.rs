//! Two-phase commits: several frames that are committed together, by one write somewhere else.
//!
//! [`Frame::prepare`] writes all of a commit behind the end of the frame, but not the header in front. Whoever owns the
//! frames then writes down the ids of their states in one step, such as a manifest that takes the place of the old one:
//! that commits them all. [`Frame::finish`] writes the header, for programs that look at one frame alone.
//! [`Frame::open_at`] opens the state with an id, whatever the header says: what is behind it is of a commit that did
//! not happen, or of a newer one.
//! Source: `docs/formats/frame.md`, "Commits of several frames".
//! Invariant: a state that was committed can be opened by its id until the frame is written anew.

use std::path::Path;
use std::sync::Arc;

use super::handle::{Back, Frame, Mode};
use super::load::Origin;
use super::state::CommitId;
use super::writer::contiguous::Contiguous;
use crate::base::error::{Error, Result};
use crate::base::limits::Limits;

impl Frame {
    /// Opens the state of a frame that has this id. Opened for writing, what is behind it goes away.
    ///
    /// # Errors
    /// As [`Frame::open`]; `Corrupt` if the file has no such state.
    pub fn open_at(path: &Path, id: CommitId, mode: Mode, limits: Limits) -> Result<Self> {
        let open = || {
            let path = std::path::absolute(path)?;
            let mut frame = match mode {
                Mode::Read => return Self::open_read_only_at(&path, id, limits, false),
                Mode::Write => {
                    let (writer, snapshot) = Contiguous::open(&path, Some(id), limits)?;
                    Self::with(snapshot, Back::Writer(Box::new(writer)))
                }
            };
            frame.is_owned = true;
            Ok(frame.at(path))
        };
        open().map_err(|e: Error| e.at(path.display().to_string()))
    }

    /// Opens for reading the state of a frame that has this id and may not be the last one any more, which
    /// [`Frame::open_at`] takes for damage.
    ///
    /// # Errors
    /// As [`Frame::open_at`].
    pub fn open_earlier_at(path: &Path, id: CommitId, limits: Limits) -> Result<Self> {
        let open = || Self::open_read_only_at(&std::path::absolute(path)?, id, limits, true);
        open().map_err(|e: Error| e.at(path.display().to_string()))
    }

    fn open_read_only_at(path: &Path, id: CommitId, limits: Limits, is_followed: bool) -> Result<Self> {
        let load = |origin: &Origin<'_>| origin.load_at(id, is_followed);
        let mut frame = Self::open_file(path, 0, limits, false, load)?;
        frame.is_owned = true;
        Ok(frame.at(path.to_path_buf()))
    }

    /// The id of the last commit.
    pub fn commit_id(&self) -> CommitId {
        CommitId { end: self.committed.frame_len(), sum: self.committed.state.tail_sum }
    }

    /// Writes all changes that were applied, and returns the id of the state with them. They are committed when the
    /// id is written down; then [`Frame::finish`] is called, else [`Frame::rollback`]. From here on the frame is
    /// committed in no other way. With `durable` all of it is on the disk before the id is known.
    ///
    /// # Errors
    /// `Io`, and then all since the last commit is undone; `Unsupported` for a frame that is a directory.
    pub fn prepare(&mut self, durable: bool) -> Result<CommitId> {
        let is_prepared = self.prepared.as_ref().is_some_and(|prepared| Arc::ptr_eq(prepared, &self.shown));
        // A state without fingerprint, as other programs leave it, has no id yet.
        let has_id = Arc::ptr_eq(&self.shown, &self.committed) && self.committed.state.has_fingerprint;
        if self.is_unborn {
            return Err(Error::invalid("the frame has no name yet"));
        }
        if !is_prepared && !has_id {
            let shown = Arc::clone(&self.shown);
            let prepared = self.writer()?.prepare(&shown, durable).inspect_err(|_| self.rollback())?;
            self.prepared = Some(Arc::new(prepared));
        }
        self.is_owned = true;
        if let Some(prepared) = &self.prepared {
            self.shown = Arc::clone(prepared);
        }
        Ok(CommitId { end: self.shown.frame_len(), sum: self.shown.state.tail_sum })
    }

    /// What was prepared has been committed.
    pub fn finish(&mut self) {
        if let (Some(prepared), Back::Writer(writer)) = (self.prepared.take(), &mut self.back) {
            writer.finish();
            self.committed = prepared;
        }
    }

    /// It cannot be told whether what was prepared is committed: nothing more is written, and nothing removed.
    pub fn abandon(&mut self) {
        if let Back::Writer(writer) = &mut self.back {
            writer.abandon();
        }
    }
}
