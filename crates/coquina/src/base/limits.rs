//! How much memory bytes from outside may ask for.

use super::error::{Error, Result};

/// Limits on what untrusted sizes may allocate. Checked before every allocation that a stored size decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The most bytes that one chunk may decode to.
    pub chunk_bytes: u64,
}

impl Default for Limits {
    /// As much as the chunk format itself allows: 2 GiB - 1 byte for a chunk.
    fn default() -> Self {
        Self { chunk_bytes: i32::MAX.unsigned_abs().into() }
    }
}

impl Limits {
    pub(crate) fn check_chunk(&self, nbytes: usize) -> Result<()> {
        if nbytes as u64 > self.chunk_bytes {
            let limit = self.chunk_bytes;
            return Err(Error::limit(format!("nbytes: a chunk of {nbytes} bytes, the limit is {limit}")));
        }
        Ok(())
    }
}
