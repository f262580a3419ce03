//! Sets of rows that indexes give: numbers of rows, and ranges of which nothing is known.
//!
//! In: rows, ascending, and open ranges. Out: sets, combined by and or or, and parts of them.
//! Invariant: a row that belongs to the answer is among [`RowSet::rows`] or in an open range; if the set is exact, a
//! row among these that is in no open range belongs to it.

use std::ops::Range;

use crate::base::error::Result;
use crate::query::{RowOp, check_ascending, check_ranges, combine, minus_ranges, within};

/// Rows that may belong to an answer. See the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowSet {
    rows: Vec<i64>,
    open: Vec<Range<i64>>,
    is_exact: bool,
}

impl RowSet {
    /// A set of rows and open ranges, both ascending.
    ///
    /// # Errors
    /// `Invalid` for rows and ranges that do not ascend, or begin below 0.
    pub fn new(rows: Vec<i64>, open: &[[i64; 2]], is_exact: bool) -> Result<Self> {
        check_ascending(&rows, u64::MAX)?;
        Ok(Self { rows, open: check_ranges(open, u64::MAX)?, is_exact })
    }

    /// A set of what is known to ascend.
    pub(super) fn of(rows: Vec<i64>, open: Vec<Range<i64>>, is_exact: bool) -> Self {
        Self { rows, open, is_exact }
    }

    /// The set of so many rows of which nothing is known.
    pub fn all(count: u64) -> Self {
        let stop = i64::try_from(count).unwrap_or(i64::MAX);
        Self::of(Vec::new(), (stop > 0).then_some(0..stop).into_iter().collect(), true)
    }

    /// The set without rows.
    pub fn none() -> Self {
        Self::all(0)
    }

    /// Rows that may belong to the answer.
    pub fn rows(&self) -> &[i64] {
        &self.rows
    }

    /// Ranges of rows of which nothing is known: ascending and disjoint.
    pub fn open(&self) -> &[Range<i64>] {
        &self.open
    }

    /// Whether rows that are in no open range belong to the answer.
    pub fn is_exact(&self) -> bool {
        self.is_exact
    }

    /// It, as a set that is not exact.
    #[must_use]
    pub fn inexact(mut self) -> Self {
        self.is_exact = false;
        self
    }

    /// How many rows nothing is known of.
    pub fn open_rows(&self) -> u64 {
        rows_in(&self.open)
    }

    /// The rows that may be in both.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        let is_exact = self.is_exact && other.is_exact;
        let rows = combine(RowOp::And, &self.rows, &other.rows);
        if self.open.is_empty() && other.open.is_empty() {
            return Self::of(rows, Vec::new(), is_exact);
        }
        // A row of one set that is open in the other may be in both, which is all that is known of it.
        let (mine, theirs) = (within(&self.rows, &other.open), within(&other.rows, &self.open));
        let unsure = combine(RowOp::Or, &mine, &theirs);
        let open = intersected(&self.open, &other.open);
        // A row that is open in both is not known either way.
        let is_exact = is_exact && within(&unsure, &open).len() == unsure.len();
        Self::of(combine(RowOp::Or, &rows, &unsure), open, is_exact)
    }

    /// The rows that may be in any of both.
    #[must_use]
    pub fn or(&self, other: &Self) -> Self {
        let rows = combine(RowOp::Or, &self.rows, &other.rows);
        Self::of(rows, united(&self.open, &other.open), self.is_exact && other.is_exact)
    }

    /// The part of the set that is in a range of rows.
    #[must_use]
    pub fn clip(&self, range: &Range<i64>) -> Self {
        let first = self.rows.partition_point(|&row| row < range.start);
        let last = self.rows.partition_point(|&row| row < range.end).max(first);
        let clipped =
            self.open.iter().map(|open| open.start.max(range.start)..open.end.min(range.end)).filter(is_some);
        Self::of(self.rows[first..last].to_vec(), clipped.collect(), self.is_exact)
    }

    /// Whether all of the set is in a range of rows.
    pub fn is_within(&self, range: &Range<i64>) -> bool {
        let ends = self.rows.first().zip(self.rows.last()).map(|(&first, &last)| first..last + 1);
        let open = self.open.first().zip(self.open.last()).map(|(first, last)| first.start..last.end);
        let mut parts = ends.into_iter().chain(open);
        parts.all(|part| range.start <= part.start && part.end <= range.end)
    }

    /// The part of the set that is among every so many rows from `start` on, below `stop`. Open ranges keep the rows
    /// between these.
    #[must_use]
    pub fn strided(&self, start: i64, stop: i64, step: u64) -> Self {
        // What is behind the last of these is none of them.
        let between = (stop.saturating_sub(1).saturating_sub(start)).rem_euclid(step.max(1).cast_signed());
        let mut part = self.clip(&(start..stop.saturating_sub(between)));
        if step > 1 {
            part.rows.retain(|&row| row.abs_diff(start).is_multiple_of(step));
        }
        part
    }

    /// The rows that are in no open range: of an exact set these belong to the answer.
    pub fn known(&self) -> Vec<i64> {
        minus_ranges(&self.rows, &self.open)
    }
}

/// How many rows there are in disjoint ranges.
pub(super) fn rows_in(ranges: &[Range<i64>]) -> u64 {
    ranges.iter().map(|range| range.end.abs_diff(range.start)).sum()
}

fn is_some(range: &Range<i64>) -> bool {
    !range.is_empty()
}

