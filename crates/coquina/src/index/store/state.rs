//! The state of an index: what is stored of it, opened; extended by what is open; and written.
//!
//! In: a place for arrays, metadata, and the values that are indexed. Out: what can be asked now.
//! Source: `docs/formats/indexes.md`, "Spans".
//! Invariant: after an error the state is as it was before.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use super::metadata::{IndexKind, Metadata};
use super::params::IndexParams;
use super::place::{AppendItems, ArrayItems, IndexPlace, ItemKind, NewIndexArray};
use super::runs::{Building, NewRun, OpenRun};
use crate::array::BoxSource;
use crate::base::error::{Error, Result};
use crate::base::json::{JsonObject, JsonText};
use crate::base::pool::Job;
use crate::index::current::{Current, Known};
use crate::index::keys::KeyKind;
use crate::index::read::Keyed;
use crate::index::spans::Spans;
use crate::index::zones::Zones;
use crate::query::{Column, fingerprints};

/// A run is young if the others have so many times as many rows.
const OLDER_ROWS: u64 = 2;
/// Runs of kind `partial` are longer, where there would be more of them than this.
const PARTIAL_RUNS_MAX: u64 = 512;
/// Items of a chunk of spans or zones, and how they are compressed.
const LIST: u64 = 1 << 12;
const LIST_LEVEL: u8 = 5;

/// The values that are indexed, as they are now.
#[derive(Clone, Copy)]
pub struct IndexedValues<'v> {
    /// The values that have keys.
    pub column: Column<'v>,
    /// Where there is none.
    pub missing: Option<&'v dyn BoxSource>,
    /// All that a value depends on.
    pub fingerprinted: &'v [Column<'v>],
}

/// An index as it is stored.
#[derive(Clone)]
pub struct IndexState {
    key: String,
    meta: Metadata,
    params: IndexParams,
    spans: Spans,
    zones: Arc<Zones>,
    /// The array of spans, and what it has.
    stored: (u64, Vec<u8>),
    runs: Vec<OpenRun>,
}

impl IndexState {
    /// An index called `key` in its place, of metadata that name no arrays yet.
    ///
    /// # Errors
    /// `Invalid` for parameters that no index has.
    pub fn new(key: &str, meta: Metadata, params: IndexParams) -> Result<Self> {
        Ok(Self {
            key: key.to_owned(),
            meta,
            params,
            spans: Spans::new(params.span_rows)?,
            zones: Arc::new(Zones::new(params.zone_rows, params.span_rows)?),
            stored: (0, Vec::new()),
            runs: Vec::new(),
        })
    }

    /// Opens all that metadata name.
    ///
    /// # Errors
    /// `Corrupt`, also for what is not there; `Io`.
    pub fn load(place: &dyn IndexPlace, key: &str, meta: Metadata, params: IndexParams) -> Result<Self> {
        let mut made = Self::new(key, meta, params)?;
        let meta = &made.meta;
        let bytes = made.read(place, "spans", meta.spans, ItemKind::Span)?;
        made.spans = Spans::read(&bytes, params.span_rows)?;
        made.stored = (meta.spans, bytes);
        let zones = made.read(place, "zones", meta.zones, ItemKind::Zone)?;
        made.zones = Arc::new(Zones::read(&zones, params.zone_rows, params.span_rows)?);
        let run = |entry| OpenRun::open(place, key, entry, meta.block_entries);
        made.runs = meta.runs.iter().copied().map(run).collect::<Result<_>>()?;
        made.current(made.spans.stop())?;
        Ok(made)
    }

    /// Its metadata.
    pub fn metadata(&self) -> &Metadata {
        &self.meta
    }

    /// Its runs.
    pub fn runs(&self) -> &[OpenRun] {
        &self.runs
    }

    /// How many rows it knows.
    pub fn rows(&self) -> u64 {
        self.spans.rows()
    }

    /// The bytes of its spans and zones.
    pub fn list_bytes(&self) -> u64 {
        self.spans.bytes().len() as u64 + self.zones.bytes().len() as u64
    }

    /// What can be asked of `nrows` rows until spans change.
    ///
    /// # Errors
    /// `Corrupt` for spans of runs that there are not.
    pub fn current(&self, nrows: u64) -> Result<Current> {
        let known = if self.meta.kind == IndexKind::Zones {
            Known::Zones(Arc::clone(&self.zones))
        } else {
            let runs = self.runs.iter().map(OpenRun::numbered).collect();
            Known::Runs { runs, bucket_rows: self.meta.bucket_rows }
        };
        Current::new(known, &self.spans, nrows)
    }

    /// Forgets what was known of rows; returns whether that was anything.
    pub fn changed(&mut self, rows: Range<u64>) -> bool {
        self.spans.changed(rows)
    }

    /// Forgets what lies behind `nrows` rows; returns whether that was anything.
    pub fn resized(&mut self, nrows: u64) -> bool {
        self.spans.resized(nrows)
    }

