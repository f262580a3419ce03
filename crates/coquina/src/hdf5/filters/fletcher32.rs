//! Fletcher32 (3): the bytes as they are, then a checksum of them.
//!
//! In: a chunk with 4 bytes behind it. Out: the chunk, once the checksum was found right.
//! Source: `docs/formats/hdf5-legacy-filters.md`, "Fletcher32".

use super::Filter;
use crate::base::error::{Error, Result};

/// After so many words both sums are folded. More could overflow the second one.
const GROUP_WORDS: usize = 360;
/// Sums that are kept side by side, for the compiler to put in registers; divides [`GROUP_WORDS`].
const LANES: usize = 8;

pub(super) struct Fletcher32;

impl Filter for Fletcher32 {
    fn id(&self) -> u16 {
        3
    }

    fn name(&self) -> &'static str {
        "fletcher32"
    }

    fn decoded_bytes(&self, stored: &[u8], _values: &[u32]) -> Result<Option<usize>> {
        Ok(Some(split(stored)?.0.len()))
    }

    fn decode(&self, stored: &[u8], _values: &[u32], out: &mut [u8]) -> Result<()> {
        decode(stored, out)
    }

    fn cut<'a>(&self, stored: &'a [u8]) -> Result<Option<&'a [u8]>> {
        verified(stored).map(Some)
    }

    fn encoded_bytes(&self, plain: usize, _values: &[u32]) -> Option<usize> {
        plain.checked_add(size_of::<u32>())
    }

    fn can_encode(&self) -> bool {
        true
    }

    fn encode(&self, plain: &[u8], _values: &[u32], out: &mut Vec<u8>) -> Result<()> {
        encode(plain, out);
        Ok(())
    }
}

/// The chunk and its checksum.
fn split(stored: &[u8]) -> Result<(&[u8], u32)> {
    let Some((plain, sum)) = stored.split_last_chunk() else {
        return Err(Error::truncated(format!("fletcher32: {} bytes, less than a checksum", stored.len())));
    };
    Ok((plain, u32::from_le_bytes(*sum)))
}

/// The chunk, once its checksum was found right.
fn verified(stored: &[u8]) -> Result<&[u8]> {
    let (plain, found) = split(stored)?;
    let sum = checksum(plain);
    // HDF5 up to 1.6.2 wrote the bytes of each half the other way round on little-endian machines.
    let early = sum >> 8 & 0x00ff_00ff | (sum & 0x00ff_00ff) << 8;
    if found == sum || found == early {
        return Ok(plain);
    }
    Err(Error::corrupt(format!("fletcher32: checksum {found:#010x} in place of {sum:#010x}")))
}

/// Copies all but the checksum, which must be right.
pub(super) fn decode(stored: &[u8], out: &mut [u8]) -> Result<()> {
    let plain = verified(stored)?;
    if plain.len() != out.len() {
        let sentence = format!("fletcher32: {} bytes in place of {}", plain.len(), out.len());
        return Err(Error::corrupt(sentence));
    }
    out.copy_from_slice(plain);
    Ok(())
}

/// Appends the bytes and their checksum.
pub(super) fn encode(plain: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(plain);
    out.extend_from_slice(&checksum(plain).to_le_bytes());
}

/// The checksum of HDF5: sums of big-endian words, and of these sums.
///
/// Naively, for every word: `first += word; second += first`; both folded after each group, after the last
/// words, after an odd byte, and at the end. In a group of `n` words, word `i` so counts `n - i` times in
/// `second`, which [`group`] adds up in lanes.
fn checksum(bytes: &[u8]) -> u32 {
    let (words, odd) = bytes.as_chunks();
    let (mut first, mut second) = (0_u32, 0_u32);
    let groups = words.chunks_exact(GROUP_WORDS);
    let last = groups.remainder();
    for words in groups {
        let (sum, weighted) = group(words);
        second = fold(second + 360 * first + weighted);
        first = fold(first + sum);
    }
    if !last.is_empty() {
        for word in last {
            first += u32::from(u16::from_be_bytes(*word));
            second += first;
        }
        (first, second) = (fold(first), fold(second));
    }
    if let [byte] = odd {
        first += u32::from(*byte) << 8;
        second += first;
        (first, second) = (fold(first), fold(second));
    }
    fold(second) << 16 | fold(first)
}

