//! The bytes of a stored chunk, in memory or in the file.

use std::ops::Range;
use std::sync::Arc;

use crate::base::error::{Error, Result};
use crate::base::io::ReadAt;
use crate::base::scratch::with_scratch;

/// The bytes of a stored chunk.
#[derive(Clone)]
pub(super) struct StoredBytes {
    /// What holds them.
    pub(super) source: Arc<dyn ReadAt>,
    /// Where they start in it.
    pub(super) at: u64,
    pub(super) len: u64,
}

impl StoredBytes {
    /// Bytes that were fetched.
    pub(super) fn fetched(bytes: Arc<Vec<u8>>) -> Self {
        let len = Vec::len(&bytes) as u64;
        Self { source: bytes, at: 0, len }
    }

    /// Bytes of memory that they take.
    pub(super) fn memory_bytes(&self) -> usize {
        self.source.as_slice().map_or(0, <[u8]>::len)
    }

    /// Runs `work` with all of them.
    pub(super) fn with<T>(&self, work: impl FnOnce(&[u8]) -> Result<T>) -> Result<T> {
        let len =
            usize::try_from(self.len).map_err(|_| Error::limit(format!("a chunk of {} bytes", self.len)))?;
        if let Some(all) = self.source.as_slice() {
            let bytes = usize::try_from(self.at).ok().and_then(|at| all.get(at..)?.get(..len));
            return work(bytes.ok_or_else(|| self.ends())?);
        }
        // What the table says must be there before memory is taken for it.
        if self.source.len()?.checked_sub(self.at).is_none_or(|left| left < self.len) {
            return Err(self.ends());
        }
        with_scratch(len, |bytes| {
            self.source.read_exact_at(bytes, self.at)?;
            work(bytes)
        })
    }

    /// Fills `out` with those from `start` on.
    pub(super) fn read(&self, start: usize, out: &mut [u8]) -> Result<()> {
        let end = (start as u64).checked_add(out.len() as u64);
        if end.is_none_or(|end| end > self.len) {
            return Err(self.ends());
        }
        self.source.read_exact_at(out, self.at.saturating_add(start as u64))
    }

    /// Adds where some of them stand in the source, if they are not in memory.
    pub(super) fn places(&self, bytes: Range<u64>, places: &mut Vec<Range<u64>>) {
        let end = bytes.end.min(self.len);
        if self.source.as_slice().is_none() && bytes.start < end {
            places.push(self.at.saturating_add(bytes.start)..self.at.saturating_add(end));
        }
    }

    fn ends(&self) -> Error {
        let Self { at, len, .. } = self;
        Error::truncated(format!("a chunk of {len} bytes at {at}: the file ends before"))
    }
}
