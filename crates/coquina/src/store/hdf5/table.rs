//! Where the chunks of a dataset stand in its file.

use crate::base::error::{Error, Result};
use crate::hdf5::ChunkRow;

/// The chunks of a grid: how many there are along each axis, and how long they are.
#[derive(Clone, Debug)]
pub(super) struct Places {
    pub(super) shape: Vec<u64>,
    pub(super) chunks: Vec<u64>,
}

impl Places {
    fn counts(&self) -> impl DoubleEndedIterator<Item = u64> + ExactSizeIterator {
        self.shape.iter().zip(&self.chunks).map(|(&len, &chunk)| len.div_ceil(chunk.max(1)))
    }

    /// How many chunks.
    pub(super) fn nchunks(&self) -> u64 {
        self.counts().product()
    }

    /// The coordinates of the first item of chunk `number`.
    pub(super) fn start(&self, mut number: u64) -> Vec<u64> {
        let mut start = vec![0; self.shape.len()];
        for ((at, count), &chunk) in start.iter_mut().zip(self.counts()).zip(&self.chunks).rev() {
            let count = count.max(1);
            *at = number % count * chunk;
            number /= count;
        }
        start
    }

    /// How many items along each axis of a chunk lie in the shape.
    pub(super) fn inside(&self, start: &[u64]) -> Vec<u64> {
        let axes = self.shape.iter().zip(&self.chunks).zip(start);
        axes.map(|((&len, &chunk), &at)| chunk.min(len.saturating_sub(at))).collect()
    }

    /// Whether a part of chunk `number` lies outside of the shape.
    pub(super) fn is_edge(&self, mut number: u64) -> bool {
        let mut is_edge = false;
        for ((count, &chunk), &len) in self.counts().zip(&self.chunks).zip(&self.shape).rev() {
            let count = count.max(1);
            is_edge |= len.saturating_sub(number % count * chunk) < chunk;
            number /= count;
        }
        is_edge
    }

    /// Where the items of chunk `number` start among all items in C order, and how many they are, if chunks are slabs.
    pub(super) fn piece(&self, number: u64) -> (u64, u64) {
        let start = self.start(number);
        let at = start
            .iter()
            .zip(&self.shape)
            .fold(0, |at: u64, (start, len)| at.saturating_mul(*len).saturating_add(*start));
        (at, self.inside(&start).iter().product())
    }

    /// The number of the chunk that starts there; `None` outside of the shape. `start` may lack trailing axes, along
    /// which there is one chunk.
    pub(super) fn number(&self, start: &[u64]) -> Result<Option<u64>> {
        if start.len() > self.shape.len() {
            return Err(Error::corrupt(format!("a chunk at {start:?} of {} axes", self.shape.len())));
        }
        let mut number = 0;
        for (axis, count) in self.counts().enumerate() {
            let (at, chunk) = (start.get(axis).copied().unwrap_or(0), self.chunks[axis].max(1));
            if at % chunk != 0 {
                let chunks = &self.chunks;
                return Err(Error::corrupt(format!("a chunk at {start:?}: chunks have {chunks:?} items")));
            }
            // An index may list chunks beyond the shape: left from a larger one.
            if at >= self.shape[axis] {
                return Ok(None);
            }
            number = number * count + at / chunk;
        }
        Ok(Some(number))
    }
}

/// All stored chunks.
pub(super) struct Table {
    /// By number, in order.
    rows: Vec<(u64, ChunkRow)>,
    is_complete: bool,
    /// Whether the file's own index is damaged, so that chunks that are not in it may have been stored.
    pub(super) has_lost: bool,
    /// Whether chunks that the edge cuts went through the filters; `None` if nobody said.
    pub(super) filters_partial_edges: Option<bool>,
}

impl Table {
    pub(super) fn new(
        mut rows: Vec<(u64, ChunkRow)>,
        nchunks: u64,
        filters_partial_edges: Option<bool>,
    ) -> Self {
        if !rows.is_sorted_by_key(|(number, _)| *number) {
            rows.sort_by_key(|(number, _)| *number);
        }
        rows.dedup_by_key(|(number, _)| *number);
        Self { is_complete: rows.len() as u64 == nchunks, rows, has_lost: false, filters_partial_edges }
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Bytes of all chunks.
    pub(super) fn cbytes(&self) -> u64 {
        self.rows.iter().fold(0, |all: u64, (_, row)| all.saturating_add(row.size))
    }

    /// The first number from here on that is stored.
    fn next_stored(&self, number: u64) -> Option<u64> {
        let at = self.rows.partition_point(|&(stored, _)| stored < number);
        self.rows.get(at).map(|&(stored, _)| stored)
    }

    /// The end of the run of chunks that are not stored, from `number` to `end` at most; the next chunk for one that is.
    pub(super) fn alike_until(&self, number: u64, end: u64) -> u64 {
        let next = number.saturating_add(1).min(end);
        if self.row(number).is_some() {
            return next;
        }
        self.next_stored(next).map_or(end, |stored| stored.min(end))
    }

    pub(super) fn row(&self, number: u64) -> Option<ChunkRow> {
        if self.is_complete {
            return self.rows.get(usize::try_from(number).ok()?).map(|(_, row)| *row);
        }
        let at = self.rows.binary_search_by_key(&number, |(number, _)| *number).ok()?;
        Some(self.rows[at].1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_places_of_chunks_are_each_others_inverse() {
        let places = Places { shape: vec![10, 3, 7], chunks: vec![4, 3, 2] };
        for number in 0..places.nchunks() {
            assert_eq!(places.number(&places.start(number)).unwrap(), Some(number));
        }
        assert_eq!(places.number(&[12, 0, 0]).unwrap(), None);
        assert!(places.number(&[1, 0, 0]).is_err());
        assert_eq!(places.inside(&[8, 0, 6]), [2, 3, 1]);
    }
}