/// The sum of the words of a group, and the sum in which the first counts as often as there are words, the
/// last once.
///
/// Lane `l` sees words `l`, `l + LANES`, ..; within it the same two sums are formed. A word that counts `c`
/// times in the second one of its lane counts `c * LANES - l` times in the group.
#[inline]
fn group(words: &[[u8; 2]]) -> (u32, u32) {
    let (mut firsts, mut seconds) = ([0_u32; LANES], [0_u32; LANES]);
    for words in words.as_chunks::<LANES>().0 {
        for ((first, second), word) in firsts.iter_mut().zip(&mut seconds).zip(words) {
            *first += u32::from(u16::from_be_bytes(*word));
            *second += *first;
        }
    }
    let (mut sum, mut weighted) = (0, 0);
    for ((lane, first), second) in (0..).zip(firsts).zip(seconds) {
        sum += first;
        weighted += 8 * second - lane * first;
    }
    (sum, weighted)
}

/// Keeps a sum as a ones' complement number of about 16 bits: 0 and 0xffff are not the same here.
#[inline]
fn fold(sum: u32) -> u32 {
    (sum & 0xffff) + (sum >> 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The checksum as the format tells it.
    fn naive(bytes: &[u8]) -> u32 {
        let (mut first, mut second) = (0, 0);
        let (words, odd) = bytes.as_chunks::<2>();
        for words in words.chunks(360) {
            for word in words {
                first += u32::from(word[0]) << 8 | u32::from(word[1]);
                second += first;
            }
            (first, second) = (fold(first), fold(second));
        }
        for byte in odd {
            first += u32::from(*byte) << 8;
            second += first;
            (first, second) = (fold(first), fold(second));
        }
        fold(second) << 16 | fold(first)
    }

    #[test]
    fn the_checksum_is_the_naive_one() {
        for fill in [0, 1, 0x7f, 0xff] {
            let bytes = vec![fill; 5000];
            for len in (0..40).chain(700..740).chain(1430..1450).chain([4999, 5000]) {
                assert_eq!(checksum(&bytes[..len]), naive(&bytes[..len]), "{fill} {len}");
            }
        }
        let bytes: Vec<u8> = (0..5000_u32).map(|i| (i * i * 7).to_le_bytes()[1]).collect();
        for len in 0..bytes.len() {
            assert_eq!(checksum(&bytes[..len]), naive(&bytes[..len]), "{len}");
        }
    }

    #[test]
    fn known_sums() {
        assert_eq!(checksum(&[1, 2, 3, 4, 5, 6, 7]).to_le_bytes(), [0x0c, 0x10, 0x20, 0x1e]);
        let plain = [1_i32, 2, 3, 4, 300, 301, 302, 70000].map(i32::to_le_bytes).concat();
        assert_eq!(checksum(&plain).to_le_bytes(), [0x15, 0x02, 0x38, 0x7f]);
    }

    #[test]
    fn what_was_encoded_decodes_and_every_flipped_bit_is_noticed() {
        let plain: Vec<u8> = (0..99_u8).map(|i| i.wrapping_mul(77)).collect();
        let mut stored = Vec::new();
        encode(&plain, &mut stored);
        let mut out = vec![0; plain.len()];
        decode(&stored, &mut out).unwrap();
        assert_eq!(out, plain);
        assert!(decode(&stored, &mut out[1..]).is_err());
        for bit in 0..stored.len() * 8 {
            stored[bit / 8] ^= 1 << (bit % 8);
            assert!(decode(&stored, &mut out).is_err(), "{bit}");
            stored[bit / 8] ^= 1 << (bit % 8);
        }
        assert!(decode(&stored[..3], &mut []).is_err());
    }

    #[test]
    fn the_swapped_sums_of_early_files_are_right_too() {
        let mut out = [0; 7];
        decode(&[1, 2, 3, 4, 5, 6, 7, 0x10, 0x0c, 0x1e, 0x20], &mut out).unwrap();
        assert_eq!(out, [1, 2, 3, 4, 5, 6, 7]);
    }
}
