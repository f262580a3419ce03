//! The functions against the C library's, against values of hundreds of bits, at their borders and across levels.

mod references;

use super::{NAMES, kernel};
use crate::items::{Aligned, Number, bytes_of, items};
use crate::level::{Level, best_level, levels};
use crate::testing::Random;
use crate::types::Type;
use references::REFERENCES;

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;
const TINY: f64 = 5e-324;

/// Whether a function takes two numbers.
fn is_binary(name: &str) -> bool {
    ["power", "arctan2", "hypot", "logaddexp", "logaddexp2"].contains(&name)
}

/// The results of a function for these arguments; the second ones are ignored where it takes one.
fn apply<T: Number + Default>(level: Level, name: &str, ty: Type, x: &[T], y: &[T]) -> Vec<T> {
    let mut out = vec![T::default(); x.len()];
    let inputs = [bytes_of(x), bytes_of(y)];
    let count = if is_binary(name) { 2 } else { 1 };
    let found = kernel(name, &[ty; 2][..count]).unwrap();
    assert_eq!(found.output, ty);
    let bytes = size_of_val(&out[..]);
    let mut memory = Aligned::default();
    (found.run)(level, &inputs[..count], memory.room(bytes));
    out.copy_from_slice(items(&memory.all()[..bytes]));
    out
}

fn apply_one(name: &str, x: f64, y: f64) -> f64 {
    apply(best_level(), name, Type::F64, &[x], &[y])[0]
}

/// How many doubles are between two, none of which is a NaN.
fn distance(a: f64, b: f64) -> u64 {
    let place = |x: f64| {
        let size = (x.to_bits() << 1 >> 1).cast_signed();
        if x.is_sign_negative() { -size } else { size }
    };
    place(a).abs_diff(place(b))
}

/// Doubles of all sizes, near 1, and between -8 and 8.
fn arguments(seed: u64, count: usize) -> Vec<f64> {
    let bytes = Random::new(seed).bytes(8 * count);
    let (words, _) = bytes.as_chunks::<8>();
    let numbers = words.iter().enumerate().map(|(place, word)| {
        let bits = u64::from_le_bytes(*word);
        let part = f64::from_bits(bits >> 12 | 1_f64.to_bits()) - 1.5;
        match place % 4 {
            0 => f64::from_bits(bits),
            1 => 1.0 + part * f64::from_bits((1023 - (bits & 63)) << 52),
            2 => part * 16.0,
            _ => part * 400.0,
        }
    });
    numbers.filter(|x| !x.is_nan()).collect()
}

/// The value of the C library's function, and how many units both may be apart. Not for those that std makes of other
/// functions itself: they are less exact.
fn judge(name: &str, x: f64, y: f64) -> Option<(f64, u64)> {
    let at_most = |units, value| Some((value, units));
    match name {
        "arccos" => at_most(2, x.acos()),
        "arcsin" => at_most(2, x.asin()),
        "arctan" => at_most(2, x.atan()),
        "arctan2" => at_most(2, x.atan2(y)),
        "cbrt" => at_most(2, x.cbrt()),
        "cos" => at_most(2, x.cos()),
        "cosh" => at_most(2, x.cosh()),
        "deg2rad" | "radians" => at_most(0, x.to_radians()),
        "rad2deg" | "degrees" => at_most(1, x.to_degrees()),
        "exp" => at_most(2, x.exp()),
        "exp2" => at_most(2, x.exp2()),
        "expm1" => at_most(2, x.exp_m1()),
        "hypot" => at_most(2, x.hypot(y)),
        "log" => at_most(2, x.ln()),
        "log10" => at_most(2, x.log10()),
        "log1p" => at_most(2, x.ln_1p()),
        "log2" => at_most(2, x.log2()),
        "logaddexp" if x != y => at_most(3, x.max(y) + (-(x - y).abs()).exp().ln_1p()),
        "power" => at_most(2, x.powf(y)),
        "sin" => at_most(2, x.sin()),
        "sinh" => at_most(2, x.sinh()),
        "tan" => at_most(2, x.tan()),
        "tanh" => at_most(2, x.tanh()),
        _ => None,
    }
}

