//! Bitshuffle (32008): blocks of elements whose bits are transposed, each compressed by LZ4, Zstandard or not at all.
//!
//! In: whole elements. The last up to seven of them are not transposed and stand behind the blocks.
//! Source: `docs/formats/hdf5-filters.md`, "Bitshuffle".

use coquina_kernels::{best_level, bitshuffle, bitunshuffle};

use super::lz4::{self, Head, no_room};
use super::{Filter, append, check, value, zstd};
use crate::base::error::{Error, Result};
use crate::base::scratch::{ScratchStack, with_scratch_of};

pub(super) struct Bitshuffle;

/// Bytes that a block has about, by default, and the fewest elements of it.
const BLOCK_BYTES_DEFAULT: usize = 8192;
const BLOCK_ITEMS_MIN: usize = 128;
/// Blocks are of a multiple of so many elements.
const GROUP: usize = 8;
/// The level of Zstandard where a dataset stores none, as libzstd has it.
const ZSTD_LEVEL_DEFAULT: u32 = 3;

thread_local! {
    static MATRIX: ScratchStack<Vec<u8>> = const { ScratchStack::new(1 << 20) };
}

/// What the transposed blocks are compressed by.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Coder {
    None,
    Lz4,
    Zstd,
}

/// The parameters of a dataset.
struct Options {
    itemsize: usize,
    /// Items of a block.
    block: usize,
    coder: Coder,
    level: i32,
}

impl Options {
    fn read(values: &[u32]) -> Result<Self> {
        let itemsize = value(values, 2);
        if itemsize == 0 {
            return Err(Error::invalid("element size: 0 is not a size"));
        }
        let default = (BLOCK_BYTES_DEFAULT / itemsize / GROUP * GROUP).max(BLOCK_ITEMS_MIN);
        let block = match value(values, 3) {
            0 => default,
            items => items,
        };
        if !block.is_multiple_of(GROUP) || block.checked_mul(itemsize).is_none() {
            return Err(Error::invalid(format!("block size: {block} elements are no multiple of {GROUP}")));
        }
        let coder = match value(values, 4) {
            0 => Coder::None,
            2 => Coder::Lz4,
            3 => Coder::Zstd,
            other => return Err(Error::unsupported(format!("compressor {other}: takes 0, 2 and 3"))),
        };
        let level = values.get(5).copied().unwrap_or(ZSTD_LEVEL_DEFAULT).cast_signed();
        Ok(Self { itemsize, block, coder, level })
    }

    /// The number of bytes in blocks; what is behind them is not transposed.
    fn matrix_bytes(&self, bytes: usize) -> Result<usize> {
        if !bytes.is_multiple_of(self.itemsize) {
            let itemsize = self.itemsize;
            return Err(Error::corrupt(format!("{bytes} bytes are no whole elements of {itemsize}")));
        }
        Ok(bytes / self.itemsize / GROUP * GROUP * self.itemsize)
    }
}

impl Filter for Bitshuffle {
    fn id(&self) -> u16 {
        32008
    }

    fn name(&self) -> &'static str {
        "bitshuffle"
    }

    fn decoded_bytes(&self, stored: &[u8], values: &[u32]) -> Result<Option<usize>> {
        match Options::read(values)?.coder {
            Coder::None => Ok(Some(stored.len())),
            _ => Ok(Some(lz4::head(stored)?.bytes)),
        }
    }

    fn decode(&self, stored: &[u8], values: &[u32], out: &mut [u8]) -> Result<()> {
        let options = Options::read(values)?;
        let (matrix, rest) = out.split_at_mut(options.matrix_bytes(out.len())?);
        if options.coder == Coder::None {
            check(stored.len(), matrix.len() + rest.len())?;
            let (blocks, tail) = stored.split_at(matrix.len());
            let bytes = options.block * options.itemsize;
            for (block, out) in blocks.chunks(bytes).zip(matrix.chunks_mut(bytes)) {
                bitunshuffle(best_level(), options.itemsize, block, out);
            }
            rest.copy_from_slice(tail);
            return Ok(());
        }
        let head = lz4::head(stored)?;
        check(head.bytes, matrix.len() + rest.len())?;
        let tail = with_matrix(|scratch| decode_blocks(&options, &head, matrix, scratch))?;
        let tail = tail.get(..rest.len());
        rest.copy_from_slice(tail.ok_or_else(|| Error::truncated("the last elements are missing"))?);
        Ok(())
    }

    fn encoded_bytes(&self, plain: usize, values: &[u32]) -> Option<usize> {
        Options::read(values).is_ok_and(|options| options.coder == Coder::None).then_some(plain)
    }

    fn can_encode(&self) -> bool {
        true
    }

    fn takes(&self, plain: usize, values: &[u32]) -> bool {
        Options::read(values).is_ok_and(|options| options.matrix_bytes(plain).is_ok())
    }

    fn encode(&self, plain: &[u8], values: &[u32], out: &mut Vec<u8>) -> Result<()> {
        let options = Options::read(values)?;
        let (matrix, rest) = plain.split_at(options.matrix_bytes(plain.len())?);
        let bytes = options.block * options.itemsize;
        let nblocks = matrix.len().div_ceil(bytes);
        let overhead = bytes.min(matrix.len()) / 128 + 512;
        let bound = plain.len() + 12 + nblocks * overhead;
        with_matrix(|scratch| {
            append(out, bound, |room| {
                let mut at = put_head(&options, plain.len(), room)?;
                for block in matrix.chunks(bytes) {
                    let shuffled = fit(scratch, block.len());
                    bitshuffle(best_level(), options.itemsize, block, shuffled);
                    at += put_block(&options, shuffled, room.get_mut(at..).unwrap_or_default())?;
                }
                let tail = room.get_mut(at..at + rest.len()).ok_or_else(no_room)?;
                tail.copy_from_slice(rest);
                Ok(at + rest.len())
            })
        })
    }
}

