//! The parameters of filters (`cd_values`): completed when a dataset is made, and read when a chunk is.
//!
//! Source: `docs/formats/hdf5-filters.md`.

use crate::ids::{BITSHUFFLE, BLOSC, BLOSC2};

/// Level, filter and codec that Blosc and Blosc2 take where none is given: 5, shuffle, BloscLZ.
const BLOSC_CHOICES: [u32; 3] = [5, 1, 0];
/// Parameters before those: two versions or sizes, the type size, the bytes of a chunk.
const BLOSC_FACTS: usize = 4;
/// The version that bitshuffle notes in its first two parameters.
const BITSHUFFLE_VERSION: [u32; 2] = [0, 4];
/// The ranks that the Blosc2 filter treats as n-dimensional arrays.
const BLOSC2_RANKS: core::ops::RangeInclusive<usize> = 2..=8;

/// What a filter learns of a new dataset.
pub(crate) struct Facts {
    /// Items of a chunk along each axis.
    pub(crate) dims: Vec<u64>,
    /// Bytes of an item.
    pub(crate) itemsize: usize,
    /// Bytes of the innermost item of an array type, else the same.
    pub(crate) basesize: usize,
}

impl Facts {
    /// Sizes of 4 GiB and more do not fit; they are noted as 0, "not known".
    fn chunk_bytes(&self) -> u32 {
        let items = self.dims.iter().try_fold(1_u64, |all, &dim| all.checked_mul(dim));
        let bytes = items.and_then(|items| items.checked_mul(self.itemsize as u64));
        bytes.map_or(0, small)
    }
}

/// The parameters that are stored with the dataset, from those that the user gave or that an older dataset had.
pub(crate) fn completed(id: u16, given: &[u32], facts: &Facts) -> Option<Vec<u32>> {
    match id {
        BLOSC => {
            let typesize = if facts.basesize > 255 { 1 } else { small(facts.basesize as u64) };
            Some(blosc([2, 2, typesize, facts.chunk_bytes()], given))
        }
        BLOSC2 => Some(blosc2(given, facts)),
        BITSHUFFLE => Some(bitshuffle(given, facts)),
        _ => None,
    }
}

fn blosc(facts: [u32; BLOSC_FACTS], given: &[u32]) -> Vec<u32> {
    facts.iter().chain(given.iter().skip(BLOSC_FACTS)).copied().collect()
}

fn blosc2(given: &[u32], facts: &Facts) -> Vec<u32> {
    let blocksize = given.get(1).copied().unwrap_or(0);
    let mut values = blosc([1, blocksize, small(facts.basesize as u64), facts.chunk_bytes()], given);
    // The shape comes behind all others; one of another dataset may stand there.
    values.truncate(BLOSC_FACTS + BLOSC_CHOICES.len());
    if BLOSC2_RANKS.contains(&facts.dims.len()) {
        values.extend(BLOSC_CHOICES.iter().skip(values.len() - BLOSC_FACTS));
        values.push(small(facts.dims.len() as u64));
        values.extend(facts.dims.iter().copied().map(small));
    }
    values
}

/// Users give block size, codec and level; three values are stored before those. A list that is copied from another
/// dataset has them already: it is longer, or has a version where the codec would be.
fn bitshuffle(given: &[u32], facts: &Facts) -> Vec<u32> {
    let is_stored = given.len() > 3 || (given.len() == 3 && given.starts_with(&BITSHUFFLE_VERSION));
    let own = given.get(if is_stored { 3 } else { 0 }..).unwrap_or_default();
    let head = BITSHUFFLE_VERSION.into_iter().chain([small(facts.itemsize as u64)]);
    head.chain(own.iter().copied()).collect()
}

/// How many bytes a chunk has at least, if the parameters tell.
pub(crate) fn chunk_bytes(id: u16, values: &[u32]) -> Option<usize> {
    let bytes = values.get(3).copied().filter(|_| id == BLOSC || id == BLOSC2)?;
    usize::try_from(bytes).ok()
}

