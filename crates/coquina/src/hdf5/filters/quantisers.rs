//! Quantisers (32022, 32023, 32032): they round floats when they are written, so that undoing them is nothing.
//!
//! Source: `docs/formats/hdf5-filters.md`, "Quantisers".

use super::{Filter, check};
use crate::base::error::Result;

pub(super) struct Quantiser {
    id: u16,
    name: &'static str,
}

pub(super) static BITGROOM: Quantiser = Quantiser { id: 32022, name: "bitgroom" };
pub(super) static GRANULAR: Quantiser = Quantiser { id: 32023, name: "granular_bitround" };
pub(super) static BITROUND: Quantiser = Quantiser { id: 32032, name: "bitround" };

impl Filter for Quantiser {
    fn id(&self) -> u16 {
        self.id
    }

    fn name(&self) -> &'static str {
        self.name
    }

    fn decoded_bytes(&self, stored: &[u8], _values: &[u32]) -> Result<Option<usize>> {
        Ok(Some(stored.len()))
    }

    fn decode(&self, stored: &[u8], _values: &[u32], out: &mut [u8]) -> Result<()> {
        check(stored.len(), out.len())?;
        out.copy_from_slice(stored);
        Ok(())
    }

    fn encoded_bytes(&self, plain: usize, _values: &[u32]) -> Option<usize> {
        Some(plain)
    }

    fn is_identity(&self) -> bool {
        true
    }
}
