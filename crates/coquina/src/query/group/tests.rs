//! Groups against a loop over rows; the same bits for any number of threads.

use std::sync::Arc;

use coquina_kernels::Type;
use coquina_kernels::items::{Number, bytes_of};

use super::super::numbers::numbers;
use super::super::scan::Column;
use super::super::testing::{Memory, random};
use super::*;
use crate::array::BoxSource;
use crate::base::error::ErrorKind;

pub(super) const LEN: usize = 200_000;

pub(super) fn values<'q>(source: &'q Arc<Memory>, ty: Option<Type>, name: &str) -> Values<'q> {
    Values { source: &**source, ty, aggregation: Aggregation::by_name(name).unwrap(), mask: None }
}

fn key(source: &Arc<Memory>, kind: KeyKind) -> Key<'_> {
    Key { column: Column::Items(&**source), kind, mask: None }
}

pub(super) fn all_rows(source: &Memory) -> Rows {
    Rows { start: 0, stop: source.shape()[0], step: 1 }
}

/// The groups, which must be the same for any number of threads.
pub(super) fn grouped(grouping: &Grouping<'_>) -> Grouped {
    let run = |threads| group_by(grouping, &Job::default().threads(Some(threads))).unwrap();
    let one = run(1);
    assert_eq!(run(2), one);
    assert_eq!(run(7), one);
    one
}

fn key_items(found: &Grouped, at: usize) -> &[u8] {
    let Part::Items(items) = &found.keys[at] else { panic!("texts") };
    items
}

/// The rows of each key, in the order of their first rows.
pub(super) fn naive<K: PartialEq>(keys: impl Iterator<Item = Option<K>>) -> Vec<(K, Vec<usize>)> {
    let mut groups: Vec<(K, Vec<usize>)> = Vec::new();
    for (row, key) in keys.enumerate() {
        let Some(key) = key else { continue };
        match groups.iter_mut().find(|(found, _)| *found == key) {
            Some((_, rows)) => rows.push(row),
            None => groups.push((key, vec![row])),
        }
    }
    groups
}

pub(super) fn memory<T: Number>(items: &[T]) -> Arc<Memory> {
    Memory::of(items, 5000, None)
}

#[test]
fn every_aggregate_of_integers_is_that_of_a_loop() {
    let mut next = random(5);
    let codes: Vec<i8> = (0..LEN).map(|_| i8::try_from(next(9)).unwrap() - 4).collect();
    let ints: Vec<i64> = (0..LEN).map(|_| (next(u64::MAX) >> 1).cast_signed() - (1 << 62)).collect();
    let mask: Vec<u8> = (0..LEN).map(|_| u8::try_from(next(3)).unwrap()).collect();
    let (key_source, source, condition) = (memory(&codes), memory(&ints), memory(&mask));
    let names =
        ["count", "sum", "min", "max", "first", "last", "any", "all", "nunique", "mean", "var:1", "std"];
    let asked: Vec<_> = names.iter().map(|name| values(&source, Some(Type::I64), name)).collect();
    let found = grouped(&Grouping {
        condition: Some(&*condition),
        keys: &[key(&key_source, KeyKind::Bytes)],
        values: &asked,
        rows: all_rows(&key_source),
        bytes_max: 1 << 30,
    });
    let groups = naive(codes.iter().zip(&mask).map(|(&code, &mask)| (mask != 0).then_some(code)));
    assert_eq!(numbers::<i8>(key_items(&found, 0)), groups.iter().map(|(code, _)| *code).collect::<Vec<_>>());
    assert_eq!(found.matched, mask.iter().filter(|&&mask| mask != 0).count() as u64);
    let i64s = |at: usize| numbers::<i64>(&found.results[at]);
    let f64s = |at: usize| numbers::<f64>(&found.results[at]);
    for (group, (_, rows)) in groups.iter().enumerate() {
        let items: Vec<i64> = rows.iter().map(|&row| ints[row]).collect();
        let distinct: std::collections::BTreeSet<i64> = items.iter().copied().collect();
        let wanted = [
            items.len() as i64,
            items.iter().fold(0, |sum, item| sum.wrapping_add(*item)),
            *items.iter().min().unwrap(),
            *items.iter().max().unwrap(),
            items[0],
            items[items.len() - 1],
        ];
        assert_eq!([0, 1, 2, 3, 4, 5].map(|at| i64s(at)[group]), wanted);
        assert_eq!((found.results[6][group], found.results[7][group]), (1, 1));
        assert_eq!(i64s(8)[group], distinct.len() as i64);
        let mean = items.iter().map(|&item| item as f64 / items.len() as f64).sum::<f64>();
        let squares = items.iter().map(|&item| (item as f64 - mean).powi(2));
        let var = squares.map(|square| square / (items.len() - 1) as f64).sum::<f64>();
        let std = (var * (items.len() - 1) as f64 / items.len() as f64).sqrt();
        for (found, wanted) in [(f64s(9)[group], mean), (f64s(10)[group], var), (f64s(11)[group], std)] {
            assert!((found - wanted).abs() <= 1e-9 * wanted.abs().max(1e15), "{found} {wanted}");
        }
    }
}

