//! BloscLZ, the decoder: a byte code of literal runs and matches becomes the bytes it stands for.
//!
//! In: one whole stream, from outside and untrusted. Out: exactly as many bytes as `dst` has room for.
//! Source: the BloscLZ stream as C-Blosc2 reads it (`docs/formats/codecs.md`, "BloscLZ").
//! Invariants: any bytes give a result, never a panic; what `dst` held before has no influence on it; the work
//! is bounded by the lengths of `src` and `dst`.

use std::fmt;

/// What is wrong with a stream. Positions count bytes from the start of the stream or of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DecodeError {
    /// The stream has no bytes.
    Empty,
    /// The instruction that starts at stream byte `at` goes on past the end of the stream.
    Truncated {
        /// Where the instruction starts in the stream.
        at: usize,
    },
    /// The last instruction, at stream byte `at`, is a match; a stream ends with literals.
    EndsInMatch {
        /// Where the instruction starts in the stream.
        at: usize,
    },
    /// A match reaches back to before the first byte of the output.
    DistanceBeforeStart {
        /// How far back the match reaches.
        distance: usize,
        /// How many bytes of output there are at that point.
        written: usize,
    },
    /// The stream stands for more bytes than were expected.
    OutputTooLong {
        /// How many bytes were expected.
        expected: usize,
    },
    /// The stream ended before the output was full.
    OutputTooShort {
        /// How many bytes the stream stands for.
        written: usize,
        /// How many bytes were expected.
        expected: usize,
    },
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => write!(f, "blosclz: a stream of 0 bytes; it needs at least 2"),
            Self::Truncated { at } => {
                write!(f, "blosclz: the instruction at byte {at} goes on past the end of the stream")
            }
            Self::EndsInMatch { at } => {
                write!(f, "blosclz: the stream ends with the match at byte {at}; it must end with literals")
            }
            Self::DistanceBeforeStart { distance, written } => {
                write!(f, "blosclz: a match reaches {distance} bytes back where only {written} are written")
            }
            Self::OutputTooLong { expected } => {
                write!(f, "blosclz: the stream holds more than the {expected} bytes expected")
            }
            Self::OutputTooShort { written, expected } => {
                write!(f, "blosclz: the stream holds {written} bytes where {expected} were expected")
            }
        }
    }
}

impl std::error::Error for DecodeError {}

/// Control bytes below this start a literal run, the others a match.
const FIRST_MATCH: u8 = 32;
/// Stands in the upper three bits of a control byte when extension bytes follow.
const LENGTH_EXTENDED: usize = 7;
/// Added to the three length bits.
const LENGTH_BIAS: usize = 2;
/// Upper distance bits of a match that may be a far one.
const FAR_HIGH: u8 = 31;
/// Lower distance byte of a far match.
const FAR_LOW: u8 = 255;
/// Added to the two bytes of a far distance.
const FAR_BIAS: usize = 8192;

/// Fills `dst` with what the stream `src` stands for.
pub(super) fn decode(src: &[u8], dst: &mut [u8]) -> Result<(), DecodeError> {
    let Some(&first) = src.first() else { return Err(DecodeError::Empty) };
    let mut place = Place { read: 0, written: 0 };
    // The upper bits of the first control byte are a marker; whatever they hold, it is a literal run.
    place.literals(src, dst, first & (FIRST_MATCH - 1))?;
    loop {
        place.run_fast(src, dst);
        let Some(&control) = src.get(place.read) else { break };
        if control < FIRST_MATCH {
            place.literals(src, dst, control)?;
        } else {
            place.copy_match(src, dst, control)?;
        }
    }
    if place.written < dst.len() {
        return Err(DecodeError::OutputTooShort { written: place.written, expected: dst.len() });
    }
    Ok(())
}

/// How far the decoder has come; `read` is always at the start of an instruction.
struct Place {
    read: usize,
    written: usize,
}

/// What a match instruction says, and how many bytes it takes.
struct Match {
    length: usize,
    distance: usize,
    bytes: usize,
}

impl Place {
    /// Takes one literal run, checking everything.
    fn literals(&mut self, src: &[u8], dst: &mut [u8], control: u8) -> Result<(), DecodeError> {
        let count = usize::from(control) + 1;
        let from = src.get(self.read + 1..).and_then(|left| left.get(..count));
        let from = from.ok_or(DecodeError::Truncated { at: self.read })?;
        let expected = dst.len();
        let to = dst.get_mut(self.written..).and_then(|room| room.get_mut(..count));
        to.ok_or(DecodeError::OutputTooLong { expected })?.copy_from_slice(from);
        self.read += 1 + count;
        self.written += count;
        Ok(())
    }

