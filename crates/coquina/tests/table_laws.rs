//! Laws of tables: what was appended reads back, whatever the kind of column, the parts and the chunks; any sequence of
//! changes leaves what a plain model of vectors has; an error leaves the last commit.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod tables;

use coquina::table::{Batch, Schema, Table, Values};
use coquina::{Error, ErrorKind};
use proptest::collection::vec;
use proptest::prelude::*;
use tables::{Cell, Kind, Model, options, values};

#[test]
fn every_kind_of_column_reads_back_what_was_appended_in_any_parts() {
    for &kind in Kind::ALL {
        for (chunk_rows, block_rows) in [(4, 2), (7, 16), (64, 16)] {
            for buffer_bytes in [0, 50, 1 << 20] {
                let schema = Schema::new([kind.spec("a")]);
                let mut table =
                    Table::create_in(tables::memory(), &schema, &options(chunk_rows, block_rows)).unwrap();
                table.set_buffer_bytes(buffer_bytes);
                let cells: Vec<Cell> = (0..50).map(|n| kind.cell(n * 7 % 11 + n)).collect();
                let mut start = 0;
                for len in [1, 0, 3, 17, 2, 27] {
                    let part = &cells[start..start + len];
                    table.append(&Batch::new().with("a", values(kind, part))).unwrap();
                    start += len;
                }
                table.flush().unwrap();
                let place = format!("{kind:?} {chunk_rows} {buffer_bytes}");
                assert_eq!(table.nrows(), 50, "{place}");
                let column = table.column("a").unwrap();
                assert_eq!(column.read_values(..).unwrap(), values(kind, &cells), "{place}");
                assert_eq!(column.read_values(13..29).unwrap(), values(kind, &cells[13..29]), "{place}");
                assert_eq!(column.read_values(50..).unwrap().len(), 0, "{place}");
                let rows = [49, 0, 7, 7, 30, 12];
                let wanted: Vec<Cell> = rows.iter().map(|&row: &usize| cells[row].clone()).collect();
                let rows = rows.map(|row| row as u64);
                assert_eq!(column.read_values_at(&rows).unwrap(), values(kind, &wanted), "{place}");
                let missing: Vec<bool> = cells.iter().map(Option::is_none).collect();
                assert_eq!(column.missing(..).unwrap(), missing, "{place}");
                assert_eq!(table.verify().unwrap(), [], "{place}");
            }
        }
    }
}

/// A change of a table.
#[derive(Clone, Debug)]
enum Step {
    Append(usize, usize),
    Write(usize, usize, usize),
    WriteAt(Vec<usize>, usize),
    Delete(Vec<usize>),
    Resize(usize),
    Add(Kind, usize),
    AddWith(Kind, usize),
    Drop(usize),
    Rename(usize),
    Compact,
    Failing(Box<Step>),
}

fn simple_steps() -> impl Strategy<Value = Step> {
    let kind = || (0..Kind::ALL.len()).prop_map(|at| Kind::ALL[at]);
    prop_oneof![
        6 => (0_usize..40, 0_usize..100).prop_map(|(rows, seed)| Step::Append(rows, seed)),
        3 => (0_usize..100, 0_usize..30, 0_usize..100).prop_map(|(at, len, seed)| Step::Write(at, len, seed)),
        3 => (vec(0_usize..1000, 0..9), 0_usize..100).prop_map(|(rows, seed)| Step::WriteAt(rows, seed)),
        2 => vec(0_usize..1000, 0..12).prop_map(Step::Delete),
        1 => (0_usize..60).prop_map(Step::Resize),
        1 => (kind(), 0_usize..100).prop_map(|(kind, seed)| Step::Add(kind, seed)),
        1 => (kind(), 0_usize..100).prop_map(|(kind, seed)| Step::AddWith(kind, seed)),
        1 => (0_usize..9).prop_map(Step::Drop),
        1 => (0_usize..9).prop_map(Step::Rename),
        1 => Just(Step::Compact),
    ]
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let failing = simple_steps().prop_map(|step| Step::Failing(Box::new(step)));
    vec(prop_oneof![6 => simple_steps(), 1 => failing], 1..14)
}

fn batch(model: &Model, rows: usize, seed: usize) -> Batch<'static> {
    let mut batch = Batch::new();
    for column in &model.columns {
        batch.set(&column.name, values(column.kind, &column.kind.cells(rows, seed)));
    }
    batch
}

