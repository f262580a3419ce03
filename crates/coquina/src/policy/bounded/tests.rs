//! Rounding against its definition: all numbers of 8 and 16 bits, and chosen ones of more.

use super::contract::{Bound, Contract, LossyMethod};
use super::items::Items;
use super::lattice::{floor_log2, power_of_two};
use super::measure::Counted;
use super::round::{Rule, Unrounded, round};
use crate::base::pool::Job;
use crate::base::testing::random;

fn rounded(dtype: &str, rule: Rule, from: &[u8], before: Option<&[u8]>) -> Vec<u8> {
    let mut to = vec![0; from.len()];
    round(rule, Items::of(dtype).unwrap(), &Unrounded { from, before, fill: None }, &mut to, &Job::inline())
        .unwrap();
    to
}

/// All numbers of 16 bits.
fn halves() -> Vec<u8> {
    (0..=u16::MAX).flat_map(u16::to_le_bytes).collect()
}

fn half(bytes: &[u8]) -> f64 {
    let bits = u16::from_le_bytes([bytes[0], bytes[1]]);
    let (exponent, mantissa) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023));
    let size = match exponent {
        31 => {
            return if mantissa == 0.0 { f64::INFINITY } else { f64::NAN }
                * if bits >> 15 == 0 { 1.0 } else { -1.0 };
        }
        0 => mantissa * 2.0_f64.powi(-24),
        _ => (1.0 + mantissa / 1024.0) * 2.0_f64.powi(exponent - 15),
    };
    if bits >> 15 == 0 { size } else { -size }
}

fn rules() -> Vec<Rule> {
    let multiples = (-30..20).map(Rule::multiples);
    let bits = (1..=10).map(Rule::Bits);
    let relative = [0.4, 0.1, 1.0 / 64.0, 1e-3, 1e-5].map(|limit| {
        let contract = Contract::new(Bound::RelativeError(limit), None, "<f2").unwrap();
        contract.rules()[0]
    });
    multiples.chain(bits).chain(relative).collect()
}

#[test]
fn every_number_of_16_bits_keeps_the_limit_and_rounds_to_itself_again() {
    let all = halves();
    for rule in rules() {
        let once = rounded("<f2", rule, &all, None);
        assert_eq!(once, rounded("<f2", rule, &once, None), "{rule:?}");
        for (from, to) in all.chunks_exact(2).zip(once.chunks_exact(2)) {
            let (x, y) = (half(from), half(to));
            if !x.is_finite() || x == 0.0 {
                assert_eq!(from, to, "{rule:?}: special values stay");
                continue;
            }
            let apart = (x - y).abs();
            match rule {
                Rule::Exact | Rule::Steps(_) => assert_eq!(x, y),
                Rule::Multiples { exponent, limit } => {
                    assert!(apart <= limit, "{rule:?}: {x} to {y}");
                    let step = 2.0_f64.powi(exponent);
                    let top = (x / step).round_ties_even() * step;
                    assert!(y == top || top.abs() > 65504.0, "{rule:?}: {x} to {y}, not {top}");
                }
                Rule::Bits(bits) => {
                    let unit = 2.0_f64
                        .powi((floor_log2(x.abs()) - bits.cast_signed()).max(-14 - bits.cast_signed()));
                    let near = (x / unit).round_ties_even() * unit;
                    assert!(
                        y == near || near.abs() > 65504.0 && (y / unit).fract() == 0.0,
                        "{rule:?}: {x} to {y}"
                    );
                }
                Rule::Relative { limit, .. } => assert!(apart <= limit * x.abs(), "{rule:?}: {x} to {y}"),
            }
        }
    }
}

