//! The matching rows of some columns: their items, gathered.
//!
//! In: a condition or none, columns, which rows. Out: how many match, and of each column their items one behind
//! another, in the order of the rows; on request their numbers. Memory: the result, and a piece for each thread.

use std::ops::Range;

use coquina_kernels::each_picked;

use super::gather::{bytes_of, gather, grow, repeat};
use super::rows::Rows;
use super::strings::{self, Strings, misplaced};
use super::walk::{Picked, Report, Visit, Walked, check_rows};
use crate::array::BoxSource;
use crate::base::error::{Error, Result};
use crate::base::ordered::Take;
use crate::base::pool::Job;

/// What is to be gathered of the rows that match.
#[derive(Clone, Copy)]
pub enum Column<'q> {
    /// Items of one size.
    Items(&'q dyn BoxSource),
    /// Strings of any length.
    Strings {
        /// Where each begins, and where the last one ends: 64-bit integers in the machine's byte order.
        offsets: &'q dyn BoxSource,
        /// The bytes of all.
        bytes: &'q dyn BoxSource,
    },
}

/// What a scan looks for.
#[derive(Clone, Copy)]
pub struct Query<'q> {
    /// Which rows match: items of one byte, true but for 0. All, if there is none.
    pub condition: Option<&'q dyn BoxSource>,
    /// What is gathered of them.
    pub columns: &'q [Column<'q>],
    /// Which rows are looked at.
    pub rows: Rows,
    /// Whether the numbers of the matching rows are wanted.
    pub numbers: bool,
    /// The most matches that are wanted: the first ones.
    pub limit: Option<u64>,
}

/// What has been gathered of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// Items one behind another.
    Items(Vec<u8>),
    /// Strings one behind another, and where each begins, from 0 on, and the last one ends.
    Strings {
        /// One more than strings.
        offsets: Vec<i64>,
        /// The bytes of all.
        bytes: Vec<u8>,
    },
}

impl Part {
    /// What stands at some places, of items of so many bytes.
    pub(super) fn taken(&self, places: &[usize], item_bytes: usize) -> Self {
        match self {
            Self::Items(items) => {
                let mut taken = Vec::with_capacity(places.len() * item_bytes);
                for &place in places {
                    taken.extend_from_slice(&items[place * item_bytes..][..item_bytes]);
                }
                Self::Items(taken)
            }
            Self::Strings { offsets, bytes } => {
                let at = |place: usize| usize::try_from(offsets[place]).unwrap_or(0);
                let (mut ends, mut taken) = (vec![0], Vec::new());
                for &place in places {
                    taken.extend_from_slice(&bytes[at(place)..at(place + 1)]);
                    ends.push(taken.len().cast_signed() as i64);
                }
                Self::Strings { offsets: ends, bytes: taken }
            }
        }
    }

    /// The items; nothing of strings.
    pub(super) fn into_items(self) -> Option<Vec<u8>> {
        match self {
            Self::Items(items) => Some(items),
            Self::Strings { .. } => None,
        }
    }
}

/// What a scan found.
#[derive(Clone, Debug)]
pub struct Scanned {
    /// How many rows match.
    pub matched: u64,
    /// For each column what was gathered.
    pub parts: Vec<Part>,
    /// The numbers of the matching rows, if they were wanted.
    pub numbers: Option<Vec<i64>>,
    /// What was done for it.
    pub report: Report,
}

