//! A part of a column: one item, or one text, for each row. Most columns have one part, nullable ones a mask besides.
//!
//! In: rows of the part, encoded. Out: arrays that are appended to, changed and cut, and the rows again.
//! Invariant: nothing here knows what the items mean.

use std::ops::Range;
use std::sync::Arc;

use super::texts::Texts;
use crate::array::{Array, AxisSelection, Selection};
use crate::base::error::{Error, Result};
use crate::base::pool::Job;

/// Rows that are rewritten at a time.
pub(super) const PIECE_ROWS: u64 = 1 << 18;

/// Rows of one part, in memory, as its arrays store them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PartRows {
    /// Items one behind another.
    Items {
        /// Bytes of an item.
        item_bytes: usize,
        /// The bytes of all.
        bytes: Vec<u8>,
    },
    /// Texts.
    Texts(Texts),
}

impl PartRows {
    /// Items that these bytes are.
    pub(crate) fn items(item_bytes: usize, bytes: Vec<u8>) -> Self {
        Self::Items { item_bytes, bytes }
    }

    /// How many rows.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Items { item_bytes, bytes } => bytes.len() / item_bytes,
            Self::Texts(texts) => texts.len(),
        }
    }

    /// How many bytes they take, with the offsets of texts.
    pub(crate) fn nbytes(&self) -> usize {
        match self {
            Self::Items { bytes, .. } => bytes.len(),
            Self::Texts(texts) => texts.bytes().len() + 8 * texts.len(),
        }
    }

    /// The rows of a range.
    pub(crate) fn cut(&self, rows: Range<usize>) -> Self {
        match self {
            Self::Items { item_bytes, bytes } => {
                let bytes = bytes[rows.start * item_bytes..rows.end * item_bytes].to_vec();
                Self::Items { item_bytes: *item_bytes, bytes }
            }
            Self::Texts(texts) => Self::Texts(texts.cut(rows)),
        }
    }

    /// Puts rows behind the last. Those of another kind of part add nothing.
    pub(crate) fn extend(&mut self, other: &Self) {
        match (self, other) {
            (Self::Items { bytes, .. }, Self::Items { bytes: more, .. }) => bytes.extend_from_slice(more),
            (Self::Texts(texts), Self::Texts(more)) => texts.extend(more),
            _ => {}
        }
    }
}

/// Which rows are read.
#[derive(Clone, Copy)]
pub(crate) enum RowChoice<'r> {
    /// Neighbours.
    Range {
        /// The first one.
        start: u64,
        /// Where they end.
        end: u64,
    },
    /// Any, in any order, as often as one likes.
    List(&'r [u64]),
}

impl RowChoice<'_> {
    /// The rows of a range.
    pub(crate) fn range(rows: Range<u64>) -> Self {
        Self::Range { start: rows.start, end: rows.end }
    }

    /// How many.
    pub(crate) fn count(&self) -> Result<usize> {
        match self {
            Self::Range { start, end } => count_of(end.saturating_sub(*start)),
            Self::List(rows) => Ok(rows.len()),
        }
    }

    /// These items of an array of one axis.
    pub(crate) fn selection(&self) -> Selection {
        let axis = match *self {
            Self::Range { start, end } => {
                AxisSelection::Range { start, step: 1, len: end.saturating_sub(start) }
            }
            Self::List(rows) => AxisSelection::List(rows.to_vec()),
        };
        Selection { axes: vec![Some(axis)], points: None }
    }
}

/// A number of rows that memory may have.
pub(crate) fn count_of(rows: u64) -> Result<usize> {
    usize::try_from(rows).map_err(|_| Error::limit(format!("{rows} rows in memory")))
}

/// The arrays of a part. Changes are made within a change of the storage.
pub(crate) trait Part: Send + Sync {
    /// Its arrays.
    fn arrays(&self) -> Vec<&Arc<Array>>;

    /// How many rows all of its arrays have.
    fn rows(&self, job: &Job<'_>) -> Result<u64>;

    /// Puts rows behind the last.
    fn append(&self, rows: &PartRows, job: &Job<'_>) -> Result<()>;

    /// Overwrites rows from `start` on, all of which are there.
    fn write(&self, start: u64, rows: &PartRows, job: &Job<'_>) -> Result<()>;

    /// Overwrites these rows, all of which are there; of several values for one the last stays.
    fn write_at(&self, places: &[u64], rows: &PartRows, job: &Job<'_>) -> Result<()>;

    /// Closes the gaps of rows that go, which ascend; of the first `rows` rows, behind which nothing is left.
    fn remove(&self, gone: &[u64], rows: u64, job: &Job<'_>) -> Result<()>;

    /// Keeps the first `rows` rows.
    fn truncate(&self, rows: u64, job: &Job<'_>) -> Result<()>;

    /// Adds rows, up to so many: zeros, empty texts, or what the part has for none.
    fn grow(&self, rows: u64, job: &Job<'_>) -> Result<()>;

    /// Fills `out` with the items of some rows.
    fn fill(&self, rows: RowChoice<'_>, out: &mut [u8]) -> Result<()>;

    /// The texts of some rows, which may be no UTF-8.
    fn texts(&self, rows: RowChoice<'_>) -> Result<Texts>;

    /// Looks for what contradicts the part: every chunk is decoded. Complaints, none if it is sound.
    fn verify(&self, rows: u64) -> Result<Vec<String>>;
}

/// The error of rows that are not of this kind of part.
pub(super) fn other_kind() -> Error {
    Error::invalid("texts for items, or items for texts")
}

/// What is damaged of an array, chunk by chunk.
pub(super) fn damage_of(array: &Array) -> Result<Vec<String>> {
    let found = array.verify(&Job::default())?;
    Ok(found.into_iter().map(|damage| format!("chunk {}: {}", damage.chunk, damage.error)).collect())
}

/// The pieces that rows are cut into. They end where blocks mostly do, so that few are decoded twice.
pub(super) fn pieces(start: u64, stop: u64) -> impl Iterator<Item = Range<u64>> {
    let mut low = start;
    std::iter::from_fn(move || {
        let piece = low..stop.min((low - low % PIECE_ROWS).saturating_add(PIECE_ROWS));
        low = piece.end;
        (!piece.is_empty()).then_some(piece)
    })
}

/// The runs of rows of a range that stay, as places in it: between those of an ascending list, each of which is there
/// once.
pub(super) fn staying<'g>(
    range: &Range<u64>,
    gone: &'g [u64],
) -> impl Iterator<Item = Range<usize>> + use<'g> {
    let Range { start, end } = *range;
    let gone = &gone[gone.partition_point(|&row| row < start)..gone.partition_point(|&row| row < end)];
    let place = move |row: u64| usize::try_from(row - start).unwrap_or(usize::MAX);
    let mut low = 0;
    let ends = gone.iter().copied().map(place).chain([place(end)]);
    ends.filter_map(move |end| {
        let run = low..end;
        low = end + 1;
        (!run.is_empty()).then_some(run)
    })
}