    /// Forgets the spans whose values have other fingerprints now; returns whether there are some.
    ///
    /// # Errors
    /// What goes wrong with reading the values.
    pub fn verify(&mut self, fingerprinted: &[Column<'_>], job: &Job<'_>) -> Result<bool> {
        let found = fingerprints(fingerprinted, &self.spans.fingerprinted(), job)?;
        self.spans.verify(&found)
    }

    /// Indexes the spans that are open, or all of them, and writes what has changed: metadata
    /// last, with what `stamp` gives once all else is stored. What is not named any more is removed.
    ///
    /// # Errors
    /// What goes wrong with reading values, sorting and writing.
    pub fn extend(
        &mut self,
        place: &mut dyn IndexPlace,
        values: &IndexedValues<'_>,
        building: Building<'_>,
        stamp: &mut dyn FnMut() -> Result<JsonObject>,
    ) -> Result<()> {
        let before = self.clone();
        let done = self.index(place, values, building);
        let done = done.and_then(|()| self.save(place, building.nrows, stamp));
        if done.is_err() {
            *self = before;
        }
        done
    }

    fn index(
        &mut self,
        place: &mut dyn IndexPlace,
        values: &IndexedValues<'_>,
        building: Building<'_>,
    ) -> Result<()> {
        let Building { nrows, whole, .. } = building;
        self.spans.resized(nrows);
        let kind = KeyKind::by_name(&self.meta.key_kind)?;
        let column = Keyed { column: values.column, kind, missing: values.missing };
        if self.meta.kind == IndexKind::Zones {
            let known: BTreeSet<i32> = whole.then_some(0).into_iter().collect();
            let wanted = self.spans.wanted(&known, nrows);
            if wanted.is_empty() {
                return Ok(());
            }
            let ranges = self.ranges(&wanted, nrows);
            let rows = ranges.iter().map(|range| range.end - range.start).sum();
            let zones = Arc::make_mut(&mut self.zones);
            let bytes = column.read_bytes(rows);
            building.watch.read(rows, bytes, false, &mut |job| zones.compute(&column, &ranges, job))?;
            return self.own(&wanted, 0, values, building);
        }
        let absorbed = if whole {
            self.runs.iter().filter_map(|run| i32::try_from(run.entry.number).ok()).collect()
        } else {
            self.absorbed(nrows)
        };
        let wanted = self.spans.wanted(&absorbed, nrows);
        let young_rows = OLDER_ROWS * self.params.span_rows * wanted.len() as u64;
        // A young run is merged before long: the fastest codec takes half the time, and a tenth more space.
        let is_young = self.meta.kind != IndexKind::Partial && self.spans.rows() > young_rows;
        for part in wanted.chunks(self.run_spans(wanted.len()).max(1)) {
            let number = self.number(place)?;
            let run = NewRun {
                key: &self.key,
                number,
                bucket_rows: self.meta.bucket_rows,
                block_entries: self.meta.block_entries,
                codec: if is_young { "lz4" } else { "zstd" },
                ranges: &self.ranges(part, nrows),
            };
            let entry = run.write(place, column, building)?;
            self.meta.runs.push(entry);
            self.own(part, number, values, building)?;
        }
        Ok(())
    }

    /// Spans of each run that is to be made of so many.
    fn run_spans(&self, spans: usize) -> usize {
        if self.meta.kind != IndexKind::Partial {
            return spans;
        }
        let least = usize::try_from(self.params.partial_spans).unwrap_or(usize::MAX);
        least.max(spans.div_ceil(usize::try_from(PARTIAL_RUNS_MAX).unwrap_or(1)))
    }

    /// The rows of spans, adjacent ones as one range.
    fn ranges(&self, spans: &[u64], nrows: u64) -> Vec<Range<u64>> {
        let range = |range: &Range<i64>| range.start.unsigned_abs()..range.end.unsigned_abs();
        self.spans.joined(spans, nrows).iter().map(range).collect()
    }

    /// Gives spans to a run.
    fn own(
        &mut self,
        spans: &[u64],
        run: u64,
        values: &IndexedValues<'_>,
        building: Building<'_>,
    ) -> Result<()> {
        let nrows = building.nrows;
        let ranges = self.spans.ranges(spans, nrows);
        let mut found = Vec::new();
        building.watch.run(&mut |job| {
            found = fingerprints(values.fingerprinted, &ranges, job)?;
            Ok(())
        })?;
        self.spans.own(spans, run, nrows, &found)
    }

    /// The runs that are sorted anew with what is open: where there would be many of one length.
    fn absorbed(&self, nrows: u64) -> BTreeSet<i32> {
        let mut found = BTreeSet::new();
        if self.meta.kind == IndexKind::Partial {
            return found;
        }
        let mut left: BTreeMap<i32, u64> = self.spans.rows_of();
        let mut new = self.spans.wanted(&BTreeSet::new(), nrows).len() as u64 * self.params.span_rows;
        while new > 0 {
            let tier = self.tier(new);
            let alike = left.values().filter(|&&rows| self.tier(rows) == tier).count() as u64;
            if alike < self.params.tier_runs.saturating_sub(1) {
                break;
            }
            let smaller: Vec<i32> =
                left.iter().filter(|&(_, &rows)| self.tier(rows) <= tier).map(|(run, _)| *run).collect();
            new += smaller.iter().filter_map(|run| left.remove(run)).sum::<u64>();
            found.extend(smaller);
        }
        found
    }

    /// The tier of a run of so many rows.
    fn tier(&self, rows: u64) -> u32 {
        let spans = rows.max(1) / self.params.span_rows;
        spans.checked_ilog2().unwrap_or(0) / self.params.tier_runs.checked_ilog2().unwrap_or(1).max(1)
    }

    /// Writes what has changed: metadata last, with what `stamp` gives once all else is stored.
    ///
    /// # Errors
    /// What goes wrong with writing, and those of `stamp`.
    pub fn save(
        &mut self,
        place: &mut dyn IndexPlace,
        nrows: u64,
        stamp: &mut dyn FnMut() -> Result<JsonObject>,
    ) -> Result<()> {
        let owned = self.spans.rows_of();
        let is_owned = |number: u64| i32::try_from(number).is_ok_and(|number| owned.contains_key(&number));
        self.meta.runs.retain(|run| is_owned(run.number));
        self.meta.rows = nrows;
        let spans = self.spans.bytes();
        if self.stored.0 != self.meta.spans || self.stored.1 != spans {
            self.meta.spans = self.write(place, "spans", spans.clone(), ItemKind::Span)?;
        }
        self.meta.zones = if self.meta.kind == IndexKind::Zones {
            self.write(place, "zones", self.zones.bytes(), ItemKind::Zone)?
        } else {
            0
        };
        place.flush()?;
        self.meta.stamp = stamp()?;
        place.set_metadata(&self.key, &self.meta.text())?;
        place.flush()?;
        self.stored = (self.meta.spans, spans);
        sweep(place, &self.key, &self.meta)
    }

    /// Gives the index another name, and what it is of; its arrays stay as they are.
    ///
    /// # Errors
    /// `Io`.
    pub fn rename(&mut self, place: &mut dyn IndexPlace, name: JsonText, column: JsonText) -> Result<()> {
        (self.meta.name, self.meta.column) = (name, column);
        place.set_metadata(&self.key, &self.meta.text())
    }

    /// A number that nothing has, also not what a killed program left.
    fn number(&mut self, place: &dyn IndexPlace) -> Result<u64> {
        let mut taken = BTreeSet::new();
        for group in ["runs", "spans", "zones"] {
            taken.extend(place.names(&format!("{}/{group}", self.key))?);
        }
        let mut number = self.meta.next;
        while taken.contains(&number.to_string()) {
            number += 1;
        }
        self.meta.next = number + 1;
        Ok(number)
    }

    /// Stores a list anew; returns its number.
    fn write(
        &mut self,
        place: &mut dyn IndexPlace,
        group: &str,
        items: Vec<u8>,
        kind: ItemKind,
    ) -> Result<u64> {
        if items.is_empty() {
            return Ok(0);
        }
        let number = self.number(place)?;
        let path = format!("{}/{group}/{number}", self.key);
        let array = NewIndexArray { path, kind, codec: "zstd", level: LIST_LEVEL, chunk: LIST, rises: false };
        let mut items = Some(items);
        place.write(&[array], &mut |append: &mut AppendItems<'_>| {
            append(items.take().map(ArrayItems::Bytes).into_iter().collect())
        })?;
        Ok(number)
    }

