//! Where the chunks of an array live: in memory, or in a frame.
//!
//! A reader holds [`Chunks`], the state as of one moment, and is not disturbed by a writer. A writer puts encoded
//! chunks into the [`Store`], then applies a [`Change`] that says where they belong, then commits.

mod frame;
mod memory;

use std::path::PathBuf;
use std::sync::Arc;

use crate::base::error::Result;
use crate::chunk::Special;
pub use crate::frame::{Stored, SumState};

pub(crate) use frame::FrameStore;
pub(crate) use memory::MemoryStore;

/// The chunks and metadata of an array as of one moment.
pub trait Chunks: Send + Sync {
    /// How many chunks.
    fn nchunks(&self) -> u64;

    /// Where chunk `number` is to be had.
    ///
    /// # Errors
    /// `OutOfBounds` for a number that does not exist, `Corrupt` for a place that cannot be.
    fn chunk(&self, number: u64) -> Result<Stored>;

    /// Whether all chunks are known to come from our encoder, though they have no sums to tell.
    fn are_ours(&self) -> bool;

    /// The fixed metadata: name and content.
    fn metalayers(&self) -> Vec<(String, Vec<u8>)>;

    /// The content of a piece of variable metadata.
    ///
    /// # Errors
    /// `Corrupt` where it does not decode.
    fn layer(&self, name: &str) -> Result<Option<Vec<u8>>>;

    /// The names of the variable metadata.
    fn layer_names(&self) -> Vec<String>;

    /// What the chunks take.
    fn sizes(&self) -> Sizes;
}

/// What the chunks of an array take.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    /// Bytes of the chunks as stored.
    pub cbytes: u64,
    /// Bytes that nothing refers to any more.
    pub dead_bytes: u64,
    /// How many chunks are one value and store nothing.
    pub special_chunks: u64,
    /// Whether the chunks have sums.
    pub sums: SumState,
}

/// What is to stand at a chunk's number.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Entry {
    /// A value that needs no bytes.
    Special(Special),
    /// What was put as so many-eth since the last commit or rollback.
    New(usize),
}

/// A new state, made of an old one.
#[derive(Default)]
pub(crate) struct Change<'a> {
    /// How many chunks there are then; `None` for as many as before.
    pub(crate) nchunks: Option<u64>,
    /// What all chunks become before anything else, if they do.
    pub(crate) fill: Option<Special>,
    /// From a new number to the old one, `None` for a chunk of zeros. Without it numbers stay.
    pub(crate) remap: Option<&'a (dyn Fn(u64) -> Option<u64> + Sync)>,
    /// What stands at which new number.
    pub(crate) entries: Vec<(u64, Entry)>,
    /// Fixed metadata to be overwritten, of the same length.
    pub(crate) metalayers: Vec<(String, Vec<u8>)>,
    /// Variable metadata to be set, or removed.
    pub(crate) layers: Vec<(String, Option<Vec<u8>>)>,
}

/// Takes chunks in.
pub(crate) trait Store: Send {
    /// The state with all that has been applied.
    fn chunks(&self) -> Arc<dyn Chunks>;

    /// Stores an encoded chunk; nobody sees it yet.
    fn put(&mut self, chunk: Vec<u8>) -> Result<Entry>;

    /// Makes a new state for this handle.
    fn apply(&mut self, change: Change<'_>) -> Result<()>;

    /// Makes the applied changes the state that everybody sees, in one step.
    fn commit(&mut self, durable: bool) -> Result<()>;

    /// Goes back to the last commit.
    fn rollback(&mut self);

    /// Gives a created file its name.
    fn publish(&mut self) -> Result<()>;

    /// Gives back the space of what nothing refers to.
    fn compact(&mut self) -> Result<()>;

    /// Goes to the newest commit of another writer; whether there was one.
    fn refresh(&mut self) -> Result<bool>;

    /// Whether chunks can be put.
    fn is_writable(&self) -> bool;

    /// The file or directory, if it is one.
    fn path(&self) -> Option<PathBuf>;

    /// Lets go of the file.
    fn close(&mut self) -> Result<()>;
}
