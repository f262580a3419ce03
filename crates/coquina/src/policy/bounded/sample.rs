//! A part of a chunk, on which means are compared: some of its blocks, evenly spread.

use std::ops::Range;

use super::trial::Given;

/// Chunks of fewer blocks are tried whole.
const BLOCKS_MIN: usize = 16;
/// One block of so many is taken, and so many at least.
const PART: usize = 8;
const TAKEN_MIN: usize = 4;

/// Some blocks of a chunk, one behind another.
pub(super) struct Sample {
    pub(super) plain: Vec<u8>,
    /// The items that count.
    pub(super) inside: Vec<Range<usize>>,
}

impl Sample {
    /// Blocks of a chunk that is written whole, if it has enough of them.
    pub(super) fn of(given: &Given<'_>, block_bytes: usize) -> Option<Self> {
        let blocks = given.plain.len().checked_div(block_bytes)?;
        if blocks < BLOCKS_MIN || given.before.is_some() {
            return None;
        }
        let items = block_bytes / given.item_bytes;
        let count = (blocks / PART).max(TAKEN_MIN);
        let mut sample = Self { plain: Vec::with_capacity(count * block_bytes), inside: Vec::new() };
        for taken in 0..count {
            let number = (2 * taken + 1) * blocks / (2 * count);
            sample.plain.extend(given.plain.get(number * block_bytes..(number + 1) * block_bytes)?);
            let (from, to) = (number * items, taken * items);
            for run in given.inside {
                let (start, end) = (run.start.max(from), run.end.min(from + items));
                if start < end {
                    sample.inside.push(start - from + to..end - from + to);
                }
            }
        }
        Some(sample)
    }
}
