//! Where the chunks of an array live: in memory, in a frame, or in a dataset of an HDF5 file.
//!
//! A reader holds [`Chunks`], the state as of one moment, and is not disturbed by a writer. A writer puts encoded
//! chunks into the [`Store`], then applies a [`Change`] that says where they belong, then commits.

mod frame;
pub mod hdf5;
mod memory;

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use coquina_kernels::Type;

use crate::base::error::{Error, Result};
use crate::base::io::ReadAt;
use crate::base::limits::Limits;
use crate::base::pool::Job;
use crate::chunk::{BlockSource, Header, Params, Place, Special};
use crate::frame::{CommitId, Spec};
pub use crate::frame::{Statistics, SumState};

pub(crate) use frame::FrameStore;
pub use hdf5::{Gear, GearStats, at_once};
pub(crate) use memory::MemoryStore;

/// Where to get a chunk.
#[derive(Clone)]
pub enum Stored {
    /// A special value.
    Special(Special),
    /// One item over and over.
    Item(Arc<[u8]>),
    /// A Blosc chunk.
    At {
        /// The same for the same content, and for other content another one, as long as the array is open.
        id: u64,
        /// What holds the chunk.
        source: Arc<dyn ReadAt>,
        /// Where in it.
        place: Place,
    },
    /// A chunk of another format, which [`Chunks::open`] opens.
    Other {
        /// As that of a Blosc chunk.
        id: u64,
    },
}

/// A chunk that has been opened.
pub trait OpenChunk: Send + Sync {
    /// Fills `out` with the front of block `number`: all of its bytes, or as many as are wanted.
    ///
    /// # Errors
    /// `Corrupt` for a block that is damaged, or what the source says.
    fn read_block(&self, number: usize, out: &mut [u8]) -> Result<()>;

    /// The stored bytes of block `number`, where they can stand as they are in a chunk encoded by `params`.
    ///
    /// # Errors
    /// As [`OpenChunk::read_block`].
    fn lend(&self, number: usize, params: &Params) -> Result<Option<Vec<u8>>>;

    /// The item that all of its items are, if that is known without decoding any.
    fn item(&self) -> Option<Vec<u8>> {
        None
    }

    /// What is known, without decoding any, of `width` bytes at `offset` of the items that have these indices along
    /// the only axis: numbers of this type.
    fn bounds(&self, _rows: Range<u64>, _offset: usize, _width: usize) -> Option<(Type, Statistics)> {
        None
    }

    /// The header of the Blosc chunk that it is, if it is one.
    fn header(&self) -> Option<Header> {
        None
    }

    /// Adds where in the source the stored bytes stand that reading block `number` needs, as far as they are not in
    /// memory.
    fn places(&self, _number: usize, _places: &mut Vec<Range<u64>>) {}

    /// Bytes of memory that keeping it takes.
    fn memory_bytes(&self) -> usize;
}

/// The stored bytes of a chunk in a source that is far away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Where they stand, perhaps with some behind them that nothing refers to.
    pub bytes: Range<u64>,
    /// What must be read of them.
    pub parts: Parts,
}

/// What must be read of the stored bytes of a chunk to have some of its blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parts {
    /// All.
    All,
    /// What stands in front of the blocks and behind them, which says where each is; then these blocks.
    EndsFirst,
    /// The blocks, whose places are known.
    Blocks,
}

/// Makes chunks that are not Blosc chunks.
pub trait EncodeChunk: Send + Sync {
    /// The stored bytes of a chunk with these blocks. What has an index of `rows` and more along the first axis is
    /// outside of the array. `params` are those of [`EncodeChunk::params`], perhaps with another codec, level, other
    /// filters or another split.
    ///
    /// # Errors
    /// `Unsupported` where there is no encoder for the format, `Limit`, `Cancelled`.
    fn encode(
        &self,
        blocks: &dyn BlockSource,
        rows: u64,
        params: Option<&Params>,
        job: &Job<'_>,
    ) -> Result<Vec<u8>>;

    /// By what it encodes, with the size of a block, where each chunk may have another codec and other filters.
    fn params(&self) -> Option<&Params> {
        None
    }

    /// Fills `out` with the blocks of a chunk that [`EncodeChunk::encode`] made, one behind another; what blocks have
    /// beyond the chunk is zeros.
    ///
    /// # Errors
    /// `Corrupt` for bytes that do not decode.
    fn decode(&self, stored: &[u8], out: &mut [u8]) -> Result<()>;
}

/// What the threads of a read need before they can get at chunks.
pub enum Access {
    /// Nothing: they may call [`Chunks::chunk`] and [`Chunks::open`] themselves.
    Free,
    /// That so many chunks at a time are fetched for them, by [`Chunks::fetch`] on the thread of the caller.
    Fetched(usize),
}

