//! Numbers for keys that are integers close to each other, in the order in which they are first met.
//!
//! In: integers of 1, 2, 4 or 8 bytes. Out: a number for each. The distance of a key from the least one is where its number
//! stands, in pages that are made when they are first needed: nothing is hashed, nor compared.
//! Invariant: the numbers depend on the order of the keys alone.
//! Plain version: `slots.rs`.

use super::slots::index;

/// Integers that are further apart are not numbered here.
const SPAN_MAX: u64 = 1 << 21;
/// Numbers of a page.
const PAGE: usize = 1 << PAGE_BITS;
const PAGE_BITS: u32 = 8;

/// The numbers of integers between a least and a greatest one.
pub(super) struct Places {
    /// The integer whose number stands at the first place.
    first: i64,
    /// Where the page of each `PAGE` integers begins in `numbers`; page 0 has no numbers.
    pages: Vec<u32>,
    /// A number and 1; 0 for none.
    numbers: Vec<u32>,
}

/// A key of `N` bytes as an integer.
#[inline(always)]
fn integer<const N: usize>(key: &[u8; N]) -> i64 {
    match *key.as_slice() {
        [a] => i8::from_le_bytes([a]).into(),
        [a, b] => i16::from_le_bytes([a, b]).into(),
        [a, b, c, d] => i32::from_le_bytes([a, b, c, d]).into(),
        [a, b, c, d, e, f, g, h, ..] => i64::from_le_bytes([a, b, c, d, e, f, g, h]),
        _ => 0,
    }
}

impl Places {
    /// Without a key.
    pub(super) fn new() -> Self {
        Self { first: 0, pages: Vec::new(), numbers: vec![0; PAGE] }
    }

    /// Bytes of memory.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&self.pages[..]) + size_of_val(&self.numbers[..])
    }

    /// Appends the numbers of keys to `numbers`, and the new ones to those that are `known`; how many keys, from the first
    /// one on, are close enough to all others.
    pub(super) fn number<const N: usize>(
        &mut self,
        keys: &[u8],
        known: &mut Vec<u8>,
        numbers: &mut Vec<u32>,
    ) -> usize {
        let (keys, _) = keys.as_chunks::<N>();
        let (start, mut done) = (numbers.len(), 0);
        let mut count = u32::try_from(known.len() / N).unwrap_or(u32::MAX);
        numbers.resize(start + keys.len(), 0);
        for (out, key) in numbers[start..].iter_mut().zip(keys) {
            let Some(number) = self.place(integer(key)) else { break };
            if *number == 0 {
                known.extend_from_slice(key);
                count += 1;
                *number = count;
            }
            *out = *number - 1;
            done += 1;
        }
        numbers.truncate(start + done);
        done
    }

    /// Where the number of a key stands, if it is close enough to all others.
    #[inline(always)]
    fn place(&mut self, key: i64) -> Option<&mut u32> {
        let mut place = self.distance(key);
        if place >> PAGE_BITS >= self.pages.len() {
            if !self.reach(key) {
                return None;
            }
            place = self.distance(key);
        }
        let page = place >> PAGE_BITS;
        if self.pages[page] == 0 {
            self.make(page);
        }
        Some(&mut self.numbers[index(self.pages[page]) + place % PAGE])
    }

    /// How far a key is from the first place.
    #[inline(always)]
    fn distance(&self, key: i64) -> usize {
        usize::try_from(key.wrapping_sub(self.first).cast_unsigned()).unwrap_or(usize::MAX)
    }

    #[cold]
    fn make(&mut self, page: usize) {
        // There are no more pages than places.
        self.pages[page] = u32::try_from(self.numbers.len()).unwrap_or(u32::MAX);
        self.numbers.resize(self.numbers.len() + PAGE, 0);
    }

    /// Makes a place for a key; whether it is close enough to all others.
    #[cold]
    fn reach(&mut self, key: i64) -> bool {
        let len = (self.pages.len() as u64) << PAGE_BITS;
        let last = self.first.saturating_add_unsigned(len.saturating_sub(1));
        let is_new = self.pages.is_empty();
        // All pages begin at a multiple of their length, and so they are moved as a whole.
        let start = if is_new { key } else { key.min(self.first) } >> PAGE_BITS << PAGE_BITS;
        let end = if is_new { key } else { key.max(last) };
        let span = end.wrapping_sub(start).cast_unsigned();
        if span >= SPAN_MAX {
            return false;
        }
        let before = self.first.wrapping_sub(start).cast_unsigned() >> PAGE_BITS;
        let before = if is_new { 0 } else { usize::try_from(before).unwrap_or(usize::MAX) };
        self.pages.splice(0..0, std::iter::repeat_n(0, before));
        self.pages.resize(usize::try_from(span >> PAGE_BITS).unwrap_or(usize::MAX) + 1, 0);
        self.first = start;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number<const N: usize>(places: &mut Places, known: &mut Vec<u8>, keys: &[i64]) -> Option<Vec<u32>> {
        let bytes: Vec<u8> = keys.iter().flat_map(|key| key.to_le_bytes()[..N].to_vec()).collect();
        let mut numbers = Vec::new();
        (places.number::<N>(&bytes, known, &mut numbers) == keys.len()).then_some(numbers)
    }

    #[test]
    fn keys_are_numbered_as_they_are_first_met_wherever_they_are() {
        let (mut places, mut known) = (Places::new(), Vec::new());
        let found = [[5, -3, 5, 700], [-900_000, 5, 900_000, -3], [i64::from(i32::MIN); 4]]
            .map(|keys| number::<4>(&mut places, &mut known, &keys));
        assert_eq!(found, [Some(vec![0, 1, 0, 2]), Some(vec![3, 0, 4, 1]), None]);
        assert_eq!(number::<4>(&mut places, &mut known, &[900_000, 700, -900_000]), Some(vec![4, 2, 3]));
        assert_eq!(known.len(), 5 * 4);
    }

    #[test]
    fn keys_at_the_ends_of_their_type_have_places() {
        for ends in [[i64::MIN, i64::MIN + 1], [i64::MAX - 1, i64::MAX], [i64::MAX, i64::MAX - 3000]] {
            let (mut places, mut known) = (Places::new(), Vec::new());
            for end in ends {
                assert!(number::<8>(&mut places, &mut known, &[end]).is_some());
            }
            assert_eq!(number::<8>(&mut places, &mut known, &ends), Some(vec![0, 1]));
            assert_eq!(number::<8>(&mut places, &mut known, &[0]), None);
        }
        let (mut places, mut known) = (Places::new(), Vec::new());
        let all: Vec<i64> = (-32768..32768).collect();
        let expected: Vec<u32> = (0..65536).collect();
        assert_eq!(number::<2>(&mut places, &mut known, &all), Some(expected.clone()));
        let (mut places, mut known) = (Places::new(), Vec::new());
        assert_eq!(number::<1>(&mut places, &mut known, &all[..256]), Some(expected[..256].to_vec()));
    }
}
