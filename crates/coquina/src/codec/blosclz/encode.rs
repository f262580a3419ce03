//! BloscLZ, the encoder: bytes become literal runs and matches with what came before.
//!
//! In: the bytes of one stream. Out: a stream that every BloscLZ decoder reads, or None where it would not
//! be short enough.
//! Source: the BloscLZ stream as C-Blosc2 writes it (`docs/formats/codecs.md`, "BloscLZ").
//! Invariant: the output is a function of level, input and room; what was encoded before has no influence.

use super::sink::{Count, FAR_START, RUN_MAX, Sink, Writer};

/// Bits of the largest hash table.
const TABLE_BITS: u32 = 14;
const TABLE_LEN: usize = 1 << TABLE_BITS;
/// Matches reach back less than this many bytes.
const FAR_END: usize = 73_725;
/// Shorter matches are not worth their instruction. So many bytes are hashed and compared at once: what the
/// table leads to is then most often a match that is used. (C hashes 4 bytes and rejects matches below 7
/// afterwards: a few per cent larger, and slower for the branches.)
const MATCH_MIN: usize = 7;
/// The same for matches from `FAR_START` on.
const MATCH_MIN_FAR: usize = 9;
/// So many positions are searched before the loop for long ways takes over.
const NEAR: usize = 16;
/// Every so many bytes without a match it takes longer steps.
const PATIENCE: usize = 1024;
/// Bytes that the search leaves alone at the end, so that it can load whole words.
const TAIL: usize = 12;
/// Literals before the first match; the stream must begin with some.
const HEAD: usize = 4;
/// Bit 5 marks the first control byte of a stream.
const FIRST_MARK: u8 = 32;
/// Shorter inputs are left to be stored raw.
const INPUT_MIN: usize = 16;
/// So is everything where the output has less room than this.
const ROOM_MIN: usize = 66;

/// The state an encoder keeps between streams, so that it need not be made for each. One per thread.
pub(super) struct Encoder {
    /// The last position of each hashed word, counted from `base` of its search.
    table: Box<[u32; TABLE_LEN]>,
    /// Where the positions of the next search start: behind all those of the searches before. An entry below
    /// it is old and read as position 0, as in a table just cleared; so the table need not be cleared.
    base: u32,
}

/// What a level means: how large the hash table is, which part of the input is tried first, and how much
/// that part must gain.
struct Effort {
    bits: u32,
    /// The sample starts this part of the input before its end; 1 is the whole input.
    sample_part: usize,
    /// Hundredths: input over output of the sample below this gives up.
    ratio_min: usize,
}

impl Effort {
    fn of(level: u8) -> Self {
        let (bits, sample_part, ratio_min) = match level {
            0 | 1 => (12, 8, 200),
            2 => (13, 4, 150),
            3 => (14, 4, 120),
            4..=6 => (14, 2, 120),
            7 => (14, 1, 115),
            8 => (14, 1, 110),
            // C takes 100 here; but a sample that gains next to nothing most often means a stream that in the
            // end does not fit, found out at the price of a whole search.
            _ => (14, 1, 102),
        };
        Self { bits, sample_part, ratio_min }
    }
}

impl Encoder {
    /// An encoder that has seen nothing.
    pub(super) fn new() -> Self {
        Self { table: Box::new([0; TABLE_LEN]), base: 1 }
    }

    /// Encodes `src` into the start of `dst` and returns how many bytes it took. None where the stream does
    /// not fit, or a sample shows that it gains too little for the level. `level` is 1..=9.
    pub(super) fn encode(&mut self, level: u8, src: &[u8], dst: &mut [u8]) -> Option<usize> {
        if src.len() < INPUT_MIN || dst.len() < ROOM_MIN {
            return None;
        }
        let effort = Effort::of(level);
        match effort.bits {
            12 => self.encode_with::<12>(&effort, src, dst),
            13 => self.encode_with::<13>(&effort, src, dst),
            _ => self.encode_with::<TABLE_BITS>(&effort, src, dst),
        }
    }

