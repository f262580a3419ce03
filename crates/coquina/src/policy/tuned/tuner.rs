//! The tuner of an array: chooses for chunk after chunk, and remembers.

use std::sync::{Mutex, PoisonError};

use super::counts::count;
use super::features::Features;
use super::goal::Goal;
use super::memory::{Memory, Recalled};
use super::sample::{Pieces, Sampled, seen, various};
use super::times::Model;
use super::trial::{Trial, Tried};
use super::ways::{self, Way};
use crate::base::error::Result;
use crate::base::pool::Job;
use crate::chunk::{Params, Plain};

/// How a chunk is to be encoded.
#[derive(Clone, Copy)]
pub struct Choice {
    /// The parameters.
    pub params: Params,
    /// Whether all blocks that may be looked at are one item over and over; whoever has the whole chunk may look whether that
    /// is too.
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
    /// Chunks for which nothing was tried: they took over what was chosen for one before, or got what is usual.
    pub reused: u64,
    /// Chunks of one item over and over.
    pub uniform: u64,
}

/// Chooses how the chunks of an array are encoded.
pub struct Tuner {
    goal: Goal,
    state: Mutex<State>,
}

struct State {
    memory: Memory,
    counters: Counters,
}

impl Tuner {
    /// A tuner that has seen nothing.
    pub fn new(goal: Goal) -> Self {
        let state = State { memory: Memory::new(goal.is_size()), counters: Counters::default() };
        Self { goal, state: Mutex::new(state) }
    }

    /// What it chooses for.
    pub fn goal(&self) -> &Goal {
        &self.goal
    }

    /// What it has done.
    pub fn counters(&self) -> Counters {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).counters
    }

    /// How to encode a chunk: `params` with another codec, level, pipeline and split. What was chosen for chunks before
    /// is remembered, so that this must be called in the order of the chunks.
    ///
    /// # Errors
    /// `Cancelled`; `Invalid` for parameters that contradict each other.
    pub fn choose(&self, sampled: &Sampled<'_>, params: &Params, job: &Job<'_>) -> Result<Choice> {
        self.choose_for(&Looks::of(sampled, params), sampled, params, job)
    }

    /// The same for a chunk that has been looked at before its turn.
    ///
    /// # Errors
    /// As [`Tuner::choose`].
    pub fn choose_for(
        &self,
        looks: &Looks,
        sampled: &Sampled<'_>,
        params: &Params,
        job: &Job<'_>,
    ) -> Result<Choice> {
        let Some(features) = &looks.features else {
            return Ok(Choice { params: *params, is_uniform: false });
        };
        let sampled = &Sampled { numbers: &looks.numbers, ..*sampled };
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let State { memory, counters } = &mut *state;
        counters.chosen += 1;
        if features.is_uniform {
            counters.uniform += 1;
            return Self::uniform(params);
        }
        let known = match memory.recall(features, params.typesize) {
            Recalled::Way(way) => Some(way),
            Recalled::Unaffordable => Some(ways::usual(params)?),
            Recalled::Nothing => None,
        };
        if let Some(way) = known {
            counters.reused += 1;
            return Ok(Choice { params: way.params(params), is_uniform: false });
        }
        let tried = tried(&self.goal, sampled, params, job)?;
        let best = best(&tried)?;
        counters.tried += 1;
        counters.ways += tried.len() as u64;
        let took = duration(&tried, sampled);
        memory.remember(features.clone(), params.typesize, best, took);
        Ok(Choice { params: best.params(params), is_uniform: false })
    }

    /// The same for a chunk by itself: nothing is taken over or remembered.
    ///
    /// # Errors
    /// As [`Tuner::choose`].
    pub fn choose_alone(&self, sampled: &Sampled<'_>, params: &Params, job: &Job<'_>) -> Result<Choice> {
        Self::new(self.goal.clone()).choose(sampled, params, job)
    }

    /// How to encode a chunk of bytes in memory. What was chosen for chunks before is remembered.
    ///
    /// # Errors
    /// As [`Tuner::choose`].
    pub fn choose_for_bytes(&self, bytes: &[u8], params: &Params, job: &Job<'_>) -> Result<Choice> {
        let slice = sliced(bytes, params);
        let numbers: Vec<usize> = (0..bytes.len() / slice.block_bytes).collect();
        let sampled = Sampled { source: &slice, numbers: &numbers, block_bytes: slice.block_bytes };
        self.choose(&sampled, params, job)
    }

    /// What suits a chunk that is one item over and over, if it must have blocks.
    fn uniform(params: &Params) -> Result<Choice> {
        let way = ways::usual(params)?;
        Ok(Choice { params: way.params(params), is_uniform: true })
    }
}

