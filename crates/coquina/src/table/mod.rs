//! Tables: columns of equal length, each stored as one array or a few, that are changed and committed together.
//!
//! A [`Table`] lives in a directory of frames ([`Table::create`], [`Table::open`]), in memory ([`Table::in_memory`]) or in
//! any other [`TableStorage`]. A [`Schema`] says what its columns are. Rows come as a [`Batch`] of [`Values`] by the name of
//! their column, and a [`Column`] gives them back: as numbers of a type, as text, or as values with what is missing.
//!
//! ```
//! use coquina::table::{Batch, ColumnSpec, ColumnType, Schema, Table};
//!
//! let schema = Schema::new([
//!     ColumnSpec::number::<f64>("price"),
//!     ColumnSpec::text("name"),
//!     ColumnSpec::new("sold", ColumnType::times("datetime64[s]")?),
//!     ColumnSpec::new("kind", ColumnType::categories()),
//! ]);
//! let mut table = Table::in_memory(&schema)?;
//! table.append(
//!     &Batch::new()
//!         .with("price", [9.5, 3.0])
//!         .with("name", ["oak", "beech"])
//!         .with("sold", vec![Some(1_700_000_000_i64), None])
//!         .with("kind", ["board", "board"]),
//! )?;
//! table.flush()?;
//! table.transaction(|table| {
//!     table.write(1, &Batch::new().with("price", [3.25]))?;
//!     table.add_column(&ColumnSpec::number::<i32>("pieces").nullable())
//! })?;
//! assert_eq!(table.column("price")?.read::<f64>(..)?, [9.5, 3.25]);
//! assert_eq!(table.column("kind")?.read_text(..)?.get(1), Some("board"));
//! assert_eq!(table.column("pieces")?.read_optional::<i32>(..)?, [None, None]);
//! # Ok::<(), coquina::Error>(())
//! ```
//!
//! Each change is a commit; [`Table::transaction`] makes several one. An error leaves the last commit. Errors are
//! [`crate::Error`]: a sentence with the values, behind the table and the column that it is about.
//!
//! Source: `docs/formats/columns.md`.

mod append;
mod append_buffer;
mod batch;
mod change_columns;
mod change_rows;
mod change_selected;
mod changes;
mod column;
mod column_arrays;
mod columns;
mod data;
mod directory;
mod encodings;
mod handle;
mod index_access;
mod index_list;
mod index_place;
mod indexes;
mod info;
mod item;
mod item_part;
mod item_type;
mod memory;
mod names;
mod opening;
mod options;
mod part;
mod query;
mod schema;
mod storage;
#[cfg(test)]
mod tests_hostile;
#[cfg(test)]
mod tests_indexes;
mod text_part;
mod texts;
mod values;

pub use batch::Batch;
pub use changes::Changes;
pub use column::Column;
pub use column_arrays::{ColumnArrays, ItemArray, RowItems, TextArrays};
pub use columns::Skipped;
pub use data::Data;
pub use directory::{
    DirectoryOptions, DirectoryStorage, NewArray, Node, TableDirectory, check_is_replaceable, put_in_place,
};
pub use encodings::{
    CategoryNodes, ColumnNodes, NewCategories, NewColumn, NewNode, NodeRole, StoredTimes, TextNodes,
    ValueNodes, column_nodes, stored_nodes, stored_times,
};
pub use handle::Table;
pub use indexes::IndexInfo;
pub use info::{ColumnInfo, TableDamage, TableInfo};
pub use item::Item;
pub use memory::MemoryStorage;
pub use options::TableOptions;
pub use schema::{ColumnSpec, ColumnType, Schema};
pub use storage::{Members, NodeKind, TableStorage};
pub use texts::Texts;
pub use values::Values;

pub use crate::query::{TimeType, TimeUnit};
