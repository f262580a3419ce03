//! `sinh`, `cosh`, `tanh`.
//!
//! Method: from `e^x` as a pair, and for a small sine as a polynomial; the tangent from `e^2x - 1`, as a quotient of
//! pairs. Errors: below 0.9 units in the last place.

use std::hint::select_unpredictable;

use super::apply::Unary;
use super::exponential::{Cut, short_less_one};
use super::pair::Pair;
use super::steps::{polynomial, scale, two_to, with_sign};

/// `(sinh(x) / x - 1) / x^2` by powers of `x^2`, to 1, minimax.
const SINE: [f64; 7] = [
    0.16666666666666669,
    0.008333333333333139,
    0.0001984126984143738,
    2.755731915541876e-06,
    2.5052123387576298e-08,
    1.6057241049706033e-10,
    7.759294659146521e-13,
];

/// `e^|x| / 2`, and the half of its inverse.
#[inline(always)]
fn halves(x: f64) -> (Pair, f64) {
    // From here on the results are infinite.
    let size = if x.abs() > 712.0 { 712.0 } else { x.abs() };
    let cut = Cut::new(Pair::new(size, 0.0));
    let sum = cut.exponential().tidy();
    let power = cut.power - 1.0;
    let half = Pair::new(scale(sum.high, power), scale(sum.low, power));
    (half, 0.25 / half.high)
}

pub(super) struct Sinh;

impl Unary for Sinh {
    #[inline(always)]
    fn value(x: f64) -> f64 {
        let size = x.abs();
        let z = size * size;
        let near = size + size * z * polynomial(z, &SINE);
        let (half, inverse) = halves(x);
        let far = half.high + (half.low - inverse);
        with_sign(if size < 1.0 { near } else { far }, x)
    }
}

pub(super) struct Cosh;

impl Unary for Cosh {
    #[inline(always)]
    fn value(x: f64) -> f64 {
        let (half, inverse) = halves(x);
        half.high + (half.low + inverse)
    }
}

pub(super) struct Tanh;

impl Unary for Tanh {
    #[inline(always)]
    fn value(x: f64) -> f64 {
        let size = x.abs();
        // From here on it is 1.
        let double = if size > 25.0 { 50.0 } else { size + size };
        let cut = Cut::new(Pair::new(double, 0.0));
        // `(e^2x - 1) / (e^2x - 1 + 2)`, both over the power of two.
        let above = cut.less_one();
        let sum = Pair::sum(two_to(1.0 - cut.power), above.high);
        let below = sum.plus_low(above.low);
        let value = above.tidy().over(below.tidy()).value();
        with_sign(select_unpredictable(size < 1e-9, size, value), x)
    }

    #[inline(always)]
    fn single(x: f64) -> f64 {
        let above = short_less_one(2.0 * x.abs());
        // From here on it is 1.
        let value = if x.abs() > 25.0 { 1.0 } else { above / (above + 2.0) };
        with_sign(value, x)
    }
}