    /// Takes one match, checking everything.
    fn copy_match(&mut self, src: &[u8], dst: &mut [u8], control: u8) -> Result<(), DecodeError> {
        let at = self.read;
        let stream = src.get(at..).unwrap_or_default();
        let found = read_match(stream, control, dst.len()).ok_or(DecodeError::Truncated { at })?;
        let written = self.written;
        // First the length: where it is cut short, the distance means nothing.
        if found.length > dst.len() - written {
            return Err(DecodeError::OutputTooLong { expected: dst.len() });
        }
        if found.distance > written {
            return Err(DecodeError::DistanceBeforeStart { distance: found.distance, written });
        }
        if found.bytes >= stream.len() {
            return Err(DecodeError::EndsInMatch { at });
        }
        repeat(dst, written, &found);
        self.read += found.bytes;
        self.written += found.length;
        Ok(())
    }

    /// Takes instructions while both ends are far enough that whole blocks can be copied, and stops before
    /// the first one that is near an end, very long or wrong; the caller takes that one with care.
    #[inline(never)]
    fn run_fast(&mut self, src: &[u8], dst: &mut [u8]) {
        let Some(room_end) = dst.len().checked_sub(2 * BLOCK) else { return };
        let (mut read, mut written) = (self.read, self.written);
        while written <= room_end {
            let Some(window) = src.get(read..).and_then(|left| left.first_chunk::<WINDOW>()) else { break };
            let control = window[0];
            if control < FIRST_MATCH {
                let count = usize::from(control) + 1;
                if count <= HALF {
                    store::<HALF>(dst, written, load(window, 1));
                } else {
                    let [_, literals @ ..] = *window;
                    store(dst, written, literals);
                }
                read += 1 + count;
                written += count;
                continue;
            }
            let found = read_short_match(window);
            let end = written + found.length;
            if found.distance > written || end > room_end || found.bytes == 0 {
                break;
            }
            repeat_blocks(dst, written, &found);
            read += found.bytes;
            written = end;
        }
        self.read = read;
        self.written = written;
    }
}

/// A control byte and the longest literal run; any match with at most one extension byte, and a byte more.
const WINDOW: usize = 33;
/// Matches are copied in blocks of this size where there is room, two at first.
const BLOCK: usize = 16;
/// Half a block.
const HALF: usize = BLOCK / 2;
/// Longer matches from further back are copied as a whole.
const LONG: usize = 64;

/// Reads a match of at most one extension byte, with few branches; `bytes` is 0 if there are more of them.
#[inline(always)]
fn read_short_match(window: &[u8; WINDOW]) -> Match {
    let control = window[0];
    let extended = u8::from(control >= 7 << 5);
    let more = window[1] & 0u8.wrapping_sub(extended);
    let length = usize::from(control >> 5) + LENGTH_BIAS + usize::from(more);
    let at = 1 + usize::from(extended);
    let near = (usize::from(control & 31) << 8) + usize::from(window[at]) + 1;
    if more == u8::MAX {
        return Match { length, distance: near, bytes: 0 };
    }
    if near == FAR_BIAS {
        let far = u16::from_be_bytes([window[at + 1], window[at + 2]]);
        return Match { length, distance: usize::from(far) + FAR_BIAS, bytes: at + 3 };
    }
    Match { length, distance: near, bytes: at + 1 }
}

/// Reads a match instruction; None where the stream ends inside it. A length above `length_max` may be cut
/// short, so that no sum overflows however many extension bytes there are.
#[inline(always)]
fn read_match(stream: &[u8], control: u8, length_max: usize) -> Option<Match> {
    let mut length = usize::from(control >> 5) + LENGTH_BIAS;
    let high = control & 31;
    let mut bytes = 1;
    if length == LENGTH_EXTENDED + LENGTH_BIAS {
        loop {
            let more = *stream.get(bytes)?;
            bytes += 1;
            length += usize::from(more);
            if more != u8::MAX || length > length_max {
                break;
            }
        }
    }
    let low = *stream.get(bytes)?;
    bytes += 1;
    if high == FAR_HIGH && low == FAR_LOW {
        let far = stream.get(bytes..)?.first_chunk()?;
        let distance = usize::from(u16::from_be_bytes(*far)) + FAR_BIAS;
        return Some(Match { length, distance, bytes: bytes + 2 });
    }
    Some(Match { length, distance: (usize::from(high) << 8) + usize::from(low) + 1, bytes })
}

