//! What was chosen for chunks before, and when a chunk is like one of these.
//!
//! In: features of chunks, in their order. Out: a way that was chosen before, or that ways are to be tried. What is tried is
//! bounded: a chunk earns a part of a trial, so that data which change all the time are not tried all the time. What is
//! quite another thing than before may be tried on credit.
//! Invariant: depends on the chunks and their order only.

use super::features::Features;
use super::ways::Way;

/// Kinds of chunks that are remembered.
const KINDS_MAX: usize = 16;
/// Trials that a tuner may begin with beyond the first, and that it can save up.
const SAVED: f64 = 2.0;
const SAVED_MAX: f64 = 3.0;
/// Trials that may be owed, for chunks that are so different. For these nothing is taken over either.
const OWED_MAX: f64 = 2.0;
const CLEARLY: f64 = 2.5;
/// The part of the time of encoding that trials may take in the long run.
const TRIAL_PART: f64 = 0.04;
/// A difference that did not change the choice does not count from then on, up to this one.
const REACH_MAX: f64 = 4.0;

/// A kind of chunk, and what was chosen for it.
struct Kind {
    typesize: usize,
    features: Features,
    way: Way,
    /// How different a chunk may be.
    reach: f64,
}

/// What is known of a chunk.
pub(super) enum Recalled {
    /// This was chosen for chunks like it, or for such as are not very different.
    Way(Way),
    /// Nothing: ways are to be tried.
    Nothing,
    /// Nothing, but trials have taken long enough.
    Unaffordable,
}

/// What was chosen before.
pub(super) struct Memory {
    /// The one that was met last comes first.
    kinds: Vec<Kind>,
    /// Trials that may be made.
    saved: f64,
    /// What a chunk earns.
    earned: f64,
    is_free: bool,
}

impl Memory {
    /// Of nothing. Trials that are free may take as long as they want.
    pub(super) fn new(is_free: bool) -> Self {
        Self { kinds: Vec::new(), saved: SAVED, earned: 0.0, is_free }
    }

    /// What was chosen for chunks like this one.
    pub(super) fn recall(&mut self, features: &Features, typesize: usize) -> Recalled {
        self.saved = (self.saved + self.earned).min(SAVED_MAX);
        let Some((place, distance)) = self.nearest(features, typesize) else { return Recalled::Nothing };
        let reach = self.kinds.get(place).map_or(0.0, |kind| kind.reach);
        let is_clear = distance > CLEARLY * reach;
        let least = if is_clear { 1.0 - OWED_MAX } else { 1.0 };
        if distance > reach && (self.is_free || self.saved >= least) {
            return Recalled::Nothing;
        }
        if is_clear {
            return Recalled::Unaffordable;
        }
        let kind = self.kinds.remove(place);
        let way = kind.way;
        self.kinds.insert(0, kind);
        Recalled::Way(way)
    }

    /// Takes down what was chosen after a trial, which took so many times as long as to encode the chunk.
    pub(super) fn remember(&mut self, features: Features, typesize: usize, way: Way, took: f64) {
        if !self.kinds.is_empty() {
            self.saved -= 1.0;
        }
        self.earned = TRIAL_PART / took.max(TRIAL_PART);
        if let Some((place, distance)) = self.nearest(&features, typesize)
            && let Some(kind) = self.kinds.get_mut(place)
            && kind.way.is_same(&way)
            && distance <= REACH_MAX
        {
            kind.reach = kind.reach.max(distance);
        }
        self.kinds.insert(0, Kind { typesize, features, way, reach: 1.0 });
        self.kinds.truncate(KINDS_MAX);
    }

    /// The kind that is most like this, and how different it is.
    fn nearest(&self, features: &Features, typesize: usize) -> Option<(usize, f64)> {
        let kinds = self.kinds.iter().enumerate().filter(|(_, kind)| kind.typesize == typesize);
        kinds
            .map(|(place, kind)| (place, kind.features.distance(features)))
            .min_by(|(_, a), (_, b)| a.total_cmp(b))
    }
}

#[cfg(test)]
mod tests {
    use super::super::ways::{codecs, filters_for};
    use super::*;
    use crate::chunk::Params;

    fn like(entropy: f64) -> Features {
        Features { entropies: vec![entropy], delta_entropies: vec![entropy], ..Features::default() }
    }

    fn way(number: usize) -> Way {
        let (codec, level) = codecs().unwrap()[number];
        Way { codec, level, filters: filters_for(&Params::default())[0] }
    }

    fn recalled(memory: &mut Memory, features: &Features, typesize: usize) -> Option<Way> {
        match memory.recall(features, typesize) {
            Recalled::Way(way) => Some(way),
            Recalled::Nothing | Recalled::Unaffordable => None,
        }
    }

    #[test]
    fn like_chunks_take_over_and_others_are_tried() {
        let mut memory = Memory::new(false);
        assert!(recalled(&mut memory, &like(4.0), 1).is_none());
        memory.remember(like(4.0), 1, way(0), 1.0);
        assert!(recalled(&mut memory, &like(4.1), 1).unwrap().is_same(&way(0)));
        assert!(recalled(&mut memory, &like(4.1), 2).is_none());
        assert!(recalled(&mut memory, &like(7.0), 1).is_none());
        memory.remember(like(7.0), 1, way(3), 1.0);
        // Both are remembered.
        assert!(recalled(&mut memory, &like(4.1), 1).unwrap().is_same(&way(0)));
        assert!(recalled(&mut memory, &like(7.1), 1).unwrap().is_same(&way(3)));
    }

    #[test]
    fn a_difference_that_changed_nothing_does_not_count() {
        let mut memory = Memory::new(false);
        memory.remember(like(4.0), 1, way(0), 1.0);
        assert!(recalled(&mut memory, &like(5.0), 1).is_none());
        memory.remember(like(5.0), 1, way(0), 1.0);
        assert!(recalled(&mut memory, &like(3.1), 1).is_some());
    }

    #[test]
    fn what_changes_all_the_time_is_not_tried_all_the_time_unless_time_counts_for_nothing() {
        for (is_free, expected) in [(false, 4..20), (true, 200..201)] {
            let mut memory = Memory::new(is_free);
            let (mut tried, mut unaffordable) = (0, 0);
            for n in 0_u16..200 {
                let features = like(f64::from(n) * 100.0);
                match memory.recall(&features, 1) {
                    Recalled::Nothing => {
                        tried += 1;
                        memory.remember(features, 1, way(usize::from(n % 3)), 1.0);
                    }
                    Recalled::Unaffordable => unaffordable += 1,
                    Recalled::Way(_) => {}
                }
            }
            assert!(expected.contains(&tried), "{tried}");
            // Nothing is taken over from what is quite another thing.
            assert_eq!(tried + unaffordable, 200);
        }
    }
}
