//! The metalayer that makes a frame an array: shape, chunk shape, block shape and dtype.
//!
//! In: the content of the metalayer `b2nd`, or of its forerunner `caterva`. Out: a checked [`Meta`], and back to
//! the same bytes.
//! Source: `docs/formats/b2nd.md`, "Metalayer" and "Checks of a reader".
//! Invariant: of a `Meta` that was read, all counts of items fit 64 bits, and no axis with items has chunks or
//! blocks of zero. `Meta::read(meta.write()) == meta`.

use crate::base::bytes::ByteReader;
use crate::base::error::{Error, Result};
use crate::base::layout::BlockLayout;
use crate::chunk::{BLOCK_BYTES_MAX, CHUNK_BYTES_MAX};
use crate::frame::NCHUNKS_MAX;

/// Name of the metalayer.
pub(crate) const METALAYER: &str = "b2nd";
/// Its name in old files, where it has no dtype.
pub(crate) const METALAYER_OLD: &str = "caterva";
/// The most axes.
pub(crate) const NDIM_MAX: usize = 16;

const VERSION: u8 = 0;
/// msgpack: an array of so many parts. Written as a sum even for 16, where msgpack has another form.
const ARRAY: u8 = 0x90;
const PARTS: u8 = 7;
const PARTS_OLD: u8 = 5;
const INT64: u8 = 0xd3;
const INT32: u8 = 0xd2;
const TEXT32: u8 = 0xdb;

/// What a frame says of the array in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meta {
    /// Items along each axis.
    pub shape: Vec<u64>,
    /// Items of a chunk along each axis.
    pub chunks: Vec<u32>,
    /// Items of a block along each axis.
    pub blocks: Vec<u32>,
    /// How `dtype` is to be read: 0 is NumPy's notation.
    pub dtype_format: u8,
    /// Text of the dtype; `None` in a `caterva` layer, which has no room for one.
    pub dtype: Option<String>,
}

/// Sizes that follow from shapes and the size of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Bytes of every block.
    pub block_bytes: usize,
    /// Bytes of every chunk, with the padding at its edges.
    pub chunk_bytes: usize,
    /// How many chunks there are.
    pub nchunks: u64,
    /// Bytes of all chunks, padding included.
    pub nbytes: u64,
}

/// What the metalayers of a frame say of an array in it, if there is one.
pub(crate) fn find(layers: &[(String, Vec<u8>)]) -> Result<Option<Meta>> {
    let named = |wanted: &str| layers.iter().find(|(name, _)| name == wanted);
    named(METALAYER).or_else(|| named(METALAYER_OLD)).map(|(_, content)| Meta::read(content)).transpose()
}