#[test]
fn float_keys_are_equal_as_numbers_and_all_nan_are_one() {
    let other = f64::from_bits(f64::NAN.to_bits() ^ 1);
    let keys: Vec<f64> = [0.0, f64::NAN, -0.0, 1.5, other, -f64::NAN, 0.0].repeat(1000);
    let source = memory(&keys);
    let asked = [values(&source, Some(Type::F64), "nunique"), values(&source, None, "first")];
    let grouping = Grouping {
        condition: None,
        keys: &[key(&source, KeyKind::F64)],
        values: &asked,
        rows: Rows { start: 2, ..all_rows(&source) },
        bytes_max: 1 << 30,
    };
    let found = grouped(&grouping);
    assert_eq!(*key_items(&found, 0), *bytes_of(&[0.0, 1.5, f64::NAN]));
    assert_eq!(numbers::<i64>(&found.results[0]), [1, 1, 1]);
    // What is not asked for as a number stays what it was, though it had to be compared as one.
    assert_eq!(found.results[1], bytes_of(&[-0.0, 1.5, other]));
    let bytes = grouped(&Grouping { keys: &[key(&source, KeyKind::Bytes)], values: &[], ..grouping });
    assert_eq!(bytes.groups, 6);
}

#[test]
fn keys_of_several_columns_are_told_apart() {
    let mut next = random(8);
    let mut column = |of: u64| (0..20_000).map(|_| next(of)).collect::<Vec<u64>>();
    let (first, second) = (column(5), column(7));
    let codes: Vec<u16> = column(3).iter().map(|&n| u16::try_from(n).unwrap()).collect();
    let text: Vec<u8> = column(4).iter().flat_map(|&n| [b'x', u8::try_from(n).unwrap(), 0]).collect();
    let (a, b, c) = (memory(&first), memory(&second), memory(&codes));
    let text_source = Memory::new(&text, 3, 5000, None);
    let bytes = |source| key(source, KeyKind::Bytes);
    for keys in [
        vec![bytes(&c), bytes(&text_source)],
        vec![bytes(&a), bytes(&b)],
        vec![bytes(&a), bytes(&b), bytes(&c), bytes(&text_source)],
        vec![bytes(&text_source)],
    ] {
        let count = values(&a, Some(Type::U64), "count");
        let rows = all_rows(&a);
        let found =
            grouped(&Grouping { condition: None, keys: &keys, values: &[count], rows, bytes_max: 1 << 30 });
        let parts: Vec<(Vec<u8>, usize)> = keys
            .iter()
            .map(|key| {
                let source = key.sources().next().unwrap();
                let mut items = vec![0; 20_000 * source.item_bytes()];
                source.fill(&[0], &[20_000], &mut items).unwrap();
                (items, source.item_bytes())
            })
            .collect();
        let whole =
            |row: usize| parts.iter().map(|(items, n)| items[row * n..(row + 1) * n].to_vec()).collect();
        let groups = naive((0..20_000).map(|row| Some::<Vec<Vec<u8>>>(whole(row))));
        let counts: Vec<i64> = groups.iter().map(|(_, rows)| rows.len() as i64).collect();
        assert_eq!(numbers::<i64>(&found.results[0]), counts);
        for at in 0..found.keys.len() {
            let wanted: Vec<u8> = groups.iter().flat_map(|(key, _)| key[at].clone()).collect();
            assert_eq!(key_items(&found, at), wanted);
        }
    }
}

