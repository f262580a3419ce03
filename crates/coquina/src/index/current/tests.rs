//! What is known now is what a look at all rows that are owned finds.

use std::collections::BTreeSet;
use std::sync::Arc;

use proptest::prelude::*;

use super::super::KeyKind;
use super::super::read::Keyed;
use super::super::run::tests::run;
use super::*;
use crate::query::Column;
use crate::query::testing::Memory;

const SPAN: u64 = 16;

/// A table: the key of each row, if it has one; and the run of each span, 0 for none.
#[derive(Clone, Debug)]
struct Table {
    keys: Vec<Option<u64>>,
    owners: Vec<u64>,
    /// Rows of a bucket.
    bucket: u64,
    /// Whether there is another run that owns nothing by now, and runs have rows of all spans.
    has_more: bool,
}

impl Table {
    fn owner(&self, row: usize) -> u64 {
        self.owners[row / 16]
    }

    /// A run of the rows of some spans.
    fn run(&self, number: u64) -> NumberedRun {
        let is_of = |row: &usize| self.has_more || self.owner(*row) == number;
        let (mut pairs, mut missing, mut rows) = (Vec::new(), BTreeSet::new(), 0);
        for row in (0..self.keys.len()).filter(is_of) {
            rows += 1;
            let place = u32::try_from(row as u64 / self.bucket).unwrap();
            match self.keys[row] {
                Some(key) => pairs.push((key, place)),
                None => {
                    missing.insert(place);
                }
            }
        }
        pairs.sort_unstable();
        let missing: Vec<u32> = missing.into_iter().collect();
        NumberedRun { number, rows, run: Arc::new(run(&pairs, &missing, 16, false)) }
    }

    fn spans(&self) -> Spans {
        let (mut spans, nrows) = (Spans::new(SPAN).unwrap(), self.keys.len() as u64);
        for number in (1..=2).rev() {
            let own: Vec<u64> =
                (0..).zip(&self.owners).filter(|one| *one.1 == number).map(|one| one.0).collect();
            spans.own(&own, number, nrows, &vec![0; own.len()]).unwrap();
        }
        spans
    }

    fn current(&self) -> Current {
        let numbers = if self.has_more { vec![1, 2, 3] } else { vec![1, 2] };
        let runs = numbers.into_iter().map(|number| self.run(number)).collect();
        let known = Known::Runs { runs, bucket_rows: self.bucket };
        Current::new(known, &self.spans(), self.keys.len() as u64).unwrap()
    }

    fn known_rows(&self) -> impl Iterator<Item = (i64, Option<u64>)> {
        let rows = (0..).zip(&self.keys).enumerate().filter(|(row, _)| self.owner(*row) > 0);
        rows.map(|(_, (row, key))| (row, *key))
    }

    fn rows(&self, is_wanted: impl Fn(Option<u64>) -> bool) -> BTreeSet<i64> {
        self.known_rows().filter(|(_, key)| is_wanted(*key)).map(|(row, _)| row).collect()
    }
}

prop_compose! {
    fn tables()(
        keys in proptest::collection::vec(proptest::option::weighted(0.9, 0..30_u64), 0..120),
        mut owners in proptest::collection::vec(0..3_u64, 8),
        shift in prop_oneof![Just(0), Just(50)],
        bucket in prop_oneof![Just(1_u64), Just(4)],
        has_more in any::<bool>(),
    ) -> Table {
        let keys: Vec<_> = keys.into_iter().map(|key| key.map(|key| key << shift | key)).collect();
        owners.truncate(keys.len().div_ceil(16));
        Table { keys, owners, bucket, has_more }
    }
}

fn rows_of(set: &RowSet) -> BTreeSet<i64> {
    set.rows().iter().copied().collect()
}

fn open_of(set: &[Range<i64>]) -> BTreeSet<i64> {
    set.iter().cloned().flatten().collect()
}

