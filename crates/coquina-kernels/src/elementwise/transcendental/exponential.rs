//! `exp`, `exp2`, `expm1`.
//!
//! Method: with a whole number `k`, `e^x = 2^k * e^r`, where `r = x - k ln 2` is at most `ln 2 / 2`; there `e^r` is
//! `1 + r` (exactly, as a pair) and a polynomial for the rest. Errors: below 0.7 units in the last place, for
//! `expm1` below 0.9.

use std::f64::consts::{LN_2, LOG2_E};

use super::apply::Unary;
use super::pair::{Pair, top};
use super::steps::{between, polynomial, scale, two_to, whole};

/// The first 42 bits of ln 2 (a multiple by any exponent is exact), and the rest.
pub(super) const LN2_HIGH: f64 = 0.6931471805598903;
pub(super) const LN2_LOW: f64 = 5.497923018708371e-14;

/// Below the least and above the greatest logarithm of a double; results there are 0 and infinite.
const LEAST: f64 = -746.0;
const MOST: f64 = 710.0;

/// `(e^r - 1 - r) / r^2` for at most `ln 2 / 2`, minimax.
const REST: [f64; 10] = [
    0.5000000000000012,
    0.166666666666667,
    0.04166666666651538,
    0.008333333333306908,
    0.001388888894703828,
    0.00019841269917910602,
    2.4801489908651e-05,
    2.755721591763982e-06,
    2.763129528314645e-07,
    2.5117960839305986e-08,
];

/// A number cut in a multiple of ln 2 and the rest.
#[derive(Clone, Copy)]
pub(super) struct Cut {
    /// The multiple, whole.
    pub(super) power: f64,
    /// At most `ln 2 / 2`, and a bit.
    pub(super) rest: Pair,
}

impl Cut {
    /// Cuts a number from -2000 to 2000.
    #[inline(always)]
    pub(super) fn new(x: Pair) -> Self {
        let power = whole(x.high * LOG2_E);
        let high = x.high - power * LN2_HIGH;
        Self { power, rest: Pair::ordered_sum(high, x.low - power * LN2_LOW) }
    }

    /// `e^x / 2^power`, not tidy.
    #[inline(always)]
    pub(super) fn exponential(self) -> Pair {
        let Pair { high: r, low } = self.rest;
        let sum = Pair::ordered_sum(1.0, r);
        sum.plus_low(low * sum.high + r * r * polynomial(r, &REST))
    }

    /// `(e^x - 1) / 2^power`, not tidy, for a power of -50 and above.
    #[inline(always)]
    pub(super) fn less_one(self) -> Pair {
        let Pair { high: r, low } = self.rest;
        let inverse = two_to(if self.power > 100.0 { -100.0 } else { -self.power });
        let sum = Pair::ordered_sum(1.0 - inverse, r);
        sum.plus_low(low + low * r + r * r * polynomial(r, &REST))
    }
}

/// As [`REST`], to 34 bits.
const SHORT: [f64; 6] = [
    0.5000000077991794,
    0.16666666861060828,
    0.041666269657132014,
    0.008333264310001164,
    0.001394609293422935,
    0.00019918398239137576,
];

/// With a whole number `k`, `e^x / 2^k - 1` and `2^k`, to 33 bits, for singles.
#[inline(always)]
fn short(x: f64) -> (f64, f64) {
    let power = whole(x * LOG2_E);
    let r = x - power * LN_2;
    (r + r * r * polynomial(r, &SHORT), two_to(power))
}

/// `e^x`, to 33 bits, for singles; beyond these 0 or infinite.
#[inline(always)]
pub(super) fn short_exponential(x: f64) -> f64 {
    let (less_one, scale) = short(between(-110.0, x, 90.0));
    scale + scale * less_one
}

/// `e^x - 1`, to 31 bits, for singles.
#[inline(always)]
pub(super) fn short_less_one(x: f64) -> f64 {
    let (less_one, scale) = short(between(-50.0, x, 90.0));
    (scale - 1.0) + scale * less_one
}

/// e to the power of a pair.
#[inline(always)]
pub(super) fn exponential(x: Pair) -> f64 {
    let high = between(LEAST, x.high, MOST);
    let low = if high == x.high { x.low } else { 0.0 };
    let cut = Cut::new(Pair::new(high, low));
    scale(cut.exponential().value(), cut.power)
}

pub(super) struct Exp;

impl Unary for Exp {
    #[inline(always)]
    fn value(x: f64) -> f64 {
        let cut = Cut::new(Pair::new(between(LEAST, x, MOST), 0.0));
        scale(cut.exponential().value(), cut.power)
    }

    #[inline(always)]
    fn single(x: f64) -> f64 {
        short_exponential(x)
    }
}

pub(super) struct Exp2;

impl Unary for Exp2 {
    #[inline(always)]
    fn value(x: f64) -> f64 {
        let x = between(-1080.0, x, 1030.0);
        let power = whole(x);
        let part = x - power;
        let (ln2_top, part_top) = (top(LN_2), top(part));
        let high = part_top * ln2_top;
        let low = part_top * LN_2_REST + (part - part_top) * LN_2;
        let cut = Cut { power, rest: Pair::ordered_sum(high, low) };
        scale(cut.exponential().value(), power)
    }
}

/// `ln 2` less its first 26 bits.
const LN_2_REST: f64 = 1.2996506893889889e-08;

pub(super) struct Expm1;

impl Unary for Expm1 {
    #[inline(always)]
    fn value(x: f64) -> f64 {
        let cut = Cut::new(Pair::new(between(-50.0, x, MOST), 0.0));
        let value = scale(cut.less_one().value(), cut.power);
        // For the sign of 0.
        if x == 0.0 { x } else { value }
    }

    #[inline(always)]
    fn single(x: f64) -> f64 {
        let value = short_less_one(x);
        if x == 0.0 { x } else { value }
    }
}
