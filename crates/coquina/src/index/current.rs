//! What an index can be asked as long as nothing changes: its runs, or zones, and what they know.
//!
//! In: ranges of keys. Out: rows that are owned by the run which has them, and the ranges that nobody owns.
//! Invariant: rows that a run has and does not own are in no answer.

use std::ops::Range;
use std::sync::Arc;

use super::key_ranges::KeyRanges;
use super::row_sets::{RowSet, rows_in, united};
use super::run::{Found, Run};
use super::spans::{Spans, joined};
use super::zones::Zones;
use crate::base::error::{Error, Result};
use crate::base::pool::Job;
use crate::query::{RowOp, combine};

/// A run of an index.
#[derive(Clone)]
pub struct NumberedRun {
    /// Its name among the runs of the index, and in the spans that it owns.
    pub number: u64,
    /// How many rows it was made of.
    pub rows: u64,
    /// The run.
    pub run: Arc<Run>,
}

/// What an index knows rows by.
#[derive(Clone)]
pub enum Known {
    /// Runs of rows, or of buckets of so many rows.
    Runs {
        /// The runs.
        runs: Vec<NumberedRun>,
        /// Rows of a bucket; 1 for rows themselves.
        bucket_rows: u64,
    },
    /// Zones.
    Zones(Arc<Zones>),
}

/// What is asked of an index.
#[derive(Clone, Copy)]
pub struct Asked<'k> {
    /// Rows with these keys,
    pub keys: &'k KeyRanges,
    /// and those without a key, if wanted.
    pub missing: bool,
    /// Whether all rows whose keys are in the ranges belong to the answer. Else those at the ends of a range may not.
    pub by_key: bool,
}

/// Rows that an index has found.
pub struct Looked {
    /// Those that belong to the answer, and what is open.
    pub sure: RowSet,
    /// Those that may; none of them is among the others.
    pub unsure: Vec<i64>,
}

struct Owned {
    run: NumberedRun,
    /// Whether all of its rows are still its own.
    owns_all: bool,
}

/// What can be asked now. See the module.
pub struct Current {
    known: Option<Arc<Zones>>,
    runs: Vec<Owned>,
    bucket_rows: u64,
    nrows: u64,
    open: Vec<Range<i64>>,
    /// The number of the run of each span; below 0 for none.
    owners: Vec<i32>,
    span_rows: u64,
    /// The row behind the last that is owned.
    stop: u64,
}

impl Current {
    /// What is known of `nrows` rows, of which `spans` say who owns them.
    ///
    /// # Errors
    /// `Corrupt` for spans of runs that there are not.
    pub fn new(known: Known, spans: &Spans, nrows: u64) -> Result<Self> {
        let (zones, runs, bucket_rows) = match known {
            Known::Runs { runs, bucket_rows } => (None, runs, bucket_rows.max(1)),
            Known::Zones(zones) => (Some(zones), Vec::new(), 1),
        };
        let owned = spans.rows_of();
        let number_of = |run: &NumberedRun| i32::try_from(run.number).unwrap_or(i32::MIN);
        let is_known = |number: &i32| match &zones {
            Some(_) => *number == 0,
            None => runs.iter().any(|run| number_of(run) == *number),
        };
        let strange: Vec<i32> = owned.keys().filter(|number| !is_known(number)).copied().collect();
        if !strange.is_empty() {
            return Err(Error::corrupt(format!("spans of the runs {strange:?}, which there are not")));
        }
        let owning = runs.into_iter().filter_map(|run| {
            let rows = *owned.get(&number_of(&run))?;
            Some(Owned { owns_all: rows == run.rows, run })
        });
        Ok(Self {
            runs: owning.collect(),
            known: zones,
            bucket_rows,
            nrows,
            open: spans.open_ranges(nrows),
            owners: spans.owners().collect(),
            span_rows: spans.span_rows(),
            stop: spans.stop(),
        })
    }

    /// How many rows there are.
    pub fn nrows(&self) -> u64 {
        self.nrows
    }

    /// The ranges of rows that nothing is known of: ascending, not adjacent.
    pub fn open(&self) -> &[Range<i64>] {
        &self.open
    }

    /// How many rows nothing is known of.
    pub fn open_rows(&self) -> u64 {
        rows_in(&self.open)
    }

    /// The runs that own rows, and whether each of them owns all of its own.
    pub fn runs(&self) -> impl ExactSizeIterator<Item = (&NumberedRun, bool)> {
        self.runs.iter().map(|owned| (&owned.run, owned.owns_all))
    }

