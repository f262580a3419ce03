//! Numbers for keys, in the order in which they are first met.
//!
//! In: keys of some bytes each. Out: a number for each, the same for equal keys, which lie one behind another. Keys of
//! one or two bytes have a slot each.
//! Invariant: the numbers depend on the order of the keys alone.

use super::super::hashing::Hashing;
use super::slots::Slots;
use crate::base::error::Result;

/// Keys and their numbers.
pub(super) struct Table {
    width: usize,
    hashing: Hashing,
    keys: Vec<u8>,
    slots: Slots,
}

/// How wide keys of so many bytes are made, so that comparing them is an instruction or two.
pub(super) fn padded(bytes: usize) -> usize {
    if bytes <= 16 { bytes.next_power_of_two() } else { bytes }
}

impl Table {
    /// For keys of `width` bytes, which is a padded one.
    pub(super) fn new(width: usize, hashing: Hashing) -> Self {
        let slots = if width <= 2 { Slots::direct(1 << (8 * width)) } else { Slots::new() };
        Self { width, hashing, keys: Vec::new(), slots }
    }

    /// How many keys there are.
    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    /// The keys, in the order of their numbers.
    pub(super) fn keys(&self) -> &[u8] {
        &self.keys
    }

    /// Bytes of memory.
    pub(super) fn bytes(&self) -> usize {
        self.keys.len() + self.slots.bytes()
    }

    /// Appends the numbers of keys to `numbers`.
    pub(super) fn number(&mut self, keys: &[u8], numbers: &mut Vec<u32>) -> Result<()> {
        match self.width {
            1 => self.fixed::<1>(keys, numbers),
            2 => self.fixed::<2>(keys, numbers),
            4 => self.fixed::<4>(keys, numbers),
            8 => self.fixed::<8>(keys, numbers),
            16 => self.fixed::<16>(keys, numbers),
            width => {
                for key in keys.chunks_exact(width) {
                    let hash = self.hashing.bytes(key);
                    let is_same = |keys: &[u8], at: usize| keys[at * width..(at + 1) * width] == *key;
                    numbers.push(self.find(hash, key, is_same)?);
                }
                Ok(())
            }
        }
    }

    /// The numbers here of the keys of another table, in its order.
    pub(super) fn merge(&mut self, other: &Self) -> Result<Vec<u32>> {
        let width = self.width;
        let keys = other.keys.chunks_exact(width).zip(other.slots.hashes());
        keys.map(|(key, &hash)| self.find(hash, key, |keys, at| keys[at * width..(at + 1) * width] == *key))
            .collect()
    }

    fn fixed<const N: usize>(&mut self, keys: &[u8], numbers: &mut Vec<u32>) -> Result<()> {
        let (keys, _) = keys.as_chunks::<N>();
        numbers.reserve(keys.len());
        // Rows that are next to each other often have the same key.
        let mut last: Option<(&[u8; N], u32)> = None;
        for key in keys {
            if let Some((same, number)) = last
                && same == key
            {
                numbers.push(number);
                continue;
            }
            let hash = if N > 8 {
                self.hashing.bytes(key)
            } else {
                let mut wide = [0; 8];
                wide[..N].copy_from_slice(key);
                let wide = u64::from_le_bytes(wide);
                if N <= 2 { wide } else { self.hashing.number(wide) }
            };
            let number = self.find(hash, key, |keys, at| keys.as_chunks::<N>().0[at] == *key)?;
            numbers.push(number);
            last = Some((key, number));
        }
        Ok(())
    }

    /// The number of a key; `is_same` compares it with the one that has a number.
    #[inline(always)]
    fn find(&mut self, hash: u64, key: &[u8], is_same: impl Fn(&[u8], usize) -> bool) -> Result<u32> {
        let keys = &self.keys;
        let (number, is_new) = self.slots.find(hash, |at| is_same(keys, at))?;
        if is_new {
            self.keys.extend_from_slice(key);
        }
        Ok(number)
    }
}