    fn encode_with<const BITS: u32>(&mut self, effort: &Effort, src: &[u8], dst: &mut [u8]) -> Option<usize> {
        let sample = src.get(src.len() - src.len() / effort.sample_part..)?;
        let sample = sample.get(..1 << BITS).unwrap_or(sample);
        let sample_max = sample.len() * 100 / effort.ratio_min;
        if effort.sample_part > 1 && !self.pays::<BITS>(sample, sample_max) {
            return None;
        }
        let bytes_max = dst.len();
        let mut writer = Writer { dst, written: 0, bytes_max };
        let mut search = self.search::<BITS>(src)?;
        if effort.sample_part == 1 {
            // The sample is the start of the input: what it takes is seen on the way.
            writer.bytes_max = bytes_max.min(sample_max);
            search.run(sample.len(), &mut writer)?;
            if (writer.written + search.pending()) * effort.ratio_min > search.at * 100 {
                return None;
            }
            writer.bytes_max = bytes_max;
        }
        search.run(src.len(), &mut writer)?;
        writer.literals(src, search.anchor, src.len())?;
        *writer.dst.first_mut()? |= FIRST_MARK;
        Some(writer.written)
    }

    /// Whether the output of `sample` takes at most `bytes_max` bytes.
    fn pays<const BITS: u32>(&mut self, sample: &[u8], bytes_max: usize) -> bool {
        let mut count = Count { bytes: 0, bytes_max, left: sample.len(), is_enough: false };
        let Some(mut search) = self.search::<BITS>(sample) else { return false };
        let ended = search.run(sample.len(), &mut count).is_some();
        let end = search.anchor;
        count.is_enough || (ended && count.literals(sample, end, sample.len()).is_some())
    }

    fn search<'a, const BITS: u32>(&'a mut self, src: &'a [u8]) -> Option<Search<'a, BITS>> {
        let base = self.take_positions(src.len())?;
        Some(Search { table: &mut self.table, base, src, anchor: 0, at: HEAD })
    }

    /// The position of the first byte of a search through `len` bytes.
    fn take_positions(&mut self, len: usize) -> Option<u32> {
        let len = u32::try_from(len).ok()?;
        if self.base.checked_add(len).is_none() {
            self.table.fill(0);
            self.base = 1;
        }
        let base = self.base;
        self.base = base.saturating_add(len);
        Some(base)
    }
}

/// One way through the bytes of one stream.
struct Search<'a, const BITS: u32> {
    table: &'a mut [u32; TABLE_LEN],
    base: u32,
    src: &'a [u8],
    /// What comes before is with the sink.
    anchor: usize,
    /// What comes before is in the table.
    at: usize,
}

impl<const BITS: u32> Search<'_, BITS> {
    /// Gives the bytes up to about `until` to `sink` as literals and matches, but for the literals at the
    /// end. None: the sink has had enough, or would have before the end.
    fn run(&mut self, until: usize, sink: &mut impl Sink) -> Option<()> {
        let limit = until.min(self.src.len().saturating_sub(TAIL));
        loop {
            // Beyond this position the literals alone are too many.
            let hopeless = self.anchor.saturating_add(sink.literals_max());
            let Some((at, candidate)) = self.find(limit.min(hopeless)) else {
                return (hopeless >= limit).then_some(());
            };
            let length = MATCH_MIN + common(self.src, candidate + MATCH_MIN, at + MATCH_MIN);
            let distance = at - candidate;
            if length < MATCH_MIN_FAR && distance >= FAR_START {
                self.at = at + 1;
                continue;
            }
            // One byte less than there is, as in C: where a match is cut, the next search starts in what was
            // the match and tends to find a longer one. It also leaves a literal for the end of the stream.
            let kept = length - 1;
            sink.literals(self.src, self.anchor, at)?;
            sink.repeat(kept, distance)?;
            self.at = at + kept;
            self.anchor = self.at;
            self.enter(self.at - 2);
        }
    }

    /// What the literals that wait would take.
    fn pending(&self) -> usize {
        let count = self.at - self.anchor;
        count + count.div_ceil(RUN_MAX)
    }

    /// The next position before `limit` at which `MATCH_MIN` bytes are the same as at the last position of
    /// the same hash, and that position. None: there is none, and `limit` is where the search stands.
    #[inline(always)]
    fn find(&mut self, limit: usize) -> Option<(usize, usize)> {
        // The next match is most often near; where it is not, a loop of its own has all the registers.
        self.find_before(limit.min(self.at + NEAR)).or_else(|| self.find_far(limit))
    }

    /// As `find`. The longer there is nothing, the fewer positions it tries: noise goes by quickly, and what
    /// comes after it is found a few bytes late.
    #[inline(never)]
    fn find_far(&mut self, limit: usize) -> Option<(usize, usize)> {
        let mut found = self.find_before(limit.min(self.at + PATIENCE));
        let mut step = 2;
        while found.is_none() && self.at < limit {
            let start = self.at;
            let stop = limit.min(start + PATIENCE);
            found = (start..stop).step_by(step).find_map(|at| {
                let word = u64_at(self.src, at)?;
                Some((at, replace::<BITS>(self.table, self.base, self.src, at, word)?))
            });
            self.at = stop;
            step += 1;
        }
        found
    }

    /// As `find`, at every position.
    #[inline(always)]
    fn find_before(&mut self, limit: usize) -> Option<(usize, usize)> {
        let Self { table, base, src, at: start, .. } = self;
        let (src, base, start) = (*src, *base, *start);
        if start >= limit {
            return None;
        }
        for (number, window) in src.get(start..limit + 7)?.windows(8).enumerate() {
            let at = start + number;
            let word = u64::from_le_bytes(*window.first_chunk()?);
            if let Some(candidate) = replace::<BITS>(table, base, src, at, word) {
                return Some((at, candidate));
            }
        }
        self.at = limit;
        None
    }

    /// Puts the word at `at` into the table.
    fn enter(&mut self, at: usize) {
        if let Some(word) = u64_at(self.src, at) {
            self.table[slot::<BITS>(word)] = self.base.wrapping_add(low_u32(at));
        }
    }
}

