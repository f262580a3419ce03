//! How a condition is answered: by which indexes, or by a scan.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use coquina::array::BoxSource;
use coquina::index::terms::{Chosen, Costs, Few, Indexes, Tree, chosen, looked_up};
use coquina::index::{RowSet, Wanted, ZONE_ROWS};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use super::key_ranges::PyKeyRanges;
use super::row_set::PyRowSet;
use super::terms::{ConditionTerms, IndexOperands, Term};
use crate::errors::Raised;
use crate::lazy::Lazy;
use crate::tuples::tuple_struct;

/// Kinds of indexes that tell rows one by one.
const SURE: [&str; 2] = ["full", "partial"];

tuple_struct! {
    /// What the choice depends on beside the condition: rows, rows of a box, what asks zone maps or None, whether indexes
    /// are used whatever they cost; and what asking zone maps costs for each box, and in any case, and of how few rows
    /// are looked up to learn how many they are.
    pub(super) struct Terrain<'py> {
        rows: u64,
        box_rows: u64,
        survey: Option<Bound<'py, PyAny>>,
        is_forced: bool,
        surveyed_bytes: f64,
        survey_bytes: f64,
        most: u64,
    }
}

/// How a condition is answered, of which is known what it asks of indexes.
#[pyfunction]
pub(super) fn index_choice<'py>(
    py: Python<'py>,
    asks: &ConditionTerms,
    condition: &Bound<'py, Lazy>,
    terrain: Terrain<'py>,
) -> Result<IndexChoice, Raised> {
    let operands = asks.operands.get();
    let Some(tree) = &asks.terms.tree else { return Ok(IndexChoice::scan(String::new())) };
    if matches!(**tree, Tree::Known(_)) {
        return Ok(IndexChoice::scan("the condition is the same for all rows".to_owned()));
    }
    let costs = Costs {
        rows: terrain.rows,
        box_rows: terrain.box_rows,
        surveyed_bytes: terrain.surveyed_bytes,
        survey_bytes: terrain.survey_bytes,
        is_forced: terrain.is_forced,
    };
    let rows = terrain.rows;
    let mut asked = Asked { py, operands, condition, terrain };
    let all = operands.known.all();
    let Chosen { best, found, useless } = chosen(&asks.terms, all, asks.row_bytes, costs, &mut asked)?;
    let useless = useless.into_iter().map(|operand| operands.indexes[operand].clone_ref(py)).collect();
    let names = |tree: &Tree| -> PyResult<Vec<String>> {
        let mut names = BTreeSet::new();
        operands.names(py, tree, &mut names)?;
        Ok(names.into_iter().collect())
    };
    let Some(best) = best else {
        let names = names(tree)?.join(", ");
        let reason = format!("{names}: knows nothing of these rows");
        return Ok(IndexChoice { useless, ..IndexChoice::scan(reason) });
    };
    let names = names(&best.tree)?;
    let words = format!("some {} of {rows} rows", best.rows.round_ties_even());
    if !best.is_gain {
        let reason = format!("a scan costs less: {words} by {}", names.join(", "));
        return Ok(IndexChoice { useless, ..IndexChoice::scan(reason) });
    }
    let rest =
        if best.is_whole { Vec::new() } else { asks.terms.rest(&best.tree, all).map(Arc::clone).collect() };
    let answer = Answer { tree: best.tree, operands: asks.operands.clone_ref(py), rest, found };
    Ok(IndexChoice { answer: Some(answer), is_whole: best.is_whole, names, reason: words, useless })
}

/// Asks the indexes that Python has.
struct Asked<'a, 'py> {
    py: Python<'py>,
    operands: &'a IndexOperands,
    condition: &'a Bound<'py, Lazy>,
    terrain: Terrain<'py>,
}

/// The keywords with which rows of a term are asked for.
fn keywords<'py>(py: Python<'py>, term: Term) -> PyResult<Bound<'py, PyDict>> {
    let keywords = PyDict::new(py);
    keywords.set_item("missing", term.missing != Some(false))?;
    keywords.set_item("check", Py::new(py, term)?)?;
    Ok(keywords)
}

impl Indexes for Asked<'_, '_> {
    type Error = Raised;

