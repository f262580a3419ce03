//! What a run finds is what a look at all keys finds; and runs of any content do no harm.

use std::collections::BTreeSet;
use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::base::error::ErrorKind;
use crate::query::testing::{Memory, random};

/// Sorted pairs as a run with blocks of so many entries, and the shifts of the blocks.
pub(in super::super) fn run(
    pairs: &[(u64, u32)],
    missing: &[u32],
    block_entries: usize,
    is_large: bool,
) -> Run {
    let (mut offsets, mut first, mut shifts) = (Vec::new(), Vec::new(), Vec::new());
    for block in pairs.chunks(block_entries) {
        let (least, span) = (block[0].0, block[block.len() - 1].0 - block[0].0);
        let shift = (0..).find(|shift| span >> shift <= u64::from(u16::MAX)).unwrap();
        offsets.extend(block.iter().map(|pair| u16::try_from((pair.0 - least) >> shift).unwrap()));
        first.push(least);
        shifts.push(shift);
    }
    let rows: Vec<u32> = pairs.iter().map(|pair| pair.1).chain(missing.iter().copied()).collect();
    let rows = if is_large {
        Memory::of(&rows.into_iter().map(u64::from).collect::<Vec<u64>>(), 100, None)
    } else {
        Memory::of(&rows, 100, None)
    };
    let entries = offsets.len() as u64;
    let offsets = Memory::of(&offsets, 64, None);
    let (missing, block_entries) = (missing.len() as u64, block_entries as u64);
    Run::open(Stored { offsets, rows, first, shifts, entries, missing, block_entries }).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn rows_are_found_by_their_keys(
        (len, wide, seed) in (0..2000_usize, prop_oneof![Just(4_u32), Just(12), Just(20), Just(40), Just(64)], any::<u64>()),
        (block_entries, is_large) in (prop_oneof![Just(4096_usize), 1..300_usize], any::<bool>()),
        (places, threads) in (prop::collection::vec((any::<u16>(), 0..4_u64), 0..60), 1..4_usize),
    ) {
        let mut next = random(seed);
        let mut pairs: Vec<(u64, u32)> = (0..u32::try_from(len).unwrap())
            .map(|row| (((next(1 << 53) << 11) | next(1 << 11)) >> (64 - wide), row))
            .collect();
        pairs.sort_unstable();
        let missing = [9, 10];
        let run = run(&pairs, &missing, block_entries, is_large);
        // Ends of ranges at keys that are there, and beside them.
        let near = |(place, beside): (u16, u64)| {
            let key = pairs.get(usize::from(place) % len.max(1)).map_or(0, |pair| pair.0);
            (key.wrapping_add(beside)).wrapping_sub(1)
        };
        let ends: Vec<u64> = places.into_iter().map(near).collect::<BTreeSet<u64>>().into_iter().collect();
        let (low, high): (Vec<u64>, Vec<u64>) = ends.chunks_exact(2).map(|ends| (ends[0], ends[1])).unzip();
        let ranges = KeyRanges::new(&low, &high).unwrap();
        let job = Job::default().threads(Some(threads));
        let found = run.find(&ranges, &job).unwrap();
        let is_inside = |key: u64| low.iter().zip(&high).any(|(&low, &high)| low <= key && key <= high);
        let wanted: BTreeSet<i64> =
            pairs.iter().filter(|pair| is_inside(pair.0)).map(|pair| pair.1.into()).collect();
        prop_assert!(found.sure.is_sorted_by(|a, b| a < b) && found.unsure.is_sorted_by(|a, b| a < b));
        let sure: BTreeSet<i64> = found.sure.iter().copied().collect();
        let all: BTreeSet<i64> = sure.iter().copied().chain(found.unsure.iter().copied()).collect();
        prop_assert!(sure.is_subset(&wanted) && wanted.is_subset(&all), "{} {} {}", sure.len(), wanted.len(), all.len());
        prop_assert_eq!(all.len(), found.sure.len() + found.unsure.len());
        let is_exact = run.stored.shifts.iter().all(|&shift| shift == 0);
        prop_assert!(!is_exact || found.unsure.is_empty());
        let count = run.count(&ranges, &job).unwrap();
        prop_assert_eq!(count, (found.sure.len() as u64, found.unsure.len() as u64));
        prop_assert!(run.estimate(&ranges) >= count.0 + count.1);
        let order = run.rows_at(0, len as u64 + 2, &job).unwrap();
        let wanted: Vec<i64> = pairs.iter().map(|pair| pair.1).chain(missing).map(i64::from).collect();
        prop_assert_eq!(&order, &wanted);
        prop_assert_eq!(run.rows_at(len as u64 / 3, len as u64, &job).unwrap(), &wanted[len / 3..len]);
    }

    #[test]
    fn runs_of_any_content_find_something_or_are_corrupt(
        offsets in prop::collection::vec(prop_oneof![any::<u16>(), Just(0)], 0..60),
        rows in prop::collection::vec(prop_oneof![any::<u64>(), 0..100_u64], 0..70),
        first in prop::collection::vec(any::<u64>(), 0..12), shifts in prop::collection::vec(0..66_u8, 0..12),
        (entries, missing, block_entries) in (prop_oneof![any::<u64>(), 0..60_u64], prop_oneof![any::<u64>(), 0..10_u64], 0..20_u64),
        (is_sorted, fits, ends) in (any::<bool>(), any::<bool>(), prop::collection::vec(any::<u64>(), 0..20)),
    ) {
        let (mut offsets, mut first, mut shifts) = (offsets, first, shifts);
        let (mut entries, mut missing) = (entries, missing);
        if is_sorted {
            first.sort_unstable();
        }
        if fits {
            entries = (offsets.len() as u64).min(rows.len() as u64);
            missing = rows.len() as u64 - entries;
            offsets.truncate(usize::try_from(entries).unwrap());
            let blocks = usize::try_from(entries.div_ceil(block_entries.max(1))).unwrap();
            first.resize(blocks, u64::MAX);
            shifts.resize(blocks, 3);
            shifts.iter_mut().for_each(|shift| *shift %= 50);
            for block in offsets.chunks_mut(usize::try_from(block_entries.max(1)).unwrap()) {
                block.sort_unstable();
                block[0] = 0;
            }
        }
        let (offsets, rows) = (Memory::of(&offsets, 16, None), Memory::of(&rows, 16, None));
        let job = Job::default();
        let stored = Stored { offsets, rows, first, shifts, entries, missing, block_entries };
        let is_corrupt = |error: Error| assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
        match Run::open(stored) {
            Err(error) => is_corrupt(error),
            Ok(run) => {
                let ends: Vec<u64> = ends.into_iter().collect::<BTreeSet<u64>>().into_iter().collect();
                let (low, high): (Vec<u64>, Vec<u64>) = ends.chunks_exact(2).map(|ends| (ends[0], ends[1])).unzip();
                let ranges = KeyRanges::new(&low, &high).unwrap();
                run.estimate(&ranges);
                run.count(&ranges, &job).map_or_else(is_corrupt, drop);
                run.find(&ranges, &job).map_or_else(is_corrupt, drop);
                run.rows_at(0, entries + missing, &job).map_or_else(is_corrupt, drop);
            }
        }
    }

    #[test]
    fn distinct_rows_are_those_of_a_set(
        rows in prop::collection::vec(prop_oneof![0..200_i64, 0..i64::MAX, (i64::MAX - 100)..=i64::MAX], 0..300),
        sparse in 1..1000_i64,
    ) {
        let rows: Vec<i64> = rows.into_iter().map(|row| row / sparse).collect();
        let wanted: Vec<i64> = rows.iter().copied().collect::<BTreeSet<_>>().into_iter().collect();
        prop_assert_eq!(distinct(rows), wanted);
    }
}