/// Fewer bytes are encoded as they would be without a tuner: nothing that is tried on them could pay.
const WORTH_BYTES: usize = 512;

/// The best way of a trial.
fn best(tried: &[Tried]) -> Result<Way> {
    tried.first().map_or_else(ways::stored, |best| Ok(best.way))
}

/// How many times as long a trial takes as to encode the chunk, by the times of the model.
fn duration(tried: &[Tried], sampled: &Sampled<'_>) -> f64 {
    let all = count(sampled.numbers.len() * sampled.block_bytes);
    let trial: f64 = tried.iter().map(|tried| tried.times.write * count(tried.bytes)).sum();
    let best = tried.first().map_or(1.0, |best| best.times.write);
    trial / (all * best).max(1.0)
}

/// What was tried on a chunk, the best first.
pub(super) fn tried(
    goal: &Goal,
    sampled: &Sampled<'_>,
    params: &Params,
    job: &Job<'_>,
) -> Result<Vec<Tried>> {
    let pieces = Pieces::of(sampled, params.typesize, job)?;
    let model = Model::new(goal)?;
    Trial { goal, model, params, pieces: &pieces, job }.run()
}

/// What a chunk looks like. Depends on the chunk alone.
pub struct Looks {
    /// `None` of so few bytes that nothing could pay.
    pub(super) features: Option<Features>,
    /// The blocks that say most: where what is seen at first is one item over and over, those that have others, if there are
    /// any.
    pub(super) numbers: Vec<usize>,
}

impl Looks {
    /// Looks at a chunk.
    pub fn of(sampled: &Sampled<'_>, params: &Params) -> Self {
        if sampled.numbers.len() * sampled.block_bytes < WORTH_BYTES {
            return Self { features: None, numbers: sampled.numbers.to_vec() };
        }
        let of = |sampled: &Sampled<'_>| Features::of(&seen(sampled, params.typesize), params.typesize);
        let features = of(sampled);
        if !features.is_uniform {
            return Self { features: Some(features), numbers: sampled.numbers.to_vec() };
        }
        let numbers = various(sampled, params.typesize);
        if numbers.is_empty() {
            return Self { features: Some(features), numbers: sampled.numbers.to_vec() };
        }
        let features = Features { is_uniform: false, ..of(&Sampled { numbers: &numbers, ..*sampled }) };
        Self { features: Some(features), numbers }
    }
}

/// The largest blocks that bytes in memory are looked at in.
const SLICE_BLOCK_BYTES_MAX: usize = 64 << 10;

/// Bytes in memory, as blocks of whole items.
fn sliced<'b>(bytes: &'b [u8], params: &Params) -> Plain<'b> {
    let most = SLICE_BLOCK_BYTES_MAX.min(params.block_bytes(bytes.len()));
    let items = (most / params.typesize).max(1);
    Plain { plain: bytes, block_bytes: (items * params.typesize).min(bytes.len()).max(1) }
}

#[cfg(test)]
mod tests {
    use super::super::goal::Wants;
    use super::*;
    use crate::base::testing::random;

    fn params() -> Params {
        Params { typesize: 4, blocksize: Some(1 << 14), ..Params::default() }
    }

