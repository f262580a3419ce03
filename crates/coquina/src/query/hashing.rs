//! Hashes of numbers and bytes, with a seed of each process: nobody who writes a file knows which of its items meet.
//!
//! Invariant: no result depends on the hashes.

use std::hash::{BuildHasher, RandomState};

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// A way to hash.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hashing {
    seed: u64,
}

impl Hashing {
    /// One that nobody knows.
    pub(super) fn new() -> Self {
        Self { seed: RandomState::new().hash_one(0_u8) }
    }

    /// Of a number: the halves of a product, as wide multiplications mix all bits into their middle.
    #[inline(always)]
    pub(super) fn number(self, number: u64) -> u64 {
        // Odd numbers with as many ones as zeros, from the digits of the golden ratio and of the square root of 2.
        let first = u128::from(number ^ self.seed) * 0x9e37_79b9_7f4a_7c15;
        let [low, high] = halves(first);
        let [low, high] = halves(u128::from(low ^ high ^ self.seed) * 0x6a09_e667_f3bc_c909);
        low ^ high
    }

    /// Of a number of two words.
    #[inline(always)]
    pub(super) fn wide(self, number: u128) -> u64 {
        let [low, high] = halves(number);
        self.number(low ^ self.number(high))
    }

    /// Of bytes.
    #[inline(always)]
    pub(super) fn bytes(self, bytes: &[u8]) -> u64 {
        xxh3_64_with_seed(bytes, self.seed)
    }
}

#[inline(always)]
fn halves(wide: u128) -> [u64; 2] {
    let low = wide & u128::from(u64::MAX);
    [u64::try_from(low).unwrap_or(0), u64::try_from(wide >> 64).unwrap_or(0)]
}

/// A hash as the number of a slot; there are a power of 2 of these.
#[inline(always)]
pub(super) fn slot_of(hash: u64, mask: usize) -> usize {
    usize::try_from(hash & mask as u64).unwrap_or(0)
}
