//! The checksum of HDF5's metadata: Bob Jenkins' lookup3, `hashlittle` with an initial value of 0.
//!
//! In: any bytes. Out: 32 bits. Source: HDF5 File Format Specification 3.0, "checksum" of every version 2 block;
//! the algorithm is in the public domain (burtleburtle.net/bob/c/lookup3.c).

const SEED: u32 = 0xdead_beef;

/// The checksum of a block of HDF5's metadata.
pub fn lookup3(bytes: &[u8]) -> u32 {
    // The length is taken modulo 2^32, as the algorithm has it.
    let length = u32::try_from(bytes.len() & 0xffff_ffff).unwrap_or(u32::MAX);
    let start = SEED.wrapping_add(length);
    let (mut a, mut b, mut c) = (start, start, start);
    // The last 1..=12 bytes are mixed in another way than those before them.
    let split = bytes.len().saturating_sub(1) / 12 * 12;
    let (front, last) = bytes.split_at(split);
    for words in front.chunks_exact(12) {
        let [x, y, z] = words_of(words);
        (a, b, c) = mix(a.wrapping_add(x), b.wrapping_add(y), c.wrapping_add(z));
    }
    if last.is_empty() {
        return c;
    }
    let mut padded = [0; 12];
    padded[..last.len()].copy_from_slice(last);
    let [x, y, z] = words_of(&padded);
    finish(a.wrapping_add(x), b.wrapping_add(y), c.wrapping_add(z))
}

/// Three little-endian words from 12 bytes.
fn words_of(bytes: &[u8]) -> [u32; 3] {
    let mut words = [0; 3];
    for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(4)) {
        *word = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    }
    words
}

fn mix(mut a: u32, mut b: u32, mut c: u32) -> (u32, u32, u32) {
    a = a.wrapping_sub(c) ^ c.rotate_left(4);
    c = c.wrapping_add(b);
    b = b.wrapping_sub(a) ^ a.rotate_left(6);
    a = a.wrapping_add(c);
    c = c.wrapping_sub(b) ^ b.rotate_left(8);
    b = b.wrapping_add(a);
    a = a.wrapping_sub(c) ^ c.rotate_left(16);
    c = c.wrapping_add(b);
    b = b.wrapping_sub(a) ^ a.rotate_left(19);
    a = a.wrapping_add(c);
    c = c.wrapping_sub(b) ^ b.rotate_left(4);
    b = b.wrapping_add(a);
    (a, b, c)
}

fn finish(mut a: u32, mut b: u32, mut c: u32) -> u32 {
    c = (c ^ b).wrapping_sub(b.rotate_left(14));
    a = (a ^ c).wrapping_sub(c.rotate_left(11));
    b = (b ^ a).wrapping_sub(a.rotate_left(25));
    c = (c ^ b).wrapping_sub(b.rotate_left(16));
    a = (a ^ c).wrapping_sub(c.rotate_left(4));
    b = (b ^ a).wrapping_sub(a.rotate_left(14));
    (c ^ b).wrapping_sub(b.rotate_left(24))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_values_come_out() {
        // From the comments of lookup3.c.
        assert_eq!(lookup3(b""), 0xdead_beef);
        assert_eq!(lookup3(b"Four score and seven years ago"), 0x1777_0551);
    }

    #[test]
    fn every_byte_counts_at_every_length() {
        for length in 1..40 {
            let bytes = vec![7; length];
            for place in 0..length {
                let mut other = bytes.clone();
                other[place] ^= 0x10;
                assert_ne!(lookup3(&bytes), lookup3(&other), "{place} of {length}");
            }
        }
    }
}
