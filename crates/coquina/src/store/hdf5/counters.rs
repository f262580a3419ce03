//! What was done to get at chunks.

use std::sync::atomic::{AtomicU64, Ordering};

use super::ChunkAccess;

/// The access path to chunks, and how often each was used.
#[derive(Clone, Copy, Debug)]
pub struct ChunkAccessStats {
    /// The way that was chosen.
    pub chunk_access: ChunkAccess,
    /// Chunks that we read from the file ourselves.
    pub chunks_direct: u64,
    /// Chunks that libhdf5 fetched.
    pub chunks_fetched: u64,
    /// Chunks of which decoded blocks were used without asking libhdf5, as nothing had changed since they were fetched.
    pub chunks_unchanged: u64,
    /// Boxes of items that libhdf5 read or wrote.
    pub boxes_whole: u64,
    /// Chunks in the table, if it was needed.
    pub table_rows: u64,
    /// How often the way that was chosen did not work, and another one was taken.
    pub fallbacks: u64,
}

/// Counts, by all threads.
#[derive(Default)]
pub(super) struct Counters {
    pub(super) direct: AtomicU64,
    pub(super) fetched: AtomicU64,
    pub(super) unchanged: AtomicU64,
    pub(super) whole: AtomicU64,
    pub(super) table_rows: AtomicU64,
    pub(super) fallbacks: AtomicU64,
}

impl Counters {
    pub(super) fn stats(&self, chunk_access: ChunkAccess) -> ChunkAccessStats {
        let load = |count: &AtomicU64| count.load(Ordering::Relaxed);
        ChunkAccessStats {
            chunk_access,
            chunks_direct: load(&self.direct),
            chunks_fetched: load(&self.fetched),
            chunks_unchanged: load(&self.unchanged),
            boxes_whole: load(&self.whole),
            table_rows: load(&self.table_rows),
            fallbacks: load(&self.fallbacks),
        }
    }
}

/// Counts one, or more.
pub(super) fn add(count: &AtomicU64, more: usize) {
    count.fetch_add(more as u64, Ordering::Relaxed);
}
