//! Which rows are looked at, and how they are cut into tasks and boxes.

use std::ops::Range;

use crate::array::{BoxSource, Walk};
use crate::base::error::{Error, Result};

/// Boxes of fewer rows are not worth a visit each.
const BOX_ROWS: u64 = 4096;
/// Where there are fewer chunks than this, tasks are parts of them, of about so many rows.
const CHUNKS_FEW: u64 = 64;
const TASK_ROWS: u64 = 128 << 10;
/// Where there are many, a task is a run of them: about so many tasks, of no more chunks than this.
const TASKS: u64 = 1024;
const TASK_CHUNKS_MAX: u64 = 64;
/// Which rows are looked at: `start`, `start + step` and so on below `stop`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rows {
    /// The first one.
    pub start: u64,
    /// Where they end.
    pub stop: u64,
    /// From one to the next, not 0.
    pub step: u64,
}

impl Rows {
    /// The first of these rows in a range, if there is one.
    pub(super) fn first_in(&self, range: &Range<u64>) -> Option<u64> {
        let skipped = range.start.saturating_sub(self.start).div_ceil(self.step);
        let first = skipped.checked_mul(self.step)?.checked_add(self.start)?;
        (first < range.end.min(self.stop)).then_some(first)
    }

    /// How many of these rows are in a range.
    pub(super) fn count_in(&self, range: &Range<u64>) -> u64 {
        self.first_in(range).map_or(0, |first| (range.end.min(self.stop) - first).div_ceil(self.step))
    }

    /// A step must lead somewhere.
    pub(super) fn check(&self) -> Result<()> {
        if self.step == 0 {
            return Err(Error::invalid("rows: a step of 0"));
        }
        Ok(())
    }
}

/// How rows are cut: into chunks, these into boxes, and all into tasks.
#[derive(Clone, Copy)]
pub(super) struct Cut {
    chunk: u64,
    /// Rows of a box.
    lens: u64,
    /// Rows of a task: a part of a chunk, or some chunks.
    task_rows: u64,
}

/// Where the piece that holds `row` ends, of pieces of `len` rows that begin anew with each chunk.
pub(super) fn end_of(row: u64, chunk: u64, len: u64) -> u64 {
    let first = row / chunk * chunk;
    let end = ((row - first) / len + 1).saturating_mul(len).min(chunk);
    first.saturating_add(end)
}

impl Cut {
    /// Along the walk of `first`, and so that of the other sources too few blocks are met twice.
    pub(super) fn new(rows: Rows, first: Option<&dyn BoxSource>, others: &[&dyn BoxSource]) -> Self {
        let walk = first.map_or(Walk { chunks: vec![], blocks: vec![] }, BoxSource::walk);
        let one = |lens: &[u64]| lens.first().copied().unwrap_or(BOX_ROWS).max(1);
        let chunk = one(&walk.chunks);
        let mut lens = one(&walk.blocks).min(chunk);
        lens = lens.saturating_mul(BOX_ROWS.div_ceil(lens)).min(chunk);
        for other in others {
            let Walk { chunks, blocks } = other.walk();
            let block = one(&blocks).min(one(&chunks));
            if block > lens && block.is_multiple_of(lens) && block <= chunk {
                lens = block;
            } else if !lens.is_multiple_of(block) {
                // Blocks that lie askew are decoded once for every box that they touch: few touch two.
                lens = block.saturating_mul(8).div_ceil(lens).saturating_mul(lens).min(chunk);
            }
        }
        let chunks = (rows.stop - rows.start).div_ceil(chunk);
        let task_rows = if chunks < CHUNKS_FEW {
            lens.saturating_mul((TASK_ROWS / lens).max(1)).min(chunk)
        } else {
            chunk.saturating_mul((chunks / TASKS).clamp(1, TASK_CHUNKS_MAX))
        };
        Self { chunk, lens, task_rows }
    }

    /// Rows of a task.
    pub(super) fn task_rows(self) -> u64 {
        self.task_rows
    }

    /// Where the chunk ends that a row is in.
    pub(super) fn chunk_end(self, row: u64) -> u64 {
        end_of(row, self.chunk, self.chunk)
    }

    /// All tasks.
    pub(super) fn tasks(self, rows: Range<u64>) -> Tasks {
        Tasks { cut: self, rows }
    }

    /// The boxes of a range.
    pub(super) fn boxes(self, range: &Range<u64>) -> impl Iterator<Item = Range<u64>> {
        let Range { start: mut at, end: stop } = *range;
        std::iter::from_fn(move || {
            let start = at;
            at = end_of(start, self.chunk, self.lens).min(stop);
            (start < stop).then_some(start..at)
        })
    }

    /// How many boxes there are in a range of one chunk.
    pub(super) fn boxes_in(self, range: &Range<u64>) -> u64 {
        let first = range.start / self.chunk * self.chunk;
        (range.end - first).div_ceil(self.lens) - (range.start - first) / self.lens
    }
}

/// The tasks of the rows that are left.
pub(super) struct Tasks {
    cut: Cut,
    rows: Range<u64>,
}

impl Tasks {
    /// The rows of those that are left.
    pub(super) fn left(&self) -> &Range<u64> {
        &self.rows
    }
}

impl Iterator for Tasks {
    type Item = Range<u64>;

    fn next(&mut self) -> Option<Range<u64>> {
        let Cut { chunk, task_rows, .. } = self.cut;
        let Range { start, end: stop } = self.rows;
        let end = end_of(start, chunk.max(task_rows), task_rows).min(stop);
        self.rows.start = end;
        (start < stop).then_some(start..end)
    }
}
