//! The header of a frame: 87 fixed bytes and the metalayers.
//!
//! In: the first bytes of a frame. Out: a [`Header`] whose fields have been checked against each other. It keeps
//! the bytes it was read from, and changes only what it must, so that what others keep in a header survives.
//! Source: `docs/formats/frame.md`, "Header" and "Metalayers".

use super::fields::Fields;
use super::metalayers::{self, Layer};
use super::spec::{Kind, METALAYERS_MAX, Spec};
use crate::base::error::{Error, Result};
use crate::base::io::ReadAt;
use crate::chunk::{CHUNK_BYTES_MAX, Special, Split};
use crate::codec::LEVEL_MAX;
use crate::filter::{Pipeline, SLOTS, Slot};

/// Bytes before the metalayers.
pub(crate) const FIXED_BYTES: usize = 87;
/// Bytes of the shortest header: no metalayers.
pub(crate) const HEADER_BYTES_MIN: usize = FIXED_BYTES + 10;
/// Most headers are shorter than this, and are read at once.
pub(crate) const FIRST_BYTES: u64 = 1024;

pub(crate) const MAGIC: [u8; 10] = *b"\x9e\xa8b2frame\0";
const VERSION: u8 = 2;
/// The version of frames with chunks of unequal sizes.
const VERSION_VARIABLE: u8 = 3;
const FLAGS_OFFSETS_64: u8 = 0x10;
pub(crate) const FLAG_VARIABLE_CHUNKS: u8 = 0x40;
const FLAG_VARIABLE_BLOCKS: u8 = 0x80;
/// In the low half of byte 27: the compressor's id is in byte 77.
pub(crate) const CODEC_SEE_BELOW: u8 = 6;

pub(crate) const AT_FRAME_LEN: usize = 16;
pub(crate) const AT_FLAGS: usize = 25;
const AT_NBYTES: usize = 30;
const AT_CBYTES: usize = 39;
const AT_CHUNK_BYTES: usize = 58;
/// Numbers of threads, which nobody reads. C-Blosc2 writes some, we write zeros: so it is seen who wrote.
const AT_THREADS: [usize; 2] = [63, 66];
const OUR_THREADS: [u8; 2] = [0; 2];
/// The first bytes from the first of these numbers to the end of the second.
pub(crate) const THREADS: std::ops::Range<usize> = 63..68;
/// What a program that changes content of metalayers has no reason to change: lengths, kind, sizes.
const FIXED_WHILE_CHUNKS_STAY: [std::ops::Range<usize>; 4] = [0..27, 29..53, 57..63, 68..70];
const AT_HAS_VLMETALAYERS: usize = 68;

/// The fields that change with the chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) frame_len: u64,
    pub(crate) nbytes: u64,
    pub(crate) cbytes: u64,
    pub(crate) has_vlmetalayers: bool,
}

/// A checked header.
#[derive(Clone, Debug)]
pub(crate) struct Header {
    raw: Vec<u8>,
    pub(crate) kind: Kind,
    pub(crate) counts: Counts,
    pub(crate) typesize: usize,
    pub(crate) blocksize: usize,
    /// Uncompressed bytes of each chunk but the last; 0 for variable ones, and perhaps where there are no chunks.
    pub(crate) chunk_bytes: usize,
    pub(crate) codec_id: u8,
    pub(crate) codec_meta: u8,
    pub(crate) level: u8,
    pub(crate) split: Split,
    pub(crate) pipeline: Pipeline,
    pub(crate) dictionary: bool,
    layers: Vec<Layer>,
}

impl Header {
    /// Reads the header of the frame that starts at `base`, of which `available` bytes are there.
    pub(crate) fn load(source: &dyn ReadAt, base: u64, available: u64) -> Result<Self> {
        let load = || {
            let first = usize::try_from(available.min(FIRST_BYTES)).unwrap_or(0);
            let mut bytes = vec![0; first];
            source.read_exact_at(&mut bytes, base)?;
            let header_len = Self::announced(&bytes)?;
            if header_len as u64 > available {
                return Err(Error::truncated(format!(
                    "header_len: {header_len}, {available} bytes are there"
                )));
            }
            if header_len > first {
                bytes.resize(header_len, 0);
                source.read_exact_at(&mut bytes, base)?;
            }
            bytes.truncate(header_len);
            Self::read(bytes)
        };
        load().map_err(|e| e.at("frame header"))
    }

