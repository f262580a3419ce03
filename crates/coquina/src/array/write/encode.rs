//! Encodes the chunks of a change by the policy of their array.

use crate::array::geometry::Grid;
use crate::array::read::Source;
use crate::base::error::Result;
use crate::base::pool::Job;
use crate::base::sequencer::Ticket;
use crate::policy::{ChunkBlocks, EncodePolicy, KnownItems, NewChunk};
use crate::store::{ChunkFormat, EncodedChunk, Statistics};

/// What encodes the chunks of a change.
#[derive(Clone, Copy)]
pub(crate) struct ChunkEncoder<'w> {
    /// What there was before.
    pub(crate) old: &'w Source<'w>,
    /// The grid to come: that of `old`, or one with another shape.
    pub(crate) grid: &'w Grid,
    pub(crate) format: &'w dyn ChunkFormat,
    pub(crate) policy: &'w dyn EncodePolicy,
}

/// What becomes of a chunk.
#[derive(Clone, Copy)]
pub(super) struct Edit {
    /// Its number in the grid to come.
    pub(super) number: u64,
    /// Whether every item is overwritten.
    pub(super) is_covered: bool,
    /// Whether all items that it held are still in it.
    pub(super) keeps_items: bool,
    /// Whether it may become one item over and over.
    pub(super) may_repeat: bool,
}

impl ChunkEncoder<'_> {
    /// Encodes a chunk of these blocks, one of several of which each has its ticket.
    pub(super) fn encode(
        &self,
        edit: Edit,
        blocks: &dyn ChunkBlocks,
        ticket: &Ticket<'_>,
        job: &Job<'_>,
    ) -> Result<EncodedChunk> {
        let inside = self.grid.inside(edit.number);
        let before = || self.known_before(edit);
        let chunk = NewChunk {
            blocks,
            shape: self.grid.chunk_shape(&inside),
            is_covered: edit.is_covered,
            may_repeat: edit.may_repeat,
            format: self.format,
            fill: self.old.chunks.fill(),
            known: self.old.statistics.map(|ty| KnownItems { ty, before: &before }),
        };
        self.policy.encode(&chunk, ticket, job)
    }

    /// Whether a chunk of one item over and over needs no blocks.
    pub(super) fn can_repeat(&self) -> bool {
        self.format.is_blosc() && self.policy.keeps_repeated_items()
    }

    /// A chunk that is this item over and over, without blocks.
    pub(super) fn repeated(&self, item: &[u8]) -> Result<EncodedChunk> {
        let known = self.old.statistics.and_then(|ty| Statistics::of_item(ty, item));
        Ok(self.format.repeated(item, self.grid.chunk_bytes())?.with_statistics(known))
    }

    /// What is known of the items of a chunk that stay.
    fn known_before(&self, edit: Edit) -> Option<Statistics> {
        let number = self.grid.number_in(self.old.grid, edit.number)?;
        let before = self.old.chunks.statistics(number)?;
        Some(Statistics { is_exact: before.is_exact && edit.keeps_items, ..before })
    }
}
