//! Indexes as PyTables stores them: searched, and made.
//!
//! Rows are cut into slices, and the values of each slice are stored sorted, with the rows that they came from. An
//! [`Index`] finds the rows of ranges of keys in the arrays of such an index; [`Sorting`] makes what the arrays of a
//! complete one have.
//!
//! Source: `docs/formats/pytables-indexes.md`.

mod candidates;
mod chunk_keys;
mod chunking;
mod edges;
mod making;
mod merging;
mod order;
mod search;
mod shape;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod value_keys;

pub use chunking::Chunking;
pub use edges::Edges;
pub use making::{Making, SlicePart};
pub use order::Sorting;
pub use search::{Answer, Index, Keys};
pub use shape::{Arrays, Facts};