    /// How long the header says it is.
    fn announced(bytes: &[u8]) -> Result<usize> {
        let mut r = Fields::new(bytes, 0);
        if r.array("magic")? != MAGIC {
            return Err(Error::corrupt("magic: not a frame"));
        }
        r.marker(0xd2, "header_len")?;
        let header_len = r.size("header_len")?;
        if header_len < FIXED_BYTES {
            return Err(Error::corrupt(format!("header_len: {header_len}, takes {FIXED_BYTES} and more")));
        }
        Ok(header_len)
    }

    /// Reads and checks a header, of which `raw` are exactly the bytes.
    pub(crate) fn read(raw: Vec<u8>) -> Result<Self> {
        let header_len = Self::announced(&raw)?;
        if header_len != raw.len() {
            return Err(Error::truncated(format!("header_len: {header_len} of {} bytes", raw.len())));
        }
        let mut header = Self::parse(&raw)?;
        header.layers = metalayers::read(&raw, FIXED_BYTES, METALAYERS_MAX)?;
        header.raw = raw;
        header.check()
    }

    fn parse(raw: &[u8]) -> Result<Self> {
        let mut r = Fields::new(raw, AT_FRAME_LEN - 1);
        r.marker(0xcf, "frame_len")?;
        let frame_len = r.long_size("frame_len")?;
        r.marker(0xa4, "flags")?;
        let [flags, kind, codec, split] = r.array("flags")?;
        check_flags(flags)?;
        r.marker(0xd3, "nbytes")?;
        let nbytes = r.long_size("nbytes")?;
        r.marker(0xd3, "cbytes")?;
        let cbytes = r.long_size("cbytes")?;
        // C-Blosc2 takes the last chunk out of a file and still counts its bytes.
        let cbytes = if nbytes == 0 && kind_of(kind)? == Kind::Contiguous { 0 } else { cbytes };
        r.marker(0xd2, "typesize")?;
        let typesize = r.size("typesize")?;
        r.marker(0xd2, "blocksize")?;
        let blocksize = r.size("blocksize")?;
        r.marker(0xd2, "chunksize")?;
        let chunk_bytes = chunk_bytes(r.i32("chunksize")?, nbytes)?;
        for threads in ["threads for compression", "threads for decompression"] {
            r.marker(0xd1, threads)?;
            let _ = r.u16(threads)?;
        }
        let has_vlmetalayers = match r.u8("has_vlmetalayers")? {
            0xc2 => false,
            0xc3 => true,
            byte => {
                return Err(Error::corrupt(format!("has_vlmetalayers: {byte:#04x} is not a truth value")));
            }
        };
        let (pipeline, codec_id, codec_meta, dictionary) = filters(&mut r)?;
        Ok(Self {
            raw: Vec::new(),
            kind: kind_of(kind)?,
            counts: Counts { frame_len, nbytes, cbytes, has_vlmetalayers },
            typesize,
            blocksize,
            chunk_bytes,
            codec_id: if codec & 0x0f == CODEC_SEE_BELOW { codec_id } else { codec & 0x0f },
            codec_meta,
            level: codec >> 4,
            split: split_of(split),
            pipeline,
            dictionary,
            layers: Vec::new(),
        })
    }

    fn check(self) -> Result<Self> {
        if self.typesize == 0 {
            return Err(Error::corrupt("typesize: 0 is not a size"));
        }
        if self.level > LEVEL_MAX {
            return Err(Error::corrupt(format!("level: {}, takes 0..={LEVEL_MAX}", self.level)));
        }
        let parts = self.counts.cbytes.checked_add(self.raw.len() as u64);
        let is_within = parts.is_some_and(|end| end <= self.counts.frame_len);
        if self.kind == Kind::Contiguous && !is_within {
            let (cbytes, len) = (self.counts.cbytes, self.counts.frame_len);
            return Err(Error::corrupt(format!("cbytes: {cbytes} in a frame of {len} bytes")));
        }
        Ok(self)
    }

    /// The bytes.
    pub(crate) fn raw(&self) -> &[u8] {
        &self.raw
    }

    /// Whether another program has made this header of ours by giving metalayers other content.
    pub(crate) fn is_foreign_change_of(&self, ours: &Self) -> bool {
        let is_same = |range: std::ops::Range<usize>| self.raw.get(range.clone()) == ours.raw.get(range);
        let mut at = FIXED_BYTES;
        let mut contents: Vec<_> = ours.layers.iter().map(|layer| layer.content.clone()).collect();
        contents.sort_unstable_by_key(|content| content.start);
        let is_same_around = contents.into_iter().all(|content| {
            let before = at..content.start;
            at = content.end;
            is_same(before)
        });
        is_foreign(&self.raw)
            && self.raw.len() == ours.raw.len()
            && FIXED_WHILE_CHUNKS_STAY.into_iter().all(is_same)
            && is_same_around
            && is_same(at..self.raw.len())
    }