    /// The rows that are asked for. Where rows are known by buckets or zones, all of these are open.
    ///
    /// # Errors
    /// `Corrupt` for rows that there are not, and what goes wrong with reading.
    pub fn lookup(&self, asked: &Asked<'_>, job: &Job<'_>) -> Result<Looked> {
        let units = match &self.known {
            Some(zones) => Some((zones.candidates(asked.keys, asked.missing), zones.zone_rows())),
            None if self.bucket_rows > 1 => Some((self.buckets(asked, job)?, self.bucket_rows)),
            None => None,
        };
        if let Some((units, unit_rows)) = units {
            let open = united(&joined(units.into_iter(), unit_rows, self.nrows), &self.open);
            return Ok(Looked { sure: RowSet::of(Vec::new(), open, true), unsure: Vec::new() });
        }
        let Found { sure, unsure } = self.found(asked, job)?;
        Ok(Looked { sure: RowSet::of(sure, self.open.clone(), true), unsure })
    }

    /// How many rows [`Current::lookup`] gives at most, without those of open ranges; from memory alone.
    pub fn estimate(&self, keys: &KeyRanges, missing: bool) -> u64 {
        let found = match &self.known {
            Some(zones) => (zones.candidates(keys, missing).len() as u64).saturating_mul(zones.zone_rows()),
            None => {
                let of_run = |owned: &Owned| {
                    let gone = if missing { owned.run.run.missing() } else { 0 };
                    owned.run.run.estimate(keys).saturating_add(gone)
                };
                let found = self.runs.iter().map(of_run).fold(0, u64::saturating_add);
                found.saturating_mul(self.bucket_rows)
            }
        };
        found.min(self.nrows - self.open_rows().min(self.nrows))
    }

    /// How many rows are asked for, if runs know the number.
    ///
    /// # Errors
    /// What goes wrong with reading.
    pub fn count(&self, asked: &Asked<'_>, job: &Job<'_>) -> Result<Option<u64>> {
        if !self.tells_rows() || !asked.by_key || self.runs.iter().any(|owned| !owned.owns_all) {
            return Ok(None);
        }
        let mut total = 0;
        for Owned { run, .. } in &self.runs {
            let (sure, unsure) = run.run.count(asked.keys, job)?;
            if unsure > 0 {
                return Ok(None);
            }
            total += sure + if asked.missing { run.run.missing() } else { 0 };
        }
        Ok(Some(total))
    }

    /// Whether rows are told one by one, and nothing is open.
    pub fn tells_rows(&self) -> bool {
        self.known.is_none() && self.bucket_rows == 1 && self.open.is_empty()
    }

    /// The rows without a key.
    ///
    /// # Errors
    /// As [`Current::lookup`].
    pub fn missing_rows(&self, job: &Job<'_>) -> Result<Vec<i64>> {
        let of_run = |owned: &Owned| {
            let mut rows = owned.run.run.missing_rows(job)?;
            rows.sort_unstable();
            self.checked(owned, rows)
        };
        Ok(merged(self.runs.iter().map(of_run).collect::<Result<_>>()?))
    }

    /// The places of the entries of a run whose keys are in a range; a few more may be among them.
    ///
    /// # Errors
    /// `OutOfBounds` for a run that there is not, and what goes wrong with reading.
    pub fn places(&self, run: usize, keys: Option<[u64; 2]>, job: &Job<'_>) -> Result<Range<u64>> {
        let run = &self.run(run)?.run.run;
        let Some([low, high]) = keys else { return Ok(0..run.entries()) };
        // How many entries are not behind a key, and of how many more that may be.
        let entries = |key| run.count(&KeyRanges::union(vec![0..=key]), job);
        let start = low.checked_sub(1).map(entries).transpose()?.map_or(0, |(sure, _)| sure);
        let (sure, unsure) = entries(high)?;
        Ok(start..start.max(sure + unsure))
    }

    /// The rows that a run owns of entries at these places, in the order of keys.
    ///
    /// # Errors
    /// As [`Current::places`].
    pub fn rows_at(&self, run: usize, places: Range<u64>, job: &Job<'_>) -> Result<Vec<i64>> {
        let owned = self.run(run)?;
        let rows = owned.run.run.rows_at(places.start, places.end, job)?;
        Ok(self.owned(owned, rows))
    }

