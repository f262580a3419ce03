//! Where the table of a case stands: columns in memory, or a table of the engine in memory or in a directory.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use coquina::frame::Mode;
use coquina::query::{QueryColumn, Select};
use coquina::table::{
    Batch, ColumnSpec, ColumnType, MemoryStorage, Schema, Table, TableOptions, Texts, Values,
};

use crate::files;
use crate::runs::is_change;
use crate::tables::{columns, item, text_of, time_type, type_of};
use crate::words::{Cell, Kind};

/// Where tables can stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Home {
    /// Columns alone: nothing is changed there.
    Columns,
    Memory,
    Directory,
}

impl Home {
    pub(crate) const ALL: [Self; 3] = [Self::Columns, Self::Memory, Self::Directory];

    /// Whether it can have a table.
    pub(crate) fn takes(self, case: &files::Case) -> bool {
        if self == Self::Columns {
            return !case.steps.iter().any(is_change);
        }
        let table = &case.table;
        let is_column = |column: &files::Column| {
            let is_time = matches!(column.kind.base.as_str(), "time32" | "time64");
            !is_time && column.shape.is_empty() && !column.path.contains('/')
        };
        let is_listed = table.homes.is_empty() || table.homes.iter().any(|home| home == "directory");
        is_listed && table.columns.iter().all(is_column)
    }
}

/// A directory that is removed in the end.
pub(crate) struct Folder(PathBuf, std::cell::Cell<usize>);

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("coquina-queries-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Self(path, std::cell::Cell::new(0))
    }

    /// A path for one more table.
    pub(crate) fn next_path(&self) -> PathBuf {
        let number = self.1.get();
        self.1.set(number + 1);
        self.0.join(format!("{number}.table"))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A table as it is asked.
pub(crate) enum Subject {
    Columns(Vec<QueryColumn>),
    Table(Box<Table>),
}

impl Subject {
    /// A table of a case in a home; a directory is made at `path`.
    pub(crate) fn new(table: &files::Table, home: Home, path: &Path) -> Self {
        if home == Home::Columns {
            return Self::Columns(columns(table));
        }
        let schema = Schema::new(table.columns.iter().map(spec));
        let options = TableOptions {
            chunk_rows: Some(table.chunk),
            block_rows: Some(table.chunk),
            ..TableOptions::default()
        };
        let mut made = match home {
            Home::Columns | Home::Memory => {
                Table::create_in(Box::new(MemoryStorage::new()), &schema, &options)
            }
            Home::Directory => Table::create(path, &schema, &options),
        }
        .unwrap();
        let mut batch = Batch::new();
        for (at, column) in table.columns.iter().enumerate() {
            let cells: Vec<&Cell> = table.rows.iter().map(|row| &row[at]).collect();
            batch.set(&column.path, values(column, &cells));
        }
        made.append(&batch).unwrap();
        made.flush().unwrap();
        Self::Table(Box::new(made))
    }

    /// The same table, closed and opened again.
    pub(crate) fn opened_again(self, path: &Path) -> Self {
        match self {
            Self::Table(table) if path.exists() => {
                table.close().unwrap();
                Self::Table(Box::new(Table::open(path, Mode::Read).unwrap()))
            }
            other => other,
        }
    }

    /// All rows.
    pub(crate) fn select(&self) -> Select {
        match self {
            Self::Columns(columns) => Select::new(columns.clone()),
            Self::Table(table) => table.select().unwrap(),
        }
    }

    pub(crate) fn rows(&self) -> u64 {
        match self {
            Self::Columns(columns) => columns.iter().map(QueryColumn::rows).min().unwrap(),
            Self::Table(table) => table.nrows(),
        }
    }
}

fn spec(column: &files::Column) -> ColumnSpec {
    let made = ColumnSpec::new(&column.path, column_type(column));
    if column.is_nullable { made.nullable() } else { made }
}

fn column_type(column: &files::Column) -> ColumnType {
    let kind = &column.kind;
    let plain = match kind.base.as_str() {
        "text" | "chars" => ColumnType::Text,
        "bytes" => ColumnType::Bytes(kind.detail.parse().unwrap()),
        "f2" => ColumnType::Half,
        "time" | "span" => ColumnType::Times { ty: time_type(kind), zone: column.zone.clone() },
        base => ColumnType::Number(type_of(base).unwrap()),
    };
    match (&column.categories, &column.members, plain) {
        (Some(categories), _, plain) => ColumnType::Categories {
            of: Box::new(plain),
            values: Arc::new(plain_values(kind, &categories.iter().collect::<Vec<_>>())),
            ordered: column.is_ordered,
        },
        (None, Some(members), ColumnType::Number(number)) => {
            let members = members.iter().map(|(name, value)| (name.clone(), (*value).into())).collect();
            ColumnType::Enum { number, members }
        }
        (_, _, plain) => plain,
    }
}

/// Cells as values of a column.
pub(crate) fn values(column: &files::Column, cells: &[&Cell]) -> Values<'static> {
    let plain = plain_values(&column.kind, cells);
    let missing: Vec<bool> = cells.iter().map(|cell| **cell == Cell::Null).collect();
    if !missing.contains(&true) {
        return plain;
    }
    Values::with_missing(plain.into_data(), missing).unwrap()
}

fn plain_values(kind: &Kind, cells: &[&Cell]) -> Values<'static> {
    if matches!(kind.base.as_str(), "text" | "chars") {
        let texts = cells.iter().map(|cell| if **cell == Cell::Null { String::new() } else { text_of(cell) });
        return texts.collect::<Vec<_>>().iter().map(String::as_str).collect::<Texts>().into();
    }
    let items: Vec<Vec<u8>> = cells.iter().map(|cell| item(cell, kind)).collect();
    macro_rules! numbers {
        ($number:ty) => {
            items
                .iter()
                .map(|item| <$number>::from_le_bytes(item[..].try_into().unwrap()))
                .collect::<Vec<_>>()
        };
    }
    macro_rules! parts {
        ($number:ty) => {
            items
                .iter()
                .map(|item| {
                    let (real, imag) = item.split_at(item.len() / 2);
                    [real, imag].map(|part| <$number>::from_le_bytes(part.try_into().unwrap()))
                })
                .collect::<Vec<_>>()
        };
    }
    match kind.base.as_str() {
        "bool" => items.iter().map(|item| item[0] != 0).collect::<Vec<_>>().into(),
        "bytes" => Values::byte_strings(kind.detail.parse().unwrap(), items.concat()).unwrap(),
        "i1" => numbers!(i8).into(),
        "i2" => numbers!(i16).into(),
        "i4" => numbers!(i32).into(),
        "i8" | "time" | "span" => numbers!(i64).into(),
        "u1" => numbers!(u8).into(),
        "u2" => numbers!(u16).into(),
        "u4" => numbers!(u32).into(),
        "u8" => numbers!(u64).into(),
        "f2" => Values::half(numbers!(u16)),
        "f4" => numbers!(f32).into(),
        "f8" => numbers!(f64).into(),
        "c8" => parts!(f32).into(),
        "c16" => parts!(f64).into(),
        other => panic!("{other:?}: no values"),
    }
}
