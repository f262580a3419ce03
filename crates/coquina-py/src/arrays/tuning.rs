//! What chunks are tuned for, as Python says it and is told it.
//!
//! In: a number from 0, speed, to 1, size; what is to be fast; bytes per second of the storage, or none; and whether
//! times are those of this machine, or the profile by which they are estimated. Out: the same.

use std::collections::BTreeMap;

use coquina::Result;
use coquina::array::Array;
use coquina::tune::{Goal, Profile, Wants};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};

use crate::errors::Raised;
use crate::tuples::tuple_struct;

pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<ProfileHandle>()?;
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
        times: Times,
    }
}

/// Where times come from: the table (False), this machine (True), or a profile.
#[derive(Clone, FromPyObject, IntoPyObject)]
pub(crate) enum Times {
    Measured(bool),
    Profile(ProfileHandle),
}

/// A goal for Python.
pub(crate) type GoalTuple = (f64, String, Option<f64>, Times);

/// What `train` learnt from files, for `codec="auto"`: a short text.
///
/// text: the content of a file that `train` wrote.
///
/// Raises CorruptError for another text, UnsupportedError for a profile of another version of coquina.
///
/// >>> import numpy as np
/// >>> import coquina as cq
/// >>> np.save("x.npy", np.arange(100_000) // 7)
/// >>> profile = cq.train("x.npy", goals=["balanced"]).profile
/// >>> cq.Profile(profile.text) == profile
/// True
#[derive(Clone)]
#[pyclass(frozen, eq, from_py_object, name = "Profile", module = "coquina")]
pub(crate) struct ProfileHandle(Profile);

impl PartialEq for ProfileHandle {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl ProfileHandle {
    pub(crate) fn new(profile: Profile) -> Self {
        Self(profile)
    }
}

#[pymethods]
impl ProfileHandle {
    /// Raises CorruptError for a text that is no profile, UnsupportedError for one of another version.
    #[new]
    #[pyo3(signature = (text, /))]
    fn of_text(text: &str) -> Result<Self, Raised> {
        Ok(Self(Profile::of_text(text)?))
    }

    /// The content of the file.
    #[getter]
    fn text(&self) -> String {
        self.0.text()
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> (Bound<'py, PyType>, (String,)) {
        (slf.get_type(), (slf.get().text(),))
    }

    fn __repr__(&self) -> String {
        format!("<Profile of {} ways>", self.0.ways())
    }
}

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
    let goal = |GoalTerms { tradeoff, wants, bandwidth, times }| {
        let is_calibrated = matches!(times, Times::Measured(true));
        let goal = Goal::new(tradeoff, Wants::of(&wants)?, bandwidth, is_calibrated)?;
        Ok(match times {
            Times::Profile(ProfileHandle(profile)) => goal.with_profile(Some(profile)),
            Times::Measured(_) => goal,
        })
    };
    terms.map(goal).transpose()
}

/// A goal for Python.
pub(crate) fn to_tuple(goal: &Goal) -> GoalTuple {
    let profile = goal.profile().map(|profile| Times::Profile(ProfileHandle(profile.clone())));
    let times = profile.unwrap_or(Times::Measured(goal.is_calibrated()));
    (goal.tradeoff(), goal.wants().name().to_owned(), goal.bandwidth(), times)
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
