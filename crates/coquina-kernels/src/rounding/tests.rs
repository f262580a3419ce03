//! Rounding and measuring against their definitions, over all levels and small lengths.

use super::{Errors, Multiples, PRODUCT_SLACK, errors, round_to_multiples};
use crate::testing::Random;
use crate::{Type, levels};

fn wide(ty: Type, item: &[u8]) -> f64 {
    match ty {
        Type::F32 => f64::from(f32::from_le_bytes(item.try_into().expect("4 bytes"))),
        _ => f64::from_le_bytes(item.try_into().expect("8 bytes")),
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the nearest number of 32 bits is meant")]
fn stored(ty: Type, x: f64) -> Vec<u8> {
    match ty {
        Type::F32 => (x as f32).to_le_bytes().to_vec(),
        _ => x.to_le_bytes().to_vec(),
    }
}

/// Numbers of ordinary size, special ones and some of any bits.
fn numbers(ty: Type, random: &mut Random, len: usize) -> Vec<u8> {
    let special =
        [0.0, -0.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 3e38, -1e-40, 0.5, 0.25, -0.75, 1e300];
    let number = |at: usize| match (at + random.below(7)) % 9 {
        0 => random.bytes(ty.bytes()),
        1 => stored(ty, special[random.below(special.len())]),
        _ => stored(ty, (random.below(2000) as f64 - 1000.0) / (1 + random.below(300)) as f64),
    };
    (0..len).flat_map(number).collect()
}

/// One number after another, by the definition.
fn naive(ty: Type, unit: f64, from: &[u8], to: &[u8]) -> Errors {
    let mut all = Errors::NONE;
    for (x, y) in from.chunks_exact(ty.bytes()).zip(to.chunks_exact(ty.bytes())) {
        let (x, y) = (wide(ty, x), wide(ty, y));
        let error = if x.is_finite() && y.is_finite() {
            let apart = (y - x).abs();
            // Rounded up: no distance of two numbers of 64 bits is less by more than half a last bit.
            if exceeds(x, y, apart) { apart.next_up() } else { apart }
        } else if x == y || x.is_nan() && x.to_bits() == y.to_bits() {
            0.0
        } else {
            f64::INFINITY
        };
        let relative = if error > 0.0 { error / x.abs() } else { 0.0 };
        let squares = if error > 0.0 { (error * unit) * (error * unit) } else { 0.0 };
        let keeps_zeros = x != 0.0 || x.to_bits() == y.to_bits();
        let finite = u64::from(x.is_finite());
        all = all.and(&Errors { max: error, relative, squares, finite, keeps_zeros });
    }
    all
}

/// Whether the distance of `x` and `y` is not exactly `apart`.
fn exceeds(x: f64, y: f64, apart: f64) -> bool {
    let (low, high) = if x < y { (x, y) } else { (y, x) };
    low + apart != high || high - apart != low || (high - low) - high != -low
}

#[test]
fn all_levels_round_as_the_definition_says() {
    let mut random = Random::new(3);
    for ty in [Type::F32, Type::F64] {
        for len in (0..70).chain([255, 1000]) {
            let from = numbers(ty, &mut random, len);
            for exponent in [-60, -12, -3, 0, 2, 40] {
                let step = 2.0_f64.powi(exponent);
                for limit in [step / 2.0, step / 3.0, f64::INFINITY] {
                    let multiples = Multiples { magic: 1.5 * step * 2.0_f64.powi(52), limit };
                    for &level in levels() {
                        let mut to = vec![7; from.len()];
                        round_to_multiples(level, ty, multiples, &from, &mut to);
                        for (x, y) in from.chunks_exact(ty.bytes()).zip(to.chunks_exact(ty.bytes())) {
                            let near = (wide(ty, x) / step).round_ties_even() * step;
                            let moved = (near - wide(ty, x)).abs();
                            let moves = moved > 0.0 && moved <= limit && near.abs() < step * 2.0_f64.powi(50);
                            let moves = moves && wide(ty, &stored(ty, near)) == near;
                            if moves {
                                assert_eq!(wide(ty, y), near, "{ty:?} {level:?} {exponent}");
                            } else if near.abs() < step * 2.0_f64.powi(50) || !near.is_finite() {
                                assert_eq!(x, y, "{ty:?} {level:?} {exponent}");
                            }
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn all_levels_measure_as_the_naive_loop_and_give_the_same_bits() {
    let mut random = Random::new(5);
    for ty in [Type::F32, Type::F64] {
        for len in (0..100).chain([255, 1000]) {
            let from = numbers(ty, &mut random, len);
            for kind in 0..3 {
                let mut to = from.clone();
                match kind {
                    0 => {}
                    1 => {
                        let multiples = Multiples { magic: 1.5 * 2.0_f64.powi(50), limit: 0.125 };
                        round_to_multiples(levels()[0], ty, multiples, &from, &mut to);
                    }
                    _ => to = numbers(ty, &mut random, len),
                }
                let first = errors(levels()[0], ty, 0.5, &from, &to);
                let plain = naive(ty, 0.5, &from, &to);
                let near = |a: f64, b: f64| a == b || (a - b).abs() <= b * 1e-12;
                assert!(near(first.max, plain.max) && first.max >= plain.max * PRODUCT_SLACK);
                assert!(near(first.relative, plain.relative), "{first:?} {plain:?}");
                assert!(near(first.squares, plain.squares), "{first:?} {plain:?}");
                assert_eq!((first.finite, first.keeps_zeros), (plain.finite, plain.keeps_zeros));
                for &level in levels() {
                    let found = errors(level, ty, 0.5, &from, &to);
                    assert_eq!(found.squares.to_bits(), first.squares.to_bits(), "{ty:?} {level:?} {len}");
                    assert_eq!(found, first, "{ty:?} {level:?} {len}");
                }
            }
        }
    }
}

#[test]
fn every_place_counts() {
    for ty in [Type::F32, Type::F64] {
        let from = stored(ty, 2.0).repeat(50);
        for place in 0..50 {
            let mut to = from.clone();
            to[place * ty.bytes()..(place + 1) * ty.bytes()].copy_from_slice(&stored(ty, 2.5));
            let one = Errors { max: 0.5, relative: 0.25, squares: 0.25, finite: 50, keeps_zeros: true };
            for &level in levels() {
                assert_eq!(errors(level, ty, 1.0, &from, &to), one, "{ty:?} {level:?} {place}");
            }
        }
    }
}

#[test]
fn zeros_that_become_others_are_seen() {
    for &level in levels() {
        let zeros = [0.0_f64.to_le_bytes(), (-0.0_f64).to_le_bytes()].concat();
        let found = errors(level, Type::F64, 1.0, &zeros, &[0; 16]);
        assert_eq!((found.max, found.keeps_zeros), (0.0, false));
        assert!(errors(level, Type::F64, 1.0, &zeros, &zeros).keeps_zeros);
    }
}
