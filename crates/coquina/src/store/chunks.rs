//! The chunks of an array as of one moment: where they are, what they take, and what is known of their items.
//!
//! What only some stores can do is a trait of its own, which [`Chunks`] gives where the store can: to fetch chunks for the
//! threads of a read, to open chunks of another format than Blosc's, to say what of a remote source a chunk takes, to keep metadata, to leave a read to a library.

use std::ops::Range;
use std::sync::Arc;

use coquina_kernels::Type;

use super::hdf5::ChunkAccessStats;
use super::statistics::Statistics;
use crate::base::error::{Error, Result};
use crate::base::io::ReadAt;
use crate::base::limits::Limits;
use crate::base::text_bounds::TextBounds;
use crate::chunk::{BytePlanes, Header, NextPlane, Params, Place, Special};
use crate::frame::{Spec, SumState};

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
    /// A chunk of another format, which [`ForeignChunks::open`] opens.
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

    /// Whether to read any block means to decode all of the chunk, as nothing is decoded yet.
    fn decodes_whole(&self) -> bool {
        false
    }

    /// Decodes the byte planes of block `number` that `next` asks for; whether it is stored as planes. If not, nothing has
    /// been done.
    ///
    /// # Errors
    /// As [`OpenChunk::read_block`].
    fn read_planes(
        &self,
        _number: usize,
        _planes: &mut BytePlanes,
        _next: &mut NextPlane<'_>,
    ) -> Result<bool> {
        Ok(false)
    }

    /// The stored bytes of block `number`, where they can stand as they are in a chunk encoded by `params`.
    ///
    /// # Errors
    /// As [`OpenChunk::read_block`].
    fn reuse_encoded(&self, number: usize, params: &Params) -> Result<Option<Vec<u8>>>;

    /// The item that all of its items are, if that is known without decoding any.
    fn item(&self) -> Option<Vec<u8>> {
        None
    }

    /// What is known, without decoding any, of `width` bytes at `offset` of the items that have these indices along
    /// the only axis: numbers of this type.
    fn bounds(&self, _rows: Range<u64>, _offset: usize, _width: usize) -> Option<(Type, Statistics)> {
        None
    }

    /// What is known, without decoding any, of the texts that `width` bytes at `offset` of the items are that have these
    /// indices along the only axis: of their bytes, and of what comes before the first zero byte of each.
    fn text_bounds(&self, _rows: Range<u64>, _offset: usize, _width: usize) -> Option<TextBounds> {
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

/// The stored bytes of a chunk in a file or a remote source.
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
    EndsFirst(Ends),
    /// The blocks, whose places are known.
    Blocks,
}

/// How many bytes stand in front of a chunk's blocks and behind them, block starts and sums aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ends {
    /// Headers: of the chunk, and of a frame around it.
    pub front: u64,
    /// The index and trailer of a frame around it.
    pub back: u64,
}

impl Ends {
    /// Those of most chunks.
    pub const CHUNK: Self = Self { front: 64, back: 0 };
    /// Those of most chunks with a frame around them, or a dictionary.
    pub const FRAME: Self = Self { front: 8 << 10, back: 4 << 10 };
}

/// What the threads of a read need before they can get at chunks.
pub enum Access {
    /// Nothing: they may call [`Chunks::chunk`] themselves, and open what it gives.
    Free,
    /// That so many chunks at a time are fetched for them, by [`Prefetch::fetch`] on the thread of the caller.
    Fetched(usize),
}

/// Chunks that threads cannot read at any time.
pub trait Prefetch {
    /// Makes ready for threads to read so many chunks, on the thread of the caller.
    ///
    /// # Errors
    /// `Io` or `Corrupt` if the place of chunks cannot be found out.
    fn access(&self, chunks: u64) -> Result<Access>;

    /// Chunks that the threads of a read may ask for as they like: these numbers.
    ///
    /// # Errors
    /// What the source says.
    fn fetch(&self, numbers: &[u64]) -> Result<Arc<dyn Chunks>>;

    /// What [`Chunks::chunk`] says of a chunk that was fetched before, if it is certain, without fetching it again, that
    /// it did not change since.
    fn unchanged(&self, number: u64) -> Option<Stored>;

    /// What tells without fetching which chunks are not stored, for a look at `chunks` of them: those that are stored it
    /// cannot open. `None` where that is not certain, or not worth listing all stored chunks.
    fn listed(&self, _chunks: u64) -> Option<Arc<dyn Chunks>> {
        None
    }
}

/// Where the chunks of a remote source stand in it.
pub trait Extents {
    /// What chunk `number` takes of the source; `None` where nothing is stored.
    ///
    /// # Errors
    /// As [`Chunks::chunk`].
    fn extent(&self, number: u64) -> Result<Option<Extent>>;
}

/// A remote source of chunks, of which ranges are fetched ahead.
#[derive(Clone, Copy)]
pub struct Remote<'c> {
    /// What holds the chunks.
    pub source: &'c dyn ReadAt,
    /// Where in it.
    pub extents: &'c dyn Extents,
}

/// Metadata beside the chunks.
pub trait Metadata {
    /// Whether a library keeps them. It is asked for layers at the first write, on the thread of the caller, and what it
    /// says then holds for as long as the array is open.
    fn is_of_library(&self) -> bool {
        false
    }

    /// What a frame says of how its chunks are coded; `None` where there is no frame.
    fn spec(&self) -> Option<Spec>;

