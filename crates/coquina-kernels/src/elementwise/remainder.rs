//! Quotients that are whole numbers, and what is left.
//!
//! In: two numbers. Out: the quotient towards negative infinity (`floor_divide`), the rest that has the divisor's
//! sign (`remainder`), or the rest that has the dividend's (`fmod`).
//! Source: NumPy's loops. Integers: a division by 0 gives 0 and 0, the smallest number by -1 itself and 0.
//! Floating point: as Python divides, with the sign of a zero as NumPy gives it.
//! Invariant: a rest is exact, but for `remainder`'s last step, which may add the divisor to it.

use std::marker::PhantomData;

use super::convert::To;
use super::real::Real;
use super::table::{self, Entry, Loop};
use crate::items::{items, items_mut};
use crate::types::Type;

functions! {
    "floor_divide" {
        wide narrow(a: T, b: T) -> T { a.divide_down(b).0 }
        plain long(a: T, b: T) -> T { a.divide_down(b).0 }
    } and FLOOR_DIVIDE
    "remainder" {
        wide narrow(a: T, b: T) -> T { a.divide_down(b).1 }
        plain long(a: T, b: T) -> T { a.divide_down(b).1 }
    } and REMAINDER
    "fmod" {
        wide narrow(a: T, b: T) -> T { a.divide(b).1 }
        plain long(a: T, b: T) -> T { a.divide(b).1 }
    } and FMOD
}

const FLOOR_DIVIDE: &[Entry] = &[entry::<FloorDivide, f32>(), entry::<FloorDivide, f64>()];
const REMAINDER: &[Entry] = &[entry::<Remainder, f32>(), entry::<Remainder, f64>()];
const FMOD: &[Entry] = &[entry::<Fmod, f32>(), entry::<Fmod, f64>()];

/// Integers: quotient and rest, both 0 for a division by 0.
trait Divide: Sized {
    /// Towards zero.
    fn divide(self, by: Self) -> (Self, Self);
    /// Towards negative infinity.
    fn divide_down(self, by: Self) -> (Self, Self);
}

/// By a floating-point division, of which registers hold many: the type has more digits than dividend and divisor,
/// so rounding makes no whole number of a quotient that is not.
macro_rules! narrow {
    ($($int:ident $float:ident $down:ident $minus_one:expr),*) => { $(
        impl Divide for $int {
            #[inline(always)]
            fn divide(self, by: Self) -> (Self, Self) {
                let quotient: Self = (To::<$float>::to(self) / To::<$float>::to(by)).to();
                // The smallest number by -1 is beyond the range.
                let quotient = if $minus_one == Some(by) { self.wrapping_neg() } else { quotient };
                let rest = self.wrapping_sub(quotient.wrapping_mul(by));
                if by == 0 { (0, 0) } else { (quotient, rest) }
            }

            $down!();
        }
    )* };
}

macro_rules! long {
    ($($int:ident $down:ident),*) => { $(
        impl Divide for $int {
            #[inline(always)]
            fn divide(self, by: Self) -> (Self, Self) {
                if by == 0 { (0, 0) } else { (self.wrapping_div(by), self.wrapping_rem(by)) }
            }

            $down!();
        }
    )* };
}

macro_rules! signed {
    () => {
        #[inline(always)]
        fn divide_down(self, by: Self) -> (Self, Self) {
            let (quotient, rest) = self.divide(by);
            if (rest != 0) & ((rest ^ by) < 0) { (quotient - 1, rest + by) } else { (quotient, rest) }
        }
    };
}

macro_rules! unsigned {
    () => {
        #[inline(always)]
        fn divide_down(self, by: Self) -> (Self, Self) {
            self.divide(by)
        }
    };
}

narrow!(i8 f32 signed Some(-1), i16 f32 signed Some(-1), i32 f64 signed Some(-1));
narrow!(u8 f32 unsigned None, u16 f32 unsigned None, u32 f64 unsigned None);
long!(i64 signed, u64 unsigned);

/// Floating-point numbers whose rest can be had in few steps, most often.
trait Rest: Real {
    /// The rest with the dividend's sign, and whether it is sure to be right.
    fn quick(self, by: Self) -> (Self, bool);
    /// Always right: C's `fmod`, which takes a step for each digit of the quotient.
    fn slow(self, by: Self) -> Self;
}

