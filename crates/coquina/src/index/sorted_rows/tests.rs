//! Orders are judged by ranks: each kind of column has a table of values that ascend, and rows are drawn from it.

use std::sync::Arc;

use coquina_kernels::Type;
use coquina_kernels::items::{Number, bytes_of};
use proptest::prelude::*;

use super::*;
use crate::base::error::ErrorKind;
use crate::query::testing::Memory;
use crate::query::{Categories, ColumnValues, TimeType, TimeUnit};

/// Kinds of columns.
const KINDS: usize = 23;
/// How many ranks rows are drawn from; the one behind them has no value.
const RANKS: usize = 5;

/// A column with these values, and whether one of no rank is told by a mask.
struct Drawn {
    column: QueryColumn,
    has_mask: bool,
}

fn memory<T: Number>(ranks: &[usize], values: [T; RANKS], missing: T, ty: Option<Type>) -> Arc<Memory> {
    let items: Vec<T> = ranks.iter().map(|&rank| values.get(rank).copied().unwrap_or(missing)).collect();
    Memory::of(&items, 7, ty)
}

fn numbers<T: Number>(ranks: &[usize], values: [T; RANKS], ty: Type) -> ColumnValues {
    ColumnValues::Numbers { ty, source: memory(ranks, values, values[1], Some(ty)) }
}

fn fixed(ranks: &[usize], texts: [&[u8]; RANKS], width: usize) -> Arc<Memory> {
    let item = |rank: usize| {
        let mut item = texts.get(rank).copied().unwrap_or(b"xyz").to_vec();
        item.resize(width, 0);
        item
    };
    Memory::new(&ranks.iter().flat_map(|&rank| item(rank)).collect::<Vec<_>>(), width, 7, None)
}

fn points(ranks: &[usize], texts: [&str; RANKS], width: usize) -> Arc<Memory> {
    let item = |rank: usize| {
        let mut item: Vec<u32> = texts.get(rank).unwrap_or(&"x").chars().map(u32::from).collect();
        item.resize(width, 0);
        item
    };
    let all: Vec<u32> = ranks.iter().flat_map(|&rank| item(rank)).collect();
    Memory::new(bytes_of(&all), 4 * width, 7, None)
}

fn texts(ranks: &[usize], texts: [&str; RANKS]) -> ColumnValues {
    let (mut offsets, mut bytes) = (vec![0_i64], Vec::new());
    for &rank in ranks {
        bytes.extend_from_slice(texts.get(rank).unwrap_or(&"nothing").as_bytes());
        offsets.push(i64::try_from(bytes.len()).unwrap());
    }
    ColumnValues::Texts { offsets: Memory::of(&offsets, 7, None), bytes: Memory::new(&bytes, 1, 11, None) }
}

fn categories(ranks: &[usize], categories: Categories, codes: [i8; RANKS], is_ordered: bool) -> ColumnValues {
    let codes = memory(ranks, codes, -1, Some(Type::I8));
    ColumnValues::Categories { ty: Type::I8, codes, categories: Arc::new(categories), is_ordered }
}

/// The values of the first kinds.
fn integers(kind: usize, ranks: &[usize]) -> ColumnValues {
    match kind {
        0 => numbers(ranks, [0_u8, 1, 1, 1, 1], Type::Bool),
        1 => numbers(ranks, [i8::MIN, -1, 0, 5, i8::MAX], Type::I8),
        2 => numbers(ranks, [i16::MIN, -1, 0, 5, i16::MAX], Type::I16),
        3 => numbers(ranks, [i32::MIN, -1, 0, 5, i32::MAX], Type::I32),
        4 => numbers(ranks, [i64::MIN, -1, 0, 5, i64::MAX], Type::I64),
        5 => numbers(ranks, [0_u16, 1, 2, 5, u16::MAX], Type::U16),
        _ => numbers(ranks, [0_u64, 1, 2, 5, u64::MAX], Type::U64),
    }
}