    /// A number that tells the state from others of the same place, if there is one: that of the last commit.
    fn state_sum(&self) -> Option<u64>;

    /// The fixed metadata: name and content.
    fn metalayers(&self) -> Vec<(String, Vec<u8>)>;

    /// The content of a piece of variable metadata.
    ///
    /// # Errors
    /// `Corrupt` where it does not decode.
    fn layer(&self, name: &str) -> Result<Option<Vec<u8>>>;

    /// The names of the variable metadata.
    fn layer_names(&self) -> Vec<String>;
}

/// Chunks that a library can get at too, or the items in them.
pub trait LibraryAccess {
    /// Whether something may be known of items without decoding any: then chunks may be fetched only to find out.
    fn may_know_items(&self) -> bool;

    /// Reads a box of the array at once, from `start` on and of this shape; `None` where chunks are the way.
    fn read_box(&self, start: &[u64], shape: &[u64], out: &mut [u8]) -> Option<Result<()>>;

    /// The same chunks, got by the library, for a read that has failed; `None` if they were.
    fn fallback(&self) -> Option<Arc<dyn Chunks>>;

    /// From now on chunks are to be got by the library.
    fn disable_direct(&self);
}

/// Chunks of another format than Blosc's.
pub trait ForeignChunks {
    /// Opens chunk `number`, which is [`Stored::Other`].
    ///
    /// # Errors
    /// `Corrupt` for a chunk that contradicts its format, or what the source says.
    fn open(&self, number: u64, limits: &Limits) -> Result<Arc<dyn OpenChunk>>;
}

/// The chunks of an array as of one moment.
pub trait Chunks: Send + Sync {
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

    /// Tells the system that all of these chunks are read soon, where they are parts of a file.
    fn will_read(&self, _numbers: Range<u64>) {}

    /// The item that stands where nothing was written; zeros if `None`.
    fn fill(&self) -> Option<&[u8]> {
        None
    }

    /// Items along each axis of the array, where the metadata do not say it.
    fn shape(&self) -> Option<&[u64]> {
        None
    }

    /// Whether what holds the chunks was closed, so that none can be read.
    fn is_closed(&self) -> bool {
        false
    }

    /// The same chunks with their sums, if these are read without a look at them.
    fn with_sums(&self) -> Option<Arc<dyn Chunks>> {
        None
    }

    /// Whether all chunks are known to come from our encoder, though they have no sums to tell.
    fn are_ours(&self) -> bool {
        false
    }

    /// What the chunks take.
    fn sizes(&self) -> Sizes;

    /// Whether something is known of the items of any chunk.
    fn knows_any(&self) -> bool {
        self.sizes().known_chunks > 0
    }

    /// Bytes of the items of which statistics are kept, if they are.
    fn statistics_bytes(&self) -> Option<usize> {
        None
    }

    /// What is known of the items of chunk `number`, if it is stored.
    fn statistics(&self, _number: u64) -> Option<Statistics> {
        None
    }

    /// What opens the chunks that are [`Stored::Other`].
    fn foreign(&self) -> Option<&dyn ForeignChunks> {
        None
    }

    /// What fetches chunks for threads that may not ask for them.
    fn prefetch(&self) -> Option<&dyn Prefetch> {
        None
    }

    /// The remote source that holds the chunks, if any thread may read it.
    fn remote(&self) -> Option<Remote<'_>> {
        None
    }

    /// The metadata, where they are kept beside the chunks.
    fn metadata(&self) -> Option<&dyn Metadata> {
        None
    }

    /// The library that can get at the chunks too.
    fn library(&self) -> Option<&dyn LibraryAccess> {
        None
    }
}

impl dyn Chunks + '_ {
    /// What the threads of a read of so many chunks need; on the thread of the caller.
    ///
    /// # Errors
    /// As [`Prefetch::access`].
    pub fn access(&self, chunks: u64) -> Result<Access> {
        self.prefetch().map_or(Ok(Access::Free), |prefetch| prefetch.access(chunks))
    }

    /// Chunks of these numbers, which [`Access::Fetched`] says must be fetched.
    ///
    /// # Errors
    /// As [`Prefetch::fetch`].
    pub fn fetch(&self, numbers: &[u64]) -> Result<Arc<dyn Chunks>> {
        let prefetch =
            self.prefetch().ok_or_else(|| Error::unsupported("these chunks need not be fetched"))?;
        prefetch.fetch(numbers)
    }

    /// Opens chunk `number`, which is [`Stored::Other`].
    ///
    /// # Errors
    /// As [`ForeignChunks::open`].
    pub fn open(&self, number: u64, limits: &Limits) -> Result<Arc<dyn OpenChunk>> {
        let foreign = self.foreign();
        foreign.ok_or_else(|| Error::unsupported("chunks that are all Blosc's"))?.open(number, limits)
    }

    /// Whether something may be known of items without decoding any.
    pub fn may_know_items(&self) -> bool {
        self.library().is_none_or(LibraryAccess::may_know_items)
    }
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
    /// The access path to chunks, where there are several.
    pub chunk_access: Option<ChunkAccessStats>,
}

impl Sizes {
    /// Those of no chunks.
    pub(crate) const NOTHING: Self = Self {
        cbytes: 0,
        dead_bytes: 0,
        special_chunks: 0,
        known_chunks: 0,
        sums: SumState::Absent,
        chunk_access: None,
    };
}
