//! Reads the keys of a column, box by box on all threads.
//!
//! In: a column, what its items are, where they are missing, and ranges of rows. Out: pieces of keys, in the order of
//! the rows. What is known to be one item is not decoded. Rows are cut along the walk of the column.
//! Invariant: pieces depend on shapes alone.

use std::ops::Range;

use super::keys::{KeyKind, prefix, push_texts};
use super::piece::Piece;
use crate::array::{BoxSource, at_once, with_decoded_boxes};
use crate::base::error::{Error, Result};
use crate::base::ordered::{Ordered, Take};
use crate::base::pool::Job;
use crate::base::scratch::with_scratch;
use crate::query::{Column, Cut, Picked, Rows, StringSource, Strings, check_rows, check_strings};

/// Keys are looked at in so many places to learn how they are distributed,
const SAMPLES: u64 = 256;
/// so many rows in each.
const SAMPLE_ROWS: u64 = 1024;

/// A column whose items have keys.
#[derive(Clone, Copy)]
pub struct Keyed<'k> {
    /// The column.
    pub column: Column<'k>,
    /// What its items are.
    pub kind: KeyKind,
    /// Where they are missing: items of one byte, true but for 0. None are, but for NaN and the like, without it.
    pub missing: Option<&'k dyn BoxSource>,
}