    /// How many bytes there are.
    pub(crate) fn len(&self) -> u64 {
        self.raw.len() as u64
    }

    /// Sets what changes with the chunks.
    pub(crate) fn set_counts(&mut self, counts: Counts) {
        self.counts = counts;
        put(&mut self.raw, AT_FRAME_LEN, &counts.frame_len.to_be_bytes());
        put(&mut self.raw, AT_NBYTES, &counts.nbytes.to_be_bytes());
        put(&mut self.raw, AT_CBYTES, &counts.cbytes.to_be_bytes());
        put(&mut self.raw, AT_HAS_VLMETALAYERS, &[if counts.has_vlmetalayers { 0xc3 } else { 0xc2 }]);
        for at in AT_THREADS {
            put(&mut self.raw, at, &OUR_THREADS);
        }
    }

    /// Sets the size of chunks, of which there are none yet; 0 for variable.
    pub(crate) fn set_chunk_bytes(&mut self, bytes: usize) -> Result<()> {
        if bytes > CHUNK_BYTES_MAX {
            return Err(Error::invalid(format!("chunk size {bytes}: takes 0..={CHUNK_BYTES_MAX}")));
        }
        self.chunk_bytes = bytes;
        put(&mut self.raw, AT_FLAGS, &[flags(bytes)]);
        put(&mut self.raw, AT_CHUNK_BYTES, &i32::try_from(bytes).unwrap_or(0).to_be_bytes());
        Ok(())
    }

    /// Whether chunks are of blocks that each have their own size.
    pub(crate) fn has_variable_blocks(&self) -> bool {
        self.raw.get(AT_FLAGS).is_some_and(|flags| flags & FLAG_VARIABLE_BLOCKS != 0)
    }

    /// Says that chunks are of blocks that each have their own size.
    pub(crate) fn set_variable_blocks(&mut self) {
        let flags = self.raw.get(AT_FLAGS).copied().unwrap_or(0);
        put(&mut self.raw, AT_FLAGS, &[variable_blocks(flags)]);
    }

    /// Names and contents, in order.
    pub(crate) fn metalayers(&self) -> impl Iterator<Item = (&str, &[u8])> {
        let content = |layer: &Layer| self.raw.get(layer.content.clone()).unwrap_or_default();
        self.layers.iter().map(move |layer| (layer.name.as_str(), content(layer)))
    }

    /// Where in the bytes the content of a metalayer is.
    pub(crate) fn metalayer_range(&self, name: &str) -> Option<std::ops::Range<usize>> {
        self.layers.iter().find(|layer| layer.name == name).map(|layer| layer.content.clone())
    }

    /// Gives a metalayer new content of the same length.
    pub(crate) fn set_metalayer(&mut self, name: &str, content: &[u8]) -> Result<()> {
        let place = self.metalayer_range(name).and_then(|content| self.raw.get_mut(content));
        let place = place.ok_or_else(|| Error::invalid(format!("metalayer {name:?}: there is none")))?;
        if place.len() != content.len() {
            let (now, then) = (place.len(), content.len());
            return Err(Error::invalid(format!("metalayer {name:?}: {then} bytes in place of {now}")));
        }
        place.copy_from_slice(content);
        Ok(())
    }

    /// How many chunks there are, unless only the index tells.
    pub(crate) fn nchunks(&self) -> Option<u64> {
        nchunks(self.counts.nbytes, self.chunk_bytes)
    }

    /// The bytes that chunk `number` decodes to, unless only the chunk tells.
    pub(crate) fn nbytes_of(&self, number: u64) -> Option<usize> {
        let each = self.chunk_bytes as u64;
        let left = self.counts.nbytes.saturating_sub(number.saturating_mul(each));
        (each > 0).then(|| usize::try_from(left.min(each)).unwrap_or(usize::MAX))
    }

    /// What a new frame must be told to be like this one.
    pub(crate) fn spec(&self, with_sums: bool, with_statistics: bool) -> Spec {
        Spec {
            typesize: self.typesize,
            chunk_bytes: self.chunk_bytes,
            blocksize: self.blocksize,
            codec_id: self.codec_id,
            codec_meta: self.codec_meta,
            level: self.level,
            pipeline: self.pipeline,
            split: self.split,
            dictionary: self.dictionary,
            metalayers: self
                .metalayers()
                .map(|(name, content)| (name.to_owned(), content.to_vec()))
                .collect(),
            has_variable_blocks: self.has_variable_blocks(),
            with_sums,
            with_statistics,
        }
    }

