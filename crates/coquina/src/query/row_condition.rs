//! Rows that an index names, as a condition: some rows, and ranges of rows of which the index says nothing.
//!
//! In: rows, ascending, and ranges. Out: a source of a truth byte for each row, true at the rows and in the ranges.
//! What a box holds is found by a binary search, so a box without rows costs nothing, and a walk need not even come
//! to it.

use std::ops::Range;

use super::row_lists::{check_ranges, check_rows, minus_ranges};
use crate::array::{BoxSource, Walk, check_box};
use crate::base::error::{Error, Result};

/// A condition that holds at some rows.
pub struct RowCondition {
    /// Those that are in none of the ranges.
    rows: Vec<i64>,
    open: Vec<Range<i64>>,
    /// How many rows are in the ranges before each of them, and in all.
    covered: Vec<u64>,
    count: u64,
    walk: Walk,
}

impl RowCondition {
    /// The condition of `count` rows that holds at `rows` and in the ranges `open`, both ascending, to be walked over
    /// in chunks and blocks of so many rows.
    ///
    /// # Errors
    /// `Invalid` for rows or ranges that do not ascend, that overlap or lie outside, and for empty chunks or blocks.
    pub fn new(rows: &[i64], open: &[[i64; 2]], count: u64, chunk: u64, block: u64) -> Result<Self> {
        check_rows(rows, count)?;
        let open = check_ranges(open, count)?;
        if chunk == 0 || block == 0 {
            return Err(Error::invalid(format!("chunks of {chunk} rows, blocks of {block}: takes some")));
        }
        let rows = minus_ranges(rows, &open);
        let mut covered = vec![0];
        let mut total = 0;
        covered.extend(open.iter().map(|range| {
            total += (range.end - range.start).unsigned_abs();
            total
        }));
        let walk = Walk { chunks: vec![chunk], blocks: vec![block.min(chunk)] };
        Ok(Self { rows, open, covered, count, walk })
    }

    /// The rows of a range, and the places of the open ranges that reach into it.
    fn within(&self, range: &Range<i64>) -> (&[i64], Range<usize>) {
        let from = self.rows.partition_point(|&row| row < range.start);
        let to = from + self.rows[from..].partition_point(|&row| row < range.end);
        let first = self.open.partition_point(|open| open.end <= range.start);
        let last = self.open.partition_point(|open| open.start < range.end);
        (&self.rows[from..to], first..last.max(first))
    }

    /// At how many rows of a range it holds.
    fn true_in(&self, range: &Range<i64>) -> u64 {
        let (rows, places) = self.within(range);
        let mut total = rows.len() as u64;
        if let [first, .., last] | [first @ last] = &self.open[places.clone()] {
            total += self.covered[places.end] - self.covered[places.start];
            total -= (range.start - first.start).max(0).unsigned_abs();
            total -= (last.end - range.end).max(0).unsigned_abs();
        }
        total
    }
}

/// A box as a range of rows.
fn range_of(start: u64, len: u64) -> Option<Range<i64>> {
    let end = i64::try_from(start.checked_add(len)?).ok()?;
    Some(i64::try_from(start).ok()?..end)
}

/// Where a row of a range stands in it.
fn place(row: i64, range: &Range<i64>) -> usize {
    usize::try_from(row - range.start).unwrap_or(usize::MAX)
}

impl BoxSource for RowCondition {
    fn shape(&self) -> Vec<u64> {
        vec![self.count]
    }

    fn item_bytes(&self) -> usize {
        1
    }

    fn walk(&self) -> Walk {
        self.walk.clone()
    }

    fn fill(&self, start: &[u64], shape: &[u64], out: &mut [u8]) -> Result<()> {
        check_box(&[self.count], start, shape, 1, out.len())?;
        let (&[start], &[len]) = (start, shape) else { return Ok(()) };
        let Some(range) = range_of(start, len) else { return Ok(()) };
        let (rows, open) = self.within(&range);
        out.fill(0);
        rows.iter().for_each(|&row| out[place(row, &range)] = 1);
        for open in &self.open[open] {
            let (from, to) = (open.start.max(range.start), open.end.min(range.end));
            out[place(from, &range)..place(to, &range)].fill(1);
        }
        Ok(())
    }

    fn uniform(&self, start: &[u64], shape: &[u64]) -> Option<Vec<u8>> {
        let (&[start], &[len]) = (start, shape) else { return None };
        let range = range_of(start, len).filter(|range| !range.is_empty())?;
        match self.true_in(&range) {
            0 => Some(vec![0]),
            all if all == len => Some(vec![1]),
            _ => None,
        }
    }

