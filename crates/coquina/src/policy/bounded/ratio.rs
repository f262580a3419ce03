//! Chunks of a given size, with as little loss as gives it.
//!
//! Steps of powers of two are too far apart to hit a size, so a chunk has two: its first items are rounded to the wider
//! one, and the split is moved until the size is right.
//! In: a ratio. Out: a chunk of at most the bytes that it allows, and of not many less; the items as they are where
//! they are small enough already; nothing where no rounding gets there.

use super::contract::LossyMethod;
use super::lattice::floor_log2;
use super::round::Rule;
use super::search::PRECISION;
use super::trial::{Hint, How, Trial, Work};
use crate::base::error::Result;

/// A chunk may be smaller than asked for by this part.
const TOLERANCE: f64 = 0.04;
/// The ZFP codec of a fixed rate.
const RATE: &str = "zfp_rate";
/// How many steps are guessed before the search goes by halves.
const GUESSES: u32 = 4;
/// How often the split is moved.
const SPLITS: u32 = 8;

/// Bytes that are aimed at: the most, and so many that less would be too much loss.
#[derive(Clone, Copy)]
struct Goal {
    least: usize,
    most: usize,
}

impl Goal {
    fn new(work: &Work<'_>, ratio: f64) -> Self {
        let item = work.contract.items.number_bytes() * work.contract.items.numbers();
        let bytes: usize = work.given.inside.iter().map(|run| run.len() * item).sum();
        let most = bytes as f64 / ratio;
        Self { least: whole(most * (1.0 - TOLERANCE)), most: whole(most) }
    }

    fn is_met(self, bytes: usize) -> bool {
        (self.least..=self.most).contains(&bytes)
    }

    /// Whether it is met, or missed by no more than it may be beaten.
    fn is_about_met(self, bytes: usize) -> bool {
        (self.least..=self.most + (self.most - self.least)).contains(&bytes)
    }
}

#[expect(clippy::cast_possible_truncation, reason = "casts to integers saturate")]
fn whole(x: f64) -> usize {
    x as usize
}

/// Powers of two whose multiples numbers are rounded to: the wider step of the first items, and that of the rest.
#[derive(Clone, Copy)]
struct Exponents {
    first: i32,
    rest: i32,
}

/// A chunk that has been rounded and encoded.
struct Tried {
    bytes: Vec<u8>,
    plain: Vec<u8>,
}

/// The chunk whose first items, this part of them, are rounded to the first step, and the rest to the other.
fn tried(work: &Work<'_>, exponents: Exponents, split: f64) -> Result<Tried> {
    let mut plain = work.room();
    let item = work.contract.items.number_bytes();
    let at = whole(plain.len() as f64 * split) / item * item;
    work.round(Rule::multiples(exponents.rest), &mut plain)?;
    if at > 0 {
        let mut coarse = work.room();
        work.round(Rule::multiples(exponents.first), &mut coarse)?;
        plain[..at].copy_from_slice(&coarse[..at]);
    }
    Ok(Tried { bytes: work.coder.encode(&plain, None)?, plain })
}

/// The items rounded so that the chunk has the size.
pub(super) fn rounded(work: &Work<'_>, ratio: f64, hint: &Hint) -> Result<Option<Trial>> {
    let goal = Goal::new(work, ratio);
    let exact = work.given.plain.to_vec();
    let bytes = work.coder.encode(&exact, None)?;
    if bytes.len() <= goal.most {
        return work.checked(bytes, exact);
    }
    let hint = if let Some(How::Multiples(exponent)) = hint.how { Some(exponent) } else { None };
    let Some((found, exponent)) = search(work, goal, bytes.len(), hint)? else { return Ok(None) };
    let trial = work.checked(found.bytes, found.plain)?;
    Ok(trial.map(|trial| Trial { how: Some(How::Multiples(exponent)), ..trial }))
}

