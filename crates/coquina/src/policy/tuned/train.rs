//! Learns a [`Profile`] from samples of a user's own data: every way is timed on some blocks, here and now.
//!
//! In: blocks, each of a group (a file), with the parameters that they would be written by. Out: a profile; and for a goal, how
//! much more than the best way's cost the choices come to, with the shipped table and with profiles that were learnt from
//! the other groups.
//! Method: what is learnt of a codec, level and kind of streams is the mean by which logarithms of times are off, drawn towards
//! that of all ways where few samples say so, and the least and the usual part of the probe's size.

use std::collections::BTreeMap;

use super::counts::count;
use super::goal::Goal;
use super::math::{exp2, log2};
use super::profile::{Correction, Profile};
use super::sample::{Pieces, Sampled};
use super::times::{Model, Probe, Probes};
use super::timing::timed;
use super::trial::{Trial, part_of};
use super::tuner::Looks;
use super::ways::{self, Filters, Times, Way};
use super::work::Work;
use crate::base::error::{Error, Result};
use crate::base::pool::Job;
use crate::chunk::Params;

/// The best of so many runs, or of one that takes long.
const RUNS: usize = 4;
/// What is learnt of a way counts as if so many samples more had been as all ways are.
const DOUBT: f64 = 3.0;
/// Groups are left out in so many turns.
const TURNS: usize = 4;
/// Of blocks that probes make smaller than this, heads are what is measured.
const TINY_PART: f64 = 0.004;

/// What a way did with a sample.
struct Observed {
    way: Way,
    fraction: f64,
    work: Option<Work>,
    probes: Probes,
    times: Times,
}

/// Blocks of one place, and what every way did with them.
struct Sample {
    group: usize,
    params: Params,
    pieces: Pieces,
    observed: Vec<Observed>,
}

/// What choices come to for a goal: parts by which they cost more than the best way of each sample, as geometric means.
#[derive(Clone, Copy, Debug)]
pub struct Judged {
    /// With the shipped table.
    pub shipped: f64,
    /// With a profile that was learnt from other groups.
    pub trained: f64,
}

/// Samples, and what was measured of them.
#[derive(Default)]
pub struct Trainer {
    samples: Vec<Sample>,
}

impl Trainer {
    /// Samples so far.
    pub fn samples(&self) -> usize {
        self.samples.len()
    }

    /// Times every way on some blocks of a chunk, unless they are one item over and over, for which nothing is chosen.
    /// Samples of the same group are never judged by each other.
    ///
    /// # Errors
    /// `Cancelled`; what encoding says.
    pub fn observe(
        &mut self,
        group: usize,
        sampled: &Sampled<'_>,
        params: &Params,
        job: &Job<'_>,
    ) -> Result<()> {
        let looks = Looks::of(sampled, params);
        if looks.features.as_ref().is_none_or(|features| features.is_uniform) {
            return Ok(());
        }
        let pieces = Pieces::of(&Sampled { numbers: &looks.numbers, ..*sampled }, params.typesize, job)?;
        let mut observed = Vec::new();
        for filters in ways::filters_for(params) {
            observe_behind(filters, params, &pieces, &mut observed)?;
        }
        self.samples.push(Sample { group, params: *params, pieces, observed });
        Ok(())
    }

    /// What all samples say.
    ///
    /// # Errors
    /// None that a sound build has.
    pub fn profile(&self) -> Result<Profile> {
        learnt(self.samples.iter())
    }

    /// How good choices are for a goal. Each sample is judged by a profile from other groups; if there are few groups, from
    /// other samples.
    ///
    /// # Errors
    /// `Cancelled`; what encoding says.
    pub fn judge(&self, goal: &Goal, job: &Job<'_>) -> Result<Judged> {
        let mut groups: Vec<usize> = self.samples.iter().map(|sample| sample.group).collect();
        groups.sort_unstable();
        groups.dedup();
        let turn = |(number, sample): (usize, &Sample)| {
            let group = groups.binary_search(&sample.group).unwrap_or_default();
            (if groups.len() < TURNS { number } else { group }) % TURNS
        };
        let turns: Vec<usize> = self.samples.iter().enumerate().map(turn).collect();
        let (mut shipped, mut trained) = (0.0, 0.0);
        for left_out in 0..TURNS {
            let of = |is_left: bool| {
                let is_it = move |turn: usize| (turn == left_out) == is_left;
                self.samples
                    .iter()
                    .zip(&turns)
                    .filter(move |(_, turn)| is_it(**turn))
                    .map(|(sample, _)| sample)
            };
            let plain = goal.with_profile(None);
            let better = goal.with_profile(Some(learnt(of(false))?));
            for sample in of(true) {
                shipped += log2(sample.excess(&plain, job)?);
                trained += log2(sample.excess(&better, job)?);
            }
        }
        let samples = count(self.samples.len()).max(1.0);
        Ok(Judged { shipped: exp2(shipped / samples) - 1.0, trained: exp2(trained / samples) - 1.0 })
    }
}