    fn run(&self, run: usize) -> Result<&Owned> {
        let count = self.runs.len();
        self.runs.get(run).ok_or_else(|| Error::out_of_bounds(format!("run {run} of {count}")))
    }

    /// The rows that are in ranges, and those that may be.
    fn found(&self, asked: &Asked<'_>, job: &Job<'_>) -> Result<Found> {
        // A row whose key is an end of a range may be in it, if keys do not tell values apart.
        let edges = (!asked.by_key).then(|| (asked.keys.without_ends(), asked.keys.ends()));
        let inner = edges.as_ref().map_or(asked.keys, |(inner, _)| inner);
        let (mut sure, mut unsure) = (Vec::new(), Vec::new());
        for owned in &self.runs {
            let run = &owned.run.run;
            let found = run.find(inner, job)?;
            sure.push(self.checked(owned, found.sure)?);
            unsure.push(self.checked(owned, found.unsure)?);
            if let Some((_, edges)) = &edges {
                let found = run.find(edges, job)?;
                unsure.push(self.checked(owned, found.sure)?);
                unsure.push(self.checked(owned, found.unsure)?);
            }
            if asked.missing {
                sure.push(self.checked(owned, run.missing_rows(job)?)?);
            }
        }
        let (sure, mut unsure) = (merged(sure), merged(unsure));
        if edges.is_some() && !unsure.is_empty() {
            // At the end of a range a row may be found twice, once because of what is within.
            unsure = combine(RowOp::Minus, &unsure, &sure);
        }
        Ok(Found { sure, unsure })
    }

    /// The buckets that have rows that are asked for, or may have.
    fn buckets(&self, asked: &Asked<'_>, job: &Job<'_>) -> Result<Vec<u64>> {
        let mut found = Vec::new();
        for owned in &self.runs {
            let run = &owned.run.run;
            let Found { sure, unsure } = run.find(asked.keys, job)?;
            let missing = if asked.missing { run.missing_rows(job)? } else { Vec::new() };
            let rows = sure.into_iter().chain(unsure).chain(missing);
            let per_span = (self.span_rows / self.bucket_rows).max(1);
            found.extend(rows.filter(|bucket| self.is_owner(owned, bucket.unsigned_abs() / per_span)));
        }
        let count = self.nrows.div_ceil(self.bucket_rows);
        if let Some(bucket) = found.iter().find(|bucket| bucket.unsigned_abs() >= count) {
            return Err(Error::corrupt(format!("bucket {bucket} of {count}")));
        }
        found.sort_unstable();
        found.dedup();
        Ok(found.into_iter().map(i64::unsigned_abs).collect())
    }

    /// Whether a run owns a span. Those that were cut off are owned by nobody.
    fn is_owner(&self, owned: &Owned, span: u64) -> bool {
        let owner = usize::try_from(span).ok().and_then(|span| self.owners.get(span));
        owner.is_some_and(|&owner| u64::try_from(owner) == Ok(owned.run.number))
    }

    /// Those of a run's rows, in any order, that it owns.
    fn owned(&self, owned: &Owned, mut rows: Vec<i64>) -> Vec<i64> {
        if !owned.owns_all {
            rows.retain(|row| self.is_owner(owned, row.unsigned_abs() / self.span_rows));
        }
        rows
    }

    /// The rows that a run owns, of some in order.
    fn checked(&self, owned: &Owned, rows: Vec<i64>) -> Result<Vec<i64>> {
        let rows = self.owned(owned, rows);
        match (rows.first(), rows.last()) {
            (Some(&first), Some(&last)) if first < 0 || last.unsigned_abs() >= self.stop => {
                let (number, stop) = (owned.run.number, self.stop);
                Err(Error::corrupt(format!("run {number}: rows {first} to {last} of {stop}")))
            }
            _ => Ok(rows),
        }
    }
}

/// Rows of several runs, each in order: in order, nothing twice.
fn merged(parts: Vec<Vec<i64>>) -> Vec<i64> {
    let mut parts = parts.into_iter().filter(|part| !part.is_empty());
    let Some(mut rows) = parts.next() else { return Vec::new() };
    let len = rows.len();
    parts.for_each(|mut part| rows.append(&mut part));
    if rows.len() > len {
        // A stable sort merges parts that are in order.
        rows.sort();
        rows.dedup();
    }
    rows
}

#[cfg(test)]
mod tests;
