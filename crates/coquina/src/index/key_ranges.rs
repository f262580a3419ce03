//! Sets of keys as ranges, and what a condition asks of the values of one operand.
//!
//! In: ranges of keys. Out: sets, combined by and, or and not.
//! Invariant: [`Wanted::sure`] holds keys of which all rows meet a condition, [`Wanted::maybe`] those of which some may.

use std::iter::once;
use std::ops::RangeInclusive;
use std::sync::Arc;

use crate::base::error::{Error, Result};

/// A set of keys: ranges with both ends within, ascending and apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyRanges(Vec<RangeInclusive<u64>>);

impl KeyRanges {
    /// From each of `low` to the one of `high` at the same place.
    ///
    /// # Errors
    /// `Invalid` if they are not as many, or do not rise.
    pub fn new(low: &[u64], high: &[u64]) -> Result<Self> {
        let ranges: Vec<_> = low.iter().zip(high).map(|(&low, &high)| low..=high).collect();
        let is_rising = ranges.iter().all(|range| range.start() <= range.end())
            && ranges.windows(2).all(|pair| pair[0].end() < pair[1].start());
        if low.len() != high.len() || !is_rising {
            let (low, high) = (low.len(), high.len());
            return Err(Error::invalid(format!("ranges of {low} and {high} keys: must rise, apart")));
        }
        Ok(Self(ranges))
    }

    /// The set of all keys that are in one of these ranges, which may be in any order, overlap, and be empty.
    pub fn union(mut ranges: Vec<RangeInclusive<u64>>) -> Self {
        ranges.retain(|range| range.start() <= range.end());
        ranges.sort_unstable_by_key(|range| *range.start());
        let mut joined: Vec<RangeInclusive<u64>> = Vec::with_capacity(ranges.len());
        for range in ranges {
            match joined.last_mut() {
                // What ends right before a range is one with it.
                Some(last) if *range.start() <= last.end().saturating_add(1) => {
                    *last = *last.start()..=*last.end().max(range.end());
                }
                _ => joined.push(range),
            }
        }
        Self(joined)
    }

    /// The set of single keys, in any order.
    pub fn points(keys: &[u64]) -> Self {
        Self::union(keys.iter().map(|&key| key..=key).collect())
    }

    /// The set of all keys.
    pub fn every() -> Self {
        Self(vec![0..=u64::MAX])
    }

    /// Whether there is no key in it.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The ranges.
    pub fn ranges(&self) -> &[RangeInclusive<u64>] {
        &self.0
    }

    /// Whether a key is in it.
    pub fn contains(&self, key: u64) -> bool {
        let place = self.0.partition_point(|range| *range.end() < key);
        self.0.get(place).is_some_and(|range| range.contains(&key))
    }

    /// The keys in any of both.
    #[must_use]
    pub fn or(&self, other: &Self) -> Self {
        match (self.is_empty(), other.is_empty()) {
            (_, true) => self.clone(),
            (true, _) => other.clone(),
            _ => Self::union(self.0.iter().chain(&other.0).cloned().collect()),
        }
    }

    /// The keys in both.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        let (mut found, mut left, mut right) = (Vec::new(), self.0.as_slice(), other.0.as_slice());
        while let ([one, ones @ ..], [two, twos @ ..]) = (left, right) {
            let range = *one.start().max(two.start())..=*one.end().min(two.end());
            if !range.is_empty() {
                found.push(range);
            }
            // The range that ends first meets no more of the other ones.
            if one.end() <= two.end() {
                left = ones;
            } else {
                right = twos;
            }
        }
        Self(found)
    }

    /// All other keys.
    #[must_use]
    pub fn not(&self) -> Self {
        let starts = once(Some(0)).chain(self.0.iter().map(|range| range.end().checked_add(1)));
        let ends = self.0.iter().map(|range| range.start().checked_sub(1)).chain(once(Some(u64::MAX)));
        let gaps = starts.zip(ends).filter_map(|(start, end)| Some(start?..=end?));
        Self(gaps.filter(|range| !range.is_empty()).collect())
    }

    /// The ranges without their ends.
    pub(super) fn without_ends(&self) -> Self {
        let inner = self.0.iter().filter_map(|range| {
            let inner = range.start().checked_add(1)?..=range.end().checked_sub(1)?;
            (!inner.is_empty()).then_some(inner)
        });
        Self(inner.collect())
    }

    /// The keys at the ends of the ranges.
    pub(super) fn ends(&self) -> Self {
        let keys = self.0.iter().flat_map(|range| [*range.start(), *range.end()]);
        Self::points(&keys.collect::<Vec<_>>())
    }
}

