//! Lists of rows, ascending: what two of them have in common, have together, and what one has alone.
//!
//! In: 64-bit row numbers, each once, as NumPy has them. Out: such a list. Plain version: both lists are gone through
//! side by side. Where one is much shorter, its rows are looked up in the longer one by leaps that double.

use std::ops::Range;

use crate::base::error::{Error, Result};

/// Where one list has so many times the rows of the other one, rows are looked up.
const MUCH_LONGER: usize = 16;

/// How rows of two lists are put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RowOp {
    /// Rows of both.
    And,
    /// Rows of either.
    Or,
    /// Rows of the first that the second has not.
    Minus,
}

/// Whether rows ascend, from 0 to below `count`.
pub(crate) fn check_rows(rows: &[i64], count: u64) -> Result<()> {
    let pair = rows.windows(2).position(|pair| pair[0] >= pair[1]);
    if let Some(at) = pair {
        return Err(Error::invalid(format!(
            "rows: {} and then {}, takes ascending ones",
            rows[at],
            rows[at + 1]
        )));
    }
    match (rows.first(), rows.last()) {
        (Some(&first), _) if first < 0 => Err(Error::invalid(format!("rows: {first} is negative"))),
        (_, Some(&last)) if last.unsigned_abs() >= count => {
            Err(Error::invalid(format!("rows: row {last} of {count}")))
        }
        _ => Ok(()),
    }
}

/// Ranges that ascend and do not overlap, within `count` rows; empty ones are left out.
pub(crate) fn check_ranges(ranges: &[[i64; 2]], count: u64) -> Result<Vec<Range<i64>>> {
    let mut end = 0;
    for &[start, stop] in ranges {
        if start < end || stop < start || stop.unsigned_abs() > count {
            return Err(Error::invalid(format!("rows {start}..{stop}: takes ranges from {end} to {count}")));
        }
        end = stop;
    }
    Ok(ranges.iter().filter(|range| range[0] < range[1]).map(|&[start, stop]| start..stop).collect())
}

/// Puts two ascending lists of rows together.
pub(crate) fn combine(op: RowOp, a: &[i64], b: &[i64]) -> Vec<i64> {
    let is_longer = |a: &[i64], b: &[i64]| a.len() / MUCH_LONGER > b.len();
    match op {
        RowOp::And if is_longer(a, b) => looked_up(b, a, true),
        RowOp::And if is_longer(b, a) => looked_up(a, b, true),
        RowOp::And => both(a, b),
        RowOp::Minus if is_longer(b, a) => looked_up(a, b, false),
        RowOp::Minus if is_longer(a, b) => removed(a, b),
        RowOp::Minus => minus(a, b),
        RowOp::Or if is_longer(b, a) => inserted(b, a),
        RowOp::Or if is_longer(a, b) => inserted(a, b),
        RowOp::Or => either(a, b),
    }
}

/// The rows that are in one of some ranges; both ascend.
pub(crate) fn within(rows: &[i64], ranges: &[Range<i64>]) -> Vec<i64> {
    let mut out = Vec::new();
    let mut left = rows;
    for range in ranges {
        left = &left[below(left, range.start)..];
        let (found, rest) = left.split_at(below(left, range.end));
        out.extend_from_slice(found);
        left = rest;
    }
    out
}

/// The rows that are in none of some ranges.
pub(crate) fn minus_ranges(rows: &[i64], ranges: &[Range<i64>]) -> Vec<i64> {
    let mut out = Vec::with_capacity(rows.len());
    let mut left = rows;
    for range in ranges {
        let (found, rest) = left.split_at(below(left, range.start));
        out.extend_from_slice(found);
        left = &rest[below(rest, range.end)..];
    }
    out.extend_from_slice(left);
    out
}

/// How many rows are below one: by leaps that double, as it is mostly not far.
fn below(rows: &[i64], row: i64) -> usize {
    let mut leap = 1;
    while leap < rows.len() && rows[leap] < row {
        leap *= 2;
    }
    let first = leap / 2;
    first + rows[first..rows.len().min(leap + 1)].partition_point(|&own| own < row)
}

/// Those of few rows that many have, or have not.
fn looked_up(few: &[i64], many: &[i64], wanted: bool) -> Vec<i64> {
    let mut left = many;
    let is_wanted = |row: &i64| {
        left = &left[below(left, *row)..];
        (left.first() == Some(row)) == wanted
    };
    few.iter().copied().filter(is_wanted).collect()
}

/// Many rows, and few put where they belong.
fn inserted(many: &[i64], few: &[i64]) -> Vec<i64> {
    let mut out = Vec::with_capacity(many.len() + few.len());
    let mut left = many;
    for &row in few {
        let (before, rest) = left.split_at(below(left, row));
        out.extend_from_slice(before);
        out.push(row);
        left = rest.strip_prefix(&[row]).unwrap_or(rest);
    }
    out.extend_from_slice(left);
    out
}

