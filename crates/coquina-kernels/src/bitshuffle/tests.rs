//! Every variant against the definition, for all widths and lengths that meet an edge.

use super::{bitshuffle, bitunshuffle};
use crate::levels;
use crate::testing::{Random, lengths, run, widths};

fn shuffled_naively(width: usize, src: &[u8]) -> Vec<u8> {
    let mut out = src.to_vec();
    let count = src.len() / width / 8 * 8;
    out[..count * width].fill(0);
    for i in 0..count {
        for j in 0..width {
            for k in 0..8 {
                let row = 8 * j + k;
                out[(row * count + i) / 8] |= (src[i * width + j] >> k & 1) << (i % 8);
            }
        }
    }
    out
}

#[test]
fn the_examples_of_the_format() {
    for &level in levels() {
        let src = [1, 2, 4, 8, 0x10, 0x20, 0x40, 0x80, 0xFF];
        assert_eq!(run(&src, |src, dst| bitshuffle(level, 1, src, dst)), src);
        let src = [1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 8, 0, 0xAA, 0xBB, 0xCC];
        let expected = [0x55, 0x66, 0x78, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xAA, 0xBB, 0xCC];
        assert_eq!(run(&src, |src, dst| bitshuffle(level, 2, src, dst)), expected);
    }
}

#[test]
fn all_levels_equal_the_definition_and_undo_it() {
    let mut random = Random::new(4);
    for width in widths() {
        let several_tiles = [9000, 16_384 + 8 * width, 40_000];
        for bytes in lengths(width).chain(several_tiles) {
            let src = random.bytes(bytes);
            let expected = shuffled_naively(width, &src);
            for &level in levels() {
                let out = run(&src, |src, dst| bitshuffle(level, width, src, dst));
                assert!(out == expected, "bitshuffle {level:?}, width {width}, {bytes} bytes");
                let back = run(&expected, |src, dst| bitunshuffle(level, width, src, dst));
                assert!(back == src, "bitunshuffle {level:?}, width {width}, {bytes} bytes");
            }
        }
    }
}
