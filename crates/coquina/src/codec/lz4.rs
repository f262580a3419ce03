//! LZ4 and LZ4HC: raw LZ4 blocks, coded by liblz4. One stream format, two encoders.
//!
//! Source: `docs/formats/codecs.md`, "The library codecs"; dictionaries in `docs/formats/chunk.md`.

use std::cell::RefCell;
use std::ops::Range;

use coquina_kernels::best_level;
use coquina_kernels::lz4::{self, FastDictionary, FastState, HcDictionary, HcState};

use super::noise::{Coder, noise_prefix};
use super::{Codec, Decode, DecodeOptions, Encode, EncodeOptions, Pieces, Samples};
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

    fn encoder(&self, options: &EncodeOptions<'_>) -> Result<Box<dyn Encode>> {
        let dictionary = options.dictionary;
        let dictionary = (!dictionary.is_empty()).then(|| FastDictionary::new(dictionary));
        Ok(Box::new(FastEncoder { acceleration: 10 - i32::from(options.level), dictionary }))
    }

    fn decoder(&self, options: &DecodeOptions<'_>) -> Result<Box<dyn Decode>> {
        Ok(Box::new(Decoder { dictionary: options.dictionary.to_vec() }))
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

    fn encoder(&self, options: &EncodeOptions<'_>) -> Result<Box<dyn Encode>> {
        let (level, dictionary) = (i32::from(options.level), options.dictionary);
        let dictionary = (!dictionary.is_empty()).then(|| HcDictionary::new(dictionary, level));
        Ok(Box::new(HighEncoder { level, dictionary }))
    }

    fn decoder(&self, options: &DecodeOptions<'_>) -> Result<Box<dyn Decode>> {
        Lz4.decoder(options)
    }

    fn train(&self, bytes: &[u8], _samples: &Samples, limit: usize) -> Vec<u8> {
        first_samples(bytes, limit)
    }
}

impl Encode for FastEncoder {
    fn encode(&self, stream: &[u8], out: &mut [u8]) -> Result<Option<usize>> {
        Ok(self.compress(stream, out))
    }
}

impl FastEncoder {
    /// `None` if it does not fit, or is better stored as it is.
    fn compress(&self, stream: &[u8], out: &mut [u8]) -> Option<usize> {
        FAST.with_borrow_mut(|state| match &self.dictionary {
            Some(dictionary) => state.compress_with(dictionary, stream, out, self.acceleration),
            None => state.compress(stream, out, self.acceleration),
        })
    }
}

impl Encode for HighEncoder {
    fn encode(&self, stream: &[u8], out: &mut [u8]) -> Result<Option<usize>> {
        Ok(self.compress(stream, out))
    }
}

impl HighEncoder {
    /// `None` if it does not fit, or is better stored as it is.
    fn compress(&self, stream: &[u8], out: &mut [u8]) -> Option<usize> {
        HIGH.with_borrow_mut(|state| {
            if let Some(dictionary) = &self.dictionary {
                return state.compress_with(dictionary, stream, out);
            }
            match stream.split_at(noise_prefix(stream, Coder::Matches)) {
                ([], _) => state.compress(stream, out, self.level),
                (_, []) => None,
                (noise, rest) => {
                    // The rest is encoded where it will stand, or nearly: behind the longest front there can be.
                    let front_bytes = noise.len() + literal_length_bytes(stream.len());
                    let room = out.get_mut(front_bytes..)?;
                    let coded = state.compress(rest, room, self.level)?;
                    put_literals_before(noise, front_bytes..front_bytes + coded, out)
                }
            }
        })
    }
}

/// Bytes of the token and the length of a run of at most `literals` bytes.
fn literal_length_bytes(literals: usize) -> usize {
    if literals < 15 { 1 } else { 2 + (literals - 15) / 255 }
}

