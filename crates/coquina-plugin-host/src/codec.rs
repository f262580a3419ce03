//! A codec of the plugin interface as one of the engine.
//!
//! In: streams. Out: the same streams through the plugin, or an error that names it.
//! Invariant: the output is zeroed before the plugin gets it, so that bytes which it leaves out are no bytes of
//! somebody else; a length that it returns is at most the room that it was given.

use coquina::codec::{Codec, Decode, DecodeOptions, Encode, EncodeOptions, Streams};
use coquina::{BlockLayout, Error, Result};
use coquina_plugin::Block;

use crate::caught;

/// The stream format that says: see the codec byte. Source: `docs/formats/chunk.md`, "Header".
const FORMAT_SEE_CODEC: u8 = 6;

/// The engine's view of a plugin's codec.
pub(crate) fn engine_codec(codec: &'static dyn coquina_plugin::Codec) -> Box<dyn Codec> {
    Box::new(Adapter(codec))
}

struct Adapter(&'static dyn coquina_plugin::Codec);

struct Encoder {
    codec: &'static dyn coquina_plugin::Codec,
    layout: BlockLayout,
    typesize: usize,
    meta: u8,
    level: u8,
    options: String,
}

struct Decoder {
    codec: &'static dyn coquina_plugin::Codec,
    layout: BlockLayout,
    typesize: usize,
    meta: u8,
}

impl Adapter {
    fn title(&self) -> String {
        title(self.0)
    }
}

fn title(codec: &dyn coquina_plugin::Codec) -> String {
    format!("codec {} ({})", codec.id(), codec.name())
}

impl Codec for Adapter {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn id(&self) -> u8 {
        self.0.id()
    }

    fn format(&self) -> u8 {
        FORMAT_SEE_CODEC
    }

    fn splits(&self, _level: u8) -> bool {
        false
    }

    fn streams(&self) -> Streams {
        if caught(|| Ok(self.0.needs_items())).unwrap_or(true) { Streams::Items } else { Streams::Bytes }
    }

    fn encoder(&self, options: &EncodeOptions<'_>) -> Result<Box<dyn Encode>> {
        if !options.dictionary.is_empty() {
            return Err(Error::invalid(format!("{}: takes no dictionary", self.title())));
        }
        Ok(Box::new(Encoder {
            codec: self.0,
            layout: options.layout,
            typesize: options.typesize,
            meta: options.meta,
            level: options.level,
            options: options.text.to_owned(),
        }))
    }

    fn decoder(&self, options: &DecodeOptions<'_>) -> Result<Box<dyn Decode>> {
        if !options.dictionary.is_empty() {
            return Err(Error::corrupt(format!("{}: takes no dictionary", self.title())));
        }
        let DecodeOptions { meta, typesize, layout, .. } = *options;
        Ok(Box::new(Decoder { codec: self.0, layout, typesize, meta }))
    }

    fn is_lossy(&self, meta: u8, text: &str) -> bool {
        // What cannot say that it is lossless may be lossy.
        caught(|| Ok(self.0.is_lossy(meta, text))).unwrap_or(true)
    }
}

impl Encode for Encoder {
    fn encode(&self, stream: &[u8], out: &mut [u8]) -> Result<Option<usize>> {
        let block = Block {
            typesize: self.typesize,
            shape: self.layout.shape_of(stream.len()).unwrap_or_default(),
            kind: self.layout.kind(),
            meta: self.meta,
            level: self.level,
            options: &self.options,
        };
        out.fill(0);
        let encoded = caught(|| self.codec.encode(&block, stream, out));
        let failed = |sentence: String| Error::invalid(format!("{}: {sentence}", title(self.codec)));
        match encoded.map_err(failed)? {
            Some(bytes) if bytes > out.len() => {
                Err(failed(format!("says that it wrote {bytes} bytes where {} are", out.len())))
            }
            encoded => Ok(encoded),
        }
    }
}

impl Decode for Decoder {
    fn decode(&self, stream: &[u8], out: &mut [u8]) -> Result<()> {
        let block = Block {
            typesize: self.typesize,
            shape: self.layout.shape_of(out.len()).unwrap_or_default(),
            kind: self.layout.kind(),
            meta: self.meta,
            level: 0,
            options: "",
        };
        out.fill(0);
        let decoded = caught(|| self.codec.decode(&block, stream, out));
        decoded.map_err(|sentence| Error::corrupt(format!("{}: {sentence}", title(self.codec))))
    }
}
