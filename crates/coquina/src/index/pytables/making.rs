//! A complete index, made: slices cut from the sorted column.
//!
//! In: a column. Out: sorted values and their rows, slice by slice in parts of whole chunks; then the edges.
//! Source: `docs/formats/pytables-indexes.md`, "Writing".

use super::chunking::Chunking;
use super::edges::{Edges, Gathering};
use super::order::{Ordered, Sorting, Taken};
use super::value_keys::{LAST, keys};
use crate::base::error::{Error, Result};
use crate::base::pool::Job;
use crate::base::scratch::with_scratch;
use crate::index::keys::KeyKind;

/// Some sorted values of a slice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlicePart {
    /// Which slice; the rest is the one behind the full ones.
    pub slice: u64,
    /// The place of the first value in the slice.
    pub start: u64,
    /// The values.
    pub values: Vec<u8>,
    /// Where they came from.
    pub rows: Vec<u64>,
}

/// An index that is being made.
pub struct Making {
    chunking: Chunking,
    kind: KeyKind,
    item_bytes: usize,
    rows: u64,
    /// Rows that are handed out at once: whole chunks.
    window: u64,
    ordered: Ordered,
    edges: Gathering,
    done: u64,
}

impl Making {
    /// Reads and sorts the column; parts have about `window` rows. `seen` is told how many rows have been read.
    ///
    /// # Errors
    /// `Invalid` for values that have no such index, `Corrupt` for sizes that do not fit together, `Limit` for more
    /// values than memory can hold, `Io` for the file, what `seen` returns, and what goes wrong with reading.
    pub fn new(
        sorting: &Sorting<'_>,
        chunking: Chunking,
        window: u64,
        seen: impl FnMut(u64) -> Result<()>,
        job: &Job<'_>,
    ) -> Result<Self> {
        chunking.check()?;
        if chunking.reduction != 1 {
            return Err(Error::invalid(format!("reduction {}: all values are kept", chunking.reduction)));
        }
        let (kind, item_bytes, rows) = (sorting.kind, sorting.item_bytes(), sorting.rows());
        let window = (window / chunking.chunk).max(1) * chunking.chunk;
        let edges = Gathering::new(chunking, item_bytes);
        let ordered = Ordered::new(sorting, seen, job)?;
        Ok(Self { chunking, kind, item_bytes, rows, window, ordered, edges, done: 0 })
    }

    /// The next values, if there are more.
    ///
    /// # Errors
    /// `Io` for the file.
    pub fn next(&mut self, job: &Job<'_>) -> Result<Option<SlicePart>> {
        let (slice, start) = (self.done / self.chunking.slice, self.done % self.chunking.slice);
        let left = (self.chunking.slice - start).min(self.rows - self.done);
        let wanted = usize::try_from(self.window.min(left)).unwrap_or(usize::MAX);
        let Taken { values, rows } = self.ordered.take(wanted, job)?;
        if rows.is_empty() {
            return Ok(None);
        }
        self.done += rows.len() as u64;
        self.edges.add(slice, &values, self.numbers(&values)?);
        Ok(Some(SlicePart { slice, start, values, rows }))
    }

    /// How many values are no NaN, behind which only NaN stand.
    fn numbers(&self, values: &[u8]) -> Result<usize> {
        if !self.kind.has_nan() {
            return Ok(values.len() / self.item_bytes);
        }
        with_scratch(values.len(), |room| {
            room.copy_from_slice(values);
            Ok(keys(self.kind, room, self.item_bytes)?.partition_point(|&key| key != LAST))
        })
    }

    /// The edges of all values, which have been handed out.
    pub fn finish(self) -> Edges {
        let slice = self.chunking.slice;
        self.edges.finish(self.rows / slice, self.rows % slice)
    }
}
