//! Zstd: Zstandard frames (RFC 8878), coded by libzstd.
//!
//! Source: `docs/formats/codecs.md`, "The library codecs"; dictionaries in `docs/formats/chunk.md`.

use std::cell::RefCell;

use zstd_safe::{CCtx, CDict, CParameter, DCtx, DDict};

use super::{Codec, Decode, Encode, Samples};
use crate::base::error::{Error, Result};

pub(super) struct Zstd;

struct Encoder {
    level: i32,
    dictionary: Option<CDict<'static>>,
}

struct Decoder {
    dictionary: Option<DDict<'static>>,
}

/// libzstd's level for each of ours.
const LEVELS: [i32; 10] = [0, 1, 3, 5, 7, 9, 11, 13, 15, 22];

/// A context of this thread, and the level that its sticky parameters were set to.
struct Context {
    context: CCtx<'static>,
    level: i32,
}

thread_local! {
    static COMPRESSOR: RefCell<Option<Context>> = const { RefCell::new(None) };
    static DECOMPRESSOR: RefCell<Option<DCtx<'static>>> = const { RefCell::new(None) };
}

impl Codec for Zstd {
    fn name(&self) -> &'static str {
        "zstd"
    }

    fn id(&self) -> u8 {
        5
    }

    fn format(&self) -> u8 {
        4
    }

    fn is_high_ratio(&self) -> bool {
        true
    }

    fn splits(&self, level: u8) -> bool {
        level <= 5
    }

    fn takes_dictionary(&self) -> bool {
        true
    }

    fn encoder(&self, level: u8, dictionary: &[u8]) -> Result<Box<dyn Encode>> {
        let level = LEVELS.get(usize::from(level)).copied().unwrap_or(22);
        let dictionary = (!dictionary.is_empty()).then(|| CDict::create(dictionary, level));
        Ok(Box::new(Encoder { level, dictionary }))
    }

    fn decoder(&self, dictionary: &[u8]) -> Result<Box<dyn Decode>> {
        if dictionary.is_empty() {
            return Ok(Box::new(Decoder { dictionary: None }));
        }
        // libzstd has no words for a dictionary that it cannot load.
        let made = DDict::try_create(dictionary);
        let dictionary = made.ok_or_else(|| Error::corrupt("zstd: the dictionary is damaged"))?;
        Ok(Box::new(Decoder { dictionary: Some(dictionary) }))
    }

    fn train(&self, bytes: &[u8], samples: &Samples, limit: usize) -> Vec<u8> {
        let sizes = vec![samples.bytes_each; samples.count];
        let mut dictionary = vec![0; limit];
        // Too few or too uniform samples are no error: there is then no dictionary.
        let trained = zstd_safe::train_from_buffer(&mut dictionary[..], bytes, &sizes).unwrap_or(0);
        dictionary.truncate(trained);
        dictionary
    }
}

impl Encode for Encoder {
    fn encode(&self, stream: &[u8], out: &mut [u8]) -> Option<usize> {
        COMPRESSOR.with_borrow_mut(|slot| {
            let slot = slot.get_or_insert_with(|| Context { context: CCtx::create(), level: 0 });
            if let Some(dictionary) = &self.dictionary {
                return slot.context.compress_using_cdict(out, stream, dictionary).ok();
            }
            if slot.level != self.level {
                slot.context.set_parameter(CParameter::CompressionLevel(self.level)).ok()?;
                slot.level = self.level;
            }
            slot.context.compress2(out, stream).ok()
        })
    }
}

impl Decode for Decoder {
    fn decode(&self, stream: &[u8], out: &mut [u8]) -> Result<()> {
        let filled = DECOMPRESSOR.with_borrow_mut(|slot| {
            let context = slot.get_or_insert_with(DCtx::create);
            match &self.dictionary {
                Some(dictionary) => context.decompress_using_ddict(out, stream, dictionary),
                None => context.decompress(out, stream),
            }
        });
        match filled {
            Ok(bytes) if bytes == out.len() => Ok(()),
            Ok(bytes) => Err(Error::corrupt(format!("zstd: {bytes} bytes in place of {}", out.len()))),
            Err(code) => Err(Error::corrupt(format!("zstd: {}", zstd_safe::get_error_name(code)))),
        }
    }
}
