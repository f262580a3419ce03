//! Every row: its loops against its body on one item at a time, for all levels and small lengths; and the values
//! that NumPy gives where a plausible loop would give others.

use super::table::Entry;
use super::{Kernel, cast, functions, kernel, names};
use crate::items::{Aligned, bytes_of, items, items_mut};
use crate::level::{Level, levels};
use crate::testing::Random;
use crate::types::Type;

const LONGEST: usize = 70;

/// What functions treat apart, in some type or other; casts make the bounds of the integers of it.
const SPECIAL: [f64; 32] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    2.0,
    -2.0,
    3.0,
    -3.0,
    0.5,
    -0.5,
    1.5,
    2.5,
    -2.5,
    7.0,
    8.0,
    -8.0,
    15.0,
    16.0,
    31.0,
    32.0,
    63.0,
    64.0,
    100.0,
    1e10,
    -1e-10,
    1e300,
    5e-324,
    f64::MAX,
    f64::MIN_POSITIVE,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
];

/// `count` items: special ones, small ones, and any bytes.
pub(super) fn samples(ty: Type, count: usize, random: &mut Random) -> Aligned {
    // Complex numbers are twice as many of their parts; a Bool may be any byte.
    let (part, parts) = match ty {
        Type::C64 => (Type::F32, 2 * count),
        Type::C128 => (Type::F64, 2 * count),
        Type::Bool => (Type::U8, count),
        _ => (ty, count),
    };
    let numbers: Vec<f64> = (0..parts)
        .map(|_| match random.below(4) {
            0 => f64::from(u8::try_from(random.below(40)).unwrap()) / 4.0 - 3.0,
            _ => SPECIAL[random.below(SPECIAL.len())],
        })
        .collect();
    let mut memory = Aligned::default();
    let bytes = memory.room(parts * part.bytes());
    (cast(Type::F64, part).run)(levels()[0], &[bytes_of(&numbers)], bytes);
    for item in bytes.chunks_mut(ty.bytes()) {
        if random.below(4) == 0 {
            item.copy_from_slice(&random.bytes(item.len()));
        }
    }
    memory
}

/// What the loop makes of the first `count` items of each input.
fn result(run: Kernel, level: Level, entry: &Entry, inputs: &[Aligned], count: usize) -> Vec<u8> {
    let typed = entry.inputs.iter().zip(inputs);
    let inputs: Vec<&[u8]> = typed.map(|(ty, input)| &input.all()[..count * ty.bytes()]).collect();
    let mut memory = Aligned::default();
    let bytes = count * run.output.bytes();
    let room = memory.room(bytes + 64);
    room.fill(0xA5);
    (run.run)(level, &inputs, &mut room[..bytes]);
    assert!(room[bytes..].iter().all(|byte| *byte == 0xA5), "a byte beside the items was written");
    room[..bytes].to_vec()
}

/// Whether these are the same items; all NaNs are.
pub(super) fn are_same(ty: Type, a: &[u8], b: &[u8]) -> bool {
    let (mut room_a, mut room_b) = (Aligned::default(), Aligned::default());
    let (a, b) = (copied(&mut room_a, a), copied(&mut room_b, b));
    match ty {
        Type::F32 | Type::C64 => {
            let mut pairs = items::<f32>(a).iter().zip(items::<f32>(b));
            pairs.all(|(a, b)| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan()))
        }
        Type::F64 | Type::C128 => {
            let mut pairs = items::<f64>(a).iter().zip(items::<f64>(b));
            pairs.all(|(a, b)| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan()))
        }
        _ => a == b,
    }
}

fn copied<'a>(memory: &'a mut Aligned, bytes: &[u8]) -> &'a [u8] {
    let room = memory.room(bytes.len());
    room.copy_from_slice(bytes);
    room
}

