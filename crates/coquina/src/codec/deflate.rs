//! The fastest Deflate: one probe for each match, codes that are fixed. For level 1 of zlib, where those who
//! choose it want speed, and libdeflate's fastest search is slower than zlib-ng's.
//!
//! In: bytes. Out: one final Deflate block with fixed codes (RFC 1951, section 3.2.6), or None if there is no room.
//! Invariant: the output depends on the input and the room only.

/// Bits of the hash table.
const TABLE_BITS: u32 = 13;
/// Matches are found by so many bytes at once.
const MATCH_MIN: usize = 4;
const MATCH_MAX: usize = 258;
const DISTANCE_MAX: usize = 32768;
/// Bytes that the search leaves alone at the end, so that it can load whole words.
const TAIL: usize = 8;
/// Every so many bytes without a match, as a power of two, the search takes longer steps.
const PATIENCE_BITS: usize = 11;
/// A final block with fixed codes: one bit that it is the last, two for its kind.
const BLOCK_HEADER: Code = Code { bits: 0b011, len: 3 };
/// The code for the end of the block.
const BLOCK_END: Code = Code { bits: 0, len: 7 };

/// A code as it is written, first bit lowest.
#[derive(Clone, Copy)]
struct Code {
    bits: u32,
    len: u8,
}

static LITERALS: [Code; 256] = literal_codes();
/// The code of each match length with its extra bits, from length 3 on.
static LENGTHS: [Code; MATCH_MAX - 2] = length_codes();

const fn reversed(code: u32, len: u8) -> Code {
    Code { bits: code.reverse_bits() >> (32 - len), len }
}

const fn literal_codes() -> [Code; 256] {
    let mut codes = [Code { bits: 0, len: 0 }; 256];
    let mut value = 0;
    while value < 256 {
        codes[value as usize] =
            if value < 144 { reversed(0x30 + value, 8) } else { reversed(0x190 + value - 144, 9) };
        value += 1;
    }
    codes
}

const fn length_codes() -> [Code; MATCH_MAX - 2] {
    let mut codes = [Code { bits: 0, len: 0 }; MATCH_MAX - 2];
    let mut value = 0_u32;
    while (value as usize) < codes.len() {
        let at = value as usize;
        // Symbols come in groups of four with the same number of extra bits; the longest match has its own.
        let extra_bits = if value < 8 { 0 } else { value.ilog2() - 2 };
        let (symbol, extra) = if at == MATCH_MAX - 3 {
            (285, (0, 0))
        } else {
            let symbol = 257 + 4 * extra_bits + (value >> extra_bits);
            (symbol, (value & ((1 << extra_bits) - 1), extra_bits))
        };
        let Code { bits, len } =
            if symbol < 280 { reversed(symbol - 256, 7) } else { reversed(0xc0 + symbol - 280, 8) };
        codes[at] = Code { bits: bits | extra.0 << len, len: len + extra.1.to_le_bytes()[0] };
        value += 1;
    }
    codes
}

/// Encodes `src` to the front of `out`; returns the bytes written.
pub(super) fn encode(src: &[u8], out: &mut [u8]) -> Option<usize> {
    let mut table = [0_u32; 1 << TABLE_BITS];
    let mut bits = Bits { out, at: 0, pending: 0, count: 0 };
    bits.put(BLOCK_HEADER);
    let (mut at, mut anchor) = (0, 0);
    while at + TAIL < src.len() {
        let word = word(src, at)?;
        let entry = &mut table[slot(word)];
        let candidate = *entry as usize;
        *entry = u32::try_from(at).ok()?;
        let distance = at - candidate;
        // An empty entry is position 0: then the bytes there decide, as they do for any other.
        if distance == 0 || distance > DISTANCE_MAX || word != self::word(src, candidate)? {
            at += 1 + ((at - anchor) >> PATIENCE_BITS);
            continue;
        }
        bits.literals(src.get(anchor..at)?)?;
        let length = MATCH_MIN + common(src.get(candidate + MATCH_MIN..)?, src.get(at + MATCH_MIN..)?);
        bits.repeat(length, distance)?;
        at += length;
        anchor = at;
    }
    bits.literals(src.get(anchor..)?)?;
    bits.put(BLOCK_END);
    bits.finish()
}

fn word(src: &[u8], at: usize) -> Option<u32> {
    src.get(at..)?.first_chunk().map(|word| u32::from_le_bytes(*word))
}

fn slot(word: u32) -> usize {
    (word.wrapping_mul(2_654_435_761) >> (32 - TABLE_BITS)) as usize
}

