//! Numbers for keys, in the order in which they are first met.
//!
//! In: keys of some bytes each. Out: a number for each, the same for equal keys. Slots in open addressing name the
//! keys, which lie one behind another. Keys of one or two bytes have a slot each.
//! Invariant: the numbers depend on the order of the keys alone.

use super::super::hashing::{Hashing, slot_of};
use crate::base::error::{Error, Result};

/// Slots at first, for keys that do not have one each.
const SLOTS: usize = 1 << 10;

/// Keys and their numbers.
pub(super) struct Table {
    width: usize,
    hashing: Hashing,
    keys: Vec<u8>,
    /// Of each key.
    hashes: Vec<u64>,
    /// The upper half of a key's hash, and its number and 1; 0 for none.
    slots: Vec<[u32; 2]>,
}

/// How wide keys of so many bytes are made, so that comparing them is an instruction or two.
pub(super) fn padded(bytes: usize) -> usize {
    if bytes <= 16 { bytes.next_power_of_two() } else { bytes }
}

fn upper(hash: u64) -> u32 {
    u32::try_from(hash >> 32).unwrap_or(0)
}

fn index(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

impl Table {
    /// For keys of `width` bytes, which is a padded one.
    pub(super) fn new(width: usize, hashing: Hashing) -> Self {
        let slots = if width <= 2 { 1 << (8 * width) } else { SLOTS };
        Self { width, hashing, keys: Vec::new(), hashes: Vec::new(), slots: vec![[0; 2]; slots] }
    }

    /// How many keys there are.
    pub(super) fn len(&self) -> usize {
        self.hashes.len()
    }

    /// The keys, in the order of their numbers.
    pub(super) fn keys(&self) -> &[u8] {
        &self.keys
    }

    /// Bytes of memory.
    pub(super) fn bytes(&self) -> usize {
        self.keys.len() + size_of::<u64>() * self.hashes.len() + size_of::<[u32; 2]>() * self.slots.len()
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
        let keys = other.keys.chunks_exact(width).zip(&other.hashes);
        keys.map(|(key, &hash)| self.find(hash, key, |keys, at| keys[at * width..(at + 1) * width] == *key))
            .collect()
    }

    fn fixed<const N: usize>(&mut self, keys: &[u8], numbers: &mut Vec<u32>) -> Result<()> {
        let (keys, _) = keys.as_chunks::<N>();
        numbers.reserve(keys.len());
        for key in keys {
            let hash = if N > 8 {
                self.hashing.bytes(key)
            } else {
                let mut wide = [0; 8];
                wide[..N].copy_from_slice(key);
                let wide = u64::from_le_bytes(wide);
                if N <= 2 { wide } else { self.hashing.number(wide) }
            };
            numbers.push(self.find(hash, key, |keys, at| keys.as_chunks::<N>().0[at] == *key)?);
        }
        Ok(())
    }

    /// The number of a key; `is_same` compares it with the one that has a number.
    #[inline(always)]
    fn find(&mut self, hash: u64, key: &[u8], is_same: impl Fn(&[u8], usize) -> bool) -> Result<u32> {
        let mask = self.slots.len() - 1;
        let mut at = slot_of(hash, mask);
        loop {
            let [half, number] = self.slots[at];
            if number == 0 {
                return self.insert(hash, key, at);
            }
            if half == upper(hash) && is_same(&self.keys, index(number - 1)) {
                return Ok(number - 1);
            }
            at = (at + 1) & mask;
        }
    }

    /// Gives a key the next number, and the slot `at`.
    #[cold]
    fn insert(&mut self, hash: u64, key: &[u8], at: usize) -> Result<u32> {
        let number = u32::try_from(self.len()).ok().filter(|&number| number < u32::MAX);
        let number = number.ok_or_else(|| Error::limit(format!("{} groups", self.len())))?;
        self.slots[at] = [upper(hash), number + 1];
        self.hashes.push(hash);
        self.keys.extend_from_slice(key);
        if self.width > 2 && 2 * self.len() > self.slots.len() {
            self.grow();
        }
        Ok(number)
    }

    fn grow(&mut self) {
        let len = 2 * self.slots.len();
        self.slots.clear();
        self.slots.resize(len, [0; 2]);
        for (number, &hash) in (1..).zip(&self.hashes) {
            let mut at = slot_of(hash, len - 1);
            while self.slots[at] != [0; 2] {
                at = (at + 1) & (len - 1);
            }
            self.slots[at] = [upper(hash), number];
        }
    }
}
