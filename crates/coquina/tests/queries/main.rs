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
use coquina::query::condition::{ItemType, Parameter, all_of, condition};
use coquina::query::{Query, QueryColumn, Rows, scan};

mod files;
mod tables;
mod words;

use files::{Case, Step, cases};
use words::{Cell, Kind, Word, words as words_of};

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

/// The rows of a slice, as Python has it.
fn sliced(step: &Step, count: i128) -> Rows {
    let ends: Vec<Option<i128>> = match step.one("slice") {
        None => vec![None, None, None],
        Some(line) => line.split(' ').map(|end| end.parse().ok()).collect(),
    };
    let place = |end: Option<i128>, default: i128| {
        let end = end.map_or(default, |end| if end < 0 { end + count } else { end });
        end.clamp(0, count) as u64
    };
    let (start, stop) = (place(ends[0], 0), place(ends[1], count));
    Rows { start, stop: stop.max(start), step: ends[2].unwrap_or(1) as u64 }
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

/// The rows that meet the conditions of a step.
fn matching(step: &Step, columns: &[QueryColumn]) -> Result<Vec<i64>, TextError> {
    let parameters = parameters(step);
    let rows = columns.iter().map(QueryColumn::rows).min().unwrap();
    let conditions =
        step.all("where").map(|text| condition(text, columns, &parameters)).collect::<Result<Vec<_>, _>>()?;
    let condition = all_of(&conditions, rows)?;
    let query = Query {
        condition: condition.as_deref(),
        columns: &[],
        rows: sliced(step, rows.into()),
        numbers: true,
        limit: None,
    };
    Ok(scan(&query, &Job::default())?.numbers.unwrap())
}

fn check(case: &Case) -> Result<(), Failure> {
    let columns = tables::columns(&case.table);
    for step in &case.steps {
        for word in ["order", "head", "group", "ask", "delete", "modify", "rows"] {
            if step.lines.iter().any(|(known, _)| known == word) {
                return Err(Failure::Left(word.to_owned()));
            }
        }
        check_rows(step, &columns)?;
    }
    Ok(())
}

fn check_rows(step: &Step, columns: &[QueryColumn]) -> Result<(), Failure> {
    let found = matching(step, columns);
    if let Some(line) = step.one("error") {
        return check_error(line, found.map(|_| ()));
    }
    let found = found.map_err(failure)?;
    if let Some(line) = step.one("numbers") {
        let wanted = numbers(line);
        if found != wanted {
            return Err(Failure::Wrong(format!("rows {found:?}, not {wanted:?}")));
        }
    }
    if let Some(count) = step.one("count")
        && found.len().to_string() != count
    {
        return Err(Failure::Wrong(format!("{} rows, not {count}", found.len())));
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
    assert!(passed > 600, "only {passed} cases passed");
}
