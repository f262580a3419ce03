//! The quarter turn that an angle is in, and what is left of the angle.
//!
//! In: an angle. Out: a whole number `k`, of which the last two bits count, and the angle less `k pi / 2`, from about
//! `-pi / 4` to `pi / 4`, to some 100 bits.
//! Method: up to [`LIMIT`], subtraction of pi / 2 in four parts (Cody and Waite); beyond, a product with the bits of
//! 2 / pi that matter (Payne and Hanek).

use std::f64::consts::{FRAC_2_PI, FRAC_PI_2};

use super::pair::{Pair, top};
use super::steps::{MAGNITUDE, ROUND};

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

/// 64 zero bits, the bits of 2 / pi after the point, and zeros: at every 32nd bit the next 64.
const TWO_OVER_PI: [u64; 64] = {
    let mut windows = [0; 64];
    let mut at = 0;
    while at < 2 * BITS.len() {
        let (word, next) = (BITS[at / 2], if at / 2 + 1 < BITS.len() { BITS[at / 2 + 1] } else { 0 });
        windows[at] = if at % 2 == 0 { word } else { word << 32 | next >> 32 };
        at += 1;
    }
    windows
};

/// 64 zero bits, and the bits of 2 / pi after the point.
const BITS: [u64; 21] = [
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

/// Bits of 2 / pi that are multiplied at a time: their products with half of a mantissa are exact.
const PART_BITS: usize = 26;

/// Reduces an angle of [`LIMIT`] or more, without branches; of an infinite one it makes something.
///
/// `|x| = mantissa * 2^exponent`. The bits of 2 / pi before a place make multiples of four quarters, and 182 more
/// are enough: seven parts, times the upper and the lower half of the mantissa.
#[inline(always)]
pub(super) fn reduce_large(x: f64) -> Reduced {
    const FRACTION: u64 = (1 << 52) - 1;
    let bits = x.to_bits() & MAGNITUDE;
    let mantissa = f64::from_bits((bits & FRACTION) | 1_f64.to_bits());
    let upper = top(mantissa);
    let lower = mantissa - upper;
    let place = (bits >> 52).wrapping_sub(1075 - 62);
    // Part `n` of 2 / pi, times such a power of two that its product with the mantissa counts quarters.
    let part = |n: usize| {
        let place = place.wrapping_add((n * PART_BITS) as u64);
        let window = TWO_OVER_PI[(place >> 5) as usize & 63] << (place & 31);
        // Of this float the lowest bit is that of the part.
        let base = f64::from_bits((1023 + 80 - (n * PART_BITS) as u64) << 52);
        f64::from_bits(base.to_bits() | window >> (64 - PART_BITS)) - base
    };
    let parts = [part(0), part(1), part(2), part(3), part(4), part(5), part(6)];
    // The first product of the upper half is a multiple of eight. Those that may reach a quarter are split into
    // quarters and a rest, and sums of the rests are exact.
    let (mut quarters, mut high) = (0_u64, 0.0);
    for product in [upper * parts[1], lower * parts[0], upper * parts[2], lower * parts[1]] {
        let shifted = product + ROUND;
        quarters = quarters.wrapping_add(shifted.to_bits());
        high += product - (shifted - ROUND);
    }
    let shifted = high + ROUND;
    quarters = quarters.wrapping_add(shifted.to_bits());
    high -= shifted - ROUND;
    // Any of these may cancel those before it.
    let third = Pair::sum(upper * parts[3], lower * parts[2]);
    let fourth = Pair::sum(upper * parts[4], lower * parts[3]);
    let tail = (upper * parts[5] + lower * parts[4]) + (upper * parts[6] + lower * parts[5]);
    let first = Pair::sum(high, third.high);
    let second = Pair::sum(third.low, fourth.high);
    let middle = Pair::sum(first.low, second.high);
    let sum = Pair::sum(first.high, middle.high);
    let fraction = Pair::sum(sum.high, sum.low + (middle.low + (second.low + (fourth.low + tail))));
    let product = fraction.times(Pair::new(FRAC_PI_2, HALF_PI_REST)).tidy();
    // A negative angle has the opposite rest, and the opposite number of quarters.
    let is_negative = x < 0.0;
    Reduced {
        quarters: if is_negative { quarters.wrapping_neg() } else { quarters },
        rest: Pair::either(is_negative, -product, product),
    }
}