/// Writes `found` at `at`, no byte beyond it. The naive loop is `dst[at + i] = dst[at + i - distance]` for
/// each `i`; here what repeats already doubles with each copy.
fn repeat(dst: &mut [u8], at: usize, found: &Match) {
    let from = at - found.distance;
    let end = at + found.length;
    let mut to = at;
    if found.distance == 1 {
        let [byte] = load(dst, from);
        dst.get_mut(at..end).unwrap_or_default().fill(byte);
        return;
    }
    // Four blocks of a short period are inside the match, and a good start for the doubling.
    if found.distance < BLOCK && found.length >= 5 * BLOCK {
        let (pattern, step) = pattern(load(dst, from), found.distance);
        for _ in 0..4 {
            store(dst, to, pattern);
            to += step;
        }
    }
    while to < end {
        let count = (to - from).min(end - to);
        dst.copy_within(from..from + count, to);
        to += count;
    }
}

/// Does what `repeat` does and may write up to two blocks from the end of the match on, which the caller
/// has made sure exist.
#[inline(always)]
fn repeat_blocks(dst: &mut [u8], at: usize, found: &Match) {
    let from = at - found.distance;
    let end = at + found.length;
    // From here on the calls that copy and fill cost less than the loops below.
    if found.length > LONG && (found.distance == 1 || found.distance >= LONG) {
        repeat(dst, at, found);
        return;
    }
    if found.distance >= BLOCK {
        // Each block is loaded when the one before it is stored: that may be what it reads.
        store::<BLOCK>(dst, at, load(dst, from));
        store::<BLOCK>(dst, at + BLOCK, load(dst, from + BLOCK));
        let (mut to, mut from) = (at + 2 * BLOCK, from + 2 * BLOCK);
        while to < end {
            store::<BLOCK>(dst, to, load(dst, from));
            to += BLOCK;
            from += BLOCK;
        }
        return;
    }
    if found.distance >= HALF && found.length <= BLOCK {
        // Short matches of items just before are common: making a pattern would cost more than they do.
        store::<HALF>(dst, at, load(dst, from));
        store::<HALF>(dst, at + HALF, load(dst, from + HALF));
        return;
    }
    let (pattern, step) = if found.distance == 1 {
        let [byte] = load(dst, from);
        ([byte; BLOCK], BLOCK)
    } else {
        pattern(load(dst, from), found.distance)
    };
    store(dst, at, pattern);
    store(dst, at + step, pattern);
    let mut to = at + 2 * step;
    while to < end {
        store(dst, to, pattern);
        to += step;
    }
}

/// The first `period` bytes of `block` again and again, and the largest multiple of `period` in a block.
#[inline(always)]
fn pattern(block: [u8; BLOCK], period: usize) -> ([u8; BLOCK], usize) {
    let (mask, ones, step) = PERIODS[period % BLOCK];
    let unit = u128::from_le_bytes(block) & mask;
    (unit.wrapping_mul(ones).to_le_bytes(), step)
}

/// For each period: a mask of as many bytes, a one at each multiple of it, and the largest of these steps.
static PERIODS: [(u128, u128, usize); BLOCK] = periods();

const fn periods() -> [(u128, u128, usize); BLOCK] {
    let mut table = [(0, 0, 0); BLOCK];
    let mut period = 1;
    while period < BLOCK {
        let mut ones = 0;
        let mut at = 0;
        while at < BLOCK {
            ones |= 1 << (8 * at);
            at += period;
        }
        table[period] = ((1 << (8 * period)) - 1, ones, BLOCK - BLOCK % period);
        period += 1;
    }
    table
}

/// The `N` bytes from `at` on. The callers have made sure that they exist; zeros if not.
#[inline(always)]
fn load<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    bytes.get(at..).and_then(|left| left.first_chunk()).copied().unwrap_or([0; N])
}

/// Writes `block` from `at` on, where the callers have made sure that there is room.
#[inline(always)]
fn store<const N: usize>(bytes: &mut [u8], at: usize, block: [u8; N]) {
    if let Some(to) = bytes.get_mut(at..).and_then(|left| left.first_chunk_mut()) {
        *to = block;
    }
}

#[cfg(test)]
mod tests;
