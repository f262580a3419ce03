//! Numbers for keys, in the order in which they are first met.
//!
//! In: keys of some bytes each. Out: a number for each, the same for equal keys, which lie one behind another. Keys that are
//! integers close to each other have a place each; codes that were given in the order in which they were first met are
//! their numbers; all others are hashed.
//! Invariant: the numbers depend on the order of the keys alone.

use super::super::hashing::Hashing;
use super::places::Places;
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
    /// The keys are integers, all of them close to each other so far; where they are not, about so many are expected.
    Places(Places, usize),
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
        let numbered = match width {
            1 | 2 | 4 | 8 => Numbered::Places(Places::new(), expected),
            _ => Numbered::Slots(Slots::new(expected)),
        };
        Self { width, hashing, keys: Vec::new(), numbered }
    }

    /// For keys that are codes, the next new one always the least that there was not.
    pub(super) fn of_codes(hashing: Hashing) -> Self {
        Self { width: CODE_BYTES, hashing, keys: Vec::new(), numbered: Numbered::Codes }
    }

    /// How many keys there are.
    pub(super) fn len(&self) -> usize {
        self.keys.len() / self.width
    }

    /// The keys, in the order of their numbers.
    pub(super) fn keys(&self) -> &[u8] {
        &self.keys
    }

    /// Bytes of memory.
    pub(super) fn bytes(&self) -> usize {
        let slots = match &self.numbered {
            Numbered::Slots(slots) => slots.bytes(),
            Numbered::Places(places, _) => places.bytes(),
            Numbered::Codes => 0,
        };
        self.keys.len() + slots
    }

    /// Appends the numbers of keys to `numbers`.
    pub(super) fn number(&mut self, keys: &[u8], numbers: &mut Vec<u32>) -> Result<()> {
        match &mut self.numbered {
            Numbered::Codes => {
                codes(keys, &mut self.keys, numbers);
                Ok(())
            }
            Numbered::Slots(slots) => {
                let Self { width, hashing, keys: known, .. } = self;
                Numbering { width: *width, hashing: *hashing, keys: known, slots }.number(keys, numbers)
            }
            Numbered::Places(places, expected) => {
                let known = &mut self.keys;
                let done = match self.width {
                    1 => places.number::<1>(keys, known, numbers),
                    2 => places.number::<2>(keys, known, numbers),
                    4 => places.number::<4>(keys, known, numbers),
                    _ => places.number::<8>(keys, known, numbers),
                };
                let Some(rest) = keys.get(done * self.width..).filter(|rest| !rest.is_empty()) else {
                    return Ok(());
                };
                let expected = *expected;
                self.hash_all(expected)?;
                self.number(rest, numbers)
            }
        }
    }

    /// Numbers the keys by their hashes from here on; those that there are keep their numbers.
    fn hash_all(&mut self, expected: usize) -> Result<()> {
        let mut slots = Slots::new(expected.max(self.len()));
        let known = std::mem::take(&mut self.keys);
        let Self { width, hashing, keys, .. } = self;
        Numbering { width: *width, hashing: *hashing, keys, slots: &mut slots }
            .number(&known, &mut Vec::new())?;
        self.numbered = Numbered::Slots(slots);
        Ok(())
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
    /// Appends the numbers of keys.
    fn number(&mut self, keys: &[u8], numbers: &mut Vec<u32>) -> Result<()> {
        match self.width {
            4 => self.fixed::<4>(keys, numbers),
            8 => self.fixed::<8>(keys, numbers),
            16 => self.fixed::<16>(keys, numbers),
            width => {
                for key in keys.chunks_exact(width) {
                    numbers.push(self.of_any_width(self.hashing.bytes(key), key)?);
                }
                Ok(())
            }
        }
    }

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
                self.hashing.number(u64::from_le_bytes(wide))
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
