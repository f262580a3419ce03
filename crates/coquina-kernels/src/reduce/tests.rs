//! All folds of all types on all levels, against loops over single items.
#![expect(clippy::cast_possible_truncation, reason = "the numbers of the tests are small")]

use super::*;
use crate::items::Aligned;
use crate::testing::Random;
use crate::{best_level, levels};

/// An item as two numbers, which hold all that the tests use exactly.
type Pair = [f64; 2];

fn folds() -> impl Iterator<Item = Fold> {
    let each = |skips_nan| NAMES.iter().map(move |&(_, operation)| Fold { operation, skips_nan });
    each(false).chain(each(true))
}

/// The bytes of an item.
fn encode(ty: Type, [re, im]: Pair) -> Vec<u8> {
    let int = re as i64;
    let bytes: &[u8] = match ty {
        Type::Bool => &[u8::from(re != 0.0) * 3],
        Type::F32 => &(re as f32).to_le_bytes(),
        Type::F64 => &re.to_le_bytes(),
        Type::C64 => &[(re as f32).to_le_bytes(), (im as f32).to_le_bytes()].concat(),
        Type::C128 => &[re.to_le_bytes(), im.to_le_bytes()].concat(),
        _ => &int.to_le_bytes()[..ty.bytes()],
    };
    bytes.to_vec()
}

fn decode(ty: Type, bytes: &[u8]) -> Pair {
    let real = |bytes: &[u8]| match bytes.len() {
        4 => f64::from(f32::from_le_bytes(bytes.try_into().unwrap())),
        _ => f64::from_le_bytes(bytes.try_into().unwrap()),
    };
    let mut wide = [0; 8];
    wide[..bytes.len().min(8)].copy_from_slice(&bytes[..bytes.len().min(8)]);
    let shift = 64 - 8 * bytes.len().min(8);
    let (unsigned, signed) = (u64::from_le_bytes(wide), i64::from_le_bytes(wide) << shift >> shift);
    match ty {
        Type::F32 | Type::F64 => [real(bytes), 0.0],
        Type::C64 | Type::C128 => [real(&bytes[..bytes.len() / 2]), real(&bytes[bytes.len() / 2..])],
        Type::Bool | Type::U8 | Type::U16 | Type::U32 | Type::U64 => [unsigned as f64, 0.0],
        _ => [signed as f64, 0.0],
    }
}

fn is_float(ty: Type) -> bool {
    matches!(ty, Type::F32 | Type::F64 | Type::C64 | Type::C128)
}

fn is_complex(ty: Type) -> bool {
    matches!(ty, Type::C64 | Type::C128)
}

fn items_of(random: &mut Random, ty: Type, count: usize, specials: bool) -> Vec<Pair> {
    let signed = !matches!(ty, Type::Bool | Type::U8 | Type::U16 | Type::U32 | Type::U64);
    let mut part = |scale: f64| {
        let special = if specials && is_float(ty) { random.below(12) } else { 12 };
        match special {
            0 => f64::NAN,
            1 => f64::INFINITY,
            2 => f64::NEG_INFINITY,
            _ => (random.below(7) as f64 - if signed { 3.0 } else { 0.0 }) * scale,
        }
    };
    let scale = if is_float(ty) { 0.5 } else { 1.0 };
    let wide = |re: f64| if ty == Type::Bool { f64::from(u8::from(re > 2.0)) } else { re };
    (0..count).map(|_| [wide(part(scale)), if is_complex(ty) { part(scale) } else { 0.0 }]).collect()
}

fn is_nan(item: Pair) -> bool {
    item[0].is_nan() || item[1].is_nan()
}

fn less(a: Pair, b: Pair) -> bool {
    !is_nan(a) && !is_nan(b) && (a[0] < b[0] || a[0] == b[0] && a[1] < b[1])
}

/// The place of the first least item, and the item; `turn` is -1 for the greatest.
fn first_least(ty: Type, items: &[Pair], skips_nan: bool, turn: f64) -> (usize, Pair) {
    let worst = [f64::INFINITY * turn, if is_complex(ty) { f64::INFINITY * turn } else { 0.0 }];
    let turned = |[re, im]: Pair| [re * turn, im * turn];
    let mut best: Option<(usize, Pair)> = None;
    for (place, &item) in items.iter().enumerate() {
        let counted = if skips_nan && is_nan(item) { worst } else { item };
        let wins = best.is_none_or(|(_, best)| {
            !is_nan(best) && (is_nan(counted) || less(turned(counted), turned(best)))
        });
        if wins {
            best = Some((place, counted));
        }
    }
    best.expect("at least one item")
}

