//! One filter over one chunk: a pipeline of the engine with one slot.
//!
//! What libhdf5 hands to a filter is less than the engine knows of a dataset: no shape but what the parameters say,
//! and other filters may have made the bytes longer before. So the pipeline is one of plain bytes, and when a chunk is
//! read their number comes from what is stored.

use coquina::hdf5::{Pipeline, Slot, decoded_bytes};
use coquina::{Error, Job, Result};

use crate::values;

/// HDF5's own limit for a chunk until 2.0, and more than any of these formats was ever used for.
const CHUNK_BYTES_MAX: usize = u32::MAX as usize;

/// How many bytes [`decode`] makes of `stored`.
pub(crate) fn bytes_of(id: u16, values: &[u32], stored: &[u8]) -> Result<usize> {
    let bytes = decoded_bytes(id, stored, values)?;
    let bytes = bytes.ok_or_else(|| Error::unsupported("a chunk that does not tell its size"))?;
    // libhdf5 before 2.2 reads a whole chunk from what it gets, however short that is.
    if bytes > CHUNK_BYTES_MAX || values::chunk_bytes(id, values).is_some_and(|least| bytes < least) {
        return Err(Error::corrupt(format!("a chunk of {bytes} bytes")));
    }
    Ok(bytes)
}

/// Fills `out`, which has [`bytes_of`] bytes.
pub(crate) fn decode(id: u16, values: &[u32], stored: &[u8], out: &mut [u8]) -> Result<()> {
    pipeline(id, values.to_vec(), out.len())?.decode(stored, 0, out)
}

/// The chunk to store.
pub(crate) fn encode(id: u16, values: &[u32], plain: &[u8]) -> Result<Vec<u8>> {
    pipeline(id, values::for_encoder(id, values, plain.len()), plain.len())?.encode(plain, &Job::default())
}

fn pipeline(id: u16, values: Vec<u32>, chunk_bytes: usize) -> Result<Pipeline> {
    Pipeline::new(vec![Slot { id, is_optional: true, values }], &[chunk_bytes as u64], 1)
}
