//! What is sorted is what a stable sort of all keys gives, however little memory there is and with any threads.
#![expect(clippy::single_range_in_vec_init, reason = "rows come as lists of ranges")]

use std::fs;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use coquina_kernels::Type;
use proptest::prelude::*;

use super::*;
use crate::base::error::{ErrorKind, Result};
use crate::base::pool::Job;
use crate::query::Column;
use crate::query::testing::{Memory, random};

/// A folder for a test, which must be empty when it ends.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("coquina-sort-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let left = fs::read_dir(&self.0).unwrap().count();
        fs::remove_dir_all(&self.0).unwrap();
        assert!(left == 0 || std::thread::panicking(), "{left} files are left");
    }
}

/// Entries and rows without a key.
type All = (Vec<(u64, u64)>, Vec<u64>);

/// The least key that each entry can have, its row and the shift of its block; and rows without a key.
type Collected = (Vec<(u64, u64, u8)>, Vec<u64>);

/// All that is handed out: the least key that each entry can have, its row, and the shift of its block.
fn collect(mut sorted: Sorted, block_entries: usize, job: &Job<'_>) -> Result<Collected> {
    let mut entries = Vec::new();
    while let Some(Batch { offsets, rows, first, shifts }) = sorted.next(job)? {
        let rows: Vec<u64> = match rows {
            RowNumbers::U32(rows) => rows.into_iter().map(u64::from).collect(),
            RowNumbers::U64(rows) => rows,
        };
        assert_eq!(entries.len() % block_entries, 0, "a block that is not full, and more behind it");
        assert_eq!(first.len(), offsets.len().div_ceil(block_entries));
        let blocks = offsets.chunks(block_entries).zip(rows.chunks(block_entries));
        for ((offsets, rows), (&first, &shift)) in blocks.zip(first.iter().zip(&shifts)) {
            assert_eq!(offsets[0], 0);
            assert!(
                shift == 0 || offsets.iter().any(|&offset| offset >> 15 == 1),
                "a shift that is too large"
            );
            let pairs = offsets.iter().zip(rows);
            entries.extend(pairs.map(|(&offset, &row)| (first + (u64::from(offset) << shift), row, shift)));
        }
    }
    assert_eq!(entries.len() as u64, sorted.entries());
    let missing = sorted.missing().iter().map(|row| row.cast_unsigned()).collect();
    Ok((entries, missing))
}

/// Whether what came out are the entries that are wanted.
fn is_same(found: &[(u64, u64, u8)], wanted: &[(u64, u64)], bucket_rows: u64) -> bool {
    found.len() == wanted.len()
        && found.iter().zip(wanted).all(|(&(least, row, shift), &(key, wanted))| {
            row == wanted / bucket_rows && least <= key && key - least < 1 << shift
        })
}

/// Naively: all keys of some rows, sorted.
fn plain(keys: &[Option<u64>], ranges: &[Range<u64>]) -> All {
    let rows = || ranges.iter().cloned().flatten();
    let key = |row: u64| keys[usize::try_from(row).unwrap()];
    let mut entries: Vec<_> = rows().filter_map(|row| Some((key(row)?, row))).collect();
    entries.sort_unstable();
    (entries, rows().filter(|&row| key(row).is_none()).collect())
}

