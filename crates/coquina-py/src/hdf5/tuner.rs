//! A tuner for chunks that are stored one by one.

use std::sync::Arc;

use coquina::chunk::Params;
use coquina::hdf5::Pipeline;
use coquina::tune::Tuner;
use coquina::{Error, Job};
use pyo3::prelude::*;

use crate::arrays::{GoalTerms, goal_of};
use crate::errors::Raised;

/// Chooses how chunks are encoded that Python code hands over encoded, one after another, and remembers it.
#[derive(Clone)]
#[pyclass(frozen, module = "coquina._core")]
pub(super) struct ChunkTuner(Arc<Tuner>);

#[pymethods]
impl ChunkTuner {
    #[new]
    #[pyo3(signature = (goal, /))]
    fn new(goal: GoalTerms) -> Result<Self, Raised> {
        Ok(Self(Arc::new(Tuner::new(goal_of(Some(goal))?.unwrap_or_default()))))
    }
}

impl ChunkTuner {
    /// By what a chunk with these items is encoded.
    pub(super) fn choose(&self, pipeline: &Pipeline, items: &[u8]) -> Result<Params, Error> {
        let Some(spec) = pipeline.blosc2() else {
            return Err(Error::unsupported("tuning: takes a dataset whose only filter is Blosc2"));
        };
        let params = spec.cut_params(pipeline.chunk_bytes());
        Ok(self.0.choose_for_bytes(items, &params, &Job::default())?.params)
    }
}
