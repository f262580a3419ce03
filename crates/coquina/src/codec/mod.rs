//! Codecs: turn the bytes of one stream into fewer bytes, and back into exactly as many.
//!
//! A [`Codec`] is a row of [`CODECS`]; for a chunk it makes an [`Encode`] or a [`Decode`], which holds what is
//! the same for all streams of the chunk (level, prepared dictionary). Working memory belongs to the thread.
//!
//! Source: `docs/formats/codecs.md`.
//! Invariant: encoded bytes depend on level, dictionary and input only, not on what a thread did before.

mod blosclz;
mod byte_counts;
mod deflate;
mod frequencies;
mod lz4;
mod ndlz;
mod noise;
pub(crate) mod predict;
mod snappy;
mod zfp;
mod zlib;
mod zstd;
mod zstd_params;

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use crate::base::error::{Error, Result};
use crate::base::layout::BlockLayout;
use crate::base::plugins::{Finder, Plugins, Wanted};

/// Every codec there is. Adding one is a file in this folder and a row here.
pub static CODECS: &[&dyn Codec] = &[
    &blosclz::Blosclz,
    &lz4::Lz4,
    &lz4::Lz4hc,
    &snappy::Snappy,
    &zlib::Zlib,
    &zstd::Zstd,
    &ndlz::Ndlz,
    &zfp::ACCURACY,
    &zfp::PRECISION,
    &zfp::RATE,
    &predict::Predict,
];

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

    /// What its streams must be.
    fn streams(&self) -> Streams {
        Streams::Bytes
    }

    /// What the parameter byte says, for a codec that needs one.
    fn parameter(&self) -> Option<Parameter> {
        None
    }

    /// Checks that blocks of items of `typesize` bytes, of such an array, can be encoded with this parameter byte.
    ///
    /// # Errors
    /// `Invalid` if not, with what is taken.
    fn check(&self, meta: u8, typesize: usize, layout: &BlockLayout) -> Result<()> {
        let _ = (meta, typesize, layout);
        Ok(())
    }

    /// Whether streams of a chunk can share a dictionary.
    fn takes_dictionary(&self) -> bool {
        false
    }

    /// Whether this build can write it in Blosc2 chunks; all can be read.
    fn is_writable(&self) -> bool {
        true
    }

    /// Whether this build can write it in Blosc1 chunks.
    fn is_writable_in_blosc1(&self) -> bool {
        self.is_writable()
    }

    /// An encoder for the streams of one chunk.
    ///
    /// # Errors
    /// `Invalid` if the codec takes no dictionary, `Unsupported` if it cannot be written.
    fn encoder(&self, options: &EncodeOptions<'_>) -> Result<Box<dyn Encode>>;

    /// A decoder for the streams of one chunk.
    ///
    /// # Errors
    /// `Corrupt` if the codec takes no dictionary, or not this one, or no such parameter byte or blocks.
    fn decoder(&self, options: &DecodeOptions<'_>) -> Result<Box<dyn Decode>>;

    /// Whether decoding may give other items than were encoded, with this parameter byte and these options.
    fn is_lossy(&self, _meta: u8, _text: &str) -> bool {
        false
    }

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
    /// The codec's parameter byte, which is stored.
    pub meta: u8,
    /// Bytes of an item, as the chunk's header says.
    pub typesize: usize,
    /// What is known of the array that the chunk is of.
    pub layout: BlockLayout,
    /// Further options of a plugin, in its own words; not stored.
    pub text: &'a str,
}

impl Default for EncodeOptions<'_> {
    /// The middle level, of streams that nothing is known of.
    fn default() -> Self {
        Self {
            level: 5,
            dictionary: &[],
            shape: Shape::Plain,
            meta: 0,
            typesize: 1,
            layout: BlockLayout::default(),
            text: "",
        }
    }
}

/// What a decoder is made for.
#[derive(Clone, Copy, Debug)]
pub struct DecodeOptions<'a> {
    /// Shared by all streams; empty for none.
    pub dictionary: &'a [u8],
    /// The codec's parameter byte.
    pub meta: u8,
    /// Bytes of an item, as the chunk's header says.
    pub typesize: usize,
    /// What is known of the array that the chunk is of.
    pub layout: BlockLayout,
}

impl Default for DecodeOptions<'_> {
    /// Of streams that nothing is known of.
    fn default() -> Self {
        Self { dictionary: &[], meta: 0, typesize: 1, layout: BlockLayout::default() }
    }
}

/// What a codec's parameter byte is.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// What it says, and which numbers there are.
    pub about: &'static str,
    /// Whether it is read as signed.
    pub is_signed: bool,
}

impl Parameter {
    /// The number that the byte stands for.
    pub fn number(&self, meta: u8) -> i16 {
        if self.is_signed { meta.cast_signed().into() } else { meta.into() }
    }
}

/// What the streams of a codec must be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Streams {
    /// Any bytes.
    #[default]
    Bytes,
    /// Whole blocks of an array, with the items as they are: neither cut nor with bytes moved by filters.
    Items,
    /// Whole blocks of an array of single bytes, or byte planes of its items.
    Planes,
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
    /// Writes the encoded stream to the front of `out` and returns its length; `None` if it does not fit, or if the
    /// stream is better stored as it is.
    ///
    /// # Errors
    /// What a codec from outside fails with; those of the engine never fail.
    fn encode(&self, stream: &[u8], out: &mut [u8]) -> Result<Option<usize>>;
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

    /// The stream, to be decoded as far as it is wanted; `None` if that is no less work than all of it is.
    fn pieces<'s>(&'s self, _stream: &'s [u8]) -> Option<Box<dyn Pieces + 's>> {
        None
    }
}

