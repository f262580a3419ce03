//! LZ4 and LZ4HC: raw LZ4 blocks, coded by liblz4. One stream format, two encoders.
//!
//! Source: `docs/formats/codecs.md`, "The library codecs"; dictionaries in `docs/formats/chunk.md`.

use std::cell::RefCell;

use coquina_kernels::lz4::{self, FastDictionary, FastState, HcDictionary, HcState};

use super::{Codec, Decode, Encode, Samples};
use crate::base::error::{Error, Result};

pub(super) struct Lz4;
pub(super) struct Lz4hc;

const FORMAT: u8 = 1;

thread_local! {
    static FAST: RefCell<FastState> = RefCell::new(FastState::new());
    static HIGH: RefCell<HcState> = RefCell::new(HcState::new());
}

struct FastEncoder {
    acceleration: i32,
    dictionary: Option<FastDictionary>,
}

struct HighEncoder {
    level: i32,
    dictionary: Option<HcDictionary>,
}

struct Decoder {
    dictionary: Vec<u8>,
}

/// LZ4 has no training: the dictionary is what the first samples hold.
fn first_samples(bytes: &[u8], limit: usize) -> Vec<u8> {
    bytes[..limit.min(bytes.len())].to_vec()
}

impl Codec for Lz4 {
    fn name(&self) -> &'static str {
        "lz4"
    }

    fn id(&self) -> u8 {
        1
    }

    fn format(&self) -> u8 {
        FORMAT
    }

    fn splits(&self, _level: u8) -> bool {
        true
    }

    fn takes_dictionary(&self) -> bool {
        true
    }

    fn encoder(&self, level: u8, dictionary: &[u8]) -> Result<Box<dyn Encode>> {
        let dictionary = (!dictionary.is_empty()).then(|| FastDictionary::new(dictionary));
        Ok(Box::new(FastEncoder { acceleration: 10 - i32::from(level), dictionary }))
    }

    fn decoder(&self, dictionary: &[u8]) -> Result<Box<dyn Decode>> {
        Ok(Box::new(Decoder { dictionary: dictionary.to_vec() }))
    }

    fn train(&self, bytes: &[u8], _samples: &Samples, limit: usize) -> Vec<u8> {
        first_samples(bytes, limit)
    }
}

impl Codec for Lz4hc {
    fn name(&self) -> &'static str {
        "lz4hc"
    }

    fn id(&self) -> u8 {
        2
    }

    fn format(&self) -> u8 {
        FORMAT
    }

    fn is_high_ratio(&self) -> bool {
        true
    }

    fn splits(&self, _level: u8) -> bool {
        false
    }

    fn takes_dictionary(&self) -> bool {
        true
    }

    fn encoder(&self, level: u8, dictionary: &[u8]) -> Result<Box<dyn Encode>> {
        let level = i32::from(level);
        let dictionary = (!dictionary.is_empty()).then(|| HcDictionary::new(dictionary, level));
        Ok(Box::new(HighEncoder { level, dictionary }))
    }

    fn decoder(&self, dictionary: &[u8]) -> Result<Box<dyn Decode>> {
        Lz4.decoder(dictionary)
    }

    fn train(&self, bytes: &[u8], _samples: &Samples, limit: usize) -> Vec<u8> {
        first_samples(bytes, limit)
    }
}

impl Encode for FastEncoder {
    fn encode(&self, stream: &[u8], out: &mut [u8]) -> Option<usize> {
        FAST.with_borrow_mut(|state| match &self.dictionary {
            Some(dictionary) => state.compress_with(dictionary, stream, out, self.acceleration),
            None => state.compress(stream, out, self.acceleration),
        })
    }
}

impl Encode for HighEncoder {
    fn encode(&self, stream: &[u8], out: &mut [u8]) -> Option<usize> {
        HIGH.with_borrow_mut(|state| match &self.dictionary {
            Some(dictionary) => state.compress_with(dictionary, stream, out),
            None => state.compress(stream, out, self.level),
        })
    }
}

impl Decode for Decoder {
    fn decode(&self, stream: &[u8], out: &mut [u8]) -> Result<()> {
        let filled = if self.dictionary.is_empty() {
            lz4::decompress(stream, out)
        } else {
            lz4::decompress_with(&self.dictionary, stream, out)
        };
        match filled {
            Ok(bytes) if bytes == out.len() => Ok(()),
            Ok(bytes) => Err(Error::corrupt(format!("lz4: {bytes} bytes in place of {}", out.len()))),
            Err(error) => Err(Error::corrupt(format!("lz4: {error}"))),
        }
    }
}