#[test]
fn every_number_of_8_bits_is_rounded_to_a_multiple_or_the_end() {
    let all: Vec<u8> = (0..=u8::MAX).collect();
    for exponent in 0..=8 {
        for (dtype, least, most) in [("|u1", 0, 255), ("|i1", -128, 127)] {
            let value = |byte: u8| if least < 0 { i32::from(byte.cast_signed()) } else { i32::from(byte) };
            let step = 1 << exponent;
            let once = rounded(dtype, Rule::multiples(exponent), &all, None);
            assert_eq!(once, rounded(dtype, Rule::multiples(exponent), &once, None));
            let bits = rounded(dtype, Rule::Bits(8 - u32::try_from(exponent).unwrap().min(7)), &all, None);
            for ((&from, &to), &kept) in all.iter().zip(&once).zip(&bits) {
                let (x, y) = (value(from), value(to));
                assert!(2 * (x - y).abs() <= step || step == 1 && x == y, "{dtype}: {x} to {y} by {step}");
                assert!(y % step == 0 || y == most || y == least);
                assert_eq!(value(kept) % (1 << exponent.min(7)), 0, "{dtype}: no other bits are set");
            }
        }
    }
}

#[test]
fn every_number_of_8_bits_is_rounded_to_a_step_or_the_end() {
    let all: Vec<u8> = (0..=u8::MAX).collect();
    for limit in 1..255 {
        for (dtype, least, most) in [("|u1", 0, 255), ("|i1", -128, 127)] {
            let value = |byte: u8| if least < 0 { i32::from(byte.cast_signed()) } else { i32::from(byte) };
            let rule = Rule::steps(f64::from(limit) + 0.5, Items::of(dtype).unwrap()).unwrap();
            let once = rounded(dtype, rule, &all, None);
            assert_eq!(once, rounded(dtype, rule, &once, None));
            for (&from, &to) in all.iter().zip(&once) {
                let (x, y) = (value(from), value(to));
                assert!((x - y).abs() <= limit, "{dtype}: {x} to {y}");
                assert!(y % (2 * limit + 1) == 0 || y == most || y == least);
            }
        }
    }
}

#[test]
fn what_equals_what_stood_there_stays() {
    let mut random = random(5);
    let from: Vec<u8> = (0..4000).map(|_| u8::try_from(random(256)).unwrap()).collect();
    let mut before = from.clone();
    before.chunks_exact_mut(8).step_by(3).for_each(|item| item[6] ^= 0x10);
    for dtype in ["<f8", ">f8", "<i8", "<f4", ">f4", ">u4", "<f2", ">i2", "|u1", "<c16"] {
        let items = Items::of(dtype).unwrap();
        let rule = if items.is_float() { Rule::Bits(3) } else { Rule::multiples(6) };
        let all = rounded(dtype, rule, &from, None);
        let some = rounded(dtype, rule, &from, Some(&before));
        let bytes = items.number_bytes();
        let numbers =
            from.chunks(bytes).zip(before.chunks(bytes)).zip(all.chunks(bytes)).zip(some.chunks(bytes));
        for (((from, before), all), some) in numbers {
            assert_eq!(some, if from == before { from } else { all }, "{dtype}");
        }
    }
}

#[test]
fn large_numbers_keep_their_limits() {
    let doubles = [
        f64::MAX,
        f64::MIN_POSITIVE,
        5e-324,
        1e300,
        -1e300,
        0.1,
        1e16 + 2.0,
        3.0,
        -7.5,
        1.5 * 2.0_f64.powi(60),
    ];
    let bytes: Vec<u8> = doubles.iter().flat_map(|x| x.to_le_bytes()).collect();
    for limit in [1e-320, 1e-310, 1e-10, 0.3, 0.5, 1e5, 1e290, 1e308] {
        let contract = Contract::new(Bound::MaxError(limit), None, "<f8").unwrap();
        let once = rounded("<f8", contract.rules()[0], &bytes, None);
        assert_eq!(once, rounded("<f8", contract.rules()[0], &once, None));
        for (x, y) in doubles.iter().zip(once.as_chunks::<8>().0) {
            let y = f64::from_le_bytes(*y);
            assert!((x - y).abs() <= limit, "{limit}: {x} to {y}");
        }
    }
    let longs = [i64::MAX, i64::MIN, -1, 0, 1, 1 << 53, (1 << 62) + 12345];
    let bytes: Vec<u8> = longs.iter().flat_map(|x| x.to_be_bytes()).collect();
    for limit in [1.0, 2.5, 1e6, 1e18, 1e19, 1e300] {
        let contract = Contract::new(Bound::MaxError(limit), None, ">i8").unwrap();
        let once = rounded(">i8", contract.rules()[0], &bytes, None);
        for (x, y) in longs.iter().zip(once.as_chunks::<8>().0) {
            let apart = (i128::from(*x) - i128::from(i64::from_be_bytes(*y))).unsigned_abs();
            assert!(apart as f64 <= limit, "{limit}: {x}");
        }
    }
}

