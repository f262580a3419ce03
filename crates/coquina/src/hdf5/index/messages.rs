//! The messages of an object header that say where the items of a dataset are.
//!
//! In: an object header. Out: [`Described`]: shape, whether filters run, and the layout.
//! Source: HDF5 File Format Specification 3.0, IV.A.2: dataspace (0x01), datatype (0x03), data layout (0x08), filter
//! pipeline (0x0B). Layout version 5, of HDF5 2.0, has the fields of version 4.

use super::blocks::Blocks;
use super::fields::{Fields, Widths, size};
use super::header::{self, Message};
use crate::base::error::{Error, Result};

const RANK_MAX: usize = 32;
const SPACE: u16 = 0x01;
const DATATYPE: u16 = 0x03;
const EXTERNAL_FILES: u16 = 0x07;
const LAYOUT: u16 = 0x08;
const FILTERS: u16 = 0x0b;
/// Flags of a version 4 layout.
const PARTIAL_EDGES_UNFILTERED: u8 = 1;
const SINGLE_CHUNK_FILTERED: u8 = 2;

/// What a header says of its dataset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Described {
    pub(super) space: Space,
    pub(super) storage: Storage,
    /// Whether chunks go through filters.
    pub(super) is_filtered: bool,
}

/// The extent of a dataset.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Space {
    pub(super) shape: Vec<u64>,
    /// How far each axis may grow; `None`: without end.
    pub(super) most: Vec<Option<u64>>,
}

/// Where the items are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Storage {
    Compact,
    /// Without a size where the message has none: then it follows from shape and datatype.
    Contiguous {
        address: Option<u64>,
        size: Option<u64>,
    },
    Chunked(Chunked),
    Virtual,
}

/// Chunks, and what finds them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Chunked {
    pub(super) dims: Vec<u64>,
    pub(super) itemsize: usize,
    /// Of the index; `None` as long as there are no chunks.
    pub(super) address: Option<u64>,
    pub(super) index: Index,
    pub(super) filters_partial_edges: bool,
}

/// The kind of index, with what the message alone knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Index {
    BTree1,
    BTree2,
    FixedArray,
    ExtensibleArray,
    Implicit,
    /// Stored bytes and mask, where it is filtered.
    SingleChunk(Option<(u64, u32)>),
}

impl Described {
    /// Reads the header at `address`.
    pub(super) fn read(blocks: &mut Blocks<'_>, widths: Widths, address: u64) -> Result<Self> {
        let (mut space, mut storage, mut is_filtered) = (None, None, false);
        let mut itemsize = None;
        header::walk(blocks, widths, address, &mut |message| {
            match message.kind {
                SPACE => {
                    space = Some(
                        own(message).and_then(|body| read_space(body, widths)).map_err(at("dataspace"))?,
                    )
                }
                LAYOUT => {
                    storage =
                        Some(own(message).and_then(|body| read_layout(body, widths)).map_err(at("layout"))?);
                }
                FILTERS => is_filtered = own(message).and_then(has_filters).map_err(at("filters"))?,
                DATATYPE if !message.is_shared => {
                    itemsize = Some(read_itemsize(message.body).map_err(at("datatype"))?)
                }
                EXTERNAL_FILES => return Err(Error::unsupported("items in external files")),
                _ => {}
            }
            Ok(())
        })?;
        let space = space.ok_or_else(|| Error::corrupt("no dataspace message: not a dataset"))?;
        let mut storage = storage.ok_or_else(|| Error::corrupt("no layout message: not a dataset"))?;
        if let Storage::Contiguous { size: size @ None, .. } = &mut storage {
            let itemsize =
                itemsize.ok_or_else(|| Error::unsupported("a size that a shared datatype says"))?;
            let bytes = space.shape.iter().try_fold(u64::from(itemsize), |bytes, &n| bytes.checked_mul(n));
            *size = Some(bytes.ok_or_else(|| Error::corrupt("more bytes than 64 bits count"))?);
        }
        Ok(Self { space, storage, is_filtered })
    }
}

fn at(place: &'static str) -> impl Fn(Error) -> Error {
    move |error| error.at(place)
}

