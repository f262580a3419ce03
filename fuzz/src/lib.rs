//! Hostile-bytes targets: plain functions on bytes that return or panic, seeds for them, and seeded mutations.
//!
//! A target takes any bytes. It panics if the engine broke a law: a value that depends on what lay in the output
//! before, a range that is not the slice of the whole, a round trip that is none, damage that passes the checksums.
//! Errors are what is expected.
//! `tests/replay.rs` runs them on stable Rust; a libFuzzer or AFL harness is one line for each target.

#![forbid(unsafe_code)]

mod block_codecs;
mod frame_mutate;
mod frame_seeds;
mod frame_targets;
mod hdf5_chunks;
mod hdf5_index;
mod hdf5_zones;
mod images;
mod index_run;
mod lossy_record;
mod mutate;
mod query_texts;
mod seeds;
mod targets;

pub use mutate::{Random, mutate};
pub use seeds::{corpus, own_chunks, packed_files};
pub use targets::{LIMIT_BYTES, Mutate, TARGETS, Target};
