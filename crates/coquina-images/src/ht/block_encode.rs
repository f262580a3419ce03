//! Encodes a code-block: one cleanup pass, which holds all bits of the samples.
//!
//! In: rows of whole numbers. Out: three streams in one piece: magnitudes and signs, then runs, then codewords from
//! the end backwards, and a length in the last 12 bits. Nothing for a block of zeros.
//! Source: ISO/IEC 15444-15, 7.

use super::BLOCK_AREA;
use super::bits::{CodeWriter, MagnitudeWriter, RunWriter};
use super::codes::{Codes, FIRST_ROW, OTHER_ROWS, Offset};
use crate::level::widest;

/// The sign of a sample; the bits below are its magnitude.
const SIGN: u32 = 1 << 31;

/// Encodes code-blocks, one after the other.
#[derive(Debug, Default)]
pub(super) struct BlockEncoder {
    /// Signs and magnitudes, in rows of an even number that is padded with zeros.
    samples: Vec<u32>,
    magnitudes: MagnitudeWriter,
    runs: RunWriter,
    words: CodeWriter,
    /// The exponents of the row of samples above, and of the one that comes to be: one before, two behind the row.
    above: Vec<u8>,
    below: Vec<u8>,
}

/// Four samples: two above each other, then the two beside them.
#[derive(Clone, Copy, Debug, Default)]
struct Quad {
    significance: usize,
    /// The bits of each sample's number, and the most.
    exponents: [u32; 4],
    exponent_max: u32,
    /// Twice the magnitude less 1, and the sign.
    numbers: [u32; 4],
}

impl Quad {
    #[inline(always)]
    fn new(samples: [u32; 4]) -> Self {
        let mut quad = Self::default();
        for (number, sample) in samples.into_iter().enumerate() {
            let doubled = sample << 1;
            let is_there = u32::from(doubled != 0);
            let exponent = (32 - doubled.wrapping_sub(1).leading_zeros()) * is_there;
            quad.significance |= (is_there as usize) << number;
            quad.exponents[number] = exponent;
            quad.exponent_max = quad.exponent_max.max(exponent);
            quad.numbers[number] = (doubled.wrapping_sub(2) | sample >> 31) * is_there;
        }
        quad
    }

    /// Which samples have the largest exponent.
    #[inline(always)]
    fn pattern(&self) -> usize {
        let is_largest = |number: usize| usize::from(self.exponents[number] == self.exponent_max) << number;
        is_largest(0) | is_largest(1) | is_largest(2) | is_largest(3)
    }
}

/// Codewords of a pair of quads, before they are appended.
#[derive(Debug, Default)]
struct Words {
    bits: u64,
    count: u32,
}

impl Words {
    #[inline(always)]
    fn put(&mut self, value: u32, count: u32) {
        self.bits |= u64::from(value) << self.count;
        self.count += count;
    }
}

/// Where a quad stands: its number in a row, and the significance of the one to its left.
#[derive(Clone, Copy)]
struct Place {
    number: usize,
    left: usize,
    is_first: bool,
}

