//! How far decoded items are from those that were given.
//!
//! In: items of any number type, given and decoded, and which of them count. Out: the greatest error, absolute and as a
//! part of the number, and the mean square. Errors are rounded up, so that a bound that holds for them holds.
//! Invariant: a NaN equals a NaN of the same payload, and an infinity itself; all else that is not finite on one side is
//! an infinite error.

use std::ops::Range;

use super::items::{Items, with_number};
use super::number::{Compared, Number};

/// What rounding errors of computing a mean may come to.
const MEAN_SLACK: f64 = 1.0 - 1e-9;

/// The items of a chunk that count.
#[derive(Clone, Copy)]
pub(super) struct Counted<'a> {
    pub(super) items: Items,
    pub(super) given: &'a [u8],
    /// What stood there, where only what differs from it is written, and counts.
    pub(super) before: Option<&'a [u8]>,
    /// The items that are inside the shape of the array.
    pub(super) inside: &'a [Range<usize>],
}

/// Which finite numbers there are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Extent {
    pub(super) min: f64,
    pub(super) max: f64,
}

impl Extent {
    /// The distance of the least and the greatest: the peak of a signal.
    pub(super) fn range(&self) -> f64 {
        if self.min > self.max { 0.0 } else { self.max - self.min }
    }

    /// The greatest size; 0 where there is no number.
    pub(super) fn greatest(&self) -> f64 {
        if self.min > self.max { 0.0 } else { self.max.max(-self.min) }
    }
}

/// How far decoded items are from those that were given.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Measured {
    /// The greatest distance.
    pub(super) max_error: f64,
    /// The greatest distance as a part of the number that was given.
    pub(super) relative_error: f64,
    /// The mean of the squares of distances, as parts of the peak.
    pub(super) mean_square: f64,
    /// Whether all zeros are zeros of the same sign.
    pub(super) keeps_zeros: bool,
}

impl Measured {
    /// Whether there are as many decibels.
    pub(super) fn holds_psnr(&self, psnr: f64) -> bool {
        self.mean_square <= 10.0_f64.powf(-psnr / 10.0) * MEAN_SLACK
    }
}

impl Counted<'_> {
    /// Shows `see` each number that counts, and what it was decoded to.
    fn each<T: Number>(&self, decoded: &[u8], mut see: impl FnMut(T, T)) {
        let bytes = self.items.number_bytes() * self.items.numbers();
        for run in self.inside {
            let run = run.start * bytes..run.end * bytes;
            let before = self.before.and_then(|before| before.get(run.clone()));
            let (Some(given), Some(decoded)) = (self.given.get(run.clone()), decoded.get(run)) else {
                continue;
            };
            T::each(&Compared { given, before, decoded, is_big: self.items.is_big }, &mut see);
        }
    }

    /// Which finite numbers there are.
    pub(super) fn extent(&self) -> Extent {
        with_number!(self.items.kind, T => self.extent_of::<T>())
    }

    fn extent_of<T: Number>(&self) -> Extent {
        let mut extent = Extent { min: f64::INFINITY, max: f64::NEG_INFINITY };
        self.each::<T>(self.given, |x, _| {
            let x = x.value();
            if x.is_finite() {
                extent = Extent { min: extent.min.min(x), max: extent.max.max(x) };
            }
        });
        extent
    }

    /// How far these decoded items are off; `peak` is the range of the given ones.
    pub(super) fn measured(&self, decoded: &[u8], peak: f64) -> Measured {
        with_number!(self.items.kind, T => self.measured_of::<T>(decoded, peak))
    }

    fn measured_of<T: Number>(&self, decoded: &[u8], peak: f64) -> Measured {
        let unit = if peak > 0.0 && peak.is_finite() { 1.0 / peak } else { 1.0 };
        let mut keeps_zeros = true;
        let (mut max_error, mut relative_error, mut squares, mut count) = (0.0_f64, 0.0_f64, 0.0_f64, 0_u64);
        self.each::<T>(decoded, |x, y| {
            let error = error(x, y);
            let (from, to) = (x.value(), y.value());
            let size = from.abs();
            keeps_zeros &= from != 0.0 || from.to_bits() == to.to_bits();
            // A NaN has no size, and an infinity is no part of a mean.
            count += u64::from(size < f64::INFINITY);
            if error > 0.0 {
                max_error = max_error.max(error);
                relative_error = relative_error.max(error / size);
                squares += (error * unit) * (error * unit);
            }
        });
        let max_error = if self.items.is_complex { max_error * std::f64::consts::SQRT_2 } else { max_error };
        let mean_square = if count > 0 { squares / count as f64 } else { squares };
        Measured { max_error, relative_error, mean_square, keeps_zeros }
    }
}

/// How far a decoded number is from the given one.
fn error<T: Number>(x: T, y: T) -> f64 {
    let (from, to) = (x.value(), y.value());
    if from.is_finite() && to.is_finite() {
        return x.distance(y);
    }
    let is_same = from == to || from.is_nan() && from.to_bits() == to.to_bits();
    if is_same { 0.0 } else { f64::INFINITY }
}
