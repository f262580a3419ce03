//! A chunk that libhdf5 has fetched, and the number that tells it from others.

use std::sync::Arc;

use super::identities::Identity;
use crate::base::checksum::xxh3;

/// A chunk that was fetched.
pub(super) enum Fetched {
    Missing,
    /// Items that the library read have a mask that says that no filter ran.
    Stored {
        id: u64,
        bytes: Arc<Vec<u8>>,
        mask: u32,
    },
}

impl Fetched {
    /// What tells it from others; `None` for what is not stored.
    pub(super) fn identity(&self) -> Identity {
        match self {
            Self::Missing => None,
            Self::Stored { id, .. } => Some(*id),
        }
    }
}

/// A number that tells a stored chunk from all others of its dataset: by its bytes, its number and its mask.
///
/// These two are no seed of the hash: XXH3 adds its seed to the bytes of short inputs, so that chunks of a few items
/// that count up with the numbers of the chunks were taken for each other.
pub(super) fn id_of(bytes: &[u8], number: u64, mask: u32) -> u64 {
    let place = (number ^ u64::from(mask) << 32).wrapping_add(1);
    xxh3(bytes) ^ place.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn short_chunks_that_count_up_are_told_from_each_other() {
        let mut ids = BTreeSet::new();
        let items = |number: u64, start: u64| {
            let pair = [(start + number).to_le_bytes(), (start / 2 + number).to_le_bytes()];
            pair.as_flattened().to_vec()
        };
        for start in [0, 62, 1 << 20, 0x1234_5678_9abc] {
            for number in 0..2000 {
                assert!(ids.insert(id_of(&items(number, start), number, 0)), "{start}, {number}");
            }
        }
    }
}
