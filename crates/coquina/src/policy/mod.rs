//! How the chunks of a write are encoded: without loss, within a bound on the loss, or as a tuner chooses.
//!
//! In: a `NewChunk`, its blocks over those that stood there. Out: the chunk on its way to the store. There are three
//! policies, each an `EncodePolicy`: `exact::Exact`, `bounded::Bounded` and `tuned::Tuned`; an array says by its
//! metadata, which are attributes in HDF5, which of them a write follows.

pub mod bounded;
mod encode_policy;
mod exact;
mod new_chunk;
mod stored;
#[cfg(test)]
mod tests;
pub mod tuned;

pub(crate) use encode_policy::EncodePolicy;
pub(crate) use new_chunk::{ChunkBlocks, KnownItems, NewChunk};
pub(crate) use stored::{Policies, bound_layer, goal_layer, is_reserved, tunable_params};
