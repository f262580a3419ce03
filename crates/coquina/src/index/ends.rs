//! Where the entries of a range of keys begin and end.
//!
//! In: a run and a range of keys, both ends within. Out: the entries that may be in it, and those of them that are.
//! Naively: all entries whose cell (the keys that an offset may stand for) touches the range, and those whose cell
//! lies in it. Only the block in which the range begins and that in which it ends are decoded, of which one is mostly
//! that of the range before.

use std::ops::{Range, RangeInclusive};

use coquina_kernels::items::items;

use super::stored::Stored;
use crate::base::error::{Error, Result};
use crate::base::scratch::with_scratch;

/// Where the entries of a range of keys stand.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Ends {
    /// Those that may be in the range.
    pub(super) all: Range<u64>,
    /// Those that are.
    pub(super) sure: Range<u64>,
}

impl Ends {
    /// Leaves out what is before an entry.
    pub(super) fn clip(&mut self, before: u64) {
        for range in [&mut self.all, &mut self.sure] {
            range.start = range.start.max(before);
            range.end = range.end.max(range.start);
        }
    }
}

/// Searches a run, and keeps the block that was decoded last.
pub(super) struct Cursor<'r> {
    run: &'r Stored,
    block: Option<usize>,
    offsets: Vec<u16>,
}

impl<'r> Cursor<'r> {
    /// Nothing is decoded yet.
    pub(super) fn new(run: &'r Stored) -> Self {
        Self { run, block: None, offsets: Vec::new() }
    }

    /// The entries of a range.
    pub(super) fn ends(&mut self, range: &RangeInclusive<u64>) -> Result<Ends> {
        let (start, sure_start) = self.low(*range.start())?;
        let (sure_end, end) = self.high(*range.end())?;
        let all = start..end.max(start);
        let sure_start = sure_start.clamp(all.start, all.end);
        Ok(Ends { sure: sure_start..sure_end.clamp(sure_start, all.end), all })
    }

    /// Where entries begin that may not be less than `low`, and where those that are not.
    fn low(&mut self, low: u64) -> Result<(u64, u64)> {
        // What stands before this block is less, as the first key of the block is; all behind it is not.
        let Some(block) = self.run.first.partition_point(|&key| key < low).checked_sub(1) else {
            return Ok((0, 0));
        };
        let (distance, shift) = (low - self.run.first[block], self.run.shifts[block]);
        let (base, offsets) = self.load(block)?;
        let may_be = offsets.partition_point(|&offset| u64::from(offset) < distance >> shift).max(1);
        let is = offsets.partition_point(|&offset| u64::from(offset) <= (distance - 1) >> shift);
        Ok((base + may_be as u64, base + is as u64))
    }

    /// Where entries end that are not greater than `high`, and where those that may not be.
    fn high(&mut self, high: u64) -> Result<(u64, u64)> {
        let Some(next) = high.checked_add(1) else { return Ok((self.run.entries, self.run.entries)) };
        let Some(block) = self.run.first.partition_point(|&key| key <= high).checked_sub(1) else {
            return Ok((0, 0));
        };
        let (distance, shift) = (next - self.run.first[block], self.run.shifts[block]);
        let (base, offsets) = self.load(block)?;
        let is = offsets.partition_point(|&offset| u64::from(offset) < distance >> shift).max(1);
        let may_be = offsets.partition_point(|&offset| u64::from(offset) <= (distance - 1) >> shift);
        Ok((base + is as u64, base + may_be as u64))
    }

    /// Decodes a block: the number of its first entry, and its offsets.
    fn load(&mut self, block: usize) -> Result<(u64, &[u16])> {
        let base = block as u64 * self.run.block_entries;
        if self.block != Some(block) {
            self.block = None;
            self.read(base).map_err(|e| e.at(format!("block {block}")))?;
            self.block = Some(block);
        }
        Ok((base, &self.offsets))
    }

    fn read(&mut self, base: u64) -> Result<()> {
        let count = self.run.block_entries.min(self.run.entries - base);
        let bytes = usize::try_from(count).ok().and_then(|len| len.checked_mul(size_of::<u16>()));
        let bytes = bytes.ok_or_else(|| Error::limit(format!("a block of {count} entries")))?;
        let offsets = &mut self.offsets;
        with_scratch(bytes, |room| {
            self.run.offsets.fill(&[base], &[count], room)?;
            let read = items::<u16>(room);
            // Without a way out the loop is one over whole registers.
            let is_rising = read.iter().zip(&read[1..]).fold(true, |all, (a, b)| all & (a <= b));
            if read[0] != 0 || !is_rising {
                return Err(Error::corrupt("offsets that do not rise from 0"));
            }
            offsets.clear();
            offsets.extend_from_slice(read);
            Ok(())
        })
    }
}