    fn noise(seed: u64, mask: u64) -> Vec<u8> {
        let mut next = random(seed);
        (0..1 << 16).flat_map(|_| u32::try_from(next(1 << 32) & mask).unwrap().to_le_bytes()).collect()
    }

    fn goal(tradeoff: f64) -> Goal {
        Goal::new(tradeoff, Wants::Both, None, false).unwrap()
    }

    #[test]
    fn chunks_like_the_last_take_its_way_over_and_others_are_tried() {
        let tuner = Tuner::new(goal(0.5));
        let job = Job::inline();
        let chunks = [noise(1, 0xff), noise(2, 0xff), noise(3, u64::MAX), noise(4, 0xff), vec![5; 1 << 18]];
        let chosen: Vec<Choice> =
            chunks.iter().map(|bytes| tuner.choose_for_bytes(bytes, &params(), &job).unwrap()).collect();
        let counters = tuner.counters();
        assert_eq!((counters.chosen, counters.tried, counters.reused, counters.uniform), (5, 2, 2, 1));
        assert!(chosen[4].is_uniform && !chosen[0].is_uniform);
        assert_eq!(chosen[2].params.level, 0, "noise is stored");
        let way = |n: usize| (chosen[n].params.codec.id(), chosen[n].params.level, chosen[n].params.pipeline);
        assert_eq!(way(0), way(3));
        assert_ne!(way(0), way(2));
    }

    #[test]
    fn alone_a_chunk_gets_what_its_bytes_say_whatever_came_before() {
        let tuner = Tuner::new(goal(1.0));
        let first = noise(1, 0xff0f);
        let slice = sliced(&first, &params());
        let numbers: Vec<usize> = (0..first.len() / slice.block_bytes).collect();
        let sampled = Sampled { source: &slice, numbers: &numbers, block_bytes: slice.block_bytes };
        let alone = || tuner.choose_alone(&sampled, &params(), &Job::inline()).unwrap().params;
        let before = alone();
        tuner.choose_for_bytes(&noise(2, 0x3), &params(), &Job::inline()).unwrap();
        let after = alone();
        assert_eq!((before.level, before.pipeline), (after.level, after.pipeline));
        assert_eq!(before.codec.id(), after.codec.id());
        assert_eq!(tuner.counters().chosen, 1);
    }

    #[test]
    fn what_is_mostly_one_item_is_judged_by_its_other_blocks() {
        let mut bytes = vec![0; 1 << 20];
        bytes[5 << 14..6 << 14].copy_from_slice(&noise(1, 0xff)[..1 << 14]);
        for tradeoff in [0.0, 0.5, 1.0] {
            let tuner = Tuner::new(goal(tradeoff));
            // What is stored as it is must not be what comes after it.
            let job = Job::inline();
            assert_eq!(tuner.choose_for_bytes(&noise(2, u64::MAX), &params(), &job).unwrap().params.level, 0);
            let choice = tuner.choose_for_bytes(&bytes, &params(), &job).unwrap();
            assert!(!choice.is_uniform);
            let encoded = crate::chunk::encode(&bytes, &choice.params, &job).unwrap();
            assert!(encoded.len() < 10_000, "{tradeoff} {}", encoded.len());
            let alone = Tuner::new(goal(tradeoff)).choose_for_bytes(&vec![3; 1 << 20], &params(), &job);
            assert!(alone.unwrap().is_uniform);
        }
    }

    #[test]
    fn odd_sizes_are_looked_at_without_harm() {
        for len in [0, 1, 3, 4, 5, 31, 1000, 70001] {
            for typesize in [1, 3, 4, 16, 300] {
                let bytes = &noise(7, 0xfff)[..len];
                let params = Params { typesize, ..Params::default() };
                let choice = Tuner::new(goal(0.7)).choose_for_bytes(bytes, &params, &Job::inline());
                assert!(choice.unwrap().params.check().is_ok(), "{len} {typesize}");
            }
        }
    }
}
