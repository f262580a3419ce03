//! Decodes a code-block of one cleanup pass.
//!
//! In: its bytes, which may be anything. Out: rows of whole numbers. Streams that end early go on with zeros or ones,
//! as the standard wants it, so any bytes are some block.
//! Source: ISO/IEC 15444-15, 7.

mod streams;

use streams::{Codewords, Magnitudes, Runs};

use super::block_encode::{context, expected};
use super::codes::{Codes, FIRST_ROW, OTHER_ROWS, Prefix, Read, prefix};
use crate::level::widest;

/// The largest bound of exponents that fits the numbers here; valid streams stay below.
const BOUND_MAX: u32 = 30;
/// The bits that a look ahead gives at least.
const AHEAD_BITS: u32 = 57;

/// Decodes code-blocks, one after the other.
#[derive(Debug, Default)]
pub(super) struct BlockDecoder {
    magnitudes: Magnitudes,
    words: Codewords,
    /// The values, in rows of whole pairs of quads.
    wide: Vec<i32>,
    /// The values, in rows of the block's columns.
    values: Vec<i32>,
    above: Vec<u8>,
    below: Vec<u8>,
}

impl BlockDecoder {
    /// The values of a code-block, row by row.
    ///
    /// # Errors
    /// The bytes are no code-block.
    pub(super) fn decode(&mut self, bytes: &[u8], columns: usize, height: usize) -> Result<&[i32], String> {
        widest(
            #[inline(always)]
            || self.block(bytes, columns, height),
        )
    }

    #[inline(always)]
    fn block(&mut self, bytes: &[u8], columns: usize, height: usize) -> Result<&[i32], String> {
        let [.., low, high] = bytes else {
            return Err(format!("code-block of {} bytes", bytes.len()));
        };
        let suffix = usize::from(*high) << 4 | usize::from(low & 15);
        let (front, back) = bytes
            .len()
            .checked_sub(suffix)
            .filter(|_| suffix >= 2)
            .and_then(|front| bytes.split_at_checked(front))
            .ok_or_else(|| format!("code-block: {suffix} bytes of codewords, it has {}", bytes.len()))?;
        let stride = columns.next_multiple_of(4);
        self.magnitudes.fill(front);
        self.words.fill(back);
        let mut runs = Runs::new(back);
        self.wide.clear();
        self.wide.resize(stride * height.next_multiple_of(2), 0);
        for exponents in [&mut self.above, &mut self.below] {
            exponents.clear();
            exponents.resize(stride + 2, 0);
        }
        let mut wide = std::mem::take(&mut self.wide);
        for (number, pair) in wide.chunks_exact_mut(2 * stride).enumerate() {
            self.row(pair, columns, &mut runs, number == 0)?;
            std::mem::swap(&mut self.above, &mut self.below);
        }
        self.wide = wide;
        if stride == columns {
            return Ok(self.wide.get(..columns * height).unwrap_or_default());
        }
        self.values.clear();
        let rows = self.wide.chunks_exact(stride).take(height);
        rows.for_each(|row| self.values.extend(row.iter().take(columns)));
        Ok(&self.values)
    }

    /// Decodes a row of quads, in pairs, to two rows of samples that stand one behind the other.
    #[inline(always)]
    fn row(
        &mut self,
        samples: &mut [i32],
        columns: usize,
        runs: &mut Runs<'_>,
        is_first: bool,
    ) -> Result<(), String> {
        let codes: &Codes = if is_first { &FIRST_ROW } else { &OTHER_ROWS };
        let mut left = 0;
        let (top, bottom) = samples.split_at_mut(samples.len() / 2);
        let (top, bottom) = (top.as_chunks_mut().0, bottom.as_chunks_mut().0);
        for (pair, (top, bottom)) in top.iter_mut().zip(bottom).enumerate() {
            let at = 4 * pair;
            let above = self.above.get(at..).and_then(|above| above.first_chunk());
            let [a, b, c, d, e, f] = above.copied().filter(|_| !is_first).unwrap_or_default();
            let near = [[a, b, c, d], [c, d, e, f]];
            // One look ahead is enough for all codewords of a pair.
            let mut words = Ahead { bits: self.words.ahead(), used: 0 };
            let first = words.quad(codes, context(near[0], left, is_first), runs);
            let mut second = Read::default();
            if at + 2 < columns {
                let left = first.significance() as usize;
                second = words.quad(codes, context(near[1], left, is_first), runs);
            }
            let (one, other) = (first.has_offset(), second.has_offset());
            let offsets =
                if is_first { words.first_offsets(one, other, runs) } else { words.offsets(one, other) };
            self.words.skip(words.used);
            let bound = |place: usize, read: Read| {
                expected(near[place], read.significance() as usize) + offsets[place]
            };
            let bounds = [bound(0, first), bound(1, second)];
            if bounds[0].max(bounds[1]) > BOUND_MAX {
                return Err(format!("code-block: samples of {bounds:?} bits"));
            }
            let (one, exponents) = self.quad(first, bounds[0]);
            let (other, more) = self.quad(second, bounds[1]);
            *top = [one[0], one[2], other[0], other[2]];
            *bottom = [one[1], one[3], other[1], other[3]];
            if let Some(below) = self.below.get_mut(at + 1..).and_then(|below| below.first_chunk_mut()) {
                *below = [exponents[0], exponents[1], more[0], more[1]];
            }
            left = second.significance() as usize;
        }
        Ok(())
    }

