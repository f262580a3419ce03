//! Which run knows which rows: for each span of rows its owner, and a fingerprint of its values.
//!
//! In: what changes, and what is sorted. Out: open ranges, of which no run knows anything, and who owns a row.
//! Source: `docs/formats/indexes.md`, "Spans".
//! Invariant: a span that is owned has a fingerprint of its first `rows` rows as they were when its run was made; all
//! of them but the last are whole.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::row_sets::united;
use crate::base::bytes::ByteReader;
use crate::base::error::{Error, Result};

/// Rows of a span, in a file.
pub const SPAN_ROWS: u64 = 1 << 16;
/// The run of a span that nobody owns.
const OPEN: i32 = -1;
/// Bytes of a span as it is stored.
const SPAN_BYTES: usize = 16;

/// One span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Span {
    fingerprint: u64,
    /// The number of the run that owns it; below 0 for none.
    run: i32,
    /// How many of its rows, from the first one on, the run knows.
    rows: i32,
}

impl Span {
    const NOBODYS: Self = Self { fingerprint: 0, run: OPEN, rows: 0 };

    fn is_owned(&self) -> bool {
        self.run >= 0
    }

    fn rows(&self) -> u64 {
        u64::from(self.rows.unsigned_abs())
    }
}

/// The spans of an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spans {
    items: Vec<Span>,
    span_rows: u64,
}

impl Spans {
    /// No spans, of so many rows each.
    ///
    /// # Errors
    /// `Invalid` for spans of no rows, or of more than a file can say.
    pub fn new(span_rows: u64) -> Result<Self> {
        if span_rows == 0 || i32::try_from(span_rows).is_err() {
            return Err(Error::invalid(format!("spans of {span_rows} rows")));
        }
        Ok(Self { items: Vec::new(), span_rows })
    }

    /// The stored spans: 16 bytes each.
    ///
    /// # Errors
    /// `Corrupt` for what cannot be.
    pub fn read(bytes: &[u8], span_rows: u64) -> Result<Self> {
        let mut spans = Self::new(span_rows)?;
        let mut reader = ByteReader::new(bytes);
        for _ in 0..bytes.len() / SPAN_BYTES {
            let fingerprint = reader.i64_le("fingerprint")?.cast_unsigned();
            let [run, rows] = [reader.i32_le("run")?, reader.i32_le("rows")?];
            spans.items.push(Span { fingerprint, run, rows });
        }
        spans.check()?;
        Ok(spans)
    }

