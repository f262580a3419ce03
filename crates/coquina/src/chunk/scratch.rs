//! Working memory of a thread: kept between jobs, so that small chunks cost no allocation.

use std::cell::Cell;

use crate::filter::Buffers;

/// More than this is given back when the work is done: a thread must not hoard after one huge block.
const KEEP_BYTES: usize = 8 << 20;

thread_local! {
    static BUFFERS: Cell<Option<Box<Buffers>>> = const { Cell::new(None) };
}

/// Runs `work` with this thread's buffers. May be nested: the inner one then gets fresh buffers.
pub(super) fn with_buffers<T>(work: impl FnOnce(&mut Buffers) -> T) -> T {
    let mut buffers = BUFFERS.take().unwrap_or_default();
    let result = work(&mut buffers);
    if buffers.size() <= KEEP_BYTES {
        BUFFERS.set(Some(buffers));
    }
    result
}