/// A stream that is decoded piece by piece. Of a stream that no encoder writes the pieces may be other ones than
/// [`Decode::decode`] gives.
pub trait Pieces {
    /// Decodes on, until the first `end` bytes of `out` are there at least; `out` is as long as all of it, and holds what
    /// came before. Returns how many bytes are there.
    ///
    /// # Errors
    /// `Corrupt` if the stream is damaged as far as it was looked at.
    fn decode_until(&mut self, end: usize, out: &mut [u8]) -> Result<usize>;
}

/// Codecs from outside.
static PLUGINS: Plugins<dyn Codec> = Plugins::new();

/// The lowest id of a codec from outside. Users have those from 160 on; those below are given out by Blosc2.
const PLUGIN_ID_MIN: u8 = 32;

/// Adds a codec from outside, for as long as the program runs. Of several with one id the latest serves what is opened
/// afterwards.
///
/// # Errors
/// `Invalid` for an id or a name that a codec of the engine has, or an id that no plugin may have.
pub fn register(codec: Box<dyn Codec>) -> Result<()> {
    let (id, name) = (codec.id(), codec.name());
    if find(|known| known.id() == id || known.name() == name).is_some() {
        return Err(Error::invalid(format!("codec {id} ({name}): is one of the engine's own")));
    }
    if id < PLUGIN_ID_MIN {
        return Err(Error::invalid(format!("codec {id} ({name}): plugins have ids from {PLUGIN_ID_MIN} on")));
    }
    PLUGINS.add(codec);
    Ok(())
}

/// Says who looks for codecs that are not there. The first to say so stays.
pub fn set_finder(finder: Finder) {
    PLUGINS.set_finder(finder);
}

/// The codecs from outside that serve now.
pub fn plugins() -> Vec<&'static dyn Codec> {
    PLUGINS.all(|codec| codec.id())
}

/// The codec of that name. One that is not known is looked for.
///
/// # Errors
/// `Invalid` if there is none, `Unsupported` if it needs a plugin that is not there.
pub fn by_name(name: &str) -> Result<&'static dyn Codec> {
    if let Some(codec) = find(|codec| codec.name() == name).or_else(|| PLUGINS.find(|c| c.name() == name)) {
        return Ok(codec);
    }
    if let Some((id, _)) = REGISTERED.iter().find(|(_, known)| *known == name) {
        return by_id(*id);
    }
    if let Some(codec) = PLUGINS.get(Wanted::Name(name), |codec| codec.name() == name)? {
        return Ok(codec);
    }
    let all = CODECS.iter().copied().chain(plugins());
    let names: Vec<_> = all.filter(|c| c.is_writable()).map(|c| c.name()).collect();
    Err(Error::invalid(format!("codec {name:?}: takes one of {}", names.join(", "))))
}

/// The codec of that compressor id. One that is not known is looked for.
///
/// # Errors
/// `Unsupported` if there is none.
pub fn by_id(id: u8) -> Result<&'static dyn Codec> {
    if let Some(codec) = find(|codec| codec.id() == id) {
        return Ok(codec);
    }
    PLUGINS.get(Wanted::Id(id), |codec| codec.id() == id)?.ok_or_else(|| {
        let known = REGISTERED.iter().find(|(known, _)| *known == id);
        let name = known.map_or(String::new(), |(_, name)| format!(" ({name})"));
        let hint = match id {
            36 | 37 | 39 | 40 => "pip install coquina[images]".to_owned(),
            _ => format!("it needs a plugin that has it, or register_codec({id}, ...)"),
        };
        Error::unsupported(format!("codec {id}{name} is not known here: {hint}"))
    })
}

/// The codec that decodes a stream format of a chunk's flags.
pub(crate) fn by_format(format: u8) -> Result<&'static dyn Codec> {
    find(|codec| codec.format() == format && codec.id() < PLUGIN_ID_MIN)
        .ok_or_else(|| Error::corrupt(format!("flags: {format} is not a stream format")))
}

fn find(wanted: impl Fn(&dyn Codec) -> bool) -> Option<&'static dyn Codec> {
    CODECS.iter().copied().find(|codec| wanted(*codec))
}

/// Registered ids that are not in [`CODECS`]: they need a plugin. For errors only.
const REGISTERED: &[(u8, &str)] =
    &[(36, "openhtj2k"), (37, "grok"), (38, "openzl"), (39, "j2k"), (40, "htj2k")];

/// The same text, for as long as the program runs: options of plugins, which chunks are encoded with. Each text is kept
/// once; a program has few of them.
pub fn kept_options(text: &str) -> &'static str {
    static TEXTS: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut texts = TEXTS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(text) = texts.get(text) {
        return text;
    }
    let text: &'static str = Box::leak(text.into());
    texts.insert(text);
    text
}

fn no_dictionary(codec: &str, dictionary: &[u8]) -> Result<()> {
    if dictionary.is_empty() {
        return Ok(());
    }
    Err(Error::corrupt(format!("{codec}: takes no dictionary, {} bytes given", dictionary.len())))
}

#[cfg(test)]
mod tests;