/// The chunk, and the exponent of its wider step.
fn search(
    work: &Work<'_>,
    goal: Goal,
    exact_bytes: usize,
    mut hint: Option<i32>,
) -> Result<Option<(Tried, i32)>> {
    let greatest = work.extent.greatest();
    if greatest <= 0.0 {
        return Ok(None);
    }
    // From one step that changes nothing to one that leaves nothing.
    let top = floor_log2(greatest) + 2;
    let bits = i32::try_from(work.contract.items.bits()).unwrap_or(64);
    let (mut fine, mut fine_bytes) = (top - bits - 4, exact_bytes);
    let (mut coarse, mut found) = (top, tried(work, Exponents { first: top, rest: top }, 0.0)?);
    if found.bytes.len() > goal.most {
        return Ok(None);
    }
    let items = (work.given.plain.len() / work.contract.items.number_bytes()).max(1);
    let mut last = (fine, fine_bytes);
    let mut tries = 0;
    while coarse - fine > 1 && !goal.is_met(found.bytes.len()) {
        // Each power takes a bit of each number away; where that is not so, the middle.
        let bits = last.1.abs_diff(goal.most) * 8 / items;
        let bits = i32::try_from(bits).unwrap_or(64).max(1);
        let guess = hint.take().unwrap_or(if last.1 > goal.most { last.0 + bits } else { last.0 - bits });
        let next = if tries < GUESSES { guess } else { fine + (coarse - fine) / 2 };
        let next = next.clamp(fine + 1, coarse - 1);
        tries += 1;
        let new = tried(work, Exponents { first: next, rest: next }, 0.0)?;
        last = (next, new.bytes.len());
        if new.bytes.len() <= goal.most {
            (coarse, found) = (next, new);
        } else {
            (fine, fine_bytes) = (next, new.bytes.len());
        }
    }
    let found = split(work, goal, Exponents { first: coarse, rest: fine }, found, fine_bytes)?;
    Ok(Some((found, coarse)))
}

/// Moves the split of a chunk whose one step is too wide and whose other is not wide enough.
fn split(
    work: &Work<'_>,
    goal: Goal,
    exponents: Exponents,
    mut found: Tried,
    mut fine_bytes: usize,
) -> Result<Tried> {
    let (mut fine, mut coarse) = (0.0_f64, 1.0_f64);
    let aim = usize::midpoint(goal.least, goal.most) as f64;
    for at in 0..SPLITS {
        let coarse_bytes = found.bytes.len();
        if goal.is_met(coarse_bytes) || coarse_bytes >= fine_bytes {
            break;
        }
        // Where the line between the two sizes meets the aim; now and then the middle, should it be no line.
        let share = (fine_bytes as f64 - aim) / (fine_bytes - coarse_bytes) as f64;
        let share = if at % 3 == 2 { 0.5 } else { share.clamp(0.02, 0.98) };
        let next = fine + (coarse - fine) * share;
        let new = tried(work, exponents, next)?;
        if new.bytes.len() <= goal.most {
            (coarse, found) = (next, new);
        } else {
            (fine, fine_bytes) = (next, new.bytes.len());
        }
    }
    Ok(found)
}

/// A chunk by ZFP, if there is one of the right size: with a fixed rate, or with so many bit planes.
pub(super) fn transformed(work: &Work<'_>, ratio: f64, hint: &Hint) -> Result<Option<Trial>> {
    let goal = Goal::new(work, ratio);
    if let Some(How::Zfp(name, meta)) = hint.how {
        return met(work, goal, name, meta);
    }
    let percent = i32::try_from(whole(100.0 / ratio)).unwrap_or(0);
    let by_rate = if (1..100).contains(&percent) { met(work, goal, RATE, percent)? } else { None };
    let by_precision = by_precision(work, goal)?;
    Ok(match (by_rate, by_precision) {
        (Some(a), Some(b)) => Some(if a.measured.mean_square < b.measured.mean_square { a } else { b }),
        (a, b) => a.or(b),
    })
}

/// Whether a chunk of so many bytes is no larger than a ratio allows.
pub(super) fn is_reached(work: &Work<'_>, ratio: f64, bytes: usize) -> bool {
    let goal = Goal::new(work, ratio);
    bytes <= goal.most + (goal.most - goal.least)
}

/// The chunk by this codec with this parameter, if it has the size.
fn met(work: &Work<'_>, goal: Goal, name: &'static str, meta: i32) -> Result<Option<Trial>> {
    let Some(params) = work.zfp_params(name, meta) else { return Ok(None) };
    let (trial, holds) = work.lost(&params, LossyMethod::Zfp)?;
    let is_met = holds && goal.is_about_met(trial.bytes.len());
    Ok(is_met.then_some(Trial { how: Some(How::Zfp(name, meta)), ..trial }))
}

/// The chunk with as many bit planes as have the size, found by halves. Often one plane more is too large, and one less
/// too small: then there is none.
fn by_precision(work: &Work<'_>, goal: Goal) -> Result<Option<Trial>> {
    let (mut less, mut more) = (-1, i32::try_from(work.contract.items.bits()).unwrap_or(64));
    while more - less > 1 {
        let meta = less + (more - less) / 2;
        let Some(params) = work.zfp_params(PRECISION, meta) else { return Ok(None) };
        let (trial, holds) = work.lost(&params, LossyMethod::Zfp)?;
        let bytes = trial.bytes.len();
        if goal.is_about_met(bytes) {
            return Ok(holds.then_some(Trial { how: Some(How::Zfp(PRECISION, meta)), ..trial }));
        }
        if bytes > goal.most {
            more = meta;
        } else {
            less = meta;
        }
    }
    Ok(None)
}
