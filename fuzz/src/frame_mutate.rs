//! Mutations of frames: ones that a hostile writer would make, and ones that a bad disk makes.

use xxhash_rust::xxh3::xxh3_64;

use crate::mutate::{Random, flip_bit, mutate, put_size, repeat, set_byte, splice};

/// Where the header of a frame keeps its numbers, and how many bytes they have.
const NUMBERS: [(usize, usize); 8] = [(11, 4), (16, 8), (30, 8), (39, 8), (48, 4), (53, 4), (58, 4), (25, 1)];
const EDGES: [u64; 12] =
    [0, 1, 2, 31, 32, 255, 0xffff, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, u64::MAX >> 1, u64::MAX];
const FRAME_LEN_AT: usize = 16;
const CBYTES_AT: usize = 39;
/// The last bytes of a frame: the length of the trailer, and the fingerprint.
const TRAILER_LEN_FROM_END: usize = 22;
const FINGERPRINT_BYTES: usize = 17;

/// A frame as somebody would make it who wants to be read: half of them are consistent again where that is easy.
pub(crate) fn mutate_frame(seed: &[u8], other: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    for _ in 0..=random.below(3) {
        match random.below(12) {
            0 | 1 => flip_bit(&mut bytes, random),
            2 => set_byte(&mut bytes, random),
            3 => bytes.truncate(random.below(bytes.len() + 1)),
            4 => splice(&mut bytes, other, random),
            5 => repeat(&mut bytes, random),
            6 | 7 => set_number(&mut bytes, random),
            8 => set_any_size(&mut bytes, random),
            9 => mutate_chunk(&mut bytes, random),
            10 => mutate_index(&mut bytes, random),
            _ => mutate_trailer(&mut bytes, random),
        }
    }
    if random.below(2) == 0 {
        let length = bytes.len() as u64;
        put(&mut bytes, FRAME_LEN_AT, 8, length);
    }
    match random.below(4) {
        0 => remove_fingerprint(&mut bytes),
        1 | 2 => renew_fingerprint(&mut bytes),
        _ => {}
    }
    bytes
}

/// A frame as a bad disk or a lost write leaves it. No damage is made that rebuilds checksums, and none that takes away
/// exactly the fingerprint: that is how programs leave a frame that do not know it.
pub(crate) fn damage(seed: &[u8], _other: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    for _ in 0..=random.below(2) {
        match random.below(8) {
            0..=3 => flip_bit(&mut bytes, random),
            4 => set_byte(&mut bytes, random),
            5 => bytes.truncate(random.below(bytes.len() + 1)),
            6 => repeat(&mut bytes, random),
            _ => lose_sector(&mut bytes, random),
        }
    }
    if let Some(field) = bytes.last_chunk_mut::<FINGERPRINT_BYTES>()
        && *field == [0; FINGERPRINT_BYTES]
    {
        field[0] = 1;
    }
    bytes
}

/// Overwrites what stands between two borders of a small sector, by zeros or by noise.
fn lose_sector(bytes: &mut [u8], random: &mut Random) {
    let sector = [16, 64, 512][random.below(3)];
    let number = random.below(bytes.len() / sector + 1);
    let has_noise = random.below(2) == 0;
    for byte in bytes.iter_mut().skip(number * sector).take(sector) {
        *byte = if has_noise { random.byte() } else { 0 };
    }
}

/// A big-endian number.
fn get(bytes: &[u8], at: usize, width: usize) -> Option<u64> {
    let field = bytes.get(at..at + width)?;
    Some(field.iter().fold(0, |number, &byte| number << 8 | u64::from(byte)))
}

fn put(bytes: &mut [u8], at: usize, width: usize, number: u64) {
    if let Some(field) = bytes.get_mut(at..at + width) {
        field.copy_from_slice(&number.to_be_bytes()[8 - width..]);
    }
}

