//! Chunks that libhdf5 has fetched for one read, which threads then decode.

use std::collections::HashMap;
use std::sync::Arc;

use super::stored::StoredBytes;
use super::view::View;
use crate::base::error::{Error, Result};
use crate::base::limits::Limits;
use crate::store::{Chunks, EncodeChunk, OpenChunk, Sizes, Stored};

/// A chunk that was fetched.
pub(super) enum Fetched {
    Missing,
    /// Items that the library read have a mask that says that no filter ran.
    Stored {
        id: u64,
        bytes: Arc<Vec<u8>>,
        mask: u32,
    },
}

/// Chunks that were fetched for one read.
pub(super) struct Batch {
    pub(super) view: Arc<View>,
    pub(super) chunks: HashMap<u64, Fetched>,
}

impl Batch {
    fn find(&self, number: u64) -> Result<&Fetched> {
        self.chunks.get(&number).ok_or_else(|| Error::invalid(format!("chunk {number} has not been fetched")))
    }
}

impl Chunks for Batch {
    fn nchunks(&self) -> u64 {
        self.view.places.nchunks()
    }

    fn chunk(&self, number: u64) -> Result<Stored> {
        Ok(match self.find(number)? {
            Fetched::Missing => Stored::Item(Arc::clone(&self.view.shared.fill)),
            Fetched::Stored { id, .. } => Stored::Other { id: *id },
        })
    }

    fn open(&self, number: u64, limits: &Limits) -> Result<Arc<dyn OpenChunk>> {
        let format = &self.view.shared.format;
        match self.find(number)? {
            Fetched::Missing => Err(Error::invalid("a chunk that is not stored")),
            Fetched::Stored { bytes, mask, .. } => {
                format.open(StoredBytes::fetched(Arc::clone(bytes)), *mask, limits)
            }
        }
    }

    fn encoder(&self) -> Option<&dyn EncodeChunk> {
        Some(&self.view.shared.encoder)
    }

    fn fill(&self) -> Option<&[u8]> {
        Some(&self.view.shared.fill)
    }

    fn sizes(&self) -> Sizes {
        Sizes::NOTHING
    }
}
