//! LZ4 (32004): the size of all, then blocks, each an LZ4 block or as it is. All numbers are big-endian.
//!
//! Source: `docs/formats/hdf5-filters.md`, "LZ4".

use std::cell::RefCell;

use coquina_kernels::best_level;
use coquina_kernels::lz4::{self, FastState};

use super::{Filter, append, check, value};
use crate::base::error::{Error, Result};

pub(super) struct Lz4;

/// The block size where a dataset stores 0.
const BLOCK_BYTES_DEFAULT: usize = 1 << 30;
/// The least acceleration of LZ4: its best ratio.
const ACCELERATION: i32 = 1;

thread_local! {
    static STATE: RefCell<FastState> = RefCell::new(FastState::new());
}

impl Filter for Lz4 {
    fn id(&self) -> u16 {
        32004
    }

    fn name(&self) -> &'static str {
        "lz4"
    }

    fn decoded_bytes(&self, stored: &[u8], _values: &[u32]) -> Result<Option<usize>> {
        head(stored).map(|head| Some(head.bytes))
    }

    fn decode(&self, stored: &[u8], _values: &[u32], out: &mut [u8]) -> Result<()> {
        let Head { bytes, block_bytes, rest } = head(stored)?;
        check(bytes, out.len())?;
        if block_bytes == 0 && bytes > 0 {
            return Err(Error::corrupt("block size: 0"));
        }
        let mut left = rest;
        for block in out.chunks_mut(block_bytes.max(1)) {
            let data;
            (data, left) = sized(left)?;
            if data.len() == block.len() {
                block.copy_from_slice(data);
            } else {
                decompress(data, block)?;
            }
        }
        Ok(())
    }

    fn can_encode(&self) -> bool {
        true
    }

    fn encode(&self, plain: &[u8], values: &[u32], out: &mut Vec<u8>) -> Result<()> {
        let wanted = value(values, 0);
        let wanted = if wanted == 0 { BLOCK_BYTES_DEFAULT } else { wanted.min(BLOCK_BYTES_DEFAULT) };
        let block_bytes = wanted.min(plain.len());
        // A block that does not shrink is stored as it is.
        let bound = 12 + plain.len() + 4 * plain.len().div_ceil(block_bytes.max(1));
        append(out, bound, |room| {
            let (head, mut room) = room.split_first_chunk_mut::<12>().ok_or_else(no_room)?;
            head[..8].copy_from_slice(&(plain.len() as u64).to_be_bytes());
            head[8..].copy_from_slice(&u32::try_from(block_bytes).unwrap_or(u32::MAX).to_be_bytes());
            let mut written = head.len();
            for block in plain.chunks(block_bytes.max(1)) {
                let (length, rest) = room.split_first_chunk_mut::<4>().ok_or_else(no_room)?;
                let limit = block.len().saturating_sub(1);
                let bytes = match compress(block, rest.get_mut(..limit).unwrap_or_default()) {
                    Some(bytes) => bytes,
                    None => {
                        rest.get_mut(..block.len()).ok_or_else(no_room)?.copy_from_slice(block);
                        block.len()
                    }
                };
                *length = u32::try_from(bytes).unwrap_or(u32::MAX).to_be_bytes();
                written += 4 + bytes;
                room = rest.get_mut(bytes..).unwrap_or_default();
            }
            Ok(written)
        })
    }
}

/// What stands in front of blocks.
pub(super) struct Head<'a> {
    /// Bytes that all decode to.
    pub(super) bytes: usize,
    /// Bytes of a decoded block.
    pub(super) block_bytes: usize,
    /// The blocks.
    pub(super) rest: &'a [u8],
}

/// Reads the 12 bytes in front of blocks.
pub(super) fn head(stored: &[u8]) -> Result<Head<'_>> {
    let parts = stored.split_first_chunk::<8>().and_then(|(bytes, rest)| {
        let (block_bytes, rest) = rest.split_first_chunk::<4>()?;
        Some((u64::from_be_bytes(*bytes), u32::from_be_bytes(*block_bytes), rest))
    });
    let (bytes, block_bytes, rest) =
        parts.ok_or_else(|| Error::truncated(format!("sizes: need 12 bytes, {} left", stored.len())))?;
    let bytes = usize::try_from(bytes).map_err(|_| Error::corrupt(format!("size: {bytes} bytes")))?;
    Ok(Head { bytes, block_bytes: block_bytes as usize, rest })
}

/// The bytes behind a length, and what follows them.
pub(super) fn sized(bytes: &[u8]) -> Result<(&[u8], &[u8])> {
    let Some((length, rest)) = bytes.split_first_chunk::<4>() else {
        return Err(Error::truncated(format!("block length: {} bytes left", bytes.len())));
    };
    let length = u32::from_be_bytes(*length) as usize;
    let left = rest.len();
    let parts = rest.split_at_checked(length);
    parts.ok_or_else(|| Error::truncated(format!("block: {length} bytes announced, {left} left")))
}

/// Decodes an LZ4 block to exactly fill `out`.
pub(super) fn decompress(block: &[u8], out: &mut [u8]) -> Result<()> {
    let bytes =
        lz4::decompress(best_level(), block, out).map_err(|error| Error::corrupt(error.to_string()))?;
    check(bytes, out.len())
}

/// Encodes an LZ4 block to the front of `out`; `None` if it does not fit.
pub(super) fn compress(plain: &[u8], out: &mut [u8]) -> Option<usize> {
    STATE.with_borrow_mut(|state| state.compress(plain, out, ACCELERATION))
}

/// A broken invariant of ours: room was made for all that is written.
pub(super) fn no_room() -> Error {
    Error::invalid("no room for what is written")
}