/// The parameters for an encoder: with what Blosc and Blosc2 need and the list lacks.
pub(crate) fn for_encoder(id: u16, given: &[u32], plain_bytes: usize) -> Vec<u32> {
    let mut values = given.to_vec();
    let facts = match id {
        BLOSC => [2, 2, 1],
        BLOSC2 => [1, 0, 1],
        _ => return values,
    };
    let all = facts.into_iter().chain([small(plain_bytes as u64)]).chain(BLOSC_CHOICES);
    values.extend(all.skip(given.len()));
    values
}

fn small(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(dims: &[u64], itemsize: usize, basesize: usize) -> Facts {
        Facts { dims: dims.to_vec(), itemsize, basesize }
    }

    /// What the filters of the hdf5plugin package store, as files of that package show.
    #[test]
    fn completed_values_are_those_of_the_filters_themselves() {
        let cases: &[(u16, &[u32], Facts, &[u32])] = &[
            (BLOSC2, &[0, 0, 0, 0, 5, 1, 5], facts(&[1000], 8, 8), &[1, 0, 8, 8000, 5, 1, 5]),
            (BLOSC2, &[0, 0, 0, 0, 5, 1, 5], facts(&[17, 23], 4, 4), &[1, 0, 4, 1564, 5, 1, 5, 2, 17, 23]),
            (BLOSC2, &[0, 4096, 0, 0, 9, 2], facts(&[5, 6], 8, 8), &[1, 4096, 8, 240, 9, 2, 0, 2, 5, 6]),
            (BLOSC2, &[], facts(&[10], 300, 300), &[1, 0, 300, 3000]),
            (BLOSC, &[0, 0, 0, 0, 5, 1, 5], facts(&[10, 10], 24, 4), &[2, 2, 4, 2400, 5, 1, 5]),
            (BLOSC, &[], facts(&[10], 300, 300), &[2, 2, 1, 3000]),
            (BITSHUFFLE, &[0, 2], facts(&[100], 2, 2), &[0, 4, 2, 0, 2]),
            (BITSHUFFLE, &[0, 3, 22], facts(&[100], 8, 8), &[0, 4, 8, 0, 3, 22]),
            (BITSHUFFLE, &[], facts(&[100], 8, 8), &[0, 4, 8]),
        ];
        for (id, given, facts, want) in cases {
            assert_eq!(completed(*id, given, facts).as_deref(), Some(*want), "{id} {given:?}");
        }
    }

    /// A property list that was copied from a dataset has complete values already.
    #[test]
    fn completing_twice_changes_nothing() {
        let wide = facts(&[3, 4, 5], 8, 8);
        for (id, given) in [
            (BLOSC2, vec![0, 0, 0, 0, 1, 2, 3]),
            (BLOSC, vec![0, 0, 0, 0, 3]),
            (BITSHUFFLE, vec![8, 3, 7]),
            (BITSHUFFLE, vec![]),
        ] {
            let once = completed(id, &given, &wide).unwrap();
            assert_eq!(completed(id, &once, &wide), Some(once.clone()), "{id}");
            let narrow = facts(&[7], 8, 8);
            let other = completed(id, &given, &narrow);
            let own = if id == BITSHUFFLE { once.len() } else { 7.min(once.len()) };
            assert_eq!(completed(id, &once, &narrow).map(|v| v.len()), Some(own), "{id}");
            assert_eq!(
                completed(id, &once, &narrow).map(|v| v[..3].to_vec()),
                other.map(|v| v[..3].to_vec()),
                "{id}"
            );
        }
    }

    #[test]
    fn an_encoder_gets_what_a_short_list_lacks() {
        assert_eq!(for_encoder(BLOSC2, &[1, 0, 8, 8000], 8000), [1, 0, 8, 8000, 5, 1, 0]);
        assert_eq!(for_encoder(BLOSC, &[], 70), [2, 2, 1, 70, 5, 1, 0]);
        assert_eq!(for_encoder(BITSHUFFLE, &[0, 4, 8], 70), [0, 4, 8]);
    }
}