#[test]
fn all_levels_equal_the_body_item_by_item() {
    let mut random = Random::new(5);
    for function in functions() {
        for entry in function.entries() {
            let (name, run) = (function.name, entry.kernel);
            let inputs: Vec<Aligned> =
                entry.inputs.iter().map(|ty| samples(*ty, LONGEST, &mut random)).collect();
            let mut expected = Vec::new();
            for at in 0..LONGEST {
                let typed = entry.inputs.iter().zip(&inputs);
                let item: Vec<&[u8]> =
                    typed.map(|(ty, input)| &input.all()[at * ty.bytes()..][..ty.bytes()]).collect();
                let mut memory = Aligned::default();
                let out = memory.room(run.output.bytes());
                (run.run)(levels()[0], &item, out);
                expected.extend_from_slice(out);
            }
            if run.output == Type::Bool {
                assert!(expected.iter().all(|byte| *byte <= 1), "{name} {:?} writes no Bool", entry.inputs);
            }
            for &level in levels() {
                for count in 0..=LONGEST {
                    let out = result(run, level, entry, &inputs, count);
                    let same = are_same(run.output, &out, &expected[..count * run.output.bytes()]);
                    assert!(same, "{name} {:?}, {level:?}, {count} items", entry.inputs);
                }
            }
        }
    }
}

/// The types of a loop's inputs in NumPy's letters, and of its output: `=` is the input's, `r` a complex one's part.
const LOOPS: &[(&str, usize, &str, char)] = &[
    ("add multiply maximum minimum fmax fmin", 2, "?bhilBHILfdFD", '='),
    ("subtract", 2, "bhilBHILfdFD", '='),
    ("negative positive sign square reciprocal", 1, "bhilBHILfdFD", '='),
    ("absolute", 1, "?bhilBHILfdFD", 'r'),
    ("fabs spacing", 1, "fd", '='),
    ("divide", 2, "fdFD", '='),
    ("floor_divide remainder fmod", 2, "bhilBHILfd", '='),
    ("floor ceil trunc", 1, "?bhilBHILfd", '='),
    ("rint", 1, "fdFD", '='),
    ("equal not_equal less less_equal greater greater_equal", 2, "?bhilBHILfdFD", '?'),
    ("logical_and logical_or logical_xor", 2, "?bhilBHILfdFD", '?'),
    ("logical_not isnan isinf isfinite", 1, "?bhilBHILfdFD", '?'),
    ("bitwise_and bitwise_or bitwise_xor", 2, "?bhilBHIL", '='),
    ("invert", 1, "?bhilBHIL", '='),
    ("left_shift right_shift gcd lcm", 2, "bhilBHIL", '='),
    ("bitwise_count", 1, "bhilBHIL", 'B'),
    ("heaviside copysign nextafter", 2, "fd", '='),
    ("signbit", 1, "fd", '?'),
    ("conjugate", 1, "bhilBHILfdFD", '='),
    // Not ufuncs, but attributes.
    ("real imag", 1, "?bhilBHILfdFD", 'r'),
];

fn type_of(letter: char) -> Type {
    let place = "?bhilBHILfdFD".find(letter).expect("a letter of a type");
    Type::ALL[place]
}

#[test]
fn the_loops_are_those_of_numpy() {
    for &(group, inputs, letters, output) in LOOPS {
        for name in group.split(' ') {
            for letter in letters.chars() {
                let ty = type_of(letter);
                let found = kernel(name, &vec![ty; inputs]).map(|kernel| kernel.output);
                let expected = match (output, ty) {
                    ('r', Type::C64) => Type::F32,
                    ('r', Type::C128) => Type::F64,
                    ('r' | '=', _) => ty,
                    _ => type_of(output),
                };
                assert_eq!(found, Some(expected), "{name} of {ty:?}");
            }
            let mixed = if group.starts_with("equal") { 2 } else { 0 };
            let count =
                functions().filter(|function| function.name == name).flat_map(|f| f.entries()).count();
            assert_eq!(count, letters.len() + mixed, "the loops of {name}");
        }
    }
    for (a, b) in [(Type::I64, Type::U64), (Type::U64, Type::I64)] {
        assert_eq!(kernel("less", &[a, b]).map(|kernel| kernel.output), Some(Type::Bool));
    }
    for ty in Type::ALL {
        assert_eq!(kernel("where", &[Type::Bool, ty, ty]).map(|kernel| kernel.output), Some(ty));
    }
    for name in names() {
        assert_eq!(names().filter(|other| *other == name).count(), 1, "{name} is there twice");
    }
    assert!(kernel("add", &[Type::F32]).is_none() && kernel("no_such_function", &[Type::F32]).is_none());
}

