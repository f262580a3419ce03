//! Shuffle (2): the first bytes of all elements, then the second bytes, and so on; leftover bytes follow as they are.
//!
//! Source: `docs/formats/hdf5-filters.md`, "Shuffle".

use coquina_kernels::{best_level, shuffle, unshuffle};

use super::{Filter, append, check, value};
use crate::base::error::Result;

pub(super) struct Shuffle;

impl Filter for Shuffle {
    fn id(&self) -> u16 {
        2
    }

    fn name(&self) -> &'static str {
        "shuffle"
    }

    fn decoded_bytes(&self, stored: &[u8], _values: &[u32]) -> Result<Option<usize>> {
        Ok(Some(stored.len()))
    }

    fn decode(&self, stored: &[u8], values: &[u32], out: &mut [u8]) -> Result<()> {
        check(stored.len(), out.len())?;
        unshuffle(best_level(), value(values, 0).max(1), stored, out);
        Ok(())
    }

    fn encoded_bytes(&self, plain: usize, _values: &[u32]) -> Option<usize> {
        Some(plain)
    }

    fn can_encode(&self) -> bool {
        true
    }

    fn encode(&self, plain: &[u8], values: &[u32], out: &mut Vec<u8>) -> Result<()> {
        append(out, plain.len(), |room| {
            shuffle(best_level(), value(values, 0).max(1), plain, room);
            Ok(plain.len())
        })
    }
}