#[test]
fn numbers_that_no_row_has_are_corrupt() {
    let stored = |rows: &[u64]| Stored {
        offsets: Memory::of(&[0_u16, 1], 8, None),
        rows: Memory::of(rows, 8, None),
        first: vec![0],
        shifts: vec![0],
        entries: 2,
        missing: 0,
        block_entries: 4096,
    };
    let all = KeyRanges::new(&[0], &[u64::MAX]).unwrap();
    let job = Job::default();
    assert_eq!(Run::open(stored(&[3, 1])).unwrap().find(&all, &job).unwrap().sure, [1, 3]);
    let wrong = Run::open(stored(&[3, 1 << 63])).unwrap();
    assert_eq!(wrong.find(&all, &job).unwrap_err().kind(), ErrorKind::Corrupt);
    assert_eq!(wrong.rows_at(0, 2, &job).unwrap_err().kind(), ErrorKind::Corrupt);
    assert_eq!(wrong.rows_at(0, 3, &job).unwrap_err().kind(), ErrorKind::OutOfBounds);
}

#[test]
fn offsets_that_fall_are_corrupt() {
    for offsets in [[0_u16, 5, 4], [1, 2, 3]] {
        let stored = Stored {
            offsets: Memory::of(&offsets, 8, None),
            rows: Memory::of(&[0_u32, 1, 2], 8, None),
            first: vec![100],
            shifts: vec![0],
            entries: 3,
            missing: 0,
            block_entries: 4096,
        };
        let some = KeyRanges::new(&[101], &[103]).unwrap();
        let error = Run::open(stored).unwrap().find(&some, &Job::default()).unwrap_err();
        assert_eq!((error.kind(), error.to_string().starts_with("block 0: ")), (ErrorKind::Corrupt, true));
    }
}

#[test]
fn ranges_must_rise() {
    for (low, high) in [(&[1][..], &[0][..]), (&[0, 5], &[5, 9]), (&[5, 0], &[6, 1]), (&[0], &[])] {
        assert!(KeyRanges::new(low, high).is_err(), "{low:?} {high:?}");
    }
}

#[test]
fn only_blocks_at_ends_are_decoded() {
    let pairs: Vec<(u64, u32)> = (0..100_000).map(|row| (u64::from(row) * 3, row)).collect();
    let run = run(&pairs, &[], 1000, false);
    let offsets = Memory::of(
        &(0..100_000).map(|n| u16::try_from(n % 1000 * 3).unwrap()).collect::<Vec<u16>>(),
        1000,
        None,
    );
    let rows = Memory::of(&(0..100_000).collect::<Vec<u32>>(), 1000, None);
    let counted = Arc::clone(&offsets);
    let read = Arc::clone(&rows);
    let run = Run::open(Stored { offsets, rows, ..run.stored }).unwrap();
    let ranges = KeyRanges::new(&[3001, 150_000], &[3004, 270_000]).unwrap();
    let found = run.find(&ranges, &Job::default()).unwrap();
    assert_eq!(found.sure.len(), 1 + 40_001);
    let of = |source: &Memory| source.read.load(std::sync::atomic::Ordering::Relaxed);
    assert_eq!((of(&counted), of(&read)), (3000, 1 + 40_001));
}
