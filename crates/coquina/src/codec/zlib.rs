//! Zlib: one RFC 1950 stream, coded by libdeflate.
//!
//! Source: `docs/formats/codecs.md`, "The library codecs".

use std::cell::RefCell;

use libdeflater::{CompressionLvl, Compressor, Decompressor};

use super::{Codec, Decode, Encode, no_dictionary};
use crate::base::error::{Error, Result};

pub(super) struct Zlib;

struct Encoder {
    level: u8,
}

struct Decoder;

/// The libdeflate level that reaches the size which zlib users know from levels 1 to 9, at the best speed.
const LEVELS: [i32; 10] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];

thread_local! {
    static COMPRESSOR: RefCell<Option<(u8, Compressor)>> = const { RefCell::new(None) };
    static DECOMPRESSOR: RefCell<Decompressor> = RefCell::new(Decompressor::new());
}

impl Codec for Zlib {
    fn name(&self) -> &'static str {
        "zlib"
    }

    fn id(&self) -> u8 {
        4
    }

    fn format(&self) -> u8 {
        3
    }

    fn is_high_ratio(&self) -> bool {
        true
    }

    fn splits(&self, _level: u8) -> bool {
        false
    }

    fn encoder(&self, level: u8, dictionary: &[u8]) -> Result<Box<dyn Encode>> {
        no_dictionary(self.name(), dictionary)?;
        Ok(Box::new(Encoder { level }))
    }

    fn decoder(&self, dictionary: &[u8]) -> Result<Box<dyn Decode>> {
        no_dictionary(self.name(), dictionary)?;
        Ok(Box::new(Decoder))
    }
}

impl Encode for Encoder {
    fn encode(&self, stream: &[u8], out: &mut [u8]) -> Option<usize> {
        COMPRESSOR.with_borrow_mut(|slot| {
            if slot.as_ref().is_none_or(|(level, _)| *level != self.level) {
                let level = LEVELS.get(usize::from(self.level)).copied().unwrap_or(12);
                let level = CompressionLvl::new(level).unwrap_or_default();
                *slot = Some((self.level, Compressor::new(level)));
            }
            let (_, compressor) = slot.as_mut()?;
            compressor.zlib_compress(stream, out).ok()
        })
    }
}

impl Decode for Decoder {
    fn decode(&self, stream: &[u8], out: &mut [u8]) -> Result<()> {
        let filled = DECOMPRESSOR.with_borrow_mut(|d| d.zlib_decompress(stream, out));
        match filled {
            Ok(bytes) if bytes == out.len() => Ok(()),
            Ok(bytes) => Err(Error::corrupt(format!("zlib: {bytes} bytes in place of {}", out.len()))),
            Err(error) => Err(Error::corrupt(format!("zlib: {error}"))),
        }
    }
}
