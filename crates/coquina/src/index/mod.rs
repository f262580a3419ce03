//! Indexes of columns: their rows sorted by keys, and searched.
//!
//! A key is a number of 64 bits in the order of the items that it stands for. [`sort`] reads a column, box by box on
//! all threads, and gives its rows in the order of their keys, in blocks that say their keys in few bytes; what does
//! not fit into memory goes through a file. A [`Run`] is what has been stored of that, and finds the rows of ranges
//! of keys. [`pytables`] does both with indexes as PyTables stores them.

mod blocks;
mod distinct;
mod ends;
mod keys;
mod partitions;
mod piece;
pub mod pytables;
mod radix;
mod read;
mod run;
mod sort;
mod sorted;
mod spill;
mod splitters;
mod stored;
#[cfg(test)]
mod tests;
mod windows;

pub use blocks::{Batch, RowNumbers};
pub use keys::KeyKind;
pub use read::Keyed;
pub use run::{Found, KeyRanges, Run};
pub use sort::{Sorting, sort};
pub use sorted::Sorted;
pub use stored::Stored;
