//! Strings of bits, the least significant first, in bytes.
//!
//! Source: `docs/formats/codecs.md`, "ZFP". A writer pads to whole words of 64 bits. A reader gives zeros behind the
//! end, and says when it has gone there.

/// How many bits one look ahead gives at least.
const PEEK_BITS: u32 = 57;
const WORD_BITS: u32 = u64::BITS;

/// The `count` low bits of all ones; up to 64.
#[inline(always)]
pub(super) fn low_bits(count: u32) -> u64 {
    if count >= WORD_BITS { u64::MAX } else { (1 << count) - 1 }
}

pub(super) struct BitWriter<'a> {
    out: &'a mut [u8],
    at: usize,
    word: u64,
    used: u32,
    is_full: bool,
}

impl<'a> BitWriter<'a> {
    pub(super) fn new(out: &'a mut [u8]) -> Self {
        Self { out, at: 0, word: 0, used: 0, is_full: false }
    }

    /// Whether something did not fit.
    #[inline(always)]
    pub(super) fn is_full(&self) -> bool {
        self.is_full
    }

    /// Writes the `count` low bits of `value`, which has no others; up to 64.
    #[inline(always)]
    pub(super) fn put(&mut self, value: u64, count: u32) {
        self.word |= value << self.used;
        let used = self.used + count;
        if used < WORD_BITS {
            self.used = used;
            return;
        }
        self.put_word();
        self.word = value.checked_shr(WORD_BITS - self.used).unwrap_or(0);
        self.used = used - WORD_BITS;
    }

    #[inline(always)]
    pub(super) fn put_zeros(&mut self, count: u32) {
        for _ in 0..count / WORD_BITS {
            self.put(0, WORD_BITS);
        }
        self.put(0, count % WORD_BITS);
    }

    #[inline(always)]
    fn put_word(&mut self) {
        match self.out.get_mut(self.at..).and_then(|room| room.first_chunk_mut::<8>()) {
            Some(room) => {
                *room = self.word.to_le_bytes();
                self.at += room.len();
            }
            None => self.is_full = true,
        }
    }

    /// Pads to a whole word; the bytes written, or `None` if they did not fit.
    pub(super) fn finish(mut self) -> Option<usize> {
        if self.used > 0 {
            self.put_word();
        }
        (!self.is_full).then_some(self.at)
    }
}

pub(super) struct BitReader<'a> {
    bytes: &'a [u8],
    /// The number of the next bit.
    at: usize,
    /// The next bits, of which so many are good.
    window: u64,
    good: u32,
}

impl<'a> BitReader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0, window: 0, good: 0 }
    }

    /// The number of the next bit.
    #[inline(always)]
    pub(super) fn position(&self) -> usize {
        self.at
    }

    /// Goes to a bit further on.
    #[inline(always)]
    pub(super) fn skip_to(&mut self, position: usize) {
        if position > self.at {
            (self.at, self.good) = (position, 0);
        }
    }

    /// Whether bits were read that are not there.
    #[inline(always)]
    pub(super) fn is_past_end(&self) -> bool {
        self.at.div_ceil(8) > self.bytes.len()
    }

    /// Looks ahead, if fewer bits than `count` are known; up to [`PEEK_BITS`].
    #[inline(always)]
    fn need(&mut self, count: u32) {
        if self.good < count {
            let rest = self.bytes.get(self.at / 8..).unwrap_or_default();
            let word = match rest.first_chunk::<8>() {
                Some(word) => u64::from_le_bytes(*word),
                None => last_word(rest),
            };
            (self.window, self.good) = (word >> (self.at % 8), PEEK_BITS);
        }
    }

    /// Passes over bits that are known.
    #[inline(always)]
    fn pass(&mut self, count: u32) {
        self.window >>= count;
        self.good -= count;
        self.at += count as usize;
    }

    #[inline(always)]
    pub(super) fn bit(&mut self) -> bool {
        self.need(1);
        let bit = self.window & 1 == 1;
        self.pass(1);
        bit
    }

    /// The next `count` bits, up to 64.
    #[inline(always)]
    pub(super) fn take(&mut self, count: u32) -> u64 {
        if count > PEEK_BITS {
            let low = self.take_some(PEEK_BITS);
            return low | self.take_some(count - PEEK_BITS) << PEEK_BITS;
        }
        self.take_some(count)
    }

    #[inline(always)]
    fn take_some(&mut self, count: u32) -> u64 {
        self.need(count);
        let value = self.window & low_bits(count);
        self.pass(count);
        value
    }

    /// Passes over the zeros in front of the next one, at most `most`; how many there were.
    #[inline(always)]
    pub(super) fn zeros(&mut self, most: u32) -> u32 {
        let mut left = most;
        loop {
            self.need(1);
            let here = self.window.trailing_zeros().min(self.good).min(left);
            self.pass(here);
            left -= here;
            if self.good > 0 || left == 0 {
                return most - left;
            }
        }
    }
}

/// What is left of the bytes, with zeros behind.
#[cold]
fn last_word(rest: &[u8]) -> u64 {
    let mut word = [0; 8];
    word.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
    u64::from_le_bytes(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_is_taken_in_any_widths() {
        let widths = [1, 3, 64, 7, 57, 58, 0, 63, 64, 2, 31, 33, 60, 1];
        let value =
            |number: usize| 0x9e37_79b9_7f4a_7c15_u64.rotate_left((7 * number % 64).try_into().unwrap());
        let mut out = [0xaa; 80];
        let mut writer = BitWriter::new(&mut out);
        for (number, &width) in widths.iter().enumerate() {
            writer.put(value(number) & low_bits(width), width);
        }
        writer.put_zeros(100);
        writer.put(1, 1);
        let bytes = writer.finish().unwrap();
        assert_eq!(bytes, 72, "{} bits in whole words", widths.iter().sum::<u32>() + 101);
        let mut reader = BitReader::new(&out[..bytes]);
        for (number, &width) in widths.iter().enumerate() {
            assert_eq!(reader.take(width), value(number) & low_bits(width), "number {number}");
        }
        assert_eq!((reader.zeros(99), reader.zeros(1), reader.bit()), (99, 1, true));
        assert!(!reader.is_past_end());
        assert_eq!((reader.zeros(1000), reader.is_past_end()), (1000, true));
    }

    #[test]
    fn what_does_not_fit_is_said() {
        let mut out = [0; 15];
        let mut writer = BitWriter::new(&mut out);
        writer.put_zeros(64);
        assert!(!writer.is_full());
        writer.put(1, 1);
        assert_eq!(writer.finish(), None);
    }
}
