//! The choice of indexes for conditions, of the indexes that Python has.

use std::sync::Arc;

use coquina::Job;
use coquina::index::choice::{
    ChoiceParams, IndexChoice as Choice, IndexChooser as Chooser, IndexTerm, IndexedRows, IndexedValues,
    LookupIndex, QueryIndex,
};
use coquina::index::terms::{Few, Operand};
use coquina::index::{KeyKind, RowSet, Wanted, ZONE_ROWS};
use coquina::query::condition::NumberType;
use coquina::query::{ColumnValues, QueryColumn};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

use super::key_ranges::PyKeyRanges;
use super::place::raised;
use super::row_set::PyRowSet;
use super::terms::{Term, tree_of};
use crate::conditions::{ReadText, column_of};
use crate::errors::Raised;
use crate::lazy::Lazy;
use crate::tuples::tuple_struct;
use crate::watch;

/// Kinds of indexes that tell rows one by one.
const SURE: [&str; 2] = ["full", "partial"];

tuple_struct! {
    /// The rows of a table: how many, of a chunk and of a block, and whether zone maps can change and are not asked.
    #[derive(Clone, Copy)]
    pub(crate) struct TableRows { rows: u64, chunk_rows: u64, block_rows: u64, is_writable: bool }
}

tuple_struct! {
    /// Whether indexes are used whatever they cost; what asking zone maps costs for each box, and in any case; and of
    /// how few rows are looked up to learn how many they are.
    #[derive(Clone, Copy)]
    pub(crate) struct Params { is_forced: bool, surveyed_bytes: f64, survey_bytes: f64, looked_up_rows: u64 }
}

impl TableRows {
    pub(crate) fn engine(self) -> IndexedRows {
        let Self { rows, chunk_rows, block_rows, is_writable } = self;
        IndexedRows { rows, chunk_rows, block_rows, is_writable }
    }
}

impl Params {
    pub(crate) fn engine(self) -> ChoiceParams {
        let Self { is_forced, surveyed_bytes, survey_bytes, looked_up_rows } = self;
        ChoiceParams { is_forced, surveyed_bytes, survey_bytes, looked_up_rows }
    }
}

/// An index that is a Python object. What it raises comes back as it was.
struct PythonIndex(Py<PyAny>);

impl PythonIndex {
    fn with<T>(&self, ask: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>) -> coquina::Result<T> {
        Python::attach(|py| ask(self.0.bind(py))).map_err(raised)
    }

    /// Calls a method that takes keys, with the keywords of a term.
    fn ask<'py>(
        index: &Bound<'py, PyAny>,
        method: &str,
        term: &IndexTerm<'_>,
        keywords: &Bound<'py, PyDict>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = index.py();
        let is_count = method == "count";
        let (wanted, missing) = (term.wanted.clone(), term.missing);
        let keys = Arc::clone(if is_count { &wanted.sure } else { &wanted.maybe });
        let has_missing = if is_count { missing == Some(true) } else { missing != Some(false) };
        keywords.set_item("missing", has_missing)?;
        keywords.set_item("check", Py::new(py, Term { index: index.clone().unbind(), wanted, missing })?)?;
        index.call_method(method, (PyKeyRanges { keys },), Some(keywords))
    }
}

impl LookupIndex for PythonIndex {
    fn name(&self) -> coquina::Result<String> {
        self.with(|index| index.getattr("name")?.extract())
    }

    fn is_usable(&self) -> coquina::Result<bool> {
        self.with(|index| index.getattr("is_usable")?.extract())
    }

    fn few(&self, term: &IndexTerm<'_>, rows_max: u64, _: &Job<'_>) -> coquina::Result<Option<Few>> {
        self.with(|index| {
            let keywords = PyDict::new(index.py());
            keywords.set_item("most", rows_max)?;
            let found = Self::ask(index, "few", term, &keywords)?;
            if found.is_none() {
                return Ok(None);
            }
            let (rows, open_rows, found): (u64, u64, Option<PyRef<'_, PyRowSet>>) = found.extract()?;
            let kind: String = index.getattr("kind")?.extract()?;
            let unit_rows =
                if kind == "zones" { ZONE_ROWS } else { index.getattr("bucket_rows")?.extract::<u64>()? };
            let is_sure = SURE.contains(&&kind[..]);
            Ok(Some(Few { rows, open_rows, found: found.map(|found| found.set.clone()), unit_rows, is_sure }))
        })
    }

    fn lookup(&self, term: &IndexTerm<'_>, _: &Job<'_>) -> coquina::Result<RowSet> {
        self.with(|index| {
            let keywords = PyDict::new(index.py());
            keywords.set_item("by_key", true)?;
            let found = Self::ask(index, "lookup", term, &keywords)?;
            Ok(found.extract::<PyRef<'_, PyRowSet>>()?.set.clone())
        })
    }

    fn count(&self, term: &IndexTerm<'_>, _: &Job<'_>) -> coquina::Result<Option<u64>> {
        self.with(|index| {
            let keywords = PyDict::new(index.py());
            keywords.set_item("by_key", true)?;
            Self::ask(index, "count", term, &keywords)?.extract()
        })
    }
}

/// What an index was made of: the kind of its keys, a column or a text, and other programs of its values and its mask.
#[derive(FromPyObject)]
struct Made<'py>(
    Py<PyAny>,
    String,
    Option<Bound<'py, PyAny>>,
    Option<PyRef<'py, ReadText>>,
    Option<PyRef<'py, Lazy>>,
    Option<PyRef<'py, Lazy>>,
);

/// Chooses among the indexes of a table.
#[pyclass(frozen, module = "coquina._core")]
pub(crate) struct IndexChooser {
    pub(crate) chooser: Chooser,
    /// The indexes, as Python has them.
    indexes: Vec<Py<PyAny>>,
}

#[pymethods]
impl IndexChooser {
    /// Of indexes, each a tuple: the index, the kind of its keys, a column as conditions know it or None, the text
    /// that it is of or None, another program of its values or None, one of its mask or None. Of several for one column
    /// the first that can be asked is.
    #[new]
    fn new(py: Python<'_>, indexes: &Bound<'_, PyList>) -> Result<Self, Raised> {
        let (mut all, mut objects) = (Vec::new(), Vec::new());
        for one in indexes {
            let Made(index, kind, column, text, values, mask) = one.extract()?;
            let kind = KeyKind::by_name(&kind)?;
            let column = column.as_ref().map(column_of).transpose()?;
            let operand = operand_of(kind, column.as_ref());
            let values_of_index = match (column, &text) {
                (Some(column), _) => IndexedValues::Column(column),
                (None, Some(text)) => {
                    let source = text.text.source().map_err(crate::conditions::raised)?;
                    IndexedValues::Expression(source, text.text.ty().stored())
                }
                (None, None) => continue,
            };
            objects.push(index.clone_ref(py));
            all.push(QueryIndex {
                index: Arc::new(PythonIndex(index)),
                operand,
                values: values_of_index,
                computed: values.map(|values| Arc::clone(&values.source)),
                mask: mask.map(|mask| Arc::clone(&mask.source)),
            });
        }
        Ok(Self { chooser: Chooser::new(all)?, indexes: objects })
    }