impl BlockEncoder {
    /// The bytes of a code-block with these rows of `columns` samples.
    pub(super) fn encode<'r>(
        &mut self,
        rows: impl ExactSizeIterator<Item = &'r [i32]>,
        columns: usize,
    ) -> Vec<u8> {
        widest(
            #[inline(always)]
            || self.block(rows, columns),
        )
    }

    #[inline(always)]
    fn block<'r>(&mut self, rows: impl ExactSizeIterator<Item = &'r [i32]>, columns: usize) -> Vec<u8> {
        let stride = columns.next_multiple_of(2);
        let height = rows.len().next_multiple_of(2);
        self.samples.clear();
        self.samples.reserve(BLOCK_AREA);
        for row in rows {
            self.samples
                .extend(row.iter().map(|&value| value.unsigned_abs() | (value.cast_unsigned() & SIGN)));
            self.samples.resize(self.samples.len().next_multiple_of(stride), 0);
        }
        self.samples.resize(stride * height, 0);
        if self.samples.iter().all(|&sample| sample == 0) {
            return Vec::new();
        }
        self.start(stride);
        let samples = std::mem::take(&mut self.samples);
        for (number, pair) in samples.chunks_exact(2 * stride).enumerate() {
            let (top, bottom) = pair.split_at(stride);
            self.row(top, bottom, number == 0);
            std::mem::swap(&mut self.above, &mut self.below);
        }
        self.samples = samples;
        self.finish()
    }

    fn start(&mut self, stride: usize) {
        self.magnitudes.clear();
        self.runs.clear();
        self.words.clear();
        for exponents in [&mut self.above, &mut self.below] {
            exponents.clear();
            exponents.resize(stride + 3, 0);
        }
    }

    /// Encodes a row of quads, in pairs.
    #[inline(always)]
    fn row(&mut self, top: &[u32], bottom: &[u32], is_first: bool) {
        let codes: &Codes = if is_first { &FIRST_ROW } else { &OTHER_ROWS };
        let mut quads = top.chunks_exact(2).zip(bottom.chunks_exact(2)).enumerate();
        let mut left = 0;
        while let Some((number, (upper, lower))) = quads.next() {
            let first = Quad::new([upper[0], lower[0], upper[1], lower[1]]);
            let mut words = Words::default();
            let first_offset = self.quad(codes, &first, Place { number, left, is_first }, &mut words);
            let (mut second, mut second_offset) = (Quad::default(), 0);
            if let Some((number, (upper, lower))) = quads.next() {
                second = Quad::new([upper[0], lower[0], upper[1], lower[1]]);
                let place = Place { number, left: first.significance, is_first };
                second_offset = self.quad(codes, &second, place, &mut words);
            }
            self.offsets(first_offset, second_offset, is_first, &mut words);
            self.words.put(words.bits, words.count);
            left = second.significance;
        }
    }

    /// Encodes a quad at its place beside one of the significance `left`; returns the offset of its bound.
    #[inline(always)]
    fn quad(&mut self, codes: &Codes, quad: &Quad, place: Place, words: &mut Words) -> u32 {
        let Place { number, left, is_first } = place;
        let mut near = [0; 4];
        if let Some(above) = self.above.get(2 * number..2 * number + 4).filter(|_| !is_first) {
            near.copy_from_slice(above);
        }
        let context = context(near, left, is_first);
        let expected = expected(near, quad.significance);
        let bound = quad.exponent_max.max(expected);
        let pattern = if bound > expected { quad.pattern() } else { 0 };
        let written = codes.word(context, quad.significance, pattern);
        words.put(u32::from(written.word), u32::from(written.len));
        if context == 0 {
            self.runs.event(quad.significance != 0);
        }
        let known = u32::from(written.known);
        // What stands for a sample: its bits, and how many they are; none of a sample that is 0.
        let stored = |sample: usize| {
            let is_there = u32::from(quad.significance >> sample & 1 == 1);
            let len = (bound - (known >> sample & 1)) * is_there;
            (u64::from(quad.numbers[sample]) & ((1 << len) - 1), len)
        };
        for pair in [0, 2] {
            let ((one, len), (other, other_len)) = (stored(pair), stored(pair + 1));
            if len + other_len <= 56 {
                self.magnitudes.put(one | other << len, len + other_len);
            } else {
                self.magnitudes.put(one, len);
                self.magnitudes.put(other, other_len);
            }
        }
        if let Some(below) = self.below.get_mut(2 * number + 1..2 * number + 3) {
            let exponent = |sample: usize| quad.exponents[sample].to_le_bytes()[0];
            below.copy_from_slice(&[exponent(1), exponent(3)]);
        }
        bound - expected
    }

    /// Writes the offsets of a pair of quads.
    #[inline(always)]
    fn offsets(&mut self, first: u32, second: u32, is_first: bool, words: &mut Words) {
        let (mut one, mut other) = (Offset::new(first), Offset::new(second));
        if is_first && first > 0 && second > 0 {
            let are_large = first.min(second) > 2;
            self.runs.event(are_large);
            if are_large {
                (one, other) = (Offset::new(first - 2), Offset::new(second - 2));
            } else if first > 2 {
                other = Offset { prefix: (second - 1, 1), ..Offset::new(0) };
            }
        }
        for (value, count) in
            [one.prefix, other.prefix, one.suffix, other.suffix, one.extension, other.extension]
        {
            words.put(value, count);
        }
    }

    /// Puts the streams together.
    #[inline(always)]
    fn finish(&mut self) -> Vec<u8> {
        self.magnitudes.finish();
        let ((run, run_mask), (word, word_mask)) = (self.runs.finish(), self.words.finish());
        if run_mask | word_mask != 0 {
            let both = run | word;
            let is_one = (both ^ run) & run_mask == 0 && (both ^ word) & word_mask == 0;
            if is_one && both != 0xff && self.words.bytes.len() > 1 {
                self.runs.bytes.push(both);
            } else {
                self.runs.bytes.push(run);
                self.words.bytes.push(word);
            }
        }
        let suffix = self.runs.bytes.len() + self.words.bytes.len();
        let mut out = Vec::with_capacity(self.magnitudes.bytes.len() + suffix);
        out.extend_from_slice(&self.magnitudes.bytes);
        out.extend_from_slice(&self.runs.bytes);
        out.extend(self.words.bytes.iter().rev());
        if let Some([low, high]) = out.last_chunk_mut() {
            *high = (suffix >> 4).to_le_bytes()[0];
            *low = *low & 0xf0 | suffix.to_le_bytes()[0] & 0x0f;
        }
        out
    }
}

/// The context of a quad: what the samples above it and those left of it are.
#[inline(always)]
pub(super) fn context(near: [u8; 4], left: usize, is_first: bool) -> usize {
    if is_first {
        return left >> 1 | left & 1;
    }
    let is_any = |one: u8, other: u8| usize::from(one | other != 0);
    is_any(near[0], near[1]) | usize::from(left & 12 != 0) << 1 | is_any(near[2], near[3]) << 2
}

/// The bound of exponents that is expected of a quad with these exponents above it.
#[inline(always)]
pub(super) fn expected(near: [u8; 4], significance: usize) -> u32 {
    let most = near.iter().copied().max().unwrap_or(0);
    if significance.count_ones() > 1 { u32::from(most).saturating_sub(1).max(1) } else { 1 }
}
