//! The larger or the smaller of two numbers, and the step.
//!
//! Source: NumPy's loops. `maximum` and `minimum` give a NaN if there is one, `fmax` and `fmin` the other number.
//! Of a positive and a negative zero, which are equal, the second is given, as NumPy's vectors do.

use super::compare::is_less_or_equal;
use super::real::Real;

functions! {
    "maximum" {
        wide truth(a: T, b: T) -> T { Truth::new(a.get() | b.get()) }
        wide ints(a: T, b: T) -> T { a.max(b) }
        wide floats(a: T, b: T) -> T { if (a > b) | a.is_nan() { a } else { b } }
        wide complexes(a: T, b: T) -> T { if is_nan(a) | is_less_or_equal(b, a) { a } else { b } }
    }
    "minimum" {
        wide truth(a: T, b: T) -> T { Truth::new(a.get() & b.get()) }
        wide ints(a: T, b: T) -> T { a.min(b) }
        wide floats(a: T, b: T) -> T { if (a < b) | a.is_nan() { a } else { b } }
        wide complexes(a: T, b: T) -> T { if is_nan(a) | is_less_or_equal(a, b) { a } else { b } }
    }
    "fmax" {
        wide truth(a: T, b: T) -> T { Truth::new(a.get() | b.get()) }
        wide ints(a: T, b: T) -> T { a.max(b) }
        wide floats(a: T, b: T) -> T { if (a > b) | b.is_nan() { a } else { b } }
        wide complexes(a: T, b: T) -> T { if is_nan(b) | is_less_or_equal(b, a) { a } else { b } }
    }
    "fmin" {
        wide truth(a: T, b: T) -> T { Truth::new(a.get() & b.get()) }
        wide ints(a: T, b: T) -> T { a.min(b) }
        wide floats(a: T, b: T) -> T { if (a < b) | b.is_nan() { a } else { b } }
        wide complexes(a: T, b: T) -> T { if is_nan(b) | is_less_or_equal(a, b) { a } else { b } }
    }
    // A step: 0 below, 1 above, the second number at 0.
    "heaviside" {
        wide floats(a: T, b: T) -> T {
            let step = if a < 0.0 { 0.0 } else { b };
            let step = if a > 0.0 { 1.0 } else { step };
            if a.is_nan() { a } else { step }
        }
    }
}

#[inline(always)]
fn is_nan<R: Real>(z: [R; 2]) -> bool {
    z[0].is_nan() | z[1].is_nan()
}
