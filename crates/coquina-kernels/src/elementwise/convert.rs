//! How one item becomes one of another type.
//!
//! Source: NumPy's casts. All but 0 are true, NaN too. Integers wrap around. A complex number loses its imaginary
//! part, or gets 0 for one.
//! A floating-point number beyond an integer type's range becomes the nearest one of the range, NaN becomes 0, on
//! every machine; in C, and so in NumPy, what it becomes is undefined.

use super::item::{C64, C128, Item, Truth};
use super::real::Real;

/// An item that can become a `B`.
pub(super) trait To<B>: Item {
    fn to(self) -> B;
}

/// An item that can become one of every type.
pub(super) trait ToAll:
    To<Truth>
    + To<i8>
    + To<i16>
    + To<i32>
    + To<i64>
    + To<u8>
    + To<u16>
    + To<u32>
    + To<u64>
    + To<f32>
    + To<f64>
    + To<C64>
    + To<C128>
{
}

/// The casts from each type of the list to the first one, a plain number.
macro_rules! to_number {
    ($to:ident: $($from:ident)*) => { $(
        impl To<$to> for $from {
            #[inline(always)]
            #[allow(clippy::cast_possible_truncation, reason = "a cast that loses digits is one too")]
            fn to(self) -> $to {
                self as $to
            }
        }
    )* };
}

/// As the language casts, that is to the nearest number of the range and from NaN to 0; but in steps that registers hold
/// many of: between the bounds first, then as an `i32`.
macro_rules! to_small {
    ($float:ident through $wide:ident: $($to:ident)*) => { $(
        impl To<$to> for $float {
            #[inline(always)]
            fn to(self) -> $to {
                let number = within(To::<$wide>::to(self), $to::MIN.to(), $to::MAX.to());
                // SAFETY: no NaN, and between the bounds of a type that is no larger.
                let whole: i32 = unsafe { number.to_int_unchecked() };
                whole.to()
            }
        }
    )* };
}
to_small!(f32 through f32: i8 i16 u8 u16);
to_small!(f32 through f64: i32);
to_small!(f64 through f64: i8 i16 i32 u8 u16);

/// As [`to_small`]; the upper half of the range less the lower one is an `i32`.
macro_rules! to_u32 {
    ($($float:ident)*) => { $(
        impl To<u32> for $float {
            #[inline(always)]
            fn to(self) -> u32 {
                let number = within(To::<f64>::to(self), 0.0, u32::MAX.to());
                let is_upper = number >= 2_147_483_648.0;
                let number = if is_upper { number - 2_147_483_648.0 } else { number };
                // SAFETY: no NaN, and from 0 to the largest `i32`.
                let whole: i32 = unsafe { number.to_int_unchecked() };
                whole.cast_unsigned() | if is_upper { 1 << 31 } else { 0 }
            }
        }
    )* };
}
to_u32!(f32 f64);

#[inline(always)]
fn within<R: Real>(x: R, low: R, high: R) -> R {
    let number = if x > low { x } else { low };
    let number = if number < high { number } else { high };
    if x.is_nan() { R::ZERO } else { number }
}

/// Between a plain number and complex ones.
macro_rules! to_complex {
    ($number:ident: $($complex:ident $part:ident),*) => { $(
        impl To<$complex> for $number {
            #[inline(always)]
            fn to(self) -> $complex {
                [To::<$part>::to(self), 0.0]
            }
        }

        impl To<$number> for $complex {
            #[inline(always)]
            fn to(self) -> $number {
                self[0].to()
            }
        }
    )* };
}

/// The other casts of a plain number.
macro_rules! numbers {
    ($($number:ident)*) => { $(
        to_number!($number: i8 i16 i32 i64 u8 u16 u32 u64);
        to_complex!($number: C64 f32, C128 f64);

        impl To<Truth> for $number {
            #[inline(always)]
            fn to(self) -> Truth {
                Truth::new(self != $number::default())
            }
        }

        impl To<$number> for Truth {
            #[inline(always)]
            fn to(self) -> $number {
                self.number().to()
            }
        }

        impl ToAll for $number {}
    )* };
}

to_number!(f32: f32 f64);
to_number!(f64: f32 f64);
to_number!(i64: f32 f64);
to_number!(u64: f32 f64);

/// Among complex numbers, and between them and Bool.
macro_rules! complexes {
    ($($complex:ident $part:ident),*) => { $(
        impl To<C64> for $complex {
            #[inline(always)]
            fn to(self) -> C64 {
                self.map(To::to)
            }
        }

        impl To<C128> for $complex {
            #[inline(always)]
            fn to(self) -> C128 {
                self.map(To::to)
            }
        }

        impl To<Truth> for $complex {
            #[inline(always)]
            fn to(self) -> Truth {
                Truth::new((self[0] != 0.0) | (self[1] != 0.0))
            }
        }

        impl To<$complex> for Truth {
            #[inline(always)]
            fn to(self) -> $complex {
                [To::<$part>::to(self), 0.0]
            }
        }

        impl ToAll for $complex {}
    )* };
}

numbers!(i8 i16 i32 i64 u8 u16 u32 u64 f32 f64);
complexes!(C64 f32, C128 f64);

impl To<Self> for Truth {
    #[inline(always)]
    fn to(self) -> Self {
        Self::new(self.get())
    }
}

impl ToAll for Truth {}
