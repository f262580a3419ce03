//! Codecs: turn the bytes of one stream into fewer bytes, and back into exactly as many.
//!
//! A [`Codec`] is a row of [`CODECS`]; for a chunk it makes an [`Encode`] or a [`Decode`], which holds what is
//! the same for all streams of the chunk (level, prepared dictionary). Working memory belongs to the thread.
//!
//! Source: `docs/formats/codecs.md`.
//! Invariant: encoded bytes depend on level, dictionary and input only, not on what a thread did before.

mod blosclz;
mod deflate;
mod lz4;
mod noise;
mod snappy;
mod zlib;
mod zstd;
mod zstd_params;

use crate::base::error::{Error, Result};

/// Every codec there is. Adding one is a file in this folder and a row here.
pub static CODECS: &[&dyn Codec] =
    &[&blosclz::Blosclz, &lz4::Lz4, &lz4::Lz4hc, &snappy::Snappy, &zlib::Zlib, &zstd::Zstd];

/// The highest level of every codec; 0 stores without compressing.
pub const LEVEL_MAX: u8 = 9;

/// A way to make streams smaller.
pub trait Codec: Sync {
    /// The name that users write, such as `lz4hc`.
    fn name(&self) -> &'static str;

    /// The compressor id: byte 22 of a chunk header, and the frame header.
    fn id(&self) -> u8;

    /// The stream format: bits 5 to 7 of a chunk's flags. LZ4 and LZ4HC share one.
    fn format(&self) -> u8;

    /// Whether it compresses slowly and well, so that larger blocks pay.
    fn is_high_ratio(&self) -> bool {
        false
    }

    /// Whether shuffled blocks are cut in one stream per byte plane at this level, unless the user says otherwise.
    fn splits(&self, level: u8) -> bool;

    /// Whether streams of a chunk can share a dictionary.
    fn takes_dictionary(&self) -> bool {
        false
    }

    /// Whether this build can write it; all can be read.
    fn is_writable(&self) -> bool {
        true
    }

    /// An encoder for the streams of one chunk.
    ///
    /// # Errors
    /// `Invalid` if the codec takes no dictionary, `Unsupported` if it cannot be written.
    fn encoder(&self, options: &EncodeOptions<'_>) -> Result<Box<dyn Encode>>;

    /// A decoder for the streams of one chunk. `dictionary` is empty for none.
    ///
    /// # Errors
    /// `Corrupt` if the codec takes no dictionary, or not this one.
    fn decoder(&self, dictionary: &[u8]) -> Result<Box<dyn Decode>>;

    /// A dictionary for streams that look like `samples`, which lie one after another in `bytes`.
    /// At most `limit` bytes; empty if none could be made.
    fn train(&self, bytes: &[u8], samples: &Samples, limit: usize) -> Vec<u8> {
        let _ = (bytes, samples, limit);
        Vec::new()
    }
}

/// What an encoder is made for.
#[derive(Clone, Copy, Debug)]
pub struct EncodeOptions<'a> {
    /// 1 (fastest) to 9 (smallest).
    pub level: u8,
    /// Shared by all streams; empty for none.
    pub dictionary: &'a [u8],
    /// What the streams look like.
    pub shape: Shape,
}

/// What the filters made of the data: says where the noise is, and how far apart repeats are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shape {
    /// Items as they are.
    #[default]
    Plain,
    /// Byte planes.
    Planes,
    /// Bit planes.
    BitPlanes,
    /// Differences within byte planes.
    DeltaPlanes,
}

/// Equal samples for [`Codec::train`]: `count` of `bytes_each`.
#[derive(Clone, Copy, Debug)]
pub struct Samples {
    /// How many samples.
    pub count: usize,
    /// The bytes of each.
    pub bytes_each: usize,
}

/// Encodes the streams of one chunk.
pub trait Encode: Send + Sync {
    /// Writes the encoded stream to the front of `out` and returns its length; `None` if it does not fit.
    fn encode(&self, stream: &[u8], out: &mut [u8]) -> Option<usize>;
}

/// Decodes the streams of one chunk.
pub trait Decode: Send + Sync {
    /// Fills `out` exactly.
    ///
    /// # Errors
    /// `Corrupt` if the stream is damaged or does not hold exactly as many bytes.
    fn decode(&self, stream: &[u8], out: &mut [u8]) -> Result<()>;

    /// Fills `out` with the first bytes of a stream that holds more, with less work than all of it is; says whether
    /// it can. Of a stream that no encoder writes they may be other ones than [`Decode::decode`] gives.
    ///
    /// # Errors
    /// `Corrupt` if the stream is damaged as far as it was looked at.
    fn decode_front(&self, _stream: &[u8], _out: &mut [u8]) -> Result<bool> {
        Ok(false)
    }
}

/// The codec of that name.
///
/// # Errors
/// `Invalid` if there is none.
pub fn by_name(name: &str) -> Result<&'static dyn Codec> {
    find(|codec| codec.name() == name).ok_or_else(|| {
        let names: Vec<_> = CODECS.iter().filter(|c| c.is_writable()).map(|c| c.name()).collect();
        Error::invalid(format!("codec {name:?}: takes one of {}", names.join(", ")))
    })
}

/// The codec of that compressor id.
///
/// # Errors
/// `Unsupported` if there is none.
pub fn by_id(id: u8) -> Result<&'static dyn Codec> {
    find(|codec| codec.id() == id).ok_or_else(|| match REGISTERED.iter().find(|(known, _)| *known == id) {
        Some((_, name)) => Error::unsupported(format!("codec {id} ({name}) is not part of this build")),
        None => Error::unsupported(format!("codec {id} is unknown")),
    })
}

/// The codec that decodes a stream format of a chunk's flags.
pub(crate) fn by_format(format: u8) -> Result<&'static dyn Codec> {
    find(|codec| codec.format() == format)
        .ok_or_else(|| Error::corrupt(format!("flags: {format} is not a stream format")))
}

fn find(wanted: impl Fn(&dyn Codec) -> bool) -> Option<&'static dyn Codec> {
    CODECS.iter().copied().find(|codec| wanted(*codec))
}

/// Registered ids that are not in [`CODECS`]: they need their frame or a loaded plug-in. For errors only.
const REGISTERED: &[(u8, &str)] = &[
    (32, "ndlz"),
    (33, "zfp, fixed accuracy"),
    (34, "zfp, fixed precision"),
    (35, "zfp, fixed rate"),
    (36, "openhtj2k"),
    (37, "grok"),
    (38, "openzl"),
    (39, "j2k"),
    (40, "htj2k"),
];

fn no_dictionary(codec: &str, dictionary: &[u8]) -> Result<()> {
    if dictionary.is_empty() {
        return Ok(());
    }
    Err(Error::corrupt(format!("{codec}: takes no dictionary, {} bytes given", dictionary.len())))
}

#[cfg(test)]
mod tests;
