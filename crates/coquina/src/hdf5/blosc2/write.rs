//! Writing the chunks of a dataset as frames.
//!
//! In: the items of a chunk in C order, or an encoded Blosc2 chunk. Out: a frame, as C-Blosc2's filter writes it.
//! Source: `docs/formats/hdf5-filters.md`, "Blosc2".

use super::boxes::Tiles;
use super::spec::Blosc2Spec;
use super::zones::{self, ZoneField, Zones};
use crate::base::error::{Error, Result};
use crate::base::limits::Limits;
use crate::base::pool::Job;
use crate::chunk::{BlockSource, Header, Kind, Special, encode, encode_blocks_of};
use crate::frame::Spec;
use crate::frame::b2nd::{METALAYER, Meta};
use crate::frame::guard;
use crate::frame::inside::{SEAL_BYTES, wrap_chunk};

/// What the header of a frame can say of the size of items that are not those of an array.
const TYPESIZE_MAX: usize = 255;

/// Wraps a Blosc2 chunk in a frame: that of an array, if the spec has blocks, in whose order its items are then.
///
/// # Errors
/// `Invalid` for a chunk that is not one of the spec.
pub fn wrap(spec: &Blosc2Spec, chunk: Vec<u8>) -> Result<Vec<u8>> {
    wrap_with(spec, &chunk, None)
}

/// As [`wrap`], with a zone map.
fn wrap_with(spec: &Blosc2Spec, chunk: &[u8], zones: Option<Zones>) -> Result<Vec<u8>> {
    let nbytes = Header::read(chunk, &Limits::default())?.nbytes;
    let mut metalayers = match &spec.blocks {
        None => Vec::new(),
        Some(blocks) => {
            let meta = meta(spec, blocks)?;
            let wanted = meta.sizes(spec.itemsize).map_err(|e| Error::invalid(e.to_string()))?.chunk_bytes;
            if nbytes != wanted {
                return Err(Error::invalid(format!("a chunk of {nbytes} bytes, not {wanted}")));
            }
            vec![(METALAYER.to_owned(), meta.write())]
        }
    };
    if spec.with_sums {
        let is_stored = !is_told(chunk)?;
        metalayers.push((guard::METALAYER.to_owned(), guard::content(chunk, is_stored)?));
    }
    let zones = zones.and_then(|zones| zones.fitted(chunk.len())?.write());
    let sealed = zones.as_ref().map(|_| zones::METALAYER);
    metalayers
        .extend(zones.map(|zones| (zones::METALAYER.to_owned(), [&[0; SEAL_BYTES], &zones[..]].concat())));
    let params = &spec.params;
    let frame = Spec {
        typesize: if params.typesize > TYPESIZE_MAX { 1 } else { params.typesize },
        chunk_bytes: nbytes,
        blocksize: params.block_bytes(nbytes),
        codec_id: params.codec.id(),
        codec_meta: params.codec_meta,
        level: params.level,
        pipeline: params.pipeline,
        split: params.split,
        dictionary: params.dictionary,
        metalayers,
        has_variable_blocks: false,
        with_sums: false,
        with_statistics: false,
    };
    wrap_chunk(&frame, chunk, sealed)
}

/// Encodes the items of a chunk as a frame.
pub(crate) fn encode_frame(spec: &Blosc2Spec, plain: &[u8], job: &Job<'_>) -> Result<Vec<u8>> {
    let Some(blocks) = &spec.blocks else {
        return wrap(spec, encode(plain, &spec.params, job)?);
    };
    let sizes = meta(spec, blocks)?.sizes(spec.itemsize);
    let sizes = sizes.map_err(|e| Error::limit(e.to_string()))?;
    let tiles = tiles(spec, blocks)?;
    let items = tiles.shape.iter().product::<usize>() * spec.itemsize;
    if plain.len() != items {
        return Err(Error::invalid(format!("{} bytes for a chunk of {items}", plain.len())));
    }
    if tiles.are_in_order() && sizes.chunk_bytes == plain.len() {
        return wrap(spec, encode(plain, &spec.params, job)?);
    }
    let (mut chunk, gather) = (Vec::new(), Gather { tiles, plain });
    let cbytes = encode_blocks_of(&gather, sizes.chunk_bytes, &spec.params, &mut chunk, job)?;
    chunk.truncate(cbytes);
    wrap(spec, chunk)
}

