//! Chunks in a dataset of an HDF5 file.
//!
//! h5py has the file open and owns its structure; only stored chunks go through here. There are three ways to them,
//! the [`ChunkAccess`]s: reading the file ourselves, having libhdf5 fetch stored chunks, and having it read items. Threads of
//! a read may do the first at any time; the other two are done for them, on the thread of the caller, before they
//! start, since libhdf5 works under a lock that the caller may hold.
//!
//! In: what Python says of a dataset, a [`Library`]. Out: [`super::Chunks`] and `super::Store`.
//! Invariant: what is written has filter mask 0, whatever stood there.

mod batch;
mod counters;
mod cut;
mod encoder;
mod fetched;
mod identities;
mod list;
mod listed;
mod meaning;
mod opened;
mod reader;
mod seconds;
mod store;
mod stored;
mod table;
mod terminated;
mod view;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::base::error::Result;
use crate::base::io::ReadAt;
use crate::hdf5::{ChunkEncoding, ChunkRow, Slot, ZoneField};

pub use batch::at_once;
pub use counters::ChunkAccessStats;
pub use seconds::Seconds;
pub(crate) use store::{Hdf5Opened, Hdf5Store};
pub use terminated::TerminatedField;

/// The bytes of a chunk as it is stored, and its filter mask.
pub type StoredChunk = (Vec<u8>, u32);

/// What has the file open. Its methods are called on the thread that called the array, never from the pool.
pub trait Library: Send + Sync {
    /// Stored bytes and filter mask of the chunk that starts at each of these coordinates; `None` for one that is not
    /// stored.
    ///
    /// # Errors
    /// What the library says.
    fn read_chunks(&self, starts: &[Vec<u64>]) -> Result<Vec<Option<StoredChunk>>>;

    /// Stores chunks as they are, with filter mask 0.
    ///
    /// # Errors
    /// What the library says.
    fn write_chunks(&self, chunks: &[(Vec<u64>, Vec<u8>)]) -> Result<()>;

    /// Reads the items of a box, as they lie in the file's datatype, in C order.
    ///
    /// # Errors
    /// What the library says.
    fn read_box(&self, start: &[u64], shape: &[u64], out: &mut [u8]) -> Result<()>;

    /// Writes the items of a box.
    ///
    /// # Errors
    /// What the library says.
    fn write_box(&self, start: &[u64], shape: &[u64], items: &[u8]) -> Result<()>;

    /// Gives the dataset another shape.
    ///
    /// # Errors
    /// What the library says.
    fn set_shape(&self, shape: &[u64]) -> Result<()>;

    /// Items along each axis of the dataset now, which others may have changed; `None` if they cannot.
    ///
    /// # Errors
    /// What the library says.
    fn shape(&self) -> Result<Option<Vec<u64>>> {
        Ok(None)
    }

    /// A number that is larger after each change of the dataset, by whichever handle; `None` where somebody may change it
    /// without being counted, and once it was closed. Must not wait: it is asked for every small read.
    fn version(&self) -> Option<u64> {
        None
    }

    /// Calls `each` with the coordinates of the first item and the row of every stored chunk.
    ///
    /// # Errors
    /// What the library or `each` says.
    fn chunk_table(&self, each: &mut dyn FnMut(&[u64], ChunkRow) -> Result<()>) -> Result<()>;

    /// Gives all that was written to the operating system.
    ///
    /// # Errors
    /// What the library says.
    fn flush(&self) -> Result<()>;

    /// Calls `wait`, which waits for another thread. This thread may have the lock of the library, and the other one
    /// may need it: then it is released meanwhile. Where it cannot be, `wait` gets a limit, and returns `false` if it
    /// was reached.
    ///
    /// # Errors
    /// That the limit was reached.
    fn wait(&self, wait: &mut dyn FnMut(Option<Duration>) -> bool) -> Result<()> {
        wait(None);
        Ok(())
    }

    /// The attributes of the dataset; `None` if they are neither to be read nor written.
    fn attributes(&self) -> Option<&dyn Attributes> {
        None
    }
}

/// What attributes of a dataset say, as the layers that say the same in a frame. `dtype` is that of the items.
pub trait Attributes {
    /// The content of a layer; `None` if no attribute says anything of it.
    ///
    /// # Errors
    /// What the library says, `Corrupt` for attributes that are damaged.
    fn layer(&self, name: &str, dtype: &str) -> Result<Option<Vec<u8>>>;

    /// Lets the attributes say what a layer says, or nothing of it.
    ///
    /// # Errors
    /// What the library says, `Unsupported` for a layer that attributes do not know.
    fn set_layer(&self, name: &str, content: Option<&[u8]>, dtype: &str) -> Result<()>;
}

/// The access path to chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChunkAccess {
    /// We read the file ourselves.
    Direct,
    /// libhdf5 reads stored chunks, we decode them.
    Fetched,
    /// libhdf5 reads items.
    Whole,
}

impl ChunkAccess {
    /// What users call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Direct => "direct",
            Self::Fetched => "fetched",
            Self::Whole => "whole",
        }
    }
}

/// All that is said of a dataset when it is opened.
#[derive(Clone)]
pub struct Hdf5Spec {
    /// Items along each axis: first those of the dataset, then those of items that are arrays themselves.
    pub shape: Vec<u64>,
    /// Items of a chunk along each axis; empty for a dataset without chunks.
    pub chunks: Vec<u64>,
    /// Items of a block along each axis of the dataset, for chunks to come of one that has none yet; `None` for the
    /// rule of its filter.
    pub blocks: Option<Vec<u64>>,
    /// How many of the axes are those of the dataset.
    pub rank: usize,
    /// Text of the dtype.
    pub dtype: String,
    /// Bytes of an item.
    pub typesize: usize,
    /// The item that stands where nothing was written.
    pub fill: Vec<u8>,
    /// The filters, in the order of writing.
    pub slots: Vec<Slot>,
    /// How chunks that are written are encoded, where the parameters of Blosc2, the only filter, cannot say it.
    pub encoding: Option<ChunkEncoding>,
    /// Numbers in the items of which chunks that are written get a zone map, if they can have one.
    pub zones: Vec<ZoneField>,
    /// Whether chunks that are written get checksums, if Blosc2 is their only filter.
    pub checksums: bool,
    /// Strings in the items that end at their first NUL.
    pub terminated: Vec<TerminatedField>,
    /// Set if the items are PyTables' times of 8 bytes, which are read and written as float64 seconds. `dtype` and
    /// `fill` are those of the seconds.
    pub seconds: Option<Seconds>,
    /// File and name of the dataset, for errors.
    pub place: Option<PathBuf>,
    /// How to get at chunks.
    pub chunk_access: ChunkAccess,
    /// Whether the file may be changed.
    pub writable: bool,
    /// What has the file open.
    pub library: Arc<dyn Library>,
    /// The file, to be read by ourselves.
    pub source: Option<Arc<dyn ReadAt>>,
    /// Where the object header of the dataset stands in it.
    pub header: Option<u64>,
    /// Where the items of a dataset without chunks start in it.
    pub contiguous: Option<u64>,
}
