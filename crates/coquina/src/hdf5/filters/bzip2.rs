//! Bzip2 (307): one bzip2 stream.
//!
//! In: the stream, which holds no length. Out: the bytes of a chunk. What is behind the stream is ignored.
//! Source: `docs/formats/hdf5-legacy-filters.md`, "Bzip2".

use bzip2::{Decompress, Status};

use super::Filter;
use crate::base::error::{Error, Result};

pub(super) struct Bzip2;

impl Filter for Bzip2 {
    fn id(&self) -> u16 {
        307
    }

    fn name(&self) -> &'static str {
        "bzip2"
    }

    fn decode(&self, stored: &[u8], _values: &[u32], out: &mut [u8]) -> Result<()> {
        decode(stored, out)
    }

    fn decode_within(&self, stored: &[u8], _values: &[u32], room: &mut [u8]) -> Result<usize> {
        decode_within(stored, room)
    }
}

/// Fills `out` with what the stream holds.
pub(super) fn decode(stored: &[u8], out: &mut [u8]) -> Result<()> {
    match decode_within(stored, out)? {
        len if len == out.len() => Ok(()),
        len => Err(Error::corrupt(format!("bzip2: {len} bytes in place of {}", out.len()))),
    }
}

/// Puts what the stream holds in the front of `out`; returns its length.
fn decode_within(stored: &[u8], out: &mut [u8]) -> Result<usize> {
    let mut decoder = Decompress::new(false);
    let (mut input, mut at) = (stored, 0);
    loop {
        // With `out` full the stream must end; the byte behind shows whether it does.
        let mut behind = [0];
        let room = out.get_mut(at..).filter(|room| !room.is_empty());
        let is_full = room.is_none();
        let before = (decoder.total_in(), decoder.total_out());
        let status = decoder
            .decompress(input, room.unwrap_or(&mut behind))
            .map_err(|error| Error::corrupt(error.to_string()))?;
        let read = usize::try_from(decoder.total_in() - before.0).unwrap_or(usize::MAX);
        let written = usize::try_from(decoder.total_out() - before.1).unwrap_or(usize::MAX);
        if is_full && written > 0 {
            return Err(Error::corrupt(format!("bzip2: more than {} bytes", out.len())));
        }
        at += written;
        input = input.get(read..).unwrap_or_default();
        match status {
            Status::StreamEnd => return Ok(at),
            Status::MemNeeded => return Err(Error::limit("bzip2: no memory for a block")),
            _ if read == 0 && written == 0 => {
                return Err(Error::truncated(format!(
                    "bzip2: the stream ends at byte {at} of {}",
                    out.len()
                )));
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use bzip2::{Action, Compress, Compression};

    use super::*;

    fn encode(plain: &[u8], level: u32) -> Vec<u8> {
        let mut out = Vec::with_capacity(plain.len() * 2 + 1000);
        let status = Compress::new(Compression::new(level), 0).compress_vec(plain, &mut out, Action::Finish);
        assert_eq!(status, Ok(Status::StreamEnd));
        out
    }

    #[test]
    fn what_was_encoded_decodes_to_exactly_its_length() {
        let plains = [
            Vec::new(),
            vec![9],
            vec![0; 300_000],
            (0..250_000_u32).map(|i| i.wrapping_mul(i).to_le_bytes()[1]).collect(),
        ];
        for plain in plains {
            for level in [1, 9] {
                let stored = encode(&plain, level);
                for fill in [0, 0xff] {
                    let mut out = vec![fill; plain.len()];
                    decode(&stored, &mut out).unwrap();
                    assert!(out == plain, "{}", plain.len());
                }
                decode(&[&stored[..], b"behind"].concat(), &mut vec![0; plain.len()]).unwrap();
                let mut long = vec![0; plain.len() + 1];
                assert!(decode(&stored, &mut long).is_err());
                assert_eq!(decode_within(&stored, &mut long).unwrap(), plain.len());
                assert!(plain.is_empty() || decode(&stored, &mut vec![0; plain.len() - 1]).is_err());
            }
        }
    }

    #[test]
    fn cut_and_flipped_streams_are_errors() {
        let plain = b"the quick brown fox, the quick brown dog, the lazy quick fox".repeat(3);
        let stored = encode(&plain, 9);
        let mut out = vec![0; plain.len()];
        for len in 0..stored.len() {
            assert!(decode(&stored[..len], &mut out).is_err(), "{len}");
        }
        for bit in 0..stored.len() * 8 {
            let mut flipped = stored.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            // Nothing guards the padding of the last byte, and the level is a bound alone.
            assert!(decode(&flipped, &mut out).is_err() || out == plain, "{bit}");
        }
    }
}
