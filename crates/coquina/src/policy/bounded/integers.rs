//! Rounding integers: to multiples of a power of two or another number, or to fewer bits.
//!
//! Computed in a wider type, where nothing overflows; what is beyond the end of the type becomes its end.

use super::lattice::Lattice;
use super::number::{Number, is_within, walks};

macro_rules! integer {
    ($T:ty, $wide:ty, $size:literal) => {
        impl Number for $T {
            const WIDTH: u32 = <$T>::BITS;
            walks!($size);

            fn value(self) -> f64 {
                self as f64
            }

            fn distance(self, other: Self) -> f64 {
                let apart = self.abs_diff(other);
                let rounded = apart as f64;
                // Above this the nearest floating-point number may be a smaller one.
                if rounded >= 9_007_199_254_740_992.0 { rounded.next_up() } else { rounded }
            }

            fn on_lattice(self, lattice: &Lattice) -> Self {
                let shift = u32::try_from(lattice.exponent).unwrap_or(0).min(<$T>::BITS);
                if shift == 0 {
                    return self;
                }
                let near = to_multiple(<$wide>::from(self), shift);
                // At the ends of the type the end is the nearest.
                <$T>::try_from(near).unwrap_or(if near > 0 { <$T>::MAX } else { <$T>::MIN })
            }

            fn on_steps(self, step: i64) -> Self {
                let step = <$wide>::from(step);
                let near = (<$wide>::from(self) + step / 2).div_euclid(step) * step;
                <$T>::try_from(near).unwrap_or(if near > 0 { <$T>::MAX } else { <$T>::MIN })
            }

            fn with_bits(self, bits: u32) -> Self {
                let shift = <$T>::BITS - bits.min(<$T>::BITS);
                if shift == 0 {
                    return self;
                }
                let near = to_multiple(<$wide>::from(self), shift);
                let greatest = <$wide>::from(<$T>::MAX) >> shift << shift;
                <$T>::try_from(near.min(greatest)).unwrap_or(self)
            }

            fn with_significant(self, bits: u32, limit: f64) -> Self {
                let size = <$wide>::from(self).unsigned_abs();
                let length = size.checked_ilog2().map_or(0, |log| log + 1);
                let shift = length.saturating_sub(bits + 1);
                if shift == 0 {
                    return self;
                }
                let near = <$T>::try_from(to_multiple(<$wide>::from(self), shift)).unwrap_or(self);
                let (apart, size) = (Number::distance(self, near), size as f64);
                if is_within(apart, limit, size) { near } else { self }
            }
        }
    };
}

/// The nearest multiple of two to this power, of two the even one.
fn to_multiple<W>(x: W, shift: u32) -> W
where
    W: Copy
        + From<u8>
        + std::ops::Shr<u32, Output = W>
        + std::ops::Shl<u32, Output = W>
        + std::ops::BitAnd<Output = W>
        + std::ops::Add<Output = W>
        + std::ops::Sub<Output = W>,
{
    let one = W::from(1);
    let half = one << (shift - 1);
    (x + (half - one) + ((x >> shift) & one)) >> shift << shift
}

integer!(i8, i64, 1);
integer!(u8, i64, 1);
integer!(i16, i64, 2);
integer!(u16, i64, 2);
integer!(i32, i64, 4);
integer!(u32, i64, 4);
integer!(i64, i128, 8);
integer!(u64, i128, 8);
