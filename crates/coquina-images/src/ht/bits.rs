//! Bits of packet headers and of the three streams of a code-block, with the stuffing that keeps marks out of them.
//!
//! In: numbers and how many bits they have, or bytes. Out: bytes, or numbers.
//! Source: ISO/IEC 15444-1, B.10.1 (packet headers); ISO/IEC 15444-15, 7.1 (the streams of a code-block).
//! Invariant: no two bytes that are written are a mark.

/// Bits of packet headers, the highest first: a byte behind 0xff has seven.
#[derive(Debug)]
pub(super) struct HeaderWriter<'a> {
    out: &'a mut Vec<u8>,
    held: u32,
    free: u32,
}

impl<'a> HeaderWriter<'a> {
    pub(super) fn new(out: &'a mut Vec<u8>) -> Self {
        Self { out, held: 0, free: 8 }
    }

    /// Appends the lowest `count` bits of `value`.
    pub(super) fn put(&mut self, value: u32, count: u32) {
        for number in (0..count).rev() {
            self.free -= 1;
            self.held |= (value >> number & 1) << self.free;
            if self.free == 0 {
                self.push();
            }
        }
    }

    fn push(&mut self) {
        let byte = self.held.to_le_bytes()[0];
        self.out.push(byte);
        (self.held, self.free) = (0, if byte == 0xff { 7 } else { 8 });
    }

    /// Fills the last byte; 0xff is not the last one.
    pub(super) fn finish(mut self) {
        if self.free != 8 {
            self.push();
        }
        if self.free == 7 {
            self.push();
        }
    }
}

/// Reads what [`HeaderWriter`] writes.
#[derive(Debug)]
pub(super) struct HeaderReader<'a> {
    bytes: &'a [u8],
    at: usize,
    held: u32,
    count: u32,
}

impl<'a> HeaderReader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0, held: 0, count: 0 }
    }

    fn pull(&mut self) -> Result<(), String> {
        let is_short = self.at > 0 && self.held == 0xff;
        let byte = self.bytes.get(self.at).ok_or("packet header: ends too early")?;
        self.at += 1;
        (self.held, self.count) = (u32::from(*byte), if is_short { 7 } else { 8 });
        Ok(())
    }

    /// The next `count` bits.
    pub(super) fn take(&mut self, count: u32) -> Result<u32, String> {
        let mut value = 0;
        for _ in 0..count {
            if self.count == 0 {
                self.pull()?;
            }
            self.count -= 1;
            value = value << 1 | (self.held >> self.count & 1);
        }
        Ok(value)
    }

    /// The bytes behind the header.
    pub(super) fn finish(mut self) -> Result<&'a [u8], String> {
        if self.at > 0 && self.held == 0xff {
            self.pull()?;
        }
        Ok(self.bytes.get(self.at..).unwrap_or_default())
    }
}

/// Bits in order, the lowest of the first byte first, before anything is stuffed into them.
#[derive(Debug, Default)]
struct RawBits {
    /// Those that are written, and room behind them.
    bytes: Vec<u8>,
    at: usize,
    held: u64,
    count: u32,
}

/// The room that a word and the look ahead take.
const WORD: usize = 8;

impl RawBits {
    fn clear(&mut self) {
        (self.at, self.held, self.count) = (0, 0, 0);
    }

    /// Appends the lowest `count` bits of `value`, at most 56, the others being 0. A whole word is stored each time, of
    /// which only full bytes count: that costs less than a branch that nobody can foresee.
    #[inline(always)]
    fn put(&mut self, value: u64, count: u32) {
        self.held |= value << self.count;
        self.count += count;
        if self.bytes.len() < self.at + WORD {
            self.bytes.resize(2 * (self.at + WORD), 0);
        }
        if let Some(out) = self.bytes.get_mut(self.at..).and_then(|left| left.first_chunk_mut()) {
            *out = self.held.to_le_bytes();
        }
        self.at += (self.count >> 3) as usize;
        self.held = self.held.checked_shr(self.count & !7).unwrap_or(0);
        self.count &= 7;
    }

    /// How many bits there are. Behind them come those of `fill`, at least 56.
    fn finish(&mut self, fill: u64) -> usize {
        let bits = 8 * self.at + self.count as usize;
        self.put(fill & (u64::MAX >> 8), 56);
        self.put(fill & (u64::MAX >> 8), 56);
        bits
    }

    /// At least 57 bits from place `at` on.
    #[inline(always)]
    fn ahead(&self, at: usize) -> u64 {
        let loaded = self.bytes.get(at >> 3..).and_then(|left| left.first_chunk());
        loaded.map_or(0, |&eight| u64::from_le_bytes(eight) >> (at & 7))
    }
}

/// The lowest byte of some bits.
fn low_byte(bits: u64) -> u8 {
    bits.to_le_bytes()[0]
}

/// The lowest four bytes of some bits, if `is_fine` holds for each.
#[inline(always)]
fn four(bits: u64, is_fine: impl Fn(u8) -> bool) -> Option<[u8; 4]> {
    let [a, b, c, d, ..] = bits.to_le_bytes();
    // All are looked at: one branch is foreseen better than four.
    (is_fine(a) & is_fine(b) & is_fine(c) & is_fine(d)).then_some([a, b, c, d])
}

