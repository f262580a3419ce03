//! Rounds floating-point numbers to multiples of a power of two, and measures how far numbers are from others.
//!
//! In: little-endian F32 or F64 at any place. Out: as many rounded numbers; the greatest error, absolute and as a part of the
//! number, and the sum of the squares. All is computed in double precision, in which the numbers of both types are exact.
//! Source: IEEE 754-2019, "round to nearest, ties to even"; the error of a difference by D. E. Knuth's sum of two numbers.
//! Invariant: every level gives the same bits, since the order of operations is part of the body.

#[cfg(test)]
mod tests;

use crate::level::{Isa, Level};
use crate::types::Type;

/// Numbers that are worked on at once: sums have as many lanes.
const LANES: usize = 16;
/// The rounding of a product may be off by this part of it, if it is no smaller than `PRODUCT_MIN`.
const PRODUCT_SLACK: f64 = 1.0 - 1.0 / 1_125_899_906_842_624.0;
const PRODUCT_MIN: f64 = 1e-290;

/// Multiples of a power of two.
#[derive(Clone, Copy, Debug)]
pub struct Multiples {
    /// Added and taken away again, it leaves multiples of the power only: 1.5 times the power times 2^52.
    pub magic: f64,
    /// Numbers that would move further stay as they are.
    pub limit: f64,
}

/// How far numbers are from others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Errors {
    /// The greatest distance, rounded up; infinity where one of two is not finite and the other is not the same.
    pub max: f64,
    /// The greatest distance as a part of the first number.
    pub relative: f64,
    /// The sum of the squares of the distances, each times the unit.
    pub squares: f64,
    /// How many of the first numbers are finite.
    pub finite: u64,
    /// Whether all zeros stay zeros of the same sign.
    pub keeps_zeros: bool,
}

impl Errors {
    /// Of no numbers.
    pub const NONE: Self = Self { max: 0.0, relative: 0.0, squares: 0.0, finite: 0, keeps_zeros: true };

    /// Of the numbers of both, in this order.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        Self {
            max: self.max.max(other.max),
            relative: self.relative.max(other.relative),
            squares: self.squares + other.squares,
            finite: self.finite + other.finite,
            keeps_zeros: self.keeps_zeros & other.keeps_zeros,
        }
    }
}

