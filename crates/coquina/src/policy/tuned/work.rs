//! How much work a coder has with blocks: what most of its time follows.
//!
//! In: a chunk that LZ4 or Zstd has encoded. Out: its sequences, each of which is a match with the bytes before it, the bytes
//! between them, and those that could not be encoded. Two chunks of the same size may have many short matches or few long
//! ones, and take very different times.
//! Source: the LZ4 block format, `docs/formats/codecs.md`; RFC 8878 in `zstd_work`.

use super::counts::{Counts, count};
use super::zstd_work;
use crate::base::error::Result;
use crate::base::limits::Limits;
use crate::chunk::{self, Header};

/// What a coder made of blocks, per byte of them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Work {
    /// Sequences.
    pub sequences: f64,
    /// Bytes between matches that stand there as they are.
    pub literals: f64,
    /// The same behind a Huffman code.
    pub coded: f64,
    /// Tables of codes for sequences that the streams bring with them.
    pub tables: f64,
    /// Bytes in streams, or blocks of Zstd, that are stored as they are.
    pub raw: f64,
}

/// The stream formats that are looked into; LZ4's is LZ4HC's too.
pub(super) const LZ4_FORMAT: u8 = 1;
const ZSTD_FORMAT: u8 = 4;

impl Work {
    /// Each of its numbers with that of another, as `joined` says.
    pub(super) fn with(&self, other: &Self, joined: impl Fn(f64, f64) -> f64) -> Self {
        Self {
            sequences: joined(self.sequences, other.sequences),
            literals: joined(self.literals, other.literals),
            coded: joined(self.coded, other.coded),
            tables: joined(self.tables, other.tables),
            raw: joined(self.raw, other.raw),
        }
    }

    /// That of a chunk of LZ4 or Zstd streams; `None` for other codecs.
    ///
    /// # Errors
    /// `Corrupt` or `Truncated` for bytes that are no chunk.
    pub fn of(encoded: &[u8]) -> Result<Option<Self>> {
        let codec = Header::read(encoded, &Limits::default())?.codec()?;
        let counted = match codec.format() {
            LZ4_FORMAT => counted_lz4,
            ZSTD_FORMAT => zstd_work::counted,
            _ => return Ok(None),
        };
        let (mut counts, mut bytes) = (Counts::default(), 0);
        for stream in chunk::streams(encoded)? {
            bytes += stream.plain_bytes;
            match stream.data {
                None => {}
                Some(data) if data.len() == stream.plain_bytes => counts.raw += data.len(),
                Some(data) => counts += counted(data),
            }
        }
        let part = |found: usize| count(found) / count(bytes.max(1));
        let Counts { sequences, literals, coded, tables, raw } = counts;
        Ok(Some(Self {
            sequences: part(sequences),
            literals: part(literals),
            coded: part(coded),
            tables: part(tables),
            raw: part(raw),
        }))
    }
}

/// The most that half a token says; then more bytes say the rest, as long as they are full.
const HALF_FULL: u8 = 15;
const FULL: u8 = 255;
/// Bytes of the distance of a match.
const OFFSET_BYTES: usize = 2;

/// What is in a stream of LZ4, in front of what is not one.
fn counted_lz4(stream: &[u8]) -> Counts {
    let (mut rest, mut counts) = (stream, Counts::default());
    while let Some((&token, tail)) = rest.split_first() {
        counts.sequences += 1;
        let Some((literals, tail)) = length(token >> 4, tail) else { break };
        let Some(tail) = tail.get(literals..) else { break };
        counts.literals += literals;
        // The last sequence has no match.
        let matched = tail.get(OFFSET_BYTES..).and_then(|tail| length(token & HALF_FULL, tail));
        let Some((_, tail)) = matched else { break };
        rest = tail;
    }
    counts
}

/// A length that begins with half a token, and what follows it.
fn length(half: u8, mut rest: &[u8]) -> Option<(usize, &[u8])> {
    let mut total = usize::from(half);
    if half < HALF_FULL {
        return Some((total, rest));
    }
    loop {
        let (&byte, tail) = rest.split_first()?;
        total += usize::from(byte);
        rest = tail;
        if byte < FULL {
            return Some((total, rest));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::pool::Job;
    use crate::base::testing::random;
    use crate::chunk::Params;
    use crate::codec;

    #[test]
    fn sequences_are_counted_by_their_tokens() {
        let of = |stream: &[u8]| {
            let Counts { sequences, literals, .. } = counted_lz4(stream);
            (sequences, literals)
        };
        // Three literals and a match of four; then two literals as the last.
        assert_eq!(of(&[0x30, 1, 2, 3, 3, 0, 0x20, 4, 5]), (2, 5));
        // 15 + 255 + 1 literals, a match of 4 + 15 + 2.
        let mut long = vec![0xff, 255, 1];
        long.extend([7; 271]);
        long.extend([9, 0, 2, 0x10, 8]);
        assert_eq!(of(&long), (2, 272));
        assert_eq!(of(&[]), (0, 0));
        assert_eq!(of(&[0xf0, 255]), (1, 0));
    }

    #[test]
    fn the_work_of_a_chunk_is_that_of_its_streams() {
        let mut next = random(3);
        let noise: Vec<u8> = (0..1 << 16).map(|_| u8::try_from(next(256)).unwrap()).collect();
        let few: Vec<u8> = (0..1 << 16).map(|_| b'a' + u8::try_from(next(5)).unwrap()).collect();
        let of = |name, plain: &[u8]| {
            let codec = codec::by_name(name).unwrap();
            let params = Params { codec, level: 1, blocksize: Some(1 << 16), ..Params::default() };
            let params = Params { pipeline: Default::default(), typesize: 1, ..params };
            Work::of(&chunk::encode(plain, &params, &Job::inline()).unwrap()).unwrap()
        };
        for name in ["lz4", "zstd"] {
            // Noise is not encoded at all; what repeats is one sequence or two. Parts are of all blocks.
            assert_eq!(of(name, &noise).unwrap(), Work { raw: 1.0, ..Work::default() });
            let half = of(name, &[vec![7; 1 << 16], noise.clone()].concat()).unwrap();
            assert!((half.raw - 0.5).abs() < 1e-3, "{name} {half:?}");
            let found = of(name, &noise[..300].repeat(200)).unwrap();
            assert!(found.sequences < 1e-3 && found.coded + found.literals < 0.02, "{name} {found:?}");
        }
        let found = of("zstd", &few).unwrap();
        assert!(found.coded > 0.3 && found.raw == 0.0, "{found:?}");
        let found = of("lz4", &few).unwrap();
        assert!(found.coded == 0.0 && found.tables == 0.0 && found.sequences > 0.05, "{found:?}");
        assert!(of("zlib", &few).is_none());
    }
}
