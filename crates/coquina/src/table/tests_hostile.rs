//! Tables whose storage was tampered with: attributes that do not fit the arrays, arrays of unequal lengths, items of any
//! bits, parts that are not there. They give errors, or the rows that all columns have; never a panic.

use std::sync::Arc;

use coquina_kernels::Type;

use super::*;
use crate::array::Values as Items;
use crate::base::error::ErrorKind;
use crate::base::json::{Json, JsonObject};
use crate::base::pool::Job;
use crate::base::testing::random;
use crate::table::part::RowChoice;

const ROWS: u64 = 23;

fn schema() -> Schema {
    let members: Members = vec![("a".into(), 1), ("b".into(), 2)];
    let dates = ColumnType::times("datetime64[s]").unwrap();
    let date_list = ColumnType::Categories {
        of: Box::new(dates.clone()),
        values: Arc::new(vec![1_i64, 2].into()),
        ordered: false,
    };
    Schema::new([
        ColumnSpec::number::<f64>("numbers"),
        ColumnSpec::new("dates", dates),
        ColumnSpec::new("bytes", ColumnType::Bytes(3)),
        ColumnSpec::new("names", ColumnType::Enum { number: Type::U16, members }),
        ColumnSpec::number::<i32>("integers").nullable(),
        ColumnSpec::number::<f32>("floats").nullable(),
        ColumnSpec::text("texts"),
        ColumnSpec::text("some texts").nullable(),
        ColumnSpec::new("categories", ColumnType::categories()),
        ColumnSpec::new("date categories", date_list),
    ])
}

/// Rows of a table; the same ones for the same number.
fn batch(table: &Table, rows: u64) -> Batch<'static> {
    let mut batch = Batch::new();
    let numbers = || 0..i32::try_from(rows).unwrap();
    for spec in table.schema().columns() {
        let values: Values<'static> = match (spec.ty(), spec.is_nullable()) {
            (ColumnType::Number(Type::F64), _) => numbers().map(f64::from).collect::<Vec<_>>().into(),
            (ColumnType::Number(Type::F32), _) => vec![Some(0.5_f32); numbers().len()].into(),
            (ColumnType::Number(Type::I32), _) => {
                numbers().map(|n| (n % 3 > 0).then_some(n)).collect::<Vec<_>>().into()
            }
            (ColumnType::Bytes(_), _) => Values::byte_strings(3, b"abc".repeat(numbers().len())).unwrap(),
            (ColumnType::Enum { .. }, _) => vec!["b"; numbers().len()].into(),
            (ColumnType::Text | ColumnType::Categories { .. }, _) if spec.name() != "date categories" => {
                numbers().map(|n| n.to_string()).collect::<Vec<_>>().into()
            }
            _ => numbers().map(i64::from).collect::<Vec<_>>().into(),
        };
        batch.set(spec.name(), values);
    }
    batch
}

fn table() -> Table {
    let options = TableOptions { chunk_rows: Some(8), block_rows: Some(4), ..TableOptions::default() };
    let mut table = Table::create_in(Box::new(MemoryStorage::new()), &schema(), &options).unwrap();
    table.append(&batch(&table, ROWS)).unwrap();
    table.flush().unwrap();
    table
}

/// All paths of a storage.
fn paths(storage: &dyn TableStorage) -> Vec<String> {
    let mut paths = storage.names("");
    for at in 0..paths.len() {
        let below = storage.names(&paths[at]);
        paths.extend(below.iter().map(|name| format!("{}/{name}", paths[at])).collect::<Vec<_>>());
    }
    paths
}

