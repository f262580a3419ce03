//! Blosc2 chunks of HDF5 datasets: each is a frame of its own with one chunk in it, mostly of an n-dimensional array.
//!
//! In: the filter's parameters, the shape of a dataset's chunks, bytes. Out: frames, and what they hold: all of it,
//! or blocks that are read where the frame stands in a file.
//! Source: `docs/formats/hdf5-filters.md`, "Blosc2"; `docs/formats/frame.md`, `docs/formats/b2nd.md`.

mod boxes;
mod chunk;
mod contents;
mod spec;
mod write;
mod zones;

pub use chunk::FrameChunk;
pub(super) use contents::{decode_frame, decoded_bytes};
pub use spec::{Blosc2Spec, ChunkEncoding, default_blocks};
pub(super) use write::{encode_frame, encode_zoned};
pub use write::{has_sums, put_place, wrap};
pub use zones::{ZoneField, ZoneKind};

#[cfg(test)]
mod tests;
