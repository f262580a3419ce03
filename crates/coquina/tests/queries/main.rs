//! Runs `tests/queries/*.test`, the queries and answers that judge every way of asking tables, on columns in memory.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "values of the files are small"
)]

use std::collections::BTreeMap;
use std::path::Path;

use coquina::Job;
use coquina::expr::text::{TextError, TextErrorKind};
use coquina::query::condition::{ItemType, Parameter};
use coquina::query::group::Aggregation;
use coquina::query::{Aggregated, Direction, QueryColumn, Select};

mod files;
mod laws;
mod tables;
mod words;

use files::{Case, Step, cases};
use words::{Cell, Kind, Word, words as words_of};

/// Lines that ask for what the engine's tables do elsewhere.
const LEFT_OUT: &[(&str, &str)] = &[
    ("group", "groups of a selection are not there yet"),
    ("delete", "rows of columns are not deleted"),
    ("modify", "rows of columns are not changed"),
];

/// What went wrong with a case.
enum Failure {
    /// What the engine does not do: told apart, so that the list of these is exact.
    Left(String),
    Wrong(String),
}

fn parameters(step: &Step) -> Vec<(String, Parameter)> {
    let one = |cell: &Cell, kind: &Kind| match (cell, kind.base.as_str()) {
        (Cell::Bool(value), _) => Parameter::Bool(*value),
        (Cell::Int(value), "int") => Parameter::Int(*value),
        (Cell::Float(value), "float") => Parameter::Float(*value),
        (Cell::Bytes(text), "text") => Parameter::Text(String::from_utf8(text.clone()).unwrap()),
        (Cell::Bytes(text), _) => Parameter::Bytes(text.clone()),
        (Cell::Time(count), _) => Parameter::Time(tables::time_type(kind), *count),
        (cell, base) => Parameter::Number(tables::type_of(base).unwrap(), tables::item(cell, kind)),
    };
    let made = |line: &str| {
        let words = words_of(line);
        let name = words[0].bare().to_owned();
        let value = match words[1].bare() {
            "array" => {
                let kind = Kind::new(words[2].bare());
                let items: Vec<u8> = words[3..]
                    .iter()
                    .flat_map(|word| tables::item(&words::cell(word, &kind), &kind))
                    .collect();
                let shape = [words.len() as u64 - 3];
                let width = tables::item(&Cell::Null, &kind).len();
                let ty = ItemType::Number(tables::type_of(&kind.base).unwrap());
                Parameter::Rows(ty, tables::array(&items, width, &shape, shape[0]))
            }
            "list" => {
                let kind = Kind::new(words[2].bare());
                let values = words[3..].iter().map(|word| match word {
                    Word::Bare(word) if word == "null" => None,
                    word => Some(one(&words::cell(word, &kind), &kind)),
                });
                Parameter::List(values.collect())
            }
            kind => {
                let kind = Kind::new(kind);
                one(&words::cell(&words[2], &kind), &kind)
            }
        };
        (name, value)
    };
    step.all("param").map(made).collect()
}

/// What a step asks for.
fn select(step: &Step, columns: &[QueryColumn]) -> Result<Select, TextError> {
    let parameters = parameters(step);
    let mut made = Select::new(columns.to_vec());
    for text in step.all("where") {
        made = made.filter_with(text, &parameters)?;
    }
    if let Some(line) = step.one("slice") {
        let count = columns.iter().map(QueryColumn::rows).min().unwrap() as i64;
        let ends: Vec<Option<i64>> = line.split(' ').map(|end| end.parse().ok()).collect();
        let place = |end: Option<i64>, default: i64| {
            let end = end.map_or(default, |end| if end < 0 { end + count } else { end });
            end.clamp(0, count) as u64
        };
        let (start, stop) = (place(ends[0], 0), place(ends[1], count));
        made = made.within(start..stop.max(start), ends[2].unwrap_or(1) as u64);
    }
    for part in step.one("order").into_iter().flat_map(|line| line.split(',')) {
        let words: Vec<&str> = part.split_whitespace().collect();
        let direction = if words.len() > 1 { Direction::Descending } else { Direction::Ascending };
        made = made.order_by(words[0], direction)?;
    }
    Ok(match step.one("head") {
        None => made,
        Some(rows) => made.limit(rows.parse().unwrap()),
    })
}

