//! Tries ways on some blocks: those that may be the best, in the order of what they usually come to.
//!
//! In: blocks and a goal. Out: every way that was tried with its size, its times and its cost. The probes, LZ4 and Zstd at level
//! 1, are tried behind all filters. A further way is tried only as long as the least that it may cost is less than what the
//! best so far does. All of this on a few of the blocks at first; ways that come near the best are then tried on the others.

use super::counts::count;
use super::goal::{Goal, Wants};
use super::sample::Pieces;
use super::times::{Model, Probe, Probes};
use super::ways::{self, Filters, Times, Way};
use super::work::Work;
use crate::base::error::Result;
use crate::base::pool::Job;
use crate::chunk::{self, Generation, Params};

/// Ways that are tried beyond the probes, at most; more where slow ways pay, as they do for what is only read.
const TRIES_MAX: usize = 14;
const TRIES_MAX_READ: usize = 24;
/// A way must promise to be this much better to be tried.
const WORTH: f64 = 0.98;
/// So much of the time that a way is thought to take it will take at least; less is known of reading.
const SURE: f64 = 0.85;
const SURE_READ: f64 = 0.6;
/// The same of its size, where only that counts.
const SURE_SIZE: f64 = 0.8;
/// Ways that cost more than the best by this factor on the first blocks are not tried on the others; nor are more than so many.
const NEAR: f64 = 1.15;
const FINALISTS_MAX: usize = 5;
/// First blocks that a way makes smaller than this, as a part of their size, say little of the others.
const HARDLY: f64 = 0.1;
/// Of sizes that differ by less than this the faster way is taken where only the size counts.
const SAME_SIZE: f64 = 0.001;

/// A way that was tried.
#[derive(Clone, Copy)]
pub(super) struct Tried {
    pub(super) way: Way,
    /// What is left of the items.
    pub(super) fraction: f64,
    pub(super) times: Times,
    pub(super) cost: f64,
    /// Bytes that it was tried on.
    pub(super) bytes: usize,
    work: Option<Work>,
    probes: Probes,
}

/// Tries ways on blocks.
pub(super) struct Trial<'t> {
    pub(super) goal: &'t Goal,
    pub(super) model: Model<'t>,
    pub(super) params: &'t Params,
    pub(super) pieces: &'t Pieces,
    pub(super) job: &'t Job<'t>,
}

/// What an encoded chunk is of its plain bytes, without its header.
pub(super) fn part_of(encoded: &[u8], plain_bytes: usize, generation: Generation) -> f64 {
    let header =
        if generation == Generation::Blosc1 { chunk::HEADER_BYTES_BLOSC1 } else { chunk::HEADER_BYTES };
    (count(encoded.len().saturating_sub(header)) / count(plain_bytes.max(1))).min(1.0)
}

/// A way that may be tried.
struct Candidate {
    way: Way,
    probes: Probes,
    /// The least that it may cost.
    promise: f64,
    /// What it usually costs.
    guess: f64,
}