/// What a condition asks of the values of one operand.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// Keys of which all rows meet it.
    pub sure: Arc<KeyRanges>,
    /// Keys of which some rows may meet it.
    pub maybe: Arc<KeyRanges>,
    /// Whether rows whose value is NaN, or a time that is none, meet it; `None`: some may.
    pub nan: Option<bool>,
    /// Whether rows without a value meet it; `None`: some may.
    pub null: Option<bool>,
}

impl Wanted {
    /// What asks for these keys, and no others.
    pub fn exactly(keys: KeyRanges, nan: Option<bool>, null: Option<bool>) -> Self {
        let keys = Arc::new(keys);
        Self { sure: Arc::clone(&keys), maybe: keys, nan, null }
    }

    /// Whether keys tell which rows meet it.
    pub fn is_sharp(&self) -> bool {
        Arc::ptr_eq(&self.sure, &self.maybe) || self.sure == self.maybe
    }

    /// What meets both.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        self.combined(other, KeyRanges::and, both)
    }

    /// What meets any of both.
    #[must_use]
    pub fn or(&self, other: &Self) -> Self {
        self.combined(other, KeyRanges::or, either)
    }

    /// What does not meet it.
    #[must_use]
    pub fn not(&self) -> Self {
        let sure = Arc::new(self.maybe.not());
        let is_one = Arc::ptr_eq(&self.sure, &self.maybe);
        let maybe = if is_one { Arc::clone(&sure) } else { Arc::new(self.sure.not()) };
        Self { sure, maybe, nan: self.nan.map(|is| !is), null: self.null.map(|is| !is) }
    }

    /// Whether all rows without a key meet it, or none; `None`: some may.
    pub fn missing(&self, can_be_nan: bool, can_be_null: bool) -> Option<bool> {
        match (can_be_nan, can_be_null) {
            (true, true) if self.nan == self.null => self.nan,
            (true, true) => None,
            (true, false) => self.nan,
            (false, true) => self.null,
            (false, false) => Some(false),
        }
    }

    fn combined(
        &self,
        other: &Self,
        keys: impl Fn(&KeyRanges, &KeyRanges) -> KeyRanges,
        truth: impl Fn(Option<bool>, Option<bool>) -> Option<bool>,
    ) -> Self {
        let is_one = |one: &Self| Arc::ptr_eq(&one.sure, &one.maybe);
        let sure = Arc::new(keys(&self.sure, &other.sure));
        let maybe = if is_one(self) && is_one(other) {
            Arc::clone(&sure)
        } else {
            Arc::new(keys(&self.maybe, &other.maybe))
        };
        Self { sure, maybe, nan: truth(self.nan, other.nan), null: truth(self.null, other.null) }
    }
}

/// Whether both hold, where `None` is not known.
fn both(one: Option<bool>, other: Option<bool>) -> Option<bool> {
    if one == Some(false) || other == Some(false) { Some(false) } else { Some(one? && other?) }
}

