//! The index of chunks of a dataset, read from the bytes of a file.
//!
//! In: a file and the address of a dataset's object header. Out: every stored chunk.
//! Source: `docs/formats/hdf5-index.md`.
//! Invariant: bytes from anywhere give rows or an error, with no more work and memory than the file is long.

mod attributes;
mod blocks;
mod btree1;
mod btree2;
mod extensible_array;
mod fields;
mod fixed_array;
mod header;
mod lookup3;
mod messages;
mod rows;
mod superblock;

pub use attributes::check_attributes;
use blocks::Blocks;
use fields::Widths;
pub use lookup3::lookup3;
use messages::{Chunked, Described, Index, Space, Storage};
use rows::{Each, Filtering, NumberedRows, Numbering, Rows, Stored, chunk_bytes};

use crate::base::error::{Error, Result};
use crate::base::io::ReadAt;
use crate::base::limits::Limits;

/// Where a stored chunk stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkRow {
    /// Position in the file, a user block included.
    pub address: u64,
    /// Bytes that it takes.
    pub size: u64,
    /// Bit i is set where filter i did not run.
    pub mask: u32,
}

/// How a dataset is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Layout {
    /// In the object header.
    Compact,
    /// In one piece.
    Contiguous {
        /// Where it starts, if it is allocated.
        address: Option<u64>,
        /// Its bytes.
        size: u64,
    },
    /// In chunks.
    Chunked {
        /// Items of a chunk along each axis.
        dims: Vec<u64>,
        /// Bytes of an item.
        itemsize: usize,
        /// The structure that finds the chunks.
        kind: IndexKind,
        /// Whether chunks that the edge cuts were filtered.
        filters_partial_edges: bool,
        /// Whether the structure lists all chunks that it was made of, as far as can be seen.
        is_complete: bool,
    },
    /// Made of other datasets.
    Virtual,
}

/// The structure that finds the chunks of a dataset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexKind {
    /// Version 1 B-tree.
    BTree1,
    /// Version 2 B-tree.
    BTree2,
    /// Fixed array.
    FixedArray,
    /// Extensible array.
    ExtensibleArray,
    /// All chunks one after another.
    Implicit,
    /// One chunk.
    SingleChunk,
}

/// Calls `each` with the coordinates of the first item and the row of every stored chunk, in any order.
///
/// `header` is the address of the dataset's object header as HDF5 counts it, without a user block. Chunks that lie
/// wholly outside of the dataset's shape are not reported. Rows of a damaged file may name places behind its end.
///
/// # Errors
/// `Unsupported` for what is not known here, `Corrupt` or `Truncated` for damaged bytes, `Limit` where one block of
/// the index is longer than `limits` lets a chunk be, what the source or `each` say.
pub fn read_index(
    source: &dyn ReadAt,
    header: u64,
    limits: &Limits,
    each: &mut dyn FnMut(&[u64], ChunkRow) -> Result<()>,
) -> Result<Layout> {
    let mut blocks = Blocks::new(source, limits)?;
    let widths = superblock::read(&mut blocks)?;
    let described = Described::read(&mut blocks, widths, header).map_err(|e| e.at("object header"))?;
    match described.storage {
        Storage::Compact => Ok(Layout::Compact),
        Storage::Virtual => Ok(Layout::Virtual),
        Storage::Contiguous { address, size } => {
            let size = size.unwrap_or(0);
            let place = |address| blocks.base().checked_add(address);
            let address = match address.map(place) {
                Some(None) => return Err(Error::corrupt(format!("items at {address:?}"))),
                Some(place) => place,
                None => None,
            };
            Ok(Layout::Contiguous { address, size })
        }
        Storage::Chunked(chunked) => {
            let kind = chunked.index.kind();
            let is_complete =
                read_chunks(&mut blocks, widths, &chunked, &described.space, described.is_filtered, each)
                    .map_err(|e| e.at(kind.name()))?;
            let Chunked { dims, itemsize, filters_partial_edges, .. } = chunked;
            Ok(Layout::Chunked { dims, itemsize, kind, filters_partial_edges, is_complete })
        }
    }
}

