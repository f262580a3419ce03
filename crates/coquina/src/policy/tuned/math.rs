//! Powers and logarithms of two that are the same on every machine.
//!
//! Those of the standard library may differ in their last bit between systems, and a choice may hang on it. These use sums,
//! products and quotients only, which IEEE 754 rounds the same everywhere.

/// Terms of the series of both: the last one is below a rounding error.
const TERMS: u32 = 20;

/// Two to the power of `x`, between powers of -1000 and 1000.
pub(super) fn exp2(x: f64) -> f64 {
    let whole = x.clamp(-1000.0, 1000.0).round();
    let rest = (x.clamp(-1000.0, 1000.0) - whole) * std::f64::consts::LN_2;
    let (mut sum, mut term) = (1.0, 1.0);
    for n in 1..=TERMS {
        term *= rest / f64::from(n);
        sum += term;
    }
    let base = if whole < 0.0 { 0.5 } else { 2.0 };
    let mut left = whole.abs();
    while left >= 1.0 {
        sum *= base;
        left -= 1.0;
    }
    sum
}

/// The power of two that `x` is; 0 for what is not above 0.
pub(super) fn log2(x: f64) -> f64 {
    if x.is_nan() || x <= 0.0 || x.is_infinite() {
        return 0.0;
    }
    let (mut x, mut whole) = (x, 0.0);
    while x >= std::f64::consts::SQRT_2 {
        x *= 0.5;
        whole += 1.0;
    }
    while x < std::f64::consts::FRAC_1_SQRT_2 {
        x *= 2.0;
        whole -= 1.0;
    }
    let part = (x - 1.0) / (x + 1.0);
    let (mut sum, mut power) = (0.0, part);
    for n in 0..TERMS / 2 {
        sum += power / f64::from(2 * n + 1);
        power *= part * part;
    }
    whole + 2.0 * sum * std::f64::consts::LOG2_E
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_those_of_the_standard_library_but_for_rounding() {
        for n in -3000_i32..3000 {
            let x = f64::from(n) / 97.0;
            assert!((exp2(x) / x.exp2() - 1.0).abs() < 1e-14, "{x}");
            assert!((log2(x.exp2()) - x).abs() < 1e-13, "{x}");
        }
        for n in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(log2(n).to_bits(), 0.0_f64.to_bits());
        }
        assert_eq!((exp2(3.0).to_bits(), log2(8.0).to_bits()), (8.0_f64.to_bits(), 3.0_f64.to_bits()));
    }
}
