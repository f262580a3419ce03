//! Directories that Python and Rust wrote, each read by both: `tests/golden/make_tables.py` says which values they have.

use std::path::PathBuf;
use std::sync::Arc;

use coquina::frame::Mode;
use coquina::table::{Batch, ColumnSpec, ColumnType, Schema, Table, TableOptions, Values};
use coquina_kernels::Type;

use super::Folder;

fn folder(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/tables").join(name)
}

fn schema() -> Schema {
    let number = ColumnType::Number;
    let members = vec![("red".into(), 1), ("green".into(), 7)];
    let numbers = ColumnType::Categories {
        of: Box::new(number(Type::I64)),
        values: Arc::new(Vec::<i64>::new().into()),
        ordered: false,
    };
    let nullable = |name: &str, ty| ColumnSpec::new(name, number(ty)).nullable();
    Schema::new([
        ColumnSpec::number::<bool>("bool"),
        ColumnSpec::number::<i8>("int8"),
        ColumnSpec::number::<u64>("uint64"),
        ColumnSpec::new("float16", ColumnType::Half),
        ColumnSpec::number::<f64>("float64"),
        ColumnSpec::number::<[f64; 2]>("complex128"),
        ColumnSpec::new("bytes", ColumnType::Bytes(3)),
        ColumnSpec::text("text"),
        ColumnSpec::text("some text").nullable(),
        ColumnSpec::new("dates", ColumnType::times("datetime64[ns]").unwrap()),
        ColumnSpec::new("spans", ColumnType::times("timedelta64[10s]").unwrap()),
        ColumnSpec::new("enum", ColumnType::Enum { number: Type::I8, members }),
        nullable("some integers", Type::I64),
        nullable("some truth", Type::Bool),
        nullable("some floats", Type::F64),
        ColumnSpec::new("categories", ColumnType::categories()),
        ColumnSpec::new("ordered", ColumnType::ordered(["low", "middle", "high"])),
        ColumnSpec::new("numbers", numbers),
    ])
}

fn rows() -> Batch<'static> {
    let bytes = *b"a\0\0\0\0\0abc\xff\0zx\0\0";
    Batch::new()
        .with("bool", [true, false, true, true, false])
        .with("int8", [-1_i8, 0, 1, 2, 3])
        .with("uint64", [0, 1, 2, 3, u64::MAX])
        .with("float16", Values::half(vec![0, 0x3800, 0x3c00, 0x3e00, 0x4000]))
        .with("float64", [0.0, -0.0, f64::NAN, f64::INFINITY, 1.5])
        .with("complex128", [[0.0, 0.0], [1.0, 2.0], [2.0, 4.0], [3.0, 6.0], [4.0, 8.0]])
        .with("bytes", Values::byte_strings(3, bytes.to_vec()).unwrap())
        .with("text", ["a", "bé", "", "d\n", "😀"])
        .with("some text", vec![Some("a"), None, Some(""), Some("d"), None])
        .with("dates", vec![Some(0_i64), Some(1), None, Some(3), Some(4)])
        .with("spans", [0_i64, 1, 2, 3, 4])
        .with("enum", [1_i8, 7, 7, 1, 1])
        .with("some integers", vec![Some(1_i64), None, Some(3), Some(4), None])
        .with("some truth", vec![Some(true), None, Some(false), Some(true), None])
        .with("some floats", vec![Some(0.5), None, Some(2.5), Some(3.5), None])
        .with("categories", vec![Some("x"), None, Some("y"), Some("x"), Some("y")])
        .with("ordered", vec![Some("low"), Some("high"), Some("low"), Some("low"), None])
        .with("numbers", vec![Some(30_i64), Some(10), Some(30), None, Some(10)])
}

#[test]
fn directories_that_python_and_rust_wrote_have_the_same_values() {
    for name in ["coquina-python-0.1.0", "coquina-rust-0.1.0"] {
        let table = Table::open(folder(name), Mode::Read).unwrap();
        assert_eq!((table.nrows(), table.skipped()), (5, &[][..]), "{name}");
        assert_eq!(table.title(), "golden");
        assert_eq!(table.info().chunk_rows, 4);
        let rows = rows();
        let names: Vec<&str> = rows.names().collect();
        assert_eq!(table.schema().names().collect::<Vec<_>>(), names, "{name}");
        for (spec, (column, wanted)) in schema().columns().iter().zip(rows.iter()) {
            let found = table.column(column).unwrap();
            assert_eq!(&found.read_values(..).unwrap(), wanted, "{name}: {column}");
            let is_same = match (found.ty(), spec.ty()) {
                // The values of the list come in the order in which they were first seen.
                (ColumnType::Categories { of: one, .. }, ColumnType::Categories { of: other, .. }) => {
                    one == other
                }
                (one, other) => one == other,
            };
            assert!(
                is_same && found.spec().is_nullable() == spec.is_nullable(),
                "{name}: {:?}",
                found.spec()
            );
        }
        assert_eq!(table.verify().unwrap(), [], "{name}");
    }
}

#[test]
fn directories_that_python_and_rust_wrote_are_changed_alike() {
    for name in ["coquina-python-0.1.0", "coquina-rust-0.1.0"] {
        let copy = Folder::new(name);
        std::fs::create_dir(&copy.0).unwrap();
        for file in std::fs::read_dir(folder(name)).unwrap() {
            let file = file.unwrap();
            std::fs::copy(file.path(), copy.0.join(file.file_name())).unwrap();
        }
        let mut table = Table::open(&copy.0, Mode::Write).unwrap();
        table.append(&rows()).unwrap();
        table.delete(&[0, 1, 2, 3, 4]).unwrap();
        table.close().unwrap();
        let table = Table::open(&copy.0, Mode::Read).unwrap();
        for (column, wanted) in rows().iter() {
            let found = table.column(column).unwrap().read_values(..).unwrap();
            assert_eq!(&found, wanted, "{name}: {column}");
        }
        assert_eq!(table.verify().unwrap(), [], "{name}");
    }
}

#[test]
#[ignore = "makes the golden directory that Rust wrote, which is there and never made anew"]
fn make_the_golden_directory() {
    let options = TableOptions { title: "golden".into(), chunk_rows: Some(4), ..TableOptions::default() };
    let mut table = Table::create(folder("coquina-rust-0.1.0"), &schema(), &options).unwrap();
    table.append(&rows()).unwrap();
    table.close().unwrap();
}
