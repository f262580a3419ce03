//! Rows in the order of their keys, handed out in blocks of entries.
//!
//! In: pairs in memory, or partitions of them in a file. Out: batches of blocks. Partitions are loaded and sorted when
//! they are needed, one at a time; those that are too large for that are cut once more, and one of a single key is
//! handed out as it was written, for that is its order.

use std::collections::VecDeque;
use std::ops::{Range, RangeInclusive};

use super::blocks::{Batch, Numbered};
use super::partitions::{Partition, Partitions, waiting_bytes};
use super::radix::{Bounds, Entries, Origin, Pair, sample, sorted};
use super::spill::Spill;
use super::splitters::{SAMPLES_EACH, Splitters};
use crate::base::error::Result;
use crate::base::pool::Job;

/// About so many entries are handed out at once.
pub(super) const BATCH_ENTRIES: usize = 1 << 20;
/// Bytes for an entry of a partition that is sorted: its pair as it was read, its bucket, its pair.
const SPILLED_BYTES: u64 = 16 + 2 + 16;
/// No more partitions than this are written at once; what is too large is cut once more.
const PARTITIONS_MAX: u64 = 256;
/// Of a partition that is cut once more, the keys are sampled in so many places.
const SAMPLED_EXTENTS: usize = 64;

/// How many partitions so many pairs are cut into, two at least: mostly each has room in memory.
pub(super) fn partitions_for(pairs: u64, memory: u64) -> usize {
    let each = (memory / (SPILLED_BYTES + SPILLED_BYTES / 2)).max(1);
    usize::try_from(pairs.div_ceil(each).clamp(2, PARTITIONS_MAX)).unwrap_or(2)
}

/// Pairs in memory, in order.
pub(super) struct Part {
    pairs: Pairs,
    origin: Origin,
    /// So many have been handed out.
    at: usize,
}

enum Pairs {
    Narrow(Vec<u64>),
    Wide(Vec<[u64; 2]>),
}

impl Part {
    /// Sorts entries whose keys and rows are within bounds.
    pub(super) fn sorted<E: Entries>(entries: Vec<E>, bounds: &Bounds, job: &Job<'_>) -> Result<Self> {
        let origin = Origin::new(bounds);
        let pairs = if origin.is_narrow() {
            Pairs::Narrow(sorted(entries, &origin, job)?)
        } else {
            Pairs::Wide(sorted(entries, &origin, job)?)
        };
        Ok(Self { pairs, origin, at: 0 })
    }

    /// How many have not been handed out yet.
    fn left(&self) -> usize {
        let len = match &self.pairs {
            Pairs::Narrow(pairs) => pairs.len(),
            Pairs::Wide(pairs) => pairs.len(),
        };
        len - self.at
    }

    /// Gives back the memory of what has been handed out.
    fn shrink(&mut self) {
        match &mut self.pairs {
            Pairs::Narrow(pairs) => *pairs = pairs.split_off(self.at),
            Pairs::Wide(pairs) => *pairs = pairs.split_off(self.at),
        }
        self.at = 0;
    }

    /// The rows of pairs from a place on, of those that are left.
    pub(super) fn fill_rows(&self, start: usize, rows: &mut [i64]) {
        fn fill<P: Pair>(pairs: &[P], origin: &Origin, rows: &mut [i64]) {
            pairs.iter().zip(rows).for_each(|(pair, row)| *row = pair.row(origin).cast_signed());
        }
        let range = self.at + start..self.at + start + rows.len();
        match &self.pairs {
            Pairs::Narrow(pairs) => fill(&pairs[range], &self.origin, rows),
            Pairs::Wide(pairs) => fill(&pairs[range], &self.origin, rows),
        }
    }

    /// The keys and rows of some pairs, of those that are left.
    pub(super) fn fill(&self, range: Range<usize>, keys: &mut [u64], rows: &mut [u64]) {
        fn fill<P: Pair>(pairs: &[P], origin: &Origin, keys: &mut [u64], rows: &mut [u64]) {
            for ((pair, key), row) in pairs.iter().zip(keys).zip(rows) {
                (*key, *row) = (pair.key(origin), pair.row(origin));
            }
        }
        let range = self.at + range.start..self.at + range.end;
        match &self.pairs {
            Pairs::Narrow(pairs) => fill(&pairs[range], &self.origin, keys, rows),
            Pairs::Wide(pairs) => fill(&pairs[range], &self.origin, keys, rows),
        }
    }
}

/// Partitions in a file.
pub(super) struct Spilled {
    pub(super) spill: Spill,
    /// Those that have not been loaded yet, the last one first.
    pub(super) left: Vec<Partition>,
    pub(super) memory: u64,
}

