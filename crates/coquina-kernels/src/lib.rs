//! Fast loops over plain slices: the crate of coquina where `unsafe` may live.
//!
//! Every loop comes as one safe door that takes a [`Level`] (the instruction set to use) and slices, and is
//! judged in its tests by a naive version over all levels and all small lengths. Only the states of LZ4 allocate, and
//! nothing here knows a chunk, a codec or an array.
//!
//! Source: the byte layouts are those of `docs/formats/filters.md`.

mod bitshuffle;
mod bounds;
pub mod boxes;
mod bytedelta;
pub mod checksum;
pub mod elementwise;
pub mod items;
mod level;
pub mod lz4;
mod pages;
mod planes;
pub mod reduce;
mod rounding;
mod runs;
mod select;
mod shuffle;
#[cfg(test)]
mod testing;
mod types;
#[cfg(target_arch = "x86_64")]
mod x86;
mod xor;

pub use bitshuffle::{bitshuffle, bitunshuffle};
pub use bounds::{Bounds, bounds};
pub use bytedelta::{bytedelta_decode, bytedelta_encode};
pub use level::{Level, best_level, levels};
pub use pages::advise_huge_pages;
pub use planes::{plane_equal, plane_order};
pub use rounding::{Errors, Multiples, errors, round_to_multiples};
pub use runs::run_value;
pub use select::{compress, count_picked, each_picked, keep_picked, pick_lengths};
pub use shuffle::{shuffle, unshuffle};
pub use types::Type;
pub use xor::{xor_chain_decode, xor_chain_encode, xor_into};
