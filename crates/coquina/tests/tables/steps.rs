//! Changes of a table and of its model.

use coquina::table::{Batch, Schema, Table};
use coquina::{Error, Result};
use proptest::collection::vec;
use proptest::prelude::*;

use super::{Kind, Model, values};

/// A change of a table.
#[derive(Clone, Debug)]
pub(crate) enum Step {
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

pub(crate) fn steps() -> impl Strategy<Value = Vec<Step>> {
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
pub(crate) fn take(step: &Step, table: &mut Table, model: &mut Model) -> Result<()> {
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

pub(crate) fn assert_same(table: &Table, model: &Model) {
    assert_eq!(table.nrows(), model.rows() as u64);
    let names: Vec<&str> = model.columns.iter().map(|column| column.name.as_str()).collect();
    assert_eq!(table.schema().names().collect::<Vec<_>>(), names);
    for column in &model.columns {
        let found = table.column(&column.name).unwrap().read_values(..).unwrap();
        assert_eq!(found, values(column.kind, &column.cells), "{} {:?}", column.name, column.kind);
    }
    assert_eq!(table.verify().unwrap(), []);
}

/// A table with columns of these kinds, and its model.
pub(crate) fn started(kinds: &[usize], create: impl Fn(&Schema) -> Result<Table>) -> (Table, Model) {
    let mut model = Model::default();
    for &kind in kinds {
        let name = model.new_name();
        model.add(&name, Kind::ALL[kind], Vec::new());
    }
    let schema = Schema::new(model.columns.iter().map(|column| column.kind.spec(&column.name)));
    (create(&schema).unwrap(), model)
}