/// Finds the rows that match, and gathers columns of them.
///
/// # Errors
/// `OutOfBounds` for rows that a source does not have, `Invalid` for sources of other than one axis, a condition that
/// is none and a step of 0, `Corrupt` for offsets that do not rise or leave the bytes, `Limit` for a result that
/// cannot be, and what goes wrong with reading.
pub fn scan(query: &Query<'_>, job: &Job<'_>) -> Result<Scanned> {
    let rows = query.rows;
    let mut sources = Vec::with_capacity(query.columns.len());
    for (number, column) in query.columns.iter().enumerate() {
        match *column {
            Column::Items(source) => sources.push(source),
            Column::Strings { offsets, bytes } => {
                check_strings(offsets, bytes, &rows).map_err(|e| e.at(format!("column {number}")))?;
                sources.push(offsets);
            }
        }
    }
    if query.condition.is_none() && sources.is_empty() && !query.numbers {
        rows.check()?;
        let matched = rows.count_in(&(rows.start..rows.stop)).min(query.limit.unwrap_or(u64::MAX));
        return Ok(Scanned { matched, parts: Vec::new(), numbers: None, report: Report::default() });
    }
    let walked = Walked { condition: query.condition, columns: sources, rows, limit: query.limit };
    let visit = Gathering { query };
    let whole = Whole { piece: visit.piece(), query };
    let (whole, _, report) = walked.run(&visit, whole, job)?;
    let Piece { matched, parts, numbers } = whole.piece;
    let parts = parts.into_iter().map(Gathered::finish).collect();
    Ok(Scanned { matched, parts, numbers: query.numbers.then_some(numbers), report })
}

/// Whether these can be strings, and those of the rows are there.
pub(crate) fn check_strings(offsets: &dyn BoxSource, bytes: &dyn BoxSource, rows: &Rows) -> Result<()> {
    let ends =
        rows.stop.checked_add(1).ok_or_else(|| Error::limit(format!("row {} is the end", rows.stop)))?;
    check_rows(offsets, if rows.start < rows.stop { ends } else { 0 }, "offsets")?;
    check_rows(bytes, 0, "bytes")?;
    match (offsets.item_bytes(), bytes.item_bytes()) {
        (strings::OFFSET_BYTES, 1) => Ok(()),
        (offset, byte) => Err(Error::invalid(format!(
            "strings of offsets of {offset} bytes and items of {byte}: takes 8 and 1"
        ))),
    }
}

/// What is known of a column so far.
enum Gathered {
    Items(Vec<u8>),
    Strings(Strings),
}

impl Gathered {
    fn finish(self) -> Part {
        match self {
            Self::Items(items) => Part::Items(items),
            Self::Strings(Strings { mut ends, bytes, .. }) => {
                ends.insert(0, 0);
                Part::Strings { offsets: ends, bytes }
            }
        }
    }
}

/// What is made of the boxes of a task, and of all of them.
struct Piece {
    matched: u64,
    parts: Vec<Gathered>,
    numbers: Vec<i64>,
}

/// Gathers the matches.
struct Gathering<'g> {
    query: &'g Query<'g>,
}

impl Visit for Gathering<'_> {
    type Piece = Piece;

    fn piece(&self) -> Piece {
        let part = |column: &Column<'_>| match column {
            Column::Items(_) => Gathered::Items(Vec::new()),
            Column::Strings { .. } => Gathered::Strings(Strings::default()),
        };
        Piece { matched: 0, parts: self.query.columns.iter().map(part).collect(), numbers: Vec::new() }
    }

    fn visit(&self, picked: &Picked<'_>, piece: &mut Piece) -> Result<bool> {
        let mut is_decoded = false;
        for (column, part) in self.query.columns.iter().zip(&mut piece.parts) {
            match (*column, part) {
                (Column::Items(source), Gathered::Items(items)) => {
                    let out = grow(items, bytes_of(picked.count, source.item_bytes())?)?;
                    is_decoded |= gather(source, picked, out)?;
                }
                (Column::Strings { offsets, bytes }, Gathered::Strings(strings)) => {
                    strings::Source { offsets, bytes }.gather(picked, strings)?;
                    is_decoded = true;
                }
                _ => {}
            }
        }
        if self.query.numbers {
            let first = picked.start.cast_signed();
            let numbers = &mut piece.numbers;
            match picked.mask {
                Some(mask) => each_picked(mask, |row| numbers.push(first + row.cast_signed() as i64)),
                None => numbers.extend(first..first + picked.len.cast_signed() as i64),
            }
        }
        piece.matched += picked.count as u64;
        Ok(is_decoded)
    }

    fn settle(&self, range: &Range<u64>, count: u64, piece: &mut Piece) -> Result<bool> {
        let mut known = Vec::with_capacity(self.query.columns.len());
        for column in self.query.columns {
            let Column::Items(source) = column else { return Ok(false) };
            let Some(item) = source.uniform(&[range.start], &[range.end - range.start]) else {
                return Ok(false);
            };
            known.push(item);
        }
        let wanted = usize::try_from(count).map_err(|_| Error::limit(format!("{count} matches")))?;
        for (item, part) in known.iter().zip(&mut piece.parts) {
            let Gathered::Items(items) = part else { continue };
            repeat(item, grow(items, bytes_of(wanted, item.len())?)?);
        }
        if let Some(first) = self.query.rows.first_in(range)
            && self.query.numbers
        {
            let step = self.query.rows.step;
            piece.numbers.extend((0..count).map(|number| (first + number * step).cast_signed()));
        }
        piece.matched += count;
        Ok(true)
    }
}

