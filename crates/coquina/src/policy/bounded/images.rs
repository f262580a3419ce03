//! Chunks of images: the coarsest that holds the bound, by a codec of images, which is a plugin.
//!
//! In: items of 8 or 16 bits, whose blocks are images. Out: the chunk, if the bound holds; what does not is left to
//! other means.
//! The codecs are told a PSNR against the range of the dtype, and reach it in each block. A bound on distances is
//! searched for with it, in tenths of a decibel.
//! Source: `docs/formats/image-codecs.md`, "Options".

use super::contract::{Bound, LossyMethod};
use super::trial::{Trial, Work};
use super::{ratio, search};
use crate::base::error::{ErrorKind, Result};
use crate::chunk::{Params, Split};
use crate::codec;
use crate::filter::Pipeline;

/// How often a PSNR is tried.
const TRIES: u32 = 5;
/// The greatest error of an image is about so many times the root of its mean square.
const GREATEST: f64 = 5.0;
/// What the codecs take; none needs more.
const TENTHS: (f64, f64) = (10.0, 1500.0);
/// A chunk that is better by no more tenths of a decibel is as coarse as it gets.
const NEAR: f64 = 5.0;

/// The chunk by a codec of images, if the bound holds.
///
/// # Errors
/// `Unsupported` if the codec is not there.
pub(super) fn coded(work: &Work<'_>, method: LossyMethod) -> Result<Option<Trial>> {
    match work.contract.bound() {
        Bound::Ratio(wanted) => by_ratio(work, method, wanted),
        Bound::Psnr(psnr) => by_quality(work, method, search::noise(&work.extent, psnr)),
        Bound::MaxError(limit) => by_quality(work, method, limit / GREATEST),
        Bound::RelativeError(_) | Bound::KeepBits(_) => Ok(None),
    }
}

/// As many times smaller as is asked for, and no larger: the codec gets as near as it can.
fn by_ratio(work: &Work<'_>, method: LossyMethod, wanted: f64) -> Result<Option<Trial>> {
    let Some((trial, holds)) = tried(work, method, "rates", wanted)? else { return Ok(None) };
    Ok((holds && ratio::is_reached(work, wanted, trial.bytes.len())).then_some(trial))
}

/// The coarsest of some that hold the bound; the first has errors whose mean square has this root.
fn by_quality(work: &Work<'_>, method: LossyMethod, noise: f64) -> Result<Option<Trial>> {
    if !(noise > 0.0 && noise.is_finite()) {
        return Ok(None);
    }
    let peak = 2.0_f64.powi(i32::try_from(8 * work.contract.items.number_bytes()).unwrap_or(16)) - 1.0;
    let mut tenths = 200.0 * (peak / noise).log10();
    let (mut best, mut has_missed): (Option<Trial>, bool) = (None, false);
    for _ in 0..TRIES {
        tenths = tenths.ceil().clamp(TENTHS.0, TENTHS.1);
        let Some((trial, holds)) = tried(work, method, "dB", tenths / 10.0)? else { break };
        let slack = slack(work, &trial);
        if holds {
            best = Some(trial);
        } else if best.is_some() || tenths >= TENTHS.1 {
            break;
        }
        has_missed |= !holds;
        if holds && (has_missed || slack < NEAR || tenths <= TENTHS.0) {
            break;
        }
        tenths -= if holds { slack } else { slack.min(-1.0) };
    }
    Ok(best)
}

/// By how many tenths of a decibel a chunk is better than the bound; less than 0 for one that is worse.
fn slack(work: &Work<'_>, trial: &Trial) -> f64 {
    let share = match work.contract.bound() {
        Bound::MaxError(limit) => limit / trial.measured.max_error,
        Bound::Psnr(psnr) => {
            search::noise(&work.extent, psnr) / (trial.measured.mean_square.sqrt() * work.extent.range())
        }
        _ => 1.0,
    };
    // Without a loss there is nothing to tell by.
    if share > 0.0 && share.is_finite() { 200.0 * share.log10() } else { 60.0 }
}

/// The chunk of this quality, and whether the bound holds; nothing where its blocks are no images, or too small for it.
fn tried(work: &Work<'_>, method: LossyMethod, mode: &str, quality: f64) -> Result<Option<(Trial, bool)>> {
    let Some(params) = params(work, method, mode, quality)? else { return Ok(None) };
    match work.lost(&params, method) {
        Err(error) if error.kind() == ErrorKind::Invalid => Ok(None),
        other => other.map(Some),
    }
}

/// How a chunk is encoded as images; nothing where its blocks are none.
fn params(work: &Work<'_>, method: LossyMethod, mode: &str, quality: f64) -> Result<Option<Params>> {
    let Some(base) = work.coder.params() else { return Ok(None) };
    let options = format!(r#"{{"quality_mode": "{mode}", "quality": {quality}}}"#);
    let params = Params {
        codec: codec::by_name(method.name())?,
        codec_meta: 0,
        codec_options: codec::kept_options(&options),
        pipeline: Pipeline::default(),
        split: Split::Never,
        dictionary: false,
        ..*base
    };
    Ok((base.level > 0 && params.check().is_ok()).then_some(params))
}