#[test]
fn sums_of_floats_lose_nothing_and_have_the_same_bits_for_any_threads() {
    let mut next = random(11);
    let codes: Vec<u32> = (0..LEN).map(|_| u32::try_from(next(70_000)).unwrap()).collect();
    // Far from zero, and close together.
    let parts: Vec<u32> = (0..LEN).map(|_| u32::try_from(next(1000)).unwrap()).collect();
    let floats: Vec<f64> = parts.iter().map(|&part| 1e9 + f64::from(part) / 1e3).collect();
    let (key_source, source) = (memory(&codes), memory(&floats));
    let asked = ["sum", "mean", "var", "min"].map(|name| values(&source, Some(Type::F64), name));
    let rows = all_rows(&source);
    let grouping = Grouping {
        condition: None,
        keys: &[key(&key_source, KeyKind::Bytes)],
        values: &asked,
        rows,
        bytes_max: 1 << 30,
    };
    grouped(&grouping);
    let found = grouped(&Grouping { keys: &[], ..grouping });
    assert_eq!((found.groups, found.keys.len()), (1, 0));
    let result = |at: usize| numbers::<f64>(&found.results[at])[0];
    let thousandths = LEN as u64 * 1_000_000_000_000 + parts.iter().map(|&part| u64::from(part)).sum::<u64>();
    let sum = thousandths as f64 / 1e3;
    assert!((result(0) / sum - 1.0).abs() < 1e-15, "{} {sum}", result(0));
    assert!((result(1) - sum / LEN as f64).abs() < 1e-6);
    let var = floats.iter().map(|x| (x - sum / LEN as f64).powi(2)).sum::<f64>() / LEN as f64;
    assert!((result(2) / var - 1.0).abs() < 1e-6, "{} {var}", result(2));
}

#[test]
fn what_follows_each_other_is_folded_as_anything_else() {
    let mut next = random(3);
    let mut keys = Vec::new();
    while keys.len() < LEN {
        let (key, more) = (i32::try_from(next(5)).unwrap(), usize::try_from(next(300)).unwrap());
        keys.extend(std::iter::repeat_n(key, more));
    }
    let floats: Vec<f32> =
        keys.iter().map(|_| f32::from(u16::try_from(next(999)).unwrap()) - 400.5).collect();
    let (key_source, source) = (memory(&keys), memory(&floats));
    let asked = ["sum", "mean", "var", "min", "max", "any"];
    let asked = asked.map(|name| values(&source, Some(Type::F32), name));
    let found = grouped(&Grouping {
        condition: None,
        keys: &[key(&key_source, KeyKind::Bytes)],
        values: &asked,
        rows: all_rows(&key_source),
        bytes_max: 1 << 30,
    });
    for (group, (_, rows)) in naive(keys.iter().map(|&key| Some(key))).iter().enumerate() {
        let items: Vec<f64> = rows.iter().map(|&row| f64::from(floats[row])).collect();
        let (count, sum) = (items.len() as f64, items.iter().sum::<f64>());
        let var = items.iter().map(|item| (item - sum / count).powi(2)).sum::<f64>() / count;
        for (at, wanted) in [sum, sum / count, var].into_iter().enumerate() {
            let result = numbers::<f64>(&found.results[at])[group];
            assert!((result - wanted).abs() <= 1e-9 * wanted.abs().max(1.0), "{at}: {result} {wanted}");
        }
        assert_eq!(
            f64::from(numbers::<f32>(&found.results[3])[group]),
            items.iter().copied().fold(f64::MAX, f64::min)
        );
        assert_eq!(
            f64::from(numbers::<f32>(&found.results[4])[group]),
            items.iter().copied().fold(f64::MIN, f64::max)
        );
        assert_eq!(found.results[5][group], 1);
    }
}