/// What a cell of these items is, column by column.
fn expected(fold: Fold, ty: Type, items: &[Pair]) -> Vec<Pair> {
    let skip = fold.skips_nan;
    let numbers: Vec<Pair> = items.iter().copied().filter(|item| !(skip && is_nan(*item))).collect();
    let sum = numbers.iter().fold([0.0; 2], |sum, item| [sum[0] + item[0], sum[1] + item[1]]);
    let count = numbers.len() as f64;
    let truth = |is_true: bool| vec![[f64::from(u8::from(is_true)), 0.0]];
    let is_true = |item: &Pair| item[0] != 0.0 || item[1] != 0.0;
    let place = |turn| {
        let (place, item) = first_least(ty, items, skip, turn);
        vec![[place as f64, 0.0], if skip && numbers.is_empty() { [f64::NAN; 2] } else { item }]
    };
    let extreme = |turn| match first_least(ty, items, skip, turn) {
        _ if numbers.is_empty() => vec![[f64::NAN; 2]],
        (_, item) => vec![item],
    };
    match fold.operation {
        Operation::Sum => vec![sum],
        Operation::Product if items.iter().all(|item| item[1] == 0.0) => {
            vec![[numbers.iter().map(|item| item[0]).product(), 0.0]]
        }
        Operation::Product => {
            vec![numbers.iter().fold([1.0, 0.0], |[a, b], [c, d]| [a * c - b * d, a * d + b * c])]
        }
        Operation::Min => extreme(1.0),
        Operation::Max => extreme(-1.0),
        Operation::ArgMin => place(1.0),
        Operation::ArgMax => place(-1.0),
        Operation::Any => truth(items.iter().any(is_true)),
        Operation::All => truth(items.iter().all(is_true)),
        Operation::Count => vec![[items.iter().filter(|item| is_true(item)).count() as f64, 0.0]],
        Operation::Mean => vec![sum, [count, 0.0]],
        Operation::Moments => {
            let mean = if numbers.is_empty() { [0.0; 2] } else { [sum[0] / count, sum[1] / count] };
            let square = |item: &Pair| (item[0] - mean[0]).powi(2) + (item[1] - mean[1]).powi(2);
            vec![mean, [count, 0.0], [numbers.iter().map(square).sum(), 0.0]]
        }
    }
}

fn is_close(found: Pair, expected: Pair) -> bool {
    if is_nan(found) || is_nan(expected) {
        // Which part of a complex NaN is one depends on the order.
        return is_nan(found) && is_nan(expected);
    }
    let close = |a: f64, b: f64| a == b || (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1.0);
    close(found[0], expected[0]) && close(found[1], expected[1])
}

struct Case {
    fold: Fold,
    ty: Type,
    part: Part,
    items: Vec<Pair>,
}

impl Case {
    fn kernel(&self) -> Kernel {
        Kernel::new(self.fold, self.ty)
    }

    fn cells(&self) -> usize {
        self.part.outer * self.part.inner
    }

    /// The items as bytes that are aligned.
    fn values(&self) -> Aligned {
        let bytes: Vec<u8> = self.items.iter().flat_map(|&item| encode(self.ty, item)).collect();
        let mut values = Aligned::new();
        values.room(bytes.len()).copy_from_slice(&bytes);
        values
    }

    /// The cells of the items, folded in so many steps along the first axis that is folded, and merged.
    fn run(&self, level: Level) -> Vec<u8> {
        let (kernel, len) = (self.kernel(), self.cells());
        let (bytes, mut memory, values) = (len * kernel.cell_bytes(), Aligned::new(), self.values());
        let mut cells = Cells::new(memory.room(bytes), len);
        kernel.clear(&mut cells);
        kernel.fold(level, &values.all()[..self.items.len() * self.ty.bytes()], self.part, &mut cells);
        memory.all()[..bytes].to_vec()
    }

    fn check(&self, cells: &[u8], what: &str) {
        let Part { reduced, inner, .. } = self.part;
        let mut columns = cells;
        let kernel = self.kernel();
        let wanted: Vec<Vec<Pair>> = (0..self.cells())
            .map(|cell| {
                let (outer, at) = (cell / inner, cell % inner);
                let place = |step| self.items[(outer * reduced + step) * inner + at];
                expected(self.fold, self.ty, &(0..reduced).map(place).collect::<Vec<_>>())
            })
            .collect();
        for (number, ty) in kernel.columns().iter().enumerate() {
            let (column, rest) = columns.split_at(self.cells() * ty.bytes());
            columns = rest;
            for (cell, found) in column.chunks(ty.bytes()).map(|bytes| decode(*ty, bytes)).enumerate() {
                let mut wanted = wanted[cell][number];
                if *ty == Type::Bool {
                    wanted[0] =
                        f64::from(u8::from(wanted[0] != 0.0)) * if found[0] > 1.0 { found[0] } else { 1.0 };
                }
                let (fold, part) = (self.fold, self.part);
                let is_finite = |pair: Pair| pair[0].is_finite() && pair[1].is_finite();
                let are_not_finite =
                    fold.operation == Operation::Moments && !is_finite(found) && !is_finite(wanted);
                assert!(
                    are_not_finite || is_close(found, wanted),
                    "{what}: {fold:?} of {:?}, {part:?}, column {number}, cell {cell}: {found:?}, not {wanted:?}",
                    self.ty
                );
            }
        }
    }
}