impl Rest for f32 {
    /// In double precision a quotient below 2^29 of numbers of 24 digits is too far from a whole number to be
    /// rounded to it, and its product with the divisor is exact.
    #[inline(always)]
    fn quick(self, by: Self) -> (Self, bool) {
        const LARGEST: f64 = 536_870_912.0;
        let (x, y) = (f64::from(self).abs(), f64::from(by).abs());
        let quotient = x / y;
        let rest = if x < y { x } else { x - whole(quotient, LARGEST) * y };
        (To::<Self>::to(rest).copysign(self), quotient < LARGEST)
    }

    #[inline(always)]
    fn slow(self, by: Self) -> Self {
        self % by
    }
}

impl Rest for f64 {
    /// As for single precision, but with the product in two parts, each exact: by the divisor's upper 27 digits,
    /// rounded away from zero so that no difference exceeds the divisor, and by what they are too large. A quotient
    /// that rounding made whole leaves a rest below zero.
    #[inline(always)]
    fn quick(self, by: Self) -> (Self, bool) {
        const LARGEST: f64 = 33_554_432.0;
        const LOWER_DIGITS: u64 = (1 << 26) - 1;
        let (x, y) = (self.abs(), by.abs());
        let quotient = x / y;
        let whole = whole(quotient, LARGEST);
        let upper = Self::from_bits(y.to_bits().wrapping_add(LOWER_DIGITS) & !LOWER_DIGITS);
        let rest = (x - whole * upper) - whole * (y - upper);
        let rest = if rest < 0.0 { rest + y } else { rest };
        let is_right = (quotient < LARGEST) & (y > 1e-250) & (y < 1e250);
        ((if x < y { x } else { rest }).copysign(self), is_right)
    }

    #[inline(always)]
    fn slow(self, by: Self) -> Self {
        self % by
    }
}

/// Towards zero; 0 if not below `end`, which an `i32` holds.
#[inline(always)]
fn whole(quotient: f64, end: f64) -> f64 {
    let quotient = if quotient < end { quotient } else { 0.0 };
    To::<i32>::to(quotient).to()
}

/// The quotient and the rest towards negative infinity, from the rest towards zero; the divisor is not 0.
#[inline(always)]
fn down<R: Real>(a: R, b: R, rest: R) -> (R, R) {
    let is_whole = rest == R::ZERO;
    let is_beside = !is_whole & ((b < R::ZERO) != (rest < R::ZERO));
    // Very nearly whole.
    let quotient = (a - rest) / b;
    let quotient = if is_beside { quotient - R::ONE } else { quotient };
    let floor = quotient.floor();
    let nearest = if quotient - floor > R::HALF { floor + R::ONE } else { floor };
    let zero = R::ZERO.copysign(R::ONE.copysign(a) * b);
    let rest = if is_beside { rest + b } else { rest };
    (if quotient == R::ZERO { zero } else { nearest }, if is_whole { R::ZERO.copysign(b) } else { rest })
}

/// What is made of a dividend, a divisor and the rest towards zero.
trait Answer {
    fn answer<R: Real>(a: R, b: R, rest: R) -> R;
}

enum FloorDivide {}
enum Remainder {}
enum Fmod {}

impl Answer for FloorDivide {
    #[inline(always)]
    fn answer<R: Real>(a: R, b: R, rest: R) -> R {
        if b == R::ZERO { a / b } else { down(a, b, rest).0 }
    }
}

impl Answer for Remainder {
    #[inline(always)]
    fn answer<R: Real>(a: R, b: R, rest: R) -> R {
        if b == R::ZERO { rest } else { down(a, b, rest).1 }
    }
}

impl Answer for Fmod {
    #[inline(always)]
    fn answer<R: Real>(_a: R, _b: R, rest: R) -> R {
        rest
    }
}

const fn entry<F: Answer, R: Rest>() -> Entry {
    Entry::new::<Quick<F, R>>(table::wide::<Quick<F, R>>)
}

/// The loop: some items at a time the quick way, and those again that it is not right for.
struct Quick<F, R>(PhantomData<(F, R)>);

impl<F: Answer, R: Rest> Loop for Quick<F, R> {
    const INPUTS: &'static [Type] = &[R::TYPE, R::TYPE];
    const OUTPUT: Type = R::TYPE;

    #[inline(always)]
    fn fill(inputs: &[&[u8]], out: &mut [u8]) {
        const STEP: usize = 64;
        let &[a, b] = inputs else { panic!("{} inputs, not 2", inputs.len()) };
        let (a, b, out) = (items::<R>(a), items::<R>(b), items_mut::<R>(out));
        assert!(a.len() == out.len() && b.len() == out.len(), "lengths differ");
        for ((out, a), b) in out.chunks_mut(STEP).zip(a.chunks(STEP)).zip(b.chunks(STEP)) {
            let mut are_right = true;
            for ((out, &a), &b) in out.iter_mut().zip(a).zip(b) {
                let (rest, is_right) = a.quick(b);
                *out = F::answer(a, b, rest);
                are_right &= is_right;
            }
            if !are_right {
                again::<F, R>(a, b, out);
            }
        }
    }
}

