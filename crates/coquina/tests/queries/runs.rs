//! Runs the steps of a case on one table.

use coquina::expr::text::{TextError, TextErrorKind};
use coquina::query::condition::{Constant, ItemType, Parameter};
use coquina::query::group::Aggregation;
use coquina::query::{Direction, Select};
use coquina::table::Changes;
use coquina::{Error, ErrorKind, Job};

use crate::answers::{CLOSE, check_aggregate, check_column, is_item, is_type};
use crate::files::{Case, Step};
use crate::homes::{Subject, values};
use crate::words::{Cell, Kind, Word, words as words_of};
use crate::{tables, words};

/// What went wrong with a case.
pub(crate) enum Failure {
    /// What the engine does not do: told apart, so that the list of these is exact.
    Left(String),
    Wrong(String),
}

fn parameters(step: &Step) -> Vec<(String, Parameter)> {
    let one = |cell: &Cell, kind: &Kind| match (cell, kind.base.as_str()) {
        (Cell::Bool(value), _) => Constant::Bool(*value).into(),
        (Cell::Int(value), "int") => Constant::Int(*value).into(),
        (Cell::Float(value), "float") => Constant::Float(*value).into(),
        (Cell::Bytes(text), "text") => Constant::Text(String::from_utf8(text.clone()).unwrap()).into(),
        (Cell::Bytes(text), _) => Constant::Bytes(text.clone()).into(),
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

/// Whether a step changes rows.
pub(crate) fn is_change(step: &Step) -> bool {
    step.has("delete") || step.has("modify")
}

/// A case on a table.
pub(crate) struct Run<'r> {
    pub(crate) case: &'r Case,
    pub(crate) subject: Subject,
}

impl Run<'_> {
    /// Runs some steps.
    pub(crate) fn steps(&mut self, steps: &[Step]) -> Result<(), Failure> {
        steps.iter().try_for_each(|step| self.step(step))
    }

    fn step(&mut self, step: &Step) -> Result<(), Failure> {
        let done = if is_change(step) {
            self.change(step)
        } else if let Some(line) = step.one("ask") {
            self.ask(step, line)
        } else if let Some(line) = step.one("group") {
            self.groups(step, line)
        } else {
            self.read(step)
        };
        match (step.one("error"), done) {
            (None, Ok(())) => Ok(()),
            (None, Err(error)) => Err(error.failure()),
            (Some(line), done) => check_error(line, done),
        }
    }

    /// The rows that a step asks for.
    fn select(&self, step: &Step) -> Result<Select, TextError> {
        let parameters = parameters(step);
        let mut made = self.subject.select();
        for text in step.all("where") {
            made = made.filter_with(text, &parameters)?;
        }
        if let Some(line) = step.one("slice") {
            let count = self.subject.rows() as i64;
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

    fn change(&mut self, step: &Step) -> Result<(), Problem> {
        let rows = self.select(step)?;
        let Subject::Table(table) = &mut self.subject else { panic!("columns are not changed") };
        let condition: Vec<&str> = step.all("where").collect();
        let is_plain = !step.has("slice") && !step.has("param") && condition.len() < 2;
        let text = condition.first().copied().unwrap_or("True");
        let changed = if step.has("delete") {
            if is_plain { table.delete_where(text) } else { table.delete_selected(&rows) }
        } else {
            let changes = changes(self.case, step);
            if is_plain { table.modify_where(text, &changes) } else { table.modify_selected(&rows, &changes) }
        }?;
        match step.one("changed") {
            Some(wanted) if changed.to_string() == wanted => Ok(()),
            Some(wanted) => Err(Problem::Wrong(format!("{changed} rows changed, not {wanted}"))),
            None => Ok(()),
        }
    }

    fn ask(&self, step: &Step, line: &str) -> Result<(), Problem> {
        let (kind, text) = line.split_once(' ').unwrap();
        let aggregate = Aggregation::by_name(kind).unwrap().aggregate;
        let found = self.select(step)?.aggregate(aggregate, text, &Job::default())?;
        let Some(line) = step.one("value") else { return Ok(()) };
        let words = words_of(line);
        let kind = Kind::new(words[0].bare());
        let wanted = words::cell(&words[1], &kind);
        let item = found.item.clone().unwrap_or_default();
        if is_type(found.ty, &kind) && is_item(&item, &wanted, &kind, CLOSE) {
            return Ok(());
        }
        Err(Problem::Wrong(format!("{found:?}, not {wanted:?} of {kind:?}")))
    }

    fn groups(&self, step: &Step, line: &str) -> Result<(), Problem> {
        let keys: Vec<&str> = line.split(' ').collect();
        let mut groups = self.select(step)?.group_by(&keys)?;
        let mut kinds = Vec::new();
        for line in step.all("aggregate") {
            let parts: Vec<&str> = line.splitn(4, ' ').collect();
            kinds.push(Kind::new(parts[1]));
            groups = match parts.get(3) {
                Some(text) => groups.aggregate(Aggregation::by_name(parts[2]).unwrap().aggregate, *text),
                None => groups.count(),
            };
        }
        let found = groups.read(&Job::default())?;
        let rows: Vec<Vec<Word>> = step.all("|").map(words_of).collect();
        if found.len != rows.len() {
            return Err(Problem::Wrong(format!("{found:?}, not {} groups", rows.len())));
        }
        let wrong = |at: usize| move |why: String| Problem::Wrong(format!("column {at}: {why}"));
        let columns =
            keys.iter().map(|key| self.case.table.columns.iter().find(|column| column.path == *key).unwrap());
        for (at, (column, found)) in columns.zip(&found.keys).enumerate() {
            let cells: Vec<Cell> = rows.iter().map(|row| words::cell(&row[at], &column.kind)).collect();
            check_column(found, column, &cells).map_err(wrong(at))?;
        }
        for (at, (kind, found)) in kinds.iter().zip(&found.aggregates).enumerate() {
            let cells: Vec<Cell> = rows.iter().map(|row| words::cell(&row[keys.len() + at], kind)).collect();
            check_aggregate(found, kind, &cells).map_err(wrong(keys.len() + at))?;
        }
        Ok(())
    }

    fn read(&self, step: &Step) -> Result<(), Problem> {
        let select = self.select(step)?;
        let found = select.numbers(&Job::default())?;
        let count = select.count(&Job::default())?;
        if count != found.len() as u64 {
            return Err(Problem::Wrong(format!("count {count} of rows {found:?}")));
        }
        if let Some(line) = step.one("numbers") {
            let wanted = numbers(line);
            if found != wanted {
                return Err(Problem::Wrong(format!("rows {found:?}, not {wanted:?}")));
            }
        }
        if let Some(wanted) = step.one("count")
            && count.to_string() != wanted
        {
            return Err(Problem::Wrong(format!("{count} rows, not {wanted}")));
        }
        self.check_cells(step, &select, &found)
    }

    /// Whether the columns that are read have the values that the file says, or those of the table.
    fn check_cells(&self, step: &Step, select: &Select, numbers: &[i64]) -> Result<(), Problem> {
        let table = &self.case.table;
        let place = |path: &str| table.columns.iter().position(|column| column.path == path).unwrap();
        let wanted: Vec<usize> = match step.one("select") {
            Some(line) => line.split(' ').map(place).collect(),
            None => (0..table.columns.len()).collect(),
        };
        let told: Vec<Vec<Word>> = step.all("|").map(words_of).collect();
        for (at, &column) in wanted.iter().enumerate() {
            let own = &table.columns[column];
            // Rows with several values are not gathered, and changed ones are not those of the table.
            if !own.shape.is_empty() || (!step.has("rows") && self.case.steps.iter().any(is_change)) {
                continue;
            }
            let cells: Vec<Cell> = if step.has("rows") {
                told.iter().map(|row| words::cell(&row[at], &own.kind)).collect()
            } else {
                numbers.iter().map(|&row| table.rows[row as usize][column].clone()).collect()
            };
            let found = select.read(&[&own.path], &Job::default())?;
            check_column(&found[0], own, &cells)
                .map_err(|why| Problem::Wrong(format!("{}: {why}", own.path)))?;
        }
        Ok(())
    }
}

/// What the lines `modify` say.
fn changes(case: &Case, step: &Step) -> Changes<'static> {
    let mut made = Changes::new();
    for line in step.all("modify") {
        let [path, how, rest] = line.splitn(3, ' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let column = case.table.columns.iter().find(|column| column.path == path).unwrap();
        made = match how {
            "by" => made.computed(path, rest),
            _ => made.with(path, values(column, &[&words::cell(&words_of(rest)[0], &column.kind)])),
        };
    }
    made
}

/// Why a step did not give what the file says.
enum Problem {
    Text(TextError),
    Engine(Error),
    Wrong(String),
}

impl From<TextError> for Problem {
    fn from(error: TextError) -> Self {
        Self::Text(error)
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        Self::Engine(error)
    }
}

impl Problem {
    fn failure(self) -> Failure {
        match self {
            Self::Text(error) if error.kind() == TextErrorKind::Unsupported => {
                Failure::Left(error.sentence().to_owned())
            }
            Self::Text(error) => Failure::Wrong(error.to_string()),
            Self::Engine(error) => Failure::Wrong(error.to_string()),
            Self::Wrong(why) => Failure::Wrong(why),
        }
    }

    /// What the files call errors of this kind.
    fn name(&self) -> &'static str {
        match self {
            Self::Text(error) => match error.kind() {
                TextErrorKind::Expression | TextErrorKind::Name => "expression",
                TextErrorKind::Type => "type",
                TextErrorKind::Value => "value",
                TextErrorKind::Overflow => "overflow",
                TextErrorKind::Unsupported | TextErrorKind::Engine => "engine",
            },
            // A change is refused without regard to the text.
            Self::Engine(error) if error.kind() == ErrorKind::Invalid => "value",
            Self::Engine(_) | Self::Wrong(_) => "engine",
        }
    }
}

fn check_error(line: &str, done: Result<(), Problem>) -> Result<(), Failure> {
    let words = words_of(line);
    let [Word::Bare(kind), Word::Quoted(part)] = &words[..] else { panic!("{line}") };
    let part = String::from_utf8(part.clone()).unwrap();
    let Err(problem) = done else { return Err(Failure::Wrong(format!("no error {kind} {part:?}"))) };
    let name = problem.name();
    match problem.failure() {
        Failure::Wrong(shown) if name == kind && shown.contains(&part) => Ok(()),
        Failure::Wrong(shown) => Err(Failure::Wrong(format!("error {name} {shown}, not {kind} {part:?}"))),
        left => Err(left),
    }
}
