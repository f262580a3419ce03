//! Frames: chunks, an index of where they are, and named metadata, in one file, one directory, or in memory.
//!
//! A [`Frame`] is an open one; a [`Snapshot`] is its state as of one commit, which never changes and which any
//! number of threads read. A writer puts chunks, applies a [`Change`], and commits: whoever opens the frame sees
//! all of a commit or nothing of it, whatever happens to the writer. [`write_frame`] makes a whole one.
//!
//! Source: `docs/formats/frame.md`.
//! Invariant: bytes that a committed snapshot refers to are never written again.

mod disk;
mod exchange;
#[cfg(test)]
pub(crate) mod faults;
mod format;
mod handle;
pub(crate) mod inside;
mod load;
mod lock;
mod manifest;
mod refresh;
mod snapshot;
mod state;
mod two_phase;
mod writer;

pub use exchange::exchange;
pub use format::spec::{Kind, Spec};
pub use format::statistics::Statistics;
pub(crate) use format::{b2nd, guard};
pub use handle::{Frame, Mode};
pub use lock::FolderLock;
pub use manifest::{Manifest, ManifestText, read_manifest};
pub(crate) use snapshot::read_verified;
pub use snapshot::{Snapshot, Stored};
pub use state::{CommitId, SumState};
pub use writer::change::{Change, Entry, Put, Remap};
pub use writer::whole::{AlikeUntil, Chunks, StatisticsOf, Whole, write_frame};

/// The most chunks of a frame: the index has eight bytes for each, and is a chunk itself.
pub(crate) const NCHUNKS_MAX: u64 = (crate::chunk::CHUNK_BYTES_MAX / 8) as u64;