#[test]
fn functions_are_near_those_of_the_c_library() {
    for &name in NAMES {
        let x = arguments(1, 20_000);
        let mut y = arguments(2, 20_000);
        y.resize(x.len(), 0.75);
        for ((x, y), value) in x.iter().zip(&y).zip(apply(best_level(), name, Type::F64, &x, &y)) {
            let Some((expected, most)) = judge(name, *x, *y) else { continue };
            if expected.is_nan() || value.is_nan() {
                assert!(
                    expected.is_nan() && value.is_nan(),
                    "{name}({x:e}, {y:e}) = {value:e}, not {expected:e}"
                );
                continue;
            }
            // A sum of logarithms near 0 has the errors of its parts.
            let part = if name == "logaddexp" { x.abs().max(y.abs()) } else { 0.0 };
            let is_near = (value - expected).abs() <= part * f64::EPSILON;
            let off = distance(value, expected);
            assert!(
                off <= most || is_near,
                "{name}({x:e}, {y:e}) = {value:e}, not {expected:e}: {off} units"
            );
        }
    }
}

#[test]
fn functions_are_within_one_unit_of_the_true_values() {
    for &(name, x, y, expected) in REFERENCES {
        let (x, y, expected) = (f64::from_bits(x), f64::from_bits(y), f64::from_bits(expected));
        let value = apply_one(name, x, y);
        assert!(distance(value, expected) <= 1, "{name}({x:e}, {y:e}) = {value:e}, not {expected:e}");
    }
}

#[test]
fn singles_are_the_nearest_to_the_doubles_of_nearly_all() {
    for &name in NAMES {
        #[expect(clippy::cast_possible_truncation, reason = "any singles are welcome")]
        let singles = |seed| arguments(seed, 4_000).into_iter().map(|x| x as f32).collect::<Vec<f32>>();
        let (x, mut y) = (singles(3), singles(4));
        y.resize(x.len(), 2.0);
        let (wide_x, wide_y): (Vec<f64>, Vec<f64>) =
            x.iter().zip(&y).map(|(x, y)| (f64::from(*x), f64::from(*y))).unzip();
        let values = apply(best_level(), name, Type::F32, &x, &y);
        let expected = apply(best_level(), name, Type::F64, &wide_x, &wide_y);
        let mut others = 0;
        for (place, (value, expected)) in values.iter().zip(expected).enumerate() {
            #[expect(clippy::cast_possible_truncation, reason = "rounds to the nearest")]
            let nearest = expected as f32;
            let is_next = value.next_up() == nearest || value.next_down() == nearest;
            let is_same = *value == nearest || (value.is_nan() && nearest.is_nan());
            others += usize::from(!is_same);
            assert!(is_same || is_next, "{name}({}, {}) = {value}, not {nearest}", x[place], y[place]);
        }
        // The factors of degrees are rounded to singles, too.
        let most = if name.contains("deg") || name == "radians" { values.len() } else { 2 };
        assert!(others <= most, "{name}: {others} are not the nearest");
    }
}

#[test]
fn all_levels_and_lengths_have_the_same_bits() {
    let borders = [0.0, -0.0, INF, -INF, NAN, TINY, -TINY, 1.0, -1.0, f64::MAX, f64::MIN_POSITIVE, 3e5, 1e22];
    for &name in NAMES {
        for ty in [Type::F64, Type::F32] {
            let mut x: Vec<f64> = borders.iter().flat_map(|x| vec![*x; borders.len()]).collect();
            let mut y = borders.repeat(borders.len());
            x.extend(arguments(5, 2_000));
            y.extend(arguments(6, 2_000));
            let len = x.len().min(y.len());
            for first in [0, 1, 2, 3, len - 130] {
                let lens = if first == 0 { vec![0, 1, 3, 63, 64, 65, len] } else { vec![7, 17, 100] };
                for len in lens {
                    let (x, y) = (&x[first..first + len], &y[first..first + len]);
                    same_bits(name, ty, x, y);
                }
            }
        }
    }
}

#[test]
fn fill_values_between_others_give_what_they_give_alone() {
    let small = arguments(7, 4_000);
    for fills in [&[-1e34][..], &[-1e34, 1e20], &[INF, -1e34], &[3e5, 4e5, NAN]] {
        let fill = |place: usize| (place / 100).is_multiple_of(2).then(|| fills[place / 700 % fills.len()]);
        let mixed = |(place, x): (usize, &f64)| fill(place).unwrap_or(x % 1e5);
        let x: Vec<f64> = small.iter().enumerate().map(mixed).collect();
        for name in ["sin", "cos", "tan"] {
            same_bits(name, Type::F64, &x, &x);
            same_bits(name, Type::F32, &x, &x);
        }
    }
}

