//! The two buffers that a pipeline works in.

use std::ops::{Deref, DerefMut};

use crate::base::scratch::Scratch;

/// A cache line: buffers that start on one are shuffled up to a fifth faster.
const LINE_BYTES: usize = 64;

/// Working memory that grows to a block's size and is then reused.
#[derive(Default)]
pub(crate) struct Buffers {
    pub(crate) first: Buffer,
    pub(crate) second: Buffer,
}

/// Bytes that start on a cache line.
#[derive(Default)]
pub(crate) struct Buffer {
    memory: Vec<u8>,
    start: usize,
}

impl Buffers {
    /// Makes both at least so long.
    pub(crate) fn fit(&mut self, bytes: usize) {
        self.first.fit(bytes);
        self.second.fit(bytes);
    }
}

impl Scratch for Buffers {
    fn memory_bytes(&self) -> usize {
        self.first.memory.len() + self.second.memory.len()
    }
}

impl Buffer {
    /// Makes it at least so long.
    pub(crate) fn fit(&mut self, bytes: usize) {
        if self.len() < bytes {
            self.memory = vec![0; bytes + LINE_BYTES];
            self.start = self.memory.as_ptr().align_offset(LINE_BYTES).min(LINE_BYTES);
        }
    }
}

impl Deref for Buffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.memory.get(self.start..).unwrap_or_default()
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        self.memory.get_mut(self.start..).unwrap_or_default()
    }
}
