//! The two kinds of items, and the integers that their coefficients are.
//!
//! Source: `docs/formats/codecs.md`, "ZFP", steps 1, 5 and 7.
//! A value is its integer times a power of two that all values of a cell share. C scales by one factor, which is no
//! number of the type where all values of a cell are very small (below 2^-98 in float32): it then writes rubbish, and
//! below 2^-120 it reads zeros. Here such cells are scaled in two steps, which are exact.

/// A floating-point type that zfp codes.
pub(super) trait Number: Copy + 'static {
    /// The bytes of an item, little-endian.
    type Bytes: Copy;
    /// The integers of its coefficients.
    type Int: Int;
    /// Bits of an item.
    const WIDTH: u32;
    /// Bits of its exponent.
    const EXPONENT_BITS: u32;
    /// What is added to an exponent so that it is not negative.
    const BIAS: i32;
    /// What cells are made of before they are filled.
    const ZERO: Self;

    fn items(bytes: &[u8]) -> &[Self::Bytes];
    fn items_mut(bytes: &mut [u8]) -> &mut [Self::Bytes];
    fn read(bytes: Self::Bytes) -> Self;
    fn write(self) -> Self::Bytes;

    /// Two to that power, which the type has.
    fn power_of_two(power: i32) -> Self;

    /// The biased exponent `e` of a cell: all magnitudes are below `2^(e - BIAS)`. 0 if all are zero, `None` if one is
    /// not finite.
    fn exponent(cell: &[Self]) -> Option<i32>;

    /// The integers of values whose exponent, not biased, is that.
    fn quantise(cell: &[Self], exponent: i32, out: &mut [Self::Int]);

    /// The values of integers.
    fn restore(cell: &[Self::Int], exponent: i32, out: &mut [Self]);
}

/// A coefficient. All arithmetic wraps.
pub(super) trait Int: Copy {
    const ZERO: Self;
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    fn half(self) -> Self;
    fn twice(self) -> Self;
    /// In base -2, where small numbers of either sign begin with zeros.
    fn to_negabinary(self) -> u64;
    fn of_negabinary(bits: u64) -> Self;
}

macro_rules! number {
    ($float:ty, $int:ty, $bits:ty, $width:literal, $mantissa:literal) => {
        impl Number for $float {
            type Bytes = [u8; $width / 8];
            type Int = $int;
            const WIDTH: u32 = $width;
            const EXPONENT_BITS: u32 = $width - 1 - $mantissa;
            const BIAS: i32 = <$float>::MAX_EXP - 1;
            const ZERO: Self = 0.0;

            #[inline(always)]
            fn items(bytes: &[u8]) -> &[Self::Bytes] {
                bytes.as_chunks().0
            }

            #[inline(always)]
            fn items_mut(bytes: &mut [u8]) -> &mut [Self::Bytes] {
                bytes.as_chunks_mut().0
            }

            #[inline(always)]
            fn read(bytes: Self::Bytes) -> Self {
                Self::from_le_bytes(bytes)
            }

            #[inline(always)]
            fn write(self) -> Self::Bytes {
                self.to_le_bytes()
            }

            #[inline(always)]
            fn power_of_two(power: i32) -> Self {
                // Below the normal numbers the exponent is 0, and the place of the one bit says the power.
                let place = power + Self::BIAS - 1 + $mantissa;
                let (field, shift) =
                    if power > -Self::BIAS { (power + Self::BIAS, $mantissa) } else { (1, place) };
                Self::from_bits(<$bits>::try_from(field).unwrap_or(0) << shift)
            }

            #[inline(always)]
            fn exponent(cell: &[Self]) -> Option<i32> {
                const MAGNITUDE: $bits = <$bits>::MAX >> 1;
                let top = cell.iter().fold(0, |top, value| (value.to_bits() & MAGNITUDE).max(top));
                let field = i32::try_from(top >> $mantissa).ok().filter(|&field| field <= 2 * Self::BIAS)?;
                // Numbers below the normal ones count as if they were the least of these.
                Some(if top == 0 { 0 } else { field + 1 })
            }

            #[inline(always)]
            #[expect(
                clippy::cast_possible_truncation,
                reason = "it fits: what is behind the point is cut off"
            )]
            fn quantise(cell: &[Self], exponent: i32, out: &mut [Self::Int]) {
                let top = $width - 2;
                let (first, second) = if top - exponent <= Self::BIAS {
                    (Self::power_of_two(top - exponent), 1.0)
                } else {
                    (Self::power_of_two(top), Self::power_of_two(-exponent))
                };
                for (out, value) in out.iter_mut().zip(cell) {
                    *out = (value * first * second) as $int;
                }
            }

            #[inline(always)]
            fn restore(cell: &[Self::Int], exponent: i32, out: &mut [Self]) {
                let top = $width - 2;
                let (first, second) = if exponent - top > -Self::BIAS {
                    (Self::power_of_two(exponent - top), 1.0)
                } else {
                    (Self::power_of_two(-top), Self::power_of_two(exponent))
                };
                for (out, integer) in out.iter_mut().zip(cell) {
                    *out = *integer as Self * first * second;
                }
            }
        }
    };
}