const ATTRIBUTES: [&str; 10] = [
    "encoding-type",
    "encoding-version",
    "form",
    "dtype",
    "zone",
    "ordered",
    "length",
    "column-order",
    "_index",
    "coquina",
];
const VALUES: [&str; 26] = [
    "null",
    "true",
    "-1",
    "1e400",
    "[]",
    "{}",
    "\"\"",
    "\"categorical\"",
    "\"array\"",
    "\"awkward-array\"",
    "\"nullable-integer\"",
    "\"nullable-boolean\"",
    "\"string-array\"",
    "\"dataframe\"",
    "\"datetime64[ns]\"",
    "\"timedelta64[0s]\"",
    "\"datetime64[\"",
    "\"Mars/Olympus\"",
    "\"a zone\"",
    "[\"numbers\", \"numbers\", \"/texts\", 7]",
    "[\"texts\", \"texts/node1-data\", \"\", \"nowhere\"]",
    "\"texts\"",
    "\"{\\\"class\\\": \\\"NumpyArray\\\"}\"",
    "\"{\\\"class\\\": \\\"NumpyArray\\\", \\\"form_key\\\": \\\"node1\\\", \\\"primitive\\\": \\\"uint8\\\"}\"",
    "\"{\\\"chunk_rows\\\": 0, \\\"block_rows\\\": 1, \\\"level\\\": 99, \\\"filters\\\": [[1]]}\"",
    "[[\"numbers\"]]",
];

/// Changes something in a storage that no table would; says what.
fn tamper(storage: &mut dyn TableStorage, random: &mut dyn FnMut(u64) -> u64) -> String {
    let mut paths = paths(storage);
    paths.push(String::new());
    let path = paths[pick(paths.len(), random)].clone();
    storage.begin().unwrap();
    let what = match (random(6), storage.kind(&path)) {
        (0, _) if !path.is_empty() => {
            storage.remove(&path).unwrap();
            "removed".to_owned()
        }
        (1, _) if !path.is_empty() => {
            let other = paths[pick(paths.len(), random)].clone();
            let done = storage.rename(&path, &format!("{other}x"));
            format!("moved to {other}x: {}", done.is_ok())
        }
        (2 | 3, Some(NodeKind::Array)) => {
            let array = storage.array(&path).unwrap();
            let len = random(2 * ROWS);
            array.resize(&[len], &Job::inline()).unwrap();
            format!("has {len} items")
        }
        (4, Some(NodeKind::Array)) => {
            let array = storage.array(&path).unwrap();
            let len = array.grid().shape()[0];
            let at = random(len.max(1));
            let bytes: Vec<u8> = (0..array.typesize()).map(|_| u8::try_from(random(256)).unwrap()).collect();
            let window = crate::array::Window { offset: 0, bytes: bytes.len() };
            let one = RowChoice::Range { start: at, end: (at + 1).min(len) };
            let _ = array.write(&one.selection(), window, Items::Uniform(&bytes), &Job::inline());
            format!("item {at} is {bytes:?}")
        }
        _ => {
            let (name, value) =
                (ATTRIBUTES[pick(ATTRIBUTES.len(), random)], VALUES[pick(VALUES.len(), random)]);
            let mut attributes = JsonObject::default();
            attributes.set(name.into(), Json::read(value.as_bytes()).unwrap());
            storage.set_attributes(&path, attributes).unwrap();
            format!("{name} is {value}")
        }
    };
    storage.commit().unwrap();
    format!("{path:?} {what}")
}

fn pick(len: usize, random: &mut dyn FnMut(u64) -> u64) -> usize {
    usize::try_from(random(len as u64)).unwrap()
}

/// Asks a table for all that can be asked for.
fn read_all(table: &Table, place: &str) {
    let _ = (table.info(), table.verify(), table.title(), table.schema());
    let rows = table.nrows();
    for name in table.schema().names() {
        let column = table.column(name).unwrap();
        for values in [column.read_values(..), column.read_values(rows / 2..)].into_iter().flatten() {
            assert!([rows, rows - rows / 2].contains(&(values.len() as u64)), "{place}: {name}");
        }
        if rows > 0 {
            let _ = column.read_values_at(&[rows - 1, 0, rows / 2]);
        }
        let _ = (
            column.missing(..),
            column.read_text(..),
            column.codes(..),
            column.query_column().map(|one| one.rows()),
        );
    }
}

