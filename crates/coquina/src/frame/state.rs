//! What a frame says about itself as of one commit: header, index, metadata, and what tells the state from others.

use std::sync::Arc;

use super::format::header::Header;
use super::format::layer::{Notes, Turn};
use super::format::slots::Slots;

/// Whether the chunks of a frame have sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SumState {
    /// Those that we wrote have.
    Fresh,
    /// The frame has none.
    Absent,
    /// A program that does not know them has changed the frame since; they are not used.
    Stale,
}

/// What tells a state of a frame from all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommitId {
    /// Where its record ends: the length of the frame.
    pub end: u64,
    /// Its fingerprint.
    pub sum: u64,
}

/// What a frame says about itself: all of its state but where the chunks are kept.
#[derive(Clone)]
pub(super) struct FrameState {
    pub(super) header: Header,
    pub(super) slots: Slots,
    /// Variable-length metalayers, packed; without ours.
    pub(super) vlmetalayers: Vec<(String, Arc<[u8]>)>,
    pub(super) sums: SumState,
    /// Whether new chunks get sums.
    pub(super) has_sums: bool,
    /// Whether what is known of the items of chunks is kept.
    pub(super) has_statistics: bool,
    /// Bytes that the index refers to, with tables of sums.
    pub(super) live_bytes: u64,
    /// Where the record is written in turns with another one: which turn it is.
    pub(super) turn: Option<Turn>,
    /// The sum over header, index and trailer.
    pub(super) tail_sum: u64,
    /// Whether the frame holds that sum: we were the last to change it.
    pub(super) has_fingerprint: bool,
}

impl FrameState {
    /// What the layer of ours says besides sums and statistics.
    pub(super) fn notes(&self) -> Notes {
        let &Self { has_sums, has_statistics, live_bytes, .. } = self;
        Notes { has_sums, has_statistics, live_bytes, turn: None }
    }

    /// The state after this one has been written with this header.
    pub(super) fn committed(&self, header: Header, tail_sum: u64) -> Self {
        let sums = if self.has_sums { SumState::Fresh } else { SumState::Absent };
        Self { header, tail_sum, sums, has_fingerprint: true, turn: None, ..self.clone() }
    }
}
