//! Indexes in memory: built, extended, opened again, and asked.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use proptest::prelude::*;

use super::*;
use crate::array::{BoxSource, Walk, check_box};
use crate::base::error::{Error, Result};
use crate::base::json::JsonObject;
use crate::base::pool::Job;
use crate::index::{Asked, KeyRanges};
use crate::query::Column;

/// Bytes of items, which are those of an array.
struct Bytes {
    items: Vec<u8>,
    item_bytes: usize,
}

impl BoxSource for Bytes {
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
        let at = usize::try_from(start[0]).unwrap() * self.item_bytes;
        out.copy_from_slice(&self.items[at..at + out.len()]);
        Ok(())
    }
}

/// A place in memory; `fails` is at which of its changes it does.
#[derive(Default)]
struct Memory {
    arrays: Mutex<BTreeMap<String, (ItemKind, Vec<u8>)>>,
    metadata: BTreeMap<String, String>,
    changes: usize,
    fails: Option<usize>,
}

impl Memory {
    fn change(&mut self) -> Result<()> {
        self.changes += 1;
        if self.fails == Some(self.changes) { Err(Error::invalid("it was to fail")) } else { Ok(()) }
    }
}

impl IndexPlace for Memory {
    fn names(&self, path: &str) -> Result<Vec<String>> {
        let below = format!("{path}/");
        let arrays = self.arrays.lock().unwrap();
        let names = arrays.keys().filter_map(|known| known.strip_prefix(&below));
        let mut names: Vec<String> =
            names.filter_map(|rest| rest.split('/').next().map(str::to_owned)).collect();
        names.dedup();
        Ok(names)
    }

    fn array(&self, path: &str) -> Result<PlacedArray> {
        let arrays = self.arrays.lock().unwrap();
        let (kind, items) = arrays.get(path).ok_or_else(|| Error::corrupt(format!("{path}: nothing")))?;
        let source = Bytes { items: items.clone(), item_bytes: kind.bytes() };
        Ok(PlacedArray { source: Arc::new(source), is_unsigned: true, dtype: "u".to_owned() })
    }