    /// The values of a quad, and the exponents of its lower samples.
    #[inline(always)]
    fn quad(&mut self, read: Read, bound: u32) -> ([i32; 4], [u8; 2]) {
        // A byte for each sample: the bits that are stored of it, and where they end.
        let lens = (SPREAD[read.significance() as usize] * bound)
            .wrapping_sub(SPREAD[(read.known() & read.significance()) as usize]);
        let ends = lens.wrapping_mul(0x0101_0101);
        let total = ends >> 24;
        let (mut from, lens) = ((ends << 8).to_le_bytes().map(u32::from), lens.to_le_bytes().map(u32::from));
        let mut ahead = [self.magnitudes.ahead(); 4];
        if total > AHEAD_BITS {
            // A sample has at most `BOUND_MAX` bits, so each is looked for anew.
            for sample in 1..4 {
                self.magnitudes.skip(from[sample] - from[sample - 1]);
                ahead[sample] = self.magnitudes.ahead();
            }
            self.magnitudes.skip(total - from[3]);
            from = [0; 4];
        } else {
            self.magnitudes.skip(total);
        }
        let mut values = [0; 4];
        let mut numbers = [0; 4];
        for sample in 0..4 {
            // All is computed for samples that are 0, too: there is no pattern in which they are.
            let len = lens[sample];
            let is_there = read.significance() >> sample & 1;
            let number = low_bits(ahead[sample] >> from[sample], len) | (read.bits() >> sample & 1) << len;
            let magnitude = ((number >> 1) + is_there).cast_signed();
            let sign = (number & 1).wrapping_neg().cast_signed();
            values[sample] = (magnitude ^ sign) - sign;
            numbers[sample] = (number | 1) * is_there;
        }
        let exponent = |sample: usize| (32 - numbers[sample].leading_zeros()).to_le_bytes()[0];
        (values, [exponent(1), exponent(3)])
    }
}

/// The lowest four bits of a number, each in a byte.
const SPREAD: [u32; 16] = {
    let mut spread = [0; 16];
    let mut bits = 0_u32;
    while bits < 16 {
        spread[bits as usize] = bits & 1 | (bits & 2) << 7 | (bits & 4) << 14 | (bits & 8) << 21;
        bits += 1;
    }
    spread
};

/// The codewords that are ahead.
#[derive(Clone, Copy, Debug)]
struct Ahead {
    bits: u64,
    used: u32,
}

impl Ahead {
    #[inline(always)]
    fn skip(&mut self, count: u32) {
        self.bits >>= count;
        self.used += count;
    }

    #[inline(always)]
    fn take(&mut self, count: u32) -> u32 {
        let taken = low_bits(self.bits, count);
        self.skip(count);
        taken
    }

    /// The codeword of a quad.
    #[inline(always)]
    fn quad(&mut self, codes: &Codes, context: usize, runs: &mut Runs<'_>) -> Read {
        if context == 0 && !runs.event() {
            return Read::default();
        }
        let read = codes.ahead(context, self.bits);
        self.skip(read.len());
        read
    }

    #[inline(always)]
    fn prefix(&mut self, is_there: bool) -> Prefix {
        let prefix = prefix(self.bits, is_there);
        self.skip(prefix.len);
        prefix
    }

    /// The offsets of a pair of quads in the first row.
    #[inline(always)]
    fn first_offsets(&mut self, first: bool, second: bool, runs: &mut Runs<'_>) -> [u32; 2] {
        if !(first && second) {
            return self.offsets(first, second);
        }
        if runs.event() {
            return self.offsets(true, true).map(|offset| offset + 2);
        }
        let one = self.prefix(true);
        if one.least <= 2 {
            let other = self.prefix(true);
            return self.suffixes(one, other);
        }
        // Behind a large one there is one bit, for 1 or 2.
        let least = 1 + self.take(1);
        self.suffixes(one, Prefix { least, ..Prefix::default() })
    }

    /// The offsets of a pair of quads in another row.
    #[inline(always)]
    fn offsets(&mut self, first: bool, second: bool) -> [u32; 2] {
        let one = self.prefix(first);
        let other = self.prefix(second);
        self.suffixes(one, other)
    }

    /// The offsets behind their prefixes.
    #[inline(always)]
    fn suffixes(&mut self, one: Prefix, other: Prefix) -> [u32; 2] {
        let mut suffixes = [self.take(one.suffix_len), self.take(other.suffix_len)];
        if suffixes[0].max(suffixes[1]) >= 28 {
            for suffix in suffixes.iter_mut().filter(|suffix| **suffix >= 28) {
                *suffix += 4 * self.take(4);
            }
        }
        [one.least + suffixes[0], other.least + suffixes[1]]
    }
}

/// The lowest `count` bits, at most 31.
#[inline(always)]
fn low_bits(bits: u64, count: u32) -> u32 {
    let [a, b, c, d, ..] = (bits & ((1 << count) - 1)).to_le_bytes();
    u32::from_le_bytes([a, b, c, d])
}