/// Many rows without few.
fn removed(many: &[i64], few: &[i64]) -> Vec<i64> {
    let mut out = Vec::with_capacity(many.len());
    let mut left = many;
    for &row in few {
        let (before, rest) = left.split_at(below(left, row));
        out.extend_from_slice(before);
        left = rest.strip_prefix(&[row]).unwrap_or(rest);
    }
    out.extend_from_slice(left);
    out
}

fn both(a: &[i64], b: &[i64]) -> Vec<i64> {
    let mut out = vec![0; a.len().min(b.len())];
    let (mut i, mut j, mut len) = (0, 0, 0);
    // Without branches: which list goes on next cannot be foretold.
    while i < a.len() && j < b.len() {
        out[len] = a[i];
        len += usize::from(a[i] == b[j]);
        let (x, y) = (a[i], b[j]);
        i += usize::from(x <= y);
        j += usize::from(y <= x);
        if len == out.len() {
            break;
        }
    }
    out.truncate(len);
    out
}

fn either(a: &[i64], b: &[i64]) -> Vec<i64> {
    let mut out = vec![0; a.len() + b.len()];
    let (mut i, mut j, mut len) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        let (x, y) = (a[i], b[j]);
        out[len] = x.min(y);
        len += 1;
        i += usize::from(x <= y);
        j += usize::from(y <= x);
    }
    out.truncate(len);
    out.extend_from_slice(&a[i..]);
    out.extend_from_slice(&b[j..]);
    out
}

fn minus(a: &[i64], b: &[i64]) -> Vec<i64> {
    let mut out = vec![0; a.len()];
    let (mut i, mut j, mut len) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        let (x, y) = (a[i], b[j]);
        out[len] = x;
        len += usize::from(x < y);
        i += usize::from(x <= y);
        j += usize::from(y <= x);
    }
    out.truncate(len);
    out.extend_from_slice(&a[i..]);
    out
}

#[cfg(test)]
pub(super) mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    /// Where a mask is true.
    pub(in super::super) fn rows_of(mask: &[bool]) -> Vec<i64> {
        (0..).zip(mask).filter(|(_, is)| **is).map(|(row, _)| row).collect()
    }

    fn rows() -> impl Strategy<Value = BTreeSet<i64>> {
        prop_oneof![
            proptest::collection::btree_set(0_i64..4000, 0..3),
            proptest::collection::btree_set(0_i64..60, 0..60),
            proptest::collection::btree_set(0_i64..4000, 0..2000),
        ]
    }

    proptest! {
        #[test]
        fn lists_are_sets(a in rows(), b in rows()) {
            let lists = [&a, &b].map(|set| set.iter().copied().collect::<Vec<_>>());
            let list = |op| combine(op, &lists[0], &lists[1]);
            prop_assert_eq!(list(RowOp::And), a.intersection(&b).copied().collect::<Vec<_>>());
            prop_assert_eq!(list(RowOp::Or), a.union(&b).copied().collect::<Vec<_>>());
            prop_assert_eq!(list(RowOp::Minus), a.difference(&b).copied().collect::<Vec<_>>());
        }

        #[test]
        fn ranges_are_the_rows_in_them(a in rows(), ends in proptest::collection::btree_set(0_i64..4001, 0..9)) {
            let list: Vec<i64> = a.iter().copied().collect();
            let ends: Vec<i64> = ends.into_iter().collect();
            let ranges: Vec<[i64; 2]> = ends.chunks_exact(2).map(|pair| [pair[0], pair[1]]).collect();
            let is_in = |row: &&i64| ranges.iter().any(|range| (range[0]..range[1]).contains(row));
            let wanted: Vec<i64> = list.iter().filter(is_in).copied().collect();
            let rest: Vec<i64> = list.iter().filter(|row| !is_in(row)).copied().collect();
            let ranges = check_ranges(&ranges, u64::MAX).unwrap();
            prop_assert_eq!(within(&list, &ranges), wanted);
            prop_assert_eq!(minus_ranges(&list, &ranges), rest);
        }
    }

    #[test]
    fn what_does_not_ascend_is_refused() {
        let count = u64::MAX;
        assert!(check_rows(&[2, 1], count).is_err() && check_rows(&[1, 1], count).is_err());
        assert!(check_rows(&[-1], count).is_err() && check_rows(&[3], 3).is_err());
        assert!(check_ranges(&[[3, 2]], count).is_err() && check_ranges(&[[i64::MIN, 0]], count).is_err());
        assert!(check_ranges(&[[0, 3], [2, 4]], count).is_err() && check_ranges(&[[0, 3]], 2).is_err());
    }
}
