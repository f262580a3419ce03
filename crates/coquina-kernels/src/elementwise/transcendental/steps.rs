//! Small steps that all functions are made of: whole numbers, powers of two, signs, polynomials.
//!
//! All are free of branches, tables and conversions between whole numbers and floats, which older instruction sets
//! lack: whole numbers are in the low bits of a float that is large enough to have no fraction.

/// Adding it rounds a number below 2^51 to a whole one, which is then in the low bits; subtracting it gives that
/// number as a float.
pub(super) const ROUND: f64 = 1.5 * (1_u64 << 52) as f64;

/// The bits of a float that are not its sign.
pub(super) const MAGNITUDE: u64 = !(1 << 63);

/// The nearest whole number, for less than 2^51.
#[inline(always)]
pub(super) fn whole(number: f64) -> f64 {
    (number + ROUND) - ROUND
}

/// 2 to a whole number in -1022..=1023.
#[inline(always)]
pub(super) fn two_to(whole: f64) -> f64 {
    f64::from_bits((whole + (ROUND + 1023.0)).to_bits() << 52)
}

/// `number * 2^power`, rounded once, for a `number` near 1 and any power from -2000 to 2000.
#[inline(always)]
pub(super) fn scale(number: f64, power: f64) -> f64 {
    let half = whole(power * 0.5);
    number * two_to(half) * two_to(power - half)
}

/// The number with the sign of another.
#[inline(always)]
pub(super) fn with_sign(magnitude: f64, sign: f64) -> f64 {
    f64::from_bits((magnitude.to_bits() & MAGNITUDE) | (sign.to_bits() & !MAGNITUDE))
}

/// The number, between two others; a NaN stays.
#[inline(always)]
pub(super) fn between(least: f64, number: f64, most: f64) -> f64 {
    let number = if number < least { least } else { number };
    if number > most { most } else { number }
}

/// The polynomial with these coefficients, from the constant one up: by Horner's rule for every fourth power, so
/// that few steps wait for one another.
#[inline(always)]
pub(super) fn polynomial<const N: usize>(x: f64, coefficients: &[f64; N]) -> f64 {
    let square = x * x;
    let fourth = square * square;
    let cubic = |c: &[f64; 4]| (c[0] + c[1] * x) + (c[2] + c[3] * x) * square;
    let (fours, rest) = coefficients.as_chunks::<4>();
    let (mut sum, fours) = match (rest, fours) {
        ([a], _) => (*a, fours),
        ([a, b], _) => (a + b * x, fours),
        ([a, b, c], _) => ((a + b * x) + c * square, fours),
        (_, [fours @ .., last]) => (cubic(last), fours),
        _ => (0.0, fours),
    };
    for four in fours.iter().rev() {
        sum = sum * fourth + cubic(four);
    }
    sum
}

/// The value, or the first argument that is a NaN, with its bits but quiet.
#[inline(always)]
pub(super) fn either_nan(x: f64, y: f64, value: f64) -> f64 {
    let value = if y.is_nan() { y + y } else { value };
    if x.is_nan() { x + x } else { value }
}
