//! Rounding floating-point numbers: to multiples of a power of two, or to fewer bits of the mantissa.
//!
//! Numbers of 16 and 32 bits are rounded as numbers of 64, in which all that happens is exact.
//! Source: IEEE 754-2019, "round to nearest, ties to even"; Sterbenz: the difference of two numbers of which neither
//! is more than twice the other is exact.

use super::lattice::{Lattice, floor_log2, power_of_two};
use super::number::{Number, is_within, walks};

/// How far two finite numbers are from each other, rounded up.
fn distance(x: f64, y: f64) -> f64 {
    let difference = y - x;
    // What rounding has lost of the difference, exactly: Knuth's sum of two numbers.
    let back = difference - y;
    let lost = (y - (difference - back)) + (-x - back);
    if lost == 0.0 { difference.abs() } else { difference.abs().next_up() }
}

/// Rounds the mantissa of a floating-point number in its bits: half to even, never to infinity.
macro_rules! with_bits {
    ($bits:ty, $stored:expr, $infinity:expr, $kept:expr, $mantissa:expr) => {{
        let (stored, infinity): ($bits, $bits) = ($stored, $infinity);
        let dropped = $mantissa - $mantissa.min($kept);
        let magnitude = stored & (<$bits>::MAX >> 1);
        if dropped == 0 || magnitude >= infinity {
            stored
        } else {
            let mask = ((1 as $bits) << dropped) - 1;
            let rounded = (magnitude + (mask >> 1) + ((magnitude >> dropped) & 1)) & !mask;
            // Above the greatest number of so few bits there is none: it is the nearest.
            let rounded = if rounded >= infinity { magnitude & !mask } else { rounded };
            rounded | (stored & !(<$bits>::MAX >> 1))
        }
    }};
}

macro_rules! float {
    ($T:ty, $bits:ty, $size:literal, $mantissa:literal, $narrow:path) => {
        impl Number for $T {
            const WIDTH: u32 = $mantissa;
            walks!($size);

            fn value(self) -> f64 {
                f64::from(self)
            }

            fn distance(self, other: Self) -> f64 {
                distance(f64::from(self), f64::from(other))
            }

            fn on_lattice(self, lattice: &Lattice) -> Self {
                let x = f64::from(self);
                let y = lattice.nearest(x);
                // The difference of two numbers so near each other, or of one and 0, is exact.
                let moved = (y - x).abs();
                let near = $narrow(y);
                // What does not move keeps its bits: the sign of a zero, a NaN, for which nothing holds.
                if moved <= lattice.limit && moved > 0.0 && f64::from(near) == y { near } else { self }
            }

            fn with_bits(self, bits: u32) -> Self {
                let infinity = <$T>::INFINITY.to_bits();
                <$T>::from_bits(with_bits!($bits, self.to_bits(), infinity, bits, $mantissa))
            }

            fn with_significant(self, bits: u32, limit: f64) -> Self {
                let near = self.with_bits(bits);
                let (x, y) = (f64::from(self), f64::from(near));
                if is_within((y - x).abs(), limit, x.abs()) { near } else { self }
            }
        }
    };
}
/// The nearest number of 32 bits.
#[expect(clippy::cast_possible_truncation, reason = "whether it is the number itself is seen by comparing")]
fn narrow(x: f64) -> f32 {
    x as f32
}

float!(f32, u32, 4, 23_u32, narrow);
float!(f64, u64, 8, 52_u32, std::convert::identity);

/// A floating-point number of 16 bits: its stored bits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Half(u16);

impl Half {
    const INFINITY: u16 = 0x7c00;

    fn from_le_bytes(bytes: [u8; 2]) -> Self {
        Self(u16::from_le_bytes(bytes))
    }

    fn from_be_bytes(bytes: [u8; 2]) -> Self {
        Self(u16::from_be_bytes(bytes))
    }

    fn to_le_bytes(self) -> [u8; 2] {
        self.0.to_le_bytes()
    }

    fn to_be_bytes(self) -> [u8; 2] {
        self.0.to_be_bytes()
    }

    /// The number that is exactly `x`, which is finite, if there is one.
    fn exactly(x: f64) -> Option<Self> {
        let size = x.abs();
        let magnitude = if size < power_of_two(-14) {
            // Multiples of the least number.
            whole(size * power_of_two(24))?
        } else {
            let (exponent, bits) = (floor_log2(size), size.to_bits());
            let biased = u16::try_from(exponent + 15).ok().filter(|&biased| biased < 31)?;
            let mantissa = (bits & ((1 << 52) - 1)) >> 42;
            if bits & ((1 << 42) - 1) != 0 {
                return None;
            }
            biased << 10 | u16::try_from(mantissa).ok()?
        };
        Some(Self(magnitude | if x.is_sign_negative() { 0x8000 } else { 0 }))
    }
}

/// `x` as a number below 1024, if it has no fraction.
#[expect(clippy::cast_possible_truncation, reason = "casts to integers saturate")]
fn whole(x: f64) -> Option<u16> {
    u16::try_from(x as i32).ok().filter(|&n| n < 1024 && f64::from(n) == x)
}

impl Number for Half {
    const WIDTH: u32 = 10;
    walks!(2);

    fn value(self) -> f64 {
        let sign = if self.0 & 0x8000 == 0 { 1.0 } else { -1.0 };
        let (exponent, mantissa) = (i32::from(self.0 >> 10 & 31), f64::from(self.0 & 1023));
        match exponent {
            31 if mantissa == 0.0 => sign * f64::INFINITY,
            31 => f64::NAN,
            0 => sign * mantissa * power_of_two(-24),
            _ => sign * (1024.0 + mantissa) * power_of_two(exponent - 25),
        }
    }

    fn distance(self, other: Self) -> f64 {
        distance(self.value(), other.value())
    }

    fn on_lattice(self, lattice: &Lattice) -> Self {
        let x = self.value();
        let y = lattice.nearest(x);
        let moved = (y - x).abs();
        if moved <= lattice.limit && moved > 0.0 { Self::exactly(y).unwrap_or(self) } else { self }
    }

    fn with_bits(self, bits: u32) -> Self {
        Self(with_bits!(u16, self.0, Self::INFINITY, bits, 10_u32))
    }

    fn with_significant(self, bits: u32, limit: f64) -> Self {
        let near = self.with_bits(bits);
        let (x, y) = (self.value(), near.value());
        if is_within((y - x).abs(), limit, x.abs()) { near } else { self }
    }
}
