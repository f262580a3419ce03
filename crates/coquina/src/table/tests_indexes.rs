//! Indexes of tables: answers are those of tables without, whatever happens to rows.

use std::path::{Path, PathBuf};

use super::{Batch, ColumnSpec, Schema, Table, TableOptions};
use crate::base::error::{Error, Result};
use crate::base::pool::Job;
use crate::frame::Mode;
use crate::index::store::IndexKind;

const ROWS: i64 = 150_000;

/// A directory that is removed in the end.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        let name = format!("coquina-indexed-{name}-{}", std::process::id());
        Self(std::env::temp_dir().join(name))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn value(row: i64) -> i64 {
    row * 7919 % 100_003
}

fn rows(range: std::ops::Range<i64>) -> Batch<'static> {
    let ids: Vec<i64> = range.clone().map(value).collect();
    let prices: Vec<Option<f64>> = range
        .clone()
        .map(|row| (row % 9 != 0).then(|| f64::from(i32::try_from(value(row) / 7).unwrap())))
        .collect();
    let names: Vec<String> = range.map(|row| format!("name {:05}", value(row) / 3)).collect();
    Batch::new().with("id", ids).with("price", prices).with("name", names)
}

fn made(path: &Path) -> Result<Table> {
    let price = ColumnSpec::number::<f64>("price").nullable();
    let schema = Schema::new([ColumnSpec::number::<i64>("id"), price, ColumnSpec::text("name")]);
    let mut table = Table::create(path, &schema, &TableOptions::default())?;
    table.append(&rows(0..ROWS))?;
    table.flush()?;
    Ok(table)
}

const QUESTIONS: [&str; 6] = [
    "id == 7919",
    "id >= 100 and id < 103",
    "price == 77 or id == 3",
    "price is null and id < 50",
    "name == 'name 00123'",
    "id == -5",
];

/// Compares with a scan; returns how many conditions were answered by an index.
fn check(table: &Table) -> Result<usize> {
    let job = Job::default();
    let mut used = 0;
    for question in QUESTIONS {
        let scanned = table.select()?.with_access(None).filter(question)?.numbers(&job)?;
        let query = table.query(question)?;
        assert_eq!(query.numbers(&job)?, scanned, "{question}: {}", query.explain(&job)?);
        assert_eq!(query.count(&job)?, scanned.len() as u64, "{question}");
        used += usize::from(query.explain(&job)?.starts_with("index"));
    }
    Ok(used)
}

#[test]
fn queries_with_indexes_find_what_a_scan_finds() -> Result<()> {
    for kind in IndexKind::ALL {
        let place = Place::new(kind.name());
        let mut table = made(&place.0)?;
        for column in ["id", "price", "name"] {
            table.create_index(column, kind)?;
        }
        let is_exact = kind == IndexKind::Full;
        assert!(check(&table)? >= if is_exact { 5 } else { 0 }, "{kind:?}");
        table.append(&rows(ROWS..ROWS + 5000))?;
        table.flush()?;
        check(&table)?;
        table.write(70_000, &Batch::new().with("id", [7919_i64, -5]))?;
        table.write_at(&[3, 140_000], &Batch::new().with("price", vec![None, Some(77.0)]))?;
        check(&table)?;
        table.close()?;
        let mut table = Table::open(&place.0, Mode::Write)?;
        assert!(table.indexes()?.iter().all(|one| one.reason.is_empty() && one.rows >= 80_000));
        check(&table)?;
        table.delete(&[5, 6, 100_000])?;
        check(&table)?;
        let failed = table.transaction(|table| {
            table.write(0, &Batch::new().with("id", [-5_i64]))?;
            assert_eq!(table.query("id == -5")?.count(&Job::default())?, 2);
            Err::<(), _>(Error::invalid("enough"))
        });
        assert!(failed.is_err());
        check(&table)?;
        table.refresh_indexes()?;
        assert!(table.indexes()?.iter().all(|one| one.rows == table.nrows()));
        assert!(check(&table)? >= if is_exact { 5 } else { 0 });
        table.drop_index("price")?;
        assert_eq!(table.indexes()?.len(), 2);
        table.close()?;
        let table = Table::open(&place.0, Mode::Read)?;
        assert!(table.indexes()?.iter().all(|one| one.rows == table.nrows()));
        check(&table)?;
    }
    Ok(())
}

#[test]
fn an_index_of_values_that_others_wrote_is_compared() -> Result<()> {
    let place = Place::new("others");
    let mut table = made(&place.0)?;
    table.create_index("id", IndexKind::Full)?;
    table.close()?;
    let index = place.0.join("index");
    let aside = place.0.with_extension("aside");
    std::fs::rename(&index, &aside).map_err(Error::from)?;
    let mut table = Table::open(&place.0, Mode::Write)?;
    table.write(9, &Batch::new().with("id", [-5_i64]))?;
    table.close()?;
    std::fs::rename(&aside, &index).map_err(Error::from)?;
    let table = Table::open(&place.0, Mode::Read)?;
    assert_eq!(table.query("id == -5")?.numbers(&Job::default())?, [9]);
    check(&table)?;
    Ok(())
}

#[test]
fn an_index_that_is_damaged_is_not_used() -> Result<()> {
    let place = Place::new("damaged");
    let mut table = made(&place.0)?;
    table.create_index("id", IndexKind::Full)?;
    table.close()?;
    for file in std::fs::read_dir(place.0.join("index")).map_err(Error::from)? {
        let path = file.map_err(Error::from)?.path();
        if path.extension().is_some_and(|one| one == "b2nd") {
            let mut bytes = std::fs::read(&path).map_err(Error::from)?;
            bytes.truncate(40);
            std::fs::write(&path, bytes).map_err(Error::from)?;
        }
    }
    let table = Table::open(&place.0, Mode::Read)?;
    assert!(table.indexes()?[0].reason.starts_with("damaged"));
    assert_eq!(check(&table)?, 0);
    let mut table = Table::in_memory(&Schema::new([ColumnSpec::number::<i64>("id")]))?;
    assert!(table.create_index("id", IndexKind::Full).is_err());
    Ok(())
}