/// Compares every level with item after item, by bits.
fn same_bits(name: &str, ty: Type, x: &[f64], y: &[f64]) {
    if ty == Type::F64 {
        let one_by_one: Vec<u64> = x.iter().zip(y).map(|(x, y)| apply_one(name, *x, *y).to_bits()).collect();
        for &level in levels() {
            let out = apply(level, name, ty, x, y);
            assert!(
                out.iter().map(|value| value.to_bits()).eq(one_by_one.iter().copied()),
                "{name}, {level:?}"
            );
        }
    } else {
        #[expect(clippy::cast_possible_truncation, reason = "any singles are welcome")]
        let single = |x: &[f64]| x.iter().map(|x| *x as f32).collect::<Vec<f32>>();
        let (x, y) = (single(x), single(y));
        let first = apply(levels()[0], name, ty, &x, &y);
        for &level in levels() {
            let out = apply(level, name, ty, &x, &y);
            assert!(bytes_of(&out) == bytes_of(&first), "{name}, {level:?}, {} singles", x.len());
        }
    }
}

#[test]
fn borders_of_one_argument_are_those_of_c() {
    let rows: &[(&str, &[(f64, f64)])] = &[
        (
            "exp",
            &[
                (INF, INF),
                (-INF, 0.0),
                (-0.0, 1.0),
                (709.79, INF),
                (-745.2, 0.0),
                (-745.1, TINY),
                (TINY, 1.0),
            ],
        ),
        ("exp2", &[(INF, INF), (-INF, 0.0), (3.0, 8.0), (1024.0, INF), (-1074.0, TINY), (-1075.0, 0.0)]),
        (
            "expm1",
            &[(INF, INF), (-INF, -1.0), (-0.0, -0.0), (0.0, 0.0), (TINY, TINY), (-1e4, -1.0), (1e4, INF)],
        ),
        ("log", &[(INF, INF), (0.0, -INF), (-0.0, -INF), (1.0, 0.0), (-TINY, NAN), (-INF, NAN)]),
        (
            "log2",
            &[(INF, INF), (0.0, -INF), (1.0, 0.0), (-1.0, NAN), (TINY, -1074.0), (8.0, 3.0), (0.125, -3.0)],
        ),
        ("log10", &[(INF, INF), (-0.0, -INF), (1.0, 0.0), (-1.0, NAN), (1000.0, 3.0), (1e22, 22.0)]),
        (
            "log1p",
            &[(INF, INF), (-1.0, -INF), (-0.0, -0.0), (0.0, 0.0), (-1.5, NAN), (-INF, NAN), (TINY, TINY)],
        ),
        ("sin", &[(INF, NAN), (-INF, NAN), (-0.0, -0.0), (0.0, 0.0), (TINY, TINY), (-TINY, -TINY)]),
        ("cos", &[(INF, NAN), (-INF, NAN), (-0.0, 1.0), (0.0, 1.0), (TINY, 1.0)]),
        ("tan", &[(INF, NAN), (-INF, NAN), (-0.0, -0.0), (0.0, 0.0), (TINY, TINY)]),
        (
            "arcsin",
            &[(1.5, NAN), (-INF, NAN), (-0.0, -0.0), (TINY, TINY), (1.0, std::f64::consts::FRAC_PI_2)],
        ),
        ("arccos", &[(1.5, NAN), (INF, NAN), (1.0, 0.0), (-1.0, std::f64::consts::PI)]),
        (
            "arctan",
            &[
                (-0.0, -0.0),
                (TINY, TINY),
                (-INF, -std::f64::consts::FRAC_PI_2),
                (1.0, 0.25 * std::f64::consts::PI),
            ],
        ),
        ("sinh", &[(INF, INF), (-INF, -INF), (-0.0, -0.0), (TINY, TINY), (711.0, INF), (-711.0, -INF)]),
        ("cosh", &[(INF, INF), (-INF, INF), (-0.0, 1.0), (TINY, 1.0), (-711.0, INF)]),
        ("tanh", &[(INF, 1.0), (-INF, -1.0), (-0.0, -0.0), (TINY, TINY), (-30.0, -1.0)]),
        ("arcsinh", &[(INF, INF), (-INF, -INF), (-0.0, -0.0), (TINY, TINY)]),
        ("arccosh", &[(INF, INF), (1.0, 0.0), (0.5, NAN), (-INF, NAN)]),
        ("arctanh", &[(1.0, INF), (-1.0, -INF), (-0.0, -0.0), (TINY, TINY), (1.5, NAN), (-INF, NAN)]),
        ("cbrt", &[(INF, INF), (-INF, -INF), (-0.0, -0.0), (0.0, 0.0), (-27.0, -3.0), (1e-300, 1e-100)]),
    ];
    for &(name, points) in rows {
        for &(x, expected) in points.iter().chain(&[(NAN, NAN)]) {
            check(name, x, 0.0, expected);
        }
    }
}