/// All that has been gathered, in order.
struct Whole<'w> {
    piece: Piece,
    query: &'w Query<'w>,
}

impl Take<Piece> for Whole<'_> {
    type Rest = ();

    fn take(&mut self, mut piece: Piece) -> Result<()> {
        let left = self.query.limit.map_or(u64::MAX, |limit| limit - self.piece.matched);
        let kept = piece.matched.min(left);
        piece.matched = kept;
        let count = usize::try_from(kept).unwrap_or(usize::MAX);
        piece.numbers.truncate(count);
        for (number, part) in piece.parts.into_iter().enumerate() {
            let (Some(whole), Some(column)) =
                (self.piece.parts.get_mut(number), self.query.columns.get(number))
            else {
                continue;
            };
            append(whole, part, column, count).map_err(|e| e.at(format!("column {number}")))?;
        }
        append_to(&mut self.piece.numbers, piece.numbers)?;
        self.piece.matched += kept;
        Ok(())
    }
}

/// Appends the first `count` of what a piece has of a column.
fn append(whole: &mut Gathered, part: Gathered, column: &Column<'_>, count: usize) -> Result<()> {
    match (whole, part, column) {
        (Gathered::Items(whole), Gathered::Items(mut items), Column::Items(source)) => {
            items.truncate(bytes_of(count, source.item_bytes())?);
            append_to(whole, items)
        }
        (Gathered::Strings(whole), Gathered::Strings(mut part), Column::Strings { bytes, .. }) => {
            let Some(span) = part.span else { return Ok(()) };
            let before = whole.span.as_ref().map_or(0, |span| span.end);
            if span.start < before {
                let len = bytes.shape().first().copied().unwrap_or(0);
                return Err(misplaced(span.start.cast_signed(), span.end.cast_signed(), before..len));
            }
            whole.span = Some(whole.span.as_ref().map_or(span.start, |span| span.start)..span.end);
            part.ends.truncate(count);
            let end = part.ends.last().map_or(0, |end| usize::try_from(*end).unwrap_or(usize::MAX));
            part.bytes.truncate(end);
            let first = whole.bytes.len().cast_signed() as i64;
            part.ends.iter_mut().for_each(|end| *end += first);
            append_to(&mut whole.ends, part.ends)?;
            append_to(&mut whole.bytes, part.bytes)
        }
        _ => Ok(()),
    }
}

/// Moves the items of one list behind those of another.
fn append_to<T>(whole: &mut Vec<T>, mut part: Vec<T>) -> Result<()> {
    if whole.is_empty() {
        *whole = part;
        return Ok(());
    }
    let items = part.len();
    whole
        .try_reserve(items)
        .map_err(|_| Error::limit(format!("a result of {} items and more", whole.len())))?;
    whole.append(&mut part);
    Ok(())
}
