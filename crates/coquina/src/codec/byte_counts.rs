//! How often each byte value is in a sample of a stream.
//!
//! In: a stream. Out: 256 counts, and what they say about all of it, by integer arithmetic: the same bytes give the same
//! answer everywhere. Plain version: the loops over all pairs and the entropy in floating point, in the tests.

/// The sample has the first `SAMPLE_BYTES` of every `SAMPLE_STRIDE`.
const SAMPLE_BYTES: usize = 512;
const SAMPLE_STRIDE: usize = 4096;
/// A logarithm has so many bits behind the point.
const FRACTION_BITS: u32 = 16;

/// Counts of byte values.
pub(super) struct ByteCounts {
    counts: [u32; 256],
    total: u64,
}

impl ByteCounts {
    /// Those of an eighth of a stream; of most of it if it is short.
    pub(super) fn of(stream: &[u8]) -> Self {
        // Four tables, so that equal bytes in a row do not wait for each other's count.
        let mut tables = [[0_u32; 256]; 4];
        let mut total = 0;
        for part in stream.chunks(SAMPLE_STRIDE) {
            let (quads, _) = part[..part.len().min(SAMPLE_BYTES)].as_chunks::<4>();
            for quad in quads {
                for (table, &byte) in tables.iter_mut().zip(quad) {
                    table[usize::from(byte)] += 1;
                }
            }
            total += 4 * quads.len() as u64;
        }
        let [mut counts, more @ ..] = tables;
        for table in more {
            counts.iter_mut().zip(table).for_each(|(count, more)| *count += more);
        }
        Self { counts, total }
    }

    /// How many ordered pairs of the bytes there are.
    pub(super) fn pairs(&self) -> u64 {
        self.total * self.total.saturating_sub(1)
    }

    /// How many ordered pairs are equal: by chance one in 256 of those of noise.
    pub(super) fn equal_pairs(&self) -> u64 {
        self.counts.iter().map(|&count| u64::from(count) * u64::from(count)).sum::<u64>() - self.total
    }

    /// About how many bytes the Huffman code of a stream of so many bytes takes. No byte takes less than a bit.
    pub(super) fn coded_bytes(&self, bytes: usize) -> usize {
        if self.total == 0 {
            return bytes;
        }
        let of_total = log2(self.total);
        let counts = self.counts.iter().map(|&count| u64::from(count)).filter(|&count| count > 0);
        let bits: u64 = counts.map(|count| count * of_total.saturating_sub(log2(count))).sum();
        let bits_each = (bits / self.total).max(1 << FRACTION_BITS);
        let coded = (bytes as u64).saturating_mul(bits_each) >> (FRACTION_BITS + 3);
        usize::try_from(coded).unwrap_or(usize::MAX)
    }
}

/// The binary logarithm of what is not 0, a little too low: within a power of two it is taken for a parabola.
fn log2(number: u64) -> u64 {
    let whole = number.ilog2();
    let fraction = if whole >= FRACTION_BITS {
        number >> (whole - FRACTION_BITS)
    } else {
        number << (FRACTION_BITS - whole)
    } - (1 << FRACTION_BITS);
    // x + 0.34 x (1 - x) is within 0.009 of log2(1 + x).
    let bow = (fraction * ((1 << FRACTION_BITS) - fraction)) >> FRACTION_BITS;
    (u64::from(whole) << FRACTION_BITS) + fraction + ((bow * 22282) >> FRACTION_BITS)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The naive version.
    fn entropy_bytes(stream: &[u8]) -> f64 {
        let mut counts = [0.0_f64; 256];
        stream.iter().for_each(|&byte| counts[usize::from(byte)] += 1.0);
        let len = stream.len() as f64;
        let bits: f64 = counts.iter().filter(|&&n| n > 0.0).map(|n| n * (len / n).log2()).sum();
        bits.max(len) / 8.0
    }

    fn noise() -> impl FnMut() -> [u8; 8] {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state.to_le_bytes()
        }
    }

    #[test]
    fn the_estimate_is_near_the_entropy() {
        let mut next = noise();
        for bits in 0..=8 {
            for len in [4096, 16384, 100_000] {
                // Values of `bits` bits; the least of some of them, so that small ones are frequent.
                for least_of in 1..4 {
                    let mask = u8::MAX.checked_shr(8 - bits).unwrap_or(0);
                    let value = |bytes: [u8; 8]| bytes[..least_of].iter().map(|byte| byte & mask).min();
                    let stream: Vec<u8> = (0..len).filter_map(|_| value(next())).collect();
                    let found = ByteCounts::of(&stream).coded_bytes(len) as f64;
                    let wanted = entropy_bytes(&stream);
                    // A sample has seen less than there is.
                    assert!((0.93..1.02).contains(&(found / wanted)), "{bits} {len} {found} {wanted}");
                }
            }
        }
        assert_eq!(ByteCounts::of(&[]).coded_bytes(0), 0);
        assert_eq!(ByteCounts::of(&[1, 2, 3]).coded_bytes(3), 3);
    }

    #[test]
    fn equal_pairs_are_those_of_the_sample() {
        let mut next = noise();
        for len in [0, 3, 4, 31, 512, 513] {
            let stream: Vec<u8> = (0..len).map(|_| next()[3] & 0x0f).collect();
            // So short a stream is all in the samples, up to what is left behind its last four bytes.
            let seen = &stream[..len.min(512) / 4 * 4];
            let pairs = (0..seen.len()).flat_map(|a| (0..seen.len()).map(move |b| (a, b)));
            let (pairs, equal) = pairs
                .filter(|(a, b)| a != b)
                .fold((0, 0), |(pairs, equal), (a, b)| (pairs + 1, equal + u64::from(seen[a] == seen[b])));
            let counts = ByteCounts::of(&stream);
            assert_eq!((counts.pairs(), counts.equal_pairs()), (pairs, equal), "{len}");
        }
    }

    #[test]
    fn logarithms_are_close() {
        for number in (1..5000_u64).chain([1 << 40, (1 << 40) + 12345, u64::MAX]) {
            let found = log2(number) as f64 / f64::from(1 << FRACTION_BITS);
            assert!((found - (number as f64).log2()).abs() < 0.01, "{number}: {found}");
        }
    }
}
