//! Zlib: one RFC 1950 stream, coded by libdeflate.
//!
//! Leading noise goes into stored blocks, which cost nothing to write or read; libdeflate codes the rest, but for
//! level 1, whose encoder is ours.
//! Source: `docs/formats/codecs.md`, "The library codecs"; RFC 1950 and RFC 1951, section 3.2.4.

use std::cell::RefCell;

use libdeflater::{CompressionLvl, Compressor, Decompressor, adler32};

use super::deflate;
use super::noise::{Coder, noise_prefix};
use super::{Codec, Decode, DecodeOptions, Encode, EncodeOptions, no_dictionary};
use crate::base::error::{Error, Result};

pub(super) struct Zlib;

struct Encoder {
    level: u8,
}

struct Decoder;

/// The libdeflate level (not used for 1) that reaches the size which zlib users know from levels 1 to 9, at the best speed.
const LEVELS: [i32; 10] = [0, 1, 2, 2, 4, 5, 6, 6, 6, 7];
/// Deflate with a window of 32 KiB, no preset dictionary; the pair is a multiple of 31 as it must be.
const ZLIB_HEADER: [u8; 2] = [0x78, 0x9c];
/// The most bytes of a stored block.
const STORED_BYTES_MAX: usize = 65535;

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

    fn encoder(&self, options: &EncodeOptions<'_>) -> Result<Box<dyn Encode>> {
        no_dictionary(self.name(), options.dictionary)?;
        Ok(Box::new(Encoder { level: options.level }))
    }

    fn decoder(&self, options: &DecodeOptions<'_>) -> Result<Box<dyn Decode>> {
        no_dictionary(self.name(), options.dictionary)?;
        Ok(Box::new(Decoder))
    }
}

impl Encode for Encoder {
    fn encode(&self, stream: &[u8], out: &mut [u8]) -> Result<Option<usize>> {
        Ok(self.compress(stream, out))
    }
}

impl Encoder {
    /// `None` if it does not fit, or is better stored as it is.
    fn compress(&self, stream: &[u8], out: &mut [u8]) -> Option<usize> {
        let noise_bytes = noise_prefix(stream, Coder::Entropy);
        let (noise, rest) = stream.split_at(noise_bytes);
        if rest.is_empty() {
            return None;
        }
        if self.level == 1 {
            let at = put_stored(noise, out)?;
            let coded = deflate::encode(rest, out.get_mut(at..)?)?;
            return put_checksum(stream, out, at + coded);
        }
        COMPRESSOR.with_borrow_mut(|slot| {
            if slot.as_ref().is_none_or(|(level, _)| *level != self.level) {
                let level = LEVELS.get(usize::from(self.level)).copied().unwrap_or(12);
                let level = CompressionLvl::new(level).unwrap_or_default();
                *slot = Some((self.level, Compressor::new(level)));
            }
            let (_, compressor) = slot.as_mut()?;
            if noise.is_empty() {
                return compressor.zlib_compress(stream, out).ok();
            }
            let at = put_stored(noise, out)?;
            let coded = compressor.deflate_compress(rest, out.get_mut(at..)?).ok()?;
            put_checksum(stream, out, at + coded)
        })
    }
}

/// Ends a stream: writes the checksum of what it decodes to at `end`, and returns where that ends.
fn put_checksum(decoded: &[u8], out: &mut [u8], end: usize) -> Option<usize> {
    out.get_mut(end..)?.first_chunk_mut::<4>()?.copy_from_slice(&adler32(decoded).to_be_bytes());
    Some(end + 4)
}

/// Writes the zlib header and `bytes` in stored blocks, none of them the last; returns where they end.
fn put_stored(bytes: &[u8], out: &mut [u8]) -> Option<usize> {
    out.first_chunk_mut::<2>()?.copy_from_slice(&ZLIB_HEADER);
    let mut at = ZLIB_HEADER.len();
    for block in bytes.chunks(STORED_BYTES_MAX) {
        let [low, high] = u16::try_from(block.len()).ok()?.to_le_bytes();
        let (header, rest) = out.get_mut(at..)?.split_first_chunk_mut::<5>()?;
        *header = [0, low, high, !low, !high];
        rest.get_mut(..block.len())?.copy_from_slice(block);
        at += header.len() + block.len();
    }
    Some(at)
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