/// Encodes the items of a chunk of one axis as a frame with a zone map of these fields, for which the first `rows`
/// items count.
pub(crate) fn encode_zoned(
    spec: &Blosc2Spec,
    plain: &[u8],
    fields: &[ZoneField],
    rows: u64,
    job: &Job<'_>,
) -> Result<Vec<u8>> {
    let chunk = encode(plain, &spec.params, job)?;
    // What stands in the frame's index alone, or comes out as something else, needs no map or cannot have one.
    let is_plain = !is_told(&chunk)? && spec.blocks.is_none() && !spec.params.is_lossy();
    let zones = is_plain.then(|| {
        let bytes = usize::try_from(rows).unwrap_or(usize::MAX).saturating_mul(spec.itemsize);
        let items = &plain[..bytes.min(plain.len())];
        let zone_rows = spec.params.block_bytes(plain.len()) / spec.itemsize.max(1);
        Zones::gather(fields, spec.itemsize, items, zone_rows)
    });
    wrap_with(spec, &chunk, zones)
}

/// Writes into an encoded chunk where it belongs: the coordinates of its first item. Nothing is written into bytes
/// that are no frame with checksums.
pub fn put_place(stored: &mut [u8], start: &[u64]) {
    guard::put_place(stored, start);
}

/// Whether an encoded chunk has checksums.
pub fn has_sums(stored: &[u8]) -> bool {
    guard::has_sums(stored)
}

/// Whether the frame's index alone says what is in a chunk.
fn is_told(chunk: &[u8]) -> Result<bool> {
    let kind = Header::read(chunk, &Limits::default())?.kind()?;
    Ok(matches!(kind, Kind::Special(special) if special != Special::Value))
}

/// Makes the blocks of an array of its items in C order.
struct Gather<'a> {
    tiles: Tiles,
    plain: &'a [u8],
}

impl BlockSource for Gather<'_> {
    fn fill(&self, number: usize, out: &mut [u8]) {
        let tile = self.tiles.tile(number);
        if !self.tiles.is_full(&tile) {
            out.fill(0);
        }
        self.tiles.gather(&tile, self.plain, out);
    }
}

/// What the frame says of its array: the items have no dtype but their size, unless numbers are encoded as such.
fn meta(spec: &Blosc2Spec, blocks: &[u64]) -> Result<Meta> {
    let Blosc2Spec { dims, itemsize, dtype, .. } = spec;
    let narrow = |extents: &[u64]| -> Result<Vec<u32>> {
        let one = |&n: &u64| i32::try_from(n).map(i32::unsigned_abs);
        let all: Result<_, _> = extents.iter().map(one).collect();
        all.map_err(|_| Error::limit(format!("{extents:?} items: a frame's array has up to {}", i32::MAX)))
    };
    Ok(Meta {
        shape: dims.clone(),
        chunks: narrow(dims)?,
        blocks: narrow(blocks)?,
        dtype_format: 0,
        dtype: Some(if dtype.is_empty() { format!("|V{itemsize}") } else { dtype.clone() }),
    })
}

fn tiles(spec: &Blosc2Spec, blocks: &[u64]) -> Result<Tiles> {
    let narrow = |extents: &[u64]| -> Result<Vec<usize>> {
        let all: Result<_, _> = extents.iter().map(|&n| usize::try_from(n)).collect();
        all.map_err(|_| Error::limit(format!("{extents:?} items")))
    };
    let (shape, block) = (narrow(&spec.dims)?, narrow(blocks)?);
    if shape.len() != block.len() || block.contains(&0) {
        return Err(Error::invalid(format!("blocks {blocks:?} of chunks {:?}", spec.dims)));
    }
    let grid = shape.iter().zip(&block).map(|(shape, block)| shape.div_ceil(*block)).collect();
    let (start, extent) = (vec![0; shape.len()], shape.clone());
    Ok(Tiles { shape, start, extent, block, grid, itemsize: spec.itemsize })
}