number!(f32, i32, u32, 32, 23);
number!(f64, i64, u64, 64, 52);

macro_rules! int {
    ($int:ty, $bits:ty) => {
        impl Int for $int {
            const ZERO: Self = 0;

            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }

            #[inline(always)]
            fn minus(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }

            #[inline(always)]
            fn half(self) -> Self {
                self >> 1
            }

            #[inline(always)]
            fn twice(self) -> Self {
                self.wrapping_add(self)
            }

            #[inline(always)]
            fn to_negabinary(self) -> u64 {
                let mask = <$bits>::MAX / 3 * 2;
                u64::from(self.cast_unsigned().wrapping_add(mask) ^ mask)
            }

            #[inline(always)]
            #[allow(clippy::cast_possible_truncation, reason = "the bits above are zeros")]
            fn of_negabinary(bits: u64) -> Self {
                let mask = <$bits>::MAX / 3 * 2;
                (bits as $bits ^ mask).wrapping_sub(mask).cast_signed()
            }
        }
    };
}

int!(i32, u32);
int!(i64, u64);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_of_two_are_those_of_the_type() {
        for power in -149..=127 {
            assert_eq!(f64::from(f32::power_of_two(power)), 2_f64.powi(power), "2^{power}");
        }
        for power in [-1074, -1073, -1023, -1022, -1, 0, 1, 1023] {
            // In two steps, since `powi` goes by way of the reciprocal.
            assert_eq!(
                f64::power_of_two(power),
                2_f64.powi(power / 2) * 2_f64.powi(power - power / 2),
                "2^{power}"
            );
        }
    }

    #[test]
    fn an_exponent_bounds_a_cell() {
        assert_eq!(f32::exponent(&[0.0, -0.0]), Some(0));
        assert_eq!(f32::exponent(&[0.0, -1.0, 0.5]), Some(127 + 1));
        assert_eq!(f32::exponent(&[1e-45]), Some(1));
        assert_eq!(f32::exponent(&[f32::MAX]), Some(255));
        assert_eq!(f64::exponent(&[f64::MIN]), Some(2047));
        for odd in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            assert_eq!(f32::exponent(&[1.0, odd]), None);
        }
    }

    #[test]
    fn small_numbers_are_scaled_without_loss() {
        for value in [f32::MIN_POSITIVE, 1e-45, 3e-36, 1.5, 1e38, -2e-38] {
            let exponent = f32::exponent(&[value]).unwrap() - f32::BIAS;
            let (mut integer, mut back) = ([0], [0.0]);
            f32::quantise(&[value], exponent, &mut integer);
            f32::restore(&integer, exponent, &mut back);
            assert_eq!(back, [value]);
        }
    }

    #[test]
    fn base_minus_two_is_undone() {
        for number in [0, 1, -1, 5, i32::MAX, i32::MIN] {
            assert_eq!(i32::of_negabinary(number.to_negabinary()), number);
            assert_eq!(i64::of_negabinary(i64::from(number).to_negabinary()), i64::from(number));
        }
        assert_eq!((1_i32.to_negabinary(), (-1_i32).to_negabinary(), 2_i32.to_negabinary()), (1, 3, 6));
    }
}
