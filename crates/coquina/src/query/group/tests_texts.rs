//! Groups by texts, and with masks, against a loop over rows.

use std::sync::Arc;

use coquina_kernels::Type;
use coquina_kernels::items::bytes_of;

use super::super::numbers::numbers;
use super::super::scan::Column;
use super::super::testing::{Memory, random};
use super::tests::{LEN, all_rows, grouped, memory, naive, values};
use super::*;
use crate::base::error::ErrorKind;

/// Texts as offsets and bytes.
fn packed(texts: &[&str]) -> (Arc<Memory>, Arc<Memory>) {
    let mut offsets = vec![0_i64];
    offsets.extend(texts.iter().scan(0, |end, text| {
        *end += text.len() as i64;
        Some(*end)
    }));
    (memory(&offsets), Memory::new(texts.concat().as_bytes(), 1, 4000, None))
}

fn text_key<'q>(parts: &'q (Arc<Memory>, Arc<Memory>), mask: Option<&'q dyn BoxSource>) -> Key<'q> {
    let column = Column::Strings { offsets: &*parts.0, bytes: &*parts.1 };
    Key { column, kind: KeyKind::Bytes, mask }
}

fn texts_of(part: &Part) -> Vec<String> {
    let Part::Strings { offsets, bytes } = part else { panic!("items") };
    let index = |at: i64| usize::try_from(at).unwrap();
    let text = |ends: &[i64]| String::from_utf8(bytes[index(ends[0])..index(ends[1])].to_vec()).unwrap();
    offsets.windows(2).map(text).collect()
}

/// Texts of many lengths, not all of which are in the first rows.
fn random_texts(seed: u64) -> Vec<String> {
    let mut next = random(seed);
    let text = |n: u64| format!("{}{}", n % 50, "é".repeat(usize::try_from(n % 23).unwrap()));
    (0..LEN as u64).map(|row| if next(9) == 0 { String::new() } else { text(next(1 + row / 100)) }).collect()
}

#[test]
fn groups_by_texts_and_numbers_are_those_of_a_loop() {
    let texts = random_texts(4);
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let parts = packed(&texts);
    let mut next = random(9);
    let codes: Vec<i16> = texts.iter().map(|_| i16::try_from(next(3)).unwrap() - 1).collect();
    let mask: Vec<u8> = texts.iter().map(|_| u8::from(next(20) == 0) * 3).collect();
    let matches: Vec<u8> = texts.iter().map(|_| u8::try_from(next(3)).unwrap()).collect();
    let (codes_source, mask_source, condition) = (memory(&codes), memory(&mask), memory(&matches));
    let number = Key { column: Column::Items(&*codes_source), kind: KeyKind::Bytes, mask: None };
    let is_null = Key { column: Column::Items(&*mask_source), kind: KeyKind::Bool, mask: None };
    let asked = [values(&codes_source, Some(Type::I16), "sum"), values(&codes_source, None, "count")];
    let keys = [text_key(&parts, Some(&*mask_source)), number, text_key(&parts, None), is_null];
    for (count, condition) in [(1, None), (2, Some(&*condition)), (4, None), (4, Some(&*condition))] {
        let found = grouped(&Grouping {
            condition: condition.map(|condition| condition as &dyn BoxSource),
            keys: &keys[..count],
            values: &asked,
            rows: all_rows(&codes_source),
            bytes_max: 1 << 30,
        });
        let key = |row: usize| {
            let blanked = if mask[row] == 0 { texts[row] } else { "" };
            let all = (codes[row], texts[row], mask[row]);
            (blanked, if count > 1 { all.0 } else { 0 }, if count > 2 { (all.1, all.2) } else { ("", 0) })
        };
        let is_in = |row: usize| condition.is_none() || matches[row] != 0;
        let groups = naive((0..LEN).map(|row| is_in(row).then(|| key(row))));
        let of = |rows: &Vec<usize>| rows.iter().map(|&row| i64::from(codes[row])).sum::<i64>();
        assert_eq!(texts_of(&found.keys[0]), groups.iter().map(|(key, _)| key.0).collect::<Vec<_>>());
        assert_eq!(
            numbers::<i64>(&found.results[0]),
            groups.iter().map(|(_, rows)| of(rows)).collect::<Vec<_>>()
        );
        let counts: Vec<i64> = groups.iter().map(|(_, rows)| rows.len() as i64).collect();
        assert_eq!(numbers::<i64>(&found.results[1]), counts);
        if count > 2 {
            assert_eq!(texts_of(&found.keys[2]), groups.iter().map(|(key, _)| key.2.0).collect::<Vec<_>>());
        }
    }
}