/// Keys as they may be distributed: `shape` chooses.
fn values(len: usize, shape: u8, seed: u64) -> Vec<u64> {
    let mut next = random(seed);
    let mut wide = move || (next(1 << 53) << 11) | next(1 << 11);
    let mut all: Vec<u64> = (0..len as u64)
        .map(|row| match shape {
            0 => wide(),
            1 => wide() % 3,
            2 => row / 5,
            3 => u64::MAX - row,
            4 => {
                if wide() % 4 == 0 {
                    wide()
                } else {
                    77
                }
            }
            5 => 1 << (wide() % 64),
            6 => {
                if row == 5 {
                    1
                } else {
                    u64::MAX
                }
            }
            _ => ((wide() % 1000) << 40) | (row % 7),
        })
        .collect();
    if shape == 7 {
        all.sort_unstable();
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]

    #[test]
    fn rows_come_in_the_order_of_their_keys(
        (len, shape, seed) in (prop_oneof![0..40_usize, 0..40_000_usize], 0..8_u8, any::<u64>()),
        (memory_limit, threads) in (prop_oneof![Just(0_u64), Just(1 << 18), Just(1 << 30)], 1..4_usize),
        (block_entries, bucket_rows) in (prop_oneof![Just(4096_usize), 1..300_usize], prop_oneof![Just(1_u64), Just(1024), Just(10)]),
        (block, mask, knows) in (prop_oneof![1..50_u64, Just(5000)], 0..3_u8, any::<bool>()),
        ends in prop::collection::vec(any::<u16>(), 0..6),
    ) {
        let folder = Folder::new("laws");
        let items = values(len, shape, seed);
        let mut next = random(seed);
        let missing: Vec<u8> = match mask {
            0 => vec![0; len],
            1 => (0..len).map(|_| u8::from(next(5) == 0)).collect(),
            _ => (0..len).map(|row| u8::from(row / 300 % 2 == 0)).collect(),
        };
        let mut ends: Vec<u64> = ends.into_iter().map(|end| u64::from(end) % (len as u64 + 1)).collect();
        ends.sort_unstable();
        let mut ranges: Vec<_> = ends.chunks_exact(2).map(|ends| ends[0]..ends[1]).collect();
        if ranges.is_empty() {
            ranges.push(0..len as u64);
        }
        let ty = knows.then_some(Type::U64);
        let column = Memory::of(&items, block, ty);
        let masked = Memory::of(&missing, 3 * block / 2 + 1, ty.map(|_| Type::U8));
        let keys: Vec<_> = items.iter().zip(&missing).map(|(&key, &gone)| (gone == 0).then_some(key)).collect();
        let (wanted, gone) = plain(&keys, &ranges);
        let keyed = Keyed {
            column: Column::Items(&*column),
            kind: KeyKind::Number(Type::U64),
            missing: (mask > 0).then_some(&*masked as _),
        };
        let sorting =
            Sorting { column: keyed, ranges: &ranges, memory_limit, folder: &folder.0, bucket_rows, block_entries };
        let job = Job::default().threads(Some(threads));
        let (found, missing) = collect(sort(&sorting, &job).unwrap(), block_entries, &job).unwrap();
        prop_assert!(is_same(&found, &wanted, bucket_rows));
        prop_assert_eq!(missing, gone);
    }

    #[test]
    fn texts_come_in_the_order_of_their_prefixes(
        texts in prop::collection::vec("[ab\\u{e4}]{0,10}", 0..200), block in 1..30_u64, gap in 0..9_usize,
    ) {
        let (mut offsets, mut bytes) = (vec![i64::try_from(gap).unwrap()], vec![b'x'; gap]);
        for text in &texts {
            bytes.extend(text.as_bytes());
            offsets.push(bytes.len().try_into().unwrap());
        }
        let (offsets, bytes) = (Memory::of(&offsets, block, None), Memory::of(&bytes, 7, None));
        let prefix = |text: &String| {
            let mut first = [0; 8];
            text.bytes().zip(&mut first).for_each(|(byte, first)| *first = byte);
            Some(u64::from_be_bytes(first))
        };
        let keys: Vec<_> = texts.iter().map(prefix).collect();
        let rows = [0..texts.len() as u64];
        let column = Column::Strings { offsets: &*offsets, bytes: &*bytes };
        let keyed = Keyed { column, kind: KeyKind::Text, missing: None };
        let folder = Folder::new("texts");
        let (memory_limit, folder) = (1 << 30, &*folder.0);
        let sorting =
            Sorting { column: keyed, ranges: &rows, memory_limit, folder, bucket_rows: 1, block_entries: 16 };
        let job = Job::default();
        let (found, _) = collect(sort(&sorting, &job).unwrap(), 16, &job).unwrap();
        prop_assert!(is_same(&found, &plain(&keys, &rows).0, 1));
    }
}

