//! What a commit writes besides chunks: the header in front, and index, copy of the header and trailer behind.
//!
//! Source: `docs/formats/frame.md`, "Whole layout", "Recovery".

use std::sync::Arc;

use crate::base::error::Result;
use crate::frame::format::fingerprint::{self, Fingerprint};
use crate::frame::format::header::{Counts, Header};
use crate::frame::format::layer::{self, Notes};
use crate::frame::format::offsets::encode_index;
use crate::frame::format::slots::Slots;
use crate::frame::format::spec::{Kind, METALAYERS_MAX};
use crate::frame::format::trailer;
use crate::frame::load::{header_copy, header_copy_len};
use crate::frame::state::FrameState;

/// What there is to write down.
pub(crate) struct Parts<'a> {
    pub(crate) header: &'a Header,
    pub(crate) slots: &'a Slots,
    pub(crate) vlmetalayers: &'a [(String, Arc<[u8]>)],
    pub(crate) notes: Notes,
}

/// The bytes of a commit.
pub(crate) struct Record {
    pub(crate) header: Header,
    /// All that stands behind the chunks.
    pub(crate) tail: Vec<u8>,
    pub(crate) tail_sum: u64,
}

impl<'a> Parts<'a> {
    pub(crate) fn of(state: &'a FrameState) -> Self {
        let FrameState { header, slots, vlmetalayers, .. } = state;
        Self { header, slots, vlmetalayers, notes: state.notes() }
    }

    /// The record of a frame with so many bytes of chunks. Its length does not depend on the sums.
    pub(crate) fn record(&self, cbytes: u64) -> Result<Record> {
        // Without chunks C-Blosc2 looks for the trailer directly behind the header: no index, no copy.
        self.record_with(cbytes, self.slots.len() > 0)
    }

    /// The same with a copy of the header in any case: the state is found by where its record ends.
    pub(crate) fn findable_record(&self, cbytes: u64) -> Result<Record> {
        self.record_with(cbytes, true)
    }

    fn record_with(&self, cbytes: u64, has_copy: bool) -> Result<Record> {
        let own = layer::pack_notes(&self.notes, self.slots, self.header.typesize)?;
        let vlmetalayers = self.vlmetalayers.iter().map(|(name, packed)| (name.as_str(), &**packed));
        // C-Blosc2 refuses more layers: then a frame goes without ours.
        let own = (self.vlmetalayers.len() < METALAYERS_MAX).then_some((layer::NAME, own.as_slice()));
        let has_vlmetalayers = own.is_some() || !self.vlmetalayers.is_empty();
        let body = trailer::body(vlmetalayers.chain(own))?;
        let mut header = self.header.clone();
        let mut tail = if self.slots.len() > 0 { encode_index(self.slots)? } else { Vec::new() };
        let copy_len = if has_copy { header_copy_len(header.len()) } else { 0 };
        let chunks = if header.kind == Kind::Contiguous { cbytes } else { 0 };
        let behind = tail.len() as u64 + copy_len + (body.len() + fingerprint::FINGERPRINT_BYTES) as u64;
        let frame_len = header.len() + chunks + behind;
        header.set_counts(Counts { frame_len, cbytes, has_vlmetalayers, ..header.counts });
        if copy_len > 0 {
            tail.extend(header_copy(header.raw()));
        }
        let tail_sum = fingerprint::sum(&[header.raw(), &tail, &body]);
        tail.extend(body);
        tail.extend(Fingerprint::Bytes(tail_sum).field());
        Ok(Record { header, tail, tail_sum })
    }
}