fn cases() -> impl Iterator<Item = Case> {
    let shapes = [1, 3].into_iter().flat_map(|outer| {
        [1, 2, 15, 17, 130]
            .into_iter()
            .flat_map(move |reduced| [1, 3, 33].into_iter().map(move |inner| (outer, reduced, inner)))
    });
    let shapes = shapes.chain([(1, 1025, 1), (2, 2500, 1)]);
    let mut random = Random::new(5);
    shapes.flat_map(move |(outer, reduced, inner)| {
        let mut all = Vec::new();
        for (ty, fold) in Type::ALL.into_iter().flat_map(|ty| folds().map(move |fold| (ty, fold))) {
            let specials = random.below(2) == 1 && !(fold.operation == Operation::Product && is_complex(ty));
            let mut items = items_of(&mut random, ty, outer * reduced * inner, specials);
            if fold.operation == Operation::Product {
                // Products that neither overflow nor vanish.
                items
                    .iter_mut()
                    .enumerate()
                    .filter(|(n, _)| n % 16 > 0)
                    .for_each(|(_, item)| *item = [1.0, 0.0]);
                items.iter_mut().skip(50).for_each(|item| *item = [1.0, 0.0]);
            }
            all.push(Case { fold, ty, part: Part { outer, reduced, inner, cell: 0, place: 0 }, items });
        }
        all
    })
}

#[test]
fn every_fold_is_that_of_single_items_with_the_same_bits_on_every_level() {
    for case in cases() {
        let first = case.run(levels()[0]);
        case.check(&first, "plainest level");
        for &level in &levels()[1..] {
            let found = case.run(level);
            let differ = |(a, b): (&u8, &u8)| a != b;
            if found.iter().zip(&first).any(differ) {
                // NaNs may differ in their bits.
                let has_nan = case
                    .items
                    .iter()
                    .any(|&item| is_nan(item) || item[0].is_infinite() || item[1].is_infinite());
                assert!(has_nan, "{level:?}: {:?} of {:?}, {:?}", case.fold, case.ty, case.part);
                case.check(&found, level.name());
            }
        }
    }
}

#[test]
fn parts_that_are_merged_are_the_whole() {
    for case in cases().filter(|case| case.part.outer == 1) {
        let (kernel, len, part) = (case.kernel(), case.cells(), case.part);
        let (values, bytes) = (case.values(), len * kernel.cell_bytes());
        let (mut whole, mut some) = (Aligned::new(), Aligned::new());
        let mut whole_cells = Cells::new(whole.room(bytes), len);
        kernel.clear(&mut whole_cells);
        // The second half first: places say what came before.
        let half = part.reduced / 2;
        for (first, reduced) in [(half, part.reduced - half), (0, half)] {
            let mut cells = Cells::new(some.room(bytes), len);
            kernel.clear(&mut cells);
            let item_bytes = part.inner * case.ty.bytes();
            let values = &values.all()[first * item_bytes..][..reduced * item_bytes];
            kernel.fold(best_level(), values, Part { reduced, place: first as i64, ..part }, &mut cells);
            kernel.merge(&mut cells, &mut whole_cells, Run { from: 0, to: 0, len });
        }
        case.check(&whole.all()[..bytes], "merged");
    }
}

#[test]
fn an_item_repeated_is_so_many_items() {
    let mut random = Random::new(6);
    for (ty, fold) in Type::ALL.into_iter().flat_map(|ty| folds().map(move |fold| (ty, fold))) {
        for count in [1, 2, 5] {
            let specials = !(fold.operation == Operation::Product && is_complex(ty));
            let item = items_of(&mut random, ty, 1, specials)[0];
            let part = Part { outer: 1, reduced: count, inner: 1, cell: 0, place: 0 };
            let case = Case { fold, ty, part, items: vec![item; count] };
            let (kernel, mut memory, values) = (case.kernel(), Aligned::new(), case.values());
            let bytes = kernel.cell_bytes();
            kernel.repeat(&values.all()[..ty.bytes()], count as u64, &mut Cells::new(memory.room(bytes), 1));
            case.check(&memory.all()[..bytes], "repeated");
        }
    }
}

#[test]
fn sums_of_integers_wrap_and_those_of_reals_are_added_up_by_pairs() {
    let max = Case {
        fold: Fold::by_name("sum").unwrap(),
        ty: Type::I64,
        part: Part { outer: 1, reduced: 2, inner: 1, cell: 0, place: 0 },
        items: vec![[2f64.powi(62), 0.0]; 2],
    };
    assert_eq!(max.run(best_level()), i64::MIN.to_le_bytes());
    let count = 1_000_000;
    let tenths = Case {
        ty: Type::F64,
        part: Part { reduced: count, ..max.part },
        items: vec![[0.1, 0.0]; count],
        ..max
    };
    let sum = f64::from_le_bytes(tenths.run(best_level()).try_into().unwrap());
    assert!((sum - 1e5).abs() < 1e-10 * 1e5 / 1e4, "{sum}");
}