/// Makes a change of a table and of its model.
fn take(step: &Step, table: &mut Table, model: &mut Model) -> Result<(), Error> {
    let count = model.rows();
    match step {
        Step::Append(rows, seed) => {
            table.append(&batch(model, *rows, *seed))?;
            model.append(*rows, *seed);
        }
        Step::Write(at, len, seed) => {
            table.flush()?;
            let start = at % (count + 1);
            let len = (*len).min(count - start);
            table.write(start as u64, &batch(model, len, *seed))?;
            let rows: Vec<usize> = (start..start + len).collect();
            model.write_at(&rows, *seed);
        }
        Step::WriteAt(rows, seed) => {
            let rows: Vec<usize> = rows.iter().filter(|_| count > 0).map(|row| row % count).collect();
            let numbers: Vec<u64> = rows.iter().map(|&row| row as u64).collect();
            table.write_at(&numbers, &batch(model, rows.len(), *seed))?;
            model.write_at(&rows, *seed);
        }
        Step::Delete(rows) => {
            let rows: Vec<usize> = rows.iter().filter(|_| count > 0).map(|row| row % count).collect();
            table.delete(&rows.iter().map(|&row| row as u64).collect::<Vec<_>>())?;
            model.delete(&rows);
        }
        Step::Resize(rows) => {
            table.resize(*rows as u64)?;
            model.resize(*rows);
        }
        Step::Add(kind, seed) => {
            let name = model.new_name();
            let default = kind.cell(*seed);
            let spec = kind.spec(&name).with_default(values(*kind, std::slice::from_ref(&default)))?;
            table.add_column(&spec)?;
            model.add(&name, *kind, vec![default; count]);
        }
        Step::AddWith(kind, seed) => {
            let name = model.new_name();
            let cells = kind.cells(count, *seed);
            table.add_column_with(&kind.spec(&name), values(*kind, &cells))?;
            model.add(&name, *kind, cells);
        }
        Step::Drop(at) if model.columns.len() > 1 => {
            let at = at % model.columns.len();
            table.drop_column(&model.columns[at].name)?;
            model.columns.remove(at);
        }
        Step::Rename(at) => {
            let (at, name) = (at % model.columns.len(), model.new_name());
            table.rename_column(&model.columns[at].name, &name)?;
            model.columns[at].name = name;
        }
        Step::Compact => table.compact()?,
        Step::Drop(_) => {}
        Step::Failing(step) => {
            table.flush()?;
            let mut other = model.clone();
            let failed = table.transaction(|table| {
                take(step, table, &mut other)?;
                Err::<(), _>(Error::invalid("on purpose"))
            });
            assert!(failed.is_err_and(|error| error.to_string().contains("on purpose")));
        }
    }
    Ok(())
}

fn assert_same(table: &Table, model: &Model) {
    assert_eq!(table.nrows(), model.rows() as u64);
    let names: Vec<&str> = model.columns.iter().map(|column| column.name.as_str()).collect();
    assert_eq!(table.schema().names().collect::<Vec<_>>(), names);
    for column in &model.columns {
        let found = table.column(&column.name).unwrap().read_values(..).unwrap();
        assert_eq!(found, values(column.kind, &column.cells), "{} {:?}", column.name, column.kind);
    }
    assert_eq!(table.verify().unwrap(), []);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(160))]

    #[test]
    fn any_changes_leave_what_a_plain_model_has(
        kinds in vec(0..Kind::ALL.len(), 1..4),
        chunk_rows in 1_u64..40,
        block_rows in 1_u64..20,
        buffer_bytes in 0_usize..800,
        steps in steps(),
    ) {
        let mut model = Model::default();
        let kinds: Vec<Kind> = kinds.into_iter().map(|at| Kind::ALL[at]).collect();
        for kind in &kinds {
            let name = model.new_name();
            model.add(&name, *kind, Vec::new());
        }
        let schema = Schema::new(model.columns.iter().map(|column| column.kind.spec(&column.name)));
        let options = options(chunk_rows, block_rows);
        let mut table = Table::create_in(tables::memory(), &schema, &options).unwrap();
        table.set_buffer_bytes(buffer_bytes);
        for step in &steps {
            take(step, &mut table, &mut model).unwrap();
            table.flush().unwrap();
            assert_same(&table, &model);
        }
    }
}

