//! Every variant against the naive loop, for all widths and lengths that meet an edge.

use super::{bytedelta_decode, bytedelta_encode};
use crate::levels;
use crate::testing::{Random, lengths, run, widths};

fn encoded_naively(width: usize, src: &[u8]) -> Vec<u8> {
    let mut out = src.to_vec();
    let stream_bytes = src.len() / width;
    for stream in 0..width {
        let mut before = 0;
        for place in stream * stream_bytes..(stream + 1) * stream_bytes {
            out[place] = src[place].wrapping_sub(before);
            before = src[place];
        }
    }
    out
}

#[test]
fn the_example_of_the_format() {
    let src = [0x0A, 0x0C, 0x0F, 0x0F, 0x01, 0x00, 0xFF, 0x02, 0x4D];
    for &level in levels() {
        let out = run(&src, |src, dst| bytedelta_encode(level, 2, src, dst));
        assert_eq!(out, [0x0A, 0x02, 0x03, 0x00, 0x01, 0xFF, 0xFF, 0x03, 0x4D]);
    }
}

#[test]
fn all_levels_equal_the_naive_loop_and_undo_it() {
    let mut random = Random::new(5);
    for width in widths() {
        for bytes in lengths(width) {
            let src = random.bytes(bytes);
            let expected = encoded_naively(width, &src);
            for &level in levels() {
                let out = run(&src, |src, dst| bytedelta_encode(level, width, src, dst));
                assert!(out == expected, "encode {level:?}, width {width}, {bytes} bytes");
                let back = run(&expected, |src, dst| bytedelta_decode(level, width, src, dst));
                assert!(back == src, "decode {level:?}, width {width}, {bytes} bytes");
            }
        }
    }
}