    fn write(
        &mut self,
        arrays: &[NewIndexArray],
        fill: &mut dyn FnMut(&mut AppendItems<'_>) -> Result<()>,
    ) -> Result<()> {
        self.change()?;
        for array in arrays {
            self.arrays.lock().unwrap().insert(array.path.clone(), (array.kind, Vec::new()));
        }
        fill(&mut |parts| {
            for (array, part) in arrays.iter().zip(&parts) {
                let mut known = self.arrays.lock().unwrap();
                known.get_mut(&array.path).unwrap().1.extend_from_slice(part.bytes());
            }
            Ok(())
        })
    }

    fn remove(&mut self, path: &str) -> Result<()> {
        self.change()?;
        self.arrays
            .lock()
            .unwrap()
            .retain(|known, _| known != path && !known.starts_with(&format!("{path}/")));
        Ok(())
    }

    fn set_metadata(&mut self, key: &str, text: &str) -> Result<()> {
        self.change()?;
        self.metadata.insert(key.to_owned(), text.to_owned());
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }

    fn folder(&self) -> Option<PathBuf> {
        None
    }
}

const PARAMS: IndexParams = IndexParams {
    span_rows: 32,
    zone_rows: 16,
    bucket_rows: 8,
    block_entries: 16,
    partial_spans: 2,
    tier_runs: 4,
};

fn source(values: &[i64]) -> Bytes {
    Bytes { items: values.iter().flat_map(|value| value.to_le_bytes()).collect(), item_bytes: 8 }
}

fn extended(state: &mut IndexState, place: &mut Memory, values: &[i64], whole: bool) -> Result<()> {
    let source = source(values);
    let fingerprinted = [Column::Items(&source)];
    let values = IndexedValues { column: fingerprinted[0], missing: None, fingerprinted: &fingerprinted };
    let nrows = source.shape()[0];
    let building = Building { nrows, whole, memory_limit: 1 << 20, watch: &Unwatched };
    state.extend(place, &values, building, &mut || Ok(JsonObject::default()))
}

/// An index of nothing yet.
fn empty(kind: IndexKind) -> IndexState {
    let meta = Metadata::new("n".into(), "n".into(), kind, "int64", &PARAMS);
    IndexState::new("n", meta, PARAMS).unwrap()
}

fn opened(place: &Memory) -> IndexState {
    let meta = Metadata::read(place.metadata["n"].as_bytes(), &PARAMS).unwrap();
    IndexState::load(place, "n", meta, PARAMS).unwrap()
}

/// The rows with keys in a range that an index gives, and whether it leaves none of them out.
fn check(state: &IndexState, values: &[i64], low: i64, high: i64) {
    let key = |value: i64| (value ^ i64::MIN).cast_unsigned();
    let keys = KeyRanges::new(&[key(low)], &[key(high)]).unwrap();
    let current = state.current(values.len() as u64).unwrap();
    let asked = Asked { keys: &keys, missing: false, by_key: true };
    let found = current.lookup(&asked, &Job::default()).unwrap();
    let is_open = |row: i64| found.sure.open().iter().any(|range| range.contains(&row));
    for (row, value) in values.iter().enumerate() {
        let row = i64::try_from(row).unwrap();
        let is_there = found.sure.rows().contains(&row) || found.unsure.contains(&row) || is_open(row);
        assert!(is_there || !(low..=high).contains(value), "row {row}: {value}");
    }
    let is_in = |row: &i64| (low..=high).contains(&values[usize::try_from(*row).unwrap()]);
    assert!(found.sure.rows().iter().all(|row| is_open(*row) || is_in(row)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn an_index_that_grows_and_is_opened_again_finds_what_a_scan_finds(
        parts in proptest::collection::vec(proptest::collection::vec(-9_i64..9, 1..90), 1..12),
        kind in 0_usize..4,
        low in -9_i64..9,
    ) {
        let kind = IndexKind::ALL[kind];
        let (mut place, mut state, mut values) = (Memory::default(), empty(kind), Vec::new());
        for part in parts {
            values.extend(part);
            extended(&mut state, &mut place, &values, false).unwrap();
            state = opened(&place);
            prop_assert_eq!(state.rows(), values.len() as u64);
            check(&state, &values, low, low + 3);
            let runs = state.runs().len() as u64;
            prop_assert!(kind == IndexKind::Partial || runs < 2 * PARAMS.tier_runs);
        }
        extended(&mut state, &mut place, &values, true).unwrap();
        let runs = usize::from(kind != IndexKind::Zones);
        prop_assert!(kind == IndexKind::Partial || opened(&place).runs().len() == runs);
        state = opened(&place);
        let first = values[0];
        values[0] = 99;
        let changed = source(&values);
        let is_wrong = state.verify(&[Column::Items(&changed)], &Job::default()).unwrap();
        prop_assert_eq!(is_wrong, first != 99);
        check(&state, &values, 99, 99);
    }
}

#[test]
fn a_failure_at_any_change_leaves_the_index_as_it_was_or_as_it_becomes() {
    let values: Vec<i64> = (0..200).map(|row| row * 7 % 31).collect();
    for fails in 1..40 {
        let (mut place, mut state) = (Memory::default(), empty(IndexKind::Full));
        extended(&mut state, &mut place, &values[..100], false).unwrap();
        let mut state = opened(&place);
        (place.changes, place.fails) = (0, Some(fails));
        let done = extended(&mut state, &mut place, &values, true);
        place.fails = None;
        let rows = opened(&place).rows();
        assert!(rows == 100 || rows == 200, "{rows}");
        assert!(done.is_err() || rows == 200);
        check(&opened(&place), &values, 3, 9);
        let mut state = opened(&place);
        extended(&mut state, &mut place, &values, false).unwrap();
        assert_eq!(opened(&place).rows(), 200);
    }
}
