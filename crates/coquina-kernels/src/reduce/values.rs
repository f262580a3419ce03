//! What reductions need to know of the items of each type, and of the totals that they add up to.
//!
//! Invariant: a truth value is a byte that is not 0, whatever else it is; sums of integers wrap in 64 bits, sums of
//! reals are taken in double precision.

use crate::Type;
use crate::items::Number;

/// A truth value as it is stored.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(transparent)]
pub(super) struct Flag(pub(super) u8);

// SAFETY: one byte, and any byte is one.
unsafe impl Number for Flag {}

/// What items are added up to.
pub(super) trait Total: Number {
    const TYPE: Type;
    const ZERO: Self;
    const ONE: Self;
    fn plus(self, other: Self) -> Self;
    fn multiplied(self, other: Self) -> Self;
    /// `n` of these added up.
    fn times(self, n: u64) -> Self;
}

/// A total that means and variances are computed with.
pub(super) trait Mean: Total {
    fn minus(self, other: Self) -> Self;
    fn scaled(self, by: f64) -> Self;
    fn over(self, by: f64) -> Self;
    /// The square of the absolute value.
    fn square(self) -> f64;
}

/// An item.
pub(super) trait Item: Number {
    const TYPE: Type;
    /// What no item is before, and what no item is after, in order.
    const LEAST: Self;
    const GREATEST: Self;
    /// NaN, in types that have it.
    const NAN: Self;
    /// What items are summed up in, and what means are made of.
    type Sum: Total;
    type Mean: Mean;
    fn is_nan(self) -> bool;
    fn is_true(self) -> bool;
    /// Whether it is less; complex numbers by real part, then by imaginary part. False for NaN.
    fn before(self, other: Self) -> bool;
    fn sum(self) -> Self::Sum;
    fn mean(self) -> Self::Mean;
}

macro_rules! wrapping_totals {
    ($($number:ty, $name:ident;)*) => { $(
        impl Total for $number {
            const TYPE: Type = Type::$name;
            const ZERO: Self = 0;
            const ONE: Self = 1;
            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            #[inline(always)]
            fn multiplied(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
            #[inline(always)]
            fn times(self, n: u64) -> Self {
                self.wrapping_mul(n as Self)
            }
        }
    )* };
}
wrapping_totals! { i64, I64; u64, U64; }

impl Total for f64 {
    const TYPE: Type = Type::F64;
    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;
    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        self + other
    }
    #[inline(always)]
    fn multiplied(self, other: Self) -> Self {
        self * other
    }
    #[inline(always)]
    fn times(self, n: u64) -> Self {
        self * n as Self
    }
}

impl Mean for f64 {
    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        self - other
    }
    #[inline(always)]
    fn scaled(self, by: f64) -> Self {
        self * by
    }
    #[inline(always)]
    fn over(self, by: f64) -> Self {
        self / by
    }
    #[inline(always)]
    fn square(self) -> f64 {
        self * self
    }
}

impl Total for [f64; 2] {
    const TYPE: Type = Type::C128;
    const ZERO: Self = [0.0, 0.0];
    const ONE: Self = [1.0, 0.0];
    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        [self[0] + other[0], self[1] + other[1]]
    }
    #[inline(always)]
    fn multiplied(self, other: Self) -> Self {
        [self[0] * other[0] - self[1] * other[1], self[0] * other[1] + self[1] * other[0]]
    }
    #[inline(always)]
    fn times(self, n: u64) -> Self {
        self.scaled(n as f64)
    }
}

impl Mean for [f64; 2] {
    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        [self[0] - other[0], self[1] - other[1]]
    }
    #[inline(always)]
    fn scaled(self, by: f64) -> Self {
        [self[0] * by, self[1] * by]
    }
    #[inline(always)]
    fn over(self, by: f64) -> Self {
        [self[0] / by, self[1] / by]
    }
    #[inline(always)]
    fn square(self) -> f64 {
        self[0] * self[0] + self[1] * self[1]
    }
}