/// Makes one stream of `literals` and the encoded stream at `coded`: its first run of literals becomes longer.
fn put_literals_before(literals: &[u8], coded: Range<usize>, out: &mut [u8]) -> Option<usize> {
    let token = *out.get(coded.start)?;
    let (own, own_bytes) = literal_length(out.get(coded.clone())?)?;
    let total = own + literals.len();
    let length_bytes = literal_length_bytes(total);
    let rest = coded.start + own_bytes..coded.end;
    let rest_at = length_bytes + literals.len();
    out.copy_within(rest.clone(), rest_at);
    let (front, _) = out.split_at_mut(rest_at);
    front[length_bytes..].copy_from_slice(literals);
    front[0] = 15 << 4 | token & 15;
    front[1..length_bytes].fill(255);
    front[length_bytes - 1] = u8::try_from((total - 15) % 255).ok()?;
    Some(rest_at + rest.len())
}

/// The length of the first run of literals, and how many bytes say it, the token included.
fn literal_length(stream: &[u8]) -> Option<(usize, usize)> {
    let (token, more) = stream.split_first()?;
    if token >> 4 < 15 {
        return Some((usize::from(token >> 4), 1));
    }
    let full = more.iter().take_while(|&&byte| byte == 255).count();
    Some((15 + 255 * full + usize::from(*more.get(full)?), 2 + full))
}

impl Decode for Decoder {
    fn decode(&self, stream: &[u8], out: &mut [u8]) -> Result<()> {
        let filled = if self.dictionary.is_empty() {
            lz4::decompress(best_level(), stream, out)
        } else {
            lz4::decompress_with(&self.dictionary, stream, out)
        };
        check(filled, out.len())
    }

    fn decode_front(&self, stream: &[u8], out: &mut [u8]) -> Result<bool> {
        if !self.dictionary.is_empty() {
            return Ok(false);
        }
        // A repeat at distance 0, which no encoder writes, may leave what lies there: that must be of no other use.
        out.fill(0);
        check(lz4::decompress_front(stream, out), out.len()).map(|()| true)
    }

    fn pieces<'s>(&'s self, stream: &'s [u8]) -> Option<Box<dyn Pieces + 's>> {
        self.dictionary.is_empty().then(|| Box::new(Fronts { decoder: self, stream, done: 0 }) as _)
    }
}

/// A stream of which a front is decoded, then all: nothing is left of the first to go on from.
struct Fronts<'s> {
    decoder: &'s Decoder,
    stream: &'s [u8],
    done: usize,
}

/// The front is this part of all at least: it costs little, and often is enough.
const FRONT_PART: usize = 8;

impl Pieces for Fronts<'_> {
    fn decode_until(&mut self, end: usize, out: &mut [u8]) -> Result<usize> {
        let front = end.max(out.len() / FRONT_PART);
        if self.done >= end {
            return Ok(self.done);
        }
        if self.done > 0 || front > out.len() / 2 {
            self.decoder.decode(self.stream, out)?;
            self.done = out.len();
        } else {
            self.decoder.decode_front(self.stream, &mut out[..front])?;
            self.done = front;
        }
        Ok(self.done)
    }
}

/// Whether all bytes that were wanted have come out.
fn check(filled: Result<usize, lz4::Malformed>, wanted: usize) -> Result<()> {
    match filled {
        Ok(bytes) if bytes == wanted => Ok(()),
        Ok(bytes) => Err(Error::corrupt(format!("lz4: {bytes} bytes in place of {wanted}"))),
        Err(error) => Err(Error::corrupt(format!("lz4: {error}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_front_is_that_of_the_whole() {
        let decoder = |stream: &[u8], bytes: usize| {
            let decoder = Lz4.decoder(&DecodeOptions::default()).unwrap();
            let (mut whole, mut front) = (vec![0x11; 25], vec![0x22; bytes]);
            decoder.decode(stream, &mut whole).unwrap();
            let has_front = decoder.decode_front(stream, &mut front).unwrap();
            has_front && front == whole[..bytes]
        };
        // A literal, nineteen bytes from so far back, five literals.
        for bytes in 1..25 {
            assert!(decoder(b"\x1fa\x01\x00\x00\x50bcdef", bytes));
        }
    }
}
