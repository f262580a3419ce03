//! Sums, products and what one number alone gives: signs, squares, roots.
//!
//! Source: NumPy's loops. Integers wrap around; on Bool a sum is "or" and a product is "and".
//! A complex product is four products and two sums, each rounded: NumPy fuses some of them where the CPU can, so
//! its last digits may be others.

use super::real::Real;

functions! {
    "add" {
        wide truth(a: T, b: T) -> T { Truth::new(a.get() | b.get()) }
        wide ints(a: T, b: T) -> T { a.wrapping_add(b) }
        wide floats(a: T, b: T) -> T { a + b }
        wide complexes(a: T, b: T) -> T { [a[0] + b[0], a[1] + b[1]] }
    }
    "subtract" {
        wide ints(a: T, b: T) -> T { a.wrapping_sub(b) }
        wide floats(a: T, b: T) -> T { a - b }
        wide complexes(a: T, b: T) -> T { [a[0] - b[0], a[1] - b[1]] }
    }
    "multiply" {
        wide truth(a: T, b: T) -> T { Truth::new(a.get() & b.get()) }
        wide ints(a: T, b: T) -> T { a.wrapping_mul(b) }
        wide floats(a: T, b: T) -> T { a * b }
        wide complexes(a: T, b: T) -> T { [a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]] }
    }
    "negative" {
        wide ints(a: T) -> T { a.wrapping_neg() }
        wide floats(a: T) -> T { -a }
        wide complexes(a: T) -> T { [-a[0], -a[1]] }
    }
    "positive" {
        plain reals(a: T) -> T { a }
        plain complexes(a: T) -> T { a }
    }
    "absolute" {
        wide truth(a: T) -> T { Truth::new(a.get()) }
        wide signed(a: T) -> T { a.wrapping_abs() }
        plain unsigned(a: T) -> T { a }
        wide floats(a: T) -> T { a.abs() }
        wide complexes(a: T) -> P { Real::hypot(a[0], a[1]) }
    }
    "fabs" {
        wide floats(a: T) -> T { a.abs() }
    }
    "sign" {
        wide signed(a: T) -> T { a.signum() }
        wide unsigned(a: T) -> T { a.min(1) }
        wide floats(a: T) -> T {
            let size = if a == 0.0 { 0.0 } else { a };
            if a > 0.0 { 1.0 } else if a < 0.0 { -1.0 } else { size }
        }
        plain complexes(a: T) -> T { direction(a) }
    }
    "square" {
        wide ints(a: T) -> T { a.wrapping_mul(a) }
        wide floats(a: T) -> T { a * a }
        wide complexes(a: T) -> T { [a[0] * a[0] - a[1] * a[1], a[0] * a[1] + a[1] * a[0]] }
    }
    "sqrt" {
        wide floats(a: T) -> T { a.sqrt() }
    }
}

/// The number of length 1 in the direction of `z`; 0 for 0. With an infinite part only the axis is known, with two
/// nothing is.
#[inline(always)]
fn direction<R: Real>(z: [R; 2]) -> [R; 2] {
    let length = z[0].hypot(z[1]);
    let unit = |part: R| R::ONE.copysign(part);
    if length < R::INFINITY {
        if length == R::ZERO { [R::ZERO; 2] } else { [z[0] / length, z[1] / length] }
    } else if length.is_nan() {
        [R::NAN; 2]
    } else {
        match (z[0].abs() == R::INFINITY, z[1].abs() == R::INFINITY) {
            (true, true) => [R::NAN; 2],
            (true, false) => [unit(z[0]), R::ZERO],
            // Also where only the length is too large.
            _ => [R::ZERO, unit(z[1])],
        }
    }
}