impl<'k> Keyed<'k> {
    /// The source that says how rows are cut: the items, or the offsets of texts.
    fn first(&self) -> &'k dyn BoxSource {
        match self.column {
            Column::Items(items) => items,
            Column::Strings { offsets, .. } => offsets,
        }
    }

    /// Bytes that are read for a row, about.
    pub(super) fn row_bytes(&self) -> usize {
        self.first().item_bytes().max(1)
    }

    /// How many bytes a job tells that it has done, when so many rows have been read.
    pub fn read_bytes(&self, rows: u64) -> usize {
        usize::try_from(rows).unwrap_or(usize::MAX).saturating_mul(self.row_bytes())
    }

    /// Whether the column can have such items, and rows up to `stop`.
    pub(super) fn check(&self, stop: u64) -> Result<()> {
        match self.column {
            Column::Items(items) => {
                check_rows(items, stop, "column")?;
                if !self.kind.takes(items.item_bytes()) {
                    let bytes = items.item_bytes();
                    return Err(Error::invalid(format!("column: {:?} of {bytes} bytes", self.kind)));
                }
            }
            Column::Strings { offsets, bytes } => {
                if self.kind != KeyKind::Text {
                    return Err(Error::invalid(format!("column: {:?} as offsets and bytes", self.kind)));
                }
                check_strings(offsets, bytes, &Rows { start: 0, stop, step: 1 })?;
            }
        }
        let Some(missing) = self.missing else { return Ok(()) };
        check_rows(missing, stop, "mask")?;
        if missing.item_bytes() != 1 {
            let bytes = missing.item_bytes();
            return Err(Error::invalid(format!("mask: items of {bytes} bytes are not booleans")));
        }
        Ok(())
    }

    /// Appends the keys of a box.
    fn read(&self, rows: &Range<u64>, piece: &mut Piece) -> Result<()> {
        let (start, count) = (rows.start, rows.end - rows.start);
        let len = usize::try_from(count).map_err(|_| Error::limit(format!("a box of {count} rows")))?;
        let Some(missing) = self.missing else {
            return self.read_items(start, len, None, piece);
        };
        with_scratch(len, |mask| match missing.uniform_or_fill(&[start], &[count], mask)? {
            Some(item) if item.iter().any(|&byte| byte != 0) => {
                piece.push_missing(len);
                Ok(())
            }
            Some(_) => self.read_items(start, len, None, piece),
            None => self.read_items(start, len, Some(mask), piece),
        })
    }

    fn read_items(&self, start: u64, len: usize, mask: Option<&[u8]>, piece: &mut Piece) -> Result<()> {
        let items = match self.column {
            Column::Items(items) => items,
            Column::Strings { offsets, bytes } => {
                let mut texts = Strings::default();
                let picked = Picked { start, len, mask: None, count: len };
                StringSource { offsets, bytes }.gather(&picked, &mut texts)?;
                let ends = texts.ends.iter().map(|&end| usize::try_from(end).unwrap_or(usize::MAX));
                let keys = ends.scan(0, |first, end| {
                    let text = &texts.bytes[*first..end];
                    *first = end;
                    Some(prefix(text))
                });
                push_texts(keys, mask, piece);
                return Ok(());
            }
        };
        let item_bytes = items.item_bytes();
        let bytes = len.checked_mul(item_bytes);
        let bytes = bytes.ok_or_else(|| Error::limit(format!("{len} items of {item_bytes} bytes")))?;
        with_scratch(bytes, |room| {
            match items.uniform_or_fill(&[start], &[len as u64], room)? {
                None => self.kind.push(room, item_bytes, mask, piece),
                Some(item) if mask.is_none() && item.len() == item_bytes => {
                    self.push_one(&item, len, piece);
                }
                Some(item) => {
                    room.chunks_exact_mut(item_bytes.max(1)).for_each(|out| out.copy_from_slice(&item));
                    self.kind.push(room, item_bytes, mask, piece);
                }
            }
            Ok(())
        })
    }

    /// Appends the key of one item over and over.
    fn push_one(&self, item: &[u8], len: usize, piece: &mut Piece) {
        match self.kind.key_of(item) {
            Some(key) => piece.push_all(len, std::iter::repeat_n(key, len)),
            None => piece.push_missing(len),
        }
    }

    /// Appends the key of all rows of a part of a chunk, if it is one and the same and that is known.
    fn settle(&self, rows: &Range<u64>, piece: &mut Piece) -> Result<bool> {
        let (start, count) = ([rows.start], [rows.end - rows.start]);
        let len = usize::try_from(count[0]).map_err(|_| Error::limit(format!("{} rows", count[0])))?;
        if let Some(missing) = self.missing {
            let Some(item) = missing.uniform(&start, &count) else { return Ok(false) };
            if item.iter().any(|&byte| byte != 0) {
                piece.push_missing(len);
                return Ok(true);
            }
        }
        let Column::Items(items) = self.column else { return Ok(false) };
        let item = items.uniform(&start, &count).filter(|item| item.len() == items.item_bytes());
        let is_known = item.is_some();
        if let Some(item) = item {
            self.push_one(&item, len, piece);
        }
        Ok(is_known)
    }

    /// The keys of a task.
    fn piece(&self, cut: Cut, rows: &Range<u64>) -> Result<Piece> {
        let mut piece = Piece::new(rows)?;
        let mut at = rows.start;
        while at < rows.end {
            let part = at..cut.chunk_end(at).min(rows.end);
            at = part.end;
            let read = at_once(|| {
                if self.settle(&part, &mut piece)? {
                    return Ok(());
                }
                cut.boxes(&part).try_for_each(|rows| with_decoded_boxes(|| self.read(&rows, &mut piece)))
            });
            read.map_err(|e: Error| e.at(format!("rows {}..{}", part.start, part.end)))?;
        }
        Ok(piece)
    }

    /// Reads the keys of rows, which are there, and gives pieces of them to `taker` in order. What is made of a piece
    /// is made on all threads.
    pub(super) fn each_piece<P: Send, T: Take<P, Rest = ()> + Send>(
        &self,
        ranges: &[Range<u64>],
        make: impl Fn(Piece) -> Result<P> + Sync,
        taker: T,
        job: &Job<'_>,
    ) -> Result<T> {
        let (Some(first), Some(last)) = (ranges.first(), ranges.last()) else { return Ok(taker) };
        let rows = Rows { start: first.start, stop: last.end, step: 1 };
        let others: Vec<_> = self.missing.into_iter().collect();
        let cut = Cut::new(rows, Some(self.first()), &others);
        let bytes_of =
            |rows: u64| usize::try_from(rows).unwrap_or(usize::MAX).saturating_mul(self.row_bytes());
        let total = bytes_of(ranges.iter().map(|range| range.end - range.start).sum());
        let ordered = Ordered::new(taker, job.width(total));
        let tasks = ranges.iter().flat_map(|range| {
            let mut at = range.start;
            std::iter::from_fn(move || {
                let start = at;
                at = cut.task_end(start).min(range.end);
                (start < range.end).then_some(start..at)
            })
        });
        job.run(total, tasks.enumerate(), |(number, rows)| {
            ordered.put(number, || make(self.piece(cut, &rows)?))?;
            Ok(bytes_of(rows.end - rows.start))
        })?;
        Ok(ordered.into_taker())
    }

    /// Some keys of rows, which are there, from all over them.
    pub(super) fn sample(&self, ranges: &[Range<u64>], job: &Job<'_>) -> Result<Vec<u64>> {
        let total: u64 = ranges.iter().map(|range| range.end - range.start).sum();
        let places = SAMPLES.min(total.div_ceil(SAMPLE_ROWS));
        let mut looked = Vec::new();
        let (mut range, mut before) = (0, 0);
        for place in 0..places {
            // Of all rows, those of the ranges one behind another; the product fits for all that can be sorted.
            let number =
                u64::try_from(u128::from(total) * u128::from(place) / u128::from(places)).unwrap_or(0);
            while ranges[range].end - ranges[range].start <= number - before {
                before += ranges[range].end - ranges[range].start;
                range += 1;
            }
            let start = ranges[range].start + (number - before);
            looked.push(start..ranges[range].end.min(start + SAMPLE_ROWS));
        }
        let keys = self.each_piece(&looked, |piece| Ok(piece.keys().to_vec()), Keys::default(), job)?;
        Ok(keys.0)
    }
}

#[derive(Default)]
struct Keys(Vec<u64>);

impl Take<Vec<u64>> for Keys {
    type Rest = ();

    fn take(&mut self, mut keys: Vec<u64>) -> Result<()> {
        self.0.append(&mut keys);
        Ok(())
    }
}
