//! Deflate (1), "gzip" to users: one zlib stream, which does not say how many bytes it holds.
//!
//! Source: `docs/formats/hdf5-filters.md`, "Deflate"; RFC 1950.

use std::cell::RefCell;

use libdeflater::{CompressionLvl, Compressor, Decompressor};

use super::{Filter, append, check, value};
use crate::base::error::{Error, Result};
use crate::codec::{self, EncodeOptions, LEVEL_MAX};

pub(super) struct Deflate;

/// The level where a dataset stores none, as zlib has it.
const LEVEL_DEFAULT: u8 = 6;
/// The id of zlib among the codecs of chunks.
const ZLIB: u8 = 4;

thread_local! {
    static DECOMPRESSOR: RefCell<Decompressor> = RefCell::new(Decompressor::new());
    /// For bytes that do not shrink: they are stored.
    static STORING: RefCell<Option<Compressor>> = const { RefCell::new(None) };
}

impl Filter for Deflate {
    fn id(&self) -> u16 {
        1
    }

    fn name(&self) -> &'static str {
        "gzip"
    }

    fn decode(&self, stored: &[u8], values: &[u32], out: &mut [u8]) -> Result<()> {
        check(self.decode_within(stored, values, out)?, out.len())
    }

    fn decode_within(&self, stored: &[u8], _values: &[u32], room: &mut [u8]) -> Result<usize> {
        let filled = DECOMPRESSOR.with_borrow_mut(|context| context.zlib_decompress(stored, room));
        filled.map_err(|error| Error::corrupt(error.to_string()))
    }

    fn can_encode(&self) -> bool {
        true
    }

    fn takes(&self, _plain: usize, values: &[u32]) -> bool {
        level(values).is_ok()
    }

    fn encode(&self, plain: &[u8], values: &[u32], out: &mut Vec<u8>) -> Result<()> {
        let level = level(values)?;
        let options = EncodeOptions { level, ..EncodeOptions::default() };
        let encoder = codec::by_id(ZLIB)?.encoder(&options)?;
        STORING.with_borrow_mut(|slot| {
            let storing =
                slot.get_or_insert_with(|| Compressor::new(CompressionLvl::new(0).unwrap_or_default()));
            let bound = storing.zlib_compress_bound(plain.len());
            append(out, bound, |room| match encoder.encode(plain, room)? {
                Some(bytes) if level > 0 => Ok(bytes),
                _ => storing.zlib_compress(plain, room).map_err(|error| Error::invalid(error.to_string())),
            })
        })
    }
}

fn level(values: &[u32]) -> Result<u8> {
    let Some(&level) = values.first() else { return Ok(LEVEL_DEFAULT) };
    let level = u8::try_from(level).ok().filter(|&level| level <= LEVEL_MAX);
    level.ok_or_else(|| Error::invalid(format!("level {}: takes 0..={LEVEL_MAX}", value(values, 0))))
}
