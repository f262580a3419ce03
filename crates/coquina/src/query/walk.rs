//! The walk over rows that all queries share: box by box in the order of the rows, on all threads.
//!
//! In: a condition (a source of one axis whose items are bytes, true but for 0) or none, rows, the other sources that
//! will be read, and a [`Visit`]. Out: what the visits make, given to a taker in order. A chunk that the condition is
//! known of is settled as a whole; boxes without a match are not visited. Boxes are cut along the walk of the
//! condition, else of the first source, so that blocks are decoded once.
//! Invariant: tasks and boxes depend on shapes alone, so what is taken does not depend on the number of threads.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use coquina_kernels::{best_level, count_picked};

use super::rows::{Cut, Rows};
use crate::array::{BoxSource, at_once, with_decoded_boxes_after};
use crate::base::error::{Error, Result};
use crate::base::ordered::{Ordered, Take};
use crate::base::pool::Job;
use crate::base::scratch::with_scratch;

/// With a limit, so many tasks are begun at once at most.
const TASKS_AHEAD_MAX: usize = 1024;

/// The matches in a box of rows, of which there is one at least.
pub(crate) struct Picked<'p> {
    /// The first row of the box.
    pub(crate) start: u64,
    /// How many rows the box has.
    pub(crate) len: usize,
    /// A byte for each row, not 0 for those that match; none where all do.
    pub(crate) mask: Option<&'p [u8]>,
    /// How many match.
    pub(crate) count: usize,
}

/// What is done with matches. Threads visit different boxes at the same time, each with a piece of its own.
pub(crate) trait Visit: Sync {
    /// What is made of the boxes of a task.
    type Piece: Send;

    /// A piece without matches.
    fn piece(&self) -> Self::Piece;

    /// Takes the matches of a box; whether anything was decoded for it.
    fn visit(&self, picked: &Picked<'_>, piece: &mut Self::Piece) -> Result<bool>;

    /// Takes the first `count` rows that are looked at in this range, which all match; whether that was possible
    /// without decoding anything. Else the boxes of the range are visited.
    fn settle(&self, _range: &Range<u64>, _count: u64, _piece: &mut Self::Piece) -> Result<bool> {
        Ok(false)
    }
}

/// What a walk did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Boxes that have rows which are looked at.
    pub boxes: u64,
    /// Boxes of which it was known that nothing matches.
    pub skipped: u64,
    /// Boxes of which it was known that all matches that may match.
    pub whole: u64,
    /// Boxes for which a column was decoded.
    pub decoded: u64,
    /// Rows for which the condition was computed.
    pub rows_scanned: u64,
}

#[derive(Default)]
struct Counters {
    boxes: AtomicU64,
    skipped: AtomicU64,
    whole: AtomicU64,
    decoded: AtomicU64,
    rows_scanned: AtomicU64,
}

fn add(counter: &AtomicU64, more: u64) {
    counter.fetch_add(more, Ordering::Relaxed);
}

impl Counters {
    fn report(&self) -> Report {
        let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Report {
            boxes: of(&self.boxes),
            skipped: of(&self.skipped),
            whole: of(&self.whole),
            decoded: of(&self.decoded),
            rows_scanned: of(&self.rows_scanned),
        }
    }
}

/// What is walked over.
pub(crate) struct Walked<'w> {
    /// Which rows match; all, if there is none.
    pub(crate) condition: Option<&'w dyn BoxSource>,
    /// The other sources that visits read, with an item for each row.
    pub(crate) columns: Vec<&'w dyn BoxSource>,
    /// Which rows are looked at.
    pub(crate) rows: Rows,
    /// The walk ends when so many matches have been found; there may be some more.
    pub(crate) limit: Option<u64>,
}

/// Whether a source has one axis, of `stop` items at least.
pub(crate) fn check_rows(source: &dyn BoxSource, stop: u64, what: &str) -> Result<()> {
    match source.shape()[..] {
        [len] if stop <= len => Ok(()),
        [len] => Err(Error::out_of_bounds(format!("{what}: row {stop} is the end, of {len}"))),
        ref shape => Err(Error::invalid(format!("{what}: shape {shape:?} is not that of one axis"))),
    }
}