/// How many bytes are the same from `a` and from `b`, `a < b`.
#[inline(always)]
fn common(src: &[u8], a: usize, b: usize) -> usize {
    if let (Some(x), Some(y)) = (u64_at(src, a), u64_at(src, b))
        && x != y
    {
        return same_bytes(x, y);
    }
    common_long(src.get(a..).unwrap_or_default(), src.get(b..).unwrap_or_default())
}

/// How many bytes `x` and `y` have in common at their starts: by blocks, by words, and by bytes only where
/// the input ends.
#[inline(never)]
fn common_long(x: &[u8], y: &[u8]) -> usize {
    let blocks = x.as_chunks::<32>().0.iter().zip(y.as_chunks::<32>().0);
    let mut length = 32 * blocks.take_while(|(x, y)| x == y).count();
    while let (Some(x), Some(y)) = (u64_at(x, length), u64_at(y, length)) {
        if x != y {
            return length + same_bytes(x, y);
        }
        length += 8;
    }
    let rest = x.iter().zip(y).skip(length);
    length + rest.take_while(|(x, y)| x == y).count()
}

/// How many bytes two different words have in common at their starts.
#[inline(always)]
fn same_bytes(x: u64, y: u64) -> usize {
    ((x ^ y).trailing_zeros() / 8) as usize
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// Puts the position of a word into the table, and returns the one that was there if it starts a match.
#[inline(always)]
fn replace<const BITS: u32>(
    table: &mut [u32; TABLE_LEN],
    base: u32,
    src: &[u8],
    at: usize,
    word: u64,
) -> Option<usize> {
    let entry = &mut table[slot::<BITS>(word)];
    let candidate = entry.saturating_sub(base) as usize;
    *entry = base.wrapping_add(low_u32(at));
    let before = u64::from_le_bytes(*src.get(candidate..candidate + 8)?.first_chunk()?);
    ((word ^ before) << (64 - 8 * MATCH_MIN) == 0 && at - candidate < FAR_END).then_some(candidate)
}

/// The place in the table of the first `MATCH_MIN` bytes of a word.
#[inline(always)]
fn slot<const BITS: u32>(word: u64) -> usize {
    // Any odd number with its bits well mixed does; this one is a prime near 2^64 over the golden ratio.
    let product = (word << (64 - 8 * MATCH_MIN)).wrapping_mul(0x9e37_79b1_85eb_ca87);
    let [.., low, high] = product.to_le_bytes();
    usize::from(u16::from_le_bytes([low, high]) >> (16 - BITS)) & (TABLE_LEN - 1)
}

#[expect(clippy::cast_possible_truncation, reason = "positions fit: `take_positions` has seen the length")]
fn low_u32(value: usize) -> u32 {
    value as u32
}

#[cfg(test)]
mod tests;