/// A column of a kind. Kinds that have values which are none need no mask.
fn drawn(kind: usize, ranks: &[usize]) -> Drawn {
    let long = "the same beginning of several words ";
    let [b, c, d] = ["b", "c\0", "c\0\0d"].map(|end| format!("{long}{end}"));
    let seconds = TimeType::instant(TimeUnit::Second);
    let nan = f64::NAN;
    let (values, has_mask) = match kind {
        0..=6 => (integers(kind, ranks), true),
        7 => {
            let values = [f32::NEG_INFINITY, -1.5, 0.0, 1e-40, f32::INFINITY];
            let source = memory(ranks, values, -f32::NAN, Some(Type::F32));
            (ColumnValues::Numbers { ty: Type::F32, source }, false)
        }
        8 => {
            let source =
                memory(ranks, [f64::NEG_INFINITY, -1.5, 0.0, 1.0, f64::INFINITY], nan, Some(Type::F64));
            (ColumnValues::Numbers { ty: Type::F64, source }, false)
        }
        9 => {
            let values = [[-1.0, 5.0], [0.0, -3.0], [0.0, 2.0], [7.0, -1.0], [f64::INFINITY, 0.0]];
            let source = memory(ranks, values, [1.0, nan], Some(Type::C128));
            (ColumnValues::Numbers { ty: Type::C128, source }, false)
        }
        10 => (
            ColumnValues::Halves(memory(ranks, [0xfc00_u16, 0xbc00, 0x8000, 0x3c00, 0x7c00], 0xfe01, None)),
            false,
        ),
        11 => {
            let source = memory(ranks, [i64::MIN + 1, -1, 0, 9, i64::MAX], i64::MIN, Some(Type::I64));
            (ColumnValues::Times { ty: seconds, source, zone: None }, false)
        }
        12 => {
            let raw = [-2_i64 << 32, -1 << 32, (-1 << 32) + 400_000, 3 << 32, (3 << 32) + 1];
            (ColumnValues::Seconds(memory(ranks, raw, 0, Some(Type::I64))), true)
        }
        13 => {
            let members = Arc::from([(String::from("one"), 1)]);
            let source = memory(ranks, [-9_i32, -1, 0, 5, 70], 5, Some(Type::I32));
            (ColumnValues::Enumeration { ty: Type::I32, source, members }, true)
        }
        14 => (ColumnValues::FixedBytes(fixed(ranks, [b"", b"a", b"a\0b", b"b", b"\xff\xff\xff"], 3)), true),
        15 => (
            ColumnValues::FixedBytes(fixed(
                ranks,
                [b"", b"long enough", b"long enough, and more", b"long enougi", b"\xff"],
                23,
            )),
            true,
        ),
        16 => (ColumnValues::FixedPoints(points(ranks, ["", "a", "a\0b", "\u{e000}", "\u{1f41a}"], 3)), true),
        17 => (texts(ranks, ["", "a", "a\0", "日", "\u{1f41a}"]), true),
        18 => (texts(ranks, [long, &b, &c, &d, "ü"]), true),
        19 => {
            let names = ["pear", "apple", "fig", "oak", "nut"].map(str::to_owned).to_vec();
            (categories(ranks, Categories::Texts(names), [1, 2, 4, 3, 0], false), false)
        }
        20 => {
            let names = ["pear", "apple", "fig", "oak", "nut"].map(str::to_owned).to_vec();
            (categories(ranks, Categories::Texts(names), [0, 1, 2, 3, 4], true), false)
        }
        21 => {
            let items = [[1.0, nan], [0.0, 1.0], [-1.0, 9.0], [0.0, -1.0], [3.0, 0.0], [3.0, 1.0]];
            let numbers = Categories::Numbers { ty: Type::C128, items: bytes_of(&items).to_vec() };
            (categories(ranks, numbers, [2, 3, 1, 4, 5], false), false)
        }
        _ => {
            let items = bytes_of(&[7.5, nan, -1.0, 0.0, 9.0, 70.0]).to_vec();
            let numbers = Categories::Numbers { ty: Type::F64, items };
            (categories(ranks, numbers, [2, 3, 0, 4, 5], false), false)
        }
    };
    Drawn { column: QueryColumn::new(format!("kind {kind}"), values), has_mask }
}

/// The rank as the values of a kind tell it: of truth values there are two.
fn told(kind: usize, rank: usize) -> usize {
    if kind == 0 { rank.min(1) } else { rank }
}

