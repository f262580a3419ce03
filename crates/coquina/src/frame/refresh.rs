//! A reader goes to the newest commit of whoever writes the frame.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use super::format::spec::Kind;
use super::handle::{Back, Frame};
use super::load::Origin;
use super::snapshot::{Chunks, Snapshot};
use super::writer::sparse;
use crate::base::error::Result;
use crate::base::file_names::is_at;

impl Frame {
    /// Looks for a newer commit, if the frame is open for reading; says whether there is one.
    ///
    /// # Errors
    /// As [`Frame::open`]; the state is then the one from before.
    pub fn refresh(&mut self) -> Result<bool> {
        let now = Arc::clone(&self.shown);
        let (limits, epoch) = (now.limits, now.epoch + 1);
        let (kind, is_damaged) = (Kind::Contiguous, self.is_damaged);
        let (loaded, chunks, is_touched) = match &mut self.back {
            Back::Writer(_) => return Ok(false),
            Back::Source(source, base) => {
                let origin = Origin { source: &**source, base: *base, kind, limits: &limits, is_damaged };
                if origin.is_same(&now.state) {
                    return Ok(false);
                }
                (origin.load()?.0, Chunks::Contiguous(Arc::clone(source), *base), false)
            }
            Back::File { file, base, modified } => {
                let path = self.path.as_deref().unwrap_or(Path::new(""));
                let is_replaced = !is_at(file, path)?;
                let newest = if is_replaced { Arc::new(File::open(path)?) } else { Arc::clone(file) };
                let origin = Origin { source: &*newest, base: *base, kind, limits: &limits, is_damaged };
                if !is_replaced && origin.is_same(&now.state) {
                    return Ok(false);
                }
                let then = newest.metadata()?.modified().ok();
                let loaded = origin.load()?.0;
                // Without a fingerprint, chunks may be other ones while all that was read is the same.
                let is_touched = is_replaced || (!loaded.has_fingerprint && then != *modified);
                (*file, *modified) = (newest, then);
                (loaded, Chunks::Contiguous(file.clone(), *base), is_touched)
            }
            Back::Folder(folder) => {
                (sparse::load(folder, &limits, is_damaged)?.0, Chunks::Sparse(Arc::clone(folder)), false)
            }
        };
        if loaded.tail_sum == now.state.tail_sum && !is_touched {
            return Ok(false);
        }
        self.committed = Arc::new(Snapshot::new(loaded, chunks, limits, epoch));
        self.shown = Arc::clone(&self.committed);
        Ok(true)
    }
}