/// How many bytes are the same at the fronts of `old` and `new`, as far as a match can reach.
fn common(old: &[u8], new: &[u8]) -> usize {
    let (words, tail) = new.get(..MATCH_MAX - MATCH_MIN).unwrap_or(new).as_chunks::<8>();
    let mut same = 0;
    for (new, old) in words.iter().zip(old.as_chunks::<8>().0) {
        let differing = u64::from_le_bytes(*new) ^ u64::from_le_bytes(*old);
        if differing != 0 {
            return same + (differing.trailing_zeros() / 8) as usize;
        }
        same += 8;
    }
    same + tail.iter().zip(old.get(same..).unwrap_or_default()).take_while(|(new, old)| new == old).count()
}

/// Writes bits, the first lowest. Fewer than eight are pending after each step.
struct Bits<'o> {
    out: &'o mut [u8],
    at: usize,
    pending: u64,
    count: u32,
}

impl Bits<'_> {
    #[inline(always)]
    fn put(&mut self, code: Code) {
        self.put_bits(code.bits, code.len.into());
    }

    #[inline(always)]
    fn put_bits(&mut self, bits: u32, len: u32) {
        self.pending |= u64::from(bits) << self.count;
        self.count += len;
    }

    /// Writes all whole bytes that are pending.
    #[inline(always)]
    fn flush(&mut self) -> Option<()> {
        *self.out.get_mut(self.at..)?.first_chunk_mut()? = self.pending.to_le_bytes();
        let bytes = self.count / 8;
        self.at += bytes as usize;
        // Never all 64: a step puts at most 48 bits on top of 7.
        self.pending >>= 8 * bytes;
        self.count %= 8;
        Some(())
    }

    #[inline(always)]
    fn literals(&mut self, bytes: &[u8]) -> Option<()> {
        let (groups, rest) = bytes.as_chunks::<5>();
        for group in groups {
            for &byte in group {
                self.put(LITERALS[usize::from(byte)]);
            }
            self.flush()?;
        }
        for &byte in rest {
            self.put(LITERALS[usize::from(byte)]);
        }
        self.flush()
    }

    #[inline(always)]
    fn repeat(&mut self, length: usize, distance: usize) -> Option<()> {
        self.put(*LENGTHS.get(length - 3)?);
        let value = u32::try_from(distance - 1).ok()?;
        let (symbol, extra_bits) = if value < 4 {
            (value, 0)
        } else {
            let extra_bits = value.ilog2() - 1;
            (2 * extra_bits + (value >> extra_bits), extra_bits)
        };
        self.put(reversed(symbol, 5));
        self.put_bits(value & ((1 << extra_bits) - 1), extra_bits);
        self.flush()
    }

    fn finish(mut self) -> Option<usize> {
        self.flush()?;
        Some(self.at + usize::from(self.count > 0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(coded: &[u8], bytes: usize) -> Vec<u8> {
        let mut out = vec![0; bytes];
        let read = libdeflater::Decompressor::new().deflate_decompress(coded, &mut out).unwrap();
        assert_eq!(read, bytes);
        out
    }

    #[test]
    fn what_was_encoded_is_read_by_libdeflate() {
        let mut state = 1_u64;
        for bytes in (0..300).chain([1000, 40_000, 100_000]) {
            for spread in [1, 3, 40, 256] {
                let data: Vec<u8> = (0..bytes)
                    .map(|_| {
                        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                        ((state >> 33) % spread).to_le_bytes()[0]
                    })
                    .collect();
                let mut out = vec![0; 2 * bytes + 64];
                let length = encode(&data, &mut out).unwrap();
                assert!(decoded(&out[..length], bytes) == data, "{bytes} of {spread}");
            }
        }
    }

    #[test]
    fn every_length_has_its_code() {
        for length in 3..=MATCH_MAX {
            let mut out = vec![0; 64];
            let mut bits = Bits { out: &mut out, at: 0, pending: 0, count: 0 };
            bits.put(BLOCK_HEADER);
            bits.literals(b"x").unwrap();
            bits.repeat(length, 1).unwrap();
            bits.put(BLOCK_END);
            let end = bits.finish().unwrap();
            assert_eq!(decoded(&out[..end], length + 1), vec![b'x'; length + 1]);
        }
    }

    #[test]
    fn far_repeats_are_found_up_to_the_window() {
        for distance in [300, 5000, 32_767, 32_768, 32_769] {
            let mut data: Vec<u8> =
                (0..distance as u64).map(|i| ((i * i * 2_654_435_761) >> 17).to_le_bytes()[0]).collect();
            data.extend_from_within(..200);
            let mut out = vec![0; 2 * data.len()];
            let length = encode(&data, &mut out).unwrap();
            assert!(decoded(&out[..length], data.len()) == data, "{distance}");
        }
    }

    #[test]
    fn too_little_room_is_said() {
        assert!(encode(&[7; 100], &mut [0; 3]).is_none());
    }
}