fn read_chunks(
    blocks: &mut Blocks<'_>,
    widths: Widths,
    chunked: &Chunked,
    space: &Space,
    is_filtered: bool,
    each: Each<'_>,
) -> Result<bool> {
    if chunked.dims.len() != space.shape.len() {
        let (dims, shape) = (&chunked.dims, &space.shape);
        return Err(Error::corrupt(format!("chunks {dims:?} of a dataset of shape {shape:?}")));
    }
    let chunk_bytes = chunk_bytes(chunked)?;
    let Some(address) = chunked.address else { return Ok(true) };
    let mut rows = Rows::new(chunked, space, blocks.base(), each);
    let rows = &mut rows;
    let filtering = Filtering { is_filtered, chunk_bytes };
    let read = match chunked.index {
        Index::BTree1 => return btree1::read(blocks, widths, address, rows),
        Index::BTree2 => btree2::read(blocks, widths, address, filtering, rows),
        Index::FixedArray => {
            let mut rows = NumberedRows { numbers: Numbering::new(chunked, space)?, rows };
            fixed_array::read(blocks, widths, address, filtering, &mut rows)
        }
        Index::ExtensibleArray => {
            let mut rows = NumberedRows { numbers: Numbering::new(chunked, space)?, rows };
            extensible_array::read(blocks, widths, address, filtering, &mut rows)
        }
        Index::Implicit => {
            let rows = NumberedRows { numbers: Numbering::new(chunked, space)?, rows };
            read_implicit(blocks, address, chunk_bytes, rows)
        }
        Index::SingleChunk(stored) => {
            let (size, mask) = stored.unwrap_or((chunk_bytes, 0));
            rows.put_scaled(std::iter::repeat_n(0, rows.rank()), Stored { address, size, mask })
        }
    };
    // The others have checksums, or nothing that could be lost.
    read.map(|()| true)
}

/// All chunks stand one after another, numbered over the maximal shape.
fn read_implicit(blocks: &Blocks<'_>, address: u64, bytes: u64, into: NumberedRows<'_, '_>) -> Result<()> {
    let NumberedRows { mut numbers, rows } = into;
    let Some(last) = rows.last() else { return Ok(()) };
    // The file must hold them all: so there are no more of them than it has bytes.
    let end =
        numbers.number(&last).and_then(|last| last.checked_add(1)?.checked_mul(bytes)?.checked_add(address));
    let Some(end) = end.filter(|&end| end <= blocks.room()) else {
        return Err(Error::truncated(format!(
            "chunks up to {last:?} from {address} on: the file ends before"
        )));
    };
    numbers.seek(0);
    for number in 0..(end - address) / bytes {
        let stored = Stored { address: address + number * bytes, size: bytes, mask: 0 };
        rows.put_scaled(numbers.scaled(), stored)?;
        numbers.advance();
    }
    Ok(())
}

impl Index {
    fn kind(self) -> IndexKind {
        match self {
            Self::BTree1 => IndexKind::BTree1,
            Self::BTree2 => IndexKind::BTree2,
            Self::FixedArray => IndexKind::FixedArray,
            Self::ExtensibleArray => IndexKind::ExtensibleArray,
            Self::Implicit => IndexKind::Implicit,
            Self::SingleChunk(_) => IndexKind::SingleChunk,
        }
    }
}

impl IndexKind {
    /// In words, as errors and reports have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::BTree1 => "version 1 B-tree",
            Self::BTree2 => "version 2 B-tree",
            Self::FixedArray => "fixed array",
            Self::ExtensibleArray => "extensible array",
            Self::Implicit => "implicit index",
            Self::SingleChunk => "single chunk",
        }
    }
}
