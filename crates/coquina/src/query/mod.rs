//! Queries of columns: which rows hold a condition, and what stands in them.
//!
//! A column is a [`crate::array::BoxSource`] of one axis; a condition is one whose items are truth values. All walk
//! over rows by `walk`, box by box on all threads, and decode what a box without matches holds of no column.

mod access;
mod columns;
pub mod condition;
mod fingerprints;
mod first_rows;
mod fold;
mod found_rows;
mod gather;
pub mod group;
mod group_query;
mod group_rows;
mod hashing;
mod in_memory;
mod numbers;
mod ordering;
pub mod predicates;
mod row_condition;
mod row_lists;
mod rows;
mod scan;
mod scan_rows;
mod select;
mod select_group_texts;
mod select_groups;
mod strings;
mod survey;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_arrays;
#[cfg(test)]
mod tests_fingerprints;
#[cfg(test)]
mod tests_sparse;
mod text_ranks;
mod walk;

pub use access::{AccessPath, AccessPaths};
pub use columns::{Categories, ColumnPlace, ColumnValues, QueryColumn, TimeType, TimeUnit};
pub use fingerprints::fingerprints;
pub(crate) use first_rows::FirstRows;
pub use fold::{Folded, scan_fold};
pub use found_rows::FoundRows;
pub use group_query::{GroupAggregate, GroupQuery, GroupValues, group_in_order};
pub use group_rows::{GroupColumn, GroupRows};
pub use ordering::Direction;
pub use row_condition::RowCondition;
pub(crate) use row_lists::{
    RowOp, check_ranges, check_rows as check_ascending, combine, minus_ranges, within,
};
pub(crate) use rows::Cut;
pub use rows::Rows;
pub(crate) use scan::check_strings;
pub use scan::{Column, Part, Query, Scanned, scan};
pub use scan_rows::scan_rows;
pub use select::{Aggregated, Select, SelectedColumn};
pub use select_groups::Groups;
pub(crate) use strings::{Source as StringSource, Strings};
pub use survey::survey;
pub use text_ranks::text_ranks;
pub use walk::Report;
pub(crate) use walk::{Picked, check_rows};