#[test]
fn a_change_that_does_not_fit_leaves_the_table_as_it_was() {
    let schema = Schema::new([Kind::F64.spec("a"), Kind::Text.spec("b"), Kind::Ordered.spec("c")]);
    let mut table = Table::create_in(tables::memory(), &schema, &options(8, 4)).unwrap();
    let good = |rows| {
        let part = |kind: Kind| values(kind, &kind.cells(rows, 1));
        Batch::new().with("a", part(Kind::F64)).with("b", part(Kind::Text)).with("c", part(Kind::Ordered))
    };
    table.append(&good(20)).unwrap();
    table.flush().unwrap();
    let shown = |table: &Table| {
        let read = |name| table.column(name).unwrap().read_values(..).unwrap();
        (table.nrows(), read("a"), read("b"), read("c"))
    };
    let before = shown(&table);
    let wrong: [(Batch<'_>, &str); 5] = [
        (good(3).with("a", [1_i64, 2, 3]), "column \"a\": takes float64, not int64"),
        (good(3).with("b", vec![Some("x"), None, Some("y")]), "column \"b\": value 1 is missing"),
        (good(3).with("c", ["low", "unheard of", "low"]), "\"unheard of\" is none of its ordered categories"),
        (good(3).with("d", [1.0]), "there is no column \"d\""),
        (good(3).with("a", [1.0]), "columns of unequal lengths"),
    ];
    for (batch, complaint) in &wrong {
        let kinds: Vec<Error> =
            [table.append(batch), table.write(2, batch), table.write_at(&[1, 0, 1], batch)]
                .into_iter()
                .map(Result::unwrap_err)
                .collect();
        for error in kinds {
            assert_eq!(error.kind(), ErrorKind::Invalid);
            assert!(error.to_string().contains(complaint), "{error} is not about {complaint}");
        }
    }
    let short = Batch::new().with("a", [1.0]);
    assert!(table.append(&short).unwrap_err().to_string().contains("no values for column \"b\""));
    let far = [table.write(18, &good(3)), table.write_at(&[20, 1, 2], &good(3)), table.delete(&[3, 20])];
    far.into_iter().for_each(|done| assert_eq!(done.unwrap_err().kind(), ErrorKind::OutOfBounds));
    for name in ["", ".", "_index", "x/y", "a"] {
        assert!(table.add_column(&Kind::F64.spec(name)).is_err(), "{name}");
        assert!(table.rename_column("b", name).is_err(), "{name}");
    }
    assert!(table.add_column_with(&Kind::F64.spec("d"), vec![1.0]).is_err());
    assert!(table.drop_column("d").is_err() && table.rename_column("d", "e").is_err());
    table.flush().unwrap();
    assert_eq!(shown(&table), before);
    assert_eq!(table.schema().names().collect::<Vec<_>>(), ["a", "b", "c"]);
}

#[test]
fn a_part_of_a_transaction_that_fails_undoes_all_of_it_even_if_nobody_looks() {
    let schema = Schema::new([Kind::I64.spec("a")]);
    let mut table = Table::in_memory(&schema).unwrap();
    let rows = |numbers: &[i64]| Batch::new().with("a", numbers.to_vec());
    table.append(&rows(&[1, 2])).unwrap();
    let done = table.transaction(|table| {
        table.append(&rows(&[3]))?;
        let inner = table.transaction(|table| {
            table.append(&rows(&[4]))?;
            table.flush()?;
            Err::<(), _>(Error::invalid("inside"))
        });
        assert!(inner.is_err());
        Ok(())
    });
    assert!(done.is_err());
    assert_eq!(table.column("a").unwrap().read::<i64>(..).unwrap(), [1, 2]);
    // A panic undoes as an error does.
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let _ = table.transaction(|table| {
            table.delete(&[0])?;
            table.add_column(&Kind::Text.spec("b"))?;
            if table.nrows() == 1 {
                panic!("in the middle")
            }
            Ok(())
        });
    }));
    assert!(panicked.is_err());
    table.append(&rows(&[5])).unwrap();
    table.flush().unwrap();
    assert_eq!(table.column("a").unwrap().read::<i64>(..).unwrap(), [1, 2, 5]);
    assert_eq!(table.schema().columns().len(), 1);
}

#[test]
fn rows_that_are_added_without_values_have_those_of_an_empty_cell() {
    let kinds = Kind::ALL;
    let names: Vec<String> = kinds.iter().map(|kind| format!("{kind:?}")).collect();
    let schema = Schema::new(kinds.iter().zip(&names).map(|(kind, name)| kind.spec(name)));
    let mut table = Table::create_in(tables::memory(), &schema, &options(8, 4)).unwrap();
    table.resize(19).unwrap();
    for (kind, name) in kinds.iter().zip(&names) {
        let found = table.column(name).unwrap().read_values(..).unwrap();
        assert_eq!(found, values(*kind, &vec![kind.empty(); 19]), "{name}");
    }
    assert_eq!(table.verify().unwrap(), []);
}

