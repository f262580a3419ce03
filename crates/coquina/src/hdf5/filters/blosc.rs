//! Blosc (32001): a chunk of C-Blosc, which says all that is needed to decode it.
//!
//! Source: `docs/formats/hdf5-filters.md`, "Blosc"; `docs/formats/chunk.md`.

use super::{BLOSC, Filter, append, check, value};
use crate::base::error::{Error, Result};
use crate::base::limits::Limits;
use crate::base::pool::Job;
use crate::chunk::{CHUNK_BYTES_MAX, Chunk, Generation, Header, Params, encode_into};
use crate::codec;
use crate::filter::{BITSHUFFLE, Pipeline, SHUFFLE};

pub(super) struct Blosc;

/// What C-Blosc uses where a dataset stores fewer parameters: the level, byte shuffle, BloscLZ.
const LEVEL_DEFAULT: u32 = 5;
const FILTER_DEFAULT: u32 = 1;
const CODEC_DEFAULT: u32 = 0;

impl Filter for Blosc {
    fn id(&self) -> u16 {
        BLOSC
    }

    fn name(&self) -> &'static str {
        "blosc"
    }

    fn decoded_bytes(&self, stored: &[u8], _values: &[u32]) -> Result<Option<usize>> {
        Ok(Some(Header::read(stored, &Limits::default())?.nbytes))
    }

    fn decode(&self, stored: &[u8], _values: &[u32], out: &mut [u8]) -> Result<()> {
        check(Header::read(stored, &Limits::default())?.nbytes, out.len())?;
        Chunk::parse(stored, &Limits::default())?.decode_into(out, &Job::inline())
    }

    fn can_encode(&self) -> bool {
        true
    }

    fn takes(&self, plain: usize, values: &[u32]) -> bool {
        plain <= CHUNK_BYTES_MAX && params(values).is_ok_and(|params| params.check().is_ok())
    }

    fn encode(&self, plain: &[u8], values: &[u32], out: &mut Vec<u8>) -> Result<()> {
        self.encode_by(plain, values, out, &Job::inline())
    }

    fn encode_by(&self, plain: &[u8], values: &[u32], out: &mut Vec<u8>, job: &Job<'_>) -> Result<()> {
        let params = params(values)?;
        append(out, params.bound(plain.len()), |room| encode_into(plain, &params, room, job))
    }
}

/// How a dataset's chunks are encoded.
fn params(values: &[u32]) -> Result<Params> {
    let or = |number: usize, default| values.get(number).copied().unwrap_or(default);
    let pipeline = match or(5, FILTER_DEFAULT) {
        0 => Pipeline::default(),
        1 => Pipeline::last(SHUFFLE),
        2 => Pipeline::last(BITSHUFFLE),
        other => return Err(Error::invalid(format!("shuffle {other}: takes 0, 1 and 2"))),
    };
    Ok(Params {
        codec: codec::by_id(narrow(or(6, CODEC_DEFAULT)))?,
        level: narrow(or(4, LEVEL_DEFAULT)),
        typesize: value(values, 2).max(1),
        pipeline,
        generation: Generation::Blosc1,
        ..Params::default()
    })
}

/// A small number; one that is too large for its place stays so.
fn narrow(value: u32) -> u8 {
    u8::try_from(value).unwrap_or(u8::MAX)
}
