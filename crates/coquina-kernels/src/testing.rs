//! What the tests of this crate share: random bytes from a seed, and the sizes to try.

/// A small random generator (xorshift64*): the same seed gives the same bytes on every machine.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed ^ 0x9E37_79B9_7F4A_7C15)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() >> 33).expect("31 bits") % end
    }

    pub(crate) fn bytes(&mut self, bytes: usize) -> Vec<u8> {
        (0..bytes.div_ceil(8)).flat_map(|_| self.next().to_le_bytes()).take(bytes).collect()
    }
}

/// The element widths to try: every small one, and each side of what the loops treat apart.
pub(crate) fn widths() -> impl Iterator<Item = usize> {
    (1..=33).chain([48, 64, 100, 255, 256, 1000])
}

/// The lengths in bytes to try for elements of `width` bytes: all small ones; one element, tile and tail more or
/// less than some larger ones.
pub(crate) fn lengths(width: usize) -> impl Iterator<Item = usize> {
    let elements = [16, 32, 48, 64, 72, 127, 128, 200, 513, 1031];
    let near = elements.into_iter().flat_map(move |count| {
        let bytes = count * width;
        [bytes - 1, bytes, bytes + 1, bytes + width - 1]
    });
    (0..=300).chain(near).chain([4095, 4096, 4097, 32_768, 32_771, 65_536])
}

/// Runs `filter` into destinations full of zeros and of ones, in two places of a cache line: shows that it writes
/// every byte of them and none beside them, and the same ones wherever they are.
pub(crate) fn run(src: &[u8], filter: impl Fn(&[u8], &mut [u8])) -> Vec<u8> {
    let (mut low, mut high) = (vec![0x00; src.len() + 128], vec![0xFF; src.len() + 128]);
    let (at_low, at_high) = (low.as_ptr().align_offset(64), high.as_ptr().align_offset(64) + 16);
    filter(src, &mut low[at_low..][..src.len()]);
    filter(src, &mut high[at_high..][..src.len()]);
    let out = low[at_low..][..src.len()].to_vec();
    assert!(out == high[at_high..][..src.len()], "a byte was not written, {} bytes in all", src.len());
    let mut beside = low[..at_low].iter().chain(&low[at_low + src.len()..]);
    assert!(beside.all(|&byte| byte == 0x00), "a byte beside the {} ones was written", src.len());
    let mut beside = high[..at_high].iter().chain(&high[at_high + src.len()..]);
    assert!(beside.all(|&byte| byte == 0xFF), "a byte beside the {} ones was written", src.len());
    out
}
