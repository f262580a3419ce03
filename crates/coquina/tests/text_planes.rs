//! Texts of a fixed width in arrays, tested plane by plane, against loops over texts; and how many planes are decoded.

#![expect(clippy::unwrap_used, reason = "a helper that fails fails its test")]

use std::sync::Arc;

use coquina::Job;
use coquina::array::{Access, Array, ArraySpec, BoxSource, Fill, Selection, Target, Values, Window};
use coquina::chunk::{Params, Special};
use coquina::codec::by_name;
use coquina::query::predicates::{FixedText, TextTest};
use coquina::query::{Column, Part, Query, Rows, scan};

const BLOCK: u64 = 128;

/// How chunks are encoded: whether each plane is a stream of its own follows from the width and the level.
fn ways() -> Vec<(&'static str, u8)> {
    vec![("zstd", 5), ("zstd", 7), ("lz4", 5), ("blosclz", 5)]
}

fn array(texts: &[Vec<u8>], width: usize, (name, level): (&str, u8)) -> Arc<Array> {
    let rows = texts.len() as u64;
    let spec = ArraySpec {
        shape: vec![rows],
        chunks: Some(vec![BLOCK]),
        blocks: Some(vec![BLOCK]),
        access: Access::Any,
        dtype: format!("|S{width}"),
        fill: Fill::Special(Special::Zeros),
        params: Params { typesize: width, codec: by_name(name).unwrap(), level, ..Params::default() },
        checksums: true,
        statistics: true,
        tuning: None,
    };
    let array = Array::create(&spec, &Target::Memory).unwrap();
    let window = Window { offset: 0, bytes: width };
    array.write(&Selection::all(&[rows]), window, Values::Bytes(&texts.concat()), &Job::default()).unwrap();
    Arc::new(array)
}

/// Texts of few letters, some with zeros inside, padded with zeros.
fn texts(rows: u64, width: usize) -> Vec<Vec<u8>> {
    let mut next = random(width as u64);
    let letter = |n: u64| b"ab\0\xffcde"[usize::try_from(n).unwrap()];
    let mut one = || {
        let len = usize::try_from(next(width as u64 + 1)).unwrap();
        let mut text: Vec<u8> = (0..len).map(|_| next(40)).map(|n| letter(n.min(6))).collect();
        text.resize(width, 0);
        text
    };
    (0..rows).map(|_| one()).collect()
}

/// The rows that pass, and their texts.
fn found(condition: &dyn BoxSource, texts: &Arc<Array>, rows: Rows, threads: usize) -> (Vec<i64>, Vec<u8>) {
    let columns = [Column::Items(&**texts)];
    let query = Query { condition: Some(condition), columns: &columns, rows, numbers: true, limit: None };
    let found = scan(&query, &Job::default().threads(Some(threads))).unwrap();
    let Some(Part::Items(items)) = found.parts.into_iter().next() else { panic!("no items") };
    (found.numbers.unwrap(), items)
}

#[test]
fn planes_decide_what_a_loop_over_texts_decides() {
    let names =
        ["equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "startswith", "endswith"];
    for width in [2, 4, 16, 20, 40] {
        let texts = texts(5 * BLOCK + 77, width);
        let mut planes = 0;
        let mut constants: Vec<Vec<u8>> = [0, 70, 600].map(|row: usize| texts[row].clone()).to_vec();
        constants.extend([b"".to_vec(), b"ab".to_vec(), b"ed".to_vec(), vec![b'a'; width + 1]]);
        for way in ways() {
            let array = array(&texts, width, way);
            for (name, constant) in names.iter().flat_map(|name| constants.iter().map(move |c| (*name, c))) {
                let cut = |text: &[u8]| {
                    text[..text.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1)].to_vec()
                };
                let wanted_one = |text: &Vec<u8>| naive(name, &cut(text), &cut(constant));
                for kind in ["S", "U"] {
                    let source: Arc<dyn BoxSource> = Arc::<Array>::clone(&array);
                    // As code points, in the byte order of x86-64 and AArch64, the same texts are in another order.
                    let points = |text: &[u8]| {
                        let units = text.as_chunks::<4>().0.iter().map(|unit| u32::from_le_bytes(*unit));
                        let mut units: Vec<u32> = units.collect();
                        while units.last() == Some(&0) {
                            units.pop();
                        }
                        units
                    };
                    if kind == "U" && (width % 4 != 0 || constant.len() % 4 != 0) {
                        continue;
                    }
                    let test = TextTest::by_name(name, constant.clone()).unwrap();
                    let test = match kind {
                        "S" => FixedText::bytes(source, test).unwrap(),
                        _ => FixedText::points(source, test).unwrap(),
                    };
                    let passes = |text: &Vec<u8>| match kind {
                        "S" => wanted_one(text),
                        _ => naive(name, &points(text), &points(constant)),
                    };
                    for (rows, threads) in [
                        (Rows { start: 0, stop: texts.len() as u64, step: 1 }, 2),
                        (Rows { start: 3, stop: 5 * BLOCK - 9, step: 1 }, 1),
                        (Rows { start: 0, stop: texts.len() as u64, step: 3 }, 1),
                    ] {
                        let all = (rows.start..rows.stop).step_by(usize::try_from(rows.step).unwrap());
                        let wanted: Vec<u64> =
                            all.filter(|&row| passes(&texts[usize::try_from(row).unwrap()])).collect();
                        let (numbers, items) = found(&test, &array, rows, threads);
                        let at = |row: &u64| texts[usize::try_from(*row).unwrap()].clone();
                        assert!(
                            numbers.iter().map(|row| row.cast_unsigned()).eq(wanted.iter().copied())
                                && items == wanted.iter().flat_map(at).collect::<Vec<u8>>(),
                            "{kind} {name} {constant:?} of {width}, {way:?}, {rows:?}"
                        );
                    }
                }
            }
            planes += array.stats().planes_decoded;
        }
        assert!(planes > 0, "of {width} none was decoded alone");
    }
}

