//! Rows that are changed by expressions: converted as NumPy casts, or refused as a whole.

use coquina::query::condition::{ItemType, NumberType};
use coquina::table::{Batch, Changes, ColumnSpec, ColumnType, Data, Schema, Table, Values};
use coquina::{Error, ErrorKind};

/// A table with a column of a type, empty so far, beside integers, floats and times.
fn table(ty: ColumnType) -> Table {
    let time = |name: &str, ty| ColumnSpec::new(name, ColumnType::times(ty).unwrap());
    let schema = Schema::new([
        ColumnSpec::number::<i64>("n"),
        ColumnSpec::number::<f64>("x"),
        ColumnSpec::number::<i64>("maybe").nullable(),
        time("day", "datetime64[D]"),
        ColumnSpec::new("to", ty),
    ]);
    let mut table = Table::in_memory(&schema).unwrap();
    table.resize(3).unwrap();
    let maybe = vec![Some(7_i64), None, Some(9)];
    let batch = Batch::new().with("n", [-1_i64, 0, 300]).with("x", [0.5, -2.0, 0.1]).with("maybe", maybe);
    table.write(0, &batch.with("day", [0_i64, 1, i64::MIN])).unwrap();
    table
}

fn modified(ty: ColumnType, text: &str) -> Result<Values<'static>, Error> {
    let mut table = table(ty);
    let before = table.column("to")?.read_values(..)?;
    let done = table.modify_where("True", &Changes::new().computed("to", text));
    let after = table.column("to")?.read_values(..)?;
    if done.is_err() {
        assert_eq!(after, before, "{text}");
    }
    done.map(|_| after)
}

#[test]
fn integers_become_numbers_that_have_them_and_wrap_in_none() {
    for ty in NumberType::ALL {
        let limits = match ty.name() {
            "bool" => None,
            name if name.starts_with("uint") => Some((0, if ty.bytes() == 1 { 255 } else { i64::MAX })),
            "int8" => Some((-128, 127)),
            _ => Some((i64::MIN, i64::MAX)),
        };
        for (text, values) in
            [("n", [-1, 0, 300]), ("-n", [1, 0, -300]), ("n * 0 + 255", [255; 3]), ("n * 0 + 127", [127; 3])]
        {
            let found = modified(ColumnType::Number(ty), text);
            let fits = limits.is_some_and(|(min, max)| values.iter().all(|one| (min..=max).contains(one)));
            assert_eq!(found.is_ok(), fits, "{text} as {}: {found:?}", ty.name());
        }
    }
    let error = modified(ColumnType::Number(NumberType::I8), "n").unwrap_err();
    assert!(error.to_string().ends_with("300 is out of the range of int8 (-128 to 127)"), "{error}");
}

#[test]
fn floats_are_rounded_to_other_floats_and_become_no_integers() {
    let found = modified(ColumnType::Number(NumberType::F32), "x + 0").unwrap();
    assert_eq!(found.as_slice::<f32>(), Some(&[0.5, -2.0, 0.1][..]));
    let found = modified(ColumnType::Half, "x").unwrap();
    let Data::F16(bits) = found.data() else { panic!("{found:?}") };
    assert_eq!(**bits, [0x3800, 0xc000, 0x2e66]);
    let found = modified(ColumnType::Number(NumberType::C128), "x").unwrap();
    assert_eq!(found.as_slice::<[f64; 2]>(), Some(&[[0.5, 0.0], [-2.0, 0.0], [0.1, 0.0]][..]));
    for (ty, text) in [(NumberType::I64, "x"), (NumberType::Bool, "n"), (NumberType::F64, "x * 1j")] {
        let error = modified(ColumnType::Number(ty), text).unwrap_err();
        assert!(error.to_string().contains("are not converted to"), "{error}");
    }
}

#[test]
fn times_missing_values_and_what_is_not_computed() {
    let days = || ColumnType::times("datetime64[D]").unwrap();
    assert_eq!(modified(days(), "day").unwrap().as_slice::<i64>(), Some(&[0, 1, i64::MIN][..]));
    let error = modified(ColumnType::times("datetime64[s]").unwrap(), "day").unwrap_err();
    assert!(error.to_string().contains("datetime64[D] are not converted to datetime64[s]"), "{error}");
    let error = modified(ColumnType::Number(NumberType::I64), "maybe").unwrap_err();
    assert!(error.to_string().contains("value 1 is missing"), "{error}");
    for ty in [ColumnType::Text, ColumnType::categories(), ColumnType::Bytes(2)] {
        assert_eq!(modified(ty, "n").unwrap_err().kind(), ErrorKind::Unsupported);
    }
    let colours = vec![("red".to_owned(), 0), ("blue".to_owned(), 300)];
    let number = ItemType::by_name("int16").unwrap();
    let ty = ColumnType::Enum { number, members: colours };
    assert!(modified(ty.clone(), "abs(n)").is_err());
    assert_eq!(modified(ty, "n * (n > 0)").unwrap().as_slice::<i16>(), Some(&[0, 0, 300][..]));
}

#[test]
fn what_is_computed_is_computed_of_the_rows_before_the_change() {
    let mut table = table(ColumnType::Number(NumberType::I64));
    let swap = Changes::new().computed("n", "to - 1").computed("to", "n + 1");
    assert_eq!(table.modify_where("n >= 0", &swap).unwrap(), 2);
    assert_eq!(table.column("n").unwrap().read::<i64>(..).unwrap(), [-1, -1, -1]);
    assert_eq!(table.column("to").unwrap().read::<i64>(..).unwrap(), [0, 1, 301]);
    let error = table.modify_where("n < 0", &Changes::new().with("n", [1_i64, 2])).unwrap_err();
    assert!(error.to_string().contains("2 values for 3 rows"), "{error}");
    assert_eq!(table.modify_where("n > 5", &swap).unwrap(), 0);
    // Rows that wait are there for conditions.
    let row = Batch::new().with("n", [40_i64]).with("x", [0.0]).with("maybe", [1_i64]).with("day", [5_i64]);
    table.append(&row.with("to", [0_i64])).unwrap();
    assert_eq!(table.delete_where("n == 40").unwrap(), 1);
    assert_eq!((table.nrows(), table.nrows_appended()), (3, 3));
}
