//! Puts encoded runs of blocks into a chunk, one after another: block starts in front, blocks behind.
//!
//! Source: `docs/formats/chunk.md`, "Ordinary chunks". Writers leave no gaps between blocks.

use std::ops::Range;

use crate::base::error::Result;
use crate::base::ordered::Take;

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
    /// Makes room for `more` bytes behind those in use.
    pub(super) fn make_room(&mut self, more: usize) {
        let room = self.len + more;
        if self.bytes.len() < room {
            self.bytes.resize(room.next_power_of_two(), 0);
        }
    }

    /// Adds a block that has been encoded before.
    pub(super) fn push_stored(&mut self, block: &[u8]) {
        self.make_room(block.len());
        self.bytes[self.len..][..block.len()].copy_from_slice(block);
        self.len += block.len();
        // A stream of zeros is a length of zero and nothing else.
        self.is_zeros &= block.iter().all(|&byte| byte == 0);
    }
}

/// A chunk that is being put together.
pub(super) struct Sink<'o> {
    /// The block starts, four bytes each.
    bstarts: &'o mut [u8],
    next_block: usize,
    /// The room that is left for blocks.
    data: &'o mut [u8],
    /// Bytes of the chunk before `data`.
    data_start: usize,
    len: usize,
    spare: Vec<Piece>,
    is_full: bool,
    is_zeros: bool,
}

impl<'o> Sink<'o> {
    /// `out` is all the room that the chunk may use; blocks go behind `data_start`.
    pub(super) fn new(out: &'o mut [u8], bstarts: Range<usize>, data_start: usize) -> Self {
        let (front, data) = out.split_at_mut(data_start);
        let bstarts = &mut front[bstarts];
        let (spare, is_full, is_zeros) = (Vec::new(), false, true);
        Self { bstarts, next_block: 0, data, data_start, len: 0, spare, is_full, is_zeros }
    }

    /// A piece to fill; `None` if the chunk is full already and encoding on is useless.
    pub(super) fn empty_piece(&mut self) -> Option<Piece> {
        if self.is_full {
            return None;
        }
        let mut piece = self.spare.pop().unwrap_or_default();
        (piece.len, piece.is_zeros) = (0, true);
        piece.starts.clear();
        Some(piece)
    }

    /// Takes back a piece that has been copied.
    pub(super) fn recycle(&mut self, piece: Piece) {
        self.spare.push(piece);
    }

    /// Where the data ends in the chunk, and whether it is nothing but zero runs; `None` if it did not fit.
    pub(super) fn finish(self) -> Option<(usize, bool)> {
        (!self.is_full).then_some((self.data_start + self.len, self.is_zeros))
    }
}

/// A piece and its place in the chunk, to be copied there.
pub(super) struct Placed<'o> {
    pub(super) piece: Piece,
    room: &'o mut [u8],
}

impl Placed<'_> {
    /// Copies the piece to its place, and gives it back to be filled again.
    pub(super) fn copy(self) -> Piece {
        self.room.copy_from_slice(&self.piece.bytes[..self.piece.len]);
        self.piece
    }
}

impl<'o> Take<Option<Piece>> for Sink<'o> {
    type Rest = Option<Placed<'o>>;

    fn take(&mut self, piece: Option<Piece>) -> Result<Self::Rest> {
        let Some(piece) = piece.filter(|_| !self.is_full) else { return Ok(None) };
        let Some((room, data)) = std::mem::take(&mut self.data).split_at_mut_checked(piece.len) else {
            self.is_full = true;
            return Ok(None);
        };
        self.data = data;
        let base = self.data_start + self.len;
        let bstarts = &mut self.bstarts[4 * self.next_block..];
        for (bstart, start) in bstarts.chunks_exact_mut(4).zip(&piece.starts) {
            bstart.copy_from_slice(&u32::try_from(base + start).unwrap_or(u32::MAX).to_le_bytes());
        }
        self.next_block += piece.starts.len();
        self.len += piece.len;
        self.is_zeros &= piece.is_zeros;
        Ok(Some(Placed { piece, room }))
    }
}
