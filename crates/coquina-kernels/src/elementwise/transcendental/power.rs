//! `power`: `x^y`.
//!
//! Method: `e^(y ln |x|)`. The logarithm has some 66 bits: `2 artanh s` with `s`, its square and the first terms of
//! the series as pairs. Errors: below 0.8 units in the last place. Borders as in C's `pow`.

use super::apply::{Binary, Unary};
use super::exponential::{LN2_HIGH, LN2_LOW, exponential, short_exponential};
use super::logarithm::{Cut, Log};
use super::pair::Pair;
use super::steps::{MAGNITUDE, either_nan, polynomial, with_sign};

/// `(artanh(s) / s - 1 - s^2 / 3) / s^4` by powers of `s^2`, for `s` up to 0.1716, minimax.
const SERIES: [f64; 9] = [
    0.2,
    0.14285714285714188,
    0.11111111111145311,
    0.09090909084623086,
    0.07692308376910041,
    0.06666620201650646,
    0.05884337415204104,
    0.0521144309139554,
    0.055067212410564746,
];

/// 1 / 3 less its double.
const THIRD_REST: f64 = 1.850371707708594e-17;

/// 2^52: numbers from here on are whole.
const TWO_52: f64 = (1_u64 << 52) as f64;

/// Powers with smaller exponents are 1.
const LEAST: f64 = 1e-290;

/// The logarithm of a positive number, tidy.
#[inline(always)]
fn logarithm(x: f64) -> Pair {
    let Cut { power, rest: f } = Cut::new(x);
    // Its first part has 26 bits, so squares of that are exact.
    let s = Pair::new(f, 0.0).over(Pair::ordered_sum(2.0, f));
    let z = Pair::new(s.high * s.high, s.low * (2.0 * s.high + s.low));
    let near = z.value();
    let third = Pair::ordered_sum(1.0 / 3.0, near * polynomial(near, &SERIES)).plus_low(THIRD_REST);
    let beyond = z.times(third).times(s);
    let half = Pair::ordered_sum(s.high, beyond.high).plus_low(s.low + beyond.low);
    let sum = Pair::ordered_sum(power * LN2_HIGH, 2.0 * half.high);
    sum.plus_low(2.0 * half.low + power * LN2_LOW).tidy()
}

/// The power, with its sign and C's borders, when its size is that of `|x|^y`.
#[inline(always)]
fn with_borders(x: f64, y: f64, value: f64) -> f64 {
    let (base, size) = (x.abs(), y.abs());
    // The last bit of a whole number; those from 2^53 on are even.
    let shifted = if size < TWO_52 { size + TWO_52 } else { size };
    let is_whole = size >= TWO_52 || shifted - TWO_52 == size;
    let is_odd = is_whole && size < 2.0 * TWO_52 && shifted.to_bits() & 1 == 1;
    let sign = if is_odd { x.to_bits() & !MAGNITUDE } else { 0 };
    let value = f64::from_bits(value.to_bits() | sign);
    let value = if x < 0.0 && base < f64::INFINITY && !is_whole { f64::NAN } else { value };
    // Nothing else is as exact, and NumPy squares, too.
    let value = if y == 2.0 { x * x } else { value };
    let value = either_nan(x, y, value);
    let is_one = y == 0.0 || x == 1.0 || (x == -1.0 && size == f64::INFINITY);
    if is_one { 1.0 } else { value }
}

pub(super) struct Power;

impl Binary for Power {
    #[inline(always)]
    fn value(x: f64, y: f64) -> f64 {
        let base = x.abs();
        let log = logarithm(base);
        // With infinite logarithms the products have C's borders, but for those that are put in after.
        let log = if base == 0.0 { Pair::new(f64::NEG_INFINITY, 0.0) } else { log };
        let log = if base == f64::INFINITY { Pair::new(base, 0.0) } else { log };
        // Products with smaller ones are as near 0, but of an infinity; and such have no first bits.
        let exponent = if y.abs() < LEAST { with_sign(LEAST, y) } else { y };
        with_borders(x, y, exponential(log.times(Pair::new(exponent, 0.0))))
    }

    #[inline(always)]
    fn single(x: f64, y: f64) -> f64 {
        with_borders(x, y, short_exponential(y * Log::value(x.abs())))
    }
}
