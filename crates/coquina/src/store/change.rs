//! What a writer does to the chunks of an array: puts encoded ones, says where they belong, commits.

use std::path::PathBuf;
use std::sync::Arc;

use super::chunks::Chunks;
use super::statistics::Statistics;
use crate::base::error::{Error, Result};
use crate::chunk::Special;
use crate::frame::CommitId;

/// A chunk on its way to the store.
pub(crate) enum EncodedChunk {
    /// A value that needs no bytes.
    Special(Special),
    /// Stored bytes, and what is known of the items.
    Bytes(Vec<u8>, Option<Statistics>),
}

impl EncodedChunk {
    /// Puts it into the store.
    pub(crate) fn put(self, store: &mut dyn Store) -> Result<Entry> {
        match self {
            Self::Special(special) => Ok(Entry::Special(special)),
            Self::Bytes(bytes, statistics) => store.put(bytes, statistics),
        }
    }

    /// The same, with what is known of its items.
    pub(crate) fn with_statistics(self, statistics: Option<Statistics>) -> Self {
        match self {
            Self::Bytes(bytes, _) => Self::Bytes(bytes, statistics),
            special @ Self::Special(_) => special,
        }
    }
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
    /// The shape, if it changes.
    pub(crate) shape: Option<&'a [u64]>,
    /// From a new number to the old one, `None` for a chunk of zeros. Without it numbers stay.
    pub(crate) remap: Option<&'a (dyn Fn(u64) -> Option<u64> + Sync)>,
    /// What stands at which new number.
    pub(crate) entries: Vec<(u64, Entry)>,
    /// Fixed metadata to be overwritten, of the same length.
    pub(crate) metalayers: Vec<(String, Vec<u8>)>,
    /// Variable metadata to be set, or removed.
    pub(crate) layers: Vec<(String, Option<Vec<u8>>)>,
    /// Of chunks that stay but not as they are in the array: what is known of them then. By their new number.
    pub(crate) statistics: Vec<(u64, Option<Statistics>)>,
}

/// Takes chunks in.
pub(crate) trait Store: Send {
    /// The state with all that has been applied.
    fn chunks(&self) -> Arc<dyn Chunks>;

    /// Stores an encoded chunk, and what is known of its items; nobody sees it yet.
    fn put(&mut self, chunk: Vec<u8>, statistics: Option<Statistics>) -> Result<Entry>;

    /// Makes a new state for this handle.
    fn apply(&mut self, change: Change<'_>) -> Result<()>;

    /// Makes the applied changes the state that everybody sees, in one step.
    fn commit(&mut self, durable: bool) -> Result<()>;

    /// Goes back to the last commit.
    fn rollback(&mut self);

    /// What tells the last commit from all other states; `None` where there is nothing to tell it by.
    fn commit_id(&self) -> Option<CommitId> {
        None
    }

    /// Writes the applied changes, which are committed once the id of the state is written down elsewhere.
    fn prepare(&mut self, _durable: bool) -> Result<CommitId> {
        Err(Error::unsupported("only arrays in files of their own are committed together"))
    }

    /// What was prepared has been committed.
    fn finish(&mut self) {}

    /// It cannot be told whether what was prepared is committed: nothing more is written.
    fn abandon(&mut self) {}

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
