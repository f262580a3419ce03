//! Reductions of sources in memory against loops over single items, for all axes, any cut and any number of threads.
#![expect(clippy::cast_possible_truncation, reason = "the numbers of the tests are small")]

use coquina_kernels::Type;
use coquina_kernels::items::{Aligned, items};
use coquina_kernels::reduce::{Fold, Operation};

use super::{Reduced, reduce};
use crate::array::{Bounds, BoxSource, Walk};
use crate::base::error::{Error, Result};
use crate::base::pool::Job;

/// Numbers in memory, some chunks of which are known without reading.
struct Memory {
    shape: Vec<u64>,
    walk: Walk,
    ty: Type,
    values: Vec<f64>,
    knows: bool,
}

/// The bytes of a number.
fn encode(ty: Type, value: f64) -> Vec<u8> {
    match ty {
        Type::F32 => (value as f32).to_le_bytes().to_vec(),
        Type::F64 => value.to_le_bytes().to_vec(),
        Type::C64 => [(value as f32).to_le_bytes(), (-value as f32).to_le_bytes()].concat(),
        Type::C128 => [value.to_le_bytes(), (-value).to_le_bytes()].concat(),
        _ => (value as i64).to_le_bytes()[..ty.bytes()].to_vec(),
    }
}

impl Memory {
    /// The numbers of a box, in C order.
    fn numbers(&self, start: &[u64], shape: &[u64]) -> Vec<f64> {
        let count: u64 = shape.iter().product();
        let number = |mut left: u64| {
            let (mut at, mut stride) = (0, 1);
            for axis in (0..shape.len()).rev() {
                at += (start[axis] + left % shape[axis]) * stride;
                left /= shape[axis];
                stride *= self.shape[axis];
            }
            self.values[usize::try_from(at).unwrap()]
        };
        (0..count).map(number).collect()
    }
}

impl BoxSource for Memory {
    fn shape(&self) -> Vec<u64> {
        self.shape.clone()
    }

    fn item_bytes(&self) -> usize {
        self.ty.bytes()
    }

    fn walk(&self) -> Walk {
        self.walk.clone()
    }

    fn fill(&self, start: &[u64], shape: &[u64], out: &mut [u8]) -> Result<()> {
        let bytes: Vec<u8> =
            self.numbers(start, shape).into_iter().flat_map(|value| encode(self.ty, value)).collect();
        if bytes.len() != out.len() {
            return Err(Error::invalid("another size"));
        }
        out.copy_from_slice(&bytes);
        Ok(())
    }

    fn uniform(&self, start: &[u64], shape: &[u64]) -> Option<Vec<u8>> {
        let numbers = self.numbers(start, shape);
        let is_one = self.knows && numbers.iter().all(|value| value.to_bits() == numbers[0].to_bits());
        is_one.then(|| encode(self.ty, numbers[0]))
    }

    fn bounds(&self, start: &[u64], shape: &[u64]) -> Option<Bounds> {
        let numbers = self.numbers(start, shape);
        let (min, max) = (
            numbers.iter().copied().fold(f64::NAN, f64::min),
            numbers.iter().copied().fold(f64::NAN, f64::max),
        );
        let has_nan = numbers.iter().any(|value| value.is_nan());
        let bytes = |value| encode(self.ty, value);
        self.knows.then(|| Bounds { min: bytes(min), max: bytes(max), is_exact: true, has_nan })
    }
}

/// A small random generator.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

const NAMES: [&str; 18] = [
    "sum",
    "prod",
    "min",
    "max",
    "argmin",
    "argmax",
    "any",
    "all",
    "count_nonzero",
    "mean",
    "moments",
    "nansum",
    "nanprod",
    "nanmin",
    "nanmax",
    "nanargmin",
    "nanargmax",
    "nanmean",
];

fn memory(random: &mut Random, ty: Type, shape: &[u64], with_nan: bool) -> Memory {
    let len: u64 = shape.iter().product();
    let is_float = matches!(ty, Type::F32 | Type::F64);
    let mut value = |_| match random.below(8) {
        0 if is_float && with_nan => f64::NAN,
        n => (n % 3) as f64,
    };
    let mut values: Vec<f64> = (0..len).map(&mut value).collect();
    // Much of it is one value.
    let (first, last) = (random.below(len + 1), random.below(len + 1));
    values[usize::try_from(first.min(last)).unwrap()..usize::try_from(first.max(last)).unwrap()].fill(1.0);
    if ty == Type::Bool {
        values.iter_mut().for_each(|value| *value = value.min(1.0));
    }
    let mut cut = |lens: &[u64]| lens.iter().map(|&len| 1 + random.below(len + 1)).collect::<Vec<_>>();
    let chunks = cut(shape);
    let blocks = cut(&chunks);
    Memory { shape: shape.to_vec(), walk: Walk { chunks, blocks }, ty, values, knows: random.below(2) == 0 }
}