macro_rules! integers {
    ($($number:ty, $name:ident, $sum:ty;)*) => { $(
        impl Item for $number {
            const TYPE: Type = Type::$name;
            const LEAST: Self = <$number>::MIN;
            const GREATEST: Self = <$number>::MAX;
            const NAN: Self = 0;
            type Sum = $sum;
            type Mean = f64;
            #[inline(always)]
            fn is_nan(self) -> bool {
                false
            }
            #[inline(always)]
            fn is_true(self) -> bool {
                self != 0
            }
            #[inline(always)]
            fn before(self, other: Self) -> bool {
                self < other
            }
            #[inline(always)]
            fn sum(self) -> $sum {
                self as $sum
            }
            #[inline(always)]
            fn mean(self) -> f64 {
                self as f64
            }
        }
    )* };
}
integers! {
    i8, I8, i64; i16, I16, i64; i32, I32, i64; i64, I64, i64;
    u8, U8, u64; u16, U16, u64; u32, U32, u64; u64, U64, u64;
}

impl Item for Flag {
    const TYPE: Type = Type::Bool;
    const LEAST: Self = Self(0);
    const GREATEST: Self = Self(1);
    const NAN: Self = Self(0);
    type Sum = i64;
    type Mean = f64;
    #[inline(always)]
    fn is_nan(self) -> bool {
        false
    }
    #[inline(always)]
    fn is_true(self) -> bool {
        self.0 != 0
    }
    #[inline(always)]
    fn before(self, other: Self) -> bool {
        !self.is_true() & other.is_true()
    }
    #[inline(always)]
    fn sum(self) -> i64 {
        i64::from(self.is_true())
    }
    #[inline(always)]
    fn mean(self) -> f64 {
        f64::from(u8::from(self.is_true()))
    }
}

macro_rules! reals {
    ($($number:ty, $name:ident, $complex:ident;)*) => { $(
        impl Item for $number {
            const TYPE: Type = Type::$name;
            const LEAST: Self = <$number>::NEG_INFINITY;
            const GREATEST: Self = <$number>::INFINITY;
            const NAN: Self = <$number>::NAN;
            type Sum = f64;
            type Mean = f64;
            #[inline(always)]
            fn is_nan(self) -> bool {
                self != self
            }
            #[inline(always)]
            fn is_true(self) -> bool {
                self != 0.0
            }
            #[inline(always)]
            fn before(self, other: Self) -> bool {
                self < other
            }
            #[inline(always)]
            fn sum(self) -> f64 {
                f64::from(self)
            }
            #[inline(always)]
            fn mean(self) -> f64 {
                f64::from(self)
            }
        }

        impl Item for [$number; 2] {
            const TYPE: Type = Type::$complex;
            const LEAST: Self = [<$number>::NEG_INFINITY; 2];
            const GREATEST: Self = [<$number>::INFINITY; 2];
            const NAN: Self = [<$number>::NAN; 2];
            type Sum = [f64; 2];
            type Mean = [f64; 2];
            #[inline(always)]
            fn is_nan(self) -> bool {
                self[0].is_nan() | self[1].is_nan()
            }
            #[inline(always)]
            fn is_true(self) -> bool {
                (self[0] != 0.0) | (self[1] != 0.0)
            }
            #[inline(always)]
            fn before(self, other: Self) -> bool {
                let is_less = (self[0] < other[0]) | ((self[0] == other[0]) & (self[1] < other[1]));
                is_less & !self.is_nan() & !other.is_nan()
            }
            #[inline(always)]
            fn sum(self) -> [f64; 2] {
                [f64::from(self[0]), f64::from(self[1])]
            }
            #[inline(always)]
            fn mean(self) -> [f64; 2] {
                self.sum()
            }
        }
    )* };
}
reals! { f32, F32, C64; f64, F64, C128; }
