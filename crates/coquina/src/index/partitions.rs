//! Pairs of keys and rows in partitions by key, in a file.
//!
//! In: pairs, in the order of the rows. Out: partitions in the order of the keys, each with its pairs in the order in
//! which they came.

use std::collections::VecDeque;

use super::piece::Piece;
use super::radix::Bounds;
use super::spill::{Extent, PAIR_BYTES, Spill};
use super::splitters::Splitters;
use crate::base::error::Result;
use crate::base::ordered::Take;

/// Pairs of a partition wait for so many of their kind at most, and at least, before they are written.
const WAITING_MAX: usize = 1 << 16;
const WAITING_MIN: usize = 1 << 6;

/// Of so much memory, the bytes for what waits to be written.
pub(super) fn waiting_bytes(memory: u64) -> usize {
    usize::try_from(memory / 4).unwrap_or(usize::MAX)
}

/// Pairs of some keys.
#[derive(Default)]
pub(super) struct Partition {
    waiting: Vec<[u64; 2]>,
    pub(super) extents: VecDeque<Extent>,
    /// The least key and the greatest one.
    keys: Option<(u64, u64)>,
    /// The least row and the greatest one.
    rows: Option<(u64, u64)>,
    pub(super) len: usize,
}

impl Partition {
    /// The bounds of the keys, and those of the rows.
    pub(super) fn bounds(&self) -> Option<Bounds> {
        let (keys, rows) = self.keys.zip(self.rows)?;
        Some(Bounds { keys: keys.0..=keys.1, rows: rows.0..=rows.1 })
    }
}

fn widen(bounds: &mut Option<(u64, u64)>, number: u64) {
    let (min, max) = bounds.unwrap_or((number, number));
    *bounds = Some((min.min(number), max.max(number)));
}

/// Takes pairs and writes them to their partitions.
pub(super) struct Partitions {
    partitions: Vec<Partition>,
    waiting_max: usize,
}

impl Partitions {
    /// As many as there are buckets, of which all together hold about so many bytes in memory.
    pub(super) fn new(splitters: &Splitters, bytes: usize) -> Self {
        let partitions: Vec<Partition> =
            std::iter::repeat_with(Partition::default).take(splitters.buckets()).collect();
        let waiting_max = (bytes / PAIR_BYTES / partitions.len()).clamp(WAITING_MIN, WAITING_MAX);
        Self { partitions, waiting_max }
    }

    /// Takes pairs that are in order of their buckets.
    fn push(&mut self, cut: &Cut, spill: &mut Spill) -> Result<()> {
        let mut start = 0;
        for (partition, &end) in self.partitions.iter_mut().zip(&cut.ends) {
            let pairs = &cut.pairs[start..end];
            start = end;
            for &[key, row] in pairs {
                widen(&mut partition.keys, key);
                widen(&mut partition.rows, row);
            }
            partition.len += pairs.len();
            partition.waiting.extend_from_slice(pairs);
            if partition.waiting.len() >= self.waiting_max {
                write(partition, spill)?;
            }
        }
        Ok(())
    }

    /// Takes pairs in any order.
    pub(super) fn take_pairs(
        &mut self,
        pairs: &[[u64; 2]],
        splitters: &Splitters,
        spill: &mut Spill,
    ) -> Result<()> {
        let each = |see: &mut dyn FnMut(u64, u64)| pairs.iter().for_each(|&[key, row]| see(key, row));
        self.push(&Cut::new(pairs.len(), splitters, each), spill)
    }

    /// All partitions that there are, written.
    pub(super) fn finish(mut self, spill: &mut Spill) -> Result<Vec<Partition>> {
        for partition in &mut self.partitions {
            write(partition, spill)?;
            partition.waiting = Vec::new();
        }
        self.partitions.retain(|partition| partition.len > 0);
        Ok(self.partitions)
    }
}

fn write(partition: &mut Partition, spill: &mut Spill) -> Result<()> {
    if !partition.waiting.is_empty() {
        partition.extents.push_back(spill.append(&partition.waiting)?);
        partition.waiting.clear();
    }
    Ok(())
}

/// Pairs of a piece, in order of their buckets.
pub(super) struct Cut {
    pairs: Vec<[u64; 2]>,
    /// Where those of each bucket end.
    ends: Vec<usize>,
    missing: Vec<u64>,
}

impl Cut {
    /// Those of a piece.
    pub(super) fn of(mut piece: Piece, splitters: &Splitters) -> Self {
        let mut cut = Self::new(piece.len(), splitters, |see| piece.each(see));
        cut.missing.extend(piece.take_missing());
        cut
    }

    fn new(len: usize, splitters: &Splitters, each: impl Fn(&mut dyn FnMut(u64, u64))) -> Self {
        let mut buckets = Vec::with_capacity(len);
        let mut ends = vec![0; splitters.buckets()];
        each(&mut |key, _| {
            let bucket = splitters.bucket(key);
            buckets.push(bucket);
            ends[bucket] += 1;
        });
        let mut end = 0;
        for place in &mut ends {
            (*place, end) = (end, end + *place);
        }
        let mut pairs = vec![[0; 2]; len];
        let mut buckets = buckets.into_iter();
        each(&mut |key, row| {
            let place = &mut ends[buckets.next().unwrap_or(0)];
            pairs[*place] = [key, row];
            *place += 1;
        });
        Self { pairs, ends, missing: Vec::new() }
    }
}

/// Takes what has been cut of pieces, and the rows without a key.
pub(super) struct Spilling {
    pub(super) partitions: Partitions,
    pub(super) spill: Spill,
    pub(super) missing: Vec<i64>,
}

impl Take<Cut> for Spilling {
    type Rest = ();

    fn take(&mut self, cut: Cut) -> Result<()> {
        self.missing.extend(cut.missing.iter().map(|row| row.cast_signed()));
        self.partitions.push(&cut, &mut self.spill)
    }
}
