//! Laws of tables: what was appended reads back, whatever the kind of column, the parts and the chunks; any sequence of
//! changes leaves what a plain model of vectors has; an error leaves the last commit.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod tables;

use coquina::frame::Mode;
use coquina::table::{Batch, Schema, Table, Texts, Values};
use coquina::{Error, ErrorKind};
use proptest::collection::vec;
use proptest::prelude::*;
use tables::steps::{assert_same, started, steps, take};
use tables::{Cell, Folder, Kind, options, values};

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
                let known = column.query_column().unwrap();
                assert_eq!((known.path.as_str(), known.rows()), ("a", 50), "{place}");
                let is_time = matches!(kind, Kind::Dates | Kind::Spans);
                assert_eq!(known.is_nullable(), kind.may_be_missing() && !is_time, "{place}");
            }
        }
    }
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
        let (mut table, mut model) = started(&kinds, |schema| {
            Table::create_in(tables::memory(), schema, &options(chunk_rows, block_rows))
        });

        table.set_buffer_bytes(buffer_bytes);
        for step in &steps {
            take(step, &mut table, &mut model).unwrap();
            table.flush().unwrap();
            assert_same(&table, &model);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn any_changes_of_a_directory_are_there_when_it_is_opened_again(
        kinds in vec(0..Kind::ALL.len(), 1..4),
        chunk_rows in 1_u64..40,
        steps in steps(),
    ) {
        let folder = Folder::new("steps");
        let (mut table, mut model) = started(&kinds, |schema| {
            Table::create(&folder.0, schema, &options(chunk_rows, 8))
        });
        let mut reader = Table::open(&folder.0, Mode::Read).unwrap();
        for (at, step) in steps.iter().enumerate() {
            take(step, &mut table, &mut model).unwrap();
            table.flush().unwrap();
            assert_same(&table, &model);
            reader.refresh().unwrap();
            assert_same(&reader, &model);
            if at % 3 == 2 {
                table.close().unwrap();
                table = Table::open(&folder.0, Mode::Write).unwrap();
                assert_same(&table, &model);
            }
        }
    }
}

#[test]
fn a_reader_of_a_directory_sees_commits_and_nothing_else() {
    let folder = Folder::new("reader");
    let schema = Schema::new([Kind::I64.spec("a"), Kind::Text.spec("b")]);
    let mut table = Table::create(&folder.0, &schema, &options(8, 4)).unwrap();
    let rows = |count: i64| {
        let texts: Vec<String> = (0..count).map(|n| n.to_string()).collect();
        Batch::new().with("a", (0..count).collect::<Vec<_>>()).with("b", texts)
    };
    table.append(&rows(5)).unwrap();
    let mut reader = Table::open(&folder.0, Mode::Read).unwrap();
    assert_eq!(reader.nrows(), 0);
    table.flush().unwrap();
    assert!(reader.refresh().unwrap() && !reader.refresh().unwrap());
    assert_eq!(reader.nrows(), 5);
    table
        .transaction(|table| {
            table.append(&rows(7))?;
            table.flush()?;
            table.drop_column("b")?;
            assert!(!reader.refresh()?);
            assert_eq!(reader.column("b")?.read_text(..)?.len(), 5);
            Ok(())
        })
        .unwrap();
    assert!(reader.refresh().unwrap());
    assert_eq!(reader.column("a").unwrap().read::<i64>(4..7).unwrap(), [4, 0, 1]);
    assert!(reader.column("b").is_err());
    let refused = reader.append(&Batch::new().with("a", [1_i64])).unwrap_err();
    assert!(refused.to_string().contains("open for reading only"), "{refused}");
    assert!(refused.to_string().starts_with(&folder.0.display().to_string()), "{refused}");
    let second = Table::open(&folder.0, Mode::Write).err().unwrap();
    assert_eq!(second.io().unwrap().kind(), std::io::ErrorKind::WouldBlock);
    // Rows that wait are written when a table is dropped.
    table.append(&Batch::new().with("a", [9_i64])).unwrap();
    drop(table);
    assert!(reader.refresh().unwrap());
    assert_eq!(reader.nrows(), 13);
    Table::open(&folder.0, Mode::Write).unwrap().close().unwrap();
}

#[test]
fn readers_beside_a_busy_writer_see_one_commit_in_all_columns() {
    let folder = Folder::new("busy");
    let schema = Schema::new([Kind::I64.spec("a"), Kind::Text.spec("b"), Kind::I64.spec("c")]);
    let mut table = Table::create(&folder.0, &schema, &options(8, 4)).unwrap();
    std::thread::scope(|scope| {
        let writer = scope.spawn(move || {
            for n in 0..150_i64 {
                table
                    .transaction(|table| {
                        let row = Batch::new().with("a", [n]).with("b", [n.to_string()].to_vec());
                        table.append(&row.with("c", [n]))?;
                        table.flush()?;
                        if n % 3 == 2 {
                            // The file of the old one is removed.
                            let again: Vec<i64> = (0..=n).collect();
                            table.drop_column("c")?;
                            table.add_column_with(&Kind::I64.spec("c"), again)?;
                        }
                        Ok(())
                    })
                    .unwrap();
                if n % 10 == 9 {
                    table.compact().unwrap();
                }
            }
            table.close().unwrap();
        });
        let mut lasting = Table::open(&folder.0, Mode::Read).unwrap();
        while !writer.is_finished() {
            lasting.refresh().unwrap();
            for reader in [&lasting, &Table::open(&folder.0, Mode::Read).unwrap()] {
                let rows = reader.nrows().cast_signed();
                let numbers: Vec<i64> = (0..rows).collect();
                let texts: Vec<String> = numbers.iter().map(i64::to_string).collect();
                let texts: Texts = texts.iter().map(String::as_str).collect();
                assert_eq!(reader.column("a").unwrap().read::<i64>(..).unwrap(), numbers);
                assert_eq!(reader.column("c").unwrap().read::<i64>(..).unwrap(), numbers);
                assert_eq!(reader.column("b").unwrap().read_text(..).unwrap(), texts);
            }
        }
    });
    assert_eq!(Table::open(&folder.0, Mode::Read).unwrap().nrows(), 150);
}

#[test]
fn a_directory_that_cannot_be_made_is_not_there() {
    let folder = Folder::new("unmade");
    let wrong = [
        Schema::default(),
        Schema::new([Kind::I64.spec("a"), Kind::I64.spec("a")]),
        Schema::new([Kind::I64.spec("a"), Kind::Bytes.spec("b").nullable()]),
    ];
    for schema in &wrong {
        assert!(Table::create(&folder.0, schema, &options(8, 4)).is_err());
        assert!(!folder.0.exists(), "{schema:?}");
    }
    let schema = Schema::new([Kind::I64.spec("a")]);
    Table::create(&folder.0, &schema, &options(8, 4)).unwrap().close().unwrap();
    let again = Table::create(&folder.0, &schema, &options(8, 4)).err().unwrap();
    assert_eq!(again.io().unwrap().kind(), std::io::ErrorKind::AlreadyExists);
    assert_eq!(Table::open(&folder.0, Mode::Read).unwrap().nrows(), 0);
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
        (
            good(3).with("c", ["low", "unheard of", "low"]),
            "\"unheard of\" is not one of its ordered categories",
        ),
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
