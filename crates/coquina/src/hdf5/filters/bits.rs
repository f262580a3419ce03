//! Bits of a stream, the most significant of each byte first: at any place, or one code after another.
//!
//! In: untrusted bytes. Out: numbers of up to 64 bits; `None` where the bytes end before.
//! Invariant: no bit behind the last byte is ever used.

/// The bits `at..at + width` of `bytes` as a number; `width` is at most 64.
///
/// Calls do not depend on each other, so a loop over them runs as wide as the CPU can.
#[inline]
pub(super) fn field(bytes: &[u8], at: usize, width: u32) -> Option<u64> {
    if width > 56 {
        let high = narrow_field(bytes, at, width - 32)?;
        return Some(high << 32 | narrow_field(bytes, at + (width - 32) as usize, 32)?);
    }
    narrow_field(bytes, at, width)
}

/// As [`field`], for a `width` up to 56: with the up to 7 bits in front, they are within 8 bytes.
#[inline]
fn narrow_field(bytes: &[u8], at: usize, width: u32) -> Option<u64> {
    let rest = bytes.get(at / 8..)?;
    let word = match rest.first_chunk() {
        Some(word) => u64::from_be_bytes(*word),
        None if at + width as usize > bytes.len() * 8 => return None,
        None => {
            let mut word = [0; 8];
            word.get_mut(..rest.len())?.copy_from_slice(rest);
            u64::from_be_bytes(word)
        }
    };
    Some(top(word << (at % 8), width))
}

/// The first `width` bits of a word; `width` is at most 63.
#[inline]
fn top(word: u64, width: u32) -> u64 {
    word >> 1 >> (63 - width)
}

/// Fills `out`, items of `S` bytes, with what `item` makes of fields of `width` bits, which stand side by
/// side.
#[inline]
pub(super) fn unpack<const S: usize>(
    bytes: &[u8],
    width: u32,
    out: &mut [u8],
    item: impl Fn(u64) -> [u8; S],
) -> Option<()> {
    let mut at = 0;
    for slot in out.as_chunks_mut().0 {
        *slot = item(field(bytes, at, width)?);
        at += width as usize;
    }
    Some(())
}

/// The low `S` bytes of a number, at most 8, in the order of the file.
#[inline]
pub(super) fn low_bytes<const S: usize>(value: u64, is_big_endian: bool) -> [u8; S] {
    let value = if is_big_endian { value.swap_bytes() >> (64 - 8 * S) } else { value };
    let mut low = [0; S];
    low.copy_from_slice(&value.to_le_bytes()[..S]);
    low
}

/// Reads codes one after another.
pub(super) struct BitReader<'a> {
    rest: &'a [u8],
    /// The next bits, at the top. Behind the first `count` are zeros or the bits that `rest` begins with.
    word: u64,
    /// At most 63.
    count: u32,
}

impl<'a> BitReader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes, word: 0, count: 0 }
    }

    /// Afterwards there are 56 bits or more, or all that are left.
    #[inline]
    fn refill(&mut self) {
        if let Some(word) = self.rest.first_chunk() {
            self.word |= u64::from_be_bytes(*word) >> self.count;
            let fitting = (63 - self.count) / 8;
            self.rest = self.rest.get(fitting as usize..).unwrap_or_default();
            self.count += fitting * 8;
            return;
        }
        while self.count < 56
            && let Some((byte, rest)) = self.rest.split_first()
        {
            self.word |= u64::from(*byte) << (56 - self.count);
            self.rest = rest;
            self.count += 8;
        }
    }

    /// Drops bits that are there.
    #[inline]
    fn skip(&mut self, width: u32) {
        self.word <<= width;
        self.count -= width;
    }

    /// The next `width` bits, at most 56.
    #[inline]
    pub(super) fn take(&mut self, width: u32) -> Option<u64> {
        if self.count < width {
            self.refill();
            if self.count < width {
                return None;
            }
        }
        let value = top(self.word, width);
        self.skip(width);
        Some(value)
    }

    /// The number of zeros before the next one, which is read too.
    #[inline]
    pub(super) fn zeros(&mut self) -> Option<u32> {
        let mut run = 0_u32;
        loop {
            let zeros = self.word.leading_zeros();
            if zeros < self.count {
                self.skip(zeros + 1);
                return Some(run.saturating_add(zeros));
            }
            run = run.saturating_add(self.count);
            self.skip(self.count);
            if self.rest.is_empty() {
                return None;
            }
            self.refill();
        }
    }
}

/// Appends fields, for tests that pack what the decoders unpack.
#[cfg(test)]
#[derive(Default)]
pub(super) struct BitWriter {
    pub(super) bytes: Vec<u8>,
    count: usize,
}

#[cfg(test)]
impl BitWriter {
    pub(super) fn put(&mut self, value: u64, width: u32) {
        for bit in (0..width).rev() {
            if self.count.is_multiple_of(8) {
                self.bytes.push(0);
            }
            let is_set = value >> bit & 1 == 1;
            *self.bytes.last_mut().unwrap() |= u8::from(is_set) << (7 - self.count % 8);
            self.count += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn limited((value, width): (u64, u32)) -> (u64, u32) {
        (if width == 64 { value } else { value & ((1 << width) - 1) }, width)
    }

    proptest! {
        #[test]
        fn fields_are_read_as_they_were_written(
            fields in prop::collection::vec((any::<u64>(), 0..=64_u32).prop_map(limited), 0..60)
        ) {
            let mut writer = BitWriter::default();
            fields.iter().for_each(|&(value, width)| writer.put(value, width));
            let mut reader = BitReader::new(&writer.bytes);
            let mut at = 0;
            for &(value, width) in &fields {
                prop_assert_eq!(field(&writer.bytes, at, width), Some(value));
                at += width as usize;
                let high = reader.take(width / 2).unwrap();
                let low_width = width - width / 2;
                prop_assert_eq!(high << low_width | reader.take(low_width).unwrap(), value);
            }
            let left = writer.bytes.len() * 8 - at;
            prop_assert_eq!(field(&writer.bytes, at, u32::try_from(left).unwrap() + 1), None);
            prop_assert_eq!(reader.take(u32::try_from(left).unwrap() + 1), None);
        }

        #[test]
        fn runs_of_zeros_are_counted(runs in prop::collection::vec(0..200_u32, 0..40)) {
            let mut writer = BitWriter::default();
            for &run in &runs {
                (0..run).for_each(|_| writer.put(0, 1));
                writer.put(1, 1);
            }
            let mut reader = BitReader::new(&writer.bytes);
            for &run in &runs {
                prop_assert_eq!(reader.zeros(), Some(run));
            }
            prop_assert_eq!(reader.zeros(), None);
        }
    }
}