impl Walked<'_> {
    /// Visits all matches, and gives the pieces to `taker` in order. Returns it with the number of matches.
    pub(crate) fn run<V: Visit, T: Take<V::Piece, Rest = ()> + Send>(
        &self,
        visit: &V,
        taker: T,
        job: &Job<'_>,
    ) -> Result<(T, u64, Report)> {
        self.rows.check()?;
        if let Some(condition) = self.condition {
            check_rows(condition, self.rows.stop, "condition")?;
            if condition.item_bytes() != 1 {
                let bytes = condition.item_bytes();
                return Err(Error::invalid(format!("condition: items of {bytes} bytes are not booleans")));
            }
        }
        for (number, column) in self.columns.iter().enumerate() {
            check_rows(*column, self.rows.stop, &format!("column {number}"))?;
        }
        let mut taker = Counted { taker, matched: 0 };
        let counters = Counters::default();
        if self.rows.start >= self.rows.stop || self.limit == Some(0) {
            return Ok((taker.taker, 0, counters.report()));
        }
        let first = self.condition.or_else(|| self.columns.first().copied());
        let cut = Cut::new(self.rows, first, &self.columns);
        let walking = Walking { walked: self, cut, visit, counters: &counters, narrow: AtomicU64::new(0) };
        let row_bytes = 1 + self.columns.iter().map(|column| column.item_bytes()).sum::<usize>();
        let bytes_of = |rows: u64| usize::try_from(rows).unwrap_or(usize::MAX).saturating_mul(row_bytes);
        let mut tasks = cut.tasks(self.rows, self.condition);
        let mut ahead = if self.limit.is_some() { 1 } else { usize::MAX / 2 };
        while !tasks.left().is_empty() && self.limit.is_none_or(|limit| taker.matched < limit) {
            let rows = tasks.left().end - tasks.left().start;
            let total = bytes_of(rows.min(cut.task_rows().saturating_mul(ahead as u64)));
            let ordered = Ordered::new(taker, job.width(total));
            job.run(total, tasks.by_ref().take(ahead).enumerate(), |(number, range)| {
                ordered.put(number, || walking.task(&range))?;
                Ok(bytes_of(range.end - range.start))
            })?;
            taker = ordered.into_taker();
            ahead = (2 * ahead).min(TASKS_AHEAD_MAX);
        }
        walking.skip(tasks.skipped());
        Ok((taker.taker, taker.matched, counters.report()))
    }
}

/// Takes pieces, and counts matches.
struct Counted<T> {
    taker: T,
    matched: u64,
}

/// What is made of the matches of a task.
struct Visited<P> {
    matched: u64,
    piece: P,
}

impl<P, T: Take<P, Rest = ()>> Take<Visited<P>> for Counted<T> {
    type Rest = ();

    fn take(&mut self, visited: Visited<P>) -> Result<()> {
        self.matched += visited.matched;
        self.taker.take(visited.piece)
    }
}

/// A walk that is going on.
struct Walking<'w, V> {
    walked: &'w Walked<'w>,
    cut: Cut,
    visit: &'w V,
    counters: &'w Counters,
    /// Boxes of which a small part was visited.
    narrow: AtomicU64,
}

