//! Makes a table in a directory, fills it, changes it, and reads it again.
//!
//! `cargo run --release -p coquina --example table [DIRECTORY]`

use std::path::{Path, PathBuf};

use coquina::Result;
use coquina::frame::Mode;
use coquina::table::{Batch, ColumnSpec, ColumnType, Schema, Table, TableOptions};

const KINDS: [&str; 3] = ["oak", "beech", "lime"];

/// What the columns are: numbers, text, dates, categories, and numbers that may be missing.
///
/// # Errors
/// None: the unit of the dates is one.
pub(crate) fn schema() -> Result<Schema> {
    Ok(Schema::new([
        ColumnSpec::number::<f64>("height"),
        ColumnSpec::text("place"),
        ColumnSpec::new("planted", ColumnType::times("datetime64[D]")?),
        ColumnSpec::new("kind", ColumnType::categories()),
        ColumnSpec::number::<i32>("visits").nullable(),
    ]))
}

/// Makes the table and appends rows, a batch at a time: they are flushed when a chunk of them has gathered.
///
/// # Errors
/// Those of the file system.
pub(crate) fn write(path: &Path) -> Result<()> {
    let options = TableOptions { title: "Trees of the town".into(), ..TableOptions::default() };
    let mut table = Table::create(path, &schema()?, &options)?;
    for start in (0..10_000_u32).step_by(1000) {
        let rows = start..start + 1000;
        let heights: Vec<f64> = rows.clone().map(|row| f64::from(row % 350) / 10.0).collect();
        let places: Vec<String> = rows.clone().map(|row| format!("street {}", row / 7)).collect();
        let planted: Vec<Option<i64>> = rows.clone().map(|row| (row % 5 > 0).then_some(row.into())).collect();
        let kinds: Vec<&str> = rows.clone().zip(KINDS.iter().cycle()).map(|(_, kind)| *kind).collect();
        let visits: Vec<Option<i32>> =
            rows.map(|row| i32::try_from(row % 4).ok().filter(|n| *n > 0)).collect();
        let batch = Batch::new().with("height", heights).with("place", places).with("planted", planted);
        table.append(&batch.with("kind", kinds).with("visits", visits))?;
    }
    table.close()
}

/// Changes some rows and columns in one commit: readers see all of it, or nothing.
///
/// # Errors
/// Those of the file system; the table is then as it was.
pub(crate) fn change(path: &Path) -> Result<()> {
    let mut table = Table::open(path, Mode::Write)?;
    table.transaction(|table| {
        table.delete(&[0, 1, 2])?;
        table.write_at(&[5, 9000], &Batch::new().with("place", ["park", "harbour"]))?;
        table.rename_column("visits", "seen")
    })?;
    table.close()
}

/// What a few rows of the file hold: only the blocks with these rows are read and decoded.
///
/// # Errors
/// `Corrupt` with the column, if a file is damaged.
pub(crate) fn read(path: &Path) -> Result<Vec<String>> {
    let table = Table::open(path, Mode::Read)?;
    let rows = [9000, 5, 0];
    let heights = table.column("height")?.read_rows::<f64>(&rows)?;
    let places = table.column("place")?.read_values_at(&rows)?;
    let kinds = table.column("kind")?.read_values_at(&rows)?;
    let mut found = vec![format!("{}: {} rows", table.title(), table.nrows())];
    for (at, height) in heights.iter().enumerate() {
        let text = |values: &coquina::table::Values<'_>| {
            values.as_texts().and_then(|texts| texts.get(at)).unwrap_or_default().to_owned()
        };
        found.push(format!("{} in {}: {height} m", text(&kinds), text(&places)));
    }
    Ok(found)
}

#[expect(clippy::print_stdout, reason = "a program that tells what it found")]
fn main() -> Result<()> {
    let path = std::env::args_os().nth(1).map_or_else(|| PathBuf::from("trees"), PathBuf::from);
    write(&path)?;
    change(&path)?;
    for line in read(&path)? {
        println!("{line}");
    }
    Ok(())
}
