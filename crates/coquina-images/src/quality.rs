//! Finds how coarse an image may be for what is wanted: a PSNR, or a ratio.
//!
//! In: an encoder with one number to turn, and how good what it makes is. Out: the smallest code-stream found that is
//! good enough, or the best one that is small enough.
//! Invariant: a PSNR that is asked for is reached, by what was decoded.

use crate::image::{Geometry, Order, join};

/// The finest and the coarsest step of quantisation that is tried, in samples.
pub(crate) const STEPS: (f64, f64) = (0.02, 65_536.0);
/// Tries before the best one stands.
const TRIES_MAX: u32 = 10;
/// How near a size is to the one that is asked for, to be left at that.
const SIZE_NEAR: f64 = 0.98;
/// Decibels above those that are asked for, to be left at that.
const DECIBELS_NEAR: f64 = 0.3;

/// PSNR of planes against others, in decibels; infinite if they are equal.
pub(crate) fn psnr(geometry: &Geometry, wanted: &[Vec<i32>], found: &[Vec<i32>]) -> f64 {
    // What is decoded is clamped to the range of the dtype.
    let mut bytes = vec![0; geometry.area() * geometry.components * geometry.sample_bytes];
    join(found, geometry.sample_bytes, geometry.is_signed, Order::Pixels, &mut bytes);
    let found = geometry.split(&bytes);
    let pairs = wanted.iter().flatten().zip(found.iter().flatten());
    let squares: f64 = pairs.map(|(&one, &other)| f64::from(one - other).powi(2)).sum();
    let mean = squares / f64::from(u32::try_from(geometry.area() * geometry.components).unwrap_or(u32::MAX));
    if mean == 0.0 { f64::INFINITY } else { 10.0 * (geometry.peak().powi(2) / mean).log10() }
}

/// The smallest code-stream found that reaches `decibels`, or `None` if none did. `encode` makes one of a step, which
/// starts at `step` and is turned by what is missing; `measure` says how good a stream is.
pub(crate) fn reach(
    decibels: f64,
    mut step: f64,
    encode: impl Fn(f64) -> Vec<u8>,
    measure: impl Fn(&[u8]) -> Result<f64, String>,
) -> Result<Option<Vec<u8>>, String> {
    let mut best: Option<Vec<u8>> = None;
    for _ in 0..TRIES_MAX {
        let stream = encode(step.clamp(STEPS.0, STEPS.1));
        let found = measure(&stream)?;
        if let Some(is_enough) = reaches(found, decibels) {
            if best.as_ref().is_none_or(|best| stream.len() < best.len()) {
                best = Some(stream);
            }
            if is_enough {
                break;
            }
        }
        // Errors grow as the step does. One that made none at all says nothing, so it is doubled.
        let short = if found.is_finite() { decibels - found + DECIBELS_NEAR / 3.0 } else { -6.0 };
        step *= 10_f64.powf(-short / 20.0);
    }
    Ok(best)
}

/// The code-stream nearest to what is not good any more, or `None` if none was good. Numbers between one that makes good
/// streams and a bad one that does not are tried; `judge` says whether one is good, and then whether it is good enough to stop.
pub(crate) fn nearest(
    mut good: f64,
    mut bad: f64,
    encode: impl Fn(f64) -> Result<Vec<u8>, String>,
    judge: impl Fn(&[u8]) -> Result<Option<bool>, String>,
) -> Result<Option<Vec<u8>>, String> {
    let mut best = None;
    for _ in 0..TRIES_MAX {
        let knob = (good * bad).sqrt();
        let stream = encode(knob)?;
        let Some(is_enough) = judge(&stream)? else {
            bad = knob;
            continue;
        };
        good = knob;
        best = Some(stream);
        if is_enough {
            break;
        }
    }
    Ok(best)
}

/// Whether a code-stream of so many bytes is small enough, and then whether it is near to that.
pub(crate) fn fits(stream: &[u8], bytes_max: f64) -> Option<bool> {
    let bytes = f64::from(u32::try_from(stream.len()).unwrap_or(u32::MAX));
    (bytes <= bytes_max).then_some(bytes >= bytes_max * SIZE_NEAR)
}

/// Whether a PSNR is reached, and then whether it is not exceeded by much.
pub(crate) fn reaches(found: f64, decibels: f64) -> Option<bool> {
    (found >= decibels).then_some(found <= decibels + DECIBELS_NEAR)
}
