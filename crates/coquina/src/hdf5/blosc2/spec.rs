//! How the Blosc2 chunks of a dataset are written.
//!
//! Source: `docs/formats/hdf5-filters.md`, "Blosc2".

use std::borrow::Cow;

use crate::base::error::{Error, Result};
use crate::base::layout::BlockLayout;
use crate::chunk::{BLOCK_BYTES_MAX, Params};
use crate::codec::{self, Streams};
use crate::filter::{self, BITSHUFFLE, DELTA, Pipeline, SHUFFLE};
use crate::frame::b2nd::Sizes;

/// The axes that an n-dimensional array in a chunk can have: one axis goes without, and so does what C-Blosc2 cannot.
const RANKS: std::ops::RangeInclusive<usize> = 2..=8;
/// What an item of an array can have: the header of a Blosc2 chunk has one byte for it.
const ITEM_BYTES_MAX: usize = 255;
/// Bytes of a block of an array, unless a dataset says otherwise: as in arrays in frames.
const BLOCK_BYTES: usize = 64 << 10;
/// What the filter of C-Blosc2 uses where a dataset stores fewer parameters: the level, byte shuffle, BloscLZ.
const LEVEL_DEFAULT: u32 = 5;
const FILTER_DEFAULT: u32 = 1;
const CODEC_DEFAULT: u32 = 0;
/// A chunk of one axis is one block, where it has no others that fill it and is not larger.
const LONE_BLOCK_BYTES: usize = 1 << 20;

/// How Blosc2 chunks are encoded, where the parameters of the filter cannot say it: each chunk does.
#[derive(Clone)]
pub struct ChunkEncoding {
    /// Codec, level, filters of Blosc2 and dictionary; sizes are those of the dataset.
    pub params: Params,
    /// Text of the dtype of the items, for what works with numbers.
    pub dtype: String,
}

/// How the Blosc2 chunks of a dataset are written.
#[derive(Clone)]
pub struct Blosc2Spec {
    /// How the bytes are encoded; with typesize and blocksize.
    pub params: Params,
    /// Items of a chunk along each axis.
    pub dims: Vec<u64>,
    /// Items of a block along each axis, for chunks that are n-dimensional arrays.
    pub blocks: Option<Vec<u64>>,
    /// Bytes of an item.
    pub itemsize: usize,
    /// Whether chunks get checksums.
    pub with_sums: bool,
    /// Text of the dtype of the items; empty if it is not known.
    pub dtype: String,
}

impl Blosc2Spec {
    /// What the parameters of a dataset with chunks of `dims` items of `itemsize` bytes ask for.
    ///
    /// # Errors
    /// `Invalid`, `Unsupported` or `Limit` for parameters that no chunk can be written with.
    pub(crate) fn new(values: &[u32], dims: &[u64], itemsize: usize) -> Result<Self> {
        let value = |number: usize, default| values.get(number).copied().unwrap_or(default);
        let narrow = |value: u32| u8::try_from(value).unwrap_or(u8::MAX);
        let pipeline = match value(5, FILTER_DEFAULT) {
            0 => Pipeline::default(),
            1 => Pipeline::last(SHUFFLE),
            2 => Pipeline::last(BITSHUFFLE),
            3 => Pipeline::last(DELTA),
            4 => return Err(Error::unsupported("filter 4: truncation to a number of bits is not written")),
            other => return Err(Error::invalid(format!("filter {other}: takes 0..=4"))),
        };
        let blocksize = Some(value(1, 0) as usize).filter(|&bytes| bytes > 0);
        let mut params = Params {
            codec: codec::by_id(narrow(value(6, CODEC_DEFAULT)))?,
            level: narrow(value(4, LEVEL_DEFAULT)),
            typesize: (value(2, 1) as usize).max(1),
            pipeline,
            blocksize: blocksize.map(|bytes| bytes.min(BLOCK_BYTES_MAX)),
            ..Params::default()
        };
        let has_rank = value(7, 0) as usize == dims.len() && RANKS.contains(&dims.len());
        let blocks =
            (has_rank && (1..=ITEM_BYTES_MAX).contains(&itemsize) && !dims.contains(&0)).then(|| {
                // Items of array types are items of the array, whatever these are made of.
                params.typesize = itemsize;
                blocksize
                    .map_or_else(|| default_blocks(dims, itemsize), |bytes| doubled(dims, itemsize, bytes))
            });
        if let Some(blocks) = &blocks {
            let sizes = Sizes::of(dims, dims, blocks, itemsize).map_err(Error::limit)?;
            params.blocksize = Some(sizes.block_bytes);
            params.layout = BlockLayout::new(blocks, itemsize, "");
        }
        Ok(Self { params, dims: dims.to_vec(), blocks, itemsize, with_sums: true, dtype: String::new() })
    }

