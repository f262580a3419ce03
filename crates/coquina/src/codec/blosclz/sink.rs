//! What becomes of the matches that the search finds: a stream, or only a count of the bytes it would take.
//!
//! Source: `docs/formats/codecs.md`, "BloscLZ".

/// From this distance on a match takes two bytes more.
pub(super) const FAR_START: usize = 8192;
/// A literal run holds at most this many bytes.
pub(super) const RUN_MAX: usize = 32;
/// From this length on a match has an extension byte, and from there on more than one.
const EXTENDED: usize = 9;
const EXTENDED_TWICE: usize = EXTENDED + 255;

/// Where the search puts what it finds. None: give up.
pub(super) trait Sink {
    /// More literals than this in a row are too many.
    fn literals_max(&self) -> usize;
    /// The bytes `from..to` of `src`.
    fn literals(&mut self, src: &[u8], from: usize, to: usize) -> Option<()>;
    /// A match of `length` bytes from `distance` back.
    fn repeat(&mut self, length: usize, distance: usize) -> Option<()>;
}

/// Counts what the output would take.
pub(super) struct Count {
    pub(super) bytes: usize,
    pub(super) bytes_max: usize,
    /// How many bytes of input are still to come.
    pub(super) left: usize,
    /// Whether the rest cannot bring `bytes` above `bytes_max` any more.
    pub(super) is_enough: bool,
}

impl Sink for Count {
    fn literals_max(&self) -> usize {
        (self.bytes_max - self.bytes) / (RUN_MAX + 1) * RUN_MAX + RUN_MAX
    }

    fn literals(&mut self, _src: &[u8], from: usize, to: usize) -> Option<()> {
        self.left -= to - from;
        self.bytes += to - from + (to - from).div_ceil(RUN_MAX);
        (self.bytes <= self.bytes_max).then_some(())
    }

    fn repeat(&mut self, length: usize, distance: usize) -> Option<()> {
        let extension = if length < EXTENDED { 0 } else { (length - EXTENDED) / 255 + 1 };
        let far = if distance < FAR_START { 0 } else { 2 };
        self.left -= length;
        self.bytes += 2 + extension + far;
        self.is_enough = self.bytes + self.left + self.left.div_ceil(RUN_MAX) <= self.bytes_max;
        (self.bytes <= self.bytes_max && !self.is_enough).then_some(())
    }
}

/// Writes the stream.
pub(super) struct Writer<'a> {
    pub(super) dst: &'a mut [u8],
    pub(super) written: usize,
    /// There is no use in writing more than this; `dst` may have room for more.
    pub(super) bytes_max: usize,
}

impl Writer<'_> {
    fn put<const N: usize>(&mut self, bytes: [u8; N]) -> Option<()> {
        *self.dst.get_mut(self.written..)?.first_chunk_mut()? = bytes;
        self.written += N;
        Some(())
    }

    fn put_exactly(&mut self, bytes: &[u8]) -> Option<()> {
        self.dst.get_mut(self.written..)?.get_mut(..bytes.len())?.copy_from_slice(bytes);
        self.written += bytes.len();
        Some(())
    }

    /// Writes a match of any length; `tail` is what follows the length.
    fn repeat_long(&mut self, length: usize, high: u8, tail: &[u8]) -> Option<()> {
        if length < EXTENDED {
            self.put([low_u8(length - 2) << 5 | high])?;
        } else {
            self.put([7 << 5 | high])?;
            let mut more = length - EXTENDED;
            while more >= 255 {
                self.put([255])?;
                more -= 255;
            }
            self.put([low_u8(more)])?;
        }
        self.put_exactly(tail)
    }
}

impl Sink for Writer<'_> {
    fn literals_max(&self) -> usize {
        self.bytes_max.saturating_sub(self.written)
    }

    #[inline(always)]
    fn literals(&mut self, src: &[u8], from: usize, to: usize) -> Option<()> {
        let mut at = from;
        while at < to {
            let count = (to - at).min(RUN_MAX);
            let room = self.dst.get_mut(self.written..)?;
            let block = src.get(at..)?;
            *room.first_mut()? = low_u8(count - 1);
            if let (Some(room), Some(block)) = (room.first_chunk_mut::<33>(), block.first_chunk::<32>()) {
                let [_, room @ ..] = room;
                *room = *block;
            } else {
                room.get_mut(1..=count)?.copy_from_slice(block.get(..count)?);
            }
            at += count;
            self.written += 1 + count;
        }
        Some(())
    }

    #[inline(always)]
    fn repeat(&mut self, length: usize, distance: usize) -> Option<()> {
        let near = distance - 1;
        let short = low_u8((length - 2).min(7)) << 5;
        if distance >= FAR_START {
            let far = distance - FAR_START;
            return self.repeat_long(length, 31, &[255, low_u8(far >> 8), low_u8(far)]);
        }
        let (high, low) = (low_u8(near >> 8), low_u8(near));
        match length {
            ..EXTENDED => self.put([short | high, low]),
            EXTENDED..EXTENDED_TWICE => self.put([short | high, low_u8(length - EXTENDED), low]),
            EXTENDED_TWICE.. => self.repeat_long(length, high, &[low]),
        }
    }
}

fn low_u8(value: usize) -> u8 {
    let [low, ..] = value.to_le_bytes();
    low
}
