//! What a condition asks of indexes: terms, and how they are combined.
//!
//! In: the program of a condition, and what indexes were made of. Out: trees of terms.
//! A term is all that is asked of one operand: comparisons, values among others, text that begins so, missing values,
//! and what of these is combined by and, or and not.
//! Invariant: rows that meet the condition meet the tree.

mod compared;
mod costs;
mod keys;
mod lookup;
mod places;
mod pricing;
mod programs;
mod read;
mod texts;
mod tree;

pub use costs::row_bytes;
pub use lookup::looked_up;
pub use pricing::{Best, Chosen, Costs, Few, Indexes, chosen};
pub use programs::{Operands, Side, Terms};
pub use read::Operand;
pub use tree::Tree;
