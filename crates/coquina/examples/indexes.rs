//! Indexes of a table in a directory: made, kept right when rows change, and asked.
//!
//! `cargo run --release -p coquina --example indexes DIRECTORY COMMAND...`, where a command is `make`, `append`, `change`
//! or a condition, such as `"id == 7"`: the indexes that it uses are printed, and the rows.

use std::path::Path;

use coquina::frame::Mode;
use coquina::index::store::IndexKind;
use coquina::table::{Batch, ColumnSpec, Schema, Table, TableOptions};
use coquina::{Job, Result};

/// Rows that `make` and `append` write.
const ROWS: i64 = 100_000;

fn rows(first: i64) -> Batch<'static> {
    let ids: Vec<i64> = (first..first + ROWS).map(|row| row * 7919 % 1_000_003).collect();
    let names: Vec<String> = ids.iter().map(|id| format!("name {:05}", id / 20)).collect();
    Batch::new().with("id", ids).with("name", names)
}

/// Makes a table with an index of each column.
///
/// # Errors
/// Those of the file system.
pub(crate) fn make(path: &Path) -> Result<()> {
    let schema = Schema::new([ColumnSpec::number::<i64>("id"), ColumnSpec::text("name")]);
    let mut table = Table::create(path, &schema, &TableOptions::default())?;
    table.append(&rows(0))?;
    table.create_index("id", IndexKind::Full)?;
    table.create_index("name", IndexKind::Full)?;
    table.close()
}

/// Appends rows: closing the table indexes them, since they are many.
///
/// # Errors
/// Those of the file system.
pub(crate) fn append(path: &Path) -> Result<()> {
    let mut table = Table::open(path, Mode::Write)?;
    let first = i64::try_from(table.nrows()).unwrap_or(i64::MAX);
    table.append(&rows(first))?;
    table.close()
}

/// Changes some rows: their indexes know nothing of them until they are refreshed.
///
/// # Errors
/// Those of the file system.
pub(crate) fn change(path: &Path) -> Result<()> {
    let mut table = Table::open(path, Mode::Write)?;
    let batch = Batch::new().with("id", [7_i64, 7, -1]).with("name", ["seven", "seven", "none"]);
    table.write_at(&[5, 70_000, 99_999], &batch)?;
    table.close()
}

/// The indexes that a condition uses, and the numbers of its rows.
///
/// # Errors
/// Those of the file system.
pub(crate) fn ask(path: &Path, condition: &str) -> Result<(String, Vec<i64>)> {
    let table = Table::open(path, Mode::Read)?;
    let job = Job::default();
    let rows = table.query(condition)?;
    Ok((rows.access(&job)?.indexes.join(","), rows.numbers(&job)?))
}

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let Some(path) = arguments.next() else { return Ok(()) };
    let path = Path::new(&path);
    for command in arguments {
        match command.as_str() {
            "make" => make(path)?,
            "append" => append(path)?,
            "change" => change(path)?,
            condition => {
                let (indexes, rows) = ask(path, condition)?;
                #[expect(clippy::print_stdout, reason = "it is a program")]
                {
                    println!("{indexes} {rows:?}");
                }
            }
        }
    }
    Ok(())
}
