//! What is made is the column in order, and a search finds what a scan of plain values finds.

use std::path::PathBuf;

use coquina_kernels::Type;
use proptest::prelude::*;

use super::testing::{
    KINDS, Plain, Setup, Stored, asked, chunking, column, is_nan, listed, naive, rows_in_order, setups,
};
use super::*;
use crate::base::error::ErrorKind;
use crate::base::pool::Job;
use crate::index::{KeyKind, KeyRanges};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_search_finds_what_a_scan_finds(
        which in 0..KINDS.len(), rows in 1..400_usize, seed in any::<u64>(), setup in setups(),
        picks in prop::collection::vec(any::<usize>(), 0..7), missing in any::<bool>(),
    ) {
        let (kind, item_bytes) = KINDS[which];
        let values = column(kind, item_bytes, rows, seed);
        let (stored, facts) = naive(kind, &values, &setup);
        let index = stored.open(&facts, kind).unwrap();
        prop_assert_eq!(index.rows(), rows as u64);
        let job = Job::default();
        let (asked, wanted) = asked(kind, &values, &picks, missing);
        // The second time keys are known.
        for _ in 0..2 {
            let found = listed(&index.find(&asked, missing, &job).unwrap());
            if setup.item_bytes == 8 && setup.chunking.reduction == 1 {
                prop_assert_eq!(&found, &wanted);
            }
            prop_assert!(wanted.iter().all(|row| found.binary_search(row).is_ok()), "{:?} of {:?}", found, wanted);
            prop_assert!(index.estimate(&asked, missing, &job).unwrap() >= wanted.len() as u64);
        }
    }

    #[test]
    fn wrong_bounds_lose_no_row_without_an_error(
        which in 0..KINDS.len(), rows in 1..300_usize, seed in any::<u64>(), setup in setups(),
        picks in prop::collection::vec(any::<usize>(), 1..5),
        changes in prop::collection::vec((0..3_usize, any::<usize>(), 1..=255_u8), 1..4),
    ) {
        let (kind, item_bytes) = KINDS[which];
        let values = column(kind, item_bytes, rows, seed);
        let (mut stored, facts) = naive(kind, &values, &setup);
        let kept = usize::try_from(facts.rest_kept).unwrap() * item_bytes;
        for &(array, at, change) in &changes {
            // Of the values of the rest only the bounds behind them.
            let skip = if array == 2 { kept } else { 0 };
            let bytes = &mut stored.all()[array].items[..];
            let bytes = bytes.get_mut(skip..).unwrap_or_default();
            if !bytes.is_empty() {
                let at = at % bytes.len();
                bytes[at] ^= change;
            }
        }
        let index = stored.open(&facts, kind).unwrap();
        let job = Job::default();
        let (asked, wanted) = asked(kind, &values, &picks, false);
        if let Ok(found) = index.find(&asked, false, &job) {
            let found = listed(&found);
            prop_assert!(wanted.iter().all(|row| found.binary_search(row).is_ok()), "{:?} of {:?}", found, wanted);
        }
        let _ = index.estimate(&asked, true, &job);
    }

    #[test]
    fn any_bytes_and_sizes_give_rows_that_there_are_or_errors(
        which in 0..KINDS.len(), rows in 1..300_usize, seed in any::<u64>(), setup in setups(),
        keys in prop::collection::vec(any::<u64>(), 0..6),
        changes in prop::collection::vec((0..6_usize, any::<usize>(), any::<u8>()), 0..8),
        sizes in prop::collection::vec((0..9_usize, prop_oneof![0..70_u64, any::<u64>()]), 0..3),
    ) {
        let (kind, item_bytes) = KINDS[which];
        let values = column(kind, item_bytes, rows, seed);
        let (mut stored, mut facts) = naive(kind, &values, &setup);
        for &(array, at, value) in &changes {
            let bytes = &mut stored.all()[array].items;
            if !bytes.is_empty() {
                let at = at % bytes.len();
                bytes[at] = value;
            }
        }
        for &(which, size) in &sizes {
            let cut = &mut facts.chunking;
            let named = [
                &mut cut.superblock, &mut cut.block, &mut cut.slice, &mut cut.chunk, &mut cut.reduction,
                &mut cut.optlevel, &mut facts.rest, &mut facts.rest_kept, &mut facts.table_chunk_rows,
            ];
            *named.into_iter().nth(which).unwrap() = size;
        }
        let Ok(index) = stored.open(&facts, kind) else { return Ok(()) };
        let job = Job::default();
        let mut high = keys.clone();
        high.rotate_left(keys.len().min(1));
        let asked = KeyRanges::union(keys.iter().zip(&high).map(|(&low, &high)| low..=high).collect());
        for missing in [false, true] {
            if let Ok(found) = index.find(&asked, missing, &job) {
                let found = listed(&found);
                prop_assert!(found.is_sorted_by(|one, next| one < next));
                prop_assert!(found.last().is_none_or(|&row| row.cast_unsigned() < index.rows()));
            }
            let _ = index.estimate(&asked, missing, &job);
        }
    }

    #[test]
    fn what_is_made_is_the_column_in_order(
        which in 0..KINDS.len(), rows in 0..1500_usize, seed in any::<u64>(), chunks in 1..5_u64, chunk in 1..30_u64,
        window in 1..200_u64, memory_limit in prop_oneof![Just(0_u64), 1000..20_000_u64, Just(1 << 30)],
        picks in prop::collection::vec(any::<usize>(), 0..7),
    ) {
        let (kind, item_bytes) = KINDS[which];
        let values = column(kind, item_bytes, rows, seed);
        let chunking = chunking(2, chunks, chunk, 1);
        let source = Plain::new(&[rows as u64], values.concat(), item_bytes);
        let folder: PathBuf = std::env::temp_dir();
        let sorting = Sorting { values: &source, kind, memory_limit, folder: &folder };
        let (job, mut seen) = (Job::default(), 0);
        let mut making = Making::new(&sorting, chunking, window, |rows| { seen = rows; Ok(()) }, &job).unwrap();
        prop_assert_eq!(seen, rows as u64);
        let order = rows_in_order(kind, &values);
        let mut stored = Stored::new(item_bytes, 8);
        let mut done = 0;
        let full = rows as u64 / chunking.slice * chunking.slice;
        while let Some(SlicePart { slice, start, values: sorted, rows: found }) = making.next(&job).unwrap() {
            prop_assert_eq!(slice * chunking.slice + start, done as u64);
            let wanted = &order[done..done + found.len()];
            prop_assert!(wanted.iter().zip(&found).all(|(&row, &found)| row as u64 == found));
            let bytes: Vec<u8> = wanted.iter().flat_map(|&row| values[row].clone()).collect();
            prop_assert!(bytes == sorted, "values keep their bits");
            let is_full = (done as u64) < full;
            let (to, from) = if is_full { (&mut stored.sorted, &mut stored.indices) }
                else { (&mut stored.rest_sorted, &mut stored.rest_indices) };
            to.items.extend(sorted);
            from.items.extend(found.iter().flat_map(|row| row.to_le_bytes()));
            done += found.len();
        }
        prop_assert_eq!(done, rows);
        let Edges { ranges, bounds, rest_bounds, abounds, mbounds, zbounds, mranges } = making.finish();
        let at = |row: u64| values[order[usize::try_from(row).unwrap()]].clone();
        let firsts: Vec<u64> = (0..full).step_by(usize::try_from(chunk).unwrap()).collect();
        let each = |shift: u64| firsts.iter().flat_map(|first| at(first + shift)).collect::<Vec<u8>>();
        prop_assert!(abounds == each(0) && mbounds == each(chunk / 2) && zbounds == each(chunk - 1));
        prop_assert_eq!(mranges.len() as u64, full / chunking.slice * item_bytes as u64);
        (stored.ranges.items, stored.bounds.items) = (ranges, bounds);
        stored.rest_sorted.items.extend(rest_bounds);
        stored.shape(full / chunking.slice, &chunking);
        let rest = rows as u64 - full;
        let facts = Facts { chunking, rest, rest_kept: rest, table_chunk_rows: 7 };
        let index = stored.open(&facts, kind).unwrap();
        for missing in [false, true] {
            let (asked, wanted) = asked(kind, &values, &picks, missing);
            let found = listed(&index.find(&asked, missing, &job).unwrap());
            prop_assert!(wanted.iter().all(|row| found.binary_search(row).is_ok()), "{:?} of {:?}", found, wanted);
            // NaN stands behind the number with which a slice is told to end.
            let is_other = |row: &i64| {
                wanted.binary_search(row).is_err() && !is_nan(kind, &values[usize::try_from(*row).unwrap()])
            };
            prop_assert!(!found.iter().any(is_other), "{:?} of {:?}", found, wanted);
        }
    }
}

