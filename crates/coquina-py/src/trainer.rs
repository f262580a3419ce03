//! Learning a profile for tuning from samples of files, for Python.

use std::sync::{Mutex, PoisonError};

use coquina::BlockLayout;
use coquina::chunk::{Params, Plain};
use coquina::tune::{Judged, Sampled, Trainer};
use pyo3::prelude::*;

use crate::arrays::{GoalTerms, ProfileHandle, goal_of};
use crate::buffers::Input;
use crate::errors::Raised;
use crate::explain::check_blocks;
use crate::{options, watch};

/// Samples, and how long every way of encoding took for them. One thread at a time works with it.
#[pyclass(frozen, name = "TrainerHandle", module = "coquina._core")]
#[derive(Default)]
pub(crate) struct TrainerHandle(Mutex<Trainer>);

#[pymethods]
impl TrainerHandle {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Times every way on some blocks of one place.
    ///
    /// group: the number of their file; samples of a file are never judged by each other.
    /// The others are those of `explain_tuning`. Raises ValueError for sizes that contradict each other.
    #[pyo3(signature = (group, blocks, /, block_bytes, typesize, dtype, block_shape))]
    #[expect(clippy::too_many_arguments, reason = "one call from one place")]
    fn observe(
        &self,
        py: Python<'_>,
        group: usize,
        blocks: &Bound<'_, PyAny>,
        block_bytes: usize,
        typesize: i64,
        dtype: &str,
        block_shape: Vec<u64>,
    ) -> Result<(), Raised> {
        let input = Input::of(blocks)?;
        let bytes = input.bytes();
        let typesize = options::number("typesize", typesize, 1)?;
        check_blocks(bytes, block_bytes)?;
        let layout = BlockLayout::new(&block_shape, typesize, dtype);
        let params = Params { typesize, layout, blocksize: Some(block_bytes), ..Params::default() };
        params.check()?;
        let source = Plain { plain: bytes, block_bytes };
        let numbers: Vec<usize> = (0..bytes.len() / block_bytes).collect();
        let sampled = Sampled { source: &source, numbers: &numbers, block_bytes };
        watch::run(py, bytes.len(), Some(1), None, |job| {
            self.trainer().observe(group, &sampled, &params, job)
        })
    }

    /// What all samples say.
    fn profile(&self, py: Python<'_>) -> Result<ProfileHandle, Raised> {
        Ok(ProfileHandle::new(py.detach(|| self.trainer().profile())?))
    }

    /// The parts by which choices for a goal cost more than the best way of each sample, on the average: with the shipped
    /// table, and with a profile that was learnt from the samples of other files.
    #[pyo3(signature = (goal, /))]
    fn judge(&self, py: Python<'_>, goal: GoalTerms) -> Result<(f64, f64), Raised> {
        let goal = goal_of(Some(goal))?.unwrap_or_default();
        let Judged { shipped, trained } =
            watch::run(py, usize::MAX, Some(1), None, |job| self.trainer().judge(&goal, job))?;
        Ok((shipped, trained))
    }

    fn __len__(&self) -> usize {
        self.trainer().samples()
    }
}

impl TrainerHandle {
    fn trainer(&self) -> std::sync::MutexGuard<'_, Trainer> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