impl Meta {
    /// The name of the layer that says this.
    pub(crate) fn name(&self) -> &'static str {
        if self.dtype.is_some() { METALAYER } else { METALAYER_OLD }
    }

    /// What codecs and filters are told of the blocks, of items of `item_bytes` bytes.
    pub(crate) fn layout(&self, item_bytes: usize) -> BlockLayout {
        let blocks: Vec<u64> = self.blocks.iter().map(|&n| n.into()).collect();
        BlockLayout::new(&blocks, item_bytes, self.dtype.as_deref().unwrap_or_default())
    }

    /// Reads a layer.
    ///
    /// # Errors
    ///
    /// `Corrupt` or `Truncated` if the bytes contradict the format, `Unsupported` for another version.
    pub fn read(bytes: &[u8]) -> Result<Self> {
        Self::parse(bytes).and_then(Self::check).map_err(|e| e.at("array metalayer"))
    }

    fn parse(bytes: &[u8]) -> Result<Self> {
        let mut r = ByteReader::new(bytes);
        let marker = r.u8("marker")?;
        let has_dtype = marker == ARRAY + PARTS;
        if !has_dtype && marker != ARRAY + PARTS_OLD {
            return Err(Error::corrupt(format!("marker: {marker:#04x} is not that of 7 or 5 parts")));
        }
        let version = r.u8("version")?;
        if version != VERSION {
            return Err(Error::unsupported(format!(
                "version {version} of array metalayers: takes {VERSION}"
            )));
        }
        let ndim = r.u8("ndim")?;
        if usize::from(ndim) > NDIM_MAX {
            return Err(Error::corrupt(format!("ndim: {ndim} axes, the most are {NDIM_MAX}")));
        }
        let mut meta = Self {
            shape: axes(&mut r, "shape", ndim, INT64, length)?,
            chunks: axes(&mut r, "chunks", ndim, INT32, extent)?,
            blocks: axes(&mut r, "blocks", ndim, INT32, extent)?,
            dtype_format: 0,
            dtype: None,
        };
        let mut behind = meta.bytes_of_shapes();
        if has_dtype {
            meta.dtype_format = r.u8("dtype format")?;
            expect(&mut r, "dtype", TEXT32)?;
            let length = i32::from_be_bytes(r.array("dtype")?);
            let length = usize::try_from(length)
                .map_err(|_| Error::corrupt(format!("dtype: a text of {length} bytes")))?;
            behind += 6;
            meta.dtype = Some(text(bytes.get(behind..).unwrap_or_default(), length)?);
            behind += length;
        }
        if behind != bytes.len() {
            return Err(Error::corrupt(format!("{} bytes behind the last part", bytes.len() - behind)));
        }
        Ok(meta)
    }

    /// Checks what holds whatever the size of an item; for layers that were read, and after a change of shape.
    fn check(self) -> Result<Self> {
        // An item of no bytes passes all limits in bytes: those need the frame, see `sizes`.
        self.sizes(0)?;
        for (axis, &length) in self.shape.iter().enumerate() {
            let (chunk, block) = (self.chunks.get(axis), self.blocks.get(axis));
            if length > 0 && (chunk == Some(&0) || block == Some(&0)) {
                let sentence =
                    format!("axis {axis}: {length} items in chunks of {chunk:?}, blocks of {block:?}");
                return Err(Error::corrupt(sentence));
            }
        }
        Ok(self)
    }

    /// Returns the layer's bytes: `b2nd`, or `caterva` without a dtype. Their number does not depend on the shape's
    /// values, so a resized array's layer fits where the old one is.
    pub fn write(&self) -> Vec<u8> {
        // Checked arrays have at most 16 axes.
        let ndim = u8::try_from(self.shape.len()).unwrap_or(u8::MAX);
        let marker = ARRAY + if self.dtype.is_some() { PARTS } else { PARTS_OLD };
        let mut out = vec![marker, VERSION, ndim, ARRAY.wrapping_add(ndim)];
        for &length in &self.shape {
            out.push(INT64);
            out.extend_from_slice(&length.to_be_bytes());
        }
        for extents in [&self.chunks, &self.blocks] {
            out.push(ARRAY.wrapping_add(ndim));
            for &extent in extents {
                out.push(INT32);
                out.extend_from_slice(&extent.to_be_bytes());
            }
        }
        if let Some(dtype) = &self.dtype {
            out.extend_from_slice(&[self.dtype_format, TEXT32]);
            out.extend_from_slice(&u32::try_from(dtype.len()).unwrap_or(u32::MAX).to_be_bytes());
            out.extend_from_slice(dtype.as_bytes());
        }
        out
    }

    fn bytes_of_shapes(&self) -> usize {
        6 + self.shape.len() * (9 + 5 + 5)
    }

    /// Returns the sizes that follow for items of `typesize` bytes.
    ///
    /// # Errors
    ///
    /// `Corrupt` if one of them is more than the format can hold.
    pub fn sizes(&self, typesize: usize) -> Result<Sizes> {
        let wide = |extents: &[u32]| extents.iter().map(|&n| n.into()).collect::<Vec<u64>>();
        Sizes::of(&self.shape, &wide(&self.chunks), &wide(&self.blocks), typesize).map_err(Error::corrupt)
    }

    /// Returns the bytes of an item, from what the frame says of typesize and block size. They are the frame's
    /// typesize, but where C-Blosc2 copied items of more than 255 bytes: there it left 1.
    ///
    /// # Errors
    ///
    /// `Corrupt` if block size, typesize and block shape contradict each other.
    pub fn item_bytes(&self, typesize: usize, blocksize: usize) -> Result<usize> {
        let items = self.blocks.iter().try_fold(1, |n: usize, &b| n.checked_mul(usize::try_from(b).ok()?));
        let items = items.unwrap_or(usize::MAX);
        let bytes = items.saturating_mul(typesize);
        if typesize > 0 && (blocksize == 0 || blocksize == bytes) {
            return Ok(typesize);
        }
        match blocksize.checked_div(items) {
            Some(recovered) if typesize == 1 && recovered > 255 && recovered * items == blocksize => {
                Ok(recovered)
            }
            _ => Err(Error::corrupt(format!(
                "blocksize: {blocksize} bytes, blocks of {items} items of {typesize} have {bytes}"
            ))),
        }
    }
}