/// Fills `matrix` from the blocks; returns the stored bytes that follow them.
fn decode_blocks<'a>(
    options: &Options,
    head: &Head<'a>,
    matrix: &mut [u8],
    scratch: &mut Vec<u8>,
) -> Result<&'a [u8]> {
    let (group_bytes, mut left) = (GROUP.saturating_mul(options.itemsize), head.rest);
    if matrix.is_empty() {
        return Ok(left);
    }
    // The size that stands in the chunk is the one that was used, whatever the parameters say.
    if head.block_bytes == 0 || !head.block_bytes.is_multiple_of(group_bytes) {
        let bytes = head.block_bytes;
        return Err(Error::corrupt(format!("block size: {bytes} bytes are no multiple of {group_bytes}")));
    }
    let level = best_level();
    let scratch = fit(scratch, head.block_bytes.min(matrix.len()));
    for out in matrix.chunks_mut(head.block_bytes) {
        let data;
        (data, left) = lz4::sized(left)?;
        let shuffled = scratch.get_mut(..out.len()).unwrap_or_default();
        match options.coder {
            Coder::Zstd => check(zstd::decompress(data, shuffled)?, out.len())?,
            _ => lz4::decompress(data, shuffled)?,
        }
        bitunshuffle(level, options.itemsize, shuffled, out);
    }
    Ok(left)
}

/// Writes what stands in front of compressed blocks; returns its length.
fn put_head(options: &Options, bytes: usize, room: &mut [u8]) -> Result<usize> {
    if options.coder == Coder::None {
        return Ok(0);
    }
    let head = room.first_chunk_mut::<12>().ok_or_else(no_room)?;
    head[..8].copy_from_slice(&(bytes as u64).to_be_bytes());
    let block_bytes = u32::try_from(options.block * options.itemsize);
    let block_bytes = block_bytes.map_err(|_| Error::invalid("block size: more than 4 GiB"))?;
    head[8..].copy_from_slice(&block_bytes.to_be_bytes());
    Ok(head.len())
}

/// Writes a transposed block; returns how many bytes it takes.
fn put_block(options: &Options, shuffled: &[u8], room: &mut [u8]) -> Result<usize> {
    if options.coder == Coder::None {
        room.get_mut(..shuffled.len()).ok_or_else(no_room)?.copy_from_slice(shuffled);
        return Ok(shuffled.len());
    }
    let (length, room) = room.split_first_chunk_mut::<4>().ok_or_else(no_room)?;
    let bytes = match options.coder {
        Coder::Zstd => zstd::compress(shuffled, options.level, room)?,
        _ => lz4::compress(shuffled, room).ok_or_else(no_room)?,
    };
    *length = u32::try_from(bytes).unwrap_or(u32::MAX).to_be_bytes();
    Ok(4 + bytes)
}

/// The first `bytes` bytes of `memory`, which grows to them; what they hold is of no account.
fn fit(memory: &mut Vec<u8>, bytes: usize) -> &mut [u8] {
    if memory.len() < bytes {
        *memory = vec![0; bytes];
    }
    &mut memory[..bytes]
}

/// Runs `work` with scratch of this thread.
fn with_matrix<T>(work: impl FnOnce(&mut Vec<u8>) -> T) -> T {
    with_scratch_of(&MATRIX, work)
}
