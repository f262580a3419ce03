//! `logaddexp`, `logaddexp2`: sums of numbers that are given by their logarithms.
//!
//! Method: the greater one, and `log(1 + e^-d)` with the distance `d`. Errors: about one unit in the last place of
//! the greatest of both and the result.

use std::f64::consts::{LN_2, LOG2_E};

use super::apply::{Binary, Unary};
use super::exponential::{Exp2, exponential};
use super::logarithm::log1p;
use super::pair::Pair;
use super::steps::either_nan;

/// `f(x, y)`, but equal arguments, also infinite ones, make one of them and `equal`.
#[inline(always)]
fn added(x: f64, y: f64, equal: f64, value: f64) -> f64 {
    either_nan(x, y, if x == y { x + equal } else { value })
}

pub(super) struct Logaddexp;

impl Binary for Logaddexp {
    #[inline(always)]
    fn value(x: f64, y: f64) -> f64 {
        let most = if x > y { x } else { y };
        let small = log1p(Pair::new(exponential(Pair::new(-(x - y).abs(), 0.0)), 0.0), 0.0);
        added(x, y, LN_2, most + small)
    }
}

pub(super) struct Logaddexp2;

impl Binary for Logaddexp2 {
    #[inline(always)]
    fn value(x: f64, y: f64) -> f64 {
        let most = if x > y { x } else { y };
        let distance = -(x - y).abs();
        let small = log1p(Pair::new(Exp2::value(distance), 0.0), 0.0) * LOG2_E;
        added(x, y, 1.0, most + small)
    }
}