/// The numbers that a line says: `3`, `3..9`, `3..9/2`.
fn numbers(line: &str) -> Vec<i64> {
    let mut found = Vec::new();
    for word in line.split_whitespace() {
        let (range, step) = word.split_once('/').unwrap_or((word, "1"));
        let (first, last) = range.split_once("..").unwrap_or((range, range));
        found.extend((first.parse().unwrap()..=last.parse::<i64>().unwrap()).step_by(step.parse().unwrap()));
    }
    found
}

fn check(case: &Case) -> Result<(), Failure> {
    let columns = tables::columns(&case.table);
    for step in &case.steps {
        for (word, reason) in LEFT_OUT {
            if step.lines.iter().any(|(known, _)| known == word) {
                return Err(Failure::Left((*reason).to_owned()));
            }
        }
        match (step.one("error"), step.one("ask")) {
            (Some(line), None) => {
                let found = select(step, &columns).and_then(|found| Ok(found.numbers(&Job::default())?));
                check_error(line, found.map(|_| ()))?;
            }
            (Some(line), Some(asked)) => check_error(line, ask(step, asked, &columns).map(|_| ()))?,
            (None, Some(asked)) => check_value(step, &ask(step, asked, &columns).map_err(failure)?)?,
            (None, None) => check_rows(case, step, &columns)?,
        }
    }
    Ok(())
}

fn ask(step: &Step, line: &str, columns: &[QueryColumn]) -> Result<Aggregated, TextError> {
    let (kind, text) = line.split_once(' ').unwrap();
    let aggregate = Aggregation::by_name(kind).unwrap().aggregate;
    select(step, columns)?.aggregate(aggregate, text, &Job::default())
}

/// Whether an aggregate is the value of the line; floats to twelve digits.
fn check_value(step: &Step, found: &Aggregated) -> Result<(), Failure> {
    let words = words_of(step.one("value").unwrap());
    let kind = Kind::new(words[0].bare());
    let wanted = words::cell(&words[1], &kind);
    let is_type = match kind.base.as_str() {
        "time" | "span" => found.ty == ItemType::Time(tables::time_type(&kind)),
        base => found.ty == ItemType::Number(tables::type_of(base).unwrap()),
    };
    let item = found.item.clone().unwrap_or_default();
    let is_same = match (&wanted, item.len()) {
        (Cell::Float(wanted), 4 | 8) => {
            let value = if item.len() == 4 {
                f32::from_le_bytes(item[..].try_into().unwrap()).into()
            } else {
                f64::from_le_bytes(item[..].try_into().unwrap())
            };
            let digits = if item.len() == 4 { 1e-6 } else { 1e-12 };
            value == *wanted
                || value.is_nan() && wanted.is_nan()
                || (value - wanted).abs() <= digits * wanted.abs()
        }
        _ => item == tables::item(&wanted, &kind),
    };
    if is_type && is_same {
        return Ok(());
    }
    Err(Failure::Wrong(format!("{found:?}, not {wanted:?} of {kind:?}")))
}

fn check_rows(case: &Case, step: &Step, columns: &[QueryColumn]) -> Result<(), Failure> {
    let select = select(step, columns).map_err(failure)?;
    let found = select.numbers(&Job::default()).map_err(|error| failure(error.into()))?;
    let count = select.count(&Job::default()).map_err(|error| failure(error.into()))?;
    if count != found.len() as u64 {
        return Err(Failure::Wrong(format!("count {count} of rows {found:?}")));
    }
    if let Some(line) = step.one("numbers") {
        let wanted = numbers(line);
        if found != wanted {
            return Err(Failure::Wrong(format!("rows {found:?}, not {wanted:?}")));
        }
    }
    if let Some(wanted) = step.one("count")
        && count.to_string() != wanted
    {
        return Err(Failure::Wrong(format!("{count} rows, not {wanted}")));
    }
    check_cells(case, step, &select, columns, &found)
}

