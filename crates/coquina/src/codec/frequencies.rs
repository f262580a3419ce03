//! What a coder makes of a stream by the frequencies of its byte values alone, told from a sample.
//!
//! Byte planes of texts and of small numbers have few different bytes in no order: matches that a search finds there are
//! chance, cost more than the bytes that they stand for, and are slow to decode.
//!
//! In: a stream. Out: about how long its Huffman code is, and whether it has matches that are long enough to be shorter, by
//! integer arithmetic: the same bytes give the same answer everywhere. Plain version: the entropy in floating point, in the
//! tests.

/// Grams of so many bytes are looked up: a match that is shorter seldom pays where bytes take four bits and less.
const GRAM_BYTES: usize = 8;
/// They are looked up at the first `PROBES` places of every `PROBE_STRIDE` bytes, and every `KEEP`th one is remembered.
const PROBES: usize = 64;
const PROBE_STRIDE: usize = 1024;
const KEEP: usize = 16;
const TABLE_BITS: u32 = 12;
/// One of so many that is known is too many: `KEEP` times as many are there.
const REPEATS_ONE_IN: usize = 512;
/// Byte values are counted in the first `SAMPLE_BYTES` of every `SAMPLE_STRIDE`.
const SAMPLE_BYTES: usize = 512;
const SAMPLE_STRIDE: usize = 4096;
/// A logarithm has so many bits behind the point.
const FRACTION_BITS: u32 = 16;

/// About how many bytes the Huffman code of `stream` takes. No byte takes less than a bit.
pub(super) fn coded_bytes(stream: &[u8]) -> usize {
    // Four tables, so that equal bytes in a row do not wait for each other's count.
    let mut counts = [[0_u32; 256]; 4];
    let mut total = 0_u64;
    for part in stream.chunks(SAMPLE_STRIDE) {
        let (quads, _) = part[..part.len().min(SAMPLE_BYTES)].as_chunks::<4>();
        for quad in quads {
            for (table, &byte) in counts.iter_mut().zip(quad) {
                table[usize::from(byte)] += 1;
            }
        }
        total += 4 * quads.len() as u64;
    }
    if total == 0 {
        return stream.len();
    }
    let of_total = log2(total);
    let bits: u64 = (0..256)
        .map(|value| counts.iter().map(|table| u64::from(table[value])).sum::<u64>())
        .filter(|&count| count > 0)
        .map(|count| count * of_total.saturating_sub(log2(count)))
        .sum();
    let bits_each = (bits / total).max(1 << FRACTION_BITS);
    let bytes = (stream.len() as u64).saturating_mul(bits_each) >> (FRACTION_BITS + 3);
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

/// Whether next to nothing of `stream` repeats what stands before, as far as a sample tells. Leaves early where it does.
pub(super) fn repeats_little(stream: &[u8]) -> bool {
    let mut table = [0_u64; 1 << TABLE_BITS];
    let slot = |gram: u64| (gram.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - TABLE_BITS)) as usize;
    let allowed = stream.len() / PROBE_STRIDE * PROBES / REPEATS_ONE_IN;
    let mut repeats = 0;
    for start in (0..stream.len()).step_by(PROBE_STRIDE) {
        let gram =
            |at: usize| stream.get(at..)?.first_chunk::<GRAM_BYTES>().map(|gram| u64::from_le_bytes(*gram));
        for (at, gram) in (start..start + PROBES).filter_map(|at| Some((at, gram(at)?))) {
            let kept = &mut table[slot(gram)];
            repeats += usize::from(*kept == gram);
            if at.is_multiple_of(KEEP) {
                *kept = gram;
            }
        }
        if repeats > allowed {
            return false;
        }
        for at in (start + PROBES..start + PROBE_STRIDE).step_by(KEEP) {
            if let Some(gram) = gram(at) {
                table[slot(gram)] = gram;
            }
        }
    }
    true
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

    #[test]
    fn the_estimate_is_near_the_entropy() {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state.to_le_bytes()
        };
        for bits in 0..=8 {
            for len in [4096, 16384, 100_000] {
                // Values of `bits` bits; the least of some of them, so that small ones are frequent.
                for least_of in 1..4 {
                    let mask = u8::MAX.checked_shr(8 - bits).unwrap_or(0);
                    let value = |bytes: [u8; 8]| bytes[..least_of].iter().map(|byte| byte & mask).min();
                    let stream: Vec<u8> = (0..len).filter_map(|_| value(next())).collect();
                    let (found, wanted) = (coded_bytes(&stream) as f64, entropy_bytes(&stream));
                    // A sample has seen less than there is.
                    assert!((0.93..1.02).contains(&(found / wanted)), "{bits} {len} {found} {wanted}");
                }
            }
        }
        assert_eq!(coded_bytes(&[]), 0);
        assert_eq!(coded_bytes(&[1, 2, 3]), 3);
    }

    #[test]
    fn repeats_are_found_wherever_they_are() {
        let mut state = 5_u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state.to_be_bytes()[0] & 0x0f
        };
        let noise: Vec<u8> = (0..16384).map(|_| next()).collect();
        assert!(repeats_little(&noise) && repeats_little(&[]) && repeats_little(&noise[..2048]));
        for distance in [1, 7, 16, 1000, 5000] {
            let stream: Vec<u8> = noise[..distance].iter().copied().cycle().take(16384).collect();
            assert!(!repeats_little(&stream), "{distance}");
        }
        let sparse: Vec<u8> = noise.iter().map(|&byte| byte * u8::from(byte > 14)).collect();
        assert!(!repeats_little(&sparse));
    }

    #[test]
    fn logarithms_are_close() {
        for number in (1..5000_u64).chain([1 << 40, (1 << 40) + 12345, u64::MAX]) {
            let found = log2(number) as f64 / f64::from(1 << FRACTION_BITS);
            assert!((found - (number as f64).log2()).abs() < 0.01, "{number}: {found}");
        }
    }
}
