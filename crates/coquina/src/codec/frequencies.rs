//! Which streams are best coded by the frequencies of their byte values alone.
//!
//! Byte planes of texts and of small numbers have few different bytes in no order: matches that a search finds there are
//! chance, cost more than the bytes that they stand for, and are slow to find and to decode.
//!
//! In: a stream. Out: claims, from samples by integer arithmetic: the same bytes give the same answer everywhere.
//! Cost: a tenth of a microsecond on most streams, which one small sample tells to be others.

use super::byte_counts::ByteCounts;

/// Parts of a stream, evenly spread, of so many words, that are compared with each other: each with the `NEXT_PARTS`
/// behind it.
const PARTS: usize = 16;
const PART_WORDS: usize = 4;
const NEXT_PARTS: usize = 2;
/// Where fewer than one in so many of these bytes are equal, values are many: matches are then so rare that a search
/// takes little time, and its result is decoded as fast as one without.
const MANY_ONE_IN: usize = 24;
/// Where one in so many is equal, one value is so frequent that its runs are matches.
const ONE_ONE_IN: usize = 2;
/// Grams of so many bytes are looked up: a match that is shorter seldom pays where bytes take four bits and less.
const GRAM_BYTES: usize = 8;
/// They are looked up at the first `PROBES` places of every `PROBE_STRIDE` bytes, and every `KEEP`th one is remembered.
const PROBES: usize = 64;
const PROBE_STRIDE: usize = 1024;
const KEEP: usize = 16;
const TABLE_BITS: u32 = 12;
/// One of so many that is known is too many: `KEEP` times as many are there.
const REPEATS_ONE_IN: usize = 512;

/// How many different byte values a stream has, as far as a sample tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Values {
    /// As good as one: runs.
    One,
    /// Few enough to be coded in five bits or so.
    Few,
    /// Up to all of them: noise.
    Many,
}

impl Values {
    /// Takes a tenth of a microsecond, however long the stream is.
    pub(super) fn of(stream: &[u8]) -> Self {
        let mut parts = [[0; PART_WORDS]; PARTS];
        let stride = (stream.len() / PARTS).max(8 * PART_WORDS);
        for (part, bytes) in parts.iter_mut().zip(stream.chunks(stride)) {
            let (words, _) = bytes.as_chunks();
            part.iter_mut().zip(words).for_each(|(to, word)| *to = u64::from_le_bytes(*word));
        }
        // Each byte of the sum counts up to `PARTS * PART_WORDS` equal ones, which fits.
        let mut equal = 0;
        for next in 1..=NEXT_PARTS {
            let pairs = parts[next..].as_flattened().iter().zip(parts.as_flattened());
            let sum: u64 = pairs.map(|(a, b)| equal_bytes(a ^ b)).sum();
            equal += sum.to_le_bytes().map(usize::from).iter().sum::<usize>();
        }
        let compared = 8 * PART_WORDS * (NEXT_PARTS * PARTS - NEXT_PARTS * (NEXT_PARTS + 1) / 2);
        if equal * MANY_ONE_IN < compared {
            Self::Many
        } else if equal * ONE_ONE_IN < compared {
            Self::Few
        } else {
            Self::One
        }
    }
}

/// A 1 in each byte that is 0 in `word`, the others 0.
#[inline]
fn equal_bytes(word: u64) -> u64 {
    const LOW: u64 = 0x7f7f_7f7f_7f7f_7f7f;
    // A carry into the highest bit tells that one of the others is set.
    !((word & LOW) + LOW | word | LOW) >> 7
}

/// About how many bytes the Huffman code of `stream` takes. No byte takes less than a bit.
pub(super) fn coded_bytes(stream: &[u8]) -> usize {
    ByteCounts::of(stream).coded_bytes(stream.len())
}

/// Whether next to nothing of `stream` repeats what stands before, as far as a sample tells. Leaves early where it does.
pub(super) fn repeats_little(stream: &[u8]) -> bool {
    // Half of a gram's hash says where it is kept, the other half which it is.
    let mut table = [0_u32; 1 << TABLE_BITS];
    let allowed = stream.len() / PROBE_STRIDE * PROBES / REPEATS_ONE_IN;
    let mut repeats = 0;
    for start in (0..stream.len()).step_by(PROBE_STRIDE) {
        let gram = |at: usize| stream.get(at..)?.first_chunk::<GRAM_BYTES>().map(|gram| Gram::of(*gram));
        for (at, gram) in (start..start + PROBES).filter_map(|at| Some((at, gram(at)?))) {
            let kept = &mut table[gram.slot];
            repeats += usize::from(*kept == gram.mark);
            if at.is_multiple_of(KEEP) {
                *kept = gram.mark;
            }
        }
        if repeats > allowed {
            return false;
        }
        for at in (start + PROBES..start + PROBE_STRIDE).step_by(KEEP) {
            if let Some(gram) = gram(at) {
                table[gram.slot] = gram.mark;
            }
        }
    }
    true
}

struct Gram {
    slot: usize,
    mark: u32,
}

impl Gram {
    fn of(bytes: [u8; GRAM_BYTES]) -> Self {
        let hash = u64::from_le_bytes(bytes).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let [.., a, b, c, d] = (hash << TABLE_BITS).to_le_bytes();
        Self { slot: (hash >> (64 - TABLE_BITS)) as usize, mark: u32::from_le_bytes([a, b, c, d]) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise() -> impl FnMut() -> u8 {
        let mut state = 5_u32;
        move || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state.to_be_bytes()[0]
        }
    }

    #[test]
    fn values_are_one_few_or_many() {
        let mut next = noise();
        for len in [2048, 16384, 100_000] {
            let mut of =
                |value: fn(u8) -> u8| Values::of(&(0..len).map(|_| value(next())).collect::<Vec<u8>>());
            assert_eq!(of(|byte| byte), Values::Many);
            assert_eq!(of(|byte| byte % 100), Values::Many);
            assert_eq!(of(|byte| byte & 0x0f), Values::Few);
            assert_eq!(of(|byte| byte & 3), Values::Few);
            assert_eq!(of(|byte| byte / 64 / 3), Values::One);
            assert_eq!(of(|_| 7), Values::One);
        }
    }

    #[test]
    fn equal_bytes_are_counted_one_by_one() {
        for word in [0, u64::MAX, 1, 0x80, 0x0100, 0x8000_0000_0000_0000, 0x0080_ff00_0100_7f00] {
            let naive = word.to_le_bytes().map(|byte| u8::from(byte == 0));
            assert_eq!(equal_bytes(word).to_le_bytes(), naive, "{word:x}");
        }
    }

    #[test]
    fn repeats_are_found_wherever_they_are() {
        let mut next = noise();
        let noise: Vec<u8> = (0..16384).map(|_| next() & 0x0f).collect();
        assert!(repeats_little(&noise) && repeats_little(&[]) && repeats_little(&noise[..2048]));
        for distance in [1, 7, 16, 1000, 5000] {
            let stream: Vec<u8> = noise[..distance].iter().copied().cycle().take(16384).collect();
            assert!(!repeats_little(&stream), "{distance}");
        }
        let sparse: Vec<u8> = noise.iter().map(|&byte| byte * u8::from(byte > 14)).collect();
        assert!(!repeats_little(&sparse));
    }
}