#[test]
fn errors_are_never_told_smaller_than_they_are() {
    let measured = |x: f64, y: f64| {
        let (given, decoded) = (x.to_le_bytes(), y.to_le_bytes());
        let counted = Counted {
            items: Items::of("<f8").unwrap(),
            given: &given,
            before: None,
            inside: std::slice::from_ref(&(0..1)),
        };
        counted.measured(&decoded, 1.0)
    };
    assert_eq!(measured(1.0, 1.25).max_error, 0.25);
    assert!(measured(1.0, 1e-20).max_error >= 1.0, "1 - 1e-20 is less than 1, and told as at least that");
    assert!(measured(1.0, -1e-20).max_error > 1.0);
    for special in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert_eq!(measured(special, special).max_error, 0.0);
        assert_eq!(measured(special, 1.0).max_error, f64::INFINITY);
        assert_eq!(measured(1.0, special).max_error, f64::INFINITY);
    }
    assert_eq!(measured(f64::INFINITY, f64::NEG_INFINITY).max_error, f64::INFINITY);
    assert_eq!(measured(0.0, -0.0).max_error, 0.0);
    assert!((measured(1.0, 1.1).mean_square - 0.01).abs() < 1e-9);
    assert!(measured(0.0, 0.0).keeps_zeros && measured(1.0, 0.0).keeps_zeros);
    assert!(!measured(0.0, -0.0).keeps_zeros && !measured(-0.0, 1e-9).keeps_zeros);
}

#[test]
fn powers_and_their_logarithms() {
    for exponent in -1074..=1023 {
        let power = power_of_two(exponent);
        assert_eq!(floor_log2(power), exponent);
        assert_eq!(floor_log2(power.next_down().max(5e-324)), (exponent - 1).max(-1074));
    }
    assert_eq!((power_of_two(-1075), power_of_two(1024)), (0.0, f64::INFINITY));
}

#[test]
fn contracts_that_cannot_be_kept_are_refused() {
    let of = |name, value, method: Option<&str>, dtype| {
        Contract::new(Bound::of(name, value)?, method.map(LossyMethod::of).transpose()?, dtype)
    };
    for value in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        for name in ["max_error", "relative_error", "psnr", "keep_bits", "ratio"] {
            assert!(of(name, value, None, "<f4").is_err(), "{name} {value}");
        }
    }
    assert!(of("relative_error", 1.0, None, "<f4").is_err());
    assert!(of("keep_bits", 24.0, None, "<f4").is_err() && of("keep_bits", 23.0, None, "<f4").is_ok());
    assert!(of("keep_bits", 1.5, None, "<f4").is_err() && of("error", 1.0, None, "<f4").is_err());
    for dtype in ["|b1", "<M8[ns]", "<m8[s]", "|S4", "<U4", "<f16", "<c32", "[('a', '<f4')]", "|V4", ""] {
        assert!(of("max_error", 1.0, None, dtype).is_err(), "{dtype}");
    }
    assert!(of("psnr", 60.0, Some("trunc"), "<f4").is_err() && of("psnr", 60.0, Some("zfp"), "<f4").is_ok());
    assert!(
        of("keep_bits", 6.0, Some("zfp"), "<f4").is_err()
            && of("max_error", 1.0, Some("zfp"), "<i4").is_err()
    );
    assert!(
        of("max_error", 1.0, Some("trunc"), ">f4").is_err()
            && of("max_error", 1.0, Some("trunc"), "<c8").is_err()
    );
    assert!(of("max_error", 1.0, Some("best"), "<f4").is_err());
}
