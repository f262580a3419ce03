//! Blocks of entries: their keys in few bytes.
//!
//! In: keys in order, and their rows. Out: for each block its first key, and for each entry of it how far its key lies
//! behind that one, in 16 bits, less the low bits that do not fit.
//! Source: `docs/formats/indexes.md`.
//! Invariant: `first + (offset << shift)` is no greater than the key, and what lies between them is less than
//! `1 << shift`; the shift is the least with which all offsets of the block fit.

use coquina_kernels::items::{Number, items_mut};

use super::radix::bits;
use super::spill::PAIR_BYTES;
use crate::base::error::Result;
use crate::base::pool::Job;
use crate::base::scratch::with_scratch;

/// Blocks of entries, in order; all of them but the last one of all are full.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    /// For each entry how far its key lies behind the first one of its block, less the low bits.
    pub offsets: Vec<u16>,
    /// For each entry its row, or the number of its bucket of rows.
    pub rows: RowNumbers,
    /// For each block the key of its first entry.
    pub first: Vec<u64>,
    /// For each block how many low bits are left out.
    pub shifts: Vec<u8>,
}

/// Numbers of rows, or of buckets of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RowNumbers {
    /// In 4 bytes each.
    U32(Vec<u32>),
    /// In 8 bytes each.
    U64(Vec<u64>),
}

/// How entries are handed out.
#[derive(Clone, Copy)]
pub(super) struct Numbered {
    /// Whether numbers of rows have 8 bytes.
    pub(super) has_large_rows: bool,
    /// So many rows share a number.
    pub(super) bucket_rows: u64,
    /// Entries of a block.
    pub(super) block_entries: usize,
}

impl Numbered {
    /// Blocks of `count` entries; `fill` gives the keys and the rows of those from a place on.
    pub(super) fn batch(
        &self,
        count: usize,
        fill: impl Fn(usize, &mut [u64], &mut [u64]) + Sync,
        job: &Job<'_>,
    ) -> Result<Batch> {
        if self.has_large_rows {
            let (rows, batch) = self.blocks(count, fill, |row| row, job)?;
            return Ok(Batch { rows: RowNumbers::U64(rows), ..batch });
        }
        let (rows, batch) = self.blocks(count, fill, |row| u32::try_from(row).unwrap_or(u32::MAX), job)?;
        Ok(Batch { rows: RowNumbers::U32(rows), ..batch })
    }

    /// The numbers of the rows, and all but these.
    fn blocks<R: Number + Default>(
        &self,
        count: usize,
        fill: impl Fn(usize, &mut [u64], &mut [u64]) + Sync,
        number: impl Fn(u64) -> R + Sync,
        job: &Job<'_>,
    ) -> Result<(Vec<R>, Batch)> {
        let blocks = count.div_ceil(self.block_entries);
        let (mut offsets, mut rows) = (vec![0; count], vec![R::default(); count]);
        let (mut first, mut shifts) = (vec![0; blocks], vec![0; blocks]);
        let parts = offsets.chunks_mut(self.block_entries).zip(rows.chunks_mut(self.block_entries));
        let heads = first.iter_mut().zip(&mut shifts);
        let shift = self.bucket_rows.is_power_of_two().then(|| self.bucket_rows.trailing_zeros());
        let tasks = parts.zip(heads).enumerate();
        job.run(
            count.saturating_mul(PAIR_BYTES),
            tasks,
            |(block, ((offsets, rows), (first, block_shift)))| {
                let len = offsets.len();
                with_scratch(len * PAIR_BYTES, |room| {
                    let (keys, full) = items_mut(room).split_at_mut(len);
                    fill(block * self.block_entries, keys, full);
                    (*first, *block_shift) = pack(keys, offsets);
                    for (out, &row) in rows.iter_mut().zip(&*full) {
                        // A division takes longer than all else.
                        *out = number(shift.map_or_else(|| row / self.bucket_rows, |shift| row >> shift));
                    }
                });
                Ok(0)
            },
        )?;
        Ok((rows, Batch { offsets, rows: RowNumbers::U64(Vec::new()), first, shifts }))
    }
}

/// Fills the offsets of a block that has these keys, in order; its first key and its shift.
fn pack(keys: &[u64], offsets: &mut [u16]) -> (u64, u8) {
    let first = keys.first().copied().unwrap_or(0);
    let span = keys.last().copied().unwrap_or(0) - first;
    let shift = bits(span).saturating_sub(u16::BITS);
    for (offset, key) in offsets.iter_mut().zip(keys) {
        let distance = (key - first) >> shift & u64::from(u16::MAX);
        *offset = u16::try_from(distance).unwrap_or(u16::MAX);
    }
    (first, u8::try_from(shift).unwrap_or(u8::MAX))
}