#[test]
fn what_cannot_be_sorted_or_opened_says_so() {
    let source = Plain::new(&[3], vec![0; 12], 4);
    let folder = std::env::temp_dir();
    let sorting =
        Sorting { values: &source, kind: KeyKind::Number(Type::I32), memory_limit: 0, folder: &folder };
    let cut = chunking(1, 2, 8, 1);
    let kind = |sorting: &Sorting<'_>, cut| {
        Making::new(sorting, cut, 5, |_| Ok(()), &Job::default()).map(|_| ()).unwrap_err().kind()
    };
    assert_eq!(kind(&Sorting { kind: KeyKind::Number(Type::I64), ..sorting }, cut), ErrorKind::Invalid);
    assert_eq!(kind(&Sorting { kind: KeyKind::Text, ..sorting }, cut), ErrorKind::Invalid);
    assert_eq!(kind(&sorting, chunking(1, 2, 8, 2)), ErrorKind::Invalid);
    assert_eq!(kind(&sorting, Chunking { slice: 9, ..cut }), ErrorKind::Corrupt);
    let nowhere = folder.join("no such folder");
    assert_eq!(kind(&Sorting { folder: &nowhere, ..sorting }, cut), ErrorKind::Io);
    let setup = Setup { chunking: cut, item_bytes: 8, table_chunk_rows: 5 };
    let (stored, facts) = naive(KeyKind::Number(Type::I32), &column(sorting.kind, 4, 50, 1), &setup);
    let opened = |kind| stored.open(&facts, kind).map(|_| ()).unwrap_err().kind();
    assert_eq!(opened(KeyKind::Text), ErrorKind::Invalid);
    assert_eq!(opened(KeyKind::Number(Type::I8)), ErrorKind::Invalid);
    assert_eq!(KeyRanges::new(&[1, 2], &[1]).unwrap_err().kind(), ErrorKind::Invalid);
}
