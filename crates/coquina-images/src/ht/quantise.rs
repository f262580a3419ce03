//! Steps of quantisation: how many bit planes each band has, and what a coefficient is worth.
//!
//! In: coefficients. Out: whole numbers of steps, and back. Without loss the step is 1.
//! Source: ISO/IEC 15444-1, Annex E.

use super::How;
use super::bands::{Band, resolutions};
use crate::image::Geometry;
use crate::level::widest;
use crate::planes;
use crate::stream::Head;

/// Guard bits of what is written: enough for all that the transform of whole numbers can give.
const GUARD_BITS: u32 = 2;
/// The least and the largest exponent of a step that is written.
const EXPONENT_MAX: u32 = 31;
/// The bit planes of code-blocks that are decoded here.
const PLANES_MAX: u32 = 28;

/// How much a unit of a coefficient changes an image, in the root mean square, by level: the lowest band, bands that
/// are high-pass in one direction, and in both. From the synthesis filters of the 9/7 transform.
const WEIGHTS: [[f64; 3]; 10] = [
    [1.965, 1.011, 0.520],
    [4.177, 1.994, 0.966],
    [8.403, 4.177, 2.077],
    [16.90, 8.520, 4.295],
    [33.84, 17.13, 8.677],
    [67.69, 34.31, 17.40],
    [135.3, 68.65, 34.82],
    [270.6, 137.3, 69.65],
    [540.9, 274.5, 139.3],
    [1081.8, 549.0, 278.6],
];

/// The steps of an image.
#[derive(Clone, Debug)]
pub(super) struct Quantiser {
    bits: u32,
    pub(super) guard_bits: u32,
    /// Exponent and mantissa of each band, the lowest first.
    pub(super) steps: Vec<(u32, u32)>,
    levels: u32,
}

impl Quantiser {
    /// The steps for samples of `bits` bits.
    pub(super) fn new(bits: u32, how: How) -> Self {
        // Differences of colours have one more bit, whatever the band.
        let wide = bits + u32::from(how.has_colour_transform);
        // Shapes do not matter here: bands are asked for their level and gain only.
        let bands = resolutions(1, 1, how.levels).concat();
        let steps = bands.iter().map(|band| match how.step {
            None => (wide + band.gain, 0),
            Some(step) => packed(step / weight(band, how.levels), bits + band.gain),
        });
        Self { bits, guard_bits: GUARD_BITS, steps: steps.collect(), levels: how.levels }
    }

    /// The steps of a code-stream, if it has one for each band, and as many planes as are decoded here.
    pub(super) fn of(head: &Head<'_>, bits: u32) -> Option<Self> {
        let (guard_bits, steps) = (head.steps.guard_bits, head.steps.bands.clone());
        let levels = head.coding.levels;
        let quantiser = Self { bits, guard_bits, steps, levels };
        let bands = 1 + 3 * levels as usize;
        let fits = (0..bands).all(|number| (1..=PLANES_MAX).contains(&quantiser.planes(number)));
        (fits && quantiser.steps.len() >= bands).then_some(quantiser)
    }

    /// The bit planes of a band.
    pub(super) fn planes(&self, number: usize) -> u32 {
        let exponent = self.steps.get(number).map_or(0, |step| step.0);
        (self.guard_bits + exponent).saturating_sub(1)
    }

    /// The step of a band, in units of the transform.
    fn step(&self, number: usize, gain: u32) -> f32 {
        let (exponent, mantissa) = self.steps.get(number).copied().unwrap_or_default();
        let whole = power(self.bits + gain, exponent);
        narrow(whole * (1.0 + f64::from(mantissa) / 2048.0))
    }

    /// Coefficients as whole steps, towards 0.
    pub(super) fn quantise(&self, plane: &[f32], geometry: &Geometry) -> Vec<i32> {
        let mut out = vec![0; plane.len()];
        self.for_rows(geometry.columns, geometry.rows, self.levels, |number, gain, from, columns| {
            let step = self.step(number, gain);
            let most = narrow(power(self.planes(number), 0) - 1.0);
            let places = plane.get(from..from + columns).into_iter().flatten();
            let out = out.get_mut(from..from + columns).into_iter().flatten();
            widest(
                #[inline(always)]
                || {
                    out.zip(places)
                        .for_each(|(out, value)| *out = towards_zero((value / step).clamp(-most, most)))
                },
            );
        });
        out
    }