/// The stream of magnitudes and signs: from the lowest bit on, a byte behind 0xff has seven.
#[derive(Debug, Default)]
pub(super) struct MagnitudeWriter {
    pub(super) bytes: Vec<u8>,
    bits: RawBits,
}

impl MagnitudeWriter {
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.bits.clear();
    }

    /// Appends the lowest `count` bits of `value`, at most 56, the others being 0.
    #[inline(always)]
    pub(super) fn put(&mut self, value: u64, count: u32) {
        self.bits.put(value, count);
    }

    /// Fills the last byte with ones. What is 0xff at the end readers know without it.
    #[inline(always)]
    pub(super) fn finish(&mut self) {
        let len = self.bits.finish(u64::MAX);
        let (mut at, mut is_short) = (0, false);
        while at < len {
            let ahead = self.bits.ahead(at);
            if !is_short
                && at + 32 <= len
                && let Some(four) = four(ahead, |byte| byte != 0xff)
            {
                self.bytes.extend_from_slice(&four);
                at += 32;
                continue;
            }
            let wide = 8 - u32::from(is_short);
            let byte = low_byte(ahead) & (0xff >> (8 - wide));
            self.bytes.push(byte);
            at += wide as usize;
            is_short = byte == 0xff;
        }
        if self.bytes.last() == Some(&0xff) {
            self.bytes.pop();
        }
    }
}

/// The stream of runs: from the highest bit on, a byte behind 0xff has seven.
#[derive(Debug, Default)]
pub(super) struct RunWriter {
    pub(super) bytes: Vec<u8>,
    held: u32,
    count: u32,
    run: u32,
    state: usize,
}

/// The exponents of the lengths of runs, by state.
pub(super) const RUN_BITS: [u32; 13] = [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 4, 5];

impl RunWriter {
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        (self.held, self.count, self.run, self.state) = (0, 0, 0, 0);
    }

    /// Bits of the byte that is being filled.
    fn wide(&self) -> u32 {
        if self.bytes.last() == Some(&0xff) { 7 } else { 8 }
    }

    fn bit(&mut self, bit: u32) {
        self.held = self.held << 1 | bit;
        self.count += 1;
        if self.count == self.wide() {
            self.bytes.push(self.held.to_le_bytes()[0]);
            (self.held, self.count) = (0, 0);
        }
    }

    /// Appends an event.
    pub(super) fn event(&mut self, happened: bool) {
        let bits = RUN_BITS[self.state];
        if happened {
            self.bit(0);
            (0..bits).rev().for_each(|number| self.bit(self.run >> number & 1));
            (self.run, self.state) = (0, self.state.saturating_sub(1));
            return;
        }
        self.run += 1;
        if self.run == 1 << bits {
            self.bit(1);
            (self.run, self.state) = (0, (self.state + 1).min(RUN_BITS.len() - 1));
        }
    }

    /// The last byte, and a mask of the bits of it that count.
    pub(super) fn finish(&mut self) -> (u8, u8) {
        if self.run > 0 {
            self.bit(1);
        }
        let free = self.wide() - self.count;
        let mask = (0xff_u32 << free).to_le_bytes()[0];
        ((self.held << free).to_le_bytes()[0], mask)
    }
}

/// The stream of codewords, which lies backwards: from the lowest bit on; behind a byte above 0x8f, one whose lower
/// seven bits are ones has only those.
#[derive(Debug, Default)]
pub(super) struct CodeWriter {
    /// The last byte of the code-block first; its place is taken by a length.
    pub(super) bytes: Vec<u8>,
    bits: RawBits,
}

impl CodeWriter {
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.bytes.push(0xff);
        self.bits.clear();
        // The lower half of the second byte is of that length, too.
        self.bits.put(0xf, 4);
    }

    /// Appends the lowest `count` bits of `value`, at most 56, the others being 0.
    #[inline(always)]
    pub(super) fn put(&mut self, value: u64, count: u32) {
        self.bits.put(value, count);
    }

    /// The last byte, and a mask of the bits of it that count.
    #[inline(always)]
    pub(super) fn finish(&mut self) -> (u8, u8) {
        let len = self.bits.finish(0);
        let mut at = 0;
        loop {
            let ahead = self.bits.ahead(at);
            if at + 32 <= len
                && let Some(four) = four(ahead, |byte| byte & 0x7f != 0x7f)
            {
                self.bytes.extend_from_slice(&four);
                at += 32;
                continue;
            }
            let is_short = self.bytes.last().is_some_and(|&byte| byte > 0x8f) && ahead & 0x7f == 0x7f;
            let wide = if is_short { 7 } else { 8 };
            if at + wide > len {
                return (low_byte(ahead), low_byte((1 << (len - at)) - 1));
            }
            self.bytes.push(low_byte(ahead) & (0xff >> (8 - wide)));
            at += wide;
        }
    }
}