impl Sample {
    /// How many times as much as the best way what is chosen costs, both as they were measured.
    fn excess(&self, goal: &Goal, job: &Job<'_>) -> Result<f64> {
        let model = Model::new(goal)?;
        let tried = Trial { goal, model, params: &self.params, pieces: &self.pieces, job }.run()?;
        let cost = |one: &Observed| goal.cost(one.times.write, one.times.read, one.fraction);
        let best = self.observed.iter().map(cost).fold(f64::INFINITY, f64::min);
        let is_chosen = |one: &&Observed| tried.first().is_some_and(|chosen| chosen.way.is_same(&one.way));
        // What stores items as they are was not timed: nothing is faster.
        let chosen = self.observed.iter().find(is_chosen).map_or(goal.cost(0.0, 0.0, 1.0), cost);
        Ok((chosen / best.max(f64::MIN_POSITIVE)).max(1.0))
    }
}

/// What some samples say.
fn learnt<'s>(samples: impl Iterator<Item = &'s Sample>) -> Result<Profile> {
    let shipped = Model::shipped();
    let mut found: BTreeMap<(&str, u8, &str), Learning> = BTreeMap::new();
    let is_telling = |one: &&Observed| one.probes.lz4.fraction.min(one.probes.zstd.fraction) > TINY_PART;
    for one in samples.flat_map(|sample| &sample.observed).filter(is_telling) {
        let key = (one.way.codec.name(), one.way.level, one.way.filters.streams.name());
        let whole = Probe { fraction: 1.0, work: Work::default() };
        let (least, usual) = shipped.fractions(&one.way, &Probes { lz4: whole, zstd: whole })?;
        let learning = found.entry(key).or_insert(Learning { least, usual, ..Learning::default() });
        let model = shipped.times(&one.way, one.fraction, one.work.as_ref(), &one.probes)?;
        learning.write.push(log2(one.times.write / model.write));
        learning.read.push(log2(one.times.read / model.read));
        learning.parts.push(one.fraction / one.probes.of(&one.way).fraction);
    }
    // How much faster or slower the machine is as a whole.
    let all = |of: fn(&Learning) -> &Vec<f64>| {
        let logarithms = found.values().flat_map(of);
        logarithms.clone().sum::<f64>() / count(logarithms.count()).max(1.0)
    };
    let machine = Times { write: all(|one| &one.write), read: all(|one| &one.read) };
    let corrections = found
        .into_iter()
        .map(|((codec, level, streams), learning)| learning.correction(codec, level, streams, machine));
    Ok(Profile::new(corrections.collect()))
}

/// What is gathered of a codec, level and kind of streams.
#[derive(Default)]
struct Learning {
    /// Parts of the probe's size by the shipped table.
    least: f64,
    usual: f64,
    /// Logarithms of how many times longer than in the table it took.
    write: Vec<f64>,
    read: Vec<f64>,
    /// Parts of the probe's size.
    parts: Vec<f64>,
}

impl Learning {
    /// The line of a profile. machine: logarithms of how many times longer all ways take.
    fn correction(mut self, codec: &str, level: u8, streams: &str, machine: Times) -> Correction {
        let mean = |values: &[f64], all: f64| {
            (values.iter().sum::<f64>() + all * DOUBT) / (count(values.len()) + DOUBT)
        };
        self.parts.sort_by(f64::total_cmp);
        let median = self.parts.get(self.parts.len() / 2).copied().unwrap_or(self.usual);
        let least = self.parts.first().copied().unwrap_or(self.least).min(self.least);
        let samples = count(self.parts.len());
        let usual = (median * samples + self.usual * DOUBT) / (samples + DOUBT);
        let rounded = |number: f64| (number * 1e4).round().max(1.0) / 1e4;
        let (least, usual) = (rounded(least.clamp(0.01, 2.0)), rounded(usual.clamp(0.01, 2.0)));
        Correction {
            codec: codec.to_owned(),
            level,
            streams: streams.to_owned(),
            least: least.min(usual),
            usual,
            times: Times {
                write: rounded(exp2(mean(&self.write, machine.write))),
                read: rounded(exp2(mean(&self.read, machine.read))),
            },
            blocks: self.parts.len() as u64,
        }
    }
}

/// Times all ways behind some filters.
fn observe_behind(filters: Filters, params: &Params, pieces: &Pieces, out: &mut Vec<Observed>) -> Result<()> {
    let timed = |codec, level| {
        let way = Way { codec, level, filters };
        measured(&way, params, pieces).map(|(encoded, times)| (way, encoded, times))
    };
    let all =
        ways::codecs()?.into_iter().map(|(codec, level)| timed(codec, level)).collect::<Result<Vec<_>>>()?;
    let part = |encoded: &Vec<u8>| part_of(encoded, pieces.bytes.len(), params.generation);
    let probe = |name: &str| -> Result<Probe> {
        let found = all.iter().find(|(way, ..)| (way.codec.name(), way.level) == (name, 1));
        let (_, encoded, _) = found.ok_or_else(|| Error::unsupported(format!("{name} at level 1")))?;
        Ok(Probe { fraction: part(encoded), work: Work::of(encoded)?.unwrap_or_default() })
    };
    let probes = Probes { lz4: probe("lz4")?, zstd: probe("zstd")? };
    for (way, encoded, times) in &all {
        let work = Work::of(encoded)?;
        out.push(Observed { way: *way, fraction: part(encoded), work, probes, times: *times });
    }
    Ok(())
}

/// Blocks as a way encodes them, and the shortest times of some runs.
fn measured(way: &Way, params: &Params, pieces: &Pieces) -> Result<(Vec<u8>, Times)> {
    let blocksize = params.blocksize.map(|_| pieces.piece_bytes);
    let params = Params { blocksize, ..way.params(params) };
    timed(&pieces.bytes, &params, RUNS, count(pieces.bytes.len()).max(1.0))
}
