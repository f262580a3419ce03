//! Images of all kinds through the encoder, and both decoders.

use super::*;
use crate::openjpeg;

fn geometry(
    columns: usize,
    rows: usize,
    components: usize,
    sample_bytes: usize,
    is_signed: bool,
) -> Geometry {
    Geometry { columns, rows, components, sample_bytes, is_signed }
}

/// Planes that are smooth in parts, noisy in others, zero in some, and extreme in a few samples.
fn planes(geometry: &Geometry, seed: i32) -> Vec<Vec<i32>> {
    let (low, high) = if geometry.is_signed {
        (-(1 << (geometry.bits() - 1)), 1 << (geometry.bits() - 1))
    } else {
        (0, 1 << geometry.bits())
    };
    let mut state = seed.cast_unsigned().wrapping_mul(2_654_435_761) | 1;
    (0..)
        .take(geometry.components)
        .map(|component| {
            (0..geometry.area())
                .map(|place| {
                    state ^= state << 13;
                    state ^= state >> 17;
                    state ^= state << 5;
                    let [row, column] = [place / geometry.columns, place % geometry.columns]
                        .map(|at| i32::try_from(at).unwrap());
                    let noise = (state >> 8).cast_signed();
                    let value = match (row / 24 + column / 24 + component + seed) % 5 {
                        0 => 0,
                        1 => low + noise.rem_euclid(high - low),
                        2 => row * 3 + column * 2 + noise % 4,
                        3 => (row - column) * 5,
                        _ => [low, high - 1][noise as usize & 1],
                    };
                    value.clamp(low, high - 1)
                })
                .collect()
        })
        .collect()
}

fn how(levels: u32, step: Option<f64>) -> How {
    How { levels, step, has_colour_transform: false }
}

#[test]
fn every_image_comes_back_by_both_decoders() {
    let sides = [(1, 1), (1, 9), (7, 1), (2, 3), (5, 5), (63, 64), (65, 66), (129, 70), (200, 3)];
    for (number, (columns, rows)) in (0..).zip(sides) {
        for (sample_bytes, is_signed) in [(1, false), (2, false), (1, true), (2, true)] {
            for components in [1, 3] {
                let geometry = geometry(columns, rows, components, sample_bytes, is_signed);
                for (seed, levels) in [(number, 5), (number + 1, 0), (number + 2, 2)] {
                    for has_colour_transform in [false, true] {
                        let plain = planes(&geometry, seed);
                        let stream =
                            encode(&geometry, &plain, How { has_colour_transform, ..how(levels, None) });
                        let head = Head::read(&stream).unwrap();
                        head.check(geometry.area() * components, sample_bytes).unwrap();
                        let what = format!("{geometry:?} {seed} {levels} {has_colour_transform}");
                        let found = openjpeg::decode(&stream, components, geometry.area()).unwrap();
                        assert!(found == plain, "OpenJPEG: {what}");
                        assert!(decode(&head).unwrap().as_ref() == Some(&plain), "ours: {what}");
                    }
                }
            }
        }
    }
}

#[test]
fn a_step_bounds_the_error_and_decoders_agree() {
    for (columns, rows, components) in [(97, 130, 1), (64, 64, 3), (5, 7, 1)] {
        let geometry = geometry(columns, rows, components, 2, false);
        let plain = planes(&geometry, 3);
        for step in [0.5, 4.0, 100.0] {
            for has_colour_transform in [false, true] {
                let how = How { has_colour_transform, ..how(4, Some(step)) };
                let stream = encode(&geometry, &plain, how);
                let ours = decode(&Head::read(&stream).unwrap()).unwrap().unwrap();
                let theirs = openjpeg::decode(&stream, components, geometry.area()).unwrap();
                let squares = |one: &[Vec<i32>], other: &[Vec<i32>]| {
                    let pairs = one.iter().flatten().zip(other.iter().flatten());
                    let sum: f64 = pairs
                        .map(|(a, b)| f64::from(a.clamp(&0, &65535) - b.clamp(&0, &65535)).powi(2))
                        .sum();
                    (sum / (geometry.area() * components) as f64).sqrt()
                };
                let error = squares(&plain, &ours);
                assert!(error < step * 1.1 + 0.5, "{step}: {error}");
                // OpenJPEG rounds within its transform of real numbers.
                let apart = squares(&ours, &theirs);
                assert!(apart < 1.0, "{step}: {apart}");
            }
        }
    }
}

#[test]
fn streams_of_another_kind_are_left_to_others() {
    let geometry = geometry(40, 30, 3, 1, false);
    let stream = encode(&geometry, &planes(&geometry, 1), how(2, None));
    let coding = stream.windows(2).position(|marker| marker == [0xff, 0x52]).unwrap() + 4;
    // Marks of packets, orders by component and by position, layers, styles of code-blocks.
    for (field, value, is_ours) in
        [(1, 2, true), (0, 2, false), (1, 3, false), (1, 4, false), (3, 2, false), (8, 0x41, false)]
    {
        let mut other = stream.clone();
        other[coding + field] = value;
        assert_eq!(decode(&Head::read(&other).unwrap()).unwrap().is_some(), is_ours, "{field} {value}");
    }
}

#[test]
fn coefficients_beyond_all_samples_stay_at_the_end_of_the_range() {
    let geometry = geometry(4, 4, 1, 2, false);
    let stream = encode(&geometry, &planes(&geometry, 1), how(0, None));
    let head = Head::read(&stream).unwrap();
    let quantiser = Quantiser::of(&head, 16).unwrap();
    let most = vec![vec![i32::MAX; 16]];
    assert_eq!(finish(&head, &quantiser, most.clone(), false), most);
}