fn sorting<'s>(
    column: &'s Arc<Memory>,
    ranges: &'s [Range<u64>],
    memory_limit: u64,
    folder: &'s Folder,
) -> Sorting<'s> {
    let keyed = Keyed { column: Column::Items(&**column), kind: KeyKind::Number(Type::U64), missing: None };
    Sorting { column: keyed, ranges, memory_limit, folder: &folder.0, bucket_rows: 1, block_entries: 4096 }
}

#[test]
fn rows_that_no_sample_showed_are_cut_out_of_their_partition() {
    let folder = Folder::new("skew");
    // Of the rows that are looked at first, all have one key; the others have many.
    let len = 400_000_u64;
    let items: Vec<u64> =
        (0..len).map(|row| if row % 1562 < 1100 { 5 } else { row.wrapping_mul(0x9e37_79b9) }).collect();
    let column = Memory::of(&items, 128, None);
    let ranges = [0..len];
    let keys: Vec<_> = items.iter().copied().map(Some).collect();
    let job = Job::default();
    let sorted = sort(&sorting(&column, &ranges, 0, &folder), &job).unwrap();
    let (found, _) = collect(sorted, 4096, &job).unwrap();
    assert!(is_same(&found, &plain(&keys, &ranges).0, 1));
}

#[test]
fn what_is_known_to_be_one_item_is_not_read() {
    let folder = Folder::new("known");
    let items: Vec<u64> = (0..40_000).map(|row| if row < 30_000 { 9 } else { row }).collect();
    let column = Memory::of(&items, 5000, Some(Type::U64));
    let ranges = [0..40_000];
    let sorted = sort(&sorting(&column, &ranges, 1 << 30, &folder), &Job::default()).unwrap();
    assert_eq!((sorted.entries(), column.read.load(Ordering::Relaxed)), (40_000, 10_000));
}

#[test]
fn a_sort_that_cannot_be_says_so() {
    let folder = Folder::new("errors");
    let column = Memory::of(&[1_u64, 2, 3], 8, None);
    let kind = |sorting: &Sorting<'_>| sort(sorting, &Job::default()).map(|_| ()).unwrap_err().kind();
    let overlapping = [0..2, 1..3];
    assert_eq!(kind(&sorting(&column, &overlapping, 0, &folder)), ErrorKind::Invalid);
    let outside = [0..4];
    assert_eq!(kind(&sorting(&column, &outside, 0, &folder)), ErrorKind::OutOfBounds);
    let all = [0..3];
    let sound = sorting(&column, &all, 0, &folder);
    assert_eq!(kind(&Sorting { block_entries: 0, ..sound }), ErrorKind::Invalid);
    assert_eq!(kind(&Sorting { bucket_rows: 0, ..sound }), ErrorKind::Invalid);
    let small = Keyed { kind: KeyKind::Number(Type::U32), ..sound.column };
    assert_eq!(kind(&Sorting { column: small, ..sound }), ErrorKind::Invalid);
    let text = Keyed { kind: KeyKind::Text, ..sound.column };
    assert_eq!(kind(&Sorting { column: text, ..sound }), ErrorKind::Invalid);
    let masked = Keyed { missing: Some(&*column), ..sound.column };
    assert_eq!(kind(&Sorting { column: masked, ..sound }), ErrorKind::Invalid);
    let column = Memory::of(&vec![0_u64; 10_000], 4096, None);
    let (all, nowhere) = ([0..10_000], Folder::new("nowhere"));
    let nowhere = nowhere.0.join("no such folder");
    let spilled = Sorting { folder: &nowhere, ..sorting(&column, &all, 0, &folder) };
    assert_eq!(kind(&spilled), ErrorKind::Io);
}