/// The body of a message that is no link to another one.
fn own(message: Message<'_>) -> Result<&[u8]> {
    match message.is_shared {
        false => Ok(message.body),
        true => Err(Error::unsupported("a message that objects share")),
    }
}

fn read_space(body: &[u8], widths: Widths) -> Result<Space> {
    let mut fields = Fields::new(body);
    let version = fields.u8("version")?;
    let rank = usize::from(fields.u8("rank")?);
    let has_most = fields.u8("flags")? & 1 != 0;
    match version {
        1 => drop(fields.bytes(5, "reserved")?),
        2 => drop(fields.u8("type")?),
        _ => return Err(Error::unsupported(format!("version {version}, known are 1 and 2"))),
    }
    if rank > RANK_MAX {
        return Err(Error::corrupt(format!("{rank} axes, at most {RANK_MAX} are allowed")));
    }
    let mut numbers =
        |field| (0..rank).map(|_| fields.uint(widths.length, field)).collect::<Result<Vec<_>>>();
    let shape = numbers("shape")?;
    let most = if has_most { numbers("maximal shape")? } else { shape.clone() };
    let unlimited = u64::MAX >> (64 - 8 * widths.length);
    let most: Vec<_> = most.into_iter().map(|n| (n != unlimited || !has_most).then_some(n)).collect();
    if let Some((n, most)) = shape.iter().zip(&most).find(|(n, most)| most.is_some_and(|most| most < **n)) {
        return Err(Error::corrupt(format!("an axis of {n} items that may have {most:?} at most")));
    }
    Ok(Space { shape, most })
}

fn read_itemsize(body: &[u8]) -> Result<u32> {
    let mut fields = Fields::new(body);
    fields.bytes(4, "class")?;
    fields.u32("size")
}

fn has_filters(body: &[u8]) -> Result<bool> {
    let mut fields = Fields::new(body);
    match fields.u8("version")? {
        1 | 2 => Ok(fields.u8("count")? > 0),
        version => Err(Error::unsupported(format!("version {version}, known are 1 and 2"))),
    }
}

fn read_layout(body: &[u8], widths: Widths) -> Result<Storage> {
    let mut fields = Fields::new(body);
    let version = fields.u8("version")?;
    if matches!(version, 1 | 2) {
        return read_old_layout(&mut fields, widths);
    }
    if !matches!(version, 3..=5) {
        return Err(Error::unsupported(format!("version {version}, known are 1 to 5")));
    }
    match (fields.u8("class")?, version) {
        (0, _) => Ok(Storage::Compact),
        (1, _) => {
            let address = fields.address(widths, "address")?;
            Ok(Storage::Contiguous { address, size: Some(fields.uint(widths.length, "size")?) })
        }
        (2, 3) => {
            let count = usize::from(fields.u8("dimensionality")?);
            let address = fields.address(widths, "address of the index")?;
            let (dims, itemsize) = read_dims(&mut fields, count, 4)?;
            let index = Index::BTree1;
            Ok(Storage::Chunked(Chunked { dims, itemsize, address, index, filters_partial_edges: true }))
        }
        (2, _) => Ok(Storage::Chunked(read_chunked(&mut fields, widths)?)),
        (3, 4..) => Ok(Storage::Virtual),
        (class, _) => Err(Error::unsupported(format!("class {class} in version {version}"))),
    }
}

/// Versions 1 and 2, of HDF5 before 1.6.3.
fn read_old_layout(fields: &mut Fields<'_>, widths: Widths) -> Result<Storage> {
    let count = usize::from(fields.u8("dimensionality")?);
    let class = fields.u8("class")?;
    fields.bytes(5, "reserved")?;
    match class {
        0 => Ok(Storage::Compact),
        1 => Ok(Storage::Contiguous { address: fields.address(widths, "address")?, size: None }),
        2 => {
            let address = fields.address(widths, "address of the index")?;
            let (dims, itemsize) = read_dims(fields, count, 4)?;
            let index = Index::BTree1;
            Ok(Storage::Chunked(Chunked { dims, itemsize, address, index, filters_partial_edges: true }))
        }
        _ => Err(Error::unsupported(format!("class {class}"))),
    }
}

