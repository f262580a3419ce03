//! The values of a column in order, with their rows: in memory, or through a file where that is too little.
//!
//! In: a column, and how much memory may be used. Out: values and rows, some at a time. What does not fit is cut by
//! samples of the values into parts of a file, each of which is sorted by itself; values that equal a sample make parts
//! that need no sorting.
//! Invariant: all bytes of strings count; equal values come in the order of their rows, NaN behind all others, and each
//! keeps its bits. Nothing is sorted that is larger than the memory allows, unless samples mislead.

use std::collections::VecDeque;
use std::ops::Range;
use std::path::Path;

use coquina_kernels::items::{bytes_of, items};

use super::value_keys::{each_part, keys};
use crate::array::BoxSource;
use crate::base::error::{Error, Result};
use crate::base::pool::Job;
use crate::base::scratch::with_scratch;
use crate::index::keys::{KeyKind, PREFIX_BYTES};
use crate::index::piece::Piece;
use crate::index::radix::Bounds;
use crate::index::sorted::Part;
use crate::index::spill::{BytesExtent, Spill};

/// Bytes of memory for a value that is sorted, beside its own: its key, its bucket, its pair, its place in the order.
const ENTRY_BYTES: u64 = 8 + 2 + 16 + 8;
/// Rows are read and written so many at a time, or fewer where memory is little.
const WINDOW_ROWS: u64 = 1 << 20;
const WINDOW_ROWS_MIN: u64 = 256;
/// Values are looked at in so many places to learn how they are distributed, so many rows in each.
const SAMPLES: u64 = 256;
const SAMPLE_ROWS: u64 = 1024;
/// A part of a file needs so much less memory than there is: samples are not exact.
const PARTS_EACH: u64 = 4;
/// No more parts than this are written at once.
const PARTS_MAX: u64 = 1 << 12;
/// Bytes of a row's number.
const ROW_BYTES: usize = size_of::<u64>();

/// What is to be sorted, and how.
#[derive(Clone, Copy)]
pub struct Sorting<'s> {
    /// The values, on one axis, in the machine's byte order.
    pub values: &'s dyn BoxSource,
    /// What they are: numbers, or strings of a fixed size.
    pub kind: KeyKind,
    /// Bytes of memory that may be used, about.
    pub memory_limit: u64,
    /// Where a file can be.
    pub folder: &'s Path,
}

impl Sorting<'_> {
    pub(super) fn rows(&self) -> u64 {
        self.values.shape().first().copied().unwrap_or(0)
    }

    pub(super) fn item_bytes(&self) -> usize {
        self.values.item_bytes()
    }

    fn check(&self) -> Result<()> {
        let is_kind = matches!(self.kind, KeyKind::Number(_) | KeyKind::Bytes);
        let (shape, bytes) = (self.values.shape(), self.item_bytes());
        if shape.len() != 1 || bytes == 0 || !is_kind || !self.kind.takes(bytes) {
            let kind = self.kind;
            return Err(Error::invalid(format!("sorting {kind:?} of {bytes} bytes of shape {shape:?}")));
        }
        Ok(())
    }

    /// Bytes of memory that sorting so many rows takes.
    fn needed(&self, rows: u64) -> u64 {
        rows.saturating_mul(self.item_bytes() as u64 + ENTRY_BYTES)
    }

    fn window_rows(&self) -> u64 {
        let most = self.memory_limit / PARTS_EACH / (self.item_bytes() as u64 + ENTRY_BYTES);
        most.clamp(WINDOW_ROWS_MIN, WINDOW_ROWS)
    }

    /// Reads rows window by window, and calls `see` with the first row, the number of rows and the values of each.
    fn each_window(
        &self,
        rows: Range<u64>,
        job: &Job<'_>,
        mut see: impl FnMut(u64, &[u8]) -> Result<()>,
    ) -> Result<()> {
        let window = self.window_rows();
        for start in (rows.start..rows.end).step_by(usize::try_from(window).unwrap_or(usize::MAX)) {
            let len = window.min(rows.end - start);
            let mut at = start;
            each_part(self.values, &[start], len, job, |values| {
                see(at, values)?;
                at += (values.len() / self.item_bytes()) as u64;
                Ok(())
            })?;
        }
        Ok(())
    }
}

