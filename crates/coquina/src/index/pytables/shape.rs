//! What an index that is found says of its arrays, checked against them.
//!
//! In: the arrays that queries read, and numbers from their attributes. Out: [`Shape`].
//! Source: `docs/formats/pytables-indexes.md`.
//! Invariant: no size is used in arithmetic or for memory before it was checked.

use std::sync::Arc;

use super::chunking::Chunking;
use crate::array::BoxSource;
use crate::base::error::{Error, Result};

/// First values of chunks are kept in memory: no more than this.
const CHUNKS_MAX: u64 = 1 << 24;
/// Values that are kept of a chunk are read at once: no more than this.
const KEPT_MAX: u64 = 1 << 24;
/// Buckets have a byte each while a query is answered: no more than this.
const BUCKETS_MAX: u64 = 1 << 28;

/// The arrays that queries read. Items are in the machine's byte order.
pub struct Arrays {
    /// The values that are kept of full slices.
    pub sorted: Arc<dyn BoxSource>,
    /// Where each value of full slices came from.
    pub indices: Arc<dyn BoxSource>,
    /// The first and the last value of full slices.
    pub ranges: Arc<dyn BoxSource>,
    /// The first values of the chunks of full slices, but for the first chunk of each.
    pub bounds: Arc<dyn BoxSource>,
    /// The same for the rest: values, the first of each chunk, and the last of all. The array `sortedLR`.
    pub rest_sorted: Arc<dyn BoxSource>,
    /// The array `indicesLR`.
    pub rest_indices: Arc<dyn BoxSource>,
}

/// What attributes say.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    /// How rows are cut.
    pub chunking: Chunking,
    /// Rows behind the last full slice.
    pub rest: u64,
    /// Values that are kept of these.
    pub rest_kept: u64,
    /// Rows of a chunk of the table.
    pub table_chunk_rows: u64,
}

/// An index as it is found.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) chunking: Chunking,
    /// Bytes of a stored row or bucket.
    pub(super) item_bytes: usize,
    /// How many slices are full.
    pub(super) full_slices: u64,
    /// Rows behind them.
    pub(super) rest: u64,
    /// Values that are kept of these.
    pub(super) rest_kept: u64,
    /// How many rows are indexed.
    pub(super) rows: u64,
    /// Rows that a stored number stands for.
    pub(super) bucket_rows: u64,
}

impl Shape {
    /// The shape of an index whose values have so many bytes.
    pub(super) fn read(arrays: &Arrays, facts: &Facts, value_bytes: usize) -> Result<Self> {
        let Facts { chunking, rest, rest_kept, table_chunk_rows } = *facts;
        chunking.check()?;
        if rest > chunking.slice || rest_kept != rest.div_ceil(chunking.reduction) {
            let sentence = format!("{rest} rows behind the last slice, and {rest_kept} values of them");
            return Err(Error::corrupt(sentence));
        }
        let item_bytes = arrays.indices.item_bytes();
        if !matches!(item_bytes, 1 | 2 | 4 | 8) || arrays.rest_indices.item_bytes() != item_bytes {
            let rest_bytes = arrays.rest_indices.item_bytes();
            return Err(Error::corrupt(format!("rows of {item_bytes} bytes, and of {rest_bytes}")));
        }
        for values in [&arrays.sorted, &arrays.ranges, &arrays.bounds, &arrays.rest_sorted] {
            if values.item_bytes() != value_bytes {
                let found = values.item_bytes();
                return Err(Error::corrupt(format!("values of {found} bytes: the column has {value_bytes}")));
            }
        }
        let indices = arrays.indices.shape();
        let full_slices = if let [slices, _] = *indices { slices } else { 0 };
        let rows = full_slices.checked_mul(chunking.slice).and_then(|rows| rows.checked_add(rest));
        let Some(rows) = rows.filter(|&rows| i64::try_from(rows).is_ok()) else {
            return Err(Error::corrupt(format!("indices is {indices:?}, in slices of {}", chunking.slice)));
        };
        let bucket_rows = chunking.bucket_rows(item_bytes, table_chunk_rows);
        let shape = Self { chunking, item_bytes, full_slices, rest, rest_kept, rows, bucket_rows };
        shape.check(arrays)?;
        Ok(shape)
    }

    fn check(&self, arrays: &Arrays) -> Result<()> {
        let Self { chunking, full_slices, .. } = *self;
        let wanted = [
            ("sorted", &arrays.sorted, chunking.slice / chunking.reduction),
            ("indices", &arrays.indices, chunking.slice),
            ("ranges", &arrays.ranges, 2),
            ("bounds", &arrays.bounds, chunking.chunks() - 1),
        ];
        for (name, array, columns) in wanted {
            let found = array.shape();
            if found != [full_slices, columns] {
                return Err(Error::corrupt(format!(
                    "{name} is {found:?}, and not {:?}",
                    [full_slices, columns]
                )));
            }
        }
        // Behind the values stand the first of each chunk, and the last of all.
        let least = [
            ("sortedLR", &arrays.rest_sorted, self.rest_kept + self.rest_chunks() + 1),
            ("indicesLR", &arrays.rest_indices, self.rest),
        ];
        for (name, array, len) in least {
            let found = array.shape();
            if found.len() != 1 || (self.rest > 0 && found[0] < len) {
                return Err(Error::corrupt(format!("{name} is {found:?}, and needs {len}")));
            }
        }
        let chunks = (full_slices * chunking.chunks()).saturating_add(self.rest_chunks());
        let buckets = if self.item_bytes < 8 { self.rows / self.bucket_rows } else { 0 };
        if chunks > CHUNKS_MAX || chunking.kept() > KEPT_MAX || buckets > BUCKETS_MAX {
            let Self { bucket_rows, .. } = *self;
            let kept = chunking.kept();
            return Err(Error::limit(format!(
                "{chunks} chunks of {kept} values, and buckets of {bucket_rows} rows: too many to keep"
            )));
        }
        Ok(())
    }

    /// Chunks of values of the rest, the last of which may be partly filled.
    pub(super) fn rest_chunks(&self) -> u64 {
        self.rest_kept.div_ceil(self.chunking.kept())
    }

    /// How many slices there are, with the rest as the last one.
    pub(super) fn slices(&self) -> u64 {
        self.full_slices + u64::from(self.rest > 0)
    }

    /// Rows of a slice.
    pub(super) fn slice_rows(&self, slice: u64) -> u64 {
        if slice < self.full_slices { self.chunking.slice } else { self.rest }
    }

    /// Values that are kept of a slice.
    pub(super) fn slice_kept(&self, slice: u64) -> u64 {
        if slice < self.full_slices { self.chunking.slice / self.chunking.reduction } else { self.rest_kept }
    }

    /// Chunks of values of a slice.
    pub(super) fn slice_chunks(&self, slice: u64) -> u64 {
        if slice < self.full_slices { self.chunking.chunks() } else { self.rest_chunks() }
    }
}