fn check(name: &str, x: f64, y: f64, expected: f64) {
    let value = apply_one(name, x, y);
    let is_same = value.to_bits() == expected.to_bits() || (value.is_nan() && expected.is_nan());
    assert!(is_same, "{name}({x:e}, {y:e}) = {value:e}, not {expected:e}");
}

#[test]
fn borders_of_two_arguments_are_those_of_c() {
    use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, LN_2, PI};
    let mut infinities = vec![0.5, 1.0, 3.0, INF, TINY, 0.0];
    infinities.extend(infinities.clone().iter().map(|x| -x));
    for x in infinities {
        check("power", x, 0.0, 1.0);
        check("power", x, -0.0, 1.0);
        check("power", x, INF, x.abs().powf(INF));
        check("power", x, -INF, x.abs().powf(-INF));
        for y in [3.0, -3.0, 2.0, -2.0, 0.5, -0.5, 9_007_199_254_740_991.0, 1e300, TINY] {
            if x.abs() != 0.5 && x.abs() != 3.0 && x.abs() != TINY {
                check("power", x, y, x.powf(y));
            }
        }
        check("hypot", x, INF, INF);
        check("hypot", INF, x, INF);
        check("logaddexp", x, INF, INF);
    }
    let rows = [
        ("power", NAN, 0.0, 1.0),
        ("power", 1.0, NAN, 1.0),
        ("power", NAN, 1.0, NAN),
        ("power", 2.0, NAN, NAN),
        ("power", -8.0, 1.0 / 3.0, NAN),
        ("power", -2.0, 3.0, -8.0),
        ("power", 7.0, 2.0, 49.0),
        ("hypot", NAN, -INF, INF),
        ("hypot", NAN, 1.0, NAN),
        ("hypot", 3.0, -4.0, 5.0),
        ("hypot", -0.0, -0.0, 0.0),
        ("logaddexp", -INF, -INF, -INF),
        ("logaddexp", -INF, 3.0, 3.0),
        ("logaddexp", 0.0, 0.0, LN_2),
        ("logaddexp", NAN, INF, NAN),
        ("logaddexp2", 5.0, 5.0, 6.0),
        ("logaddexp2", -INF, INF, INF),
        ("arctan2", 0.0, -0.0, PI),
        ("arctan2", -0.0, -0.0, -PI),
        ("arctan2", -0.0, 0.0, -0.0),
        ("arctan2", 0.0, 0.0, 0.0),
        ("arctan2", 1.0, 0.0, FRAC_PI_2),
        ("arctan2", -0.0, -1.0, -PI),
        ("arctan2", 0.0, INF, 0.0),
        ("arctan2", 1.0, -INF, PI),
        ("arctan2", -1.0, INF, -0.0),
        ("arctan2", -INF, 1.0, -FRAC_PI_2),
        ("arctan2", INF, INF, FRAC_PI_4),
        ("arctan2", -INF, -INF, -3.0 * FRAC_PI_4),
        ("arctan2", NAN, 1.0, NAN),
        ("arctan2", 1.0, NAN, NAN),
    ];
    for (name, x, y, expected) in rows {
        check(name, x, y, expected);
    }
}

#[test]
fn other_types_and_counts_have_no_loop() {
    for &name in NAMES {
        let count = if is_binary(name) { 2 } else { 1 };
        for ty in Type::ALL {
            let is_float = matches!(ty, Type::F32 | Type::F64);
            assert_eq!(kernel(name, &[ty; 3][..count]).is_some(), is_float, "{name}, {ty:?}");
            assert!(kernel(name, &[ty; 3][..3 - count]).is_none(), "{name}, {ty:?}");
        }
    }
    assert!(kernel("power", &[Type::F64, Type::F32]).is_none());
    assert!(kernel("sqrt", &[Type::F64]).is_none());
}