/// Values in memory, in order.
struct Run {
    values: Vec<u8>,
    /// Their rows; none if these are their places.
    rows: Option<Vec<u64>>,
    /// The places of the values in their order; none if they are in order.
    order: Option<Vec<u64>>,
    /// So many have been handed out.
    at: usize,
    len: usize,
}

/// Some values, and their rows.
#[derive(Debug, Default)]
pub(super) struct Taken {
    pub(super) values: Vec<u8>,
    pub(super) rows: Vec<u64>,
}

/// A part of a file.
struct Waiting {
    extents: VecDeque<BytesExtent>,
    /// Whether all of its values are equal.
    is_equal: bool,
}

/// Values in order, handed out.
pub(super) struct Ordered {
    kind: KeyKind,
    item_bytes: usize,
    run: Option<Run>,
    spill: Option<Spill>,
    /// The parts of the file that come next, in order.
    waiting: VecDeque<Waiting>,
}

impl Ordered {
    /// Reads and sorts all values. `seen` is told how many rows have been read.
    pub(super) fn new(
        sorting: &Sorting<'_>,
        mut seen: impl FnMut(u64) -> Result<()>,
        job: &Job<'_>,
    ) -> Result<Self> {
        sorting.check()?;
        let (kind, item_bytes, rows) = (sorting.kind, sorting.item_bytes(), sorting.rows());
        let needed = sorting.needed(rows);
        let mut ordered = Self { kind, item_bytes, run: None, spill: None, waiting: VecDeque::new() };
        if needed > sorting.memory_limit {
            let parts = needed.saturating_mul(PARTS_EACH) / sorting.memory_limit.max(1) + 1;
            let splits = Splits::new(sorting, parts.min(PARTS_MAX), job)?;
            let mut spill = Spill::create(sorting.folder)?;
            let mut parts = splits.parts();
            sorting.each_window(0..rows, job, |start, values| {
                splits.spread(start, values, &mut parts, &mut spill)?;
                seen(start + (values.len() / item_bytes) as u64)
            })?;
            parts.retain(|part| !part.extents.is_empty());
            ordered.waiting = parts.into();
            ordered.spill = Some(spill);
            return Ok(ordered);
        }
        let mut values = Vec::new();
        let bytes = usize::try_from(rows).ok().and_then(|rows| rows.checked_mul(item_bytes));
        let reserved = bytes.and_then(|bytes| values.try_reserve_exact(bytes).ok());
        reserved.ok_or_else(|| Error::limit(format!("{rows} values of {item_bytes} bytes")))?;
        let mut pieces = Vec::new();
        sorting.each_window(0..rows, job, |start, part| {
            let end = start + (part.len() / item_bytes) as u64;
            pieces.push(piece_of(kind, part, item_bytes, start)?);
            values.extend_from_slice(part);
            seen(end)
        })?;
        ordered.run = Some(Run::sorted(kind, item_bytes, values, pieces, job)?);
        Ok(ordered)
    }

    /// The next values, as many as are wanted; fewer only where no more are left.
    pub(super) fn take(&mut self, wanted: usize, job: &Job<'_>) -> Result<Taken> {
        let mut taken = Taken::default();
        while taken.rows.len() < wanted {
            let Some(run) = &mut self.run else {
                if !self.load(job)? {
                    break;
                }
                continue;
            };
            run.hand_out(wanted - taken.rows.len(), self.item_bytes, &mut taken);
            if run.at == run.len {
                self.run = None;
            }
        }
        Ok(taken)
    }

