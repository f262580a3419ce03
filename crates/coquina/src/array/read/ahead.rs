//! Which chunks are likely to be read next: those behind runs of chunks that are opened one after another.
//!
//! In: the numbers of chunks as threads open them. Out: the numbers of those that the system is to be told of, so that it
//! fetches them in large pieces while others are decoded: threads that read block by block look like chance to it.
//! Several runs are followed at once, as threads may each have their own. Each chunk of a run is told of once.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// Decoded bytes of the chunks that are told of before they are read.
const AHEAD_BYTES: usize = 16 << 20;
/// Smaller chunks are read soon enough as they come, and to tell of each takes a call.
const CHUNK_BYTES_MIN: usize = 256 << 10;
/// How many runs are followed.
const RUNS_MAX: usize = 16;
/// Threads that share a run open its chunks nearly in order.
const APART_MAX: u64 = 4;

/// How many chunks are told of ahead of one; none of small ones.
pub(super) fn chunks_ahead(chunk_bytes: usize) -> usize {
    if chunk_bytes < CHUNK_BYTES_MIN { 0 } else { 1 + AHEAD_BYTES / chunk_bytes }
}

/// The runs of the chunks of an array that were opened lately.
#[derive(Default)]
pub(crate) struct Ahead {
    runs: Mutex<VecDeque<Run>>,
}

#[derive(Clone, Copy)]
struct Run {
    /// The chunk that comes next.
    next: u64,
    /// Those before this one are told of.
    told: u64,
    /// How many chunks are told of ahead of it.
    window: u64,
}

impl Ahead {
    /// Takes note that a chunk is opened, and says which ones to tell of: the longer its run is the more, `most` of them.
    pub(super) fn opened(&self, number: u64, most: usize) -> Range<u64> {
        if most == 0 {
            return 0..0;
        }
        let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(run) = runs.iter_mut().find(|run| run.next.abs_diff(number) <= APART_MAX) else {
            runs.truncate(RUNS_MAX - 1);
            runs.push_front(Run { next: number.saturating_add(1), told: 0, window: 1 });
            return 0..0;
        };
        let is_next = number == run.next;
        run.next = run.next.max(number.saturating_add(1));
        // Many at once: those that stand one behind another take one call.
        if !is_next || run.told > run.next.saturating_add(run.window / 2) {
            return 0..0;
        }
        run.window = (2 * run.window).min(most as u64);
        let new = run.told.max(run.next)..run.next.saturating_add(run.window);
        run.told = new.end;
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is told of while chunks are opened in this order.
    fn told(numbers: impl IntoIterator<Item = u64>, most: usize) -> Vec<u64> {
        let ahead = Ahead::default();
        numbers.into_iter().flat_map(|number| ahead.opened(number, most)).collect()
    }

    #[test]
    fn runs_are_told_of_once_and_chance_is_not() {
        let run = told(0..20, 4);
        assert_eq!(run, (2..2 + run.len() as u64).collect::<Vec<u64>>());
        assert!((20..=22).contains(&run.len()));
        assert!(told([7, 7, 7], 4).is_empty());
        assert!(told((0..20).rev(), 4).is_empty());
        for step in [2, 4, 100] {
            assert!(told((0..20).map(|n| n * step), 4).is_empty(), "{step}");
        }
        assert!(told(0..20, 0).is_empty());
        // Two threads that share a run, and two with one each.
        assert_eq!(told([1, 0, 2, 4, 3, 5], 2), [3, 4, 6, 7]);
        let two = told((0..10).flat_map(|n| [n, 1000 + n]), 3);
        assert_eq!(two.iter().filter(|&&n| n < 1000).count(), 10);
        assert_eq!(two.iter().filter(|&&n| n >= 1000).count(), 10);
        // No number is beyond the last one.
        assert!(told([u64::MAX - 1, u64::MAX], 4).is_empty());
    }

    #[test]
    fn old_runs_are_forgotten() {
        let ahead = Ahead::default();
        for number in 0..100 {
            ahead.opened(1000 * number, 8);
        }
        assert_eq!(ahead.runs.lock().unwrap().len(), RUNS_MAX);
        assert!(ahead.opened(1, 8).is_empty());
        assert!(!ahead.opened(99_001, 8).is_empty());
    }

    #[test]
    fn small_chunks_are_not_worth_it() {
        assert_eq!(chunks_ahead(4096), 0);
        assert_eq!(chunks_ahead(256 << 10), 65);
        assert_eq!(chunks_ahead(1 << 30), 1);
    }
}
