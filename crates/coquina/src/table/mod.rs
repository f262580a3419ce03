//! Tables: columns of equal length, each stored as one array or a few, that are changed and committed together.
//!
//! Source: `docs/formats/columns.md`.

mod append;
mod append_buffer;
mod batch;
mod change_columns;
mod change_rows;
mod column;
mod columns;
mod data;
mod encodings;
mod handle;
mod info;
mod item;
mod item_part;
mod item_type;
mod memory;
mod names;
mod options;
mod part;
mod schema;
mod storage;
#[cfg(test)]
mod tests_hostile;
mod text_part;
mod texts;
mod values;

pub use batch::Batch;
pub use column::Column;
pub use columns::Skipped;
pub use data::Data;
pub use handle::Table;
pub use info::{ColumnInfo, TableDamage, TableInfo};
pub use item::Item;
pub use memory::MemoryStorage;
pub use options::TableOptions;
pub use schema::{ColumnSpec, ColumnType, Schema};
pub use storage::{Members, NodeKind, TableStorage};
pub use texts::Texts;
pub use values::Values;

pub use crate::query::{TimeType, TimeUnit};
