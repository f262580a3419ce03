//! How much of a condition is known without decoding: what a walk over it would have to compute.

use std::sync::atomic::{AtomicU64, Ordering};

use super::rows::{Cut, Rows};
use super::walk::check_rows;
use crate::array::{BoxSource, at_once};
use crate::base::error::Result;
use crate::base::pool::Job;

/// How many boxes a walk over the rows from `start` to `stop` has, and of how many of them nothing is known without
/// decoding.
///
/// # Errors
/// `OutOfBounds` for rows that the condition does not have, `Invalid` for a condition of other than one axis.
pub fn survey(condition: &dyn BoxSource, start: u64, stop: u64, job: &Job<'_>) -> Result<(u64, u64)> {
    check_rows(condition, stop, "condition")?;
    let rows = Rows { start, stop, step: 1 };
    if start >= stop {
        return Ok((0, 0));
    }
    let cut = Cut::new(rows, Some(condition), &[]);
    let unknown = AtomicU64::new(0);
    let is_known = |start: u64, end: u64| condition.uniform(&[start], &[end - start]).is_some();
    job.run(usize::MAX, cut.tasks(rows, Some(condition)), |task| {
        let mut at = task.start;
        while at < task.end {
            at = cut.chunk_with(Some(condition), &(at..task.end));
            let chunk = at..cut.chunk_end(at).min(task.end);
            at = chunk.end;
            if chunk.is_empty() || at_once(|| is_known(chunk.start, chunk.end)) {
                continue;
            }
            let of_box = |rows: &std::ops::Range<u64>| !at_once(|| is_known(rows.start, rows.end));
            unknown.fetch_add(cut.boxes(&chunk).filter(of_box).count() as u64, Ordering::Relaxed);
        }
        Ok(1)
    })?;
    Ok((cut.boxes_looked_at(rows, &(start..stop)), unknown.into_inner()))
}

#[cfg(test)]
mod tests {
    use coquina_kernels::Type;

    use super::super::RowCondition;
    use super::super::testing::Memory;
    use super::*;

    #[test]
    fn what_is_not_of_one_value_is_unknown() {
        let count = |condition: &dyn BoxSource, start, stop| {
            let found = [1, 2, 7].map(|threads| {
                survey(condition, start, stop, &Job::default().threads(Some(threads))).unwrap()
            });
            assert!(found.iter().all(|one| *one == found[0]));
            found[0]
        };
        let set = RowCondition::new(&[5, 9_000, 60_000], &[[70_000, 80_000]], 100_000, 50_000, 5000).unwrap();
        // Boxes of 5000 rows: one of row 5, one of row 9000, one of row 60,000; the open ones are known.
        assert_eq!(count(&set, 0, 100_000), (20, 3));
        assert_eq!(count(&set, 6, 100_000), (20, 2));
        assert_eq!(count(&set, 72_000, 72_000), (0, 0));
        assert_eq!(count(&set, 72_000, 77_000), (2, 0));
        let mixed: Vec<u8> = (0..100_000_u64).map(|row| u8::from(row % 9_000 == 5)).collect();
        let mixed = Memory::of(&mixed, 5000, Some(Type::Bool));
        let boxes = |row: u64| row / 15_000 * 3 + row % 15_000 / 5000;
        let mut of_rows: Vec<u64> = (5..100_000).step_by(9_000).map(boxes).collect();
        of_rows.dedup();
        assert_eq!(count(&*mixed, 0, 100_000), (20, of_rows.len() as u64));
        assert!(survey(&set, 0, 100_001, &Job::default()).is_err());
    }
}
