//! Seeded mutations: the same seed makes the same inputs on every machine.

/// A small generator of numbers (xorshift64*), good enough to choose what to damage.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// One whose numbers follow from `seed`.
    pub fn new(seed: u64) -> Self {
        // Neighbouring seeds must not give neighbouring numbers, and the state must not be 0.
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// The next number.
    pub fn number(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A number below `end`; 0 where that is 0.
    pub fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.number() >> 33).unwrap_or(0) % end.max(1)
    }

    pub(crate) fn byte(&mut self) -> u8 {
        self.number().to_be_bytes()[0]
    }

    pub(crate) fn one_of<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.below(values.len())]
    }
}

/// Bytes at which arithmetic and formats change their mind.
const EDGE_BYTES: [u8; 16] = [0, 1, 2, 4, 7, 8, 15, 16, 31, 32, 63, 64, 127, 128, 254, 255];
/// Sizes at which they do.
const EDGE_SIZES: [u32; 14] =
    [0, 1, 3, 31, 32, 127, 255, 256, 0xffff, 0x1fff_fe00, 0x1fff_fe01, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff];
/// Where a chunk keeps its sizes: nbytes, blocksize, cbytes.
const SIZE_PLACES: [usize; 3] = [4, 8, 12];

/// A damaged copy of `seed`; `other` lends bytes for splices.
pub fn mutate(seed: &[u8], other: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    for _ in 0..=random.below(4) {
        match random.below(12) {
            0..=2 => flip_bit(&mut bytes, random),
            3 | 4 => set_byte(&mut bytes, random),
            5 => bytes.truncate(random.below(bytes.len() + 1)),
            6 => splice(&mut bytes, other, random),
            7 => set_size(&mut bytes, random),
            8 => set_block_start(&mut bytes, random),
            9 => set_header_byte(&mut bytes, random),
            10 => set_stream_length(&mut bytes, random),
            _ => repeat(&mut bytes, random),
        }
    }
    // Cut and spliced chunks would all end at the first check: half of them get a length that is true again.
    if random.below(2) == 0 {
        state_true_length(&mut bytes);
    }
    bytes
}

/// Parameters in front of a seed: most are 0, so that what they ask for exists.
pub(crate) fn mutate_parameters(seed: &[u8], _other: &[u8], random: &mut Random) -> Vec<u8> {
    let mut head = [0; 24];
    for byte in &mut head[..19] {
        *byte = if random.below(3) == 0 { random.byte() } else { 0 };
    }
    head[0] = random.byte();
    head[19..21].copy_from_slice(&[random.byte(), random.byte()]);
    [&head, seed].concat()
}

pub(crate) fn flip_bit(bytes: &mut [u8], random: &mut Random) {
    let at = random.below(bytes.len());
    if let Some(byte) = bytes.get_mut(at) {
        *byte ^= 1 << random.below(8);
    }
}

pub(crate) fn set_byte(bytes: &mut [u8], random: &mut Random) {
    let at = random.below(bytes.len());
    let value = if random.below(2) == 0 { random.one_of(&EDGE_BYTES) } else { random.byte() };
    if let Some(byte) = bytes.get_mut(at) {
        *byte = value;
    }
}

/// Replaces a stretch by one of another input.
pub(crate) fn splice(bytes: &mut Vec<u8>, other: &[u8], random: &mut Random) {
    let (at, from) = (random.below(bytes.len() + 1), random.below(other.len() + 1));
    let take = random.below(64.min(other.len() - from) + 1);
    let drop = random.below(64.min(bytes.len() - at) + 1);
    bytes.splice(at..at + drop, other[from..from + take].iter().copied());
}

pub(crate) fn repeat(bytes: &mut Vec<u8>, random: &mut Random) {
    let start = random.below(bytes.len() + 1);
    let stretch = bytes[start..bytes.len().min(start + random.below(32))].to_vec();
    for _ in 0..random.below(4) {
        bytes.splice(start..start, stretch.iter().copied());
    }
}

/// Writes a size that is at an edge, or near the one that stands there, or near the length of the whole.
pub(crate) fn put_size(bytes: &mut [u8], at: usize, random: &mut Random) {
    let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
    let Some(field) = bytes.get_mut(at..).and_then(|rest| rest.first_chunk_mut::<4>()) else { return };
    let near = u32::try_from(random.below(9)).unwrap_or(0);
    let size = match random.below(4) {
        0 => random.one_of(&EDGE_SIZES),
        1 => u32::from_le_bytes(*field).wrapping_add(near).wrapping_sub(4),
        2 => length.wrapping_add(near).wrapping_sub(4),
        _ => u32::from(random.byte()) << random.below(12),
    };
    *field = size.to_le_bytes();
}

fn set_size(bytes: &mut [u8], random: &mut Random) {
    let at = random.one_of(&SIZE_PLACES);
    put_size(bytes, at, random);
}

fn header_bytes(bytes: &[u8]) -> usize {
    if bytes.get(2).is_some_and(|flags| flags & 5 == 5) { 32 } else { 16 }
}

fn set_block_start(bytes: &mut [u8], random: &mut Random) {
    let at = header_bytes(bytes) + 4 * random.below(8);
    put_size(bytes, at, random);
}

/// Follows a block start to the length of its first stream.
fn set_stream_length(bytes: &mut [u8], random: &mut Random) {
    let at = header_bytes(bytes) + 4 * random.below(4);
    let start =
        bytes.get(at..).and_then(|rest| rest.first_chunk::<4>()).map(|start| u32::from_le_bytes(*start));
    if let Some(start) = start.and_then(|start| usize::try_from(start).ok())
        && start < bytes.len()
    {
        put_size(bytes, start, random);
    }
}

fn set_header_byte(bytes: &mut [u8], random: &mut Random) {
    let (at, value) = match random.below(8) {
        0 => (0, random.one_of(&[2, 3, 4, 5, 6])),
        1 => (2, random.byte()),
        2 => (3, random.one_of(&EDGE_BYTES)),
        3 => (16 + random.below(6), random.one_of(&[0, 1, 2, 3, 4, 32, 33, 34, 35, 36])),
        4 => (22, random.one_of(&[0, 1, 2, 3, 4, 5, 32, 33])),
        5 => (24 + random.below(6), random.one_of(&EDGE_BYTES)),
        6 => (30, random.one_of(&[0, 1, 2])),
        _ => (31, random.one_of(&[0, 1, 8, 0x10, 0x11, 0x20, 0x30, 0x40, 0x50, 0x80])),
    };
    if let Some(byte) = bytes.get_mut(at) {
        *byte = value;
    }
}

fn state_true_length(bytes: &mut [u8]) {
    let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_le_bytes();
    if let Some(field) = bytes.get_mut(12..16) {
        field.copy_from_slice(&length);
    }
}