fn keys_of(kinds: &[(usize, bool, bool)], ranks: &[Vec<usize>]) -> Vec<(QueryColumn, Direction)> {
    let key = |(&(kind, descends, is_masked), ranks): (&(usize, bool, bool), &Vec<usize>)| {
        let Drawn { mut column, has_mask } = drawn(kind, ranks);
        if has_mask || is_masked {
            let mask: Vec<u8> = ranks.iter().map(|&rank| u8::from(rank == RANKS)).collect();
            column = column.with_mask(Memory::new(&mask, 1, 9, None));
        }
        (column, if descends { Direction::Descending } else { Direction::Ascending })
    };
    kinds.iter().zip(ranks).map(key).collect()
}

/// Rows sorted by ranks.
fn plain(kinds: &[(usize, bool, bool)], ranks: &[Vec<usize>], mut rows: Vec<i64>) -> Vec<i64> {
    rows.sort_by_key(|&row| {
        let key = |(&(kind, descends, _), ranks): (&(usize, bool, bool), &Vec<usize>)| match ranks
            [usize::try_from(row).unwrap()]
        {
            RANKS => RANKS,
            rank if descends => RANKS - 1 - told(kind, rank),
            rank => told(kind, rank),
        };
        kinds.iter().zip(ranks).map(key).collect::<Vec<_>>()
    });
    rows
}

fn sorted(sort: &RowSort<'_>, most: usize) -> (Vec<SortedRowsPart>, bool) {
    let mut rows = SortedRows::new(sort, &Job::default()).unwrap();
    let mut found = Vec::new();
    while let Some(part) = rows.next(most, &Job::default()).unwrap() {
        assert!(part.count > 0 && part.count <= most);
        found.push(part);
    }
    (found, rows.is_in_file())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]
    #[test]
    fn rows_are_in_the_order_of_their_columns(
        kinds in proptest::collection::vec((0..KINDS, any::<bool>(), any::<bool>()), 1..4),
        seed in any::<u64>(),
        count in prop_oneof![0..60_usize, 600..1500_usize],
        (start, step) in (0_u64..20, 1_u64..4),
        has_condition in any::<bool>(),
        memory_limit in prop_oneof![Just(1_u64), Just(u64::MAX)],
        most in 1..700_usize,
    ) {
        let mut next = crate::base::testing::random(seed);
        let mut draw = |range: usize| usize::try_from(next(range as u64)).unwrap();
        let ranks: Vec<Vec<usize>> =
            kinds.iter().map(|_| (0..count).map(|_| draw(RANKS + 1)).collect()).collect();
        let keys = keys_of(&kinds, &ranks);
        let mask: Vec<u8> = (0..count).map(|_| u8::from(draw(3) == 0)).collect();
        let condition = Memory::new(&mask, 1, 13, Some(Type::Bool));
        let wide = Memory::of(&(0..count as u64).map(|row| [row, !row]).collect::<Vec<_>>(), 5, None);
        let names: Vec<usize> = (0..count).map(|_| draw(RANKS)).collect();
        let text = QueryColumn::new("text", texts(&names, ["", "a", "bcd", "été", "a long one, longer than others"]));
        let rows = Rows { start: start.min(count as u64), stop: count as u64, step };
        let columns = [keys[0].0.gathered(), Column::Items(&*wide), text.gathered()];
        let sort = RowSort {
            condition: has_condition.then_some(&*condition as &dyn BoxSource),
            columns: &columns,
            keys: &keys,
            rows,
            numbers: true,
            memory_limit,
            folder: &std::env::temp_dir(),
        };
        let looked_at = (rows.start..rows.stop).step_by(usize::try_from(step).unwrap());
        let matching = looked_at.filter(|&row| !has_condition || mask[usize::try_from(row).unwrap()] != 0);
        let wanted = plain(&kinds, &ranks, matching.map(u64::cast_signed).collect());
        let (found, is_in_file) = sorted(&sort, most);
        let lot_rows = if has_condition { LOT_ROWS_MIN / 2 } else { LOT_ROWS_MIN };
        prop_assert_eq!(is_in_file, memory_limit == 1 && wanted.len() as u64 > lot_rows);
        let mut at = 0;
        for part in found {
            let numbers = part.numbers.unwrap();
            prop_assert_eq!(&numbers[..], &wanted[at..at + part.count]);
            at += part.count;
            let row = |&row: &i64| [row.cast_unsigned(), !row.cast_unsigned()];
            let items: Vec<[u64; 2]> = numbers.iter().map(row).collect();
            prop_assert_eq!(&part.parts[1], &Part::Items(bytes_of(&items).to_vec()));
            let mut plain = Query { condition: None, columns: &columns, rows, numbers: false, limit: None };
            for (place, &number) in numbers.iter().enumerate().take(20) {
                let row = number.cast_unsigned();
                plain.rows = Rows { start: row, stop: row + 1, step: 1 };
                let one = scan(&plain, &Job::default()).unwrap();
                for (part, wanted) in part.parts.iter().zip(&one.parts) {
                    let width = one_width(wanted);
                    let found = Lot { count: part_len(part, width), parts: vec![part.clone()], numbers: None };
                    let found = found.taken(&[i64::try_from(place).unwrap()], &[width], &Job::default()).unwrap();
                    prop_assert_eq!(&found.parts[0], wanted);
                }
            }
        }
        prop_assert_eq!(at, wanted.len());
    }
}

