//! Filters: turn the bytes of one block into as many bytes that compress better, and back.
//!
//! A [`Filter`] is a row of [`FILTERS`]. The six slots of a chunk's pipeline are a [`Pipeline`].
//!
//! Source: `docs/formats/filters.md`.

mod bitshuffle;
mod buffers;
mod bytedelta;
mod cells;
mod delta;
mod pipeline;
mod shuffle;
mod truncate;

pub(crate) use buffers::{Buffer, Buffers};
pub(crate) use pipeline::Steps;
pub use pipeline::{Pipeline, SLOTS, Slot};

use crate::base::error::{Error, Result};
use crate::base::layout::BlockLayout;
use crate::base::plugins::{Finder, Plugins, Wanted};

/// Every filter there is. Adding one is a file in this folder and a row here.
pub static FILTERS: &[&dyn Filter] = &[
    &shuffle::Shuffle,
    &bitshuffle::Bitshuffle,
    &delta::Delta,
    &truncate::TruncPrec,
    &cells::NdCell,
    &cells::NdMean,
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
    /// What is known of the array that the chunk is of.
    pub layout: &'a BlockLayout,
}

/// A reversible, or at least length-keeping, change of a block's bytes.
pub trait Filter: Sync {
    /// The name that users write, such as `bitshuffle`.
    fn name(&self) -> &'static str;

    /// The id in a chunk header.
    fn id(&self) -> u8;

    /// Checks that blocks of elements of `typesize` bytes, of such an array, can be filtered with this parameter byte.
    ///
    /// # Errors
    /// `Invalid` if not; a reader makes it `Corrupt`.
    fn check(&self, meta: u8, typesize: usize, layout: &BlockLayout) -> Result<()> {
        let _ = (meta, typesize, layout);
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
    ///
    /// # Errors
    /// What keeps the filter from it; those that only move bytes have none.
    fn encode(&self, stage: &Stage<'_>, block: &[u8], out: &mut [u8]) -> Result<()>;

    /// Fills `out`, as long as `block`, with the original bytes.
    ///
    /// # Errors
    /// As [`Filter::encode`]; `Corrupt` for bytes that it cannot have written.
    fn decode(&self, stage: &Stage<'_>, block: &[u8], out: &mut [u8]) -> Result<()>;

    /// Whether decoding changes nothing, so that the step can be left out.
    fn decodes_to_itself(&self) -> bool {
        false
    }

    /// Whether encoding loses information.
    fn is_lossy(&self) -> bool {
        false
    }

    /// Whether it works along the axes of an array, so that only chunks of arrays can have it.
    fn needs_layout(&self) -> bool {
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

/// Filters from outside.
static PLUGINS: Plugins<dyn Filter> = Plugins::new();

/// Adds a filter from outside, for as long as the program runs. Of several with one id the latest serves what is opened
/// afterwards.
///
/// # Errors
/// `Invalid` for an id or a name that a filter of the engine has, or an id that no plugin may have.
pub fn register(filter: Box<dyn Filter>) -> Result<()> {
    let (id, name) = (filter.id(), filter.name());
    if find(|known| known.id() == id || known.name() == name).is_some() {
        return Err(Error::invalid(format!("filter {id} ({name}): is one of the engine's own")));
    }
    if id < PLUGIN_ID_MIN {
        return Err(Error::invalid(format!(
            "filter {id} ({name}): plugins have ids from {PLUGIN_ID_MIN} on"
        )));
    }
    PLUGINS.add(filter);
    Ok(())
}

/// Says who looks for filters that are not there. The first to say so stays.
pub fn set_finder(finder: Finder) {
    PLUGINS.set_finder(finder);
}

/// The filters from outside that serve now.
pub fn plugins() -> Vec<&'static dyn Filter> {
    PLUGINS.all(|filter| filter.id())
}

/// The lowest id of a filter from outside. Users have those from 160 on; those below are given out by Blosc2.
const PLUGIN_ID_MIN: u8 = 32;

/// The filter of that name. One that is not known is looked for.
///
/// # Errors
/// `Invalid` if there is none.
pub fn by_name(name: &str) -> Result<&'static dyn Filter> {
    if let Some(filter) = find(|filter| filter.name() == name) {
        return Ok(filter);
    }
    PLUGINS.get(Wanted::Name(name), |filter| filter.name() == name)?.ok_or_else(|| {
        let all = FILTERS.iter().copied().chain(plugins());
        let names: Vec<_> = all.filter(|f| f.is_writable()).map(|f| f.name()).collect();
        Error::invalid(format!("filter {name:?}: takes nofilter, {}", names.join(", ")))
    })
}

/// The filter of that id. One that is not known is looked for.
///
/// # Errors
/// `Unsupported` if there is none.
pub fn by_id(id: u8) -> Result<&'static dyn Filter> {
    if let Some(filter) = find(|filter| filter.id() == id) {
        return Ok(filter);
    }
    PLUGINS.get(Wanted::Id(id), |filter| filter.id() == id)?.ok_or_else(|| {
        Error::unsupported(format!(
            "filter {id} is not known here: it needs a plugin that has it, or register_filter({id}, ...)"
        ))
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
