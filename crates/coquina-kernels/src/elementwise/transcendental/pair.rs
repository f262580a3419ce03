//! Sums of two doubles, for steps that need more than 53 bits.
//!
//! In: doubles that neither overflow nor underflow when multiplied. Out: a [`Pair`]. Source: the exact sums and
//! products of Dekker (1971) and Knuth; numbers are cut in halves through their bits.
//! Invariant: plain IEEE operations in a fixed order, so every machine and level has the same bits.

use std::hint::select_unpredictable;
use std::ops::Neg;

/// `high + low`; `low` is usually far smaller.
#[derive(Clone, Copy)]
pub(super) struct Pair {
    pub(super) high: f64,
    pub(super) low: f64,
}

impl Pair {
    #[inline(always)]
    pub(super) fn new(high: f64, low: f64) -> Self {
        Self { high, low }
    }

    /// `a + b` exactly, where `a` is 0 or not smaller than `b`.
    #[inline(always)]
    pub(super) fn ordered_sum(a: f64, b: f64) -> Self {
        let high = a + b;
        Self { high, low: (a - high) + b }
    }

    /// `a + b` exactly.
    #[inline(always)]
    pub(super) fn sum(a: f64, b: f64) -> Self {
        let high = a + b;
        let of_b = high - a;
        Self { high, low: (a - (high - of_b)) + (b - of_b) }
    }

    /// `a * a`, to some 75 bits, not tidy; `high` has 52 bits at most.
    #[inline(always)]
    pub(super) fn square(a: f64) -> Self {
        let a_top = top(a);
        Self { high: a_top * a_top, low: (a - a_top) * (a + a_top) }
    }

    /// The same number, with `low` below the last place of `high`.
    #[inline(always)]
    pub(super) fn tidy(self) -> Self {
        Self::ordered_sum(self.high, self.low)
    }

    /// The same number, with 26 bits in `high`: the product of two such is exact.
    #[inline(always)]
    fn cut(self) -> Self {
        let high = top(self.high);
        Self { high, low: (self.high - high) + self.low }
    }

    /// The same number and `more`.
    #[inline(always)]
    pub(super) fn plus_low(self, more: f64) -> Self {
        Self { high: self.high, low: self.low + more }
    }

    /// The product, not tidy, of two numbers that need not be tidy.
    #[inline(always)]
    pub(super) fn times(self, other: Self) -> Self {
        let (a, b) = (self.cut(), other.cut());
        Self { high: a.high * b.high, low: a.high * b.low + a.low * b.value() }
    }

    /// The quotient, not tidy, of a number and a tidy one.
    #[inline(always)]
    pub(super) fn over(self, other: Self) -> Self {
        let inverse = 1.0 / other.high;
        let other = other.cut();
        let high = top(self.high * inverse);
        let rest = (self.high - high * other.high) + (self.low - high * other.low);
        Self { high, low: rest * inverse }
    }

    /// The square root, not tidy, of a tidy number; 0 for 0.
    #[inline(always)]
    pub(super) fn root(self) -> Self {
        let root = self.high.sqrt();
        let high = top(root);
        let rest = (self.high - high * high) + self.low;
        Self { high, low: select_unpredictable(root == 0.0, 0.0, rest / (root + high)) }
    }

    /// Either number.
    #[inline(always)]
    pub(super) fn either(first: bool, a: Self, b: Self) -> Self {
        Self { high: if first { a.high } else { b.high }, low: if first { a.low } else { b.low } }
    }

    #[inline(always)]
    pub(super) fn value(self) -> f64 {
        self.high + self.low
    }
}

impl Neg for Pair {
    type Output = Self;

    #[inline(always)]
    fn neg(self) -> Self {
        Self { high: -self.high, low: -self.low }
    }
}

/// The first 26 bits of a number.
#[inline(always)]
pub(super) fn top(number: f64) -> f64 {
    f64::from_bits(number.to_bits() & !0x7FF_FFFF)
}
