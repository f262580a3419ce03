//! Queries of columns: which rows hold a condition, and what stands in them.
//!
//! A column is a [`crate::array::BoxSource`] of one axis; a condition is one whose items are truth values. All walk
//! over rows by [`walk`], box by box on all threads, and decode what a box without matches holds of no column.

mod fold;
mod gather;
pub mod group;
mod hashing;
mod numbers;
pub mod predicates;
mod rows;
mod scan;
mod strings;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_arrays;
mod walk;

pub use fold::{Folded, scan_fold};
pub use rows::Rows;
pub use scan::{Column, Part, Query, Scanned, scan};
pub use walk::Report;
