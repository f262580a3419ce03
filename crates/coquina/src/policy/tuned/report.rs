//! What was tried on a chunk, and why one way was taken: for people.

use super::features::Features;
use super::goal::Goal;
use super::sample::Sampled;
use super::trial::Tried;
use super::tuner::{Looks, tried};
use crate::base::error::Result;
use crate::base::pool::Job;
use crate::chunk::Params;

/// A way that was tried.
#[derive(Clone, Copy)]
pub struct Way {
    /// The codec, its level and filters, with the other parameters as they were given.
    pub params: Params,
    /// What is left of the items, as a part of their size.
    pub fraction: f64,
    /// Nanoseconds of a core to write a byte, as the model says.
    pub write_ns: f64,
    /// The same to read it.
    pub read_ns: f64,
    /// Nanoseconds for a byte by the goal, with those of the storage; where only the size counts, what is left of it.
    pub cost: f64,
}

/// What was tried on a chunk.
pub struct Report {
    /// What it looks like.
    pub features: Features,
    /// What was tried, the best first.
    pub tried: Vec<Way>,
}

/// What the tuner finds of some blocks. For blocks that are one item over and over that says what they would be if they were
/// not a special value.
///
/// # Errors
/// `Cancelled`; `Invalid` for parameters that contradict each other.
pub fn explain(goal: &Goal, sampled: &Sampled<'_>, params: &Params, job: &Job<'_>) -> Result<Report> {
    let Looks { features, numbers } = Looks::of(sampled, params);
    let features = features.unwrap_or_default();
    let sampled = &Sampled { numbers: &numbers, ..*sampled };
    let way = |tried: &Tried| Way {
        params: tried.way.params(params),
        fraction: tried.fraction,
        write_ns: tried.times.write,
        read_ns: tried.times.read,
        cost: tried.cost,
    };
    let tried = tried(goal, sampled, params, job)?;
    Ok(Report { features, tried: tried.iter().map(way).collect() })
}