    /// Gets what comes next from the file; whether there is more.
    fn load(&mut self, job: &Job<'_>) -> Result<bool> {
        let (Some(spill), Some(part)) = (&self.spill, self.waiting.front_mut()) else { return Ok(false) };
        let (mut values, mut rows) = (Vec::new(), Vec::new());
        let wanted = if part.is_equal { 1 } else { part.extents.len() };
        for extent in part.extents.drain(..wanted) {
            with_scratch(extent.len, |room| {
                spill.read_bytes(extent, room)?;
                // The rows stand first, as the memory is aligned for these.
                let (first, then) = room.split_at(extent.len / (self.item_bytes + ROW_BYTES) * ROW_BYTES);
                rows.extend_from_slice(items(first));
                values.extend_from_slice(then);
                Ok::<_, Error>(())
            })?;
        }
        let run = if part.is_equal {
            Run { at: 0, len: rows.len(), values, rows: Some(rows), order: None }
        } else {
            let piece = with_scratch(values.len(), |room| {
                room.copy_from_slice(&values);
                piece_of(self.kind, room, self.item_bytes, 0)
            })?;
            let run = Run::sorted(self.kind, self.item_bytes, values, vec![piece], job)?;
            Run { rows: Some(rows), ..run }
        };
        if part.extents.is_empty() {
            self.waiting.pop_front();
        }
        self.run = Some(run);
        Ok(true)
    }
}

/// The keys of values in aligned memory, the first of which is at a place.
fn piece_of(kind: KeyKind, values: &[u8], item_bytes: usize, start: u64) -> Result<Piece> {
    let mut piece = Piece::new(&(start..start + (values.len() / item_bytes) as u64))?;
    kind.push(values, item_bytes, None, &mut piece);
    Ok(piece)
}

impl Run {
    /// Values of which pieces have the keys.
    fn sorted(
        kind: KeyKind,
        item_bytes: usize,
        values: Vec<u8>,
        mut pieces: Vec<Piece>,
        job: &Job<'_>,
    ) -> Result<Self> {
        let len = values.len() / item_bytes;
        let missing: Vec<u64> = pieces.iter_mut().flat_map(Piece::take_missing).collect();
        let (mut sorted_keys, mut order) = (vec![0; len - missing.len()], vec![0; len - missing.len()]);
        if let Some(bounds) = Bounds::of(&pieces) {
            Part::sorted(pieces, &bounds, job)?.fill(0..order.len(), &mut sorted_keys, &mut order);
        }
        if is_long(kind, item_bytes) {
            let mut start = 0;
            for together in sorted_keys.chunk_by(|one, next| one == next) {
                let tail = |&at: &u64| &item(&values, item_bytes, at)[PREFIX_BYTES..];
                order[start..start + together.len()].sort_by(|one, other| tail(one).cmp(tail(other)));
                start += together.len();
            }
        }
        order.extend(missing);
        Ok(Self { values, rows: None, order: Some(order), at: 0, len })
    }

    /// Appends the next values, no more than are wanted.
    fn hand_out(&mut self, wanted: usize, item_bytes: usize, taken: &mut Taken) {
        let places = self.at..self.len.min(self.at.saturating_add(wanted));
        self.at = places.end;
        let Some(order) = &self.order else {
            let rows = self.rows.as_deref().unwrap_or_default();
            taken.rows.extend_from_slice(&rows[places.clone()]);
            taken.values.extend_from_slice(&self.values[places.start * item_bytes..places.end * item_bytes]);
            return;
        };
        let places = &order[places];
        taken.values.reserve(places.len() * item_bytes);
        places.iter().for_each(|&at| taken.values.extend_from_slice(item(&self.values, item_bytes, at)));
        match &self.rows {
            None => taken.rows.extend_from_slice(places),
            Some(rows) => {
                let row = |&at: &u64| usize::try_from(at).map_or(0, |at| rows[at]);
                taken.rows.extend(places.iter().map(row));
            }
        }
    }
}

/// Whether keys do not tell all values apart.
fn is_long(kind: KeyKind, item_bytes: usize) -> bool {
    kind == KeyKind::Bytes && item_bytes > PREFIX_BYTES
}

fn item(values: &[u8], item_bytes: usize, at: u64) -> &[u8] {
    let start = usize::try_from(at).unwrap_or(usize::MAX).saturating_mul(item_bytes);
    &values[start..start + item_bytes]
}