fn one_width(part: &Part) -> usize {
    if let Part::Items(items) = part { items.len() } else { 0 }
}

fn part_len(part: &Part, width: usize) -> usize {
    match part {
        Part::Items(items) => items.len() / width.max(1),
        Part::Strings { offsets, .. } => offsets.len() - 1,
    }
}

#[test]
fn a_column_that_is_a_key_is_read_once() {
    let ranks: Vec<usize> = (0..1000).map(|row| row * 7 % 5).collect();
    let (column, _) = &keys_of(&[(4, false, false)], std::slice::from_ref(&ranks))[0];
    let source = memory(&ranks, [i64::MIN, -1, 0, 5, i64::MAX], 0, Some(Type::I64));
    let values = ColumnValues::Numbers { ty: Type::I64, source: Arc::clone(&source) as Arc<dyn BoxSource> };
    let keys = [(QueryColumn::new("x", values), Direction::Ascending)];
    let columns = [keys[0].0.gathered(), column.gathered()];
    let rows = Rows { start: 0, stop: 1000, step: 1 };
    let folder = std::env::temp_dir();
    let sort = RowSort {
        condition: None,
        columns: &columns,
        keys: &keys,
        rows,
        numbers: false,
        memory_limit: 1,
        folder: &folder,
    };
    let (found, is_in_file) = sorted(&sort, usize::MAX);
    assert!(is_in_file);
    assert_eq!((found.len(), found[0].count), (1, 1000));
    assert_eq!(source.read.load(std::sync::atomic::Ordering::Relaxed), 1000);
}

#[test]
fn what_cannot_be_sorted_is_an_error() {
    let (folder, rows) = (std::env::temp_dir(), Rows { start: 0, stop: 3, step: 1 });
    let source = Memory::of(&[1_u8, 2, 3], 2, None);
    let keys = keys_of(&[(4, false, false)], &[vec![0, 1, 2]]);
    let columns = [Column::Items(&*source)];
    let sort = RowSort {
        condition: None,
        columns: &columns,
        keys: &keys,
        rows,
        numbers: false,
        memory_limit: 0,
        folder: &folder,
    };
    let error = |sort: &RowSort<'_>| SortedRows::new(sort, &Job::default()).err().unwrap();
    assert_eq!(error(&sort).to_string(), "memory_limit=0: takes 1 byte or more");
    let sort = RowSort { memory_limit: 1, folder: Path::new("/nowhere/at/all"), ..sort };
    assert_eq!(sorted(&sort, 9).0.len(), 1);
    let ranks = [(0..2000).map(|row| row % 5).collect::<Vec<_>>()];
    let keys = keys_of(&[(4, false, false)], &ranks);
    let sort = RowSort { columns: &[], keys: &keys, rows: Rows { stop: 2000, ..rows }, ..sort };
    assert_eq!(error(&sort).kind(), ErrorKind::Io);
}

#[test]
fn two_thirds_of_a_power_are_rounded_down() {
    for (count, wanted) in [(0, 0), (1, 1), (7, 1), (8, 4), (26, 4), (27, 9), (1000, 100), (1 << 60, 1 << 40)]
    {
        assert_eq!(two_thirds_power(count), wanted, "{count}");
    }
}
