//! Which chunks are likely to be read next: those behind runs of chunks that are opened one after another.
//!
//! In: the numbers of chunks as threads open them. Out: the numbers of those that the system is to be told of, so that it
//! fetches them in large pieces while others are decoded: threads that read block by block look like chance to it.
//! Several runs are followed at once, as threads may each have their own. Each chunk of a run is told of once, if
//! many blocks of those before it were needed: the rows that an index finds stand in few blocks of all chunks.

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
/// Chunks are told of if one of so many blocks of those before them is needed.
const NEEDED_OF: u64 = 4;
/// Of how many chunks that is asked, those that were opened last.
const RECENT_CHUNKS: u64 = 16;

/// How many chunks are told of ahead of one; none of small ones.
pub(super) fn chunks_ahead(chunk_bytes: usize) -> usize {
    if chunk_bytes < CHUNK_BYTES_MIN { 0 } else { 1 + AHEAD_BYTES / chunk_bytes }
}

/// The runs of the chunks of an array that were opened lately.
#[derive(Default)]
pub(crate) struct Ahead {
    recent: Mutex<Recent>,
}

#[derive(Default)]
struct Recent {
    runs: VecDeque<Run>,
    /// Chunks that were opened, and the blocks of them that were decoded.
    chunks: u64,
    blocks: u64,
    /// How many blocks of the array had been decoded when a chunk was opened last.
    decoded: u64,
}

/// What is known when a chunk is opened.
pub(super) struct Opening {
    /// The number of the chunk.
    pub(super) chunk: u64,
    /// How many blocks of the array have been decoded so far.
    pub(super) decoded: u64,
    pub(super) blocks_per_chunk: u64,
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
    pub(super) fn opened(&self, opening: &Opening, most: usize) -> Range<u64> {
        if most == 0 {
            return 0..0;
        }
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        let are_needed = recent.are_needed(opening);
        recent.follow(opening.chunk, most as u64, are_needed)
    }
}

impl Recent {
    /// Whether much of the chunks was needed that were opened before this one.
    fn are_needed(&mut self, opening: &Opening) -> bool {
        let all = self.chunks.saturating_mul(opening.blocks_per_chunk);
        // What was decoded otherwise, as by a whole read, tells nothing of these.
        self.blocks = (self.blocks + opening.decoded.saturating_sub(self.decoded)).min(all);
        self.decoded = opening.decoded;
        let are_needed = self.blocks.saturating_mul(NEEDED_OF) >= all;
        self.chunks += 1;
        if self.chunks > RECENT_CHUNKS {
            (self.chunks, self.blocks) = (self.chunks / 2, self.blocks / 2);
        }
        are_needed
    }

    /// The chunks that a run goes on with, if those ahead of it are needed and not told of yet.
    fn follow(&mut self, number: u64, most: u64, are_needed: bool) -> Range<u64> {
        let Some(run) = self.runs.iter_mut().find(|run| run.next.abs_diff(number) <= APART_MAX) else {
            self.runs.truncate(RUNS_MAX - 1);
            self.runs.push_front(Run { next: number.saturating_add(1), told: 0, window: 1 });
            return 0..0;
        };
        let is_next = number == run.next;
        run.next = run.next.max(number.saturating_add(1));
        // Many at once: those that stand one behind another take one call.
        if !is_next || !are_needed || run.told > run.next.saturating_add(run.window / 2) {
            return 0..0;
        }
        run.window = (2 * run.window).min(most);
        let new = run.told.max(run.next)..run.next.saturating_add(run.window);
        run.told = new.end;
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLOCKS: u64 = 64;

    fn opening(chunk: u64, decoded: u64) -> Opening {
        Opening { chunk, decoded, blocks_per_chunk: BLOCKS }
    }

    /// What is told of while chunks are opened in this order, of each of which so many blocks are decoded.
    fn told_of_parts(numbers: impl IntoIterator<Item = u64>, most: usize, blocks: u64) -> Vec<u64> {
        let ahead = Ahead::default();
        let openings = (0..).zip(numbers).map(|(before, chunk)| opening(chunk, before * blocks));
        openings.flat_map(|opening| ahead.opened(&opening, most)).collect()
    }

    /// The same, of whole chunks.
    fn told(numbers: impl IntoIterator<Item = u64>, most: usize) -> Vec<u64> {
        told_of_parts(numbers, most, BLOCKS)
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
    fn chunks_of_which_little_is_needed_are_not_told_of() {
        assert!(told_of_parts(0..200, 4, 1).is_empty());
        assert!(told_of_parts(0..200, 4, BLOCKS / NEEDED_OF / 2).is_empty());
        assert_eq!(told_of_parts(0..200, 4, BLOCKS / NEEDED_OF), told(0..200, 4));
        // Other blocks that were decoded in between count no more than those of the chunks, and not for long.
        let ahead = Ahead::default();
        let told = (0..60).filter(|&n| !ahead.opened(&opening(n, 100_000 + n), 1).is_empty()).count();
        assert!(told < 12, "{told}");
    }

    #[test]
    fn old_runs_are_forgotten() {
        let ahead = Ahead::default();
        for number in 0..100 {
            ahead.opened(&opening(1000 * number, BLOCKS * number), 8);
        }
        assert_eq!(ahead.recent.lock().unwrap().runs.len(), RUNS_MAX);
        assert!(ahead.opened(&opening(1, 100 * BLOCKS), 8).is_empty());
        assert!(!ahead.opened(&opening(99_001, 101 * BLOCKS), 8).is_empty());
    }

    #[test]
    fn small_chunks_are_not_worth_it() {
        assert_eq!(chunks_ahead(4096), 0);
        assert_eq!(chunks_ahead(256 << 10), 65);
        assert_eq!(chunks_ahead(1 << 30), 1);
    }
}