#[test]
fn values_behind_a_mask_do_not_count() {
    let mut next = random(6);
    let keys: Vec<u8> = (0..LEN).map(|_| u8::try_from(next(5)).unwrap()).collect();
    let items: Vec<f64> = (0..LEN).map(|_| if next(7) == 0 { f64::NAN } else { next(99) as f64 }).collect();
    // All values of the last group are missing.
    let mask: Vec<u8> = keys.iter().map(|&key| if key == 4 { 9 } else { u8::from(next(3) == 0) }).collect();
    let (key_source, source, mask_source) = (memory(&keys), memory(&items), memory(&mask));
    let names = ["count", "nancount", "nansum", "first", "last", "nunique", "nanmax", "count"];
    let mut asked =
        names.map(|name| Values { mask: Some(&*mask_source), ..values(&source, Some(Type::F64), name) });
    asked[7].mask = None;
    let key = Key { column: Column::Items(&*key_source), kind: KeyKind::Bytes, mask: None };
    let rows = all_rows(&key_source);
    let found =
        grouped(&Grouping { condition: None, keys: &[key], values: &asked, rows, bytes_max: 1 << 30 });
    for (group, (_, rows)) in naive(keys.iter().map(|&key| Some(key))).iter().enumerate() {
        let there: Vec<f64> = rows.iter().filter(|&&row| mask[row] == 0).map(|&row| items[row]).collect();
        let real: Vec<f64> = there.iter().copied().filter(|item| !item.is_nan()).collect();
        let mut different: Vec<u64> = real.iter().map(|item| item.to_bits()).collect();
        different.sort_unstable();
        different.dedup();
        let distinct = different.len() + usize::from(real.len() < there.len());
        let counts = [(0, there.len()), (1, real.len()), (5, distinct), (7, rows.len())];
        for (at, count) in counts {
            assert_eq!(numbers::<i64>(&found.results[at])[group], count as i64, "{}", names[at]);
        }
        let end = |item: Option<&f64>| item.copied().unwrap_or(f64::NAN);
        let max = real.iter().copied().fold(f64::NAN, f64::max);
        let floats = [(2, real.iter().sum()), (3, end(there.first())), (4, end(there.last())), (6, max)];
        for (at, float) in floats {
            let result = numbers::<f64>(&found.results[at])[group];
            assert!(result == float || result.is_nan() && float.is_nan(), "{} {result} {float}", names[at]);
        }
    }
}

#[test]
fn what_a_mask_hides_is_one_key() {
    let mask = memory(&[0_u8, 1, 2, 0, 1, 0]);
    let ints = memory(&[7_i32, 8, 9, 7, 7, 0]);
    let floats = memory(&[7.0_f32, 8.0, 9.0, 7.0, f32::NAN, f32::NAN]);
    for (source, kind, wanted) in [
        (&ints, KeyKind::Bytes, bytes_of(&[7_i32, 0]).to_vec()),
        (&floats, KeyKind::F32, bytes_of(&[7.0_f32, f32::NAN]).to_vec()),
    ] {
        let key = Key { column: Column::Items(&**source), kind, mask: Some(&*mask) };
        let asked = [values(&ints, None, "count")];
        let rows = all_rows(&ints);
        let found =
            grouped(&Grouping { condition: None, keys: &[key], values: &asked, rows, bytes_max: 99 << 20 });
        assert_eq!(found.keys[0], Part::Items(wanted));
        assert_eq!(numbers::<i64>(&found.results[0]), [2, 4]);
    }
}

#[test]
fn texts_that_stand_nowhere_are_refused() {
    let bytes = Memory::new(b"abcdef", 1, 4, None);
    for offsets in [[0_i64, 2, 1, 6], [0, 2, 4, 7], [-1, 2, 4, 6]] {
        let parts = (memory(&offsets), bytes.clone());
        let keys = [text_key(&parts, None)];
        let rows = Rows { start: 0, stop: 3, step: 1 };
        let grouping = Grouping { condition: None, keys: &keys, values: &[], rows, bytes_max: 1 << 20 };
        assert_eq!(group_by(&grouping, &Job::default()).unwrap_err().kind(), ErrorKind::Corrupt);
        let behind = Grouping { rows: Rows { stop: 4, ..rows }, ..grouping };
        assert_eq!(group_by(&behind, &Job::default()).unwrap_err().kind(), ErrorKind::OutOfBounds);
        let wrong = [Key { kind: KeyKind::F64, ..keys[0] }];
        let wrong = Grouping { keys: &wrong, ..grouping };
        assert_eq!(group_by(&wrong, &Job::default()).unwrap_err().kind(), ErrorKind::Invalid);
    }
}
