//! Many texts in one piece of memory, and a table to look them up.

use std::ops::RangeInclusive;

use super::super::hashing::{Hashing, slot_of};
use crate::base::error::{Error, Result};

/// Texts, as bytes, one behind another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Texts {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Texts {
    /// Adds a text.
    pub fn push(&mut self, text: &[u8]) {
        self.bytes.extend_from_slice(text);
        self.ends.push(self.bytes.len());
    }

    /// The texts in their order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.ends.len()).filter_map(|number| self.get(number))
    }

    fn get(&self, number: usize) -> Option<&[u8]> {
        let start = number.checked_sub(1).map_or(Some(0), |before| self.ends.get(before).copied())?;
        self.bytes.get(start..*self.ends.get(number)?)
    }
}

impl<T: AsRef<[u8]>> FromIterator<T> for Texts {
    fn from_iter<I: IntoIterator<Item = T>>(texts: I) -> Self {
        let mut all = Self::default();
        texts.into_iter().for_each(|text| all.push(text.as_ref()));
        all
    }
}

/// Texts that are looked up.
#[derive(Debug)]
pub(super) struct TextSet {
    texts: Texts,
    hashing: Hashing,
    /// In each slot the number of a text and one more, or 0. At least half of them are 0.
    slots: Vec<u32>,
    lens: RangeInclusive<usize>,
}

impl TextSet {
    /// # Errors
    /// `Limit` for 2^32 texts.
    pub(super) fn new(texts: Texts) -> Result<Self> {
        let count = texts.ends.len();
        if u32::try_from(count).is_err() {
            return Err(Error::limit(format!("{count} texts to look up")));
        }
        let lens = || texts.iter().map(<[u8]>::len);
        // The lengths of none are none.
        let lens = lens().min().unwrap_or(1)..=lens().max().unwrap_or(0);
        let slots = vec![0; (2 * count).max(2).next_power_of_two()];
        let mut set = Self { texts, hashing: Hashing::new(), slots, lens };
        for (number, place) in (0..count).zip(1_u32..) {
            let Some(text) = set.texts.get(number) else { continue };
            if let Err(slot) = set.find(text) {
                set.slots[slot] = place;
            }
        }
        Ok(set)
    }

    /// The texts.
    pub(super) fn texts(&self) -> impl Iterator<Item = &[u8]> {
        self.texts.iter()
    }

    pub(super) fn has(&self, text: &[u8]) -> bool {
        self.lens.contains(&text.len()) && self.find(text).is_ok()
    }

    /// The least and the most bytes of a text.
    pub(super) fn lens(&self) -> RangeInclusive<usize> {
        self.lens.clone()
    }

    /// The slot of a text, or the empty one where it would be.
    fn find(&self, text: &[u8]) -> std::result::Result<usize, usize> {
        let mask = self.slots.len() - 1;
        let mut slot = slot_of(self.hashing.bytes(text), mask);
        loop {
            let Some(number) = (self.slots[slot] as usize).checked_sub(1) else { return Err(slot) };
            if self.texts.get(number) == Some(text) {
                return Ok(slot);
            }
            slot = (slot + 1) & mask;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_has_its_texts_and_no_others() {
        let texts: Vec<String> = (0..5000).map(|n| "x".repeat(n % 7) + &(n / 3 * 5).to_string()).collect();
        let set = TextSet::new(texts.iter().collect()).unwrap();
        let wanted: std::collections::HashSet<&String> = texts.iter().collect();
        for n in 0..9000 {
            for text in [n.to_string(), format!("xx{n}"), format!("{n}x")] {
                assert_eq!(set.has(text.as_bytes()), wanted.contains(&text), "{text}");
            }
        }
        assert_eq!(set.lens(), 1..=10);
    }

    #[test]
    fn an_empty_set_has_nothing_and_an_empty_text_is_one() {
        assert!(!TextSet::new(Texts::default()).unwrap().has(b""));
        let set = TextSet::new([b""; 3].into_iter().collect()).unwrap();
        assert!(set.has(b"") && !set.has(b"a"));
    }
}
