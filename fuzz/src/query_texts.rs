//! Columns of strings whose offsets are hostile: the strings that they say, or an error.

use std::ops::Range;
use std::sync::Arc;

use coquina::array::{BoxSource, Walk, check_box};
use coquina::query::predicates::{Comparison, Strings, TextTest};
use coquina::query::{Column, Part, Query, Rows, scan};
use coquina::{ErrorKind, Result};

use crate::mutate::{Random, flip_bit, mutate, set_byte};
use crate::targets::job;

const OFFSET_BYTES: usize = 8;
const HEAD_BYTES: usize = 4;
const EDGES: [i64; 10] = [0, 1, -1, 7, 8, 4095, 1 << 30, i64::MAX, i64::MIN, 1 << 62];

/// Items in memory.
pub(crate) struct Memory {
    pub(crate) items: Vec<u8>,
    pub(crate) item_bytes: usize,
}

impl BoxSource for Memory {
    fn shape(&self) -> Vec<u64> {
        vec![(self.items.len() / self.item_bytes) as u64]
    }

    fn item_bytes(&self) -> usize {
        self.item_bytes
    }

    fn walk(&self) -> Walk {
        Walk { chunks: vec![64], blocks: vec![16] }
    }

    fn fill(&self, start: &[u64], shape: &[u64], out: &mut [u8]) -> Result<()> {
        check_box(&self.shape(), start, shape, self.item_bytes, out.len())?;
        let at = usize::try_from(start[0]).unwrap_or(usize::MAX) * self.item_bytes;
        out.copy_from_slice(&self.items[at..at + out.len()]);
        Ok(())
    }
}

/// Naively: whether a string passes.
type Passes<'a> = Box<dyn Fn(&[u8]) -> bool + 'a>;

/// What an input holds: `strings u8 | test u8 | length of its text u8 | which rows u8 | text | offsets i64, one more than
/// strings | bytes`, little-endian.
struct Texts<'a> {
    test: u8,
    text: &'a [u8],
    every: usize,
    offsets: Vec<i64>,
    bytes: &'a [u8],
}

impl<'a> Texts<'a> {
    fn read(input: &'a [u8]) -> Option<Self> {
        let ([count, test, len, every], rest) = input.split_first_chunk::<HEAD_BYTES>()?;
        let (text, rest) = rest.split_at_checked((*len).into())?;
        let (offsets, bytes) = rest.split_at_checked((usize::from(*count) + 1) * OFFSET_BYTES)?;
        let offset = |bytes: &[u8; OFFSET_BYTES]| i64::from_le_bytes(*bytes);
        let offsets = offsets.as_chunks().0.iter().map(offset).collect();
        Some(Self { test: *test, text, every: usize::from(*every % 5), offsets, bytes })
    }

    /// The strings of some rows, if they rise within the bytes.
    fn strings(&self, rows: impl Iterator<Item = usize>) -> Option<Vec<&'a [u8]>> {
        let mut before = 0;
        rows.map(|row| {
            let [from, to] = [self.offsets[row], self.offsets[row + 1]].map(|at| usize::try_from(at).ok());
            let (from, to) = (from.filter(|&from| from >= before)?, to?);
            before = to;
            self.bytes.get(Range { start: from, end: to })
        })
        .collect()
    }

    fn test(&self) -> (TextTest, Passes<'a>) {
        let text = self.text;
        let owned = text.to_vec();
        match self.test % 7 {
            0 => (TextTest::Compare(Comparison::Equal, owned), Box::new(move |found| found == text)),
            1 => (TextTest::Compare(Comparison::NotEqual, owned), Box::new(move |found| found != text)),
            2 => (TextTest::Compare(Comparison::LessEqual, owned), Box::new(move |found| found <= text)),
            3 => (TextTest::Starts(owned), Box::new(move |found| found.starts_with(text))),
            4 => (TextTest::Ends(owned), Box::new(move |found| found.ends_with(text))),
            5 => {
                let is_in = move |found: &[u8]| {
                    text.is_empty() || found.windows(text.len()).any(|window| window == text)
                };
                (TextTest::Contains(owned), Box::new(is_in))
            }
            _ => (
                TextTest::Among([owned, Vec::new()].into_iter().collect()),
                Box::new(move |found| found == text || found.is_empty()),
            ),
        }
    }
}