impl Spilled {
    /// What comes next, if it is there; else something has been done for it.
    fn load(&mut self, mut partition: Partition, job: &Job<'_>) -> Result<Option<Part>> {
        let Some(bounds) = partition.bounds() else { return Ok(None) };
        if bounds.keys.start() == bounds.keys.end() {
            let Some(extent) = partition.extents.pop_front() else { return Ok(None) };
            let pairs = Pairs::Wide(self.spill.read(extent)?);
            self.left.push(partition);
            return Ok(Some(Part { pairs, origin: Origin::new(&bounds), at: 0 }));
        }
        if (partition.len as u64).saturating_mul(SPILLED_BYTES) > self.memory {
            return self.cut_again(&partition, &bounds.keys).map(|()| None);
        }
        let read = partition.extents.iter().map(|&extent| self.spill.read(extent));
        Ok(Some(Part::sorted(read.collect::<Result<Vec<_>>>()?, &bounds, job)?))
    }

    /// Cuts a partition of keys that differ into several.
    fn cut_again(&mut self, partition: &Partition, keys: &RangeInclusive<u64>) -> Result<()> {
        let (min, max) = (*keys.start(), *keys.end());
        let wanted = partitions_for(partition.len as u64, self.memory);
        let step = partition.extents.len().div_ceil(SAMPLED_EXTENTS).max(1);
        let mut keys = Vec::new();
        for &extent in partition.extents.iter().step_by(step) {
            keys.append(&mut sample(&[self.spill.read(extent)?], SAMPLES_EACH * wanted));
        }
        keys.sort_unstable();
        let middle = keys.get(keys.len() / 2).copied().unwrap_or(min);
        let mut splitters = Splitters::new(keys, wanted);
        if splitters.bucket(min) == splitters.bucket(max) {
            // A key is so frequent that nothing else was seen: without it less is left, whatever it is.
            splitters = Splitters::around(middle);
        }
        let mut again = Partitions::new(&splitters, waiting_bytes(self.memory));
        for &extent in &partition.extents {
            let pairs = self.spill.read(extent)?;
            again.take_pairs(&pairs, &splitters, &mut self.spill)?;
        }
        let mut parts = again.finish(&mut self.spill)?;
        parts.reverse();
        self.left.append(&mut parts);
        Ok(())
    }
}

/// Rows in the order of their keys.
pub struct Sorted {
    entries: u64,
    missing: Vec<i64>,
    numbered: Numbered,
    /// What comes next.
    parts: VecDeque<Part>,
    /// What comes then.
    spilled: Option<Spilled>,
}

impl Sorted {
    pub(super) fn new(entries: u64, missing: Vec<i64>, numbered: Numbered) -> Self {
        Self { entries, missing, numbered, parts: VecDeque::new(), spilled: None }
    }

    /// With what is in memory, and then what is in a file.
    pub(super) fn with(mut self, part: Option<Part>, spilled: Option<Spilled>) -> Self {
        self.parts.extend(part);
        self.spilled = spilled;
        self
    }

    /// How many rows have a key.
    pub fn entries(&self) -> u64 {
        self.entries
    }

    /// The rows without one.
    pub fn missing(&self) -> &[i64] {
        &self.missing
    }

    /// Whether numbers of rows have 8 bytes.
    pub fn has_large_rows(&self) -> bool {
        self.numbered.has_large_rows
    }

    /// The next blocks, if there are more.
    ///
    /// # Errors
    /// `Io` for the file.
    pub fn next(&mut self, job: &Job<'_>) -> Result<Option<Batch>> {
        let block = self.numbered.block_entries;
        let wanted = BATCH_ENTRIES / block * block;
        while self.left() < wanted && self.load(job)? {}
        let count = self.left().min(wanted);
        if count == 0 {
            return Ok(None);
        }
        let fill = |at: usize, keys: &mut [u64], rows: &mut [u64]| self.fill(at, keys, rows);
        let batch = self.numbered.batch(count, fill, job)?;
        let mut left = count;
        while let Some(part) = self.parts.front_mut() {
            let taken = part.left().min(left);
            part.at += taken;
            left -= taken;
            if part.left() > 0 {
                break;
            }
            self.parts.pop_front();
        }
        Ok(Some(batch))
    }

    /// How many entries are in memory.
    fn left(&self) -> usize {
        self.parts.iter().map(Part::left).sum()
    }

    /// Does something for what comes next; whether there is more.
    fn load(&mut self, job: &Job<'_>) -> Result<bool> {
        let Some(spilled) = &mut self.spilled else { return Ok(false) };
        let Some(partition) = spilled.left.pop() else { return Ok(false) };
        self.parts.iter_mut().for_each(Part::shrink);
        let part = spilled.load(partition, job)?;
        self.parts.extend(part);
        Ok(true)
    }

    /// The keys and rows of entries that are in memory, from a place on.
    fn fill(&self, mut at: usize, mut keys: &mut [u64], mut rows: &mut [u64]) {
        for part in &self.parts {
            let len = part.left();
            if at < len {
                let end = len.min(at + keys.len());
                let (now, then) = keys.split_at_mut(end - at);
                let (now_rows, then_rows) = rows.split_at_mut(end - at);
                part.fill(at..end, now, now_rows);
                (keys, rows, at) = (then, then_rows, len);
            }
            at -= len;
        }
    }
}
