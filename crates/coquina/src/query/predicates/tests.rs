//! Predicates against loops over items; what is known without decoding against what is decoded.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use coquina_kernels::Type;
use coquina_kernels::items::{Number, bytes_of};

use super::super::testing::{Memory, random};
use super::*;
use crate::base::error::ErrorKind;

/// All items of a source in boxes of many sizes, each compared with what is said to be known of it.
fn all(source: &dyn BoxSource, len: usize) -> Vec<u8> {
    let item = source.item_bytes();
    let mut out = vec![0xaa; len * item];
    let mut next = random(len as u64);
    let (mut at, mut known) = (0, 0);
    while at < len {
        let count = usize::try_from(1 + next(40)).unwrap().min(len - at);
        let (start, shape) = ([at as u64], [count as u64]);
        let part = &mut out[at * item..(at + count) * item];
        source.fill(&start, &shape, part).unwrap();
        if let Some(one) = source.uniform(&start, &shape) {
            assert!(part.chunks_exact(item).all(|item| item == one), "{part:?} is all {one:?}");
            known += 1;
        }
        at += count;
    }
    assert!(known > 0 || len < 100, "no box is known");
    source.fill(&[len as u64], &[0], &mut []).unwrap();
    assert_eq!(
        source.fill(&[0], &[len as u64 + 1], &mut vec![0; (len + 1) * item]).unwrap_err().kind(),
        ErrorKind::OutOfBounds
    );
    out
}

/// Runs of random lengths of what `item` gives.
fn runs<T: Copy>(len: usize, seed: u64, item: impl Fn(u64) -> T) -> Vec<T> {
    let mut next = random(seed);
    let mut items = Vec::new();
    while items.len() < len {
        let (value, count) = (item(next(1 << 40)), 1 + next(60));
        items.extend((0..count).map(|n| if count < 20 { item(n + count) } else { value }));
    }
    items.truncate(len);
    items
}

fn check_among<T: Number + PartialEq>(ty: Type, item: impl Fn(u64) -> T + Copy) {
    for (seed, count) in [0, 1, 2, 16, 17, 300, 5000].into_iter().enumerate() {
        let items = runs(3000, seed as u64, item);
        let mut next = random(seed as u64 + 99);
        let values: Vec<T> = (0..count).map(|_| item(next(1 << 40))).collect();
        let source = Memory::of(&items, 10, Some(ty));
        let among = Among::new(source, ty, bytes_of(&values)).unwrap();
        let wanted: Vec<u8> = items.iter().map(|item| u8::from(values.contains(item))).collect();
        assert_eq!(all(&among, items.len()), wanted, "{ty:?} among {count}");
    }
}

#[test]
fn membership_is_that_of_a_loop_for_every_type() {
    fn small(n: u64) -> i16 {
        i16::try_from(n % 4000).unwrap() - 2000
    }
    check_among(Type::I16, small);
    check_among(Type::I8, |n| i8::try_from(n % 200).map_or(-3, |n| n));
    check_among(Type::U8, |n| u8::try_from(n % 256).unwrap());
    check_among(Type::U16, |n| u16::try_from(n % 65_536).unwrap());
    check_among(Type::I32, |n| i32::from(small(n)) * 1_000_000);
    check_among(Type::I64, |n| i64::from(small(n)) << 48);
    check_among(Type::U32, |n| u32::try_from(n % 3000).unwrap());
    check_among(Type::U64, |n| (n % 3000) | ((n % 2) << 63));
    let float = |n: u64| match n % 1000 {
        0 => f64::NAN,
        1 => -0.0,
        2 => 0.0,
        3 => f64::INFINITY,
        n => f64::from(u32::try_from(n).unwrap()) / 7.0 - 50.0,
    };
    check_among(Type::F64, float);
    check_among(Type::F32, |n| if n % 9 == 0 { -0.0 } else { float(n).to_string().parse::<f32>().unwrap() });
}