#[test]
fn numbers_are_read_by_their_type_and_no_other() {
    let schema = Schema::new([Kind::I64.spec("a"), Kind::NullableF64.spec("b"), Kind::Text.spec("c")]);
    let mut table = Table::in_memory(&schema).unwrap();
    let batch = Batch::new().with("a", [1_i64, 2, 3]).with("b", vec![Some(0.5), None, Some(1.5)]);
    table.append(&batch.with("c", ["x", "", "é"])).unwrap();
    table.flush().unwrap();
    let (a, b) = (table.column("a").unwrap(), table.column("b").unwrap());
    assert_eq!(a.read::<i64>(1..=2).unwrap(), [2, 3]);
    assert_eq!(a.read_rows::<i64>(&[2, 0, 2]).unwrap(), [3, 1, 3]);
    let error = a.read::<f64>(..).unwrap_err();
    assert!(error.to_string().contains("column \"a\": holds int64, not float64"), "{error}");
    assert_eq!(b.read::<f64>(..1).unwrap(), [0.5]);
    assert!(b.read::<f64>(..).unwrap_err().to_string().contains("value 1 of these rows is missing"));
    assert_eq!(b.read_optional::<f64>(..).unwrap(), [Some(0.5), None, Some(1.5)]);
    let texts = table.column("c").unwrap().read_text(1..).unwrap();
    assert_eq!(texts.iter().collect::<Vec<_>>(), ["", "é"]);
    assert!(a.read_text(..).is_err() && table.column("c").unwrap().read::<u8>(..).is_err());
    for rows in [(0, 4), (4, 4), (3, 2)] {
        assert_eq!(a.read::<i64>(rows.0..rows.1).unwrap_err().kind(), ErrorKind::OutOfBounds);
    }
    assert!(table.column("d").is_err_and(|error| error.to_string().contains("\"a\", \"b\", \"c\"")));
}

#[test]
fn categories_grow_and_keep_their_codes() {
    let mut table =
        Table::create_in(tables::memory(), &Schema::new([Kind::Categories.spec("a")]), &options(64, 16))
            .unwrap();
    let names: Vec<String> = (0..300).map(|n| format!("value {n}")).collect();
    for part in names.chunks(70) {
        table.append(&Batch::new().with("a", part)).unwrap();
    }
    table.append(&Batch::new().with("a", vec![Some("value 7"), None])).unwrap();
    table.flush().unwrap();
    let column = table.column("a").unwrap();
    let wanted: Vec<i64> = (0..300).chain([7, -1]).collect();
    assert_eq!(column.codes(..).unwrap(), wanted);
    let texts = column.read_text(..300).unwrap();
    assert!(texts.iter().eq(names.iter().map(String::as_str)));
    assert!(column.read_values(301..).unwrap() == Values::from(vec![None::<&str>]));
}

#[test]
fn text_that_is_longer_than_what_is_rewritten_at_once_is_changed_in_place() {
    let schema = Schema::new([Kind::NullableText.spec("a")]);
    let mut table = Table::create_in(tables::memory(), &schema, &options(1 << 14, 1 << 12)).unwrap();
    let long = "x".repeat(1 << 20);
    let mut model: Vec<Option<String>> =
        (0..70).map(|n| (n % 5 > 0).then(|| format!("{n}{}", &long[n * 1000..]))).collect();
    let as_values = |texts: &[Option<String>]| {
        Values::from(texts.iter().map(Option::as_deref).collect::<Vec<_>>()).into_owned()
    };
    table.append(&Batch::new().with("a", as_values(&model))).unwrap();
    table.flush().unwrap();
    let changed = [Some("short".to_owned()), None, Some(long.repeat(2))];
    table.write_at(&[3, 40, 64], &Batch::new().with("a", as_values(&changed))).unwrap();
    for (row, text) in [3, 40, 64].into_iter().zip(&changed) {
        model[row].clone_from(text);
    }
    table.write(5, &Batch::new().with("a", as_values(&changed))).unwrap();
    model[5..8].clone_from_slice(&changed);
    assert!(table.column("a").unwrap().read_values(..).unwrap() == as_values(&model));
    table.delete(&[0, 1, 30, 69]).unwrap();
    for row in [69, 30, 1, 0] {
        model.remove(row);
    }
    assert!(table.column("a").unwrap().read_values(..).unwrap() == as_values(&model));
    assert_eq!(table.verify().unwrap(), []);
}
