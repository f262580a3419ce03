//! Snappy, as chunks of C-Blosc 1 hold it. C-Blosc2 does not read it, so that only Blosc1 chunks are written with it.
//!
//! Source: the Snappy format description ("framing-free" raw format): a varint of the decoded length, then
//! literals and copies. Written here because the format is four kinds of tag, and the level changes nothing.
//! Invariant: the decoder fills its output exactly or fails; no bytes make it panic, loop or allocate.

use super::{Codec, Decode, DecodeOptions, Encode, EncodeOptions, no_dictionary};
use crate::base::error::{Error, Result};

pub(super) struct Snappy;

struct Encoder;

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

    fn is_writable_in_blosc1(&self) -> bool {
        true
    }

    fn encoder(&self, options: &EncodeOptions<'_>) -> Result<Box<dyn Encode>> {
        no_dictionary(self.name(), options.dictionary)?;
        Ok(Box::new(Encoder))
    }

    fn decoder(&self, options: &DecodeOptions<'_>) -> Result<Box<dyn Decode>> {
        no_dictionary(self.name(), options.dictionary)?;
        Ok(Box::new(Decoder))
    }
}

impl Encode for Encoder {
    fn encode(&self, stream: &[u8], out: &mut [u8]) -> Result<Option<usize>> {
        Ok(encode(stream, out))
    }
}

impl Decode for Decoder {
    fn decode(&self, stream: &[u8], out: &mut [u8]) -> Result<()> {
        decode(stream, out).ok_or_else(|| Error::corrupt("snappy: the stream is damaged"))
    }
}

/// Matches are looked for within so many bytes, so that every offset takes two bytes at most.
const FRAGMENT_BYTES: usize = 1 << 16;
/// Bits of a place in the table of the positions where four bytes were seen last.
const TABLE_BITS: u32 = 14;
/// No match begins so close to the end of a fragment: eight bytes can be loaded at every position before.
const MARGIN_BYTES: usize = 15;
/// Positions that are tried before each step gets one byte longer, where nothing matches.
const PATIENCE: usize = 32;

/// Writes the stream to the front of `out`; `None` if it does not fit.
fn encode(stream: &[u8], out: &mut [u8]) -> Option<usize> {
    let mut sink = Sink { out, at: 0 };
    sink.put_varint(u32::try_from(stream.len()).ok()?)?;
    let mut table = vec![0; 1 << TABLE_BITS];
    for fragment in stream.chunks(FRAGMENT_BYTES) {
        table.fill(0);
        encode_fragment(fragment, &mut table, &mut sink)?;
    }
    Some(sink.at)
}

/// Greedy matching: the naive form compares each position with all before it, this one with the last position whose
/// four bytes have the same place in the table.
fn encode_fragment(fragment: &[u8], table: &mut [u16], sink: &mut Sink<'_>) -> Option<()> {
    let end = fragment.len().saturating_sub(MARGIN_BYTES);
    let (mut at, mut literal, mut tried) = (1, 0, PATIENCE);
    while at < end {
        let word = word(fragment, at);
        let last = std::mem::replace(&mut table[place(word)], u16::try_from(at).ok()?);
        let from = usize::from(last);
        if from >= at || self::word(fragment, from) != word {
            at += tried / PATIENCE;
            tried += 1;
            continue;
        }
        sink.put_literal(&fragment[literal..at])?;
        let length = 4 + equal_bytes(&fragment[from + 4..], &fragment[at + 4..]);
        sink.put_copy(at - from, length)?;
        at += length;
        (literal, tried) = (at, PATIENCE);
    }
    sink.put_literal(&fragment[literal..])
}

fn word(bytes: &[u8], at: usize) -> u32 {
    bytes[at..].first_chunk().map_or(0, |four| u32::from_le_bytes(*four))
}

/// Where the last position of four bytes stands: the high bits of a product, as Knuth hashes.
fn place(word: u32) -> usize {
    (word.wrapping_mul(0x9e37_79b1) >> (u32::BITS - TABLE_BITS)) as usize
}