#[test]
fn every_byte_but_zero_is_true() {
    let items: Vec<u8> = runs(500, 1, |n| u8::try_from(n % 3).unwrap());
    for (values, wanted) in [(&[1_u8][..], [0, 1]), (&[0], [1, 0]), (&[0, 7], [1, 1]), (&[], [0, 0])] {
        let among = Among::new(Memory::of(&items, 10, Some(Type::Bool)), Type::Bool, values).unwrap();
        let wanted: Vec<u8> = items.iter().map(|&item| wanted[usize::from(item != 0)]).collect();
        assert_eq!(all(&among, items.len()), wanted);
    }
}

#[test]
fn what_has_no_order_or_another_size_is_refused() {
    let source = Memory::of(&[1_i32, 2], 1, None);
    for (ty, values) in [(Type::I64, &[0; 8][..]), (Type::I32, &[0; 6]), (Type::C64, &[])] {
        let error = Among::new(Arc::<Memory>::clone(&source), ty, values).err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Invalid);
    }
    assert!(Lookup::new(Arc::<Memory>::clone(&source), Type::F32, &[1], &[0]).is_err());
    assert!(Lookup::new(source, Type::I32, &[1, 2, 3], &[0, 0]).is_err());
}

fn check_lookup<T: Number>(ty: Type, code: impl Fn(u64) -> (T, i64)) {
    for (bytes, entries) in [(1, 5), (2, 300), (3, 7), (4, 0), (8, 90), (16, 1), (1, 1000)] {
        let pairs = runs(2000, bytes as u64, &code);
        let codes: Vec<T> = pairs.iter().map(|&(code, _)| code).collect();
        let table: Vec<u8> =
            (0..entries * bytes).map(|n| u8::try_from(n / bytes / 50 % 256).unwrap()).collect();
        let missing = vec![if entries == 5 { 0 } else { 9 }; bytes];
        let lookup = Lookup::new(Memory::of(&codes, 10, Some(ty)), ty, &table, &missing).unwrap();
        let item = |&(_, code): &(T, i64)| match usize::try_from(code) {
            Ok(at) if at < entries => table[at * bytes..(at + 1) * bytes].to_vec(),
            _ => missing.clone(),
        };
        assert_eq!(all(&lookup, codes.len()), pairs.iter().flat_map(item).collect::<Vec<u8>>(), "{ty:?}");
    }
}

#[test]
fn codes_stand_for_the_items_of_the_table() {
    let small = |n: u64| i8::try_from(n % 100).unwrap() - 2;
    check_lookup(Type::I8, |n| (small(n), small(n).into()));
    check_lookup(Type::I32, |n| (i32::from(small(n)) * 9, i64::from(small(n)) * 9));
    check_lookup(Type::I64, |n| (i64::from(small(n)) << 50, i64::from(small(n)) << 50));
    check_lookup(Type::U16, |n| (u16::try_from(n % 400).unwrap(), n as i64 % 400));
    check_lookup(Type::U64, |n| (n % 7 * (u64::MAX / 6), if n % 7 == 0 { 0 } else { -1 }));
}

/// A text of few letters, with zeros inside.
fn text(n: u64) -> Vec<u8> {
    let letters = [b'a', b'b', 0, 0xff];
    let mut next = random(n);
    let len = next(7);
    (0..len).map(|_| letters[usize::try_from(next(4)).unwrap()]).collect()
}

const NAMES: [&str; 9] = [
    "equal",
    "not_equal",
    "less",
    "less_equal",
    "greater",
    "greater_equal",
    "startswith",
    "endswith",
    "contains",
];

fn naive<T: Ord>(name: &str, text: &[T], constant: &[T]) -> bool {
    match name {
        "equal" => text == constant,
        "not_equal" => text != constant,
        "less" => text < constant,
        "less_equal" => text <= constant,
        "greater" => text > constant,
        "greater_equal" => text >= constant,
        "startswith" => text.len() >= constant.len() && &text[..constant.len()] == constant,
        "endswith" => text.len() >= constant.len() && &text[text.len() - constant.len()..] == constant,
        _ => constant.is_empty() || text.windows(constant.len()).any(|part| part == constant),
    }
}

fn cut<T: Default + PartialEq>(mut text: Vec<T>) -> Vec<T> {
    while text.last() == Some(&T::default()) {
        text.pop();
    }
    text
}