    /// What a condition asks of the indexes, as a tree; None if that is nothing that they answer.
    fn terms(&self, py: Python<'_>, condition: &Lazy) -> Result<Option<Py<PyAny>>, Raised> {
        let (terms, numbers) = py.detach(|| self.chooser.terms(&condition.source))?;
        let Some(tree) = &terms.terms.tree else { return Ok(None) };
        let mut term = |operand: usize, wanted: &Wanted| {
            let number = numbers[operand];
            let missing = self.chooser.operand(number).missing(wanted);
            Term { index: self.indexes[number].clone_ref(py), wanted: wanted.clone(), missing }
        };
        Ok(Some(tree_of(py, tree, &mut term)?))
    }

    /// How a condition is answered.
    fn choose(
        &self,
        py: Python<'_>,
        condition: &Lazy,
        table: TableRows,
        params: Params,
    ) -> Result<IndexChoice, Raised> {
        let (table, params) = (table.engine(), params.engine());
        let chosen = |job: &Job<'_>| self.chooser.choose(&condition.source, table, params, job);
        Ok(IndexChoice { choice: watch::run(py, usize::MAX, None, None, chosen)? })
    }
}

/// What the engine knows of the keys of a column, or of an expression.
fn operand_of(kind: KeyKind, column: Option<&QueryColumn>) -> Operand {
    let is_float = matches!(kind, KeyKind::Number(NumberType::F32 | NumberType::F64));
    // Bytes of a text at most: of code points too, as one of 4 bytes takes no more than these in UTF-8.
    let width = match column.map(|column| &column.values) {
        Some(ColumnValues::FixedBytes(source) | ColumnValues::FixedPoints(source)) => source.item_bytes(),
        _ => 0,
    };
    let can_be_null = column.is_some_and(|column| {
        column.mask.is_some() || matches!(column.values, ColumnValues::Categories { .. })
    });
    Operand { kind, width, can_be_nan: is_float || kind == KeyKind::Time, can_be_null }
}

/// How a condition is answered.
#[pyclass(frozen, module = "coquina._core")]
pub(crate) struct IndexChoice {
    pub(crate) choice: Choice,
}

#[pymethods]
impl IndexChoice {
    /// That of a scan.
    #[staticmethod]
    fn scan(reason: String) -> Self {
        Self { choice: Choice::scan(reason) }
    }

    /// Whether no index is used.
    #[getter]
    fn is_scan(&self) -> bool {
        self.choice.is_scan()
    }

    /// Whether what is looked up is all of the condition.
    #[getter]
    fn is_whole(&self) -> bool {
        self.choice.is_whole()
    }

    /// Why it is so, for people.
    #[getter]
    fn reason(&self) -> &str {
        self.choice.reason()
    }

    /// Whether zone maps were asked for it.
    #[getter]
    fn is_surveyed(&self) -> bool {
        self.choice.is_surveyed()
    }

    /// The names of the indexes.
    #[getter]
    fn names<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.choice.names())
    }

    /// The rows that are looked up, of a table of so many; None for a scan.
    fn rows(&self, py: Python<'_>, count: u64) -> Result<Option<PyRowSet>, Raised> {
        let rows = watch::run(py, usize::MAX, None, None, |job| self.choice.rows(count, job))?;
        Ok(rows.map(PyRowSet::from))
    }

    /// How many rows meet the condition; None if no index knows the number.
    fn count(&self, py: Python<'_>) -> Result<Option<u64>, Raised> {
        watch::run(py, usize::MAX, None, None, |job| self.choice.count(job))
    }

    /// The condition with the rows in it that were looked up: of an exact set the rest is left to be computed.
    fn condition(
        &self,
        py: Python<'_>,
        condition: &Lazy,
        rows: &PyRowSet,
        table: TableRows,
    ) -> Result<Lazy, Raised> {
        let made = || self.choice.condition(&condition.source, &rows.set, table.engine());
        Ok(Lazy::of_program(py.detach(made)?))
    }
}