/// The numbers of each cell, in C order, by the plain rule.
fn groups(memory: &Memory, is_reduced: &[bool]) -> Vec<Vec<f64>> {
    let kept: u64 =
        memory.shape.iter().zip(is_reduced).filter(|(_, is)| !**is).map(|(&len, _)| len).product();
    let mut groups = vec![Vec::new(); usize::try_from(kept).unwrap()];
    for (number, &value) in memory.values.iter().enumerate() {
        let (mut cell, mut stride, mut left) = (0, 1, number as u64);
        for axis in (0..memory.shape.len()).rev() {
            let at = left % memory.shape[axis];
            left /= memory.shape[axis];
            if !is_reduced[axis] {
                cell += at * stride;
                stride *= memory.shape[axis];
            }
        }
        groups[usize::try_from(cell).unwrap()].push(value);
    }
    groups
}

fn place(values: &[f64], skips_nan: bool, turn: f64) -> i64 {
    let worst = if skips_nan { f64::INFINITY } else { f64::NEG_INFINITY };
    let ranked: Vec<f64> = values.iter().map(|v| if v.is_nan() { worst } else { v * turn }).collect();
    let least = ranked.iter().copied().fold(f64::INFINITY, f64::min);
    ranked.iter().position(|&v| v == least).unwrap() as i64
}

/// The first column of a cell of these numbers.
fn expected(fold: Fold, values: &[f64]) -> f64 {
    let numbers: Vec<f64> = values.iter().copied().filter(|v| !(fold.skips_nan && v.is_nan())).collect();
    let has_nan = numbers.iter().any(|v| v.is_nan()) || numbers.is_empty();
    let truth = |is: bool| f64::from(u8::from(is));
    let extreme = |least: f64| if has_nan { f64::NAN } else { least };
    match fold.operation {
        Operation::Sum | Operation::Mean => numbers.iter().sum(),
        Operation::Product => numbers.iter().product(),
        Operation::Min => extreme(numbers.iter().copied().fold(f64::NAN, f64::min)),
        Operation::Max => extreme(numbers.iter().copied().fold(f64::NAN, f64::max)),
        Operation::ArgMin => place(values, fold.skips_nan, 1.0) as f64,
        Operation::ArgMax => place(values, fold.skips_nan, -1.0) as f64,
        Operation::Any => truth(values.iter().any(|v| *v != 0.0)),
        Operation::All => truth(values.iter().all(|v| *v != 0.0)),
        Operation::Count => values.iter().filter(|v| **v != 0.0).count() as f64,
        Operation::Moments => numbers.iter().sum::<f64>() / numbers.len() as f64,
    }
}

/// The first column as numbers; of complex ones the real part.
fn first_column(reduced: &Reduced, cells: usize) -> Vec<f64> {
    let ty = reduced.columns[0];
    let bytes = &reduced.bytes()[..cells * ty.bytes()];
    let mut memory = Aligned::new();
    memory.room(bytes.len()).copy_from_slice(bytes);
    let bytes = &memory.all()[..bytes.len()];
    let small = |byte: &u8| if ty == Type::I8 { f64::from(byte.cast_signed()) } else { f64::from(*byte) };
    match ty {
        Type::F64 => items::<f64>(bytes).to_vec(),
        Type::F32 => items::<f32>(bytes).iter().map(|&v| f64::from(v)).collect(),
        Type::C128 => items::<[f64; 2]>(bytes).iter().map(|v| v[0]).collect(),
        Type::C64 => items::<[f32; 2]>(bytes).iter().map(|v| f64::from(v[0])).collect(),
        Type::I64 => items::<i64>(bytes).iter().map(|&v| v as f64).collect(),
        Type::U64 => items::<u64>(bytes).iter().map(|&v| v as f64).collect(),
        Type::I32 => items::<i32>(bytes).iter().map(|&v| f64::from(v)).collect(),
        Type::U32 => items::<u32>(bytes).iter().map(|&v| f64::from(v)).collect(),
        Type::I16 => items::<i16>(bytes).iter().map(|&v| f64::from(v)).collect(),
        Type::U16 => items::<u16>(bytes).iter().map(|&v| f64::from(v)).collect(),
        Type::Bool | Type::I8 | Type::U8 => bytes.iter().map(small).collect(),
    }
}

fn is_close(found: f64, wanted: f64) -> bool {
    found == wanted || found.is_nan() && wanted.is_nan() || (found - wanted).abs() <= 1e-12 * wanted.abs()
}

