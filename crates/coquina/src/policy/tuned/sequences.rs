//! How much work LZ4 finds in blocks: what most of the time of every coder follows.
//!
//! In: a chunk that LZ4 has encoded. Out: its sequences, each of which is a match with the bytes before it, and the bytes that
//! it could not encode. Two chunks of the same size may have many short matches or few long ones, and take very different
//! times.
//! Source: the LZ4 block format, `docs/formats/codecs.md`.

use crate::base::error::Result;
use crate::chunk;

/// What LZ4 made of blocks, per byte of them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sequences {
    /// Sequences.
    pub sequences: f64,
    /// Bytes in streams that are stored as they are.
    pub raw: f64,
}

impl Sequences {
    /// Those of a chunk of LZ4 streams.
    ///
    /// # Errors
    /// `Corrupt` or `Truncated` for bytes that are no chunk.
    pub fn of(encoded: &[u8]) -> Result<Self> {
        let (mut sequences, mut raw, mut bytes) = (0, 0, 0);
        for stream in chunk::streams(encoded)? {
            bytes += stream.plain_bytes;
            match stream.data {
                None => {}
                Some(data) if data.len() == stream.plain_bytes => raw += data.len(),
                Some(data) => sequences += counted(data),
            }
        }
        let part = |count: usize| {
            let count = f64::from(u32::try_from(count).unwrap_or(u32::MAX));
            count / f64::from(u32::try_from(bytes.max(1)).unwrap_or(u32::MAX))
        };
        Ok(Self { sequences: part(sequences), raw: part(raw) })
    }
}

/// The most that half a token says; then more bytes say the rest, as long as they are full.
const HALF_FULL: u8 = 15;
const FULL: u8 = 255;
/// Bytes of the distance of a match.
const OFFSET_BYTES: usize = 2;

/// Sequences of a stream; those in front of what is not one.
fn counted(stream: &[u8]) -> usize {
    let (mut rest, mut count) = (stream, 0);
    while let Some((&token, tail)) = rest.split_first() {
        count += 1;
        let literals = length(token >> 4, tail);
        let Some(tail) = literals.and_then(|(bytes, tail)| tail.get(bytes..)) else { break };
        // The last sequence has no match.
        let matched = tail.get(OFFSET_BYTES..).and_then(|tail| length(token & HALF_FULL, tail));
        let Some((_, tail)) = matched else { break };
        rest = tail;
    }
    count
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

    #[test]
    fn sequences_are_counted_by_their_tokens() {
        // Three literals and a match of four; then two literals as the last.
        assert_eq!(counted(&[0x30, 1, 2, 3, 3, 0, 0x20, 4, 5]), 2);
        // 15 + 255 + 1 literals, a match of 4 + 15 + 2.
        let mut long = vec![0xff, 255, 1];
        long.extend([7; 271]);
        long.extend([9, 0, 2, 0x10, 8]);
        assert_eq!(counted(&long), 2);
        assert_eq!(counted(&[]), 0);
        assert_eq!(counted(&[0xf0, 255]), 1);
    }
}