#[test]
fn tampered_tables_give_errors_or_the_rows_that_all_columns_have() {
    let mut opened = 0;
    for seed in 0..600 {
        let mut random = random(seed);
        let mut table = table();
        let mut place = format!("seed {seed}");
        for _ in 0..=random(3) {
            place = format!("{place}, {}", tamper(&mut *table.storage, &mut random));
        }
        if table.see().is_err() {
            continue;
        }
        opened += 1;
        assert!(table.nrows() <= 2 * ROWS, "{place}");
        read_all(&table, &place);
        // What cannot be changed says so; after each change all columns have as many rows.
        for step in 0..7 {
            let rows = table.nrows();
            let some = batch(&table, rows.min(3));
            let done = match step {
                0 => table.write(rows.saturating_sub(3), &some),
                1 => table.append(&batch(&table, 11)).and_then(|()| table.flush()),
                2 => table.write_at(&[0, 1, 2][..usize::try_from(rows.min(3)).unwrap()], &some),
                3 => table.delete(&[0, rows / 2][..usize::try_from(rows.min(2)).unwrap()]),
                4 => table.resize(rows + 5),
                5 => table.add_column(&ColumnSpec::text("new")),
                _ => table.rename_column("numbers", "renamed"),
            };
            let place = format!("{place}, step {step}: {done:?}");
            if done.is_ok() && table.skipped().is_empty() {
                let lens: Vec<u64> = table.columns.stored.iter().map(|one| one.rows().unwrap()).collect();
                assert!(lens.iter().all(|&len| len == table.nrows()), "{place}: {lens:?}");
            }
            read_all(&table, &place);
        }
    }
    assert!(opened > 100, "{opened} of 600");
}

#[test]
fn what_a_killed_writer_left_is_not_shown_and_goes_with_the_next_rows() {
    for path in ["numbers", "integers/mask", "texts/node0-offsets", "texts/node1-data", "categories/codes"] {
        let mut table = table();
        let before: Vec<_> =
            table.schema().names().map(|name| table.column(name).unwrap().read_values(..).unwrap()).collect();
        table.storage.begin().unwrap();
        let array = table.storage.array(path).unwrap();
        let size = array.typesize();
        array.append(0, 9, Items::Bytes(&vec![1; 9 * size]), &Job::inline()).unwrap();
        table.storage.commit().unwrap();
        table.see().unwrap();
        assert_eq!(table.nrows(), ROWS, "{path}");
        table.append(&batch(&table, 2)).unwrap();
        table.flush().unwrap();
        assert_eq!(table.nrows(), ROWS + 2, "{path}");
        for (name, before) in table.schema().names().zip(before) {
            let column = table.column(name).unwrap();
            assert_eq!(column.read_values(..ROWS).unwrap(), before, "{path}: {name}");
            assert_eq!(
                column.read_values(ROWS..).unwrap(),
                column.read_values(..2).unwrap(),
                "{path}: {name}"
            );
        }
    }
}

#[test]
fn a_column_that_is_not_understood_is_skipped_with_the_reason() {
    let mut table = table();
    table.storage.begin().unwrap();
    table
        .storage
        .set_attributes("texts", {
            let mut one = JsonObject::default();
            one.set("form".into(), "{}".into());
            one
        })
        .unwrap();
    table.storage.commit().unwrap();
    table.see().unwrap();
    let [skipped] = table.skipped() else { panic!("one is skipped") };
    assert_eq!(skipped.name, "texts");
    assert!(skipped.reason.contains("neither numbers nor text"), "{}", skipped.reason);
    assert_eq!(table.column("texts").err().map(|error| error.kind()), Some(ErrorKind::Unsupported));
    assert_eq!(table.nrows(), ROWS);
    let refused = [table.append(&batch(&table, 1)), table.delete(&[0]), table.resize(3)];
    for error in refused.map(Result::unwrap_err) {
        assert!(error.to_string().contains("column \"texts\" is not understood"), "{error}");
    }
    table.write(0, &Batch::new().with("numbers", [7.0])).unwrap();
    table.rename_column("texts", "odd").unwrap();
    table.drop_column("odd").unwrap();
    table.append(&batch(&table, 1)).unwrap();
    table.flush().unwrap();
    assert_eq!(table.column("numbers").unwrap().read::<f64>(..2).unwrap(), [7.0, 1.0]);
}