#[test]
fn planes_behind_the_one_that_decides_are_not_decoded() {
    let rows = 8 * BLOCK;
    for (width, way, planes) in [(16, ("zstd", 5), 8), (16, ("lz4", 5), 8), (40, ("lz4", 5), 8 * 10)] {
        let mut next = random(3);
        let texts: Vec<Vec<u8>> =
            (0..rows).map(|_| (0..width).map(|_| b'b' + u8::try_from(next(3)).unwrap()).collect()).collect();
        let array = array(&texts, width, way);
        let all = Rows { start: 0, stop: rows, step: 1 };
        // No text begins so.
        let test = TextTest::by_name("equal", b"abcdefgh".to_vec()).unwrap();
        let test = FixedText::bytes(Arc::<Array>::clone(&array), test).unwrap();
        assert_eq!(found(&test, &array, all, 1), (vec![], vec![]));
        let decoded = array.stats().planes_decoded;
        assert!((1..=planes).contains(&decoded), "{decoded} planes of {width}, {way:?}");
        // One does: the other planes of its block are decoded once, for the rest of the test and for its letters.
        let wanted = texts[100].clone();
        let test = FixedText::bytes(Arc::<Array>::clone(&array), TextTest::Starts(wanted[..3].to_vec()));
        let (numbers, items) = found(&test.unwrap(), &array, all, 1);
        assert!(numbers.contains(&100) && items.len() == numbers.len() * width);
        assert_eq!(array.stats().blocks_decoded, 16);
    }
}

#[test]
fn whether_a_text_is_one_of_few_is_decided_on_planes() {
    for width in [4, 16] {
        let texts = texts(3 * BLOCK + 5, width);
        let too_long = vec![b'a'; width + 1];
        let few = [&texts[9], &texts[usize::try_from(BLOCK).unwrap()], &b"".to_vec(), &too_long]
            .map(Clone::clone)
            .to_vec();
        let many: Vec<Vec<u8>> = texts[..40].to_vec();
        let all = Rows { start: 0, stop: texts.len() as u64, step: 1 };
        for (way, constants) in ways().into_iter().flat_map(|way| [(way, &few), (way, &many)]) {
            let array = array(&texts, width, way);
            let among = TextTest::Among(constants.iter().collect());
            let test = FixedText::bytes(Arc::<Array>::clone(&array), among).unwrap();
            let cut = |text: &[u8]| {
                text[..text.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1)].to_vec()
            };
            let constants: Vec<Vec<u8>> = constants.iter().map(|constant| cut(constant)).collect();
            let wanted: Vec<i64> = (0_i64..)
                .zip(&texts)
                .filter(|(_, text)| constants.contains(&cut(text)))
                .map(|(row, _)| row)
                .collect();
            for threads in [1, 2] {
                assert_eq!(found(&test, &array, all, threads).0, wanted, "{way:?} of {width}");
            }
        }
        if width < 16 {
            continue;
        }
        // Nothing begins with these letters: of each block the first planes are enough.
        let array = array(&texts, width, ("lz4", 5));
        let among = TextTest::Among([b"xyz", b"yzx"].into_iter().collect());
        let test = FixedText::bytes(Arc::<Array>::clone(&array), among).unwrap();
        assert_eq!(found(&test, &array, all, 1).0, Vec::<i64>::new());
        let decoded = array.stats().planes_decoded;
        assert!((1..4 * 16).contains(&decoded), "{decoded} planes of {width}");
    }
}

/// A small random generator (xorshift64*): numbers below the one that it gets.
fn random(seed: u64) -> impl FnMut(u64) -> u64 {
    let mut state = seed ^ 0x9E37_79B9_7F4A_7C15;
    move |end| {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        (state.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % end
    }
}

fn naive<T: Ord>(name: &str, text: &[T], constant: &[T]) -> bool {
    match name {
        "equal" => text == constant,
        "not_equal" => text != constant,
        "less" => text < constant,
        "less_equal" => text <= constant,
        "greater" => text > constant,
        "greater_equal" => text >= constant,
        "startswith" => text.starts_with(constant),
        _ => text.ends_with(constant),
    }
}