/// Strings that rise within the bytes come out as they are; all others are an error.
pub(crate) fn query_texts(input: &[u8]) -> bool {
    let Some(texts) = Texts::read(input) else { return false };
    let count = texts.offsets.len() - 1;
    let places = texts.offsets.iter().flat_map(|offset| offset.to_ne_bytes()).collect();
    let offsets = Arc::new(Memory { items: places, item_bytes: OFFSET_BYTES });
    let bytes = Arc::new(Memory { items: texts.bytes.to_vec(), item_bytes: 1 });
    let is_wanted = |row: &usize| texts.every == 0 || (row * 7 + texts.every).is_multiple_of(texts.every + 1);
    let truths = (0..count).map(|row| u8::from(is_wanted(&row))).collect();
    let condition = Memory { items: truths, item_bytes: 1 };
    let columns = [Column::Strings { offsets: &*offsets, bytes: &*bytes }];
    let query = Query {
        condition: (texts.every > 0).then_some(&condition as &dyn BoxSource),
        columns: &columns,
        rows: Rows { start: 0, stop: count as u64, step: 1 },
        numbers: false,
        limit: None,
    };
    let wanted = texts.strings((0..count).filter(is_wanted));
    match (scan(&query, &job()), &wanted) {
        (Ok(scanned), Some(wanted)) => {
            let ends = wanted.iter().scan(0, |end, text| {
                *end += i64::try_from(text.len()).unwrap_or(i64::MAX);
                Some(*end)
            });
            let offsets = [0].into_iter().chain(ends).collect();
            assert_eq!(scanned.parts, [Part::Strings { offsets, bytes: wanted.concat() }], "other strings");
        }
        (Err(error), None) => assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}"),
        (found, wanted) => panic!("{:?} is wanted: {:?}", wanted, found.map(|found| found.parts)),
    }
    let all = texts.strings(0..count).filter(|_| texts.offsets.is_sorted());
    let (test, passes) = texts.test();
    let tested = Strings::new(offsets, bytes, test).and_then(|tested| {
        let mut truths = vec![2; count];
        tested.fill(&[0], &[count as u64], &mut truths).map(|()| truths)
    });
    match (tested, all) {
        (Ok(truths), Some(all)) => {
            let wanted: Vec<u8> = all.iter().map(|text| u8::from(passes(text))).collect();
            assert_eq!(truths, wanted, "a test of {all:?} by {:?}", texts.text);
        }
        (Err(error), None) => assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}"),
        (found, all) => panic!("{all:?} is to be tested: {found:?}"),
    }
    wanted.is_some()
}

/// Strings of letters, short and long, and tests that some of them pass.
pub(crate) fn texts() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for (count, text) in [(0_u8, ""), (3, "ab"), (60, "b"), (200, "abcabcabcabcabc"), (255, "")] {
        for test in 0..7_u8 {
            let letters = |row: u8| {
                let len = usize::from(row.wrapping_mul(37) % 11) * if row % 16 == 5 { 20 } else { 1 };
                b"abcabcabcabcabcaab".iter().cycle().skip(usize::from(row % 18)).take(len)
            };
            let (mut offsets, mut bytes) = (vec![0_i64], Vec::new());
            for row in 0..count {
                bytes.extend(letters(row));
                offsets.push(i64::try_from(bytes.len()).unwrap_or(i64::MAX));
            }
            let head = [count, test, u8::try_from(text.len()).unwrap_or(0), test % 5];
            let offsets: Vec<u8> = offsets.into_iter().flat_map(i64::to_le_bytes).collect();
            seeds.push([&head, text.as_bytes(), &offsets, &bytes].concat());
        }
    }
    seeds
}

/// Other offsets, another test, other letters.
pub(crate) fn mutate_texts(seed: &[u8], other: &[u8], random: &mut Random) -> Vec<u8> {
    let mut input = seed.to_vec();
    let from = HEAD_BYTES + seed.get(2).map_or(0, |&len| usize::from(len));
    for _ in 0..=random.below(2) {
        let offsets = usize::from(input.first().copied().unwrap_or(0)) + 1;
        let at = from + random.below(offsets) * OFFSET_BYTES;
        let Some(place) = input.get_mut(at..).and_then(|rest| rest.first_chunk_mut::<OFFSET_BYTES>()) else {
            return mutate(seed, other, random);
        };
        let near = i64::from(random.byte() % 9) - 4;
        match random.below(8) {
            0 => *place = random.one_of(&EDGES).to_le_bytes(),
            1 | 2 => *place = i64::from_le_bytes(*place).wrapping_add(near).to_le_bytes(),
            3 => flip_bit(place, random),
            4 => input[1..2].copy_from_slice(&[random.byte()]),
            5 => input[3..4].copy_from_slice(&[random.byte()]),
            6 => set_byte(&mut input, random),
            _ => input.truncate(input.len() - random.below(20).min(input.len() / 4)),
        }
    }
    input
}
