//! What a chunk held before it is made anew: as a source of blocks, of which only what is inside the shape counts.

use crate::array::geometry::Grid;
use crate::array::read::{Content, Source};
use crate::base::error::Result;
use crate::chunk::{Header, Params};

/// What a chunk held.
pub(super) enum OldChunk<'w> {
    /// Nothing that counts: this item over and over, or zeros.
    Nothing(Option<&'w [u8]>),
    /// One item over and over, or blocks; of a grid that may be smaller than the one to come.
    Content {
        /// The array as it was.
        old: &'w Source<'w>,
        content: Content,
        /// How many items count, along each axis.
        inside: Vec<u64>,
    },
}

impl<'w> OldChunk<'w> {
    /// What chunk `number` of a grid held.
    pub(super) fn of(old: &'w Source<'w>, grid: &Grid, number: u64) -> Result<Self> {
        let Some(number) = grid.number_in(old.grid, number) else {
            return Ok(Self::nothing(old));
        };
        // What stands behind the edge of the old shape may be left from a larger one.
        let inside = if old.grid == grid { grid.chunks().to_vec() } else { old.grid.inside(number) };
        Ok(Self::Content { old, content: old.content(number)?, inside })
    }

    /// That of a chunk of which nothing counts.
    pub(super) fn nothing(old: &'w Source<'w>) -> Self {
        Self::Nothing(old.chunks.fill())
    }

    /// Fills `out` with block `number`; returns whether anything had to be cleared.
    pub(super) fn block(&self, number: usize, out: &mut [u8]) -> Result<bool> {
        match self {
            Self::Nothing(item) => {
                fill(out, *item);
                Ok(false)
            }
            Self::Content { old, content, inside } => {
                match content {
                    Content::Item(item) => fill(out, Some(item)),
                    Content::Blocks(_, chunk) => old.decode(&**chunk, number, out)?,
                }
                Ok(clear_outside(old, inside, number, out))
            }
        }
    }

    /// The stored bytes of block `number`, if it can stay as it is.
    pub(super) fn stored(&self, number: usize, params: &Params) -> Result<Option<Vec<u8>>> {
        match self {
            Self::Content { content: Content::Blocks(_, chunk), .. } if !self.has_outside(number) => {
                chunk.reuse_encoded(number, params)
            }
            _ => Ok(None),
        }
    }

    /// The header of the Blosc chunk that stood there, if one did.
    pub(super) fn header(&self) -> Option<Header> {
        match self {
            Self::Content { content: Content::Blocks(_, chunk), .. } => chunk.header(),
            _ => None,
        }
    }

    /// Whether a part of block `number` does not count.
    pub(super) fn has_outside(&self, number: usize) -> bool {
        match self {
            Self::Nothing(_) => false,
            Self::Content { old, inside, .. } => !old.grid.chunk_shape(inside).is_inside(number),
        }
    }
}

/// Makes `out` this item over and over, or zeros.
fn fill(out: &mut [u8], item: Option<&[u8]>) {
    match item {
        None | Some([]) => out.fill(0),
        Some(item) => out.chunks_exact_mut(item.len()).for_each(|out| out.copy_from_slice(item)),
    }
}

/// Clears what was never written, in a block of a chunk of which only `inside` items along each axis count; whether
/// anything else was there.
fn clear_outside(old: &Source<'_>, inside: &[u64], number: usize, block: &mut [u8]) -> bool {
    let shape = old.grid.chunk_shape(inside);
    if shape.is_inside(number) {
        return false;
    }
    let before = block.to_vec();
    fill(block, old.chunks.fill());
    shape.copy_in_place(number, &before, block);
    before != block
}
