//! `cbrt`, `hypot`.
//!
//! Errors: below 0.51 units in the last place.

use std::hint::select_unpredictable;

use super::apply::{Binary, Unary};
use super::logarithm::Cut;
use super::pair::Pair;
use super::steps::{either_nan, polynomial, two_to, whole, with_sign};

/// The cube root of `1 + f`, from `f = -0.3` to 0.42, to 16 bits.
const CUBE_ROOT: [f64; 5] =
    [1.0000042480546103, 0.3332171087017213, -0.11154708565308134, 0.06578801452600334, -0.03779208854517371];

pub(super) struct Cbrt;

impl Unary for Cbrt {
    #[inline(always)]
    fn value(x: f64) -> f64 {
        let size = x.abs();
        // `|x| = 2^(3 third) v`, with `v` from about 1/3 to 3.
        let cut = Cut::new(size);
        let third = whole(cut.power * (1.0 / 3.0));
        let part = cut.power - 3.0 * third;
        let near = polynomial(cut.rest, &CUBE_ROOT);
        let factor = if part == 0.0 { 1.0 } else { 1.2599210498948732 };
        let factor = if part < 0.0 { 0.7937005259840998 } else { factor };
        // With 17 bits its cube is exact, and so is the cube's distance to `v`.
        let near = f64::from_bits((near * factor).to_bits() & !((1 << 36) - 1));
        let cube = near * near * near;
        let off = ((1.0 + cut.rest) * two_to(part) - cube) / cube;
        let root = near + near * (off * (1.0 / 3.0 - off * (1.0 / 9.0 - off * (5.0 / 81.0))));
        let value = root * two_to(third);
        let is_root = size == 0.0 || size == f64::INFINITY;
        with_sign(select_unpredictable(is_root, size, value), x)
    }
}

pub(super) struct Hypot;

impl Binary for Hypot {
    #[inline(always)]
    fn value(x: f64, y: f64) -> f64 {
        let (a, b) = (x.abs(), y.abs());
        let (large, small) = if a < b { (b, a) } else { (a, b) };
        // Powers of two, so that squares neither overflow nor underflow, but for small ones that do not count.
        let factor = if large > 1e150 { 2_f64.powi(-600) } else { 1.0 };
        let factor = if large < 1e-120 { 2_f64.powi(600) } else { factor };
        let back = if large > 1e150 { 2_f64.powi(600) } else { 1.0 };
        let back = if large < 1e-120 { 2_f64.powi(-600) } else { back };
        let square = Pair::square(large * factor);
        let other = Pair::square(small * factor);
        let sum = Pair::ordered_sum(square.high, other.high);
        let root = sum.plus_low(square.low + other.low).tidy().root();
        let value = either_nan(x, y, root.value() * back);
        if a == f64::INFINITY || b == f64::INFINITY { f64::INFINITY } else { value }
    }
}
