//! `log`, `log2`, `log10`, `log1p`.
//!
//! Method: `x = 2^k m` with `m` near 1, `f = m - 1` and `s = f / (2 + f)`. Then `ln m = 2 artanh s`, which is
//! `f - f^2 / 2` and a small rest with a polynomial in `s^2`. Errors: below 0.8 units in the last place.

use std::f64::consts::{LOG2_E, LOG10_E};

use super::apply::Unary;
use super::exponential::{LN2_HIGH, LN2_LOW};
use super::pair::{Pair, top};
use super::steps::{polynomial, two_to};

/// `(2 artanh(s) / s - 2) / s^2`, by powers of `s^2`, for `s` up to 0.1716, minimax.
pub(super) const SERIES: [f64; 8] = [
    0.6666666666666666,
    0.4000000000000625,
    0.28571428569086,
    0.22222222646779066,
    0.18181775666972885,
    0.1538709069154792,
    0.13250119664754328,
    0.1325131479074045,
];

/// A positive number as a power of two and a number near 1.
#[derive(Clone, Copy)]
pub(super) struct Cut {
    /// The power, whole.
    pub(super) power: f64,
    /// The number, from the root of 1/2 to that of 2, less 1.
    pub(super) rest: f64,
}

impl Cut {
    /// Cuts a positive number; of others, and of NaNs, come numbers that mean nothing.
    #[inline(always)]
    pub(super) fn new(x: f64) -> Self {
        const ONE: u64 = 1_f64.to_bits();
        const ROOT: u64 = std::f64::consts::FRAC_1_SQRT_2.to_bits();
        const FRACTION: u64 = (1 << 52) - 1;
        let is_subnormal = x < f64::MIN_POSITIVE;
        let x = if is_subnormal { x * two_to(54.0) } else { x };
        let bias = if is_subnormal { TWO_52 + 1023.0 + 54.0 } else { TWO_52 + 1023.0 };
        let bits = x.to_bits().wrapping_add(ONE - ROOT);
        let power = f64::from_bits((bits >> 52) | TWO_52.to_bits()) - bias;
        Self { power, rest: f64::from_bits((bits & FRACTION).wrapping_add(ROOT)) - 1.0 }
    }

    /// The logarithm of the number near 1 with `more` added, to that of 1: `rest` and so much.
    #[inline(always)]
    fn beyond_rest(self) -> f64 {
        let f = self.rest;
        let s = f / (2.0 + f);
        let z = s * s;
        let half = 0.5 * f * f;
        s * (half + z * polynomial(z, &SERIES)) - half
    }

    /// The logarithm, when that of the number near 1 is its rest and `beyond`.
    #[inline(always)]
    fn logarithm(self, beyond: f64) -> f64 {
        let sum = Pair::ordered_sum(self.power * LN2_HIGH, self.rest);
        sum.high + (sum.low + (beyond + self.power * LN2_LOW))
    }
}

/// 2^52: the last place of its fraction is 1.
const TWO_52: f64 = (1_u64 << 52) as f64;

/// The logarithm of an argument from 0 to an infinity at the borders, and NaN below.
#[inline(always)]
fn at_borders(x: f64, inside: f64) -> f64 {
    let value = if x == f64::INFINITY { x } else { inside };
    let value = if x == 0.0 { f64::NEG_INFINITY } else { value };
    if x < 0.0 { f64::NAN } else { value }
}

/// The logarithm of `1 + x`, for more than -1, and that of `2^power`.
#[inline(always)]
pub(super) fn log1p(x: Pair, power: f64) -> f64 {
    let sum = Pair::sum(1.0, x.high);
    let cut = Cut::new(sum.high);
    // Near 0 `x` itself is the rest, with all its bits. What the sum has lost counts by its slope, `1 / (1 + f)`;
    // two digits of that are enough. From 2^60 on it does not count.
    let is_near = cut.power == 0.0;
    let lost = (sum.low + x.low) * two_to(if cut.power > 60.0 { -60.0 } else { -cut.power });
    let f = if is_near { x.high } else { cut.rest };
    let lost = if is_near { x.low } else { lost };
    let slope = 1.0 - f * (1.0 - f * (1.0 - 0.7 * f));
    let cut = Cut { rest: f, power: cut.power + power };
    cut.logarithm(cut.beyond_rest() + lost * slope)
}

/// `ln(x)` times the sum of a factor's parts: the first 26 bits and the rest; and `power` times two more parts.
#[inline(always)]
fn other_base(x: f64, factor: f64, factor_rest: f64, power_parts: Pair) -> f64 {
    let cut = Cut::new(x);
    let near = Pair::ordered_sum(cut.rest, cut.beyond_rest());
    let near_top = top(near.high);
    let near_rest = (near.high - near_top) + near.low;
    let high = near_top * top(factor);
    let low = near_rest * factor + near_top * factor_rest;
    let sum = Pair::ordered_sum(cut.power * power_parts.high, high);
    sum.high + (sum.low + (low + cut.power * power_parts.low))
}

pub(super) struct Log;

impl Unary for Log {
    #[inline(always)]
    fn value(x: f64) -> f64 {
        let cut = Cut::new(x);
        at_borders(x, cut.logarithm(cut.beyond_rest()))
    }
}

pub(super) struct Log2;

impl Unary for Log2 {
    #[inline(always)]
    fn value(x: f64) -> f64 {
        at_borders(x, other_base(x, LOG2_E, 1.9259629911266175e-08, Pair::new(1.0, 0.0)))
    }
}

pub(super) struct Log10;

impl Unary for Log10 {
    #[inline(always)]
    fn value(x: f64) -> f64 {
        // The logarithm of 2: 42 bits, so that its multiples are exact, and the rest.
        let of_two = Pair::new(0.30102999566395283, 2.8363394551044964e-14);
        at_borders(x, other_base(x, LOG10_E, 4.798111141615973e-09, of_two))
    }
}

pub(super) struct Log1p;

impl Unary for Log1p {
    #[inline(always)]
    fn value(x: f64) -> f64 {
        let value = at_borders(1.0 + x, log1p(Pair::new(x, 0.0), 0.0));
        // For the sign of 0.
        if x == 0.0 { x } else { value }
    }
}
