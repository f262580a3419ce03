//! Filters: turn the bytes of one block into as many bytes that compress better, and back.
//!
//! A [`Filter`] is a row of [`FILTERS`]. The six slots of a chunk's pipeline are a [`Pipeline`].
//!
//! Source: `docs/formats/filters.md`.

mod bitshuffle;
mod buffers;
mod bytedelta;
mod delta;
mod pipeline;
mod shuffle;
mod truncate;

pub(crate) use buffers::{Buffer, Buffers};
pub(crate) use pipeline::Steps;
pub use pipeline::{Pipeline, SLOTS, Slot};

use crate::base::error::{Error, Result};

/// Every filter there is. Adding one is a file in this folder and a row here.
pub static FILTERS: &[&dyn Filter] = &[
    &shuffle::Shuffle,
    &bitshuffle::Bitshuffle,
    &delta::Delta,
    &truncate::TruncPrec,
    &bytedelta::OldBytedelta,
    &bytedelta::Bytedelta,
    &truncate::IntTrunc,
];

/// The ids that the choice of block size, split and search asks for.
pub(crate) const SHUFFLE: u8 = 1;
pub(crate) const BITSHUFFLE: u8 = 2;
pub(crate) const DELTA: u8 = 3;
pub(crate) const BYTEDELTA: u8 = 35;

/// What a filter knows about the block in hand.
#[derive(Clone, Copy, Debug)]
pub struct Stage<'a> {
    /// The typesize of the chunk header.
    pub typesize: usize,
    /// The parameter byte of the slot.
    pub meta: u8,
    /// The version of the chunk format.
    pub version: u8,
    /// The decoded block 0 of the chunk, for delta; `None` for block 0 itself.
    pub reference: Option<&'a [u8]>,
}

/// A reversible, or at least length-keeping, change of a block's bytes.
pub trait Filter: Sync {
    /// The name that users write, such as `bitshuffle`.
    fn name(&self) -> &'static str;

    /// The id in a chunk header.
    fn id(&self) -> u8;

    /// Checks that a block of elements of `typesize` bytes can be filtered with this parameter byte.
    ///
    /// # Errors
    /// `Invalid` if not; a reader makes it `Corrupt`.
    fn check(&self, meta: u8, typesize: usize) -> Result<()> {
        let _ = (meta, typesize);
        Ok(())
    }

    /// The parameter byte to write where the user gives none.
    fn default_meta(&self, typesize: usize) -> u8 {
        let _ = typesize;
        0
    }

    /// Whether it makes byte planes of the items, so that the first items can be had from the fronts of these alone.
    fn decodes_fronts(&self, _meta: u8, _typesize: usize) -> bool {
        false
    }

    /// Fills `out`, as long as `block`, with the filtered bytes.
    fn encode(&self, stage: &Stage<'_>, block: &[u8], out: &mut [u8]);

    /// Fills `out`, as long as `block`, with the original bytes.
    fn decode(&self, stage: &Stage<'_>, block: &[u8], out: &mut [u8]);

    /// Whether decoding changes nothing, so that the step can be left out.
    fn decodes_to_itself(&self) -> bool {
        false
    }

    /// Whether encoding loses information.
    fn is_lossy(&self) -> bool {
        false
    }

    /// Whether the filter needs the decoded block 0 to work on any other block.
    fn needs_reference(&self) -> bool {
        false
    }

    /// Whether new chunks may be written with it; all can be read.
    fn is_writable(&self) -> bool {
        true
    }
}

/// The filter of that name.
///
/// # Errors
/// `Invalid` if there is none.
pub fn by_name(name: &str) -> Result<&'static dyn Filter> {
    find(|filter| filter.name() == name).ok_or_else(|| {
        let names: Vec<_> = FILTERS.iter().filter(|f| f.is_writable()).map(|f| f.name()).collect();
        Error::invalid(format!("filter {name:?}: takes nofilter, {}", names.join(", ")))
    })
}

/// The filter of that id.
///
/// # Errors
/// `Unsupported` if there is none.
pub fn by_id(id: u8) -> Result<&'static dyn Filter> {
    find(|filter| filter.id() == id).ok_or_else(|| match id {
        32 => Error::unsupported("filter 32 (ndcell) needs the block shape of an array"),
        33 => Error::unsupported("filter 33 (ndmean) needs the block shape of an array"),
        _ => Error::unsupported(format!("filter {id} is unknown")),
    })
}

fn find(wanted: impl Fn(&dyn Filter) -> bool) -> Option<&'static dyn Filter> {
    FILTERS.iter().copied().find(|filter| wanted(*filter))
}

/// The width that a filter works with: its parameter byte, or where that is 0 the typesize.
fn width(stage: &Stage<'_>) -> usize {
    if stage.meta == 0 { stage.typesize } else { usize::from(stage.meta) }
}

#[cfg(test)]
mod tests;