/// Whether any of both holds, where `None` is not known.
fn either(one: Option<bool>, other: Option<bool>) -> Option<bool> {
    if one == Some(true) || other == Some(true) { Some(true) } else { Some(one? || other?) }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    /// Numbers up to 20 as keys: those above 10 are the last keys of all.
    fn key(number: u64) -> u64 {
        if number <= 10 { number } else { u64::MAX - 20 + number }
    }

    fn members(keys: &KeyRanges) -> BTreeSet<u64> {
        (0..=20).filter(|&number| keys.contains(key(number))).collect()
    }

    /// Ranges, and the numbers that are in them.
    fn set(pairs: &[(u64, u64)]) -> (KeyRanges, BTreeSet<u64>) {
        let ranges = pairs.iter().map(|&(low, high)| key(low)..=key(high)).collect();
        (KeyRanges::union(ranges), pairs.iter().flat_map(|&(low, high)| low..=high).collect())
    }

    fn is_apart(keys: &KeyRanges) -> bool {
        keys.ranges().iter().all(|range| range.start() <= range.end())
            && keys.ranges().windows(2).all(|pair| pair[0].end() + 1 < *pair[1].start())
    }

    fn pairs() -> impl Strategy<Value = Vec<(u64, u64)>> {
        proptest::collection::vec((0..=20_u64, 0..=20_u64), 0..8)
    }

    proptest! {
        #[test]
        fn ranges_of_keys_are_sets(one in pairs(), other in pairs()) {
            let ((left, a), (right, b)) = (set(&one), set(&other));
            let all: BTreeSet<u64> = (0..=20).collect();
            for (found, wanted) in [
                (left.clone(), a.clone()),
                (left.or(&right), &a | &b),
                (left.and(&right), &a & &b),
                (left.not(), &all - &a),
                (left.not().not(), a.clone()),
            ] {
                prop_assert!(is_apart(&found), "{found:?}");
                prop_assert_eq!(members(&found), wanted);
            }
            prop_assert_eq!(left.not().not(), left.clone());
            let ends: BTreeSet<u64> = left.ranges().iter().flat_map(|range| [*range.start(), *range.end()]).collect();
            let inner = left.without_ends();
            prop_assert_eq!((0..=20).map(key).filter(|key| left.ends().contains(*key)).collect::<BTreeSet<_>>(), ends);
            prop_assert_eq!(inner.or(&left.ends()), left.clone());
            prop_assert!(inner.and(&left.ends()).is_empty());
        }

        #[test]
        fn points_are_keys(keys in proptest::collection::vec(0..=20_u64, 0..12)) {
            let found = KeyRanges::points(&keys.iter().map(|&number| key(number)).collect::<Vec<_>>());
            prop_assert!(is_apart(&found));
            prop_assert_eq!(members(&found), keys.into_iter().collect::<BTreeSet<_>>());
        }

        /// Of a row nothing is known but that it is sure, or may be: what is combined of two says no more than that.
        #[test]
        fn what_is_wanted_is_combined_as_truths(
            (one, one_more, other, other_more) in (pairs(), pairs(), pairs(), pairs()),
            truths in (any::<Option<bool>>(), any::<Option<bool>>()),
        ) {
            let wanted = |sure: &[(u64, u64)], more: &[(u64, u64)], nan| {
                let sure = set(sure).0;
                let maybe = Arc::new(sure.or(&set(more).0));
                Wanted { sure: Arc::new(sure), maybe, nan, null: None }
            };
            let (left, right) = (wanted(&one, &one_more, truths.0), wanted(&other, &other_more, truths.1));
            let sets = |one: &Wanted| (members(&one.sure), members(&one.maybe));
            let ((a, a_more), (b, b_more)) = (sets(&left), sets(&right));
            let all: BTreeSet<u64> = (0..=20).collect();
            prop_assert_eq!(sets(&left.and(&right)), (&a & &b, &a_more & &b_more));
            prop_assert_eq!(sets(&left.or(&right)), (&a | &b, &a_more | &b_more));
            prop_assert_eq!(sets(&left.not()), (&all - &a_more, &all - &a));
            for (one, other) in [(true, true), (true, false), (false, true), (false, false)] {
                // Whichever way what is not known turns out, the answer is that of the truths, or not known.
                let is_so = truths.0.is_none_or(|is| is == one) && truths.1.is_none_or(|is| is == other);
                let says = |said: Option<bool>, truth: bool| !is_so || said.is_none_or(|said| said == truth);
                prop_assert!(says(left.and(&right).nan, one && other));
                prop_assert!(says(left.or(&right).nan, one || other));
                prop_assert!(says(left.not().nan, !one));
            }
        }
    }

    #[test]
    fn rows_without_a_key_are_asked_for_as_far_as_there_can_be_some() {
        let wanted = |nan, null| Wanted::exactly(KeyRanges::default(), nan, null);
        assert_eq!(wanted(Some(true), None).missing(false, false), Some(false));
        assert_eq!(wanted(Some(true), None).missing(true, false), Some(true));
        assert_eq!(wanted(Some(true), None).missing(true, true), None);
        assert_eq!(wanted(Some(true), Some(false)).missing(true, true), None);
        assert_eq!(wanted(Some(true), Some(true)).missing(true, true), Some(true));
        assert_eq!(wanted(None, Some(false)).missing(false, true), Some(false));
        assert!(wanted(None, None).is_sharp());
    }

    #[test]
    fn the_ends_of_all_keys_are_within() {
        assert_eq!(KeyRanges::default().not(), KeyRanges::every());
        assert!(KeyRanges::every().not().is_empty() && KeyRanges::every().contains(u64::MAX));
        assert!(KeyRanges::new(&[3], &[2]).is_err() && KeyRanges::new(&[1, 2], &[2, 3]).is_err());
        assert!(KeyRanges::new(&[1], &[]).is_err());
    }
}
