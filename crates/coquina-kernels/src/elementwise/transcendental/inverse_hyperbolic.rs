//! `arcsinh`, `arccosh`, `arctanh`.
//!
//! Method: as logarithms of `1 + f`, with `f` a pair; large arguments of the first two as that of the argument
//! alone, and ln 2. Errors: below 0.9 units in the last place.

use std::hint::select_unpredictable;

use super::apply::Unary;
use super::logarithm::{SERIES, log1p};
use super::pair::Pair;
use super::steps::{polynomial, with_sign};

/// From here on the root of `x^2 + 1` or `x^2 - 1` is `x`, and `2 x - 1` is as good as `2 x`.
const LARGE: f64 = 1e18;

/// The logarithm of `1 + less_one`, or from [`LARGE`] on of `2 x`.
#[inline(always)]
fn logarithm(x: f64, less_one: Pair) -> f64 {
    let is_large = x > LARGE;
    // A plain `if` becomes two copies of the logarithm.
    let more = select_unpredictable(is_large, 1.0, 0.0);
    let value = log1p(Pair::either(is_large, Pair::new(x, 0.0), less_one), more);
    if x == f64::INFINITY { x } else { value }
}

pub(super) struct Arcsinh;

impl Unary for Arcsinh {
    #[inline(always)]
    fn value(x: f64) -> f64 {
        let size = x.abs();
        let square = Pair::square(size);
        let sum = Pair::sum(1.0, square.high);
        let root = sum.plus_low(square.low).tidy().root();
        // `x + root(1 + x^2)`, less 1: the root less 1 is exact where it counts, and below `x`.
        let less_one = Pair::ordered_sum(size, root.high - 1.0);
        let value = logarithm(size, less_one.plus_low(root.low).tidy());
        with_sign(if size < 1e-9 { size } else { value }, x)
    }
}

pub(super) struct Arccosh;

impl Unary for Arccosh {
    #[inline(always)]
    fn value(x: f64) -> f64 {
        // `t = x - 1`: `x + root(x^2 - 1)` less 1 is `t + root(2 t + t^2)`.
        let t = x - 1.0;
        let square = Pair::square(t);
        let sum = Pair::sum(2.0 * t, square.high);
        let root = sum.plus_low(square.low).tidy().root();
        let less_one = Pair::ordered_sum(root.high, t);
        let value = logarithm(t, less_one.plus_low(root.low).tidy());
        if x < 1.0 { f64::NAN } else { value }
    }
}

pub(super) struct Arctanh;

impl Unary for Arctanh {
    #[inline(always)]
    fn value(x: f64) -> f64 {
        let size = x.abs();
        let z = size * size;
        let near = size + size * z * (0.5 * polynomial(z, &SERIES));
        // Half of `ln((1 + x) / (1 - x))`, that is of `ln(1 + 2 x / (1 - x))`.
        let quotient = Pair::new(2.0 * size, 0.0).over(Pair::sum(1.0, -size));
        let far = 0.5 * log1p(quotient.tidy(), 0.0);
        let value = if size < 0.17 { near } else { far };
        let value = if size == 1.0 { f64::INFINITY } else { value };
        if size > 1.0 { f64::NAN } else { with_sign(value, x) }
    }
}