    /// The spans as they are stored.
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.items.len() * SPAN_BYTES);
        for span in &self.items {
            bytes.extend(span.fingerprint.to_le_bytes());
            bytes.extend(span.run.to_le_bytes());
            bytes.extend(span.rows.to_le_bytes());
        }
        bytes
    }

    fn check(&self) -> Result<()> {
        let owned: Vec<&Span> = self.items.iter().filter(|span| span.is_owned()).collect();
        let limits = 1..=i64::try_from(self.span_rows).unwrap_or(i64::MAX);
        if let Some(span) = owned.iter().find(|span| !limits.contains(&i64::from(span.rows))) {
            let (rows, most) = (span.rows, self.span_rows);
            return Err(Error::corrupt(format!("a span of {rows} rows, of at most {most}")));
        }
        if let [before @ .., _] = &owned[..]
            && before.iter().any(|span| span.rows() != self.span_rows)
        {
            return Err(Error::corrupt("a span that is not the last one is not whole".to_owned()));
        }
        Ok(())
    }

    /// Rows of a span.
    pub fn span_rows(&self) -> u64 {
        self.span_rows
    }

    /// Whether there are no spans.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The run of each span; below 0 for none.
    pub(super) fn owners(&self) -> impl Iterator<Item = i32> {
        self.items.iter().map(|span| span.run)
    }

    /// The spans that are owned, by their numbers.
    fn owned(&self) -> impl DoubleEndedIterator<Item = (u64, &Span)> {
        let numbered = self.items.iter().enumerate();
        numbered.filter(|(_, span)| span.is_owned()).map(|(number, span)| (number as u64, span))
    }

    /// The row behind the last that is owned.
    pub fn stop(&self) -> u64 {
        self.owned().next_back().map_or(0, |(number, span)| number * self.span_rows + span.rows())
    }

    /// How many rows are owned.
    pub fn rows(&self) -> u64 {
        self.owned().map(|(_, span)| span.rows()).sum()
    }

    /// How many rows each run owns, by its number.
    pub fn rows_of(&self) -> BTreeMap<i32, u64> {
        let mut found = BTreeMap::new();
        self.owned().for_each(|(_, span)| *found.entry(span.run).or_default() += span.rows());
        found
    }

    /// The ranges of `nrows` rows that nobody owns: ascending, not adjacent.
    pub fn open_ranges(&self, nrows: u64) -> Vec<Range<i64>> {
        let (mut found, mut before) = (Vec::new(), 0);
        let mut push = |range: Range<u64>| {
            if range.start < range.end {
                found.push(range.start.cast_signed()..range.end.cast_signed());
            }
        };
        for (number, span) in self.owned() {
            let start = number * self.span_rows;
            push(before..start.min(nrows));
            before = (start + span.rows()).min(nrows);
        }
        push(before..nrows);
        found
    }

    /// Forgets what was known of rows; returns whether that was anything.
    pub fn changed(&mut self, rows: Range<u64>) -> bool {
        if rows.is_empty() {
            return false;
        }
        let [first, last] = [rows.start / self.span_rows, rows.end.div_ceil(self.span_rows)]
            .map(|number| usize::try_from(number).unwrap_or(usize::MAX).min(self.items.len()));
        let part = &mut self.items[first..last];
        let was_owned = part.iter().any(Span::is_owned);
        part.iter_mut().for_each(|span| span.run = OPEN);
        was_owned
    }

    /// Forgets what lies behind `nrows` rows; returns whether that was anything.
    pub fn resized(&mut self, nrows: u64) -> bool {
        let is_shorter = self.stop() > nrows;
        self.items.truncate(usize::try_from(nrows.div_ceil(self.span_rows)).unwrap_or(usize::MAX));
        if self.stop() > nrows {
            // The last of them has a fingerprint of more rows than there are.
            self.changed(nrows - 1..nrows);
        }
        is_shorter
    }

    /// The rows of each span that is owned, which its fingerprint is of.
    pub fn fingerprinted(&self) -> Vec<Range<u64>> {
        let rows = |(number, span): (u64, &Span)| {
            let start = number * self.span_rows;
            start..start + span.rows()
        };
        self.owned().map(rows).collect()
    }

    /// Forgets the spans whose values have other fingerprints than these, which are those of
    /// [`Spans::fingerprinted`]; returns whether there are some.
    ///
    /// # Errors
    /// `Invalid` if there are not as many.
    pub fn verify(&mut self, found: &[u64]) -> Result<bool> {
        let owned: Vec<&mut Span> = self.items.iter_mut().filter(|span| span.is_owned()).collect();
        check_count(owned.len(), found)?;
        let mut is_wrong = false;
        for (span, &found) in owned.into_iter().zip(found) {
            if span.fingerprint != found {
                span.run = OPEN;
                is_wrong = true;
            }
        }
        Ok(is_wrong)
    }

    /// The spans of `nrows` rows that are open, or owned by one of some runs, by their numbers.
    pub fn wanted(&self, runs: &BTreeSet<i32>, nrows: u64) -> Vec<u64> {
        let is_kept = |number: &u64| {
            let span = usize::try_from(*number).ok().and_then(|number| self.items.get(number));
            let rows = self.span_rows.min(nrows - number * self.span_rows);
            span.is_some_and(|span| span.is_owned() && span.rows() == rows && !runs.contains(&span.run))
        };
        (0..nrows.div_ceil(self.span_rows)).filter(|number| !is_kept(number)).collect()
    }

    /// Gives spans of `nrows` rows to a run, which knows all of their rows: those of [`Spans::ranges`], of which these
    /// are the fingerprints.
    ///
    /// # Errors
    /// `Invalid` if there are not as many, or of a span that there is not; `Limit` for a run whose number is too large.
    pub fn own(&mut self, spans: &[u64], run: u64, nrows: u64, fingerprints: &[u64]) -> Result<()> {
        let run = i32::try_from(run).map_err(|_| Error::limit(format!("run {run}")))?;
        check_count(spans.len(), fingerprints)?;
        let count = nrows.div_ceil(self.span_rows);
        if let Some(span) = spans.iter().find(|&&span| span >= count) {
            return Err(Error::invalid(format!("span {span} of {count}")));
        }
        let len = usize::try_from(count).map_err(|_| Error::limit(format!("{count} spans")))?;
        if self.items.len() < len {
            self.items.resize(len, Span::NOBODYS);
        }
        for ((&span, range), &fingerprint) in spans.iter().zip(self.ranges(spans, nrows)).zip(fingerprints) {
            let rows = i32::try_from(range.end - range.start).unwrap_or(i32::MAX);
            let place = usize::try_from(span).unwrap_or(usize::MAX);
            self.items[place] = Span { fingerprint, run, rows };
        }
        Ok(())
    }

    /// The rows of spans, of `nrows` rows.
    pub fn ranges(&self, spans: &[u64], nrows: u64) -> Vec<Range<u64>> {
        let rows = |&span: &u64| {
            let start = span * self.span_rows;
            start..(start + self.span_rows).min(nrows)
        };
        spans.iter().map(rows).collect()
    }

    /// The rows of spans in order, of `nrows` rows: of adjacent ones as one range.
    pub fn joined(&self, spans: &[u64], nrows: u64) -> Vec<Range<i64>> {
        joined(spans.iter().copied(), self.span_rows, nrows)
    }
}

fn check_count(wanted: usize, found: &[u64]) -> Result<()> {
    let found = found.len();
    if found == wanted { Ok(()) } else { Err(Error::invalid(format!("{found} fingerprints of {wanted}"))) }
}

/// The rows of units of so many rows each, by their numbers in order, of `nrows` rows: adjacent ones are one range.
pub(super) fn joined(units: impl Iterator<Item = u64>, unit_rows: u64, nrows: u64) -> Vec<Range<i64>> {
    let ranges = units.map(|unit| {
        let start = unit.saturating_mul(unit_rows).min(nrows);
        start.cast_signed()..start.saturating_add(unit_rows).min(nrows).cast_signed()
    });
    united(&ranges.filter(|range| !range.is_empty()).collect::<Vec<_>>(), &[])
}

#[cfg(test)]
mod tests;
