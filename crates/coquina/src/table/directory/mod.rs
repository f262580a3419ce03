//! A directory of frames: arrays in files of their own that a manifest names, and that are committed together.
//!
//! A [`TableDirectory`] is an open one. What is changed between [`TableDirectory::begin`] and [`TableDirectory::end`] is one
//! commit, of nodes and of the items of all arrays. One process writes at a time, and in it all who open the directory
//! share one [`TableDirectory`].
//!
//! Source: `docs/formats/columns.md`, "A directory of frames".
//! Invariant: the manifest names the committed state of each array. What it does not name has not happened, be it files
//! or bytes behind the end of a state.

mod arrays;
mod changes;
mod commit;
mod handle;
mod manifest;
mod nodes;
mod opening;
mod replacing;
mod storage;
mod sweeping;
#[cfg(test)]
mod tests;
mod turn;
mod writers;

pub use arrays::NewArray;
pub use handle::{DirectoryOptions, TableDirectory};
pub use nodes::Node;
pub use replacing::{check_is_replaceable, put_in_place};
pub use storage::DirectoryStorage;