fn check(memory: &Memory, fold: Fold, is_reduced: &[bool]) {
    let groups = groups(memory, is_reduced);
    let job = |threads| Job::default().threads(Some(threads));
    let one = reduce(memory, memory.ty, fold, is_reduced, &job(1)).unwrap();
    let what =
        || format!("{fold:?} of {:?}, {:?} {:?}, {is_reduced:?}", memory.ty, memory.shape, memory.walk);
    for (found, values) in first_column(&one, groups.len()).into_iter().zip(&groups) {
        let wanted = expected(fold, values);
        let is_complex_product =
            matches!(memory.ty, Type::C64 | Type::C128) && fold.operation == Operation::Product;
        assert!(is_complex_product || is_close(found, wanted), "{}: {found}, not {wanted}", what());
    }
    for threads in [2, 7] {
        let more = reduce(memory, memory.ty, fold, is_reduced, &job(threads)).unwrap();
        assert!(more.bytes() == one.bytes(), "{threads} threads: {}", what());
        assert_eq!((more.chunks, more.shortcut), (one.chunks, one.shortcut));
    }
}

#[test]
fn every_fold_of_every_type_along_all_axes_is_that_of_single_items() {
    let mut random = Random(1);
    for shape in [&[13_u64][..], &[7, 11], &[5, 6, 9], &[3, 1, 4, 5], &[]] {
        for name in NAMES {
            let fold = Fold::by_name(name).unwrap();
            for axes in 0..1_u32 << shape.len() {
                let is_reduced: Vec<bool> = (0..shape.len()).map(|axis| axes >> axis & 1 == 1).collect();
                for ty in Type::ALL {
                    let memory = memory(&mut random, ty, shape, axes % 3 == 0);
                    check(&memory, fold, &is_reduced);
                }
            }
        }
    }
}

#[test]
fn large_chunks_are_cut_and_the_cut_shows_in_no_bit() {
    let mut random = Random(2);
    for (name, is_reduced) in [
        ("sum", [true, true, true]),
        ("sum", [true, false, true]),
        ("moments", [false, true, false]),
        ("argmax", [true, true, true]),
        ("nanargmin", [false, true, true]),
    ] {
        let mut memory = memory(&mut random, Type::F64, &[60, 70, 80], true);
        memory.values.iter_mut().enumerate().for_each(|(n, value)| *value += (n * 7 % 11) as f64);
        memory.walk = Walk { chunks: vec![60, 70, 40], blocks: vec![16, 8, 40] };
        check(&memory, Fold::by_name(name).unwrap(), &is_reduced);
    }
}

#[test]
fn chunks_of_one_value_and_known_bounds_are_not_read() {
    let shape = vec![40, 50];
    let walk = Walk { chunks: vec![10, 10], blocks: vec![5, 5] };
    let mut memory = Memory { shape, walk, ty: Type::F64, values: vec![2.5; 2000], knows: true };
    let run = |memory: &Memory, name: &str, axes: &[bool]| {
        let reduced = reduce(memory, Type::F64, Fold::by_name(name).unwrap(), axes, &Job::default()).unwrap();
        (first_column(&reduced, 1)[0], reduced.shortcut)
    };
    assert_eq!(run(&memory, "sum", &[true, true]), (5000.0, 20));
    assert_eq!(run(&memory, "sum", &[true, false]), (100.0, 20));
    memory.values[1234] = 7.0;
    assert_eq!(run(&memory, "sum", &[true, true]), (5004.5, 19));
    assert_eq!(run(&memory, "max", &[true, true]), (7.0, 20));
    assert_eq!(run(&memory, "max", &[true, false]), (2.5, 19));
    assert_eq!(run(&memory, "argmax", &[true, true]), (1234.0, 19));
    memory.values[77] = f64::NAN;
    assert_eq!(run(&memory, "nanmin", &[true, true]), (2.5, 20));
    assert!(run(&memory, "min", &[true, true]).0.is_nan());
}

#[test]
fn no_items_give_what_no_items_give() {
    let walk = Walk { chunks: vec![0, 3], blocks: vec![0, 3] };
    let memory = Memory { shape: vec![0, 3], walk, ty: Type::I32, values: Vec::new(), knows: false };
    let run = |name: &str, axes: &[bool]| {
        reduce(&memory, Type::I32, Fold::by_name(name).unwrap(), axes, &Job::default()).unwrap()
    };
    assert_eq!(first_column(&run("prod", &[true, false]), 3), [1.0; 3]);
    assert_eq!(run("sum", &[false, false]).bytes(), []);
    assert_eq!(first_column(&run("argmin", &[true, true]), 1), [-1.0]);
}

#[test]
fn what_does_not_fit_is_refused() {
    let walk = Walk { chunks: vec![3], blocks: vec![3] };
    let memory = Memory { shape: vec![3], walk, ty: Type::F64, values: vec![1.0; 3], knows: false };
    let sum = Fold::by_name("sum").unwrap();
    let error = |ty, axes: &[bool]| {
        reduce(&memory, ty, sum, axes, &Job::default()).map(|_| ()).unwrap_err().to_string()
    };
    assert_eq!(error(Type::F64, &[]), "0 marks for an array of 1 axes");
    assert_eq!(error(Type::F32, &[true]), "items of 8 bytes are not float32");
}