fn tests_of(constants: &[Vec<u8>]) -> Vec<(String, Vec<Vec<u8>>)> {
    let mut tests: Vec<_> = (NAMES.iter())
        .flat_map(|name| constants.iter().map(|one| ((*name).to_owned(), vec![one.clone()])))
        .collect();
    tests.push(("among".to_owned(), constants.to_vec()));
    tests.push(("among".to_owned(), Vec::new()));
    tests
}

fn text_test(name: &str, constants: Vec<Vec<u8>>) -> TextTest {
    if name == "among" {
        TextTest::Among(constants.into_iter().collect())
    } else {
        TextTest::by_name(name, constants[0].clone()).unwrap()
    }
}

fn passes<T: Ord>(name: &str, text: &[T], constants: &[Vec<T>]) -> u8 {
    u8::from(match name {
        "among" => constants.iter().any(|constant| text == constant),
        _ => naive(name, text, &constants[0]),
    })
}

#[test]
fn texts_of_fixed_width_are_what_they_are_without_zeros_at_the_end() {
    let wide = |text: &[u8]| text.iter().map(|&unit| u32::from(unit) << 9).collect::<Vec<u32>>();
    for width in [1_usize, 4, 7] {
        let texts: Vec<Vec<u8>> = (0..400_u64)
            .map(|n| text(if n < 100 { 5 } else { n }))
            .map(|mut text| {
                text.resize(width, 0);
                text
            })
            .collect();
        let constants: Vec<Vec<u8>> = (0..30).map(|n| text(n * 7)).chain([texts[3].clone()]).collect();
        for (name, constants) in tests_of(&constants) {
            let bytes = Memory::new(&texts.concat(), width, 10, Some(Type::U8));
            let test = FixedText::bytes(bytes, text_test(&name, constants.clone())).unwrap();
            let cuts: Vec<Vec<u8>> = constants.iter().cloned().map(cut).collect();
            let wanted: Vec<u8> = texts.iter().map(|text| passes(&name, &cut(text.clone()), &cuts)).collect();
            assert_eq!(all(&test, texts.len()), wanted, "{name} {cuts:?} of {width}");

            let points: Vec<u32> = texts.iter().flat_map(|text| wide(text)).collect();
            let points = Memory::new(bytes_of(&points), 4 * width, 10, Some(Type::U32));
            let constants = constants.iter().map(|constant| bytes_of(&wide(constant)).to_vec()).collect();
            let test = FixedText::points(points, text_test(&name, constants)).unwrap();
            assert_eq!(all(&test, texts.len()), wanted, "{name} {cuts:?} of {width} points");
        }
    }
    assert!(FixedText::points(Memory::new(&[0; 6], 6, 1, None), TextTest::Among(Texts::default())).is_err());
}

/// Places and bytes of texts.
fn stored(texts: &[Vec<u8>]) -> (Vec<i64>, Vec<u8>) {
    let mut places = vec![0];
    places.extend(texts.iter().scan(0, |end, text| {
        *end += text.len() as i64;
        Some(*end)
    }));
    (places, texts.concat())
}

#[test]
fn texts_of_any_length_pass_as_in_a_loop() {
    let texts: Vec<Vec<u8>> =
        (0..99).map(text).chain([vec![b'b'; 3 << 20]]).chain((0..500).map(text)).collect();
    let (places, bytes) = stored(&texts);
    let constants: Vec<Vec<u8>> = (0..20).map(|n| text(n * 3)).chain([vec![b'b'; 1000]]).collect();
    for (name, constants) in tests_of(&constants) {
        let data = Memory::new(&bytes, 1, 1000, None);
        let test =
            Strings::new(Memory::of(&places, 64, None), data, text_test(&name, constants.clone())).unwrap();
        assert_eq!((test.shape(), test.walk().blocks), (vec![texts.len() as u64], vec![64]));
        let mut found = vec![0; texts.len()];
        test.fill(&[0], &[texts.len() as u64], &mut found).unwrap();
        let wanted: Vec<u8> = texts.iter().map(|text| passes(&name, text, &constants)).collect();
        assert_eq!(found, wanted, "{name}");
        for (start, len) in [(5, 0), (98, 3), (599, 1)] {
            let mut part = vec![9; len];
            test.fill(&[start as u64], &[len as u64], &mut part).unwrap();
            assert_eq!(part, wanted[start..start + len]);
        }
    }
}