/// Items of a chunk along each axis, and the bytes of an item, which the format counts as one more axis.
fn read_dims(fields: &mut Fields<'_>, count: usize, width: usize) -> Result<(Vec<u64>, usize)> {
    if !(2..=RANK_MAX + 1).contains(&count) || !(1..=8).contains(&width) {
        return Err(Error::corrupt(format!("chunks of {count} dimensions, stored in {width} bytes each")));
    }
    let mut dims = (0..count).map(|_| fields.uint(width, "chunk shape")).collect::<Result<Vec<_>>>()?;
    if dims.contains(&0) {
        return Err(Error::corrupt(format!("chunks without items: {dims:?}")));
    }
    let itemsize = size(dims.pop().unwrap_or(0), "item size")?;
    Ok((dims, itemsize))
}

fn read_chunked(fields: &mut Fields<'_>, widths: Widths) -> Result<Chunked> {
    let flags = fields.u8("flags")?;
    if flags & !(PARTIAL_EDGES_UNFILTERED | SINGLE_CHUNK_FILTERED) != 0 {
        return Err(Error::unsupported(format!("chunk flags {flags:#x}")));
    }
    let count = usize::from(fields.u8("dimensionality")?);
    let width = usize::from(fields.u8("bytes of a dimension")?);
    let (dims, itemsize) = read_dims(fields, count, width)?;
    let index = match fields.u8("index type")? {
        1 if flags & SINGLE_CHUNK_FILTERED != 0 => {
            let size = fields.uint(widths.length, "size of the chunk")?;
            Index::SingleChunk(Some((size, fields.u32("filter mask")?)))
        }
        1 => Index::SingleChunk(None),
        2 => Index::Implicit,
        // What the message says of how arrays and trees are to be made stands in their own headers too.
        3 => fields.bytes(1, "fixed array").map(|_| Index::FixedArray)?,
        4 => fields.bytes(5, "extensible array").map(|_| Index::ExtensibleArray)?,
        5 => fields.bytes(6, "B-tree").map(|_| Index::BTree2)?,
        kind => return Err(Error::unsupported(format!("chunk index of type {kind}"))),
    };
    let address = fields.address(widths, "address of the index")?;
    let filters_partial_edges = flags & PARTIAL_EDGES_UNFILTERED == 0;
    Ok(Chunked { dims, itemsize, address, index, filters_partial_edges })
}

#[cfg(test)]
mod tests {
    use super::*;

    const WIDTHS: Widths = Widths { address: 8, length: 8 };

    #[test]
    fn layouts_of_early_libraries_are_read() {
        // No library at hand writes versions 1 and 2 any more.
        let mut chunked = vec![1, 3, 2, 0, 0, 0, 0, 0];
        chunked.extend(800_u64.to_le_bytes());
        for dim in [10_u32, 20, 4] {
            chunked.extend(dim.to_le_bytes());
        }
        let Storage::Chunked(read) = read_layout(&chunked, WIDTHS).unwrap() else { panic!("chunked") };
        assert_eq!((read.dims, read.itemsize, read.address), (vec![10, 20], 4, Some(800)));
        let mut contiguous = vec![2, 3, 1, 0, 0, 0, 0, 0];
        contiguous.extend(u64::MAX.to_le_bytes());
        let read = read_layout(&contiguous, WIDTHS).unwrap();
        assert_eq!(read, Storage::Contiguous { address: None, size: None });
    }

    #[test]
    fn shapes_with_and_without_an_end_are_read() {
        let mut body = vec![2, 2, 1, 1];
        for number in [3, 4, u64::MAX, 9] {
            body.extend(number.to_le_bytes());
        }
        let space = read_space(&body, WIDTHS).unwrap();
        assert_eq!(space, Space { shape: vec![3, 4], most: vec![None, Some(9)] });
        body[28] = 3;
        assert!(read_space(&body, WIDTHS).unwrap_err().to_string().contains("4 items"));
    }
}