    fn read(&self, place: &dyn IndexPlace, group: &str, number: u64, kind: ItemKind) -> Result<Vec<u8>> {
        if number == 0 {
            return Ok(Vec::new());
        }
        let path = format!("{}/{group}/{number}", self.key);
        let array = place.array(&path)?;
        if array.source.item_bytes() != kind.bytes() || array.source.shape().len() != 1 {
            let (dtype, shape) = (&array.dtype, array.source.shape());
            return Err(Error::corrupt(format!("{path}: {dtype} of shape {shape:?}")));
        }
        array.read().map_err(|e| e.at(path))
    }
}

/// Removes the arrays of an index that its metadata do not name.
///
/// # Errors
/// `Io`.
pub fn sweep(place: &mut dyn IndexPlace, key: &str, meta: &Metadata) -> Result<()> {
    let runs: BTreeSet<String> = meta.runs.iter().map(|run| run.number.to_string()).collect();
    let named = [
        ("spans", BTreeSet::from([meta.spans.to_string()])),
        ("zones", BTreeSet::from([meta.zones.to_string()])),
        ("runs", runs),
    ];
    let mut is_any = false;
    for (group, named) in named {
        let names = place.names(&format!("{key}/{group}"))?;
        for name in names.iter().filter(|name| !named.contains(*name)) {
            place.remove(&format!("{key}/{group}/{name}"))?;
            is_any = true;
        }
    }
    if is_any { place.flush() } else { Ok(()) }
}
