//! Tables: columns of equal length, each stored as one array or a few, that are changed and committed together.
//!
//! Source: `docs/formats/columns.md`.

mod directory;
mod storage;

pub use directory::{
    DirectoryOptions, DirectoryStorage, NewArray, Node, TableDirectory, check_is_replaceable, put_in_place,
};
pub use storage::{Members, NodeKind, TableStorage};