#[cold]
#[inline(never)]
fn again<F: Answer, R: Rest>(a: &[R], b: &[R], out: &mut [R]) {
    for ((out, &a), &b) in out.iter_mut().zip(a).zip(b) {
        if !a.quick(b).1 {
            *out = F::answer(a, b, a.slow(b));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Divide, Rest, To};
    use crate::testing::Random;

    #[test]
    fn narrow_integers_divide_as_wide_ones() {
        for a in i8::MIN..=i8::MAX {
            for b in i8::MIN..=i8::MAX {
                let (wide_a, wide_b) = (i64::from(a), i64::from(b));
                if b == 0 || (a == i8::MIN && b == -1) {
                    let expected = (if b == 0 { 0 } else { a }, 0);
                    assert_eq!((a.divide(b), a.divide_down(b)), (expected, expected));
                    continue;
                }
                let (quotient, rest) = a.divide(b);
                assert_eq!((i64::from(quotient), i64::from(rest)), (wide_a / wide_b, wide_a % wide_b));
                let (quotient, rest) = a.divide_down(b);
                assert_eq!(i64::from(quotient) * wide_b + i64::from(rest), wide_a);
                assert!(
                    rest == 0 || ((rest < 0) == (b < 0) && i64::from(rest).abs() < wide_b.abs()),
                    "{a} / {b}"
                );
            }
        }
    }

    macro_rules! check_narrow {
        ($int:ident, $random:ident) => {
            let bytes = $random.bytes(2048 * size_of::<$int>());
            for pair in bytes.chunks_exact(2 * size_of::<$int>()) {
                let (a, b) = pair.split_at(size_of::<$int>());
                let (a, b) =
                    ($int::from_le_bytes(a.try_into().unwrap()), $int::from_le_bytes(b.try_into().unwrap()));
                // Divisors of all sizes, and dividends beside their multiples.
                let b = b >> $random.below(size_of::<$int>() * 8);
                let b = if b == 0 { 1 } else { b };
                let multiple = a.wrapping_div(b).wrapping_mul(b);
                for a in
                    [a, multiple, multiple.wrapping_sub(1), multiple.wrapping_add(1), $int::MIN, $int::MAX]
                {
                    assert_eq!(a.divide(b), (a.wrapping_div(b), a.wrapping_rem(b)), "{a} / {b}");
                }
            }
        };
    }

    #[test]
    fn a_floating_point_quotient_of_integers_is_right() {
        let mut random = Random::new(8);
        check_narrow!(i16, random);
        check_narrow!(u16, random);
        check_narrow!(i32, random);
        check_narrow!(u32, random);
    }

    /// Numbers of any digits, about as large as 1, and a multiple of each or what is beside one.
    macro_rules! check_rest {
        ($float:ident, $digits:literal, $random:ident) => {
            let mut quick = 0;
            for _ in 0..20_000 {
                let bits = $random.bytes(8);
                let digits = bits.iter().fold(1.0, |digits, byte| digits / 256.0 + $float::from(*byte));
                let factor = $float::from(u16::try_from($random.below(1 << 12)).unwrap());
                let factor = factor * $float::powi(2.0, i32::try_from($random.below($digits)).unwrap());
                let product = digits * factor;
                for a in [product, product.next_up(), -product.next_down(), digits * 1.5] {
                    let (rest, is_right) = a.quick(digits);
                    quick += u32::from(is_right);
                    let expected = a.slow(digits);
                    assert!(!is_right || rest.to_bits() == expected.to_bits(), "{a:?} % {digits:?}");
                }
            }
            assert!(quick > 20_000, "only {quick} the quick way");
        };
    }

    #[test]
    fn a_quick_rest_is_exact() {
        let mut random = Random::new(9);
        check_rest!(f32, 16, random);
        check_rest!(f64, 16, random);
        for (a, b) in [(1.0, 0.0), (f64::INFINITY, 2.0), (f64::NAN, 1.0), (1.0, f64::NAN), (1e30, 3.0)] {
            assert!(!a.quick(b).1, "{a} % {b}");
            assert!(!To::<f32>::to(a).quick(b.to()).1, "{a} % {b} in single precision");
        }
        assert_eq!(5.0_f32.quick(f32::INFINITY), (5.0, true));
    }
}