    /// Whether chunks of this special value can be told by the index alone.
    pub(crate) fn takes_special(&self, special: Special) -> Result<()> {
        match special {
            _ if self.chunk_bytes == 0 => {
                Err(Error::invalid("special value: has no size where sizes of chunks vary"))
            }
            Special::Value => Err(Error::invalid("special value: a repeated value must be stored")),
            Special::Nans if ![4, 8].contains(&self.typesize) => {
                let bytes = self.typesize;
                Err(Error::invalid(format!("special value: NaNs are of 4 or 8 bytes, not {bytes}")))
            }
            _ => Ok(()),
        }
    }
}

/// Whether another program wrote the header of these bytes. No single damaged byte can look like that.
pub(crate) fn is_foreign(raw: &[u8]) -> bool {
    AT_THREADS.iter().all(|&at| raw.get(at..at + 2) != Some(&OUR_THREADS))
}

/// How many chunks of this size hold so many bytes, where they have one.
pub(crate) fn nchunks(nbytes: u64, chunk_bytes: usize) -> Option<u64> {
    match chunk_bytes {
        _ if nbytes == 0 => Some(0),
        0 => None,
        each => Some(nbytes.div_ceil(each as u64)),
    }
}

/// The flags of a frame that has these flags otherwise, and whose blocks have sizes of their own.
pub(super) fn variable_blocks(flags: u8) -> u8 {
    flags & 0xf0 | FLAG_VARIABLE_BLOCKS | VERSION_VARIABLE
}

/// The general flags of a frame with chunks of this size.
pub(crate) fn flags(chunk_bytes: usize) -> u8 {
    FLAGS_OFFSETS_64 | if chunk_bytes == 0 { VERSION_VARIABLE | FLAG_VARIABLE_CHUNKS } else { VERSION }
}

pub(crate) fn put(raw: &mut [u8], at: usize, bytes: &[u8]) {
    if let Some(place) = raw.get_mut(at..at + bytes.len()) {
        place.copy_from_slice(bytes);
    }
}

fn chunk_bytes(stored: i32, nbytes: u64) -> Result<usize> {
    match usize::try_from(stored) {
        Ok(bytes) if bytes <= CHUNK_BYTES_MAX => Ok(bytes),
        // While there are no chunks, C-Blosc2 may not know their size yet.
        Err(_) if nbytes == 0 => Ok(0),
        _ => Err(Error::corrupt(format!("chunksize: {stored}, takes 0..={CHUNK_BYTES_MAX}"))),
    }
}

/// Checks the general flags. Whether sizes of chunks vary is told by their size; writers differ in the version.
fn check_flags(flags: u8) -> Result<()> {
    let version = flags & 0x0f;
    if !(1..=VERSION_VARIABLE).contains(&version) {
        return Err(Error::unsupported(format!("version {version} of frames: takes 1..={VERSION_VARIABLE}")));
    }
    if flags & 0x30 != FLAGS_OFFSETS_64 {
        return Err(Error::unsupported(format!("flags: {flags:#04x} does not say 64-bit offsets")));
    }
    Ok(())
}

fn kind_of(byte: u8) -> Result<Kind> {
    match byte {
        0 => Ok(Kind::Contiguous),
        1 => Ok(Kind::Sparse),
        _ => Err(Error::unsupported(format!("frame type {byte}: takes 0 and 1"))),
    }
}

fn split_of(byte: u8) -> Split {
    match byte & 3 {
        0 => Split::Always,
        1 => Split::Never,
        _ => Split::Auto,
    }
}

/// The fields from byte 69 on: filters, codec id, codec parameter, and whether dictionaries are used.
fn filters(r: &mut Fields<'_>) -> Result<(Pipeline, u8, u8, bool)> {
    r.marker(0xd8, "filters")?;
    let count = usize::from(r.u8("count of filters")?);
    if count > SLOTS {
        return Err(Error::corrupt(format!("count of filters: {count}, takes 0..={SLOTS}")));
    }
    let ids: [u8; SLOTS] = r.array("filters")?;
    let [codec_id, codec_meta] = r.array("codec")?;
    let metas: [u8; SLOTS] = r.array("parameters of filters")?;
    let [flags, _reserved] = r.array("other flags")?;
    let mut pipeline = Pipeline::default();
    for (slot, (id, meta)) in pipeline.slots.iter_mut().zip(ids.into_iter().zip(metas)).take(count) {
        *slot = Slot { id, meta };
    }
    Ok((pipeline, codec_id, codec_meta, flags & 1 != 0))
}
