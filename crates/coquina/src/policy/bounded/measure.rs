//! How far decoded items are from those that were given.
//!
//! In: items of any number type, given and decoded, and which of them count. Out: the greatest error, absolute and as a
//! part of the number, and the mean square. Errors are rounded up, so that a bound that holds for them holds.
//! Invariant: a NaN equals a NaN of the same payload, and an infinity itself; all else that is not finite on one side is
//! an infinite error.

use std::ops::Range;

use coquina_kernels::{Errors, best_level, bounds, errors};

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
    /// Of no numbers.
    pub(super) const NONE: Self = Self { min: f64::INFINITY, max: f64::NEG_INFINITY };

    /// Of the numbers of both.
    pub(super) fn and(&self, other: &Self) -> Self {
        Self { min: self.min.min(other.min), max: self.max.max(other.max) }
    }

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
    /// What errors of these items come to.
    pub(super) fn of(errors: &Errors, items: Items) -> Self {
        let &Errors { max, relative, squares, finite, keeps_zeros } = errors;
        let max_error = if items.is_complex { max * std::f64::consts::SQRT_2 } else { max };
        let mean_square = if finite > 0 { squares / finite as f64 } else { squares };
        Self { max_error, relative_error: relative, mean_square, keeps_zeros }
    }

    /// Whether there are as many decibels.
    pub(super) fn holds_psnr(&self, psnr: f64) -> bool {
        self.mean_square <= 10.0_f64.powf(-psnr / 10.0) * MEAN_SLACK
    }
}

impl Counted<'_> {
    /// The runs of numbers that count, beside what they were decoded to.
    fn runs<'r>(&'r self, decoded: &'r [u8]) -> impl Iterator<Item = Compared<'r>> {
        let bytes = self.items.number_bytes() * self.items.numbers();
        self.inside.iter().filter_map(move |run| {
            let run = run.start * bytes..run.end * bytes;
            let before = self.before.and_then(|before| before.get(run.clone()));
            let (given, decoded) = (self.given.get(run.clone())?, decoded.get(run)?);
            Some(Compared { given, before, decoded, is_big: self.items.is_big })
        })
    }

    /// Which finite numbers there are.
    pub(super) fn extent(&self) -> Extent {
        let extents = self.runs(self.given).map(|run| self.extent_of(&run));
        extents.fold(Extent::NONE, |all, extent| all.and(&extent))
    }

    fn extent_of(&self, run: &Compared<'_>) -> Extent {
        let fast = self.items.kernel_type().filter(|_| run.before.is_none());
        let bounds = fast.and_then(|ty| bounds(best_level(), ty, run.given));
        // Those of all numbers are those of the finite ones, if they are finite.
        match bounds.map(|bounds| self.items.number(&bounds.min).zip(self.items.number(&bounds.max))) {
            Some(Some((min, max))) if min.is_finite() && max.is_finite() => Extent { min, max },
            _ => with_number!(self.items.kind, T => Self::plain_extent::<T>(run)),
        }
    }

    fn plain_extent<T: Number>(run: &Compared<'_>) -> Extent {
        let mut extent = Extent::NONE;
        T::each(run, |x: T, _| {
            let x = x.value();
            if x.is_finite() {
                extent = extent.and(&Extent { min: x, max: x });
            }
        });
        extent
    }

    /// How far these decoded items are off; `peak` is the range of the given ones.
    pub(super) fn measured(&self, decoded: &[u8], peak: f64) -> Measured {
        Measured::of(&self.errors(decoded, peak), self.items)
    }

    /// The same, before it is brought together with what other items lose.
    pub(super) fn errors(&self, decoded: &[u8], peak: f64) -> Errors {
        let unit = if peak > 0.0 && peak.is_finite() { 1.0 / peak } else { 1.0 };
        let runs = self.runs(decoded).map(|run| match self.items.kernel_type() {
            Some(ty) if run.before.is_none() => errors(best_level(), ty, unit, run.given, run.decoded),
            _ => with_number!(self.items.kind, T => plain_errors::<T>(&run, unit)),
        });
        runs.fold(Errors::NONE, |all, run| all.and(&run))
    }
}

/// How far numbers of any type are off, one after another.
pub(super) fn plain_errors<T: Number>(run: &Compared<'_>, unit: f64) -> Errors {
    let mut all = Errors::NONE;
    T::each(run, |x: T, y: T| {
        let error = error(x, y);
        let (from, to) = (x.value(), y.value());
        let size = from.abs();
        all.keeps_zeros &= from != 0.0 || from.to_bits() == to.to_bits();
        // A NaN has no size, and an infinity is no part of a mean.
        all.finite += u64::from(size < f64::INFINITY);
        if error > 0.0 {
            all.max = all.max.max(error);
            all.relative = all.relative.max(error / size);
            all.squares += (error * unit) * (error * unit);
        }
    });
    all
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