/// Where ranges of both overlap; each are ascending and disjoint.
fn intersected(one: &[Range<i64>], other: &[Range<i64>]) -> Vec<Range<i64>> {
    let (mut found, mut left, mut right) = (Vec::new(), one, other);
    while let ([one, ones @ ..], [two, twos @ ..]) = (left, right) {
        let range = one.start.max(two.start)..one.end.min(two.end);
        if !range.is_empty() {
            found.push(range);
        }
        if one.end <= two.end {
            left = ones;
        } else {
            right = twos;
        }
    }
    found
}

/// Ranges with all rows of both, ascending and not adjacent.
pub(super) fn united(one: &[Range<i64>], other: &[Range<i64>]) -> Vec<Range<i64>> {
    let mut all: Vec<Range<i64>> = one.iter().chain(other).cloned().collect();
    all.sort_by_key(|range| range.start);
    let mut joined: Vec<Range<i64>> = Vec::with_capacity(all.len());
    for range in all {
        match joined.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => joined.push(range),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    const ROWS: i64 = 60;

    type Drawn = (BTreeSet<i64>, Vec<(i64, i64)>, bool);

    fn drawn() -> impl Strategy<Value = Drawn> {
        let ranges = proptest::collection::vec((0..ROWS, 0..ROWS), 0..5);
        (proptest::collection::btree_set(0..ROWS, 0..30), ranges, any::<bool>())
    }

    fn set((rows, ranges, is_exact): &Drawn) -> RowSet {
        let open = ranges.iter().map(|&(start, stop)| start..stop).filter(is_some);
        let open: Vec<[i64; 2]> =
            united(&open.collect::<Vec<_>>(), &[]).iter().map(|range| [range.start, range.end]).collect();
        RowSet::new(rows.iter().copied().collect(), &open, *is_exact).unwrap()
    }

    /// The rows that surely belong to the answer, and those that may.
    fn possible(set: &RowSet) -> (BTreeSet<i64>, BTreeSet<i64>) {
        let unknown: BTreeSet<i64> = set.open().iter().cloned().flatten().collect();
        let rows: BTreeSet<i64> = set.rows().iter().copied().collect();
        assert!(set.rows().windows(2).all(|pair| pair[0] < pair[1]));
        assert!(
            set.open().iter().all(is_some) && set.open().windows(2).all(|pair| pair[0].end < pair[1].start)
        );
        let sure = if set.is_exact() { &rows - &unknown } else { BTreeSet::new() };
        (sure, &rows | &unknown)
    }

    proptest! {
        #[test]
        fn sets_hold_what_may_be_and_say_what_is(a in drawn(), b in drawn(), range in (0..ROWS, 0..ROWS), step in 1..7_u64) {
            let (left, right) = (set(&a), set(&b));
            let ((left_sure, left_maybe), (right_sure, right_maybe)) = (possible(&left), possible(&right));
            let (sure, maybe) = possible(&left.and(&right));
            prop_assert!(sure.is_subset(&(&left_sure & &right_sure)));
            prop_assert_eq!(maybe, &left_maybe & &right_maybe);
            let (sure, maybe) = possible(&left.or(&right));
            prop_assert!(sure.is_subset(&(&left_sure | &right_sure)));
            prop_assert_eq!(maybe, &left_maybe | &right_maybe);
            // What nothing is known of is all that makes a set less sure than both.
            if left.is_exact() && right.is_exact() && left.open().is_empty() && right.open().is_empty() {
                prop_assert!(left.and(&right).is_exact() && left.or(&right).is_exact());
            }
            let inside: BTreeSet<i64> = (range.0..range.1).collect();
            let (sure, maybe) = possible(&left.clip(&(range.0..range.1)));
            prop_assert_eq!((&sure, &maybe), (&(&left_sure & &inside), &(&left_maybe & &inside)));
            prop_assert_eq!(left.is_within(&(range.0..range.1)), left_maybe.is_subset(&inside));
            let steps: BTreeSet<i64> = (range.0..range.1).step_by(usize::try_from(step).unwrap()).collect();
            let part = left.strided(range.0, range.1, step);
            prop_assert!(part.rows().iter().all(|row| steps.contains(row)));
            let (sure, maybe) = possible(&part);
            prop_assert_eq!((&sure & &steps, &maybe & &steps), (&left_sure & &steps, &left_maybe & &steps));
            let unknown: BTreeSet<i64> = left.open().iter().cloned().flatten().collect();
            let known: BTreeSet<i64> = left.known().into_iter().collect();
            prop_assert_eq!(known, &a.0 - &unknown);
            prop_assert_eq!(left.open_rows(), unknown.len() as u64);
        }
    }

    #[test]
    fn exact_sets_stay_exact_where_they_can() {
        let of = |rows: &[i64], open: &[[i64; 2]]| RowSet::new(rows.to_vec(), open, true).unwrap();
        let (left, right) = (of(&[1, 5, 9], &[[20, 30]]), of(&[5, 9, 11], &[[20, 30]]));
        assert_eq!((left.and(&right).rows(), left.and(&right).is_exact()), (&[5, 9][..], true));
        assert!(left.or(&right).is_exact() && !left.and(&of(&[5], &[[8, 12]])).is_exact());
        assert!(left.and(&right).inexact().rows() == [5, 9] && !left.clone().inexact().is_exact());
        assert!(RowSet::new(vec![2, 1], &[], true).is_err() && RowSet::new(vec![], &[[2, 1]], true).is_err());
    }
}