/// Fills `to` with the nearest multiple of each number of `from`, of two the even one. What does not move keeps its bits: a
/// NaN, an infinity, the sign of a zero, a number whose nearest multiple its type does not have.
///
/// # Panics
/// For another type than F32 and F64, and if the bytes are not as many whole numbers on both sides.
pub fn round_to_multiples(level: Level, ty: Type, multiples: Multiples, from: &[u8], to: &mut [u8]) {
    check(ty, from, to);
    match level.0 {
        Isa::Portable => round(ty, multiples, from, to),
        #[cfg(target_arch = "x86_64")]
        // SAFETY: an `Avx2` level exists only where `levels` has found AVX2 on this CPU.
        Isa::Avx2 => unsafe { round_avx2(ty, multiples, from, to) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: an `Avx512` level exists only where `levels` has found these features on this CPU.
        Isa::Avx512 => unsafe { round_avx512(ty, multiples, from, to) },
    }
}

/// How far the numbers of `from` are from those of `to`; squares are of distances times `unit`.
///
/// # Panics
/// As [`round_to_multiples`].
pub fn errors(level: Level, ty: Type, unit: f64, from: &[u8], to: &[u8]) -> Errors {
    check(ty, from, to);
    match level.0 {
        Isa::Portable => measure(ty, unit, from, to),
        #[cfg(target_arch = "x86_64")]
        // SAFETY: an `Avx2` level exists only where `levels` has found AVX2 on this CPU.
        Isa::Avx2 => unsafe { measure_avx2(ty, unit, from, to) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: an `Avx512` level exists only where `levels` has found these features on this CPU.
        Isa::Avx512 => unsafe { measure_avx512(ty, unit, from, to) },
    }
}

fn check(ty: Type, from: &[u8], to: &[u8]) {
    assert!(matches!(ty, Type::F32 | Type::F64), "{ty:?}: takes F32 and F64");
    assert!(from.len() == to.len() && from.len().is_multiple_of(ty.bytes()), "as many whole numbers");
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn round_avx2(ty: Type, multiples: Multiples, from: &[u8], to: &mut [u8]) {
    round(ty, multiples, from, to);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
fn round_avx512(ty: Type, multiples: Multiples, from: &[u8], to: &mut [u8]) {
    round(ty, multiples, from, to);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn measure_avx2(ty: Type, unit: f64, from: &[u8], to: &[u8]) -> Errors {
    measure(ty, unit, from, to)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
fn measure_avx512(ty: Type, unit: f64, from: &[u8], to: &[u8]) -> Errors {
    measure(ty, unit, from, to)
}

#[inline(always)]
fn round(ty: Type, multiples: Multiples, from: &[u8], to: &mut [u8]) {
    match ty {
        Type::F32 => round_all::<f32, 4>(multiples, from, to),
        _ => round_all::<f64, 8>(multiples, from, to),
    }
}

#[inline(always)]
fn measure(ty: Type, unit: f64, from: &[u8], to: &[u8]) -> Errors {
    match ty {
        Type::F32 => measure_all::<f32, 4>(unit, from, to),
        _ => measure_all::<f64, 8>(unit, from, to),
    }
}

/// A number of `N` bytes.
trait Item<const N: usize>: Copy {
    fn read(bytes: [u8; N]) -> Self;
    fn write(self) -> [u8; N];
    fn wide(self) -> f64;
    /// The nearest number to this one.
    fn near(wide: f64) -> Self;
}

impl Item<4> for f32 {
    #[inline(always)]
    fn read(bytes: [u8; 4]) -> Self {
        Self::from_le_bytes(bytes)
    }
    #[inline(always)]
    fn write(self) -> [u8; 4] {
        self.to_le_bytes()
    }
    #[inline(always)]
    fn wide(self) -> f64 {
        f64::from(self)
    }
    #[inline(always)]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "whether it is the number itself is seen by comparing"
    )]
    fn near(wide: f64) -> Self {
        wide as Self
    }
}

impl Item<8> for f64 {
    #[inline(always)]
    fn read(bytes: [u8; 8]) -> Self {
        Self::from_le_bytes(bytes)
    }
    #[inline(always)]
    fn write(self) -> [u8; 8] {
        self.to_le_bytes()
    }
    #[inline(always)]
    fn wide(self) -> f64 {
        self
    }
    #[inline(always)]
    fn near(wide: f64) -> Self {
        wide
    }
}

#[inline(always)]
fn round_all<T: Item<N>, const N: usize>(multiples: Multiples, from: &[u8], to: &mut [u8]) {
    let (from, to) = (from.as_chunks::<N>().0, to.as_chunks_mut::<N>().0);
    for (&from, to) in from.iter().zip(to) {
        let item = T::read(from);
        let x = item.wide();
        let y = (x + multiples.magic) - multiples.magic;
        // The difference of two numbers so near each other, or of one and 0, is exact.
        let moved = (y - x).abs();
        let near = T::near(y);
        let moves = (moved <= multiples.limit) & (moved > 0.0) & (near.wide() == y);
        *to = if moves { near.write() } else { from };
    }
}

/// Naively: one pass with one greatest error and one sum. Here each of `LANES` lanes has its own, and they are taken together
/// at the end.
#[inline(always)]
fn measure_all<T: Item<N>, const N: usize>(unit: f64, from: &[u8], to: &[u8]) -> Errors {
    let (from, to) = (from.as_chunks::<N>().0, to.as_chunks::<N>().0);
    let (from_rows, from_rest) = from.as_chunks::<LANES>();
    let (to_rows, to_rest) = to.as_chunks::<LANES>();
    let mut lanes = Lanes {
        unit,
        max: [0.0; LANES],
        squares: [0.0; LANES],
        finite: [0; LANES],
        lost: [0; LANES],
        relative: 0.0,
    };
    for (from, to) in from_rows.iter().zip(to_rows) {
        lanes.see(&from.map(|item| T::read(item).wide()), &to.map(|item| T::read(item).wide()));
    }
    // The last row has zeros behind its numbers, which are not counted.
    let (mut last_from, mut last_to) = ([0.0; LANES], [0.0; LANES]);
    for (lane, (&from, &to)) in from_rest.iter().zip(to_rest).enumerate() {
        (last_from[lane], last_to[lane]) = (T::read(from).wide(), T::read(to).wide());
    }
    lanes.see(&last_from, &last_to);
    let padding = LANES - from_rest.len();
    Errors {
        max: lanes.max.into_iter().fold(0.0, f64::max),
        relative: lanes.relative,
        squares: lanes.squares.into_iter().sum(),
        finite: lanes.finite.into_iter().sum::<u64>() - padding as u64,
        keeps_zeros: lanes.lost.into_iter().all(|lost| lost == 0),
    }
}

/// What was seen so far, in lanes.
struct Lanes {
    unit: f64,
    max: [f64; LANES],
    squares: [f64; LANES],
    finite: [u64; LANES],
    /// Not 0 where a zero has become another number.
    lost: [u64; LANES],
    relative: f64,
}

impl Lanes {
    #[inline(always)]
    fn see(&mut self, from: &[f64; LANES], to: &[f64; LANES]) {
        let mut errors = [0.0; LANES];
        let mut is_greater = [0_u64; LANES];
        for lane in 0..LANES {
            let (x, y) = (from[lane], to[lane]);
            let (error, size) = (error(x, y), x.abs());
            errors[lane] = error;
            let squared = (error * self.unit) * (error * self.unit);
            self.max[lane] = if error > self.max[lane] { error } else { self.max[lane] };
            self.squares[lane] += if error > 0.0 { squared } else { 0.0 };
            self.finite[lane] += u64::from(size < f64::INFINITY);
            self.lost[lane] |= u64::from((x == 0.0) & (x.to_bits() != y.to_bits()));
            // Divisions are slow, and few errors are a greater part of their number than all before.
            let product = self.relative * size;
            let is_less = (product >= PRODUCT_MIN) & (error <= product * PRODUCT_SLACK);
            is_greater[lane] = u64::from((error > 0.0) & !is_less);
        }
        if is_greater.iter().fold(0, |all, lane| all | lane) != 0 {
            for lane in 0..LANES {
                if errors[lane] > 0.0 {
                    self.relative = self.relative.max(errors[lane] / from[lane].abs());
                }
            }
        }
    }
}

/// The distance of two numbers, rounded up.
#[inline(always)]
fn error(x: f64, y: f64) -> f64 {
    let difference = y - x;
    // What rounding has lost of the difference, exactly: Knuth's sum of two numbers.
    let back = difference - y;
    let lost = (y - (difference - back)) + (-x - back);
    let apart = difference.abs();
    let infinity = f64::INFINITY.to_bits();
    let up = apart.to_bits() + u64::from(lost != 0.0);
    let distance = f64::from_bits(if up > infinity { infinity } else { up });
    let are_finite = (x.abs() < f64::INFINITY) & (y.abs() < f64::INFINITY);
    let are_same = (x == y) | (x.is_nan() & (x.to_bits() == y.to_bits()));
    let special = if are_same { 0.0 } else { f64::INFINITY };
    if are_finite { distance } else { special }
}
