//! Cuts all keys into buckets of about as many entries each, by a sample of them.
//!
//! In: a sample. Out: for each key its bucket. Naively: the number of splitters that are less than the key.
//! Invariant: of two keys the lesser one is in no later bucket; a key that fills a bucket has it for itself.

use std::hint::select_unpredictable;

/// Of each bucket about so many keys are in a sample.
pub(super) const SAMPLES_EACH: usize = 32;
/// No more buckets than this.
const BUCKETS_MAX: usize = 2048;

/// The greatest key of each bucket, but for the last one.
pub(super) struct Splitters {
    /// Ascending; as many as make whole halves of halves, with the greatest of all keys behind the others.
    padded: Vec<u64>,
    buckets: usize,
}

impl Splitters {
    /// For about `buckets` buckets.
    pub(super) fn new(mut sample: Vec<u64>, buckets: usize) -> Self {
        sample.sort_unstable();
        let buckets = buckets.clamp(1, BUCKETS_MAX / 2);
        let at = |number: usize| sample.get(number * sample.len() / buckets).copied();
        let mut ends = Vec::with_capacity(2 * buckets);
        let mut before = None;
        for number in 1..buckets {
            let Some(end) = at(number) else { break };
            if before == Some(end) {
                // It is met so often that it gets a bucket.
                ends.extend(end.checked_sub(1));
            }
            ends.push(end);
            before = Some(end);
        }
        ends.sort_unstable();
        ends.dedup();
        // Nothing lies behind the greatest key.
        ends.pop_if(|end| *end == u64::MAX);
        Self::of(ends)
    }

    /// A bucket for one key, one for what is before and one for what is behind.
    pub(super) fn around(key: u64) -> Self {
        let mut ends: Vec<u64> = key.checked_sub(1).into_iter().chain([key]).collect();
        ends.pop_if(|end| *end == u64::MAX);
        Self::of(ends)
    }

    fn of(mut ends: Vec<u64>) -> Self {
        let buckets = ends.len() + 1;
        ends.resize(buckets.next_power_of_two() - 1, u64::MAX);
        Self { padded: ends, buckets }
    }

    /// How many there are.
    pub(super) fn buckets(&self) -> usize {
        self.buckets
    }

    /// The bucket of a key. It is less than [`BUCKETS_MAX`].
    #[inline]
    pub(super) fn bucket(&self, key: u64) -> usize {
        let (mut at, mut half) = (0, self.padded.len().div_ceil(2));
        while half > 0 {
            // Without a branch on what is found, since that is not foreseen.
            at = select_unpredictable(self.padded[at + half - 1] < key, at + half, at);
            half /= 2;
        }
        at
    }
}
