//! Where the chunks of an array live: in memory, in a frame, or in a dataset of an HDF5 file.
//!
//! A reader holds [`Chunks`], the state as of one moment, and is not disturbed by a writer. A writer puts encoded
//! chunks into the `Store`, then applies a `Change` that says where they belong, then commits. A `ChunkFormat`,
//! which is known when a store is opened, encodes them.

mod announce;
mod change;
mod chunks;
mod format;
mod frame;
pub mod hdf5;
mod memory;
mod presence;
mod statistics;

pub(crate) use change::{Change, EncodedChunk, Entry, Store};
pub use chunks::{
    Access, Chunks, Ends, Extent, Extents, ForeignChunks, LibraryAccess, Metadata, OpenChunk, Parts,
    Prefetch, Remote, Sizes, Stored,
};
pub(crate) use format::{BloscFormat, ChunkFormat};
pub(crate) use frame::FrameStore;
pub use hdf5::{ChunkAccess, ChunkAccessStats, at_once};
pub(crate) use memory::MemoryStore;
pub use statistics::Statistics;
pub(crate) use statistics::item_type;

pub use crate::frame::SumState;
