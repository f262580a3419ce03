//! The chunks of HDF5 datasets: the filter pipeline over their bytes, and where a file keeps them.
//!
//! In: the bytes of stored chunks, or of a file. Out: the items of a chunk, bytes to store, the table of chunks.
//! Nothing here calls libhdf5: it knows bytes alone, and reads them from any thread.
//! Source: `docs/formats/hdf5-filters.md`.

mod blosc2;
mod filters;
mod index;
pub mod journal;
mod pipeline;

pub use blosc2::{
    Blosc2Spec, ChunkEncoding, FrameChunk, ZoneField, ZoneKind, default_blocks, has_sums, put_place, wrap,
};
pub use filters::{FilterInfo, decoded_bytes, filter_name, is_filter_there, known_filters};
pub use index::{ChunkRow, IndexKind, Layout, check_attributes, lookup3, read_index};
pub use pipeline::{Inner, Pipeline, Slot};