impl Trial<'_> {
    /// All that was tried; the best first, of equal ones the faster.
    ///
    /// # Errors
    /// `Cancelled`; what encoding says.
    pub(super) fn run(&self) -> Result<Vec<Tried>> {
        let parted = if self.goal.is_size() { None } else { self.pieces.parted() };
        let Some((first, others)) = parted else { return self.search() };
        let first = Trial { pieces: &first, ..*self };
        let others = Trial { pieces: &others, ..*self };
        let mut tried = first.search()?;
        if tried.iter().any(|tried| tried.fraction < HARDLY) {
            // Where some blocks have hardly anything in them others may be quite different; and trials take no time.
            return self.search();
        }
        let (few, all) = (first.pieces.bytes.len(), self.pieces.bytes.len());
        for _ in 0..FINALISTS_MAX {
            let near = tried.iter().map(|tried| tried.cost).fold(f64::INFINITY, f64::min) * NEAR;
            let next = tried.iter_mut().filter(|tried| tried.bytes == few && tried.cost < near);
            let Some(next) = next.min_by(|a, b| a.cost.total_cmp(&b.cost)) else { break };
            *next = Tried { bytes: all, ..others.again(next)? };
        }
        tried.sort_by(|a, b| (a.bytes < all).cmp(&(b.bytes < all)).then(a.cost.total_cmp(&b.cost)));
        Ok(tried)
    }

    /// A way on more blocks: what it comes to on all of them.
    fn again(&self, before: &Tried) -> Result<Tried> {
        if before.way.level == 0 {
            return Ok(*before);
        }
        let encoded = self.encoded(&before.way)?;
        let (few, more) = (count(before.bytes), count(self.pieces.bytes.len()));
        let mean = |before: f64, here: f64| (before * few + here * more) / (few + more);
        let work = before.work.zip(Work::of(&encoded)?).map(|(work, more)| work.with(&more, mean));
        self.judged(before.way, mean(before.fraction, self.part(&encoded)), work, &before.probes)
    }

    /// All that was tried on the blocks.
    fn search(&self) -> Result<Vec<Tried>> {
        let mut tried = vec![self.stored()?];
        let mut candidates = Vec::new();
        for filters in ways::filters_for(self.params) {
            self.probe(filters, &mut tried, &mut candidates)?;
        }
        let tries = if self.goal.wants() == Wants::Read { TRIES_MAX_READ } else { TRIES_MAX };
        candidates.sort_by(|a, b| a.guess.total_cmp(&b.guess));
        let mut left = tries;
        for candidate in candidates {
            let best = tried.iter().map(|tried| tried.cost).fold(f64::INFINITY, f64::min);
            if candidate.promise >= best * WORTH {
                continue;
            }
            if left == 0 {
                break;
            }
            left -= 1;
            let encoded = self.encoded(&candidate.way)?;
            let work = Work::of(&encoded)?;
            tried.push(self.judged(candidate.way, self.part(&encoded), work, &candidate.probes)?);
        }
        self.sort(&mut tried);
        Ok(tried)
    }

    /// Tries the probes behind some filters; what else there is behind these are candidates.
    fn probe(&self, filters: Filters, tried: &mut Vec<Tried>, candidates: &mut Vec<Candidate>) -> Result<()> {
        let all = ways::codecs()?;
        let all = || all.iter().map(|&(codec, level)| Way { codec, level, filters });
        let is_probe = |way: &Way| way.level == 1 && ["lz4", "zstd"].contains(&way.codec.name());
        let mut probes = Probes { lz4: Probe::default(), zstd: Probe::default() };
        for way in all().filter(is_probe) {
            let encoded = self.encoded(&way)?;
            let work = Work::of(&encoded)?.unwrap_or_default();
            let probe = Probe { fraction: self.part(&encoded), work };
            *(if way.codec.name() == "lz4" { &mut probes.lz4 } else { &mut probes.zstd }) = probe;
        }
        for way in all().filter(is_probe) {
            let Probe { fraction, work } = *probes.of(&way);
            tried.push(self.judged(way, fraction, Some(work), &probes)?);
        }
        let sure = if self.goal.wants() == Wants::Read { SURE_READ } else { SURE };
        for way in all().filter(|way| !is_probe(way)) {
            let (least, usual) = self.model.fractions(&way, &probes)?;
            let times = self.model.times(&way, least, None, &probes)?;
            let least = if self.goal.is_size() { SURE_SIZE * least } else { least };
            let promise = self.goal.cost(sure * times.write, sure * times.read, least);
            let guess = self.judged(way, usual, None, &probes)?.cost;
            candidates.push(Candidate { way, probes, promise, guess });
        }
        Ok(())
    }

    /// Items as they are.
    fn stored(&self) -> Result<Tried> {
        let probe = Probe { fraction: 1.0, work: Work { raw: 1.0, ..Work::default() } };
        self.judged(ways::stored()?, 1.0, None, &Probes { lz4: probe, zstd: probe })
    }

    fn judged(&self, way: Way, fraction: f64, work: Option<Work>, probes: &Probes) -> Result<Tried> {
        let times = self.model.times(&way, fraction, work.as_ref(), probes)?;
        let cost = self.goal.cost(times.write, times.read, fraction);
        let bytes = self.pieces.bytes.len();
        Ok(Tried { way, fraction, times, cost, bytes, work, probes: *probes })
    }

    /// The blocks as a chunk.
    fn encoded(&self, way: &Way) -> Result<Vec<u8>> {
        // Where the size of blocks follows from codec and level, as it will for the chunk.
        let blocksize = self.params.blocksize.map(|_| self.pieces.piece_bytes);
        let params = Params { blocksize, ..way.params(self.params) };
        chunk::encode(&self.pieces.bytes, &params, self.job)
    }

    /// What is left of the blocks.
    fn part(&self, encoded: &[u8]) -> f64 {
        part_of(encoded, self.pieces.bytes.len(), self.params.generation)
    }

    /// The best first.
    fn sort(&self, tried: &mut [Tried]) {
        // Stable, so that of equal ones that comes first which was tried first.
        tried.sort_by(|a, b| a.cost.total_cmp(&b.cost));
        if !self.goal.is_size() {
            return;
        }
        let Some(least) = tried.first().map(|first| first.cost * (1.0 + SAME_SIZE)) else { return };
        let same = tried.iter().take_while(|tried| tried.cost <= least).count();
        let time = |tried: &Tried| tried.times.write + tried.times.read;
        tried[..same].sort_by(|a, b| time(a).total_cmp(&time(b)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::testing::random;

    #[test]
    fn a_quarter_of_the_blocks_decides_which_ways_see_the_others() {
        let mut next = random(4);
        let mut noise = |mask: u64, bytes: usize| -> Vec<u8> {
            let numbers = (0..bytes / 4).map(|_| u32::try_from(next(1 << 32) & mask).unwrap());
            numbers.flat_map(u32::to_le_bytes).collect()
        };
        let params = Params { typesize: 4, blocksize: Some(1 << 14), ..Params::default() };
        let tried = |bytes: Vec<u8>, tradeoff: f64| {
            let goal = Goal::new(tradeoff, Wants::Both, None, false).unwrap();
            let pieces = Pieces { bytes, piece_bytes: 1 << 14 };
            let model = Model::new(&goal).unwrap();
            Trial { goal: &goal, model, params: &params, pieces: &pieces, job: &Job::inline() }.run().unwrap()
        };
        let all = 8 << 14;
        let found = tried(noise(0xf_ffff, all), 0.5);
        assert_eq!(found[0].bytes, all);
        let few = found.iter().filter(|tried| tried.bytes == all / 4).count();
        assert!(few > 0 && found.len() - few <= FINALISTS_MAX, "{few} of {}", found.len());
        // Where only size counts, where blocks have hardly anything in them, and where there are few of them: all.
        let mut hardly = vec![0; all];
        hardly[5 << 14..6 << 14].copy_from_slice(&noise(0xff, 1 << 14));
        for (bytes, tradeoff) in [(noise(0xf_ffff, all), 1.0), (hardly, 0.5), (noise(0xff, 3 << 14), 0.5)] {
            let len = bytes.len();
            assert!(tried(bytes, tradeoff).iter().all(|tried| tried.bytes == len), "{len} {tradeoff}");
        }
    }
}
