//! Sorted rows that wait in a file: written in blocks, and read again one block at a time.
//!
//! In: rows in their order, with their keys. Out: the same rows, from the first on.
//! Invariant: what is read is what was written. A block is its sections, one behind another; how long each is stays in
//! memory.

use std::collections::VecDeque;

use coquina_kernels::items::bytes_of;

use super::lot::Lot;
use super::row_keys::RowKeys;
use crate::base::error::Result;
use crate::index::spill::{BytesExtent, Spill};
use crate::query::Part;

/// Rows in the file.
struct Block {
    extent: BytesExtent,
    rows: usize,
    sections: Vec<usize>,
}

/// Rows of a lot in the file, and those that were read last.
pub(super) struct SpilledLot {
    blocks: VecDeque<Block>,
    /// How many numbers the keys have.
    words: usize,
    /// The rows that were read.
    pub(super) rows: Lot,
    /// Their keys.
    pub(super) keys: RowKeys,
    /// The first of them that is to be handed out.
    pub(super) at: usize,
}

impl SpilledLot {
    /// Nothing yet, of rows whose keys have so many numbers.
    pub(super) fn new(words: usize) -> Self {
        Self { blocks: VecDeque::new(), words, rows: Lot::default(), keys: RowKeys::default(), at: 0 }
    }

    /// Writes rows behind the others.
    ///
    /// # Errors
    /// `Io`.
    pub(super) fn put(&mut self, rows: &Lot, keys: &RowKeys, spill: &mut Spill) -> Result<()> {
        let (mut all, mut sections) = (Vec::with_capacity(rows.nbytes() + keys.nbytes()), Vec::new());
        let mut put = |bytes: &[u8]| {
            all.extend_from_slice(bytes);
            sections.push(bytes.len());
        };
        keys.words.iter().for_each(|word| put(bytes_of(word)));
        put(bytes_of(&keys.ends));
        put(&keys.rest);
        for part in &rows.parts {
            match part {
                Part::Items(items) => put(items),
                Part::Strings { offsets, bytes } => {
                    put(bytes_of(offsets));
                    put(bytes);
                }
            }
        }
        if let Some(numbers) = &rows.numbers {
            put(bytes_of(numbers));
        }
        self.blocks.push_back(Block { extent: spill.append_bytes(&all)?, rows: rows.count, sections });
        Ok(())
    }

    /// Reads the next rows, in the form of `like`; whether there are more.
    ///
    /// # Errors
    /// `Io`.
    pub(super) fn load(&mut self, like: &Lot, spill: &Spill) -> Result<bool> {
        let Some(Block { extent, rows, sections }) = self.blocks.pop_front() else { return Ok(false) };
        let mut bytes = vec![0; extent.len];
        spill.read_bytes(extent, &mut bytes)?;
        let mut left = &bytes[..];
        let mut sections = sections.into_iter();
        let mut next = || left.split_off(..sections.next().unwrap_or(0)).unwrap_or_default();
        self.keys = RowKeys {
            words: (0..self.words).map(|_| numbers(next(), u64::from_ne_bytes)).collect(),
            ends: numbers(next(), u64::from_ne_bytes),
            rest: next().to_vec(),
        };
        let parts = like.parts.iter().map(|part| match part {
            Part::Items(_) => Part::Items(next().to_vec()),
            Part::Strings { .. } => {
                Part::Strings { offsets: numbers(next(), i64::from_ne_bytes), bytes: next().to_vec() }
            }
        });
        let parts = parts.collect();
        let numbers = like.numbers.as_ref().map(|_| numbers(next(), i64::from_ne_bytes));
        self.rows = Lot { count: rows, parts, numbers };
        self.at = 0;
        Ok(true)
    }
}

fn numbers<T>(bytes: &[u8], number: impl Fn([u8; 8]) -> T) -> Vec<T> {
    let (items, _) = bytes.as_chunks::<8>();
    items.iter().map(|&item| number(item)).collect()
}
