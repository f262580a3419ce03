//! Scratch: what a thread works in, kept between uses, as fresh memory is slow to touch.
//!
//! There is a stack for each kind: while one piece is in use, what it is used for may need another. A piece that has grown
//! too large is given back when the work is done: a thread must not hoard after one huge block.
//! Invariant: what a piece holds is of no account to whoever gets it.

use std::cell::RefCell;
use std::thread::LocalKey;

use coquina_kernels::items::Aligned;

/// What a thread works in.
pub(crate) trait Scratch: Default + 'static {
    /// Bytes of memory that it takes.
    fn memory_bytes(&self) -> usize;
}

impl Scratch for Aligned {
    fn memory_bytes(&self) -> usize {
        self.all().len()
    }
}

impl Scratch for Vec<u8> {
    fn memory_bytes(&self) -> usize {
        self.len()
    }
}

/// The pieces of one kind that a thread keeps.
pub(crate) struct ScratchStack<T> {
    pieces: RefCell<Vec<Box<T>>>,
    bytes_kept: usize,
}

impl<T: Scratch> ScratchStack<T> {
    /// A stack that keeps pieces of so many bytes at most.
    pub(crate) const fn new(bytes_kept: usize) -> Self {
        Self { pieces: RefCell::new(Vec::new()), bytes_kept }
    }
}

/// Runs `work` with a piece of this thread's stack, or a new one.
pub(crate) fn with_scratch_of<T: Scratch, R>(
    stack: &'static LocalKey<ScratchStack<T>>,
    work: impl FnOnce(&mut T) -> R,
) -> R {
    let mut piece = stack.with(|stack| stack.pieces.borrow_mut().pop()).unwrap_or_default();
    let result = work(&mut piece);
    stack.with(|stack| {
        if piece.memory_bytes() <= stack.bytes_kept {
            stack.pieces.borrow_mut().push(piece);
        }
    });
    result
}

thread_local! {
    static ALIGNED: ScratchStack<Aligned> = const { ScratchStack::new(40 << 20) };
}

/// Runs `work` with memory that begins where every number type may, and can be asked for room.
pub(crate) fn with_aligned_scratch<T>(work: impl FnOnce(&mut Aligned) -> T) -> T {
    with_scratch_of(&ALIGNED, work)
}

/// Runs `work` with room for so many bytes, of any content.
pub(crate) fn with_scratch<T>(bytes: usize, work: impl FnOnce(&mut [u8]) -> T) -> T {
    with_aligned_scratch(|memory| work(memory.room(bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_nest_and_are_used_again() {
        let outer = with_scratch(100, |outer| {
            outer.fill(1);
            with_scratch(50, |inner| inner.fill(2));
            assert!(outer.iter().all(|&byte| byte == 1) && outer.len() == 100);
            outer.as_ptr().addr()
        });
        assert_eq!(with_scratch(64, |room| room.as_ptr().addr()), outer);
    }

    #[test]
    fn pieces_that_are_too_large_are_given_back() {
        thread_local! {
            static BYTES: ScratchStack<Vec<u8>> = const { ScratchStack::new(10) };
        }
        with_scratch_of(&BYTES, |piece| *piece = vec![1; 10]);
        assert_eq!(with_scratch_of(&BYTES, |piece| piece.len()), 10);
        with_scratch_of(&BYTES, |piece| *piece = vec![1; 11]);
        assert_eq!(with_scratch_of(&BYTES, |piece| piece.len()), 0);
    }
}
