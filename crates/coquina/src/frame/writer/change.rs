//! What a writer wants to be different.

use std::num::NonZeroU64;

use crate::chunk::Special;
use crate::frame::format::statistics::Statistics;

/// A chunk that has been put into a frame: where it is, and its sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Put {
    /// What the index says: bytes behind the header, or the number in the file's name.
    pub(crate) key: u64,
    pub(crate) sum: Option<NonZeroU64>,
}

/// What the index is to say about a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// All zeros, NaNs or nothing in particular; nothing is stored. Not [`Special::Value`].
    Special(Special),
    /// Stored bytes.
    Stored(Put),
}

/// Gives for a new chunk number the old one whose chunk it takes over; `None` for a chunk of zeros.
pub type Remap<'a> = &'a (dyn Fn(u64) -> Option<u64> + Sync);

/// All that is to be different after a commit.
#[derive(Clone, Default)]
pub struct Change<'a> {
    /// How many chunks there are then.
    pub nchunks: u64,
    /// How many bytes they decode to.
    pub nbytes: u64,
    /// What all chunks become before anything else, if they do.
    pub fill: Option<Special>,
    /// Which chunks go where; without it they stay where they are, and new ones are zeros.
    pub remap: Option<Remap<'a>>,
    /// Chunks that are new or other ones, by their new number. They win over `remap`.
    pub entries: Vec<(u64, Entry)>,
    /// Metalayers with new content, as long as the old one.
    pub metalayers: Vec<(String, Vec<u8>)>,
    /// Variable-length metalayers to set, or to delete where there is no content.
    pub vlmetalayers: Vec<(String, Option<Vec<u8>>)>,
    /// What is known of the items of chunks, by their new number; of all others that stay it is what it was. `None`
    /// if nothing is said of it: then all of it is forgotten unless each chunk that stays is where it was.
    pub statistics: Option<Vec<(u64, Option<Statistics>)>>,
}