impl Sizes {
    /// The sizes of an array, or why the format cannot hold it.
    pub(crate) fn of(shape: &[u64], chunks: &[u64], blocks: &[u64], typesize: usize) -> Result<Self, String> {
        let ndim = shape.len();
        if ndim > NDIM_MAX || chunks.len() != ndim || blocks.len() != ndim {
            let given = (chunks.len(), blocks.len());
            return Err(format!("{ndim} axes, chunks and blocks have {given:?}; the most are {NDIM_MAX}"));
        }
        let grid = grid(shape, chunks);
        let padded: Vec<u64> = grid.iter().zip(chunks).map(|(&n, &chunk)| n.saturating_mul(chunk)).collect();
        let in_chunk = self::grid(chunks, blocks);
        let most = i64::MAX.unsigned_abs();
        let small = i32::MAX.unsigned_abs().into();
        let typesize = typesize as u64;
        product("shape", shape, 1, most)?;
        product("shape, padded to whole chunks", &padded, 1, most)?;
        if chunks.iter().chain(blocks).any(|&n| n > small) {
            return Err(format!("chunks: {chunks:?}, blocks: {blocks:?}, one of them more than {small}"));
        }
        product("chunks", chunks, 1, small)?;
        let block_items = product("blocks", blocks, 1, small)?;
        let nchunks = product("number of chunks", &grid, 1, NCHUNKS_MAX)?;
        let block_bytes = product("bytes of a block", &[block_items], typesize, BLOCK_BYTES_MAX as u64)?;
        let nblocks = product("number of blocks in a chunk", &in_chunk, 1, most)?;
        product("chunks, padded to whole blocks", &[nblocks, block_items], 1, most)?;
        let chunk_bytes = product("bytes of a chunk", &[nblocks], block_bytes, CHUNK_BYTES_MAX as u64)?;
        let nbytes = product("bytes", &[nchunks], chunk_bytes, most)?;
        // No more than CHUNK_BYTES_MAX, which is a usize.
        let narrow = |bytes: u64| usize::try_from(bytes).map_err(|_| format!("{bytes} bytes"));
        Ok(Self { block_bytes: narrow(block_bytes)?, chunk_bytes: narrow(chunk_bytes)?, nchunks, nbytes })
    }
}

/// How many parts of `part` cover `whole`, along each axis; none along an axis where parts are empty.
fn grid(whole: &[u64], part: &[u64]) -> Vec<u64> {
    whole.iter().zip(part).map(|(&whole, &part)| if part == 0 { 0 } else { whole.div_ceil(part) }).collect()
}

/// The product of all `factors` and `unit`, at most `most`. A factor 0 makes it 0, but even without it the product must
/// be countable, as for NumPy: so strides are, and an axis without items can grow.
fn product(what: &str, factors: &[u64], unit: u64, most: u64) -> Result<u64, String> {
    let all = || factors.iter().copied().chain([unit]);
    let countable = all().try_fold(1, |total: u64, n| total.checked_mul(n.max(1)));
    let product = if all().any(|n| n == 0) { Some(0) } else { countable };
    match (product, countable) {
        (Some(product), Some(countable)) if product <= most && countable <= i64::MAX.unsigned_abs() => {
            Ok(product)
        }
        _ if unit == 1 => Err(format!("{what}: {factors:?}, together more than {most}")),
        _ => Err(format!("{what}: {factors:?} times {unit} are more than {most}")),
    }
}

fn expect(r: &mut ByteReader<'_>, field: &str, marker: u8) -> Result<()> {
    match r.u8(field)? {
        found if found == marker => Ok(()),
        found => Err(Error::corrupt(format!("{field}: marker {found:#04x}, must be {marker:#04x}"))),
    }
}

/// An array of `ndim` numbers, each behind a marker.
fn axes<T>(
    r: &mut ByteReader<'_>,
    field: &str,
    ndim: u8,
    marker: u8,
    one: impl Fn(&mut ByteReader<'_>, &str) -> Result<T>,
) -> Result<Vec<T>> {
    expect(r, field, ARRAY + ndim)?;
    let mut number = || {
        expect(r, field, marker)?;
        one(r, field)
    };
    (0..ndim).map(|_| number()).collect()
}

fn length(r: &mut ByteReader<'_>, field: &str) -> Result<u64> {
    let stored = i64::from_be_bytes(r.array(field)?);
    u64::try_from(stored).map_err(|_| Error::corrupt(format!("{field}: {stored} items")))
}

fn extent(r: &mut ByteReader<'_>, field: &str) -> Result<u32> {
    let stored = i32::from_be_bytes(r.array(field)?);
    u32::try_from(stored).map_err(|_| Error::corrupt(format!("{field}: {stored} items")))
}

/// The first `length` bytes as text.
fn text(bytes: &[u8], length: usize) -> Result<String> {
    let Some(text) = bytes.get(..length) else {
        return Err(Error::truncated(format!("dtype: needs {length} bytes, {} left", bytes.len())));
    };
    let text = std::str::from_utf8(text).map_err(|e| Error::corrupt(format!("dtype: not UTF-8: {e}")))?;
    Ok(text.to_owned())
}