/// The value of a loop for one item, as a list of its parts.
macro_rules! value {
    ($name:literal, $ty:ident $item:ty, $($input:expr),*) => {{
        let inputs = [$($input as $item),*];
        let types = vec![Type::$ty; inputs.len()];
        let run = kernel($name, &types).expect($name);
        let parts: Vec<&[u8]> = inputs.iter().map(|input| bytes_of(std::slice::from_ref(input))).collect();
        let mut memory = Aligned::default();
        let out = memory.room(run.output.bytes());
        (run.run)(levels()[levels().len() - 1], &parts, out);
        out.to_vec()
    }};
}

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;

#[test]
fn a_division_of_floats_is_numpys() {
    // Dividend, divisor; `floor_divide`, `remainder`, `fmod`.
    let expected = [
        (5.0, 3.0, 1.0, 2.0, 2.0),
        (-5.0, 3.0, -2.0, 1.0, -2.0),
        (5.0, -3.0, -2.0, -1.0, 2.0),
        (-5.0, -3.0, 1.0, -2.0, -2.0),
        (0.0, 3.0, 0.0, 0.0, 0.0),
        (-0.0, 3.0, -0.0, 0.0, -0.0),
        (-6.0, 3.0, -2.0, 0.0, -0.0),
        (6.0, -3.0, -2.0, -0.0, 0.0),
        (1.0, 0.0, INF, NAN, NAN),
        (-1.0, 0.0, -INF, NAN, NAN),
        (0.0, 0.0, NAN, NAN, NAN),
        (1.0, -0.0, -INF, NAN, NAN),
        (1.0, INF, 0.0, 1.0, 1.0),
        (-1.0, INF, -1.0, INF, -1.0),
        (1.0, -INF, -1.0, -INF, 1.0),
        (INF, 1.0, NAN, NAN, NAN),
        (1.0, NAN, NAN, NAN, NAN),
        (1.0, 0.1, 9.0, 0.099_999_999_999_999_95, 0.099_999_999_999_999_95),
        (5e-324, -1.0, -1.0, -1.0, 5e-324),
        (1e300, 3.0, 3.333_333_333_333_333_5e299, 0.0, 0.0),
    ];
    for (a, b, quotient, remainder, fmod) in expected {
        let out = value!("floor_divide", F64 f64, a, b);
        assert!(are_same(Type::F64, &out, bytes_of(&[quotient])), "{a} // {b}");
        let out = value!("remainder", F64 f64, a, b);
        assert!(are_same(Type::F64, &out, bytes_of(&[remainder])), "{a} % {b}");
        let out = value!("fmod", F64 f64, a, b);
        assert!(are_same(Type::F64, &out, bytes_of(&[fmod])), "fmod({a}, {b})");
    }
}

#[test]
fn complex_values_are_numpys() {
    let check = |name: &str, a: [f64; 2], b: Option<[f64; 2]>, expected: [f64; 2]| {
        let inputs: Vec<[f64; 2]> = [Some(a), b].into_iter().flatten().collect();
        let run = kernel(name, &vec![Type::C128; inputs.len()]).expect("a loop");
        let parts: Vec<&[u8]> = inputs.iter().map(|input| bytes_of(std::slice::from_ref(input))).collect();
        let mut memory = Aligned::default();
        let out = memory.room(16);
        (run.run)(levels()[levels().len() - 1], &parts, out);
        assert!(
            are_same(Type::C128, out, bytes_of(&[expected])),
            "{name} {inputs:?}: {:?}",
            items::<f64>(out)
        );
    };
    check("divide", [1.0, 2.0], Some([3.0, -4.0]), [-0.2, 0.4]);
    check("divide", [1.0, 2.0], Some([0.0, 0.0]), [INF, INF]);
    check("divide", [INF, 1.0], Some([0.0, 1.0]), [NAN, -INF]);
    check("divide", [1e308, 1e308], Some([1e308, 1e308]), [NAN, 0.0]);
    check("divide", [3.0, 0.0], Some([-0.0, -2.0]), [-0.0, 1.5]);
    check("sign", [3.0, 4.0], None, [0.6, 0.8]);
    check("sign", [INF, 1.0], None, [1.0, 0.0]);
    check("sign", [1.0, -INF], None, [0.0, -1.0]);
    check("sign", [-INF, NAN], None, [-1.0, 0.0]);
    check("sign", [INF, INF], None, [NAN, NAN]);
    check("reciprocal", [3.0, 4.0], None, [0.12, -0.16]);
    check("maximum", [1.0, NAN], Some([2.0, 0.0]), [1.0, NAN]);
    check("maximum", [1.0, 0.0], Some([2.0, NAN]), [2.0, NAN]);
    check("maximum", [1.0, 2.0], Some([1.0, 1.0]), [1.0, 2.0]);
    check("fmin", [1.0, NAN], Some([2.0, 0.0]), [2.0, 0.0]);
    assert_eq!(value!("absolute", C64 [f32; 2], [3e38, -4e37]), bytes_of(&[3.026_549_2e38_f32]));
    assert_eq!(value!("absolute", C128 [f64; 2], [3e-320, -4e-320]), bytes_of(&[5e-320]));
    assert_eq!(value!("absolute", C128 [f64; 2], [3e307, -4e307]), bytes_of(&[5e307]));
    assert_eq!(value!("absolute", C128 [f64; 2], [NAN, -INF]), bytes_of(&[INF]));
    assert_eq!(value!("less", C128 [f64; 2], [1.0, 5.0], [2.0, NAN]), [0]);
    assert_eq!(value!("less", C128 [f64; 2], [1.0, 5.0], [2.0, 0.0]), [1]);
}