    /// Whole steps as coefficients, each in the middle of what it stands for.
    pub(super) fn restore(&self, plane: &[i32], columns: usize, rows: usize, levels: u32) -> Vec<f32> {
        let mut out = real(plane);
        self.for_rows(columns, rows, levels, |number, gain, from, columns| {
            let step = self.step(number, gain);
            let row = out.get_mut(from..from + columns).unwrap_or_default();
            widest(
                #[inline(always)]
                || {
                    for value in row {
                        let middle = (*value + 0.5_f32.copysign(*value)) * step;
                        *value = if *value == 0.0 { 0.0 } else { middle };
                    }
                },
            );
        });
        out
    }

    /// Calls `each` with number, gain, place and length of all rows of all bands.
    fn for_rows(
        &self,
        columns: usize,
        rows: usize,
        levels: u32,
        mut each: impl FnMut(usize, u32, usize, usize),
    ) {
        let bands = resolutions(columns, rows, levels).concat();
        for (number, band) in bands.iter().enumerate() {
            (band.top..band.top + band.rows)
                .for_each(|row| each(number, band.gain, row * columns + band.left, band.columns));
        }
    }
}

/// 2 to the power of `up - down`.
fn power(up: u32, down: u32) -> f64 {
    2_f64.powi(up.cast_signed() - down.cast_signed())
}

/// How much a unit of the band changes an image.
fn weight(band: &Band, levels: u32) -> f64 {
    if levels == 0 {
        return 1.0;
    }
    let row = band.level.clamp(1, 10) as usize - 1;
    WEIGHTS.get(row).and_then(|row| row.get(band.gain as usize)).copied().unwrap_or(1.0)
}

/// Exponent and mantissa of the largest step that is not above `step`, of a band of that many bits.
fn packed(step: f64, bits: u32) -> (u32, u32) {
    for exponent in 0..=EXPONENT_MAX {
        let whole = power(bits, exponent);
        if whole <= step {
            let over = (step / whole - 1.0) * 2048.0;
            let mantissa = (0..2048_u32).rev().find(|&mantissa| f64::from(mantissa) <= over);
            return (exponent, mantissa.unwrap_or(0));
        }
    }
    (EXPONENT_MAX, 0)
}

/// Whole numbers as real ones.
#[expect(clippy::cast_precision_loss, reason = "coefficients of 16-bit samples have far fewer bits than 24")]
pub(super) fn real(plane: &[i32]) -> Vec<f32> {
    let mut real = planes::empty(plane.len());
    widest(
        #[inline(always)]
        || real.extend(plane.iter().map(|&value| value as f32)),
    );
    real
}

/// Replaces `whole` by the whole numbers that are the nearest to those of `plane`.
pub(super) fn whole(plane: &[f32], whole: &mut Vec<i32>) {
    // As `round`, half away from zero, which no instruction does: this is just less than a half.
    const HALF: f32 = 0.499_999_97;
    whole.clear();
    widest(
        #[inline(always)]
        || whole.extend(plane.iter().map(|&value| towards_zero(value + HALF.copysign(value)))),
    );
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the cast saturates, as is wanted of what is out of range"
)]
#[inline(always)]
fn towards_zero(value: f32) -> i32 {
    value as i32
}

#[expect(clippy::cast_possible_truncation, reason = "a step needs no more digits than its stored 11 bits")]
fn narrow(value: f64) -> f32 {
    value as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packed_step_is_close_below_the_step() {
        for step in [0.01, 0.5, 1.0, 3.7, 100.0] {
            let (exponent, mantissa) = packed(step, 17);
            let found = power(17, exponent) * (1.0 + f64::from(mantissa) / 2048.0);
            assert!(found <= step && found > step * 0.999, "{step}: {found}");
        }
    }
}