#[test]
fn nan_is_kept_or_passed_over_as_asked() {
    let keys = [1_u8, 1, 1, 2, 2, 3];
    let floats = [2.0_f32, f32::NAN, 4.0, f32::NAN, f32::NAN, f32::INFINITY];
    let (key_source, source) = (memory(&keys), memory(&floats));
    let names = [
        "min", "nanmin", "max", "nanmax", "nanfirst", "nanlast", "sum", "nansum", "mean", "nanmean", "std",
        "nanstd", "nancount", "nanall", "count",
    ];
    let asked = names.map(|name| values(&source, Some(Type::F32), name));
    let found = grouped(&Grouping {
        condition: None,
        keys: &[key(&key_source, KeyKind::Bytes)],
        values: &asked,
        rows: all_rows(&source),
        bytes_max: 1 << 30,
    });
    let (nan, inf) = (f64::NAN, f64::INFINITY);
    let wanted: [[f64; 3]; 12] = [
        [nan, nan, inf],
        [2.0, nan, inf],
        [nan, nan, inf],
        [4.0, nan, inf],
        [2.0, nan, inf],
        [4.0, nan, inf],
        [nan, nan, inf],
        [6.0, 0.0, inf],
        [nan, nan, inf],
        [3.0, nan, inf],
        [nan, nan, nan],
        [1.0, nan, nan],
    ];
    for (at, wanted) in wanted.iter().enumerate() {
        let narrow = || numbers::<f32>(&found.results[at]).into_iter().map(f64::from).collect::<Vec<_>>();
        let results = if at < 6 { narrow() } else { numbers::<f64>(&found.results[at]) };
        let is_same = |(found, wanted): (&f64, &f64)| found == wanted || found.is_nan() && wanted.is_nan();
        assert!(results.iter().zip(wanted).all(is_same), "{} {results:?}", names[at]);
    }
    assert_eq!(numbers::<i64>(&found.results[12]), [2, 0, 1]);
    assert_eq!(found.results[13], [1, 1, 1]);
    assert_eq!(numbers::<i64>(&found.results[14]), [3, 2, 1]);
}

#[test]
fn truth_values_count_as_0_and_1() {
    let keys = [0_u8, 1, 7, 0, 1];
    let source = memory(&keys);
    let asked = ["sum", "max", "all", "any", "nunique"].map(|name| values(&source, Some(Type::Bool), name));
    let found = grouped(&Grouping {
        condition: None,
        keys: &[key(&source, KeyKind::Bool)],
        values: &asked,
        rows: all_rows(&source),
        bytes_max: 1 << 30,
    });
    assert_eq!(*key_items(&found, 0), [0, 1]);
    assert_eq!(numbers::<i64>(&found.results[0]), [0, 3]);
    assert_eq!(found.results[1..4], [[0, 1]; 3]);
    assert_eq!(numbers::<i64>(&found.results[4]), [1, 1]);
}

#[test]
fn many_groups_are_found_and_have_a_limit() {
    let keys: Vec<u64> = (0..LEN as u64).map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
    let source = memory(&keys);
    let asked = [values(&source, Some(Type::U64), "nunique")];
    let grouping = Grouping {
        condition: None,
        keys: &[key(&source, KeyKind::Bytes)],
        values: &asked,
        rows: all_rows(&source),
        bytes_max: 1 << 30,
    };
    let found = grouped(&grouping);
    assert!(key_items(&found, 0) == bytes_of(&keys));
    assert_eq!(numbers::<i64>(&found.results[0]), vec![1; LEN]);
    let error = group_by(&Grouping { bytes_max: 1 << 20, ..grouping }, &Job::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit);
    let none = grouped(&Grouping { rows: Rows { start: 9, stop: 9, step: 1 }, ..grouping });
    assert_eq!((none.groups, none.results), (0, vec![Vec::new()]));
}

#[test]
fn what_cannot_be_aggregated_is_refused() {
    let source = memory(&[[1.0_f32, 2.0]]);
    let run = |ty, name| {
        let asked = [values(&source, ty, name)];
        let rows = all_rows(&source);
        let grouping = Grouping { condition: None, keys: &[], values: &asked, rows, bytes_max: 1 << 30 };
        group_by(&grouping, &Job::default())
    };
    assert_eq!(run(Some(Type::C64), "sum").unwrap().results[0], bytes_of(&[1.0_f64, 2.0]));
    assert_eq!(run(None, "min").unwrap_err().kind(), ErrorKind::Unsupported);
    assert_eq!(run(Some(Type::F32), "sum").unwrap_err().kind(), ErrorKind::Invalid);
    assert_eq!(run(Some(Type::C64), "last").unwrap().results[0], bytes_of(&[1.0_f32, 2.0]));
    let names = ["median", "std:x", "sum:1", "nan"];
    assert!(names.iter().all(|name| Aggregation::by_name(name).is_none()));
}
