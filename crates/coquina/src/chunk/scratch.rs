//! What a thread works in to encode and decode the blocks of a chunk.

use crate::base::scratch::{Scratch, ScratchStack, with_scratch_of};
use crate::filter::Buffers;

/// More is given back when the work is done.
const KEEP_BYTES: usize = 8 << 20;

/// What a thread works in; each part has a use of its own, so that all can be in use at once.
#[derive(Default)]
pub(super) struct ChunkScratch {
    /// For the filters.
    pub(super) buffers: Buffers,
    /// Encoded blocks, as they were read.
    pub(super) encoded: Vec<u8>,
    /// A decoded block.
    pub(super) block: Vec<u8>,
}

impl Scratch for ChunkScratch {
    fn memory_bytes(&self) -> usize {
        self.buffers.memory_bytes() + self.encoded.capacity() + self.block.capacity()
    }
}

thread_local! {
    static SCRATCH: ScratchStack<ChunkScratch> = const { ScratchStack::new(KEEP_BYTES) };
}

/// Runs `work` with scratch of this thread. May be nested: who makes the blocks that are encoded may have to decode others
/// for it.
pub(super) fn with_chunk_scratch<T>(work: impl FnOnce(&mut ChunkScratch) -> T) -> T {
    with_scratch_of(&SCRATCH, work)
}

/// The first `bytes` bytes of `memory`, which grows to them; what they hold is of no account.
pub(super) fn room(memory: &mut Vec<u8>, bytes: usize) -> &mut [u8] {
    if memory.len() < bytes {
        // Fresh memory is cheaper than a longer copy of what nobody needs.
        *memory = vec![0; bytes];
    }
    &mut memory[..bytes]
}