#[test]
fn values_of_integers_are_numpys() {
    assert_eq!(value!("left_shift", I8 i8, 1, 7), [0x80]);
    assert_eq!(value!("left_shift", I8 i8, 1, 8), [0]);
    assert_eq!(value!("left_shift", U8 u8, 1, 200), [0]);
    assert_eq!(value!("right_shift", I8 i8, -3, 100), [0xFF]);
    assert_eq!(value!("right_shift", I8 i8, -128, -1), [0xFF]);
    assert_eq!(value!("right_shift", U8 u8, 255, 8), [0]);
    assert_eq!(value!("bitwise_count", I8 i8, -3), [2]);
    assert_eq!(value!("floor_divide", I8 i8, -128, -1), [0x80]);
    assert_eq!(value!("floor_divide", I32 i32, i32::MIN, -1), bytes_of(&[i32::MIN]));
    assert_eq!(value!("floor_divide", I32 i32, i32::MIN, 3), bytes_of(&[-715_827_883]));
    assert_eq!(value!("remainder", I64 i64, i64::MIN, -1), bytes_of(&[0_i64]));
    assert_eq!(value!("remainder", I8 i8, -7, 0), [0]);
    assert_eq!(value!("reciprocal", I32 i32, 0), bytes_of(&[i32::MIN]));
    assert_eq!(value!("power", I8 i8, 3, 5), [243]);
    assert_eq!(value!("gcd", I8 i8, -128, -128), [0x80]);
    assert_eq!(value!("lcm", I8 i8, 4, -6), [12]);
}

#[test]
fn signs_and_neighbours_of_floats_are_numpys() {
    assert_eq!(value!("maximum", F64 f64, 0.0, -0.0), bytes_of(&[-0.0]));
    assert_eq!(value!("sign", F64 f64, -0.0), bytes_of(&[0.0]));
    assert_eq!(value!("rint", F64 f64, 2.5), bytes_of(&[2.0]));
    assert_eq!(value!("spacing", F64 f64, -1.0), bytes_of(&[-f64::EPSILON]));
    assert_eq!(value!("spacing", F64 f64, -0.0), bytes_of(&[5e-324]));
    assert_eq!(value!("nextafter", F64 f64, 0.0, -0.0), bytes_of(&[-0.0]));
    assert!(items::<f64>(copied(&mut Aligned::default(), &value!("fmax", F64 f64, NAN, 1.0))) == [1.0]);
}

#[test]
fn a_power_of_two_rounds_once() {
    let run = kernel("ldexp", &[Type::F64, Type::I64]).expect("a loop").run;
    let third = 1.0 / 3.0;
    let cases = [
        (1.0, 2000, INF),
        (third, -1073, 5e-324),
        (third, -1074, 0.0),
        (5e-324, 2097, 8.98846567431158e307),
        (f64::MAX, -2097, 1e-323),
        (3e-310, -i64::MAX, 0.0),
    ];
    for (number, power, expected) in cases {
        let mut memory = Aligned::default();
        let out = memory.room(8);
        run(levels()[0], &[bytes_of(&[number]), bytes_of(&[power])], out);
        assert_eq!(items_mut::<f64>(out), [expected], "{number} * 2**{power}");
    }
}