    fn few(&mut self, operand: usize, wanted: &Wanted) -> Result<Option<Few>, Raised> {
        let py = self.py;
        let index = self.operands.indexes[operand].bind(py);
        let term = self.operands.term(py, operand, wanted);
        let keys = PyKeyRanges { keys: Arc::clone(&wanted.maybe) };
        let keywords = keywords(py, term)?;
        keywords.set_item("most", self.terrain.most)?;
        let found = index.call_method("few", (keys,), Some(&keywords))?;
        if found.is_none() {
            return Ok(None);
        }
        let (rows, open_rows, found): (u64, u64, Option<PyRef<'_, PyRowSet>>) = found.extract()?;
        let kind: String = index.getattr("kind")?.extract()?;
        let unit_rows =
            if kind == "zones" { ZONE_ROWS } else { index.getattr("bucket_rows")?.extract::<u64>()? };
        let is_sure = SURE.contains(&&kind[..]);
        Ok(Some(Few { rows, open_rows, found: found.map(|found| found.set.clone()), unit_rows, is_sure }))
    }

    fn scanned(&mut self) -> Result<f64, Raised> {
        let Some(survey) = &self.terrain.survey else { return Ok(1.0) };
        let (boxes, unknown): (u64, u64) = survey.call1((self.condition, 0, self.terrain.rows))?.extract()?;
        #[expect(clippy::cast_precision_loss, reason = "it is an estimate")]
        Ok(unknown as f64 / boxes.max(1) as f64)
    }
}

/// How a condition is answered.
#[pyclass(frozen, module = "coquina._core")]
pub(crate) struct IndexChoice {
    answer: Option<Answer>,
    /// Whether what is looked up is all of the condition.
    #[pyo3(get)]
    is_whole: bool,
    names: Vec<String>,
    /// Why it is so, for people.
    #[pyo3(get)]
    reason: String,
    useless: Vec<Py<PyAny>>,
}

/// What is looked up, and what has to be computed of rows that surely meet that.
struct Answer {
    tree: Arc<Tree>,
    operands: Py<IndexOperands>,
    rest: Vec<Arc<dyn BoxSource>>,
    /// The rows of terms that have been looked up.
    found: HashMap<usize, RowSet>,
}

#[pymethods]
impl IndexChoice {
    /// That of a scan.
    #[staticmethod]
    fn scan(reason: String) -> Self {
        Self { answer: None, is_whole: false, names: Vec::new(), reason, useless: Vec::new() }
    }

    /// Whether no index is used.
    #[getter]
    fn is_scan(&self) -> bool {
        self.answer.is_none()
    }

    /// The names of the indexes.
    #[getter]
    fn names<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.names)
    }

    /// Indexes that were wanted, and could not be asked.
    #[getter]
    fn useless(&self, py: Python<'_>) -> Vec<Py<PyAny>> {
        self.useless.iter().map(|index| index.clone_ref(py)).collect()
    }

    /// What has to be computed of rows that surely meet what is looked up.
    #[getter]
    fn rest(&self) -> Vec<Lazy> {
        let rest = self.answer.iter().flat_map(|answer| &answer.rest);
        rest.map(|source| Lazy::of(Arc::clone(source), true)).collect()
    }

    /// The rows that are looked up, of a table of so many; None for a scan.
    fn rows(&self, py: Python<'_>, count: u64) -> Result<Option<PyRowSet>, Raised> {
        let Some(Answer { tree, operands, found, .. }) = &self.answer else { return Ok(None) };
        let operands = operands.get();
        let mut ask = |tree: &Arc<Tree>, operand: usize, wanted: &Wanted| -> Result<RowSet, Raised> {
            if let Some(found) = found.get(&Arc::as_ptr(tree).addr()) {
                return Ok(found.clone());
            }
            let keys = PyKeyRanges { keys: Arc::clone(&wanted.maybe) };
            let keywords = keywords(py, operands.term(py, operand, wanted))?;
            keywords.set_item("by_key", true)?;
            let found = operands.indexes[operand].bind(py).call_method("lookup", (keys,), Some(&keywords))?;
            Ok(found.extract::<PyRef<'_, PyRowSet>>().map_err(PyErr::from)?.set.clone())
        };
        let rows = looked_up(tree, operands.known.all(), count, &mut ask)?;
        let end = i64::try_from(count).unwrap_or(i64::MAX);
        Ok(Some(if rows.is_within(&(0..end)) { rows } else { rows.clip(&(0..end)) }.into()))
    }

    /// How many rows meet the condition; None if no index knows the number.
    fn count(&self, py: Python<'_>) -> Result<Option<usize>, Raised> {
        let Some(Answer { tree, operands, found, .. }) = &self.answer else { return Ok(None) };
        let (Tree::Term(operand, wanted), true) = (&**tree, self.is_whole) else { return Ok(None) };
        if let Some(found) = found.get(&Arc::as_ptr(tree).addr()) {
            return Ok((found.is_exact() && found.open().is_empty()).then_some(found.rows().len()));
        }
        let operands = operands.get();
        let term = operands.term(py, *operand, wanted);
        let is_wanted = term.missing == Some(true);
        let keywords = keywords(py, term)?;
        keywords.set_item("missing", is_wanted)?;
        keywords.set_item("by_key", true)?;
        let keys = PyKeyRanges { keys: Arc::clone(&wanted.sure) };
        let index = operands.indexes[*operand].bind(py);
        Ok(index.call_method("count", (keys,), Some(&keywords))?.extract()?)
    }
}
