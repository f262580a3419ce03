//! Finds what no byte-oriented coder can shrink, before a slow one tries.
//!
//! The low bytes of float mantissas are noise, and the shuffles put them first. So the leading noise of a stream
//! is stored as it is, in whatever way the stream's format has for that, and only the rest is searched. Streams
//! that repeat nothing have byte statistics only, which the fastest search codes as well as the slowest.
//!
//! In: a stream. Out: lengths and claims, by integer arithmetic: the same bytes give the same answer everywhere.
//! Cost: under a microsecond on a stream that is not noise (it leaves after one segment), 5 GB/s on noise.

use super::byte_counts::ByteCounts;

/// Bytes judged together. A prefix is a whole number of them, or the whole stream.
const SEGMENT_BYTES: usize = 16384;
/// Shorter streams are not judged.
const JUDGED_BYTES_MIN: usize = 2048;
/// Four-byte grams are looked up at the first `PROBES` places of every `PROBE_STRIDE` bytes, and every
/// `KEEP`th one is remembered.
const PROBES: usize = 64;
const PROBE_STRIDE: usize = 2048;
const KEEP: usize = 16;
const TABLE_BITS: u32 = 12;

/// What a coder can make of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Coder {
    /// Matches and unequal frequencies: zlib, zstd.
    Entropy,
    /// Matches only: LZ4HC. Skewed bytes without repeats are as hopeless as noise.
    Matches,
}

impl Coder {
    /// By how many thousandths more than chance bytes may collide and still count as uniform. 60 is 0.043 bit a
    /// byte; a coder of matches gains nothing from skewed bytes, unless one value makes up most of them.
    fn excess(self) -> u64 {
        match self {
            Self::Entropy => 60,
            Self::Matches => 99_999,
        }
    }

    /// One repeated gram in so many probes is too many for noise, which has none.
    fn repeats_one_in(self) -> u64 {
        match self {
            Self::Entropy => 1024,
            Self::Matches => 512,
        }
    }
}

/// Bytes at the front of `stream` that are best stored as they are: 0 to all of them.
pub(super) fn noise_prefix(stream: &[u8], coder: Coder) -> usize {
    let is_noise = |segment: &[u8]| is_uniform(segment, coder.excess());
    if stream.len() < JUDGED_BYTES_MIN || !is_noise(&stream[..stream.len().min(SEGMENT_BYTES)]) {
        return 0;
    }
    let mut grams = Grams::new();
    let mut done = 0;
    while done < stream.len() {
        let mut end = (done + SEGMENT_BYTES).min(stream.len());
        if stream.len() - end < JUDGED_BYTES_MIN {
            end = stream.len();
        }
        let segment = &stream[done..end];
        if done > 0 && !is_noise(segment) {
            break;
        }
        segment.chunks(PROBE_STRIDE).for_each(|part| grams.probe(part));
        if grams.repeats * coder.repeats_one_in() > grams.probes {
            return 0;
        }
        done = end;
    }
    done
}

/// Whether byte values are spread evenly: the number of equal pairs in a sample, against what chance gives.
fn is_uniform(segment: &[u8], excess: u64) -> bool {
    let counts = ByteCounts::of(segment);
    counts.pairs() > 0 && counts.equal_pairs() * 256_000 <= counts.pairs() * (1000 + excess)
}

fn gram(bytes: &[u8]) -> u32 {
    bytes.first_chunk().map_or(0, |gram| u32::from_le_bytes(*gram))
}

fn slot(gram: u32, bits: u32) -> usize {
    (gram.wrapping_mul(2_654_435_761) >> (32 - bits)) as usize
}

/// Remembers some four-byte grams and counts how many of those looked up were seen before.
struct Grams {
    table: [u32; 1 << TABLE_BITS],
    repeats: u64,
    probes: u64,
}

impl Grams {
    fn new() -> Self {
        Self { table: [0; 1 << TABLE_BITS], repeats: 0, probes: 0 }
    }

    fn probe(&mut self, part: &[u8]) {
        let places = part.len().saturating_sub(3);
        for at in 0..places.min(PROBES) {
            let gram = gram(&part[at..]);
            let kept = &mut self.table[slot(gram, TABLE_BITS)];
            self.repeats += u64::from(*kept == gram);
            if at.is_multiple_of(KEEP) {
                *kept = gram;
            }
        }
        self.probes += places.min(PROBES) as u64;
        for at in (PROBES..places).step_by(KEEP) {
            let gram = gram(&part[at..]);
            self.table[slot(gram, TABLE_BITS)] = gram;
        }
    }
}

/// Whether `stream` repeats almost no four-byte gram, and if `three` also few three-byte ones, which count where
/// the search to be spared takes matches of three. Leaves after 4 KiB where there are repeats.
pub(super) fn is_matchless(stream: &[u8], three: bool) -> bool {
    // Skewed bytes repeat three bytes in six by chance.
    repeats_few::<15>(stream, 128, |gram| gram)
        && (!three || repeats_few::<16>(stream, 6, |gram| gram & 0x00ff_ffff | 0x0100_0000))
}

/// Whether at most one gram in `one_in`, as `part` sees it, was met shortly before.
fn repeats_few<const BITS: u32>(stream: &[u8], one_in: usize, part: impl Fn(u32) -> u32) -> bool {
    const STEP: usize = 4096;
    if stream.len() < STEP {
        return false;
    }
    let mut table = vec![0_u32; 1 << BITS];
    let places = stream.len() - 3;
    let (mut repeats, mut at) = (0, 0);
    while at < places {
        let end = (at + STEP).min(places);
        for window in stream[at..end + 3].windows(4) {
            let gram = part(gram(window));
            let kept = &mut table[slot(gram, BITS)];
            repeats += usize::from(*kept == gram);
            *kept = gram;
        }
        if repeats * one_in > end {
            return false;
        }
        at = end;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(bytes: usize) -> Vec<u8> {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state.to_le_bytes()[3]
        };
        (0..bytes).map(|_| next()).collect()
    }

    #[test]
    fn leading_noise_is_found_up_to_a_segment() {
        let text: Vec<u8> = b"temperature 17 ".repeat(4000);
        for coder in [Coder::Entropy, Coder::Matches] {
            assert_eq!(noise_prefix(&noise(100_000), coder), 100_000);
            assert_eq!(noise_prefix(&text, coder), 0);
        }
        let both = [noise(50_000), text].concat();
        assert_eq!(noise_prefix(&both, Coder::Entropy), 3 * SEGMENT_BYTES);
        assert_eq!(noise_prefix(&noise(JUDGED_BYTES_MIN - 1), Coder::Entropy), 0);
    }

    #[test]
    fn repeated_noise_is_no_noise() {
        assert_eq!(noise_prefix(&noise(9000).repeat(5), Coder::Entropy), 0);
        assert!(is_matchless(&noise(40_000), true));
        assert!(!is_matchless(&noise(9000).repeat(5), false));
    }
}
