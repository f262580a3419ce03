//! Runs: is a buffer one byte value, repeated?
//!
//! In: any bytes. Out: the value, or nothing. Must cost next to nothing where the first bytes differ, since
//! it is asked about every block, and run at the speed of memory where they are equal.

/// The value that every byte of `src` has; `None` if two bytes differ or `src` is empty.
pub fn run_value(src: &[u8]) -> Option<u8> {
    let (&first, rest) = src.split_first()?;
    // All bytes are equal if each one equals its neighbour: one `memcmp` of the buffer with itself, one byte
    // further on, which leaves at the first difference and otherwise runs as fast as memory is read.
    (src[..rest.len()] == *rest).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::run_value;

    #[test]
    fn every_length_and_every_place_of_a_difference() {
        assert_eq!(run_value(&[]), None);
        for bytes in (1..=300).chain([4095, 4096, 4097]) {
            let mut run = vec![0xA5_u8; bytes];
            assert_eq!(run_value(&run), Some(0xA5), "{bytes} bytes");
            for place in 0..bytes {
                run[place] ^= 0x40;
                let expected = (bytes == 1).then_some(0xE5);
                assert_eq!(run_value(&run), expected, "{bytes} bytes, other at {place}");
                run[place] ^= 0x40;
            }
        }
    }
}
