//! Zstd (32015): a Zstandard frame, which mostly says how many bytes it holds.
//!
//! Source: `docs/formats/hdf5-filters.md`, "Zstd"; RFC 8878.

use std::cell::RefCell;

use zstd_safe::{CCtx, DCtx};

use super::{Filter, append, check};
use crate::base::error::{Error, Result};

pub(super) struct Zstd;

/// The level where a dataset stores none, as libzstd has it.
const LEVEL_DEFAULT: i32 = 3;
/// The levels of libzstd; it takes others as the nearest of these.
const LEVELS: std::ops::RangeInclusive<i32> = -(1 << 17)..=22;

thread_local! {
    static COMPRESSOR: RefCell<CCtx<'static>> = RefCell::new(CCtx::create());
    static DECOMPRESSOR: RefCell<DCtx<'static>> = RefCell::new(DCtx::create());
}

impl Filter for Zstd {
    fn id(&self) -> u16 {
        32015
    }

    fn name(&self) -> &'static str {
        "zstd"
    }

    fn decoded_bytes(&self, stored: &[u8], _values: &[u32]) -> Result<Option<usize>> {
        let bytes = zstd_safe::find_decompressed_size(stored);
        let bytes = bytes.map_err(|_| Error::corrupt("not a Zstandard frame"))?;
        Ok(bytes.map(|bytes| usize::try_from(bytes).unwrap_or(usize::MAX)))
    }

    fn decode(&self, stored: &[u8], _values: &[u32], out: &mut [u8]) -> Result<()> {
        check(decompress(stored, out)?, out.len())
    }

    fn decode_within(&self, stored: &[u8], _values: &[u32], room: &mut [u8]) -> Result<usize> {
        decompress(stored, room)
    }

    fn can_encode(&self) -> bool {
        true
    }

    fn encode(&self, plain: &[u8], values: &[u32], out: &mut Vec<u8>) -> Result<()> {
        let level = values.first().map_or(LEVEL_DEFAULT, |level| level.cast_signed());
        append(out, zstd_safe::compress_bound(plain.len()), |room| compress(plain, level, room))
    }
}

/// Decodes frames to the front of `out`; returns how many bytes came out.
pub(super) fn decompress(stored: &[u8], out: &mut [u8]) -> Result<usize> {
    let filled = DECOMPRESSOR.with_borrow_mut(|context| context.decompress(out, stored));
    filled.map_err(|code| Error::corrupt(zstd_safe::get_error_name(code)))
}

/// Encodes a frame to the front of `out`; returns its length.
pub(super) fn compress(plain: &[u8], level: i32, out: &mut [u8]) -> Result<usize> {
    let level = level.clamp(*LEVELS.start(), *LEVELS.end());
    let taken = COMPRESSOR.with_borrow_mut(|context| context.compress(out, plain, level));
    taken.map_err(|code| Error::limit(zstd_safe::get_error_name(code)))
}
