//! What chunks are tuned for, as Python says it and is told it.
//!
//! In: a number from 0, speed, to 1, size; what is to be fast; bytes per second of the storage, or none; and whether
//! times are those of this machine. Out: the same.

use std::collections::BTreeMap;

use coquina::Result;
use coquina::array::Array;
use coquina::tune::{Goal, Wants};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::Raised;
use crate::tuples::tuple_struct;

pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(check_tuning, module)?)?;
    module.add_function(wrap_pyfunction!(tuning_text, module)?)?;
    module.add_function(wrap_pyfunction!(tuning_of_text, module)?)
}

tuple_struct! {
    /// A goal as Python code writes it.
    pub(crate) struct GoalTerms {
        tradeoff: f64,
        wants: String,
        bandwidth: Option<f64>,
        is_calibrated: bool,
    }
}

/// A goal for Python.
pub(crate) type GoalTuple = (f64, String, Option<f64>, bool);

/// Raises ValueError for a goal that no tuner can have.
#[pyfunction]
#[pyo3(signature = (goal, /))]
fn check_tuning(goal: GoalTerms) -> Result<(), Raised> {
    goal_of(Some(goal))?;
    Ok(())
}

/// Returns a goal as the text that stands in files.
#[pyfunction]
#[pyo3(signature = (goal, /))]
fn tuning_text(goal: GoalTerms) -> Result<String, Raised> {
    Ok(goal_of(Some(goal))?.unwrap_or_default().text())
}

/// Returns the goal of such a text; raises CorruptError for another one.
#[pyfunction]
#[pyo3(signature = (text, /))]
fn tuning_of_text(text: &str) -> Result<GoalTuple, Raised> {
    Ok(to_tuple(&Goal::of_text(text)?))
}

/// The goal, if there is one.
pub(crate) fn goal_of(terms: Option<GoalTerms>) -> Result<Option<Goal>> {
    let goal = |GoalTerms { tradeoff, wants, bandwidth, is_calibrated }| {
        Goal::new(tradeoff, Wants::of(&wants)?, bandwidth, is_calibrated)
    };
    terms.map(goal).transpose()
}

/// A goal for Python.
pub(crate) fn to_tuple(goal: &Goal) -> GoalTuple {
    (goal.tradeoff(), goal.wants().name().to_owned(), goal.bandwidth(), goal.is_calibrated())
}

/// What chunks of an array are tuned for.
pub(super) fn get(py: Python<'_>, array: &Array) -> Result<Option<GoalTuple>, Raised> {
    Ok(py.detach(|| array.tuning())?.as_ref().map(to_tuple))
}

/// What chunks of an array are to be tuned for from now on.
pub(super) fn set(py: Python<'_>, array: &Array, goal: Option<GoalTerms>) -> Result<(), Raised> {
    let goal = goal_of(goal)?;
    Ok(py.detach(|| array.set_tuning(goal))?)
}

/// How many chunks of an array are encoded how.
pub(super) fn encodings(py: Python<'_>, array: &Array) -> Result<BTreeMap<String, u64>, Raised> {
    let found = py.detach(|| array.encodings())?;
    let text = |(codec, filters): (String, String)| {
        if filters.is_empty() { codec } else { format!("{codec} + {filters}") }
    };
    Ok(found.into_iter().map(|(coding, count)| (text(coding), count)).collect())
}

/// What the tuner of an array has done so far.
pub(super) fn counters<'py>(py: Python<'py>, array: &Array) -> Result<Bound<'py, PyDict>, Raised> {
    let counters = py.detach(|| array.tuner_counters());
    let facts = PyDict::new(py);
    facts.set_item("chosen", counters.chosen)?;
    facts.set_item("tried", counters.tried)?;
    facts.set_item("ways", counters.ways)?;
    facts.set_item("reused", counters.reused)?;
    facts.set_item("uniform", counters.uniform)?;
    Ok(facts)
}
