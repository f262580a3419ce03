//! Reads `*.test` files: tables, and cases of steps. tests/queries/README.md describes them.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::words::{Cell, Kind, Word, cell, words};

/// A column of a table.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    pub(crate) path: String,
    pub(crate) kind: Kind,
    pub(crate) is_nullable: bool,
    pub(crate) shape: Vec<u64>,
    pub(crate) categories: Option<Vec<Cell>>,
    pub(crate) is_ordered: bool,
    pub(crate) members: Option<Vec<(String, i64)>>,
    pub(crate) zone: Option<String>,
}

/// A table, with all of its rows.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) name: String,
    pub(crate) chunk: u64,
    pub(crate) homes: Vec<String>,
    pub(crate) columns: Vec<Column>,
    pub(crate) rows: Vec<Vec<Cell>>,
}

/// Lines of a step by their first words, each with its rest.
#[derive(Clone, Debug, Default)]
pub(crate) struct Step {
    pub(crate) lines: Vec<(String, String)>,
}

impl Step {
    pub(crate) fn all(&self, word: &str) -> impl Iterator<Item = &str> {
        self.lines.iter().filter(move |(known, _)| known == word).map(|(_, rest)| rest.as_str())
    }

    pub(crate) fn one(&self, word: &str) -> Option<&str> {
        self.all(word).next()
    }

    pub(crate) fn has(&self, word: &str) -> bool {
        self.one(word).is_some()
    }
}

#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) title: String,
    pub(crate) table: Rc<Table>,
    pub(crate) steps: Vec<Step>,
}

/// The cases of a file.
pub(crate) fn cases(text: &str) -> Vec<Case> {
    let mut found: Vec<Case> = Vec::new();
    let mut open: Option<Block> = None;
    let mut table: Option<Rc<Table>> = None;
    for line in text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')) {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "table" | "case" => {
                if let Some(block) = open.take() {
                    table = Some(Rc::new(block.ended()));
                }
                if word == "table" {
                    open = Some(Block::new(rest));
                } else {
                    let table = Rc::clone(table.as_ref().expect("a table before the case"));
                    found.push(Case { title: rest.to_owned(), table, steps: vec![Step::default()] });
                }
            }
            _ => match (&mut open, found.last_mut()) {
                (Some(block), _) => block.take(word, rest),
                (None, Some(case)) if word == "then" => case.steps.push(Step::default()),
                (None, Some(case)) => {
                    case.steps.last_mut().unwrap().lines.push((word.to_owned(), rest.trim().to_owned()));
                }
                _ => panic!("{line}: a file begins with a table"),
            },
        }
    }
    found
}

/// A table that is being read.
struct Block {
    table: Table,
    count: Option<usize>,
    fills: BTreeMap<String, Vec<Vec<Word>>>,
}

impl Block {
    fn new(name: &str) -> Self {
        let table = Table { name: name.to_owned(), chunk: 8, homes: vec![], columns: vec![], rows: vec![] };
        Self { table, count: None, fills: BTreeMap::new() }
    }

    fn take(&mut self, word: &str, rest: &str) {
        if word == "index" {
            return;
        }
        let words = words(rest);
        match word {
            "chunk" => self.table.chunk = words[0].bare().parse().unwrap(),
            "homes" => self.table.homes = words.iter().map(|word| word.bare().to_owned()).collect(),
            "rows" => self.count = Some(words[0].bare().parse().unwrap()),
            "column" => self.table.columns.push(column(&words)),
            "fill" => {
                self.fills.entry(words[0].bare().to_owned()).or_default().push(words[1..].to_vec());
            }
            "|" => {
                assert_eq!(words.len(), self.table.columns.len(), "{rest}");
                let pairs = words.iter().zip(&self.table.columns);
                self.table.rows.push(pairs.map(|(word, column)| cell(word, &column.kind)).collect());
            }
            other => panic!("{other:?}: not a line of a table"),
        }
    }

