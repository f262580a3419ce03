//! Numbers for what has a hash, in the order in which it is first met.
//!
//! In: a hash, and whether what has a number already is the same. Out: the number. Slots in open addressing.
//! Invariant: the numbers depend on the order alone.

use super::super::hashing::slot_of;
use crate::base::error::{Error, Result};

/// Slots at first.
const SLOTS: usize = 1 << 10;
/// No more numbers than this are expected.
const EXPECTED_MAX: usize = 1 << 20;

/// Slots, and what they name.
pub(super) struct Slots {
    /// Of each number.
    hashes: Vec<u64>,
    /// The upper half of a hash, and its number and 1; 0 for none.
    slots: Vec<[u32; 2]>,
}

/// How many slots so many numbers take: no more than half of them are taken.
fn slots_of(numbers: usize) -> usize {
    (2 * numbers).next_power_of_two().max(SLOTS)
}

fn upper(hash: u64) -> u32 {
    u32::try_from(hash >> 32).unwrap_or(0)
}

/// A number as an index.
#[inline(always)]
pub(super) fn index(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

impl Slots {
    /// Slots for any hashes, of about `expected` numbers: there may be more, and fewer.
    pub(super) fn new(expected: usize) -> Self {
        let expected = expected.min(EXPECTED_MAX);
        let (hashes, slots) = (Vec::with_capacity(expected), vec![[0; 2]; slots_of(expected)]);
        Self { hashes, slots }
    }

    /// How many numbers there are.
    pub(super) fn len(&self) -> usize {
        self.hashes.len()
    }

    /// The hashes, in the order of their numbers.
    pub(super) fn hashes(&self) -> &[u64] {
        &self.hashes
    }

    /// Bytes of memory that so many numbers take, whatever was expected.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&self.hashes[..]) + slots_of(self.len()) * size_of::<[u32; 2]>()
    }

    /// The number and 1 that stands where a hash is looked for first, if it may be that of this hash; else 0.
    ///
    /// Asked for many hashes before any of them is looked for, it has the CPU wait for the memory of all at once.
    #[inline(always)]
    pub(super) fn guess(&self, hash: u64) -> u32 {
        let [half, number] = self.slots[slot_of(hash, self.slots.len() - 1)];
        if half == upper(hash) { number } else { 0 }
    }

    /// The number of what has a hash, and whether it is new; `is_same` compares it with what has a number.
    #[inline(always)]
    pub(super) fn find(&mut self, hash: u64, is_same: impl Fn(usize) -> bool) -> Result<(u32, bool)> {
        let mask = self.slots.len() - 1;
        let mut at = slot_of(hash, mask);
        loop {
            let [half, number] = self.slots[at];
            if number == 0 {
                return Ok((self.insert(hash, at)?, true));
            }
            if half == upper(hash) && is_same(index(number - 1)) {
                return Ok((number - 1, false));
            }
            at = (at + 1) & mask;
        }
    }

    /// Gives a hash the next number, and the slot `at`.
    #[cold]
    fn insert(&mut self, hash: u64, at: usize) -> Result<u32> {
        let number = u32::try_from(self.len()).ok().filter(|&number| number < u32::MAX);
        let number = number.ok_or_else(|| Error::limit(format!("{} groups", self.len())))?;
        self.slots[at] = [upper(hash), number + 1];
        self.hashes.push(hash);
        if slots_of(self.len()) > self.slots.len() {
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
