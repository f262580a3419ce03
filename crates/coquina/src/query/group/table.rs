//! Numbers for keys, in the order in which they are first met.
//!
//! In: keys of some bytes each. Out: a number for each, the same for equal keys, which lie one behind another. Keys of
//! one or two bytes have a slot each; codes that were given in the order in which they were first met are their numbers.
//! Invariant: the numbers depend on the order of the keys alone.

use super::super::hashing::Hashing;
use super::slots::{Slots, index};
use super::texts::CODE_BYTES;
use crate::base::error::Result;

/// Keys and their numbers.
pub(super) struct Table {
    width: usize,
    hashing: Hashing,
    keys: Vec<u8>,
    numbered: Numbered,
}

/// Where the numbers of keys come from.
enum Numbered {
    Slots(Slots),
    /// The keys are numbers: codes of 4 bytes, the next new one always the least that there was not.
    Codes,
}

/// How wide keys of so many bytes are made, so that comparing them is an instruction or two.
pub(super) fn padded(bytes: usize) -> usize {
    if bytes <= 16 { bytes.next_power_of_two() } else { bytes }
}

impl Table {
    /// For keys of `width` bytes, which is a padded one; about `expected` different ones.
    pub(super) fn new(width: usize, hashing: Hashing, expected: usize) -> Self {
        let slots = if width <= 2 { Slots::direct(1 << (8 * width)) } else { Slots::new(expected) };
        Self { width, hashing, keys: Vec::new(), numbered: Numbered::Slots(slots) }
    }

    /// For keys that are codes, the next new one always the least that there was not.
    pub(super) fn of_codes(hashing: Hashing) -> Self {
        Self { width: CODE_BYTES, hashing, keys: Vec::new(), numbered: Numbered::Codes }
    }

    /// How many keys there are.
    pub(super) fn len(&self) -> usize {
        match &self.numbered {
            Numbered::Slots(slots) => slots.len(),
            Numbered::Codes => self.keys.len() / CODE_BYTES,
        }
    }

    /// The keys, in the order of their numbers.
    pub(super) fn keys(&self) -> &[u8] {
        &self.keys
    }

    /// Bytes of memory.
    pub(super) fn bytes(&self) -> usize {
        let slots = match &self.numbered {
            Numbered::Slots(slots) => slots.bytes(),
            Numbered::Codes => 0,
        };
        self.keys.len() + slots
    }

    /// Appends the numbers of keys to `numbers`.
    pub(super) fn number(&mut self, keys: &[u8], numbers: &mut Vec<u32>) -> Result<()> {
        let Self { width, hashing, keys: known, numbered } = self;
        let Numbered::Slots(slots) = numbered else {
            codes(keys, known, numbers);
            return Ok(());
        };
        let mut numbering = Numbering { width: *width, hashing: *hashing, keys: known, slots };
        match numbering.width {
            1 => numbering.fixed::<1>(keys, numbers),
            2 => numbering.fixed::<2>(keys, numbers),
            4 => numbering.fixed::<4>(keys, numbers),
            8 => numbering.fixed::<8>(keys, numbers),
            16 => numbering.fixed::<16>(keys, numbers),
            width => {
                for key in keys.chunks_exact(width) {
                    let number = numbering.of_any_width(hashing.bytes(key), key)?;
                    numbers.push(number);
                }
                Ok(())
            }
        }
    }

    /// The numbers here of the keys of another table, in its order.
    pub(super) fn merge(&mut self, other: &Self) -> Result<Vec<u32>> {
        let Self { width, hashing, keys, numbered } = self;
        let (Numbered::Slots(slots), Numbered::Slots(others)) = (numbered, &other.numbered) else {
            let mut numbers = Vec::with_capacity(other.len());
            self.number(&other.keys, &mut numbers)?;
            return Ok(numbers);
        };
        let mut numbering = Numbering { width: *width, hashing: *hashing, keys, slots };
        let hashes = others.hashes();
        match numbering.width {
            4 => numbering.hashed::<4>(&other.keys, hashes),
            8 => numbering.hashed::<8>(&other.keys, hashes),
            16 => numbering.hashed::<16>(&other.keys, hashes),
            width => {
                let keys = other.keys.chunks_exact(width).zip(hashes);
                keys.map(|(key, &hash)| numbering.of_any_width(hash, key)).collect()
            }
        }
    }
}

/// Appends the numbers of codes, and the new ones to those that are known.
fn codes(codes: &[u8], known: &mut Vec<u8>, numbers: &mut Vec<u32>) {
    let (codes, _) = codes.as_chunks::<CODE_BYTES>();
    let mut count = known.len() / CODE_BYTES;
    numbers.extend(codes.iter().map(|code| {
        let number = u32::from_le_bytes(*code);
        if index(number) == count {
            known.extend_from_slice(code);
            count += 1;
        }
        number
    }));
}

/// Keys that are being numbered by their hashes.
struct Numbering<'t> {
    width: usize,
    hashing: Hashing,
    keys: &'t mut Vec<u8>,
    slots: &'t mut Slots,
}

impl Numbering<'_> {
    fn of_any_width(&mut self, hash: u64, key: &[u8]) -> Result<u32> {
        let width = self.width;
        self.find(hash, key, |keys, at| keys[at * width..(at + 1) * width] == *key)
    }

    /// The numbers of keys whose hashes are known.
    fn hashed<const N: usize>(&mut self, keys: &[u8], hashes: &[u64]) -> Result<Vec<u32>> {
        let mut numbers = Vec::with_capacity(hashes.len());
        for (key, &hash) in keys.as_chunks::<N>().0.iter().zip(hashes) {
            numbers.push(self.find(hash, key, |keys, at| keys.as_chunks::<N>().0[at] == *key)?);
        }
        Ok(numbers)
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
        let keys = &*self.keys;
        let (number, is_new) = self.slots.find(hash, |at| is_same(keys, at))?;
        if is_new {
            self.keys.extend_from_slice(key);
        }
        Ok(number)
    }
}