    fn ended(mut self) -> Table {
        if let Some(count) = self.count {
            let values: Vec<Vec<Cell>> = self
                .table
                .columns
                .iter()
                .map(|column| filled(column, &self.fills[&column.path], count))
                .collect();
            self.table.rows =
                (0..count).map(|row| values.iter().map(|column| column[row].clone()).collect()).collect();
        }
        self.table
    }
}

fn column(words: &[Word]) -> Column {
    let kind = Kind::new(words[1].bare());
    let mut made = Column {
        path: words[0].bare().to_owned(),
        kind: kind.clone(),
        is_nullable: false,
        shape: Vec::new(),
        categories: None,
        is_ordered: false,
        members: None,
        zone: None,
    };
    let mut rest = words[2..].iter();
    let list = |word: Option<&Word>| match word {
        Some(Word::List(all)) => all.clone(),
        other => panic!("{other:?}: a list is wanted"),
    };
    while let Some(word) = rest.next() {
        match word.bare() {
            "null" => made.is_nullable = true,
            "ordered" => made.is_ordered = true,
            "zone" => made.zone = rest.next().map(|word| word.bare().to_owned()),
            "shape" => made.shape = list(rest.next()).iter().map(|one| one.bare().parse().unwrap()).collect(),
            "categories" => {
                made.categories = Some(list(rest.next()).iter().map(|one| cell(one, &kind)).collect());
            }
            "members" => {
                let member = |one: &Word| {
                    let (name, number) = one.bare().split_once('=').unwrap();
                    (name.to_owned(), number.parse().unwrap())
                };
                made.members = Some(list(rest.next()).iter().map(member).collect());
            }
            other => panic!("{other:?}: not an option"),
        }
    }
    made
}

/// The values of a generated column.
fn filled(column: &Column, fills: &[Vec<Word>], count: usize) -> Vec<Cell> {
    let (first, others) = fills.split_first().unwrap();
    let words = &first[1..];
    let number = |word: &Word| word.bare().parse::<i128>().unwrap();
    let cells = |words: &[Word]| words.iter().map(|word| cell(word, &column.kind)).collect::<Vec<_>>();
    let indexes = 0..i128::try_from(count).unwrap();
    let place = |at: i128, cells: &[Cell]| usize::try_from(at).unwrap() % cells.len();
    let mut values: Vec<Cell> = match first[0].bare() {
        "step" => indexes.map(|at| plus(column, &words[0], &words[1], at)).collect(),
        "mix" => {
            let [a, b, m] = [number(&words[0]), number(&words[1]), number(&words[2])];
            indexes.map(|at| plus(column, &words[3], &words[4], (a * at + b).rem_euclid(m))).collect()
        }
        "cycle" => {
            let cells = cells(words);
            indexes.map(|at| cells[place(at, &cells)].clone()).collect()
        }
        "runs" => {
            let (len, cells) = (number(&words[0]), cells(&words[1..]));
            indexes.map(|at| cells[place(at / len, &cells)].clone()).collect()
        }
        "pick" => {
            let [a, b, m] = [number(&words[0]), number(&words[1]), number(&words[2])];
            let cells = cells(&words[3..]);
            indexes.map(|at| cells[place((a * at + b).rem_euclid(m), &cells)].clone()).collect()
        }
        other => panic!("fill {other}"),
    };
    for every in others {
        let (step, rest) = (number(&every[1]), number(&every[2]));
        let value = cell(&every[3], &column.kind);
        for (at, old) in values.iter_mut().enumerate() {
            if i128::try_from(at).unwrap() % step == rest {
                *old = value.clone();
            }
        }
    }
    values
}

/// The value some steps after the first.
fn plus(column: &Column, first: &Word, step: &Word, times: i128) -> Cell {
    let step = step.bare();
    match cell(first, &column.kind) {
        Cell::Int(first) => Cell::Int(first + step.parse::<i128>().unwrap() * times),
        Cell::Time(first) => {
            Cell::Time(i64::try_from(i128::from(first) + step.parse::<i128>().unwrap() * times).unwrap())
        }
        Cell::Float(first) => {
            Cell::Float(first + step.parse::<f64>().unwrap() * f64::from(i32::try_from(times).unwrap()))
        }
        other => panic!("{other:?} is not counted"),
    }
}
