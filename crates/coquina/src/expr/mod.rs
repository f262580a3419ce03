//! Expressions: a typed tree, compiled to a program that runs over slices.
//!
//! In: a [`Tree`] whose types were resolved by whoever made it, and for each operand its items. Out: the items of
//! the result. Knows slices and number types; no arrays, no shapes but those that items are spread over.

mod bounds;
mod compile;
mod interval;
mod program;
mod rule;
mod spread;
pub mod text;
mod tree;

pub use interval::{Interval, Item};
pub use program::{Operand, Program, Workspace};
pub use spread::{Spread, SpreadAxis};
pub use tree::{Node, Tree};

#[cfg(test)]
mod tests;
