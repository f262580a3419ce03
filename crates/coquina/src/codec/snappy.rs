//! Snappy, as chunks of early C-Blosc hold it: read only.
//!
//! Source: the Snappy format description ("framing-free" raw format): a varint of the decoded length, then
//! literals and copies. Written here because old files are its only use, and the format is four kinds of tag.
//! Invariant: fills its output exactly or fails; no bytes make it panic, loop or allocate.

use super::{Codec, Decode, DecodeOptions, Encode, EncodeOptions, no_dictionary};
use crate::base::error::{Error, Result};

pub(super) struct Snappy;

struct Decoder;

impl Codec for Snappy {
    fn name(&self) -> &'static str {
        "snappy"
    }

    fn id(&self) -> u8 {
        3
    }

    fn format(&self) -> u8 {
        2
    }

    fn splits(&self, _level: u8) -> bool {
        true
    }

    fn is_writable(&self) -> bool {
        false
    }

    fn encoder(&self, _options: &EncodeOptions<'_>) -> Result<Box<dyn Encode>> {
        Err(Error::unsupported("snappy: can be read, not written"))
    }

    fn decoder(&self, options: &DecodeOptions<'_>) -> Result<Box<dyn Decode>> {
        no_dictionary(self.name(), options.dictionary)?;
        Ok(Box::new(Decoder))
    }
}

impl Decode for Decoder {
    fn decode(&self, stream: &[u8], out: &mut [u8]) -> Result<()> {
        decode(stream, out).ok_or_else(|| Error::corrupt("snappy: the stream is damaged"))
    }
}

fn decode(stream: &[u8], out: &mut [u8]) -> Option<()> {
    let (length, mut left) = varint(stream)?;
    if length != out.len() as u64 {
        return None;
    }
    let mut at = 0_usize;
    while let Some((&tag, rest)) = left.split_first() {
        left = rest;
        if tag & 3 == 0 {
            let length = literal_length(tag, &mut left)?;
            let literal = left.get(..length)?;
            out.get_mut(at..at.checked_add(length)?)?.copy_from_slice(literal);
            left = left.get(length..)?;
            at += length;
        } else {
            let (length, offset) = copy(tag, &mut left)?;
            if offset == 0 || offset > at || length > out.len() - at {
                return None;
            }
            // Byte by byte, as a copy may overlap itself.
            for i in at..at + length {
                *out.get_mut(i)? = *out.get(i - offset)?;
            }
            at += length;
        }
    }
    (at == out.len()).then_some(())
}

fn varint(stream: &[u8]) -> Option<(u64, &[u8])> {
    let mut value = 0_u64;
    for (i, &byte) in stream.iter().take(5).enumerate() {
        value |= u64::from(byte & 0x7f) << (7 * i);
        if byte < 0x80 {
            return Some((value, stream.get(i + 1..)?));
        }
    }
    None
}

fn literal_length(tag: u8, left: &mut &[u8]) -> Option<usize> {
    let short = usize::from(tag >> 2);
    if short < 60 {
        return Some(short + 1);
    }
    usize::try_from(little_endian(left, short - 59)?).ok()?.checked_add(1)
}

fn copy(tag: u8, left: &mut &[u8]) -> Option<(usize, usize)> {
    if tag & 3 == 1 {
        let offset = u64::from(tag >> 5) << 8 | little_endian(left, 1)?;
        return Some((usize::from(tag >> 2 & 7) + 4, usize::try_from(offset).ok()?));
    }
    let offset = little_endian(left, if tag & 3 == 2 { 2 } else { 4 })?;
    Some((usize::from(tag >> 2) + 1, usize::try_from(offset).ok()?))
}

fn little_endian(left: &mut &[u8], bytes: usize) -> Option<u64> {
    let (number, rest) = left.split_at_checked(bytes)?;
    *left = rest;
    Some(number.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_and_overlapping_copies_decode() {
        // Length 11; literal "ab"; copy of 9 bytes from 2 back, in the one-byte-offset form.
        let stream = [11, 1 << 2, b'a', b'b', (9 - 4) << 2 | 1, 2];
        let mut out = [0; 11];
        decode(&stream, &mut out).unwrap();
        assert_eq!(&out, b"abababababa");
        for end in 0..stream.len() {
            assert!(decode(&stream[..end], &mut out).is_none());
        }
        assert!(decode(&[11, 1 << 2, b'a', b'b', (9 - 4) << 2 | 1, 3], &mut out).is_none());
    }
}
