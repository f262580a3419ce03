//! The six slots of a chunk: filters in the order of encoding, and how they run over a block.
//!
//! In: a block. Out: as many bytes. Two scratch buffers of a block's size are all the memory it takes.
//! Source: `docs/formats/filters.md`, "The pipeline".
//! Invariant: decoding what was encoded gives the block back, but for the bits that a lossy filter dropped.

use super::{Buffers, Filter, Stage, by_id};
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::layout::BlockLayout;

/// How many filters a pipeline can hold.
pub const SLOTS: usize = 6;

/// One slot of a pipeline: a filter id and its parameter byte. Id 0 is an empty slot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Slot {
    /// The filter's id, 0 for none.
    pub id: u8,
    /// The filter's parameter byte.
    pub meta: u8,
}

/// The filters of a chunk, in the order of encoding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pipeline {
    /// The slots; empty ones may stand anywhere.
    pub slots: [Slot; SLOTS],
}

/// The filters of a pipeline, looked up and checked.
pub(crate) struct Steps {
    steps: Vec<(&'static dyn Filter, u8)>,
    typesize: usize,
    version: u8,
    layout: BlockLayout,
}

impl Pipeline {
    /// A pipeline of these slots.
    ///
    /// # Errors
    /// `Invalid` for more than six.
    pub fn new(slots: &[Slot]) -> Result<Self> {
        let mut pipeline = Self::default();
        let Some(places) = pipeline.slots.get_mut(..slots.len()) else {
            return Err(Error::invalid(format!("filters: {} given, a pipeline holds {SLOTS}", slots.len())));
        };
        places.copy_from_slice(slots);
        Ok(pipeline)
    }

    /// A pipeline with one filter in the last slot, where C-Blosc2 puts its default.
    pub(crate) fn last(id: u8) -> Self {
        let mut pipeline = Self::default();
        pipeline.slots[SLOTS - 1] = Slot { id, meta: 0 };
        pipeline
    }

    /// Whether a filter is in any slot.
    pub(crate) fn has(&self, id: u8) -> bool {
        self.slots.iter().any(|slot| slot.id == id)
    }

    /// The first filter that moves or changes bytes in a way that decoding must undo.
    pub(crate) fn first_undone(&self) -> Option<&'static dyn Filter> {
        let mut filters = self.filled().filter_map(|slot| by_id(slot.id).ok());
        filters.find(|filter| !filter.decodes_to_itself())
    }

    /// Whether what is decoded may not be what was encoded.
    pub(crate) fn is_lossy(&self) -> bool {
        self.filled().any(|slot| by_id(slot.id).is_ok_and(|filter| filter.is_lossy()))
    }

    /// The slots with a filter. To ask for one of id 0 would make all that offer plugins look for it, each time.
    fn filled(&self) -> impl Iterator<Item = &Slot> {
        self.slots.iter().filter(|slot| slot.id != 0)
    }

    /// Looks the filters up for reading a chunk.
    pub(crate) fn for_decoding(&self, typesize: usize, version: u8, layout: &BlockLayout) -> Result<Steps> {
        self.steps(typesize, version, layout).map_err(|e| match e.kind() {
            ErrorKind::Invalid => Error::corrupt(e.to_string()),
            _ => e,
        })
    }

    /// Looks the filters up for writing a chunk.
    pub(crate) fn for_encoding(&self, typesize: usize, version: u8, layout: &BlockLayout) -> Result<Steps> {
        let steps = self.steps(typesize, version, layout)?;
        if let Some((filter, _)) = steps.steps.iter().find(|(filter, _)| !filter.is_writable()) {
            return Err(Error::unsupported(format!("{}: can be read, not written", filter.name())));
        }
        if steps.steps.iter().filter(|(filter, _)| filter.needs_reference()).count() > 1 {
            return Err(Error::invalid("filters: delta can stand in a pipeline once"));
        }
        if let Some((filter, _)) = steps.steps.iter().find(|(filter, _)| filter.needs_layout())
            && layout.shape().is_empty()
        {
            let name = filter.name();
            return Err(Error::invalid(format!(
                "{name}: needs the axes of an array; only chunks of arrays take it"
            )));
        }
        Ok(steps)
    }

    fn steps(&self, typesize: usize, version: u8, layout: &BlockLayout) -> Result<Steps> {
        let mut steps = Vec::new();
        for slot in self.filled() {
            let filter = by_id(slot.id)?;
            filter.check(slot.meta, typesize, layout)?;
            steps.push((filter, slot.meta));
        }
        Ok(Steps { steps, typesize, version, layout: *layout })
    }
}

impl Steps {
    pub(crate) fn is_lossy(&self) -> bool {
        self.steps.iter().any(|(filter, _)| filter.is_lossy())
    }

    pub(crate) fn need_reference(&self) -> bool {
        self.steps.iter().any(|(filter, _)| filter.needs_reference())
    }

    /// Whether decoding changes nothing, so that a block can be decoded straight to where it is wanted.
    pub(crate) fn decode_to_themselves(&self) -> bool {
        self.steps.iter().all(|(filter, _)| filter.decodes_to_itself())
    }

    /// Whether blocks are byte planes, and their first items can be had from the fronts of these alone.
    pub(crate) fn decode_fronts(&self) -> bool {
        // Items that are shuffled twice, or that are cut into streams and not shuffled, are not in these fronts.
        let reordered = self.steps.iter().filter(|(filter, _)| !filter.decodes_to_itself()).count();
        reordered == 1 && self.steps.iter().all(|(filter, meta)| filter.decodes_fronts(*meta, self.typesize))
    }

    fn stage<'a>(&'a self, meta: u8, reference: Option<&'a [u8]>) -> Stage<'a> {
        Stage { typesize: self.typesize, meta, version: self.version, reference, layout: &self.layout }
    }

    /// Filters `block`; the result lies in one of the buffers, or is `block` itself where there is no filter.
    pub(crate) fn encode<'b>(
        &self,
        block: &'b [u8],
        reference: Option<&[u8]>,
        buffers: &'b mut Buffers,
    ) -> Result<&'b [u8]> {
        let Some(((filter, meta), rest)) = self.steps.split_first() else { return Ok(block) };
        let bytes = block.len();
        buffers.fit(bytes);
        let (mut now, mut next) = (&mut buffers.first[..bytes], &mut buffers.second[..bytes]);
        filter.encode(&self.stage(*meta, reference), block, now)?;
        for (filter, meta) in rest {
            filter.encode(&self.stage(*meta, reference), now, next)?;
            std::mem::swap(&mut now, &mut next);
        }
        Ok(now)
    }

    /// Undoes the filters on the block that lies in the first buffer, and writes it to `out`.
    pub(crate) fn decode(
        &self,
        reference: Option<&[u8]>,
        buffers: &mut Buffers,
        out: &mut [u8],
    ) -> Result<()> {
        let bytes = out.len();
        buffers.fit(bytes);
        let (mut now, mut next) = (&mut buffers.first[..bytes], &mut buffers.second[..bytes]);
        let moving = |(filter, _): &&(&'static dyn Filter, u8)| !filter.decodes_to_itself();
        let mut left = self.steps.iter().filter(moving).count();
        if left == 0 {
            out.copy_from_slice(now);
        }
        for (filter, meta) in self.steps.iter().rev().filter(moving) {
            left -= 1;
            let stage = self.stage(*meta, reference);
            if left == 0 {
                filter.decode(&stage, now, out)?;
            } else {
                filter.decode(&stage, now, next)?;
                std::mem::swap(&mut now, &mut next);
            }
        }
        Ok(())
    }
}