/// How many bytes are equal in front. `b` is a later part of what `a` is a part of, so it ends first.
fn equal_bytes(a: &[u8], b: &[u8]) -> usize {
    let (eights, _) = b.as_chunks::<8>();
    for (i, (x, y)) in a.as_chunks::<8>().0.iter().zip(eights).enumerate() {
        let different = u64::from_le_bytes(*x) ^ u64::from_le_bytes(*y);
        if different != 0 {
            return 8 * i + different.trailing_zeros() as usize / 8;
        }
    }
    let done = 8 * eights.len();
    done + a[done..].iter().zip(&b[done..]).take_while(|(x, y)| x == y).count()
}

/// Bytes that are written to the front of a buffer, as long as they fit.
struct Sink<'a> {
    out: &'a mut [u8],
    at: usize,
}

impl Sink<'_> {
    fn put(&mut self, bytes: &[u8]) -> Option<()> {
        self.out.get_mut(self.at..)?.get_mut(..bytes.len())?.copy_from_slice(bytes);
        self.at += bytes.len();
        Some(())
    }

    fn put_varint(&mut self, mut value: u32) -> Option<()> {
        while value >= 0x80 {
            self.put(&[value.to_le_bytes()[0] | 0x80])?;
            value >>= 7;
        }
        self.put(&[value.to_le_bytes()[0]])
    }

    /// Lengths up to 60 stand in the tag, others in one or two bytes behind it: a fragment has no longer ones.
    fn put_literal(&mut self, bytes: &[u8]) -> Option<()> {
        let Some(length) = bytes.len().checked_sub(1) else { return Some(()) };
        let [low, high, ..] = length.to_le_bytes();
        match length {
            0..60 => self.put(&[low << 2])?,
            60..256 => self.put(&[60 << 2, low])?,
            _ => self.put(&[61 << 2, low, high])?,
        }
        self.put(bytes)
    }

    /// A copy of four bytes or more. One with two bytes of offset has 64 at most, one with eleven bits of it 4 to 11.
    fn put_copy(&mut self, offset: usize, mut length: usize) -> Option<()> {
        let [low, high, ..] = offset.to_le_bytes();
        let long = |length: usize| [(length - 1).to_le_bytes()[0] << 2 | 2, low, high];
        // What is left for the last one is four bytes or more.
        while length >= 68 {
            self.put(&long(64))?;
            length -= 64;
        }
        if length > 64 {
            self.put(&long(60))?;
            length -= 60;
        }
        if length < 12 && offset < 2048 {
            return self.put(&[high << 5 | (length - 4).to_le_bytes()[0] << 2 | 1, low]);
        }
        self.put(&long(length))
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
    fn runs_and_repeats_are_copies_and_noise_is_one_literal() {
        let mut out = [0; 300];
        let zeros = encode(&[0; 1000], &mut out).unwrap();
        // The length, one byte, and copies of 64 bytes in three.
        assert!(zeros < 2 + 2 + 3 * 17, "{zeros}");
        let noise: Vec<u8> =
            (0..200_u32).map(|i| (i.wrapping_mul(0x9e37_79b9) >> 24).to_le_bytes()[0]).collect();
        assert_eq!(encode(&noise, &mut out), Some(2 + 2 + 200));
        assert_eq!(out[..4], [200, 1, 60 << 2, 199]);
        assert_eq!(encode(&noise, &mut out[..203]), None);
        assert_eq!((encode(&[], &mut out), out[0]), (Some(1), 0));
    }

    #[test]
    fn copies_of_every_length_and_offset_come_back() {
        let mut coded = vec![0; 70_000];
        for offset in [1_usize, 2, 7, 2047, 2048, 30_000] {
            for length in (4..140).chain([4000]) {
                let mut stream: Vec<u8> =
                    (0..offset + 40).map(|i| (i.wrapping_mul(0x9e37_79b9) >> 23).to_le_bytes()[0]).collect();
                for _ in 0..length {
                    stream.push(stream[stream.len() - offset]);
                }
                stream.extend([1, 2, 3]);
                let bytes = encode(&stream, &mut coded).unwrap();
                let mut out = vec![0; stream.len()];
                decode(&coded[..bytes], &mut out).unwrap();
                assert_eq!(out, stream, "{offset} {length}");
            }
        }
    }

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