/// Whether the columns that are read have the values that the file says, or those of the table.
fn check_cells(
    case: &Case,
    step: &Step,
    select: &Select,
    columns: &[QueryColumn],
    numbers: &[i64],
) -> Result<(), Failure> {
    let place = |path: &str| case.table.columns.iter().position(|column| column.path == path).unwrap();
    let wanted: Vec<usize> = match step.one("select") {
        Some(line) => line.split(' ').map(place).collect(),
        None => (0..columns.len()).collect(),
    };
    let told: Vec<Vec<Word>> = step.all("|").map(words_of).collect();
    // Rows with several values are not gathered.
    for (at, &column) in wanted.iter().enumerate().filter(|(_, column)| columns[**column].axes().is_empty()) {
        let own = &case.table.columns[column];
        let cells: Vec<Cell> = if step.one("rows").is_some() {
            told.iter().map(|row| words::cell(&row[at], &own.kind)).collect()
        } else {
            numbers.iter().map(|&row| case.table.rows[row as usize][column].clone()).collect()
        };
        let found = select.read(&[&own.path], &Job::default()).map_err(|error| failure(error.into()))?;
        // The same cells, stored and read as they are.
        let plain = tables::column(own, &cells.iter().collect::<Vec<_>>(), &case.table);
        let same = Select::new(vec![plain]).read(&[&own.path], &Job::default());
        let same = same.map_err(|error| failure(error.into()))?;
        if found != same {
            return Err(Failure::Wrong(format!("{}: {found:?}, not {same:?}", own.path)));
        }
    }
    Ok(())
}

fn failure(error: TextError) -> Failure {
    if error.kind() == TextErrorKind::Unsupported {
        return Failure::Left(error.sentence().to_owned());
    }
    Failure::Wrong(error.to_string())
}

fn check_error(line: &str, found: Result<(), TextError>) -> Result<(), Failure> {
    let words = words_of(line);
    let [Word::Bare(kind), Word::Quoted(part)] = &words[..] else { panic!("{line}") };
    let part = String::from_utf8(part.clone()).unwrap();
    let Err(error) = found else { return Err(Failure::Wrong(format!("no error {kind} {part:?}"))) };
    let own = match error.kind() {
        TextErrorKind::Expression => "expression",
        TextErrorKind::Type => "type",
        TextErrorKind::Value => "value",
        TextErrorKind::Overflow => "overflow",
        TextErrorKind::Unsupported => return Err(failure(error)),
        TextErrorKind::Engine => "engine",
    };
    if own == kind && error.to_string().contains(&part) {
        return Ok(());
    }
    Err(Failure::Wrong(format!("error {own} {error}, not {kind} {part:?}")))
}

#[test]
fn every_case_gives_what_it_says() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/queries");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "test"));
    paths.sort();
    let (mut wrong, mut left, mut passed) = (Vec::new(), BTreeMap::new(), 0);
    for path in paths {
        let file = path.file_stem().unwrap().to_str().unwrap().to_owned();
        for case in cases(&std::fs::read_to_string(&path).unwrap()) {
            let name = format!("{file}: {}: {}", case.table.name, case.title);
            match check(&case) {
                Ok(()) => passed += 1,
                Err(Failure::Left(reason)) => {
                    left.insert(name, reason);
                }
                Err(Failure::Wrong(reason)) => wrong.push(format!("{name}: {reason}")),
            }
        }
    }
    let found: Vec<String> = left.iter().map(|(name, reason)| format!("{name} | {reason}")).collect();
    let known: Vec<&str> = include_str!("left_out.txt").lines().collect();
    assert!(wrong.is_empty(), "{passed} passed, {} left out, these not:\n{}", found.len(), wrong.join("\n"));
    // A case that passes is no longer left out, and none is left out that is not on the list.
    let new: Vec<&String> = found.iter().filter(|line| !known.contains(&line.as_str())).collect();
    let stale: Vec<&&str> = known.iter().filter(|line| !found.iter().any(|one| one == **line)).collect();
    assert!(
        new.is_empty() && stale.is_empty(),
        "not on the list: {new:#?}, on it and not left out: {stale:#?}"
    );
    assert!(passed > 650, "only {passed} cases passed");
}