impl<V: Visit> Walking<'_, V> {
    /// The matches of a task, and what is made of them.
    fn task(&self, range: &Range<u64>) -> Result<Visited<V::Piece>> {
        let mut piece = self.visit.piece();
        let (mut at, mut matched) = (range.start, 0);
        while at < range.end {
            let begin = self.cut.chunk_with(self.walked.condition, &(at..range.end));
            self.skip(self.cut.boxes_looked_at(self.walked.rows, &(at..begin)));
            at = begin;
            if at == range.end {
                break;
            }
            let end = self.cut.chunk_end(at).min(range.end);
            let left = self.walked.limit.map_or(u64::MAX, |limit| limit.saturating_sub(matched));
            if left == 0 {
                break;
            }
            let part = at_once(|| self.part(&(at..end), left, &mut piece));
            matched += part.map_err(|e| e.at(format!("rows {at}..{end}")))?;
            at = end;
        }
        Ok(Visited { matched, piece })
    }

    /// The matches of a part of a chunk, if there are not more than `left`; else some more than that.
    fn part(&self, range: &Range<u64>, left: u64, piece: &mut V::Piece) -> Result<u64> {
        let count = self.walked.rows.count_in(range);
        if count == 0 {
            return Ok(0);
        }
        let known = self.known(range);
        let boxes = || self.cut.boxes_looked_at(self.walked.rows, range);
        if known == Some(false) {
            self.skip(boxes());
            return Ok(0);
        }
        if known.is_some() && self.visit.settle(range, count.min(left), piece)? {
            add(&self.counters.boxes, boxes());
            add(&self.counters.whole, boxes());
            return Ok(count.min(left));
        }
        let (mut at, mut matched) = (range.start, 0);
        while at < range.end && matched < left {
            let condition = self.walked.condition.filter(|_| known.is_none());
            let begin = self.cut.box_with(condition, &(at..range.end));
            self.skip(self.cut.boxes_looked_at(self.walked.rows, &(at..begin)));
            let Some(rows) = self.cut.boxes(&(begin..range.end)).next() else { break };
            at = rows.end;
            let Some(looked) = self.looked_at(&rows) else { continue };
            let narrow = condition.map_or(Some(looked.clone()), |condition| self.narrow(condition, &looked));
            let Some(narrow) = narrow else {
                self.skip(1);
                continue;
            };
            let visit = || self.one_box(narrow.clone(), known, piece);
            let is_narrow = narrow != looked;
            let number = if is_narrow { self.narrow.fetch_add(1, Ordering::Relaxed) } else { 0 };
            matched += with_decoded_boxes_after(number, visit)? as u64;
        }
        Ok(matched)
    }

    /// The rows of a box from the first to the last one that is looked at: nothing is read before, nor behind.
    fn looked_at(&self, rows: &Range<u64>) -> Option<Range<u64>> {
        let count = self.walked.rows.count_in(rows);
        let first = self.walked.rows.first_in(rows)?;
        Some(first..first + (count - 1) * self.walked.rows.step + 1)
    }

    /// Of these rows those that may match, where these are a small part.
    fn narrow(&self, condition: &dyn BoxSource, rows: &Range<u64>) -> Option<Range<u64>> {
        let possible = condition.possible(rows.clone())?;
        let is_part = possible.end - possible.start <= (rows.end - rows.start) / 2;
        if is_part { self.looked_at(&possible) } else { Some(rows.clone()) }
    }

    /// Counts boxes that have no match for sure.
    fn skip(&self, boxes: u64) {
        add(&self.counters.boxes, boxes);
        add(&self.counters.skipped, boxes);
    }

    /// Whether all rows of a range match, or none, if one of it is known.
    fn known(&self, range: &Range<u64>) -> Option<bool> {
        let Some(condition) = self.walked.condition else { return Some(true) };
        let item = condition.uniform(&[range.start], &[range.end - range.start]);
        item.map(|item| item.iter().any(|&byte| byte != 0))
    }

    /// Whether all rows of a box match, or none; if neither is known, the mask says which do.
    fn known_or_fill(
        &self,
        range: &Range<u64>,
        known: Option<bool>,
        mask: &mut [u8],
    ) -> Result<Option<bool>> {
        let Some(condition) = self.walked.condition.filter(|_| known.is_none()) else { return Ok(known) };
        // Of a box more may be known than of all of the chunk.
        let item = condition.uniform_or_fill(&[range.start], &[range.end - range.start], mask)?;
        Ok(item.map(|item| item.iter().any(|&byte| byte != 0)))
    }

    /// The matches of a box, whose first and last row are looked at.
    fn one_box(&self, range: Range<u64>, known: Option<bool>, piece: &mut V::Piece) -> Result<usize> {
        let step = self.walked.rows.step;
        let too_large = |_| Error::limit(format!("a box of {} rows", range.end - range.start));
        let len = usize::try_from(range.end - range.start).map_err(too_large)?;
        add(&self.counters.boxes, 1);
        let mut visit = |picked: &Picked<'_>| {
            let is_decoded = self.visit.visit(picked, piece)?;
            add(&self.counters.decoded, u64::from(is_decoded));
            Ok(picked.count)
        };
        let start = range.start;
        with_scratch(len, |mask| {
            match self.known_or_fill(&range, known, mask)? {
                Some(false) => {
                    add(&self.counters.skipped, 1);
                    return Ok(0);
                }
                Some(true) => {
                    add(&self.counters.whole, 1);
                    if step == 1 || len == 1 {
                        return visit(&Picked { start, len, mask: None, count: len });
                    }
                    mask.fill(1);
                }
                None => add(&self.counters.rows_scanned, len as u64),
            }
            if step > 1 {
                keep_every(mask, usize::try_from(step).unwrap_or(usize::MAX));
            }
            match count_picked(best_level(), mask) {
                0 => Ok(0),
                count => visit(&Picked { start, len, mask: (count < len).then_some(&*mask), count }),
            }
        })
    }
}

/// Clears all of a mask but every `step`th byte.
fn keep_every(mask: &mut [u8], step: usize) {
    for part in mask.chunks_mut(step) {
        part[1..].fill(0);
    }
}
