//! The three streams of a code-block, without the bits that were stuffed into them.
//!
//! In: bytes. Out: bits that can be looked at and skipped. Behind its end, magnitudes go on with ones, codewords with
//! zeros, runs with ones.
//! Source: ISO/IEC 15444-15, 7.1.

use crate::ht::bits::RUN_BITS;

/// Bits in order, the lowest of the first byte first.
#[derive(Debug, Default)]
struct Bits {
    bytes: Vec<u8>,
    at: usize,
    held: u64,
    count: u32,
}

impl Bits {
    fn clear(&mut self) {
        self.bytes.clear();
        (self.at, self.held, self.count) = (0, 0, 0);
    }

    /// Appends the lowest `count` bits of `value`, at most 32.
    #[inline(always)]
    fn push(&mut self, value: u32, count: u32) {
        self.held |= u64::from(value) << self.count;
        self.count += count;
        while self.count >= 8 {
            self.bytes.push(self.held.to_le_bytes()[0]);
            self.held >>= 8;
            self.count -= 8;
        }
    }

    /// Appends four whole bytes.
    #[inline(always)]
    fn push_word(&mut self, value: u32) {
        self.held |= u64::from(value) << self.count;
        let [a, b, c, d, ..] = self.held.to_le_bytes();
        self.bytes.extend_from_slice(&[a, b, c, d]);
        self.held >>= 32;
    }

    /// Completes the last byte and puts eight of `fill` behind it, so that looking ahead is one load.
    fn finish(&mut self, fill: u8) {
        self.push(u32::from(fill), 8 - self.count);
        self.bytes.extend_from_slice(&[fill; 8]);
    }

    /// At least 57 bits from here on, behind the end those of `fill`.
    #[inline(always)]
    fn ahead(&self, fill: u64) -> u64 {
        let loaded = self.bytes.get(self.at >> 3..).and_then(|left| left.first_chunk());
        loaded.map_or(fill, |&eight| u64::from_le_bytes(eight) >> (self.at & 7))
    }
}

/// Whether a byte of the word is 0xff.
fn has_ones(word: u32) -> bool {
    let zeros = !word;
    zeros.wrapping_sub(0x0101_0101) & word & 0x8080_8080 != 0
}

/// The stream of magnitudes and signs.
#[derive(Debug, Default)]
pub(super) struct Magnitudes(Bits);

impl Magnitudes {
    /// Takes a new stream.
    #[inline(always)]
    pub(super) fn fill(&mut self, bytes: &[u8]) {
        self.0.clear();
        let mut left = bytes;
        let mut is_short = false;
        while let Some((&byte, rest)) = left.split_first() {
            if let Some((word, rest)) = left.split_first_chunk().filter(|_| !is_short) {
                let word = u32::from_le_bytes(*word);
                if !has_ones(word) {
                    self.0.push_word(word);
                    left = rest;
                    continue;
                }
            }
            let wide = 8 - u32::from(is_short);
            self.0.push(u32::from(byte) & ((1 << wide) - 1), wide);
            is_short = byte == 0xff;
            left = rest;
        }
        self.0.finish(0xff);
    }

    #[inline(always)]
    pub(super) fn ahead(&self) -> u64 {
        self.0.ahead(u64::MAX)
    }

    #[inline(always)]
    pub(super) fn skip(&mut self, count: u32) {
        self.0.at += count as usize;
    }
}

/// The stream of codewords.
#[derive(Debug, Default)]
pub(super) struct Codewords(Bits);

impl Codewords {
    /// Takes the stream that ends a code-block: its last 12 bits are a length.
    #[inline(always)]
    pub(super) fn fill(&mut self, bytes: &[u8]) {
        self.0.clear();
        let mut bytes = bytes.iter().rev().skip(1);
        let half = bytes.next().map_or(0, |byte| u32::from(byte >> 4));
        self.0.push(half, 4 - u32::from(half & 7 == 7));
        let mut is_high = half << 4 | 15 > 0x8f;
        for &byte in bytes {
            let is_short = is_high && byte & 0x7f == 0x7f;
            let wide = 8 - u32::from(is_short);
            self.0.push(u32::from(byte) & ((1 << wide) - 1), wide);
            is_high = byte > 0x8f;
        }
        self.0.finish(0);
    }

    #[inline(always)]
    pub(super) fn ahead(&self) -> u64 {
        self.0.ahead(0)
    }

    #[inline(always)]
    pub(super) fn skip(&mut self, count: u32) {
        self.0.at += count as usize;
    }
}

/// The stream of runs.
#[derive(Debug)]
pub(super) struct Runs<'a> {
    bytes: std::slice::Iter<'a, u8>,
    held: u32,
    count: u32,
    /// Events that did not happen, before one that did if there is one.
    run: u32,
    is_ended: bool,
    state: usize,
}

impl<'a> Runs<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        // The last byte is of the length, as is half of the one before it.
        let len = bytes.len().saturating_sub(1);
        let bytes = bytes.get(..len).unwrap_or_default().iter();
        Self { bytes, held: 0, count: 0, run: 0, is_ended: false, state: 0 }
    }

    fn bit(&mut self) -> u32 {
        if self.count == 0 {
            let is_short = self.held == 0xff;
            // The last byte's lower half is of the length: readers are to see ones there.
            let last = self.bytes.len() == 1;
            let byte = self.bytes.next().map_or(0xff, |&byte| if last { byte | 15 } else { byte });
            (self.held, self.count) = (u32::from(byte), if is_short { 7 } else { 8 });
        }
        self.count -= 1;
        self.held >> self.count & 1
    }

    /// Whether the next event happens.
    #[inline(always)]
    pub(super) fn event(&mut self) -> bool {
        if self.run == 0 && !self.is_ended {
            self.codeword();
        }
        if self.run > 0 {
            self.run -= 1;
            return false;
        }
        self.is_ended = false;
        true
    }

    fn codeword(&mut self) {
        let bits = RUN_BITS.get(self.state).copied().unwrap_or(0);
        if self.bit() == 1 {
            self.run = 1 << bits;
            self.state = (self.state + 1).min(RUN_BITS.len() - 1);
            return;
        }
        self.run = (0..bits).fold(0, |run, _| run << 1 | self.bit());
        self.is_ended = true;
        self.state = self.state.saturating_sub(1);
    }
}
