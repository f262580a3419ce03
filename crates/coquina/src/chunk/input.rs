//! What is to be encoded: bytes that lie there, or blocks that are made one by one.
//!
//! A slice lends its blocks. A source fills a block of the thread's scratch, which is still in the cache when the
//! filters come to it; so nobody needs to gather a whole chunk before it is encoded.

use super::scratch::room;

/// Makes the blocks of a chunk that is to be encoded.
pub trait BlockSource: Sync {
    /// Fills `out`, as long as the block, with the bytes of block `number`.
    ///
    /// Called by several threads at once, and for a block perhaps more than once: it must then give the same bytes.
    fn fill(&self, number: usize, out: &mut [u8]);

    /// The stored bytes of block `number`, where it is one of a chunk with the same parameters (see
    /// [`super::LazyChunk::can_reuse`]): they are taken as they are, and nothing is encoded.
    fn encoded(&self, _number: usize) -> Option<Vec<u8>> {
        None
    }
}

/// Blocks of so many bytes, one behind another in memory.
pub struct Plain<'p> {
    /// All of them.
    pub plain: &'p [u8],
    /// Bytes of a block.
    pub block_bytes: usize,
}

impl BlockSource for Plain<'_> {
    fn fill(&self, number: usize, out: &mut [u8]) {
        let start = number * self.block_bytes;
        out.copy_from_slice(&self.plain[start..start + out.len()]);
    }
}

/// The bytes of a chunk that is to be encoded.
#[derive(Clone, Copy)]
pub(super) enum Input<'a> {
    /// These.
    Slice(&'a [u8]),
    /// So many, of a source.
    Source(&'a dyn BlockSource, usize),
}

impl Input<'_> {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Slice(bytes) => bytes.len(),
            Self::Source(_, bytes) => *bytes,
        }
    }

    /// Block `number` of blocks of `block_bytes`, perhaps in `memory`.
    pub(super) fn block<'b>(
        &'b self,
        number: usize,
        block_bytes: usize,
        memory: &'b mut Vec<u8>,
    ) -> &'b [u8] {
        let start = number * block_bytes;
        let bytes = block_bytes.min(self.len() - start);
        match self {
            Self::Slice(slice) => &slice[start..start + bytes],
            Self::Source(source, _) => {
                let block = room(memory, bytes);
                source.fill(number, block);
                block
            }
        }
    }

    /// The stored bytes of a block that need not be encoded.
    pub(super) fn encoded(&self, number: usize) -> Option<Vec<u8>> {
        match self {
            Self::Slice(_) => None,
            Self::Source(source, _) => source.encoded(number),
        }
    }

    /// Fills `out` with the blocks from `first` on.
    pub(super) fn copy(&self, first: usize, block_bytes: usize, out: &mut [u8]) {
        match self {
            Self::Slice(slice) => out.copy_from_slice(&slice[first * block_bytes..][..out.len()]),
            Self::Source(source, _) => {
                for (i, block) in out.chunks_mut(block_bytes).enumerate() {
                    source.fill(first + i, block);
                }
            }
        }
    }
}
