//! Blosc2 (32026): a frame of one chunk, mostly of an n-dimensional array.
//!
//! Source: `docs/formats/hdf5-filters.md`, "Blosc2".

use super::{BLOSC2, Filter, value};
use crate::base::error::Result;
use crate::base::pool::Job;
use crate::chunk::CHUNK_BYTES_MAX;
use crate::hdf5::blosc2::{Blosc2Spec, decode_frame, decoded_bytes, encode_frame};

pub(super) struct Blosc2;

impl Filter for Blosc2 {
    fn id(&self) -> u16 {
        BLOSC2
    }

    fn name(&self) -> &'static str {
        "blosc2"
    }

    fn decoded_bytes(&self, stored: &[u8], _values: &[u32]) -> Result<Option<usize>> {
        decoded_bytes(stored)
    }

    fn decode(&self, stored: &[u8], _values: &[u32], out: &mut [u8]) -> Result<()> {
        decode_frame(stored, out)
    }

    fn can_encode(&self) -> bool {
        true
    }

    fn takes(&self, plain: usize, values: &[u32]) -> bool {
        let spec = spec(plain, values).ok();
        plain <= CHUNK_BYTES_MAX && spec.is_some_and(|spec| spec.params.check().is_ok())
    }

    fn encode(&self, plain: &[u8], values: &[u32], out: &mut Vec<u8>) -> Result<()> {
        self.encode_by(plain, values, out, &Job::inline())
    }

    fn encode_by(&self, plain: &[u8], values: &[u32], out: &mut Vec<u8>, job: &Job<'_>) -> Result<()> {
        let frame = encode_frame(&spec(plain.len(), values)?, plain, job)?;
        if out.is_empty() {
            *out = frame;
        } else {
            out.extend_from_slice(&frame);
        }
        Ok(())
    }
}

/// How `plain` bytes are encoded. What is not exactly the items of a chunk has no shape.
fn spec(plain: usize, values: &[u32]) -> Result<Blosc2Spec> {
    let dims: Vec<u64> = values.get(8..).unwrap_or_default().iter().map(|&dim| dim.into()).collect();
    let items = dims.iter().try_fold(1_usize, |all, &dim| all.checked_mul(usize::try_from(dim).ok()?));
    match items {
        Some(items) if items > 0 && plain == value(values, 3) && plain.is_multiple_of(items) => {
            Blosc2Spec::new(values, &dims, plain / items)
        }
        _ => Blosc2Spec::new(values, &[plain as u64], 1),
    }
}
