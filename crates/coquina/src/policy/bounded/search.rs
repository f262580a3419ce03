//! How coarse: the widest step of rounding, and the parameter of ZFP, with which a bound holds.
//!
//! A first guess comes from what is known of the means, then what was measured says where to go. Few tries, always the
//! same ones for the same items.

use super::contract::{Bound, LossyMethod};
use super::lattice::floor_log2;
use super::measure::Extent;
use super::round::Rule;
use super::trial::{Hint, How, Trial, Work};
use crate::base::error::Result;
use crate::chunk::{Params, Split};
use crate::codec;
use crate::filter::Pipeline;

/// The ZFP codecs that are searched with.
const ACCURACY: &str = "zfp_accuracy";
pub(super) const PRECISION: &str = "zfp_precision";
/// How many parameters are tried where a part of the chunk has told one.
const FINER: i32 = 3;
/// How often ZFP is tried with another precision.
const PRECISIONS: u32 = 4;
/// The root of the mean square error that so many decibels allow.
pub(super) fn noise(extent: &Extent, psnr: f64) -> f64 {
    extent.range() * 10.0_f64.powf(-psnr / 20.0)
}

/// Fills `plain` with the items rounded to multiples of the greatest power of two that leaves so many decibels.
pub(super) fn psnr_rounded(work: &Work<'_>, psnr: f64, plain: &mut [u8]) -> Result<()> {
    let noise = noise(&work.extent, psnr);
    if noise > 0.0 && noise.is_finite() {
        // Errors that are spread evenly over a step have the step over the root of 12 as their root mean square; that
        // is what most data come to. None is greater than half a step.
        let (first, last) = (floor_log2(noise * 12.0_f64.sqrt()) + 1, floor_log2(noise) + 1);
        for exponent in (last..=first).rev() {
            work.round(Rule::multiples(exponent), plain)?;
            if work.measured(plain).holds_psnr(psnr) {
                return Ok(());
            }
        }
    }
    work.round(Rule::Exact, plain)
}

/// How chunks like these are encoded by this ZFP codec, if they can be.
pub(super) fn zfp_params(base: &Params, name: &str, meta: i32) -> Option<Params> {
    let meta = u8::try_from(meta).or_else(|_| i8::try_from(meta).map(i8::cast_unsigned)).ok()?;
    let params = Params {
        codec: codec::by_name(name).ok()?,
        codec_meta: meta,
        codec_options: "",
        pipeline: Pipeline::default(),
        split: Split::Never,
        dictionary: false,
        ..*base
    };
    (base.level > 0 && params.check().is_ok()).then_some(params)
}

impl Work<'_> {
    /// How the chunk is encoded by this ZFP codec, if it can be.
    pub(super) fn zfp_params(&self, name: &str, meta: i32) -> Option<Params> {
        zfp_params(self.coder.params()?, name, meta)
    }
}

/// The smallest chunk by ZFP that holds the bound, if errors of about `goal` do.
pub(super) fn zfp(work: &Work<'_>, goal: f64, hint: &Hint) -> Result<Option<Trial>> {
    if let Some(How::Zfp(name, meta)) = hint.how {
        return zfp_from(work, name, meta);
    }
    if !(goal > 0.0 && goal.is_finite()) {
        return Ok(None);
    }
    let (by_accuracy, by_precision) = (zfp_accuracy(work, goal)?, zfp_precision(work, goal)?);
    Ok(match (by_accuracy, by_precision) {
        (Some(a), Some(b)) => Some(if b.bytes.len() < a.bytes.len() { b } else { a }),
        (a, b) => a.or(b),
    })
}

/// What did for a part of the chunk, or what is a little finer.
fn zfp_from(work: &Work<'_>, name: &'static str, meta: i32) -> Result<Option<Trial>> {
    for finer in 0..FINER {
        let meta = if name == ACCURACY { meta - finer } else { meta + finer };
        let Some(params) = work.zfp_params(name, meta) else { break };
        let (trial, holds) = work.lost(&params, LossyMethod::Zfp)?;
        if holds {
            return Ok(Some(Trial { how: Some(How::Zfp(name, meta)), ..trial }));
        }
    }
    Ok(None)
}

/// By a tolerance, which is a power of ten: errors stay well below it, so that a greater one may do.
fn zfp_accuracy(work: &Work<'_>, goal: f64) -> Result<Option<Trial>> {
    let tolerance = floor_log10(goal);
    for meta in [tolerance + 1, tolerance] {
        let Some(params) = work.zfp_params(ACCURACY, meta) else { continue };
        let (trial, holds) = work.lost(&params, LossyMethod::Zfp)?;
        if holds {
            return Ok(Some(Trial { how: Some(How::Zfp(ACCURACY, meta)), ..trial }));
        }
    }
    Ok(None)
}

/// By a number of bit planes: each makes errors half as large.
fn zfp_precision(work: &Work<'_>, goal: f64) -> Result<Option<Trial>> {
    let greatest = work.extent.greatest();
    if greatest <= 0.0 {
        return Ok(None);
    }
    // Where errors of most fields begin to be that small.
    let mut meta = (floor_log2(greatest) - floor_log2(goal) - 3).clamp(0, 64);
    let (mut best, mut missed): (Option<Trial>, i32) = (None, -1);
    for _ in 0..PRECISIONS {
        let Some(params) = work.zfp_params(PRECISION, meta) else { break };
        let (trial, holds) = work.lost(&params, LossyMethod::Zfp)?;
        let reached = match work.contract.bound() {
            Bound::Psnr(_) => trial.measured.mean_square.sqrt() * work.extent.range(),
            _ => trial.measured.max_error,
        };
        let share = goal / reached;
        let planes = if share.is_finite() && share > 0.0 { floor_log2(share) } else { 1 };
        let next = if holds {
            let next = (meta - planes.max(1)).max(missed + 1);
            best = Some(Trial { how: Some(How::Zfp(PRECISION, meta)), ..trial });
            if next >= meta {
                break;
            }
            next
        } else {
            if best.is_some() || meta >= 64 {
                break;
            }
            missed = meta;
            meta + (-planes).clamp(1, 16)
        };
        meta = next.clamp(0, 64);
    }
    Ok(best)
}

/// The greatest power of ten that is at most `x`, which is finite and greater than 0: its exponent. The same on every
/// machine, as logarithms need not be.
fn floor_log10(x: f64) -> i32 {
    let power = |exponent: i32| format!("1e{exponent}").parse().unwrap_or(f64::INFINITY);
    // The logarithm of 2 is about 0.30103, and this is off by one at most.
    let near = floor_log2(x) * 30_103 / 100_000;
    let mut exponents = (near - 2..=near + 2).rev();
    exponents.find(|&exponent| power(exponent) <= x).unwrap_or(near - 2)
}

#[cfg(test)]
mod tests {
    use super::floor_log10;

    #[test]
    fn powers_of_ten_are_found() {
        for exponent in -307..=307 {
            let power: f64 = format!("1e{exponent}").parse().unwrap();
            assert_eq!((floor_log10(power), floor_log10(power.next_down())), (exponent, exponent - 1));
            assert_eq!(floor_log10(power * 9.5), exponent, "{power}");
        }
    }
}
