//! What a condition asks of indexes: terms, and how they are combined.
//!
//! In: the nodes of a condition, in which the values that indexes know are told apart. Out: trees of terms.
//! A term is all that is asked of one operand: comparisons, values among others, text that begins so, missing values,
//! and what of these is combined by and, or and not.
//! Invariant: rows that meet the condition meet the tree.

mod compared;
mod keys;
mod read;
mod texts;
mod tree;

pub use read::{Node, Operand, trees};
pub use tree::Tree;