/// A number at an edge, or near the one that stands there, or near the length of the whole.
fn put_any(bytes: &mut [u8], at: usize, width: usize, random: &mut Random) {
    let near = u64::from(random.byte() % 9);
    let number = match random.below(4) {
        0 => random.one_of(&EDGES),
        1 => (bytes.len() as u64).wrapping_add(near).wrapping_sub(4),
        2 => u64::from(random.byte()) << random.below(40),
        _ => get(bytes, at, width).unwrap_or(0).wrapping_add(near).wrapping_sub(4),
    };
    put(bytes, at, width, number);
}

fn set_number(bytes: &mut [u8], random: &mut Random) {
    let (at, width) = random.one_of(&NUMBERS);
    put_any(bytes, at, width, random);
}

/// Sizes of metalayers, shapes and lengths of texts stand anywhere behind the fixed header.
fn set_any_size(bytes: &mut [u8], random: &mut Random) {
    let at = 87 + random.below(bytes.len().saturating_sub(87).min(200));
    let width = random.one_of(&[2, 4, 8]);
    put_any(bytes, at, width, random);
}

/// Where the index chunk begins, as the header says.
fn index_at(bytes: &[u8]) -> Option<usize> {
    let at = get(bytes, 11, 4)?.checked_add(get(bytes, CBYTES_AT, 8)?)?;
    usize::try_from(at).ok().filter(|&at| at < bytes.len())
}

/// Mutates bytes as those of a chunk, without a change of their number.
fn mutate_stretch(bytes: &mut [u8], from: usize, to: usize, random: &mut Random) {
    let Some(stretch) = bytes.get_mut(from..to.max(from)) else { return };
    let mutated = mutate(stretch, &[], random);
    let count = mutated.len().min(stretch.len());
    stretch[..count].copy_from_slice(&mutated[..count]);
}

fn mutate_chunk(bytes: &mut [u8], random: &mut Random) {
    let (Some(start), Some(end)) = (get(bytes, 11, 4), index_at(bytes)) else { return };
    let start = usize::try_from(start).unwrap_or(usize::MAX);
    mutate_stretch(bytes, start, end, random);
}

fn mutate_index(bytes: &mut [u8], random: &mut Random) {
    let Some(start) = index_at(bytes) else { return };
    match random.below(2) {
        0 => mutate_stretch(bytes, start, (start + 120).min(bytes.len()), random),
        _ => put_size(bytes, start + 4 * random.below(20), random),
    }
}

fn mutate_trailer(bytes: &mut [u8], random: &mut Random) {
    let from_end = TRAILER_LEN_FROM_END + random.below(120);
    let Some(at) = bytes.len().checked_sub(from_end) else { return };
    match random.below(3) {
        0 => put_any(bytes, bytes.len() - TRAILER_LEN_FROM_END, 4, random),
        1 => put_any(bytes, at, 4, random),
        _ => put_size(bytes, at, random),
    }
}

/// What programs leave that do not know fingerprints.
fn remove_fingerprint(bytes: &mut [u8]) {
    let start = bytes.len().saturating_sub(FINGERPRINT_BYTES);
    bytes[start..].fill(0);
}

/// Makes the fingerprint right again: it is a sum, and no secret.
fn renew_fingerprint(bytes: &mut [u8]) {
    let end = bytes.len();
    let parts = || -> Option<u64> {
        let header_len = usize::try_from(get(bytes, 11, 4)?).ok()?;
        let body = end.checked_sub(FINGERPRINT_BYTES)?;
        let summed = [bytes.get(..header_len)?, bytes.get(index_at(bytes)?..body)?].concat();
        Some(xxh3_64(&summed))
    };
    if let Some(sum) = parts() {
        let field = end - FINGERPRINT_BYTES;
        bytes[field] = 2;
        bytes[field + 1..field + 9].copy_from_slice(&sum.to_le_bytes());
        bytes[field + 9..].fill(0);
    }
}
