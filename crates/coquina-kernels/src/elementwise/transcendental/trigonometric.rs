//! `sin`, `cos`, `tan`.
//!
//! Method: the angle is reduced to the nearest quarter turn; there both sine and cosine are polynomials, of which
//! the quarter takes one. Errors: below 0.8 units in the last place, for `tan` below 1.

use super::apply::Unary;
use super::pair::Pair;
use super::reduction::{LIMIT, Reduced, reduce, reduce_large, reduce_short};
use super::steps::polynomial;

/// `(sin(r) / r - 1) / r^2` by powers of `r^2`, to pi / 4, minimax.
const SINE: [f64; 6] = [
    -0.16666666666666632,
    0.008333333333322337,
    -0.00019841269829741324,
    2.7557313667132223e-06,
    -2.5050753980256497e-08,
    1.5896542425855318e-10,
];

/// `(cos(r) - 1 + r^2 / 2) / r^4` by powers of `r^2`, to pi / 4, minimax.
const COSINE: [f64; 6] = [
    0.0416666666666666,
    -0.0013888888888874012,
    2.4801587289406785e-05,
    -2.755731432932264e-07,
    2.0875719995239136e-09,
    -1.1359470929101115e-11,
];

impl Reduced {
    /// The sine of the rest, not tidy.
    #[inline(always)]
    fn sine(self) -> Pair {
        let r = self.rest.high;
        let z = r * r;
        Pair::new(r, self.rest.low * (1.0 - 0.5 * z) + r * z * polynomial(z, &SINE))
    }

    /// The cosine of the rest, not tidy.
    #[inline(always)]
    fn cosine(self) -> Pair {
        let r = self.rest.high;
        let z = r * r;
        let sum = Pair::ordered_sum(1.0, -0.5 * z);
        sum.plus_low(z * z * polynomial(z, &COSINE) - r * self.rest.low)
    }

    /// The sine of the whole angle and so many quarter turns.
    #[inline(always)]
    fn turned_sine(self, more: u64) -> f64 {
        let quarters = self.quarters.wrapping_add(more);
        let (sine, cosine) = (self.sine().value(), self.cosine().value());
        let value = if quarters & 1 == 0 { sine } else { cosine };
        f64::from_bits(value.to_bits() ^ ((quarters & 2) << 62))
    }

    /// The tangent of the whole angle.
    #[inline(always)]
    fn tangent(self) -> f64 {
        let (sine, cosine) = (self.sine().tidy(), self.cosine().tidy());
        let is_even = self.quarters & 1 == 0;
        let above = Pair::either(is_even, sine, -cosine);
        above.over(Pair::either(is_even, cosine, sine)).value()
    }
}

/// As [`SINE`], to 37 bits.
const SHORT_SINE: [f64; 4] =
    [-0.16666666641452302, 0.008333329364629445, -0.0001983932778232262, 2.7182428381570164e-06];

/// As [`COSINE`], to 33 bits.
const SHORT_COSINE: [f64; 3] = [0.04166664676974694, -0.0013887362038845826, 2.4437768549250208e-05];

/// The sine of an angle and so many quarter turns, to 33 bits, for singles.
#[inline(always)]
fn short_sine(x: f64, more: u64) -> f64 {
    let (quarters, r) = reduce_short(x);
    let quarters = quarters.wrapping_add(more);
    let z = r * r;
    let sine = r + r * z * polynomial(z, &SHORT_SINE);
    let cosine = (1.0 - 0.5 * z) + z * z * polynomial(z, &SHORT_COSINE);
    let value = if quarters & 1 == 0 { sine } else { cosine };
    f64::from_bits(value.to_bits() ^ ((quarters & 2) << 62))
}

/// Reduces a large angle and applies a function; an infinite one has none.
#[inline(always)]
fn at_large(x: f64, function: impl Fn(Reduced) -> f64) -> f64 {
    let value = function(reduce_large(x));
    if x.is_infinite() { f64::NAN } else { value }
}

pub(super) struct Sin;

impl Unary for Sin {
    #[inline(always)]
    fn value(x: f64) -> f64 {
        let value = reduce(x).turned_sine(0);
        // For the sign of 0.
        if x == 0.0 { x } else { value }
    }

    #[inline(always)]
    fn is_hard(x: f64) -> bool {
        x.abs() >= LIMIT
    }

    #[inline(always)]
    fn hard(x: f64) -> f64 {
        at_large(x, |angle| angle.turned_sine(0))
    }

    #[inline(always)]
    fn single(x: f64) -> f64 {
        let value = short_sine(x, 0);
        if x == 0.0 { x } else { value }
    }
}

pub(super) struct Cos;

impl Unary for Cos {
    #[inline(always)]
    fn value(x: f64) -> f64 {
        reduce(x).turned_sine(1)
    }

    #[inline(always)]
    fn is_hard(x: f64) -> bool {
        x.abs() >= LIMIT
    }

    #[inline(always)]
    fn hard(x: f64) -> f64 {
        at_large(x, |angle| angle.turned_sine(1))
    }

    #[inline(always)]
    fn single(x: f64) -> f64 {
        short_sine(x, 1)
    }
}

pub(super) struct Tan;

impl Unary for Tan {
    #[inline(always)]
    fn value(x: f64) -> f64 {
        let value = reduce(x).tangent();
        // Below this a tangent is its angle; so are the sign of 0 and the smallest numbers.
        if x.abs() < 1e-9 { x } else { value }
    }

    #[inline(always)]
    fn is_hard(x: f64) -> bool {
        x.abs() >= LIMIT
    }

    #[inline(always)]
    fn hard(x: f64) -> f64 {
        at_large(x, Reduced::tangent)
    }
}
