//! The quarter turn that an angle is in, and what is left of the angle.
//!
//! In: an angle. Out: a whole number `k`, of which the last two bits count, and the angle less `k pi / 2`, from about
//! `-pi / 4` to `pi / 4`, to some 100 bits.
//! Method: up to [`LIMIT`], subtraction of pi / 2 in four parts (Cody and Waite); beyond, a product with the bits of
//! 2 / pi that matter, in whole numbers (Payne and Hanek).

use std::f64::consts::{FRAC_2_PI, FRAC_PI_2};

use super::pair::Pair;
use super::steps::ROUND;

/// Angles from here on are for [`reduce_large`].
pub(super) const LIMIT: f64 = 262_144.0;

/// pi / 2 in parts of 35 bits, whose multiples by less than 2^18 are exact, and the rest.
const PARTS: [f64; 4] =
    [1.5707963267923333, 2.5633441515839558e-12, 1.0562999066944068e-23, 4.3359050650618903e-35];

/// pi / 2 less its double.
pub(super) const HALF_PI_REST: f64 = 6.123233995736766e-17;

/// What is left of an angle.
#[derive(Clone, Copy)]
pub(super) struct Reduced {
    /// The number of quarter turns; the last two bits count.
    pub(super) quarters: u64,
    /// The rest, tidy.
    pub(super) rest: Pair,
}

/// Reduces an angle below [`LIMIT`].
#[inline(always)]
pub(super) fn reduce(x: f64) -> Reduced {
    let shifted = x * FRAC_2_PI + ROUND;
    let quarters = shifted - ROUND;
    // Each sum is exact: either it is ordered, or so much cancels that it fits in a double.
    let first = x - quarters * PARTS[0];
    let second = Pair::ordered_sum(first, -(quarters * PARTS[1]));
    let third = Pair::ordered_sum(second.high, -(quarters * PARTS[2]));
    let low = (second.low + third.low) - quarters * PARTS[3];
    Reduced { quarters: shifted.to_bits(), rest: Pair::ordered_sum(third.high, low) }
}

/// Reduces an angle of single precision, below [`LIMIT`], to some 50 bits.
#[inline(always)]
pub(super) fn reduce_short(x: f64) -> (u64, f64) {
    let shifted = x * FRAC_2_PI + ROUND;
    let quarters = shifted - ROUND;
    (shifted.to_bits(), (x - quarters * PARTS[0]) - quarters * (PARTS[1] + PARTS[2]))
}

/// 64 zero bits, and the bits of 2 / pi after the point.
const TWO_OVER_PI: [u64; 21] = [
    0,
    0xA2F9_836E_4E44_1529,
    0xFC27_57D1_F534_DDC0,
    0xDB62_9599_3C43_9041,
    0xFE51_63AB_DEBB_C561,
    0xB724_6E3A_424D_D2E0,
    0x0649_2EEA_09D1_921C,
    0xFE1D_EB1C_B129_A73E,
    0xE882_35F5_2EBB_4484,
    0xE99C_7026_B45F_7E41,
    0x3991_D639_8353_39F4,
    0x9C84_5F8B_BDF9_283B,
    0x1FF8_97FF_DE05_980F,
    0xEF2F_118B_5A0A_6D1F,
    0x6D36_7ECF_27CB_09B7,
    0x4F46_3F66_9E5F_EA2D,
    0x7527_BAC7_EBE5_F17B,
    0x3D07_39F7_8A52_92EA,
    0x6BFB_5FB1_1F8D_5D08,
    0x5603_3046_FC7B_6BAB,
    0xF0CF_BC20_9AF4_361D,
];

/// Reduces a finite angle of [`LIMIT`] or more.
#[expect(clippy::cast_possible_truncation, reason = "cuts words out of longer numbers")]
pub(super) fn reduce_large(x: f64) -> Reduced {
    const FRACTION: u64 = (1 << 52) - 1;
    let bits = x.abs().to_bits();
    let mantissa = u128::from((bits & FRACTION) | (FRACTION + 1));
    // `|x| = mantissa * 2^exponent`, with an exponent of -34 or more. The bits of 2 / pi before `place` make
    // multiples of four quarters, and 192 more are enough.
    let exponent = (bits >> 52) as usize + 62 - 1075;
    let place = exponent;
    let window = |word: usize| {
        let pair = u128::from(TWO_OVER_PI[place / 64 + word]) << 64
            | u128::from(*TWO_OVER_PI.get(place / 64 + word + 1).unwrap_or(&0));
        u128::from((pair << (place % 64) >> 64) as u64)
    };
    let low = mantissa * window(2);
    let middle = mantissa * window(1) + (low >> 64);
    let high = (mantissa * window(0) + (middle >> 64)) as u64;
    // Two bits of quarters, then the fraction of one; as a signed number it is the nearest one's.
    let fraction = u128::from(high) << 66 | u128::from(middle as u64) << 2 | u128::from(low as u64 >> 62);
    let quarters = (high >> 62) + (fraction >> 127) as u64;
    let is_negative = (fraction >> 127 == 1) != (x < 0.0);
    let size = if fraction >> 127 == 1 { fraction.wrapping_neg() } else { fraction };
    let rest = quarter_times(size);
    Reduced {
        quarters: if x < 0.0 { quarters.wrapping_neg() } else { quarters },
        rest: if is_negative { -rest } else { rest },
    }
}

/// `pi / 2 * fraction / 2^128`, for a fraction that is not 0.
fn quarter_times(fraction: u128) -> Pair {
    let zeros = fraction.leading_zeros();
    let fraction = fraction << zeros;
    let unit = 0.5_f64.powi(53 + zeros.cast_signed());
    let high = (fraction >> 75) as f64 * unit;
    let low = (fraction << 53 >> 75) as f64 * unit * 0.5_f64.powi(53);
    let product = Pair::product(high, FRAC_PI_2);
    product.plus_low(high * HALF_PI_REST + low * FRAC_PI_2).tidy()
}