/// Different values that cut all of them into parts: those between two of them, and those that equal one.
struct Splits {
    kind: KeyKind,
    item_bytes: usize,
    /// The key of each, and what its key does not say.
    splits: Vec<(u64, Vec<u8>)>,
}

impl Splits {
    /// Those that cut a sample into so many parts of one size.
    fn new(sorting: &Sorting<'_>, parts: u64, job: &Job<'_>) -> Result<Self> {
        let (kind, item_bytes, rows) = (sorting.kind, sorting.item_bytes(), sorting.rows());
        let step = (rows / SAMPLES).max(SAMPLE_ROWS);
        let (mut values, mut pieces) = (Vec::new(), Vec::new());
        for start in (0..rows).step_by(usize::try_from(step).unwrap_or(usize::MAX)) {
            let len = SAMPLE_ROWS.min(rows - start);
            each_part(sorting.values, &[start], len, job, |part| {
                pieces.push(piece_of(kind, part, item_bytes, (values.len() / item_bytes) as u64)?);
                values.extend_from_slice(part);
                Ok(())
            })?;
        }
        let mut sample = Run::sorted(kind, item_bytes, values, pieces, job)?;
        let mut sorted = Taken::default();
        sample.hand_out(usize::MAX, item_bytes, &mut sorted);
        let mut found = Self { kind, item_bytes, splits: Vec::new() };
        let keys = found.keys(&sorted.values)?;
        for number in 1..parts {
            let at = number * keys.len() as u64 / parts;
            let Some(&key) = usize::try_from(at).ok().and_then(|at| keys.get(at)) else { break };
            let tail = found.tail(item(&sorted.values, item_bytes, at)).to_vec();
            found.splits.push((key, tail));
        }
        found.splits.dedup();
        Ok(found)
    }

    fn keys(&self, values: &[u8]) -> Result<Vec<u64>> {
        with_scratch(values.len(), |room| {
            room.copy_from_slice(values);
            keys(self.kind, room, self.item_bytes)
        })
    }

    /// What the key of a value does not say.
    fn tail<'v>(&self, value: &'v [u8]) -> &'v [u8] {
        if is_long(self.kind, self.item_bytes) { &value[PREFIX_BYTES..] } else { &[] }
    }

    /// All parts, without values.
    fn parts(&self) -> Vec<Waiting> {
        let part = |number| Waiting { extents: VecDeque::new(), is_equal: number % 2 == 1 };
        (0..=2 * self.splits.len()).map(part).collect()
    }

    /// Which part a value belongs to.
    fn part(&self, key: u64, tail: &[u8]) -> usize {
        let compare = |split: &(u64, Vec<u8>)| split.0.cmp(&key).then_with(|| split.1.as_slice().cmp(tail));
        match self.splits.binary_search_by(compare) {
            Ok(equal) => 2 * equal + 1,
            Err(before) => 2 * before,
        }
    }

    /// Writes values to their parts; the first of them is that of row `start`.
    fn spread(&self, start: u64, values: &[u8], parts: &mut [Waiting], spill: &mut Spill) -> Result<()> {
        let numbers: Vec<usize> = keys(self.kind, values, self.item_bytes)?
            .into_iter()
            .zip(values.chunks_exact(self.item_bytes))
            .map(|(key, value)| self.part(key, self.tail(value)))
            .collect();
        let mut order: Vec<u64> = (0..numbers.len() as u64).collect();
        let number = |&at: &u64| usize::try_from(at).map_or(0, |at| numbers[at]);
        order.sort_by_key(number);
        for those in order.chunk_by(|one, next| number(one) == number(next)) {
            let rows: Vec<u64> = those.iter().map(|&at| start + at).collect();
            let mut bytes = bytes_of(&rows).to_vec();
            those.iter().for_each(|&at| bytes.extend_from_slice(item(values, self.item_bytes, at)));
            parts[those.first().map_or(0, number)].extents.push_back(spill.append_bytes(&bytes)?);
        }
        Ok(())
    }
}
