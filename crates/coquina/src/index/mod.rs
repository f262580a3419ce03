//! Indexes of columns: their rows sorted by keys, and searched.
//!
//! A key is a number of 64 bits in the order of the items that it stands for. [`sort`] reads a column, box by box on
//! all threads, and gives its rows in the order of their keys, in blocks that say their keys in few bytes; what does
//! not fit into memory goes through a file. A [`Run`] is what has been stored of that, and finds the rows of ranges
//! of keys. [`Spans`] say which run knows which rows; [`Current`] is asked for rows by [`KeyRanges`], and answers with
//! a [`RowSet`]. [`terms`] reads from a condition which keys it asks for, [`choice`] whether indexes answer it. [`pytables`] does both with indexes as PyTables stores them.
//! [`sorted_rows`] puts rows in the order of columns without an index.

mod blocks;
pub mod choice;
mod current;
mod distinct;
mod ends;
mod key_ranges;
mod keys;
mod order;
mod partitions;
mod piece;
pub mod pytables;
mod radix;
mod read;
mod row_sets;
mod run;
mod sort;
mod sorted;
pub mod sorted_rows;
mod spans;
mod spill;
mod splitters;
pub mod store;
mod stored;
pub mod terms;
#[cfg(test)]
mod tests;
mod windows;
mod zones;

pub use blocks::{Batch, RowNumbers};
pub use current::{Asked, Current, Known, Looked, NumberedRun};
pub use key_ranges::{KeyRanges, Wanted};
pub use keys::KeyKind;
pub use order::order_of;
pub use read::Keyed;
pub use row_sets::RowSet;
pub use run::{Found, Run};
pub use sort::{Sorting, sort};
pub use sorted::Sorted;
pub use spans::{SPAN_ROWS, Spans};
pub use stored::Stored;
pub use zones::{ZONE_ROWS, Zones};
