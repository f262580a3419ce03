//! Lossy chunks under a contract: a bound on the loss, means that hold it, and what was reached.
//!
//! In: the items of a chunk and a [`Contract`]. Out: a chunk that has been decoded again and measured, so that the
//! bound is known to hold; where no means holds it, the items as they are. The rest of a chunk of which a part is
//! written stays bit for bit.
//! Source: `docs/guide/lossy.md`, `docs/formats/lossy.md`.
//! Invariant: what is chosen depends on the items of the chunks of a write, their order, the contract and the parameters only.

mod blocks;
mod choose;
mod coder;
mod contract;
mod floats;
mod images;
mod integers;
mod items;
mod kept;
mod lattice;
mod measure;
mod memory;
mod number;
mod policy;
mod predicted;
mod ratio;
mod record;
mod round;
mod sample;
mod search;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_blocks;
mod trial;

pub use contract::{Bound, Contract, LossyMethod};
pub(crate) use policy::Bounded;
pub use record::{LAYER, Reached, Record, WAYS};
