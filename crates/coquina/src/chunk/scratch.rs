//! Working memory of a thread: kept between jobs, so that small chunks cost no allocation.

use std::cell::Cell;

use crate::filter::Buffers;

/// More than this is given back when the work is done: a thread must not hoard after one huge block.
const KEEP_BYTES: usize = 8 << 20;

/// What a thread works in; each part has a use of its own, so that all can be in use at once.
#[derive(Default)]
pub(super) struct Scratch {
    /// For the filters.
    pub(super) buffers: Buffers,
    /// Encoded blocks, as they were read.
    pub(super) encoded: Vec<u8>,
    /// A decoded block.
    pub(super) block: Vec<u8>,
}

impl Scratch {
    fn size(&self) -> usize {
        self.buffers.size() + self.encoded.capacity() + self.block.capacity()
    }
}

thread_local! {
    /// Two: who makes the blocks that are encoded may have to decode others for it.
    static SCRATCH: [Cell<Option<Box<Scratch>>>; 2] = const { [Cell::new(None), Cell::new(None)] };
}

/// Runs `work` with scratch of this thread. May be nested: the inner one then gets memory of its own.
pub(super) fn with_scratch<T>(work: impl FnOnce(&mut Scratch) -> T) -> T {
    let mut scratch =
        SCRATCH.with(|[first, second]| first.take().or_else(|| second.take())).unwrap_or_default();
    let result = work(&mut scratch);
    if scratch.size() <= KEEP_BYTES {
        SCRATCH.with(|[first, second]| {
            let inner = first.replace(Some(scratch));
            if inner.is_some() {
                second.set(inner);
            }
        });
    }
    result
}

/// The first `bytes` bytes of `memory`, which grows to them; what they hold is of no account.
pub(super) fn room(memory: &mut Vec<u8>, bytes: usize) -> &mut [u8] {
    if memory.len() < bytes {
        // Fresh memory is cheaper than a longer copy of what nobody needs.
        *memory = vec![0; bytes];
    }
    &mut memory[..bytes]
}
