//! Collects encoded runs of blocks in their order, whichever thread finishes first.
//!
//! In: pieces, each with its number. Out: one chunk: block starts and the pieces, adjacent and in order.
//! A piece that comes early waits; a thread that is too far ahead waits with it, so that memory stays bounded.
//! Invariant: the bytes do not depend on the number of threads.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// A run of encoded blocks.
#[derive(Default)]
pub(super) struct Piece {
    /// Room for the blocks; the first `len` bytes are in use.
    pub(super) bytes: Vec<u8>,
    pub(super) len: usize,
    /// Where each block starts in `bytes`.
    pub(super) starts: Vec<usize>,
    /// Whether every stream is a run of zeros.
    pub(super) is_zeros: bool,
}

impl Piece {
    pub(super) fn clear(&mut self) {
        (self.len, self.is_zeros) = (0, true);
        self.starts.clear();
    }
}

/// Where the pieces go.
pub(super) struct Sink<'o> {
    state: Mutex<State<'o>>,
    moved: Condvar,
    waiting_max: usize,
}

struct State<'o> {
    /// The block starts, four bytes each.
    bstarts: &'o mut [u8],
    next_block: usize,
    data: &'o mut [u8],
    /// Bytes of the chunk before `data`.
    data_start: usize,
    len: usize,
    next_piece: usize,
    waiting: BTreeMap<usize, Piece>,
    spare: Vec<Piece>,
    is_full: bool,
    is_zeros: bool,
}

impl<'o> Sink<'o> {
    /// Takes the pieces of a chunk: `out` is all the room that it may use.
    pub(super) fn new(out: &'o mut [u8], bstarts: Range<usize>, data_start: usize, threads: usize) -> Self {
        let (front, data) = out.split_at_mut(data_start);
        let state = State {
            bstarts: &mut front[bstarts],
            next_block: 0,
            data,
            data_start,
            len: 0,
            next_piece: 0,
            waiting: BTreeMap::new(),
            spare: Vec::new(),
            is_full: false,
            is_zeros: true,
        };
        Self { state: Mutex::new(state), moved: Condvar::new(), waiting_max: 2 * threads }
    }

    fn lock(&self) -> MutexGuard<'_, State<'o>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A piece to fill; `None` if the chunk is full already and encoding on is useless.
    pub(super) fn empty_piece(&self) -> Option<Piece> {
        let mut state = self.lock();
        if state.is_full {
            return None;
        }
        let mut piece = state.spare.pop().unwrap_or_default();
        piece.clear();
        Some(piece)
    }

    /// Puts piece `number` in its place, now or as soon as all before it are there.
    pub(super) fn put(&self, number: usize, piece: Piece) {
        let mut state = self.lock();
        // Pieces are handed out in order, so another thread has piece `next_piece`, and that one does not wait.
        while number > state.next_piece && state.waiting.len() >= self.waiting_max && !state.is_full {
            state = self.moved.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.waiting.insert(number, piece);
        while let Some(piece) = state.take_next() {
            state.append(piece);
        }
        self.moved.notify_all();
    }

    /// Where the data ends in the chunk, and whether it is nothing but zero runs; `None` if it did not fit.
    pub(super) fn finish(self) -> Option<(usize, bool)> {
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        (!state.is_full).then_some((state.data_start + state.len, state.is_zeros))
    }
}

impl State<'_> {
    fn take_next(&mut self) -> Option<Piece> {
        let piece = self.waiting.remove(&self.next_piece)?;
        self.next_piece += 1;
        Some(piece)
    }

    fn append(&mut self, piece: Piece) {
        let Some(room) = self.data.get_mut(self.len..self.len + piece.len).filter(|_| !self.is_full) else {
            self.is_full = true;
            return;
        };
        room.copy_from_slice(&piece.bytes[..piece.len]);
        let base = self.data_start + self.len;
        let bstarts = &mut self.bstarts[4 * self.next_block..];
        for (bstart, start) in bstarts.chunks_exact_mut(4).zip(&piece.starts) {
            bstart.copy_from_slice(&u32::try_from(base + start).unwrap_or(u32::MAX).to_le_bytes());
        }
        self.next_block += piece.starts.len();
        self.len += piece.len;
        self.is_zeros &= piece.is_zeros;
        self.spare.push(piece);
    }
}