    /// The same, but encoded in this way.
    ///
    /// # Errors
    /// `Invalid` or `Unsupported` for what such chunks cannot be encoded by.
    pub(crate) fn encoded_as(&self, wanted: &ChunkEncoding) -> Result<Self> {
        let mut spec = Self { dtype: wanted.dtype.clone(), ..self.clone() };
        let Params { typesize, blocksize, layout, .. } = self.params;
        spec.params = Params { typesize, blocksize, layout, ..wanted.params };
        let items = self.params.block_bytes(self.chunk_bytes()) / self.itemsize.max(1);
        if spec.blocks.is_none() && self.dims.len() == 1 && needs_axes(&wanted.params) {
            let rows = rows_of_block(self.dims[0], items as u64, self.itemsize)?;
            spec.params.typesize = self.itemsize;
            spec.params.blocksize = usize::try_from(rows).ok().map(|rows| rows * self.itemsize);
            spec.blocks = Some(vec![rows]);
        }
        let blocks = spec.blocks.clone().unwrap_or_else(|| vec![items as u64]);
        let layout = BlockLayout::new(&blocks, self.itemsize, &spec.dtype);
        Params { layout, ..spec.params }.check()?;
        if spec.blocks.is_some() {
            spec.params.layout = layout;
        }
        Ok(spec)
    }

    fn chunk_bytes(&self) -> usize {
        let items = self.dims.iter().map(|&dim| usize::try_from(dim).unwrap_or(usize::MAX));
        items.fold(self.itemsize, usize::saturating_mul)
    }

    /// The parameters of chunks of so many bytes, with the size of their blocks: the rule for that goes by codec and
    /// level, and a chunk that has others is still to be cut like those beside it.
    pub fn cut_params(&self, chunk_bytes: usize) -> Params {
        Params { blocksize: Some(self.params.block_bytes(chunk_bytes)), ..self.params }
    }

    /// The same, but encoded by these parameters, if there are some.
    pub(crate) fn encoded_by(&self, params: Option<&Params>) -> Cow<'_, Self> {
        match params {
            Some(&params) => Cow::Owned(Self { params, ..self.clone() }),
            None => Cow::Borrowed(self),
        }
    }

    /// The same for chunks that are arrays in blocks of this shape.
    pub(crate) fn with_blocks(&self, blocks: &[u64], block_bytes: usize) -> Self {
        let layout = BlockLayout::new(blocks, self.itemsize, &self.dtype);
        let params = Params { blocksize: Some(block_bytes), layout, ..self.params };
        Self { params, blocks: Some(blocks.to_vec()), ..self.clone() }
    }
}

/// Whether a codec or a filter works along the axes of an array, so that a chunk must say that it is one.
fn needs_axes(params: &Params) -> bool {
    let needs = |slot: &filter::Slot| filter::by_id(slot.id).is_ok_and(|filter| filter.needs_layout());
    params.codec.streams() != Streams::Bytes || params.pipeline.slots.iter().any(needs)
}

/// How many rows a block of a chunk of one axis has: about `wanted`, and whole blocks fill the chunk, since C-Blosc2's
/// filter takes such a chunk for the bytes of all its blocks.
fn rows_of_block(rows: u64, wanted: u64, itemsize: usize) -> Result<u64> {
    let wanted = wanted.clamp(1, rows.max(1));
    let divisor = (wanted.div_ceil(16)..=wanted).rev().find(|&block| rows.is_multiple_of(block));
    let is_small = rows.saturating_mul(itemsize as u64) <= LONE_BLOCK_BYTES as u64;
    divisor.or(is_small.then_some(rows)).ok_or_else(|| {
        Error::invalid(format!(
            "chunks of {rows} items: a codec or filter that works along an axis needs blocks that fill a chunk: \
             take a power of two"
        ))
    })
}

/// The default shape of the blocks of a chunk: about 64 KiB, about as long along each axis, with little padding.
pub fn default_blocks(dims: &[u64], itemsize: usize) -> Vec<u64> {
    let room = (BLOCK_BYTES / itemsize.max(1)).max(1) as u64;
    let mut blocks = vec![1_u64; dims.len()];
    let mut open: Vec<usize> = (0..dims.len()).collect();
    // The shortest is doubled, of several the last axis, until none has room.
    while let Some(&axis) = open.iter().min_by_key(|&&axis| (blocks[axis], dims.len() - axis)) {
        let longer = (2 * blocks[axis]).min(dims[axis]);
        let others = blocks.iter().fold(1_u64, |all, &n| all.saturating_mul(n)) / blocks[axis].max(1);
        if longer > blocks[axis] && others.saturating_mul(longer) <= room {
            blocks[axis] = longer;
        } else {
            open.retain(|&other| other != axis);
        }
    }
    // As many blocks, all about as long.
    for (block, &dim) in blocks.iter_mut().zip(dims) {
        *block = dim.div_ceil(dim.div_ceil(*block).max(1)).max(1);
    }
    blocks
}

/// The shape of blocks of at most `bytes`, as C-Blosc2's filter makes it: two items along each axis, doubled from the
/// last axis on as long as there is room.
fn doubled(dims: &[u64], itemsize: usize, bytes: usize) -> Vec<u64> {
    let room = (bytes / itemsize.max(1)).max(1) as u64;
    let product = |blocks: &[u64]| blocks.iter().fold(1_u64, |all, &n| all.saturating_mul(n));
    let mut blocks: Vec<u64> = dims.iter().map(|&dim| dim.clamp(1, 2)).collect();
    if product(&blocks) > room {
        blocks.fill(1);
    }
    loop {
        let mut has_grown = false;
        for axis in (0..dims.len()).rev() {
            let longer = (2 * blocks[axis]).min(dims[axis]);
            let others = product(&blocks) / blocks[axis];
            if longer > blocks[axis] && others.saturating_mul(longer) <= room {
                blocks[axis] = longer;
                has_grown = true;
            }
        }
        if !has_grown {
            return blocks;
        }
    }
}
