//! Quotients, whole powers and common divisors; what leaves a rest is in `remainder`.
//!
//! Source: NumPy's loops. Whole powers and multiples wrap around.

use super::real::Real;

functions! {
    "divide" {
        wide floats(a: T, b: T) -> T { a / b }
        wide complexes(a: T, b: T) -> T { quotient(a, b) }
    }
    "reciprocal" {
        // Of 0 as NumPy does it on x86: the smallest number of the types as wide as a conversion's result.
        plain signed(a: T) -> T {
            let of_zero = if size_of::<T>() < 4 { 0 } else { T::MIN };
            match a {
                0 => of_zero,
                1 | -1 => a,
                _ => 0,
            }
        }
        wide unsigned(a: T) -> T { T::from(a == 1) }
        wide floats(a: T) -> T { 1.0 / a }
        wide complexes(a: T) -> T { inverse(a) }
    }
    "power" {
        // A negative exponent never comes: it is refused before.
        plain ints(a: T, b: T) -> T {
            let (mut factor, mut left) = (a, b);
            let mut product = 1;
            while left > 0 {
                if left & 1 != 0 {
                    product = T::wrapping_mul(product, factor);
                }
                factor = factor.wrapping_mul(factor);
                left >>= 1;
            }
            product
        }
    }
    "gcd" {
        plain signed(a: T, b: T) -> T { divisor(a.unsigned_abs().to(), b.unsigned_abs().to()).to() }
        plain unsigned(a: T, b: T) -> T { divisor(a.to(), b.to()).to() }
    }
    "lcm" {
        plain signed(a: T, b: T) -> T { multiple(a.unsigned_abs().to(), b.unsigned_abs().to()).to() }
        plain unsigned(a: T, b: T) -> T { multiple(a.to(), b.to()).to() }
    }
}

/// By the larger part of the divisor (R. L. Smith, Communications of the ACM 5, 1962), in NumPy's steps.
#[inline(always)]
fn quotient<R: Real>(a: [R; 2], b: [R; 2]) -> [R; 2] {
    let (real, imag) = (b[0].abs(), b[1].abs());
    if real >= imag {
        let ratio = b[1] / b[0];
        let scale = R::ONE / (b[0] + b[1] * ratio);
        let by_zero = [a[0] / real, a[1] / real];
        let quotient = [(a[0] + a[1] * ratio) * scale, (a[1] - a[0] * ratio) * scale];
        if real == R::ZERO { by_zero } else { quotient }
    } else {
        let ratio = b[0] / b[1];
        let scale = R::ONE / (b[1] + b[0] * ratio);
        [(a[0] * ratio + a[1]) * scale, (a[1] * ratio - a[0]) * scale]
    }
}

/// 1 divided by it, in NumPy's steps.
#[inline(always)]
fn inverse<R: Real>(a: [R; 2]) -> [R; 2] {
    if a[1].abs() <= a[0].abs() {
        let ratio = a[1] / a[0];
        let scale = a[0] + a[1] * ratio;
        [R::ONE / scale, -ratio / scale]
    } else {
        let ratio = a[0] / a[1];
        let scale = a[0] * ratio + a[1];
        [ratio / scale, -R::ONE / scale]
    }
}

/// The greatest common divisor; with 0 the other one.
fn divisor(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// The least common multiple, wrapping around; with 0 it is 0.
fn multiple(a: u64, b: u64) -> u64 {
    match divisor(a, b) {
        0 => 0,
        divisor => (a / divisor).wrapping_mul(b),
    }
}