    fn possible(&self, rows: Range<u64>) -> Option<Range<u64>> {
        let range = range_of(rows.start, rows.end.min(self.count).saturating_sub(rows.start));
        let range = range.filter(|range| !range.is_empty())?;
        let (rows, places) = self.within(&range);
        let open = &self.open[places];
        let first = open.first().map(|open| open.start.max(range.start));
        let first = rows.first().copied().into_iter().chain(first).min()?;
        let last = open.last().map(|open| open.end.min(range.end));
        let last = rows.last().map(|row| row + 1).into_iter().chain(last).max()?;
        Some(first.unsigned_abs()..last.unsigned_abs())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::row_lists::tests::rows_of;
    use super::*;

    /// Rows that are given by a mask, and ranges by lengths, of which every other one is open.
    fn set(mask: &[bool], lens: &[u16], cut: (u64, u64)) -> (RowCondition, Vec<u8>) {
        let rows = rows_of(mask);
        let (mut at, mut open) = (0, Vec::new());
        for pair in lens.chunks_exact(2) {
            let start = at + i64::from(pair[0]);
            at = start + i64::from(pair[1]);
            open.push([start, at]);
        }
        let count = mask.len() as u64;
        open.retain(|range| range[1] <= count.cast_signed());
        let set = RowCondition::new(&rows, &open, count, cut.0, cut.1).unwrap();
        let is_open = |row: &i64| open.iter().any(|range| (range[0]..range[1]).contains(row));
        let wanted = (0..count.cast_signed()).zip(mask).map(|(row, &is)| u8::from(is || is_open(&row)));
        (set, wanted.collect())
    }

    proptest! {
        #[test]
        fn it_holds_where_it_was_told(
            mask in proptest::collection::vec(prop::bool::weighted(0.1), 0..300),
            lens in proptest::collection::vec(0_u16..40, 0..8),
            ends in proptest::collection::vec((0_usize..300, 0_usize..300), 1..20),
        ) {
            let (set, wanted) = set(&mask, &lens, (50, 10));
            for (a, b) in ends {
                let (start, end) = (a.min(b).min(mask.len()), a.max(b).min(mask.len()));
                let part = &wanted[start..end];
                let mut out = vec![7; part.len()];
                set.fill(&[start as u64], &[part.len() as u64], &mut out).unwrap();
                prop_assert_eq!(&out[..], part);
                let one = part.first().filter(|first| part.iter().all(|byte| byte == *first));
                let known = set.uniform(&[start as u64], &[part.len() as u64]);
                prop_assert_eq!(known, one.map(|&byte| vec![byte]));
                let first = (start..end).find(|&row| wanted[row] != 0);
                let last = (start..end).rfind(|&row| wanted[row] != 0);
                let hull = first.zip(last).map(|(first, last)| first as u64..last as u64 + 1);
                prop_assert_eq!(set.possible(start as u64..end as u64), hull);
            }
        }
    }

    #[test]
    fn what_does_not_ascend_is_refused() {
        let refused = |rows: &[i64], open: &[[i64; 2]]| RowCondition::new(rows, open, 10, 5, 5).is_err();
        assert!(!refused(&[0, 9], &[[0, 2], [2, 10], [10, 10]]));
        assert!(refused(&[3, 3], &[]) && refused(&[-1], &[]) && refused(&[10], &[]));
        assert!(refused(&[], &[[2, 1]]) && refused(&[], &[[0, 3], [2, 4]]) && refused(&[], &[[0, 11]]));
        assert!(refused(&[], &[[i64::MIN, i64::MAX]]) && refused(&[i64::MIN, i64::MAX], &[]));
        assert!(
            RowCondition::new(&[], &[], 10, 0, 1).is_err() && RowCondition::new(&[], &[], 10, 1, 0).is_err()
        );
        let set = RowCondition::new(&[3], &[], 10, 5, 5).unwrap();
        assert!(set.fill(&[8], &[3], &mut [0; 3]).is_err() && set.fill(&[0], &[2], &mut [0; 3]).is_err());
        assert_eq!(set.uniform(&[u64::MAX], &[2]), None);
        assert_eq!((set.possible(9..u64::MAX), set.possible(u64::MAX..u64::MAX)), (None, None));
        assert_eq!(set.possible(0..u64::MAX), Some(3..4));
        let open = RowCondition::new(&[], &[[0, 10]], 10, 5, 5).unwrap();
        assert_eq!((open.possible(4..4), open.possible(4..5)), (None, Some(4..5)));
    }
}
