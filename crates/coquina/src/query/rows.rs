//! Which rows are looked at, and how they are cut into tasks and boxes.

use std::ops::Range;

use crate::array::{BoxSource, Walk, at_once};
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
    pub(crate) fn count_in(&self, range: &Range<u64>) -> u64 {
        self.first_in(range).map_or(0, |first| (range.end.min(self.stop) - first).div_ceil(self.step))
    }

    /// A step must lead somewhere.
    pub(crate) fn check(&self) -> Result<()> {
        if self.step == 0 {
            return Err(Error::invalid("rows: a step of 0"));
        }
        Ok(())
    }
}

/// How rows are cut: into chunks, these into boxes, and all into tasks.
#[derive(Clone, Copy)]
pub(crate) struct Cut {
    chunk: u64,
    /// Rows of a box.
    lens: u64,
    /// Rows of a task: a part of a chunk, or some chunks.
    task_rows: u64,
}

/// Where the piece that holds `row` begins, of pieces of `len` rows that begin anew with each chunk.
fn start_of(row: u64, chunk: u64, len: u64) -> u64 {
    row / chunk * chunk + row % chunk / len * len
}

/// Where the piece begins that has the first possible match of a range, or the range, if that begins later; where the
/// range ends, if there is no match.
fn piece_with(condition: Option<&dyn BoxSource>, range: &Range<u64>, chunk: u64, len: u64) -> u64 {
    let Some(condition) = condition else { return range.start };
    let possible = condition.possible(range.clone());
    possible.map_or(range.end, |rows| start_of(rows.start, chunk, len).clamp(range.start, range.end))
}

/// Where the piece that holds `row` ends, of pieces of `len` rows that begin anew with each chunk.
pub(super) fn end_of(row: u64, chunk: u64, len: u64) -> u64 {
    let first = row / chunk * chunk;
    let end = ((row - first) / len + 1).saturating_mul(len).min(chunk);
    first.saturating_add(end)
}

impl Cut {
    /// Along the walk of `first`, and so that of the other sources too few blocks are met twice.
    pub(crate) fn new(rows: Rows, first: Option<&dyn BoxSource>, others: &[&dyn BoxSource]) -> Self {
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

    /// Where the task ends that a row is in.
    pub(crate) fn task_end(self, row: u64) -> u64 {
        end_of(row, self.chunk.max(self.task_rows), self.task_rows)
    }

    /// Where the chunk ends that a row is in.
    pub(crate) fn chunk_end(self, row: u64) -> u64 {
        end_of(row, self.chunk, self.chunk)
    }

    /// All tasks that may have a match.
    pub(super) fn tasks(self, rows: Rows, condition: Option<&dyn BoxSource>) -> Tasks<'_> {
        Tasks { cut: self, rows, condition, at: rows.start, skipped: 0 }
    }

    /// Where the chunk begins that has the first possible match of a range; where that ends, if there is none.
    pub(super) fn chunk_with(self, condition: Option<&dyn BoxSource>, range: &Range<u64>) -> u64 {
        piece_with(condition, range, self.chunk, self.chunk)
    }

    /// The same for boxes.
    pub(super) fn box_with(self, condition: Option<&dyn BoxSource>, range: &Range<u64>) -> u64 {
        piece_with(condition, range, self.chunk, self.lens)
    }

    /// The boxes of a range.
    pub(crate) fn boxes(self, range: &Range<u64>) -> impl Iterator<Item = Range<u64>> {
        let Range { start: mut at, end: stop } = *range;
        std::iter::from_fn(move || {
            let start = at;
            at = end_of(start, self.chunk, self.lens).min(stop);
            (start < stop).then_some(start..at)
        })
    }

    /// How many boxes of a range have rows which are looked at.
    pub(super) fn boxes_looked_at(self, rows: Rows, range: &Range<u64>) -> u64 {
        if range.is_empty() {
            return 0;
        }
        if rows.step == 1 {
            let of_chunk = self.chunk.div_ceil(self.lens);
            let number = |row: u64| row / self.chunk * of_chunk + row % self.chunk / self.lens;
            return number(range.end - 1) - number(range.start) + 1;
        }
        let (mut at, mut total) = (range.start, 0);
        while at < range.end {
            let part = at..self.chunk_end(at).min(range.end);
            at = part.end;
            total += self.boxes_looked_at_in(rows, &part);
        }
        total
    }

    /// The same for a range of one chunk.
    fn boxes_looked_at_in(self, rows: Rows, range: &Range<u64>) -> u64 {
        let looked_at = rows.count_in(range);
        if rows.step >= self.lens || looked_at == 0 {
            return looked_at;
        }
        // All boxes between the first and the last one are longer than a step.
        let first = range.start..end_of(range.start, self.chunk, self.lens);
        let last = start_of(range.end - 1, self.chunk, self.lens)..range.end;
        let between = last.start.saturating_sub(first.end).div_ceil(self.lens);
        if first.end >= range.end {
            return 1;
        }
        let is_looked_at = |own: &Range<u64>| u64::from(rows.first_in(own).is_some());
        between + is_looked_at(&first) + is_looked_at(&last)
    }
}

/// The tasks of the rows that are left, without those that have no match for sure.
pub(super) struct Tasks<'c> {
    cut: Cut,
    rows: Rows,
    condition: Option<&'c dyn BoxSource>,
    at: u64,
    skipped: u64,
}

impl Tasks<'_> {
    /// The rows of those that are left.
    pub(super) fn left(&self) -> Range<u64> {
        self.at..self.rows.stop
    }

    /// How many boxes are in tasks that were left out.
    pub(super) fn skipped(&self) -> u64 {
        self.skipped
    }

    /// Tasks begin anew with each of these.
    fn unit(&self) -> u64 {
        self.cut.chunk.max(self.cut.task_rows)
    }

    /// Where the tasks end, from the one at `row` on, of which it is known at once that they have no match: a run of
    /// equal chunks is passed in steps that double.
    fn without_match_until(&self, row: u64) -> u64 {
        let Some(condition) = self.condition.filter(|_| self.cut.task_rows >= self.cut.chunk) else {
            return row;
        };
        let (mut at, mut tasks) = (row, 1_u64);
        while at < self.rows.stop {
            let end =
                (at / self.unit()).saturating_add(tasks).saturating_mul(self.unit()).min(self.rows.stop);
            let item = at_once(|| condition.uniform(&[at], &[end - at]));
            if item.is_none_or(|item| item.iter().any(|&byte| byte != 0)) {
                break;
            }
            (at, tasks) = (end, tasks.saturating_mul(2));
        }
        at
    }

    /// The next task, from a row on.
    fn task(&self, row: u64) -> Range<u64> {
        let start = piece_with(self.condition, &(row..self.rows.stop), self.unit(), self.cut.task_rows);
        start..end_of(start, self.unit(), self.cut.task_rows).min(self.rows.stop)
    }
}

impl Iterator for Tasks<'_> {
    type Item = Range<u64>;

    fn next(&mut self) -> Option<Range<u64>> {
        let mut task = self.task(self.at);
        let start = self.without_match_until(task.start);
        if start > task.start {
            task = self.task(start);
        }
        self.skipped += self.cut.boxes_looked_at(self.rows, &(self.at..task.start));
        self.at = task.end;
        (!task.is_empty()).then_some(task)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let first = self.task(self.at);
        let is_one = self.task(first.end).is_empty();
        (0, is_one.then_some(usize::from(!first.is_empty())))
    }
}
