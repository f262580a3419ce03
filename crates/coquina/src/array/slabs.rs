//! Writing what is computed to all of an array, slab by slab where it has very many blocks.
//!
//! In: a source of the array's shape. Out: writes of rows of chunks, one after another; who wants them in one commit
//! begins a transaction before. A write plans all of its blocks, so that one of 10^8 would take gigabytes.

use std::ops::Range;

use super::geometry::{Bounds, BoxSource, Known, Selection, Walk, Window};
use super::handle::Array;
use super::write::Values;
use crate::base::error::Result;
use crate::base::pool::Job;

/// Blocks of a write, unless one row of chunks has more.
const BLOCKS_MAX: u64 = 1 << 20;

/// Rows of a source, along its first axis.
struct Rows<'s> {
    source: &'s dyn BoxSource,
    rows: Range<u64>,
}

impl Rows<'_> {
    /// Where a box of these rows starts in the source.
    fn start(&self, start: &[u64]) -> Vec<u64> {
        let mut start = start.to_vec();
        if let Some(first) = start.first_mut() {
            *first = first.saturating_add(self.rows.start);
        }
        start
    }
}

impl BoxSource for Rows<'_> {
    fn shape(&self) -> Vec<u64> {
        let mut shape = self.source.shape();
        if let Some(first) = shape.first_mut() {
            *first = self.rows.end - self.rows.start;
        }
        shape
    }

    fn item_bytes(&self) -> usize {
        self.source.item_bytes()
    }

    fn walk(&self) -> Walk {
        self.source.walk()
    }

    fn fill(&self, start: &[u64], shape: &[u64], out: &mut [u8]) -> Result<()> {
        self.source.fill(&self.start(start), shape, out)
    }

    fn uniform(&self, start: &[u64], shape: &[u64]) -> Option<Vec<u8>> {
        self.source.uniform(&self.start(start), shape)
    }

    fn bounds(&self, start: &[u64], shape: &[u64]) -> Option<Bounds> {
        self.source.bounds(&self.start(start), shape)
    }

    fn known(&self, start: &[u64], shape: &[u64]) -> Known {
        self.source.known(&self.start(start), shape)
    }
}

impl Array {
    /// Writes what is computed to all items: in several writes where there are very many blocks.
    ///
    /// # Errors
    /// As [`Array::write`]; the array is then as it was before the write that failed.
    pub fn write_all(&self, source: &dyn BoxSource, job: &Job<'_>) -> Result<()> {
        let window = Window { offset: 0, bytes: source.item_bytes() };
        let (grid, shape) = (self.grid(), source.shape());
        let slabs = slabs(grid.shape(), grid.chunks(), grid.blocks(), BLOCKS_MAX);
        if slabs.len() < 2 || grid.shape() != shape {
            return self.write(&Selection::all(&shape), window, Values::Computed(source), job);
        }
        for rows in slabs {
            let mut ranges: Vec<_> = shape.iter().map(|&len| 0..len).collect();
            if let Some(first) = ranges.first_mut() {
                *first = rows.clone();
            }
            let part = Rows { source, rows };
            // Told at once for all chunks of a run.
            let item = part.uniform(&vec![0; shape.len()], &part.shape());
            let item = item.filter(|item| item.len() == window.bytes);
            let values = item.as_deref().map_or(Values::Computed(&part), Values::Uniform);
            self.write(&Selection::region(&ranges), window, values, job)?;
        }
        Ok(())
    }
}

/// The rows of each write: whole chunks, of at most so many blocks.
fn slabs(shape: &[u64], chunks: &[u64], blocks: &[u64], blocks_max: u64) -> Vec<Range<u64>> {
    let Some((&len, &chunk)) = shape.first().zip(chunks.first()) else { return Vec::new() };
    let count = |(&len, &cut): (&u64, &u64)| len.div_ceil(cut.max(1));
    let in_chunk: u64 = chunks.iter().zip(blocks).map(count).product();
    let behind: u64 = shape.iter().zip(chunks).skip(1).map(count).product();
    let row = in_chunk.saturating_mul(behind).max(1);
    let step = (blocks_max / row).max(1).saturating_mul(chunk.max(1));
    let mut found = Vec::new();
    let mut start = 0;
    while start < len {
        let end = start.saturating_add(step).min(len);
        found.push(start..end);
        start = end;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::slabs;

    #[test]
    fn slabs_are_whole_chunks_that_cover_all_rows() {
        for (shape, chunks, blocks) in [
            (&[100, 30][..], &[10, 10][..], &[5, 5][..]),
            (&[7], &[10], &[3]),
            (&[1000], &[10], &[10]),
            (&[0, 5], &[1, 1], &[1, 1]),
            (&[99, 3, 4], &[4, 3, 3], &[2, 2, 2]),
        ] {
            for most in [1, 12, 24, 100, 1 << 20] {
                let found = slabs(shape, chunks, blocks, most);
                assert_eq!(found.first().map_or(0, |rows| rows.start), 0);
                assert_eq!(found.last().map_or(0, |rows| rows.end), shape[0]);
                assert!(found.windows(2).all(|pair| pair[0].end == pair[1].start));
                assert!(found.iter().all(|rows| rows.start % chunks[0] == 0 && rows.start < rows.end));
            }
        }
        assert_eq!(slabs(&[100, 30], &[10, 10], &[5, 5], 24), [0..20, 20..40, 40..60, 60..80, 80..100]);
        assert!(slabs(&[], &[], &[], 1).is_empty());
    }
}