proptest! {
    #[test]
    fn answers_are_those_of_the_rows_that_are_owned(
        table in tables(),
        ends in proptest::collection::vec(0..200_usize, 0..6),
        (missing, by_key) in (any::<bool>(), any::<bool>()),
    ) {
        let (current, job) = (table.current(), Job::default());
        let mut all: Vec<u64> = table.keys.iter().flatten().copied().collect();
        all.push(77);
        let ends: BTreeSet<u64> = ends.into_iter().map(|end| all[end % all.len()]).collect();
        let ends: Vec<u64> = ends.into_iter().collect();
        let keys = KeyRanges::union(ends.chunks(2).map(|ends| ends[0]..=*ends.last().unwrap()).collect());
        let asked = Asked { keys: &keys, missing, by_key };
        let wanted = table.rows(|key| key.map_or(missing, |key| keys.contains(key)));
        let looked = current.lookup(&asked, &job).unwrap();
        let open = open_of(current.open());
        let unknown: BTreeSet<i64> = (0..table.keys.len()).filter(|row| table.owner(*row) == 0).map(|row| i64::try_from(row).unwrap()).collect();
        prop_assert_eq!(&open, &unknown);
        prop_assert_eq!(current.open_rows(), unknown.len() as u64);
        prop_assert!(current.estimate(&keys, missing) >= wanted.len() as u64);
        if table.bucket > 1 {
            prop_assert!(looked.unsure.is_empty() && looked.sure.rows().is_empty());
            let found = open_of(looked.sure.open());
            prop_assert!(wanted.is_subset(&found) && open.is_subset(&found));
            // No more than whole buckets.
            let near = |row: &i64| open.contains(row) || wanted.iter().any(|one| one / 4 == row / 4);
            prop_assert!(found.iter().all(near));
            prop_assert_eq!(current.count(&asked, &job).unwrap(), None);
            return Ok(());
        }
        let (sure, unsure): (_, BTreeSet<i64>) = (rows_of(&looked.sure), looked.unsure.iter().copied().collect());
        let inside = keys.without_ends();
        let surely = table.rows(|key| key.map_or(missing, |key| if by_key { keys.contains(key) } else { inside.contains(key) }));
        prop_assert!(sure.is_subset(&surely) && sure.is_disjoint(&unsure), "{:?} {:?}", sure, surely);
        prop_assert!(wanted.is_subset(&(&sure | &unsure)));
        prop_assert_eq!(open_of(looked.sure.open()), open);
        prop_assert!(looked.unsure.windows(2).all(|pair| pair[0] < pair[1]));
        if let Some(count) = current.count(&asked, &job).unwrap() {
            prop_assert_eq!(count, wanted.len() as u64);
        }
        prop_assert_eq!(current.missing_rows(&job).unwrap(), table.rows(|key| key.is_none()).into_iter().collect::<Vec<_>>());
    }

    #[test]
    fn entries_are_in_order_and_of_their_owner(table in tables(), ends in (0..30_u64, 0..30_u64)) {
        let table = Table { bucket: 1, ..table };
        let (current, job) = (table.current(), Job::default());
        let mut seen = BTreeSet::new();
        for at in 0..current.runs().len() {
            let number = current.runs().nth(at).unwrap().0.number;
            let mut wanted: Vec<(u64, i64)> = table.known_rows().filter(|(row, _)| table.owner(usize::try_from(*row).unwrap()) == number)
                .filter_map(|(row, key)| Some((key?, row))).collect();
            wanted.sort_unstable();
            let all = current.places(at, None, &job).unwrap();
            let rows = current.rows_at(at, all, &job).unwrap();
            prop_assert_eq!(&rows, &wanted.iter().map(|pair| pair.1).collect::<Vec<_>>());
            seen.extend(rows);
            let [low, high] = [ends.0.min(ends.1), ends.0.max(ends.1)];
            let part = current.places(at, Some([low, high]), &job).unwrap();
            let part: BTreeSet<i64> = current.rows_at(at, part, &job).unwrap().into_iter().collect();
            prop_assert!(wanted.iter().filter(|pair| (low..=high).contains(&pair.0)).all(|pair| part.contains(&pair.1)));
        }
        prop_assert_eq!(seen, table.rows(|key| key.is_some()));
        prop_assert!(current.places(9, None, &job).is_err() && current.rows_at(9, 0..0, &job).is_err());
    }

    #[test]
    fn zones_and_what_is_open_are_told_as_ranges(keys in proptest::collection::vec(0..30_u8, 1..120), key in 0..30_u64, cut in 0..6_u64) {
        let items = Memory::of(&keys, 16, None);
        let column = Keyed { column: Column::Items(&*items), kind: KeyKind::by_name("uint8").unwrap(), missing: None };
        let (nrows, job) = (keys.len() as u64, Job::default());
        let mut zones = Zones::new(4, SPAN).unwrap();
        zones.compute(&column, std::slice::from_ref(&(0..nrows)), &job).unwrap();
        let mut spans = Spans::new(SPAN).unwrap();
        let all = spans.wanted(&BTreeSet::new(), nrows);
        spans.own(&all, 0, nrows, &vec![0; all.len()]).unwrap();
        spans.changed(cut * SPAN..((cut + 1) * SPAN).min(nrows));
        let current = Current::new(Known::Zones(Arc::new(zones)), &spans, nrows).unwrap();
        let ranges = KeyRanges::points(&[key]);
        let asked = Asked { keys: &ranges, missing: false, by_key: true };
        let looked = current.lookup(&asked, &job).unwrap();
        let found = open_of(looked.sure.open());
        for (row, &own) in (0..).zip(&keys) {
            let is_open = u64::try_from(row).unwrap() / SPAN == cut;
            prop_assert!(found.contains(&row) || !(is_open || u64::from(own) == key));
        }
        prop_assert!(looked.sure.is_exact() && looked.sure.rows().is_empty());
        prop_assert_eq!(current.count(&asked, &job).unwrap(), None);
    }
}

#[test]
fn rows_that_there_are_not_are_damage() {
    let table = Table { keys: vec![Some(5); 20], owners: vec![1, 1], bucket: 1, has_more: false };
    let lost = NumberedRun { number: 1, rows: 20, run: Arc::new(run(&[(5, 3), (5, 99)], &[], 16, false)) };
    let keys = KeyRanges::points(&[5]);
    let asked = Asked { keys: &keys, missing: true, by_key: true };
    let (spans, job) = (table.spans(), Job::default());
    let of = |run: &NumberedRun, bucket_rows| {
        let known = Known::Runs { runs: vec![run.clone()], bucket_rows };
        Current::new(known, &spans, 20).unwrap()
    };
    assert!(of(&lost, 1).lookup(&asked, &job).is_err());
    let known = Known::Runs { runs: vec![NumberedRun { number: 7, ..lost }], bucket_rows: 1 };
    assert!(Current::new(known, &spans, 20).is_err(), "spans of a run that is not there");
}
