//! `arcsin`, `arccos`, `arctan`, `arctan2`.
//!
//! Method: sines above 1/2 through half the angle; tangents less that of an eighth of a turn, as a quotient of
//! pairs; then a polynomial in the square. Errors: below 0.8 units in the last place.

use std::f64::consts::FRAC_PI_2;

use std::hint::select_unpredictable;

use super::apply::{Binary, Unary};
use super::pair::Pair;
use super::reduction::HALF_PI_REST;
use super::steps::{either_nan, polynomial, with_sign};

/// `(asin(t) / t - 1) / t^2` by powers of `t^2`, to 1 / 2, minimax.
const ARCSINE: [f64; 13] = [
    0.16666666666666763,
    0.07499999999970264,
    0.044642857175119975,
    0.03038194268364009,
    0.022372215659989814,
    0.017351600093335428,
    0.013980961466921547,
    0.011397775680944798,
    0.01078653140353819,
    0.003683031763124389,
    0.021763525352642765,
    -0.021077329131729793,
    0.032676911744075755,
];

/// `(atan(t) / t - 1) / t^2` by powers of `t^2`, to the tangent of pi / 8, minimax.
const ARCTANGENT: [f64; 11] = [
    -0.333333333333332,
    0.1999999999995377,
    -0.1428571428021541,
    0.11111110784412395,
    -0.09090897784982911,
    0.07692060691464489,
    -0.06663109318052367,
    0.058479262593830274,
    -0.05039464073273133,
    0.03806841519751085,
    -0.017911209945864412,
];

/// The tangent of pi / 8.
const EIGHTH: f64 = 0.41421356237309503;

/// The arc sine of `min(|x|, root((1 - |x|) / 2))`, not tidy; whether that is the root; NaN above 1.
#[inline(always)]
fn small_arcsine(x: f64) -> (Pair, bool) {
    let size = x.abs();
    let is_large = size > 0.5;
    let half = (1.0 - size) * 0.5;
    let root = Pair::new(half, 0.0).root().tidy();
    let sine = Pair::either(is_large, root, Pair::new(size, 0.0));
    let z = if is_large { half } else { x * x };
    (sine.plus_low(sine.high * z * polynomial(z, &ARCSINE)), is_large)
}

pub(super) struct Arcsin;

impl Unary for Arcsin {
    #[inline(always)]
    fn value(x: f64) -> f64 {
        let (small, is_large) = small_arcsine(x);
        let sum = Pair::ordered_sum(FRAC_PI_2, -2.0 * small.high);
        let large = sum.high + (sum.low + (HALF_PI_REST - 2.0 * small.low));
        let value = with_sign(if is_large { large } else { small.value() }, x);
        if x.abs() > 1.0 { f64::NAN } else { value }
    }
}

pub(super) struct Arccos;

impl Unary for Arccos {
    #[inline(always)]
    fn value(x: f64) -> f64 {
        let (small, is_large) = small_arcsine(x);
        // pi / 2 less the arc sine; twice the arc sine of the root; or pi less that.
        let base = if is_large { if x > 0.0 { 0.0 } else { 2.0 } } else { 1.0 };
        let factor = if is_large { 2.0 } else { 1.0 };
        let factor = if is_large == (x > 0.0) { factor } else { -factor };
        let sum = Pair::ordered_sum(base * FRAC_PI_2, factor * small.high);
        let value = sum.high + (sum.low + (base * HALF_PI_REST + factor * small.low));
        if x.abs() > 1.0 { f64::NAN } else { value }
    }
}

/// The angle whose tangent is a quotient of at most 1; if steep what is left to pi / 2; if back, what is left of that
/// to pi.
#[inline(always)]
fn angle(small: f64, large: f64, is_steep: bool, is_back: bool) -> f64 {
    let is_wide = small > EIGHTH * large;
    let above = if is_wide { Pair::sum(small, -large) } else { Pair::new(small, 0.0) };
    let below = if is_wide { Pair::sum(large, small) } else { Pair::new(large, 0.0) };
    let tangent = above.over(below);
    let t = tangent.value();
    let z = t * t;
    let low = tangent.low + t * z * polynomial(z, &ARCTANGENT);
    // The angle is `base + sign * (t + low)`, in quarter turns and eighths.
    let base = if is_wide { 0.5 } else { 0.0 };
    let (base, is_minus) = if is_steep { (1.0 - base, true) } else { (base, false) };
    let base = if is_back { 2.0 - base } else { base };
    let sign = if is_minus == is_back { 1.0 } else { -1.0 };
    let sum = Pair::ordered_sum(base * FRAC_PI_2, sign * tangent.high);
    sum.high + (sum.low + (base * HALF_PI_REST + sign * low))
}

pub(super) struct Arctan;

impl Unary for Arctan {
    #[inline(always)]
    fn value(x: f64) -> f64 {
        // From here on it is pi / 2.
        let size = if x.abs() > 1e18 { 1e18 } else { x.abs() };
        let is_steep = size > 1.0;
        let (small, large) = if is_steep { (1.0, size) } else { (size, 1.0) };
        let value = select_unpredictable(size < 1e-9, size, angle(small, large, is_steep, false));
        with_sign(value, x)
    }
}

pub(super) struct Arctan2;

impl Binary for Arctan2 {
    #[inline(always)]
    fn value(y: f64, x: f64) -> f64 {
        let (opposite, adjacent) = (y.abs(), x.abs());
        let (is_steep, is_back) = (opposite > adjacent, x.is_sign_negative());
        let (small, large) = if is_steep { (adjacent, opposite) } else { (opposite, adjacent) };
        // Powers of two, so that neither sums nor inverses overflow.
        let factor = if large > 1e150 { 2_f64.powi(-600) } else { 1.0 };
        let factor = if large < 1e-150 { 2_f64.powi(600) } else { factor };
        // An infinite part leaves nothing of the other one, but for an infinite one.
        let infinite = if small == f64::INFINITY { 1.0 } else { 0.0 };
        let is_infinite = large == f64::INFINITY;
        let small = if is_infinite { infinite } else { small * factor };
        let large = if is_infinite || large == 0.0 { 1.0 } else { large * factor };
        let value = angle(small, large, is_steep, is_back);
        // The least angles are their tangents, to the last place; parts that lie far apart have lost that by now.
        let tangent = opposite / adjacent;
        let value = select_unpredictable(tangent < 1e-9 && !is_back, tangent, value);
        let value = with_sign(value, y);
        either_nan(x, y, value)
    }
}
