//! The identities of chunks that libhdf5 has fetched, kept as long as the dataset does not change.
//!
//! In: the version of the dataset, as [`super::Library::version`] told it before chunks were fetched, and their identities.
//! Out: the identity of a chunk that would be the same if it were fetched again, so that its decoded blocks can be used.
//! Invariant: identities of one version only are kept.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// When there are more, all are dropped: they are learned again by reading.
const CHUNKS_MAX: usize = 4096;

/// The identity of a chunk; `None` for one that is not stored.
pub(super) type Identity = Option<u64>;

#[derive(Default)]
struct Kept {
    version: u64,
    chunks: HashMap<u64, Identity>,
}

/// Identities of chunks by their number.
#[derive(Default)]
pub(super) struct Identities(Mutex<Kept>);

impl Identities {
    /// The identity of a chunk, if it was fetched at this version.
    pub(super) fn get(&self, version: u64, number: u64) -> Option<Identity> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.version == version { kept.chunks.get(&number).copied() } else { None }
    }

    /// Keeps identities of chunks that were fetched after the dataset had this version.
    pub(super) fn keep(&self, version: u64, chunks: impl Iterator<Item = (u64, Identity)>) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.version > version {
            // Another thread has seen a later version meanwhile.
            return;
        }
        if kept.version < version {
            *kept = Kept { version, chunks: HashMap::new() };
        }
        for (number, identity) in chunks {
            if kept.chunks.len() >= CHUNKS_MAX {
                kept.chunks.clear();
            }
            kept.chunks.insert(number, identity);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identities_of_another_version_are_not_told() {
        let identities = Identities::default();
        identities.keep(3, [(0, Some(7)), (1, None)].into_iter());
        assert_eq!((identities.get(3, 0), identities.get(3, 1)), (Some(Some(7)), Some(None)));
        assert_eq!((identities.get(2, 0), identities.get(4, 0), identities.get(3, 2)), (None, None, None));
        identities.keep(4, std::iter::once((1, Some(8))));
        identities.keep(3, std::iter::once((1, Some(9))));
        assert_eq!((identities.get(3, 0), identities.get(3, 1)), (None, None));
        assert_eq!((identities.get(4, 0), identities.get(4, 1)), (None, Some(Some(8))));
    }

    #[test]
    fn the_number_of_identities_is_bounded() {
        let identities = Identities::default();
        identities.keep(0, (0..10 * CHUNKS_MAX as u64).map(|number| (number, Some(number))));
        assert!(identities.0.lock().unwrap().chunks.len() <= CHUNKS_MAX);
    }
}
