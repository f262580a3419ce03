//! Chunks that libhdf5 has fetched for one read, which threads then decode.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use super::fetched::Fetched;
use super::stored::StoredBytes;
use super::view::View;
use crate::base::error::{Error, Result};
use crate::base::limits::Limits;
use crate::store::{Chunks, ForeignChunks, OpenChunk, Sizes, Stored};

/// Chunks that were fetched for one read.
pub(super) struct Batch {
    pub(super) view: Arc<View>,
    pub(super) chunks: HashMap<u64, Fetched>,
}

impl Batch {
    fn stored_bytes(&self) -> usize {
        let bytes = |fetched: &Fetched| match fetched {
            Fetched::Missing => 0,
            Fetched::Stored { bytes, .. } => bytes.len(),
        };
        self.chunks.values().map(bytes).sum()
    }

    fn find(&self, number: u64) -> Result<&Fetched> {
        self.chunks.get(&number).ok_or_else(|| Error::invalid(format!("chunk {number} has not been fetched")))
    }
}

impl ForeignChunks for Batch {
    fn open(&self, number: u64, limits: &Limits) -> Result<Arc<dyn OpenChunk>> {
        let format = &self.view.shared.format;
        match self.find(number)? {
            Fetched::Missing => Err(Error::invalid("a chunk that is not stored")),
            Fetched::Stored { bytes, mask, .. } => {
                let stored = StoredBytes::fetched(Arc::clone(bytes));
                format.open(&self.view.start(number), stored, *mask, limits)
            }
        }
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

    fn foreign(&self) -> Option<&dyn ForeignChunks> {
        Some(self)
    }

    fn fill(&self) -> Option<&[u8]> {
        Some(&self.view.shared.fill)
    }

    fn sizes(&self) -> Sizes {
        Sizes::NOTHING
    }
}

/// What this thread keeps of chunks that were fetched, while it is at one box.
type Kept = Vec<(u64, Arc<Batch>)>;

/// More stored bytes than this are not kept, nor more chunks.
const KEPT_BYTES: usize = 32 << 20;
const KEPT_CHUNKS: usize = 32;

thread_local! {
    static KEPT: RefCell<Option<Kept>> = const { RefCell::new(None) };
}

/// Runs `work`, which asks for what is known of one box and then for its items: chunks that must be fetched for it
/// are fetched once. What others write meanwhile may be seen or not.
pub fn at_once<T>(work: impl FnOnce() -> T) -> T {
    struct Ends(bool);
    impl Drop for Ends {
        fn drop(&mut self) {
            if self.0 {
                KEPT.set(None);
            }
        }
    }
    let is_first = KEPT.with_borrow_mut(|kept| {
        let is_first = kept.is_none();
        kept.get_or_insert_default();
        is_first
    });
    let _ends = Ends(is_first);
    work()
}

/// One chunk of a view, as it was fetched for the box that this thread is at.
pub(super) fn kept_or(
    view: &Arc<View>,
    number: u64,
    fetch: impl FnOnce() -> Result<Batch>,
) -> Result<Arc<Batch>> {
    let is_it = |(of, batch): &&(u64, Arc<Batch>)| *of == number && Arc::ptr_eq(&batch.view, view);
    let found =
        KEPT.with_borrow(|kept| kept.as_ref()?.iter().find(is_it).map(|(_, batch)| Arc::clone(batch)));
    if let Some(found) = found {
        return Ok(found);
    }
    let batch = Arc::new(fetch()?);
    KEPT.with_borrow_mut(|kept| {
        let Some(kept) = kept.as_mut().filter(|kept| kept.len() < KEPT_CHUNKS) else { return };
        let bytes = kept.iter().map(|(_, batch)| batch.stored_bytes()).sum::<usize>();
        if bytes.saturating_add(batch.stored_bytes()) <= KEPT_BYTES {
            kept.push((number, Arc::clone(&batch)));
        }
    });
    Ok(batch)
}