/// A word of 16 bytes is compared at once: texts and constants of fewer bytes, of as many and of more.
#[test]
fn texts_that_differ_near_the_end_of_a_word_are_told_apart() {
    let of_len = |len: usize, last: u8| {
        let mut text = vec![b'a'; len];
        text.iter_mut().rev().take(1).for_each(|byte| *byte = last);
        text
    };
    // Zeros are bytes as others are, and the last texts have less than a word behind them.
    let texts: Vec<Vec<u8>> = (0..40)
        .chain((0..5).rev())
        .flat_map(|len| [of_len(len, b'a'), of_len(len, 0), of_len(len, b'b')])
        .collect();
    let (places, bytes) = stored(&texts);
    for len in 0..40 {
        for last in [b'a', 0, b'b'] {
            let constants = vec![of_len(len, last)];
            for name in ["equal", "startswith"] {
                let data = Memory::new(&bytes, 1, 1000, None);
                let test = text_test(name, constants.clone());
                let test = Strings::new(Memory::of(&places, 64, None), data, test).unwrap();
                let mut found = vec![0; texts.len()];
                test.fill(&[0], &[texts.len() as u64], &mut found).unwrap();
                let wanted: Vec<u8> = texts.iter().map(|text| passes(name, text, &constants)).collect();
                assert_eq!(found, wanted, "{name} {constants:?}");
            }
        }
    }
}

#[test]
fn texts_of_another_length_are_not_read() {
    let texts: Vec<Vec<u8>> = (0..1000).map(|n| vec![b'x'; if n == 700 { 3 } else { 5 }]).collect();
    let (places, bytes) = stored(&texts);
    let data = Memory::new(&bytes, 1, 1000, None);
    let test = TextTest::by_name("equal", b"xxx".to_vec()).unwrap();
    let test = Strings::new(Memory::of(&places, 64, None), Arc::<Memory>::clone(&data), test).unwrap();
    let mut found = vec![2; 1000];
    test.fill(&[0], &[1000], &mut found).unwrap();
    assert_eq!(found.iter().position(|&passes| passes == 1), Some(700));
    assert_eq!(found.iter().map(|&passes| u64::from(passes)).sum::<u64>(), 1);
    assert_eq!(data.read.load(Ordering::Relaxed), 3);
}

#[test]
fn hostile_places_are_corrupt() {
    let bytes = || Memory::new(b"some texts", 1, 4, None);
    for places in [[0, 3, 2], [0, 3, 11], [-1, 3, 5], [0, i64::MAX, i64::MAX], [i64::MIN, 0, 1]] {
        for name in NAMES {
            let test = TextTest::by_name(name, b"t".to_vec()).unwrap();
            let test = Strings::new(Memory::of(&places, 64, None), bytes(), test).unwrap();
            assert_eq!(
                test.fill(&[0], &[2], &mut [0; 2]).unwrap_err().kind(),
                ErrorKind::Corrupt,
                "{places:?}"
            );
        }
    }
    let test = || TextTest::Contains(b"x".to_vec());
    let none = Strings::new(Memory::of::<i64>(&[], 1, None), bytes(), test()).unwrap();
    assert_eq!((none.shape(), none.walk().chunks), (vec![0], vec![1]));
    assert!(Strings::new(Memory::of(&[0_i32], 1, None), bytes(), test()).is_err());
}

#[test]
fn a_part_is_found_wherever_it_stands() {
    for seed in 0..3000 {
        let mut next = random(seed);
        let mut word = |len: u64| (0..len).map(|_| next(2)).collect::<Vec<u64>>();
        let (needle, text) = (word(1 + seed % 7), word(seed % 23));
        let wanted = text.windows(needle.len()).any(|part| part == needle);
        assert_eq!(search::Needle::new(needle.clone()).is_in(&text), wanted, "{needle:?} in {text:?}");
    }
}
