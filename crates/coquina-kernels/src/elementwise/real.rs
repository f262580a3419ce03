//! What functions of complex numbers, of division and of exponents need of a floating-point type.
//!
//! Source: IEEE 754 and the C standard's `fmod`, `hypot` and `ldexp`.
//! Invariant: no fused operations, so the same bits on every machine.

use std::ops::{Add, Div, Mul, Neg, Sub};

use super::item::Item;

/// A floating-point number.
pub(super) trait Real:
    Item
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    const ZERO: Self;
    const HALF: Self;
    const ONE: Self;
    const NAN: Self;
    const INFINITY: Self;

    fn abs(self) -> Self;
    fn floor(self) -> Self;
    fn copysign(self, sign: Self) -> Self;
    /// The length of the vector: infinite if a side is, even beside a NaN; off by less than one unit in the last
    /// place. No intermediate result overflows.
    fn hypot(self, other: Self) -> Self;
    /// Times two to this power, rounded once.
    fn scale(self, power: i32) -> Self;

    #[inline(always)]
    fn is_nan(self) -> bool {
        self.partial_cmp(&self).is_none()
    }
}

macro_rules! reals {
    ($($real:ident $hypot:ident $scale:ident),*) => { $(
        impl Real for $real {
            const ZERO: Self = 0.0;
            const HALF: Self = 0.5;
            const ONE: Self = 1.0;
            const NAN: Self = $real::NAN;
            const INFINITY: Self = $real::INFINITY;

            #[inline(always)]
            fn abs(self) -> Self {
                $real::abs(self)
            }

            #[inline(always)]
            fn floor(self) -> Self {
                $real::floor(self)
            }

            #[inline(always)]
            fn copysign(self, sign: Self) -> Self {
                $real::copysign(self, sign)
            }

            #[inline(always)]
            fn hypot(self, other: Self) -> Self {
                let length = $hypot(self, other);
                if self.is_infinite() | other.is_infinite() { $real::INFINITY } else { length }
            }

            #[inline(always)]
            fn scale(self, power: i32) -> Self {
                $scale(self, power)
            }
        }
    )* };
}
reals!(f32 hypot_f32 scale_f32, f64 hypot_f64 scale_f64);

/// Squares of single precision are exact in double precision, and none overflows there.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "rounding to single precision is the last step")]
fn hypot_f32(a: f32, b: f32) -> f32 {
    let (a, b) = (f64::from(a), f64::from(b));
    (a * a + b * b).sqrt() as f32
}

/// Scaled by a power of two where a square would overflow, or lose digits at the lower end.
#[inline(always)]
fn hypot_f64(a: f64, b: f64) -> f64 {
    const UP: f64 = f64::from_bits((1023 + 600) << 52);
    const DOWN: f64 = f64::from_bits((1023 - 600) << 52);
    const LARGE: f64 = f64::from_bits((1023 + 500) << 52);
    const SMALL: f64 = f64::from_bits((1023 - 450) << 52);
    let (x, y) = (a.abs(), b.abs());
    let larger = if x > y { x } else { y };
    let (scale, back) = if larger > LARGE { (DOWN, UP) } else { (1.0, 1.0) };
    let (scale, back) = if larger < SMALL { (UP, DOWN) } else { (scale, back) };
    let (x, y) = (x * scale, y * scale);
    (x * x + y * y).sqrt() * back
}

/// Exact in double precision for all powers that are not clamped.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "rounding to single precision is the last step")]
fn scale_f32(x: f32, power: i32) -> f32 {
    (f64::from(x) * power_of_two(power.clamp(-400, 400))) as f32
}

/// In three steps, as a power may be out of range where the result is not. The first ones downwards stay 53 binary
/// digits above the smallest normal number, so that only one step rounds.
#[inline(always)]
fn scale_f64(mut x: f64, power: i32) -> f64 {
    let mut left = power.clamp(-3000, 3000);
    for _ in 0..2 {
        let step = if left > 1023 { 1023 } else { 0 };
        let step = if left < -1022 { -969 } else { step };
        x *= power_of_two(step);
        left -= step;
    }
    x * power_of_two(left.clamp(-1022, 1023))
}

/// For exponents of normal numbers.
#[inline(always)]
fn power_of_two(power: i32) -> f64 {
    f64::from_bits(u64::from((1023 + power).cast_unsigned()) << 52)
}
