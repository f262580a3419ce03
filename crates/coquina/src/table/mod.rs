//! Tables: columns of equal length, each stored as one array or a few, that are changed and committed together.
//!
//! Source: `docs/formats/columns.md`.

mod storage;

pub use storage::{Members, NodeKind, TableStorage};