/// The chunks and metadata of an array as of one moment.
pub trait Chunks: Send + Sync {
    /// Makes ready for threads to read so many chunks, on the thread of the caller.
    ///
    /// # Errors
    /// `Io` or `Corrupt` if the place of chunks cannot be found out.
    fn access(&self, _chunks: u64) -> Result<Access> {
        Ok(Access::Free)
    }

    /// Chunks that the threads of a read may ask for as they like: these numbers.
    ///
    /// # Errors
    /// What the source says.
    fn fetch(&self, _numbers: &[u64]) -> Result<Arc<dyn Chunks>> {
        Err(Error::unsupported("these chunks need not be fetched"))
    }

    /// What holds the chunks, if that is far away and [`Access::Free`].
    fn far(&self) -> Option<&dyn ReadAt> {
        None
    }

    /// What chunk `number` takes of [`Chunks::far`]; `None` where nothing is stored.
    ///
    /// # Errors
    /// As [`Chunks::chunk`].
    fn extent(&self, _number: u64) -> Result<Option<Extent>> {
        Ok(None)
    }

    /// Opens chunk `number`, which is [`Stored::Other`].
    ///
    /// # Errors
    /// `Corrupt` for a chunk that contradicts its format, or what the source says.
    fn open(&self, number: u64, _limits: &Limits) -> Result<Arc<dyn OpenChunk>> {
        Err(Error::unsupported(format!("chunk {number}: has no format of its own")))
    }

    /// Reads a box of the array at once, from `start` on and of this shape; `None` where chunks are the way.
    fn read_box(&self, _start: &[u64], _shape: &[u64], _out: &mut [u8]) -> Option<Result<()>> {
        None
    }

    /// Whether something may be known of items without decoding any: then chunks may be fetched only to find out.
    fn may_know_items(&self) -> bool {
        true
    }

    /// The same chunks, got in another way, for a read that has failed.
    fn fallback(&self) -> Option<Arc<dyn Chunks>> {
        None
    }

    /// From now on chunks are to be got in that other way.
    fn distrust(&self) {}

    /// What encodes chunks, where it is not the encoder of Blosc chunks.
    fn encoder(&self) -> Option<&dyn EncodeChunk> {
        None
    }

    /// The item that stands where nothing was written; zeros if `None`.
    fn fill(&self) -> Option<&[u8]> {
        None
    }

    /// Items along each axis of the array, where the metadata do not say it.
    fn shape(&self) -> Option<&[u64]> {
        None
    }

    /// What a frame says of how its chunks are coded; `None` where there is no frame.
    fn spec(&self) -> Option<Spec> {
        None
    }

    /// How many chunks.
    fn nchunks(&self) -> u64;

    /// Where chunk `number` is to be had.
    ///
    /// # Errors
    /// `OutOfBounds` for a number that does not exist, `Corrupt` for a place that cannot be.
    fn chunk(&self, number: u64) -> Result<Stored>;

    /// Where the chunks end that are the same as chunk `number`: beyond it, `end` at most. Only what is known at once.
    fn alike_until(&self, number: u64, end: u64) -> u64 {
        number.saturating_add(1).min(end)
    }

    /// Whether what holds the chunks was closed, so that none can be read.
    fn is_closed(&self) -> bool {
        false
    }

    /// Whether all chunks are known to come from our encoder, though they have no sums to tell.
    fn are_ours(&self) -> bool {
        false
    }

    /// Bytes of the items of which statistics are kept, if they are.
    fn statistics_bytes(&self) -> Option<usize> {
        None
    }

    /// What is known of the items of chunk `number`, if it is stored.
    fn statistics(&self, _number: u64) -> Option<Statistics> {
        None
    }

    /// A number that tells the state from others of the same place, if there is one: that of the last commit.
    fn state_sum(&self) -> Option<u64> {
        None
    }

    /// The fixed metadata: name and content.
    fn metalayers(&self) -> Vec<(String, Vec<u8>)> {
        Vec::new()
    }

    /// The content of a piece of variable metadata.
    ///
    /// # Errors
    /// `Corrupt` where it does not decode.
    fn layer(&self, _name: &str) -> Result<Option<Vec<u8>>> {
        Ok(None)
    }

    /// The names of the variable metadata.
    fn layer_names(&self) -> Vec<String> {
        Vec::new()
    }

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
    /// Of how many others there are statistics.
    pub known_chunks: u64,
    /// Whether the chunks have sums.
    pub sums: SumState,
    /// How chunks are got at, where there are several ways.
    pub gear: Option<GearStats>,
}

impl Sizes {
    /// Those of no chunks.
    pub(crate) const NOTHING: Self = Self {
        cbytes: 0,
        dead_bytes: 0,
        special_chunks: 0,
        known_chunks: 0,
        sums: SumState::Absent,
        gear: None,
    };
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
