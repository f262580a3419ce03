//! The parts of a run, as they are stored, and the check that they fit together.
//!
//! Source: `docs/formats/indexes.md`.

use std::sync::Arc;

use crate::array::BoxSource;
use crate::base::error::{Error, Result};

/// The parts of a run, as they are stored.
pub struct Stored {
    /// For each entry its offset: 2 bytes.
    pub offsets: Arc<dyn BoxSource>,
    /// For each entry its row, and then the rows without a key: 4 or 8 bytes each.
    pub rows: Arc<dyn BoxSource>,
    /// For each block the key of its first entry.
    pub first: Vec<u64>,
    /// For each block how many low bits are left out.
    pub shifts: Vec<u8>,
    /// How many rows have a key.
    pub entries: u64,
    /// How many have none.
    pub missing: u64,
    /// Entries of a block.
    pub block_entries: u64,
}

impl Stored {
    /// Whether the parts fit together; what the blocks hold is checked when they are decoded.
    pub(super) fn check(&self) -> Result<()> {
        let Stored { offsets, rows, first, shifts, entries, missing, block_entries } = self;
        let all = entries.checked_add(*missing).filter(|&all| i64::try_from(all).is_ok());
        if *block_entries == 0 || all.is_none() {
            let sentence = format!("{entries} entries in blocks of {block_entries}, {missing} rows without");
            return Err(Error::corrupt(sentence));
        }
        let blocks = entries.div_ceil(*block_entries);
        if first.len() as u64 != blocks || shifts.len() as u64 != blocks {
            let (first, shifts) = (first.len(), shifts.len());
            let sentence = format!("{first} first keys and {shifts} shifts of {blocks} blocks");
            return Err(Error::corrupt(sentence));
        }
        let is_shape = |source: &dyn BoxSource, len: u64| source.shape() == [len];
        if !is_shape(&**offsets, *entries) || offsets.item_bytes() != size_of::<u16>() {
            let (bytes, shape) = (offsets.item_bytes(), offsets.shape());
            let sentence = format!("offsets of {bytes} bytes of shape {shape:?} for {entries} entries");
            return Err(Error::corrupt(sentence));
        }
        if !is_shape(&**rows, entries + missing) || !matches!(rows.item_bytes(), 4 | 8) {
            let (bytes, shape) = (rows.item_bytes(), rows.shape());
            let sentence = format!("rows of {bytes} bytes of shape {shape:?} for {}", entries + missing);
            return Err(Error::corrupt(sentence));
        }
        if let Some(block) = first.windows(2).position(|pair| pair[0] > pair[1]) {
            let (before, key) = (first[block], first[block + 1]);
            return Err(Error::corrupt(format!("first key {key} of block {}, behind {before}", block + 1)));
        }
        if let Some((block, shift)) = shifts.iter().enumerate().find(|&(_, &shift)| shift > 48) {
            return Err(Error::corrupt(format!("shift {shift} of block {block}: takes 0..=48")));
        }
        Ok(())
    }
}
