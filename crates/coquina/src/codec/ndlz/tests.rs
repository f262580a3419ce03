//! Laws of NDLZ.

use super::*;
use crate::codec::by_id;

fn encoded(meta: u8, height: u64, width: u64, block: &[u8]) -> Option<Vec<u8>> {
    let layout = BlockLayout::new(&[height, width], 1, "|u1");
    let encoder = Ndlz.encoder(&EncodeOptions { meta, layout, ..EncodeOptions::default() }).unwrap();
    let mut out = vec![0xaa; block.len()];
    let bytes = encoder.encode(block, &mut out).unwrap()?;
    out.truncate(bytes);
    Some(out)
}

fn decode_into(meta: u8, stream: &[u8], out: &mut [u8]) -> Result<()> {
    Ndlz.decoder(&DecodeOptions { meta, ..DecodeOptions::default() }).unwrap().decode(stream, out)
}

/// Stripes and patches, of which every kind of row repeats.
fn picture(height: usize, width: usize, seed: usize) -> Vec<u8> {
    let mut state = seed as u64 | 1;
    let mut picture: Vec<u8> = (0..height * width)
        .map(|number| {
            let (y, x) = (number / width, number % width);
            ((x + seed * y / 3) % 5 * 40 + y / 9 % 2 * 7).to_le_bytes()[0]
        })
        .collect();
    for byte in &mut picture {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        if state >> 59 == 0 {
            *byte = state.to_le_bytes()[4];
        }
    }
    picture
}

#[test]
fn decoding_what_was_encoded_gives_the_block_back() {
    let mut count = 0;
    for meta in [4, 8] {
        for (height, width) in [(64, 64), (30, 41), (8, 200), (3, 100), (129, 33), (100, 1)] {
            for seed in 0..9 {
                let block = picture(height, width, seed);
                let Some(coded) = encoded(meta, height as u64, width as u64, &block) else { continue };
                count += 1;
                for fill in [0, 0xff] {
                    let mut out = vec![fill; block.len()];
                    decode_into(meta, &coded, &mut out).unwrap();
                    assert_eq!(out, block, "{meta} {height} {width} {seed}");
                }
            }
        }
    }
    assert!(count > 60, "only {count} blocks got shorter");
}

#[test]
fn a_picture_of_stripes_gets_much_smaller() {
    let block: Vec<u8> = (0..64 * 64_u32).map(|number| (number % 8 * 30).to_le_bytes()[0]).collect();
    for (meta, cells) in [(4, 256), (8, 64)] {
        let coded = encoded(meta, 64, 64, &block).unwrap();
        let literals = if meta == 4 { 2 * 17 } else { 65 };
        assert!(coded.len() <= 9 + 3 * cells + literals, "{meta}: {}", coded.len());
    }
}

/// Cells of side 4, all rows from earlier in each way that there is.
#[test]
fn every_token_takes_the_rows_that_the_format_says() {
    let source: Vec<u8> = (1..=16).collect();
    let header = [2, 4, 0, 0, 0, 8, 0, 0, 0];
    let cell = |token: u8, data: &[u8]| {
        let stream = [&header[..], &[tokens::LITERAL], &source, &[token], data].concat();
        let mut out = vec![0; 32];
        decode_into(4, &stream, &mut out).unwrap();
        out.chunks(8).flat_map(|row| row[4..].to_vec()).collect::<Vec<u8>>()
    };
    let rows = |numbers: [usize; 4], literal: &[u8]| {
        let all: Vec<&[u8]> = source.chunks(4).chain(literal.chunks(4)).collect();
        numbers.iter().flat_map(|&number| all[number].to_vec()).collect::<Vec<u8>>()
    };
    let (one, two) = ([0xf0, 0xf1, 0xf2, 0xf3], [0xe0, 0xe1, 0xe2, 0xe3, 0xd0, 0xd1, 0xd2, 0xd3]);
    let triple = [&[12, 0][..], &one].concat();
    // Bytes 12 before the token are rows 1, 2 and 3 of the source.
    for (token, numbers) in
        [(0xe0, [4, 1, 2, 3]), (0xe8, [1, 2, 3, 4]), (0xf0, [1, 2, 4, 3]), (0xf8, [1, 4, 2, 3])]
    {
        assert_eq!(cell(token, &triple), rows(numbers, &one), "{token:#x}");
    }
    let pair = [&[16, 0][..], &two].concat();
    for (token, numbers) in [
        (0x80, [4, 5, 0, 1]),
        (0x88, [0, 1, 4, 5]),
        (0x90, [0, 4, 1, 5]),
        (0x98, [0, 4, 5, 1]),
        (0xb0, [4, 0, 1, 5]),
        (0xb8, [4, 0, 5, 1]),
    ] {
        assert_eq!(cell(token, &pair), rows(numbers, &two), "{token:#x}");
    }
    for (token, numbers) in [(0x28, [2, 3, 0, 1]), (0x30, [2, 0, 3, 1]), (0x38, [2, 0, 1, 3])] {
        assert_eq!(cell(token, &[8, 0, 16, 0]), rows(numbers, &[]), "{token:#x}");
    }
    assert_eq!(cell(tokens::COPY, &[16, 0]), source);
    assert_eq!(cell(tokens::RUN, &[7]), [7; 16]);
}

#[test]
fn cut_and_flipped_streams_give_an_error_or_bytes_but_never_a_panic() {
    for meta in [4, 8] {
        let block = picture(20, 27, 3);
        let coded = encoded(meta, 20, 27, &block).unwrap();
        let mut out = vec![0; block.len()];
        for end in 0..coded.len() {
            assert!(decode_into(meta, &coded[..end], &mut out).is_err(), "{meta} cut at {end}");
        }
        for bit in 0..8 * coded.len() {
            let mut flipped = coded.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            let mut ones = vec![0xff; block.len()];
            let results = [&mut out, &mut ones].map(|out| decode_into(meta, &flipped, out).is_ok());
            assert_eq!(results[0], results[1]);
            assert!(!results[0] || out == ones, "{meta} bit {bit}: bytes that were not written");
        }
        assert!(decode_into(meta, &coded, &mut out[1..]).is_err());
        assert!(decode_into(5, &coded, &mut out).is_err());
    }
    // Two axes, 2^31 - 1 rows of nothing.
    let empty = [2, 0xff, 0xff, 0xff, 0x7f, 0, 0, 0, 0];
    assert!(decode_into(4, &empty, &mut []).is_err());
}

#[test]
fn what_is_no_block_of_two_axes_is_refused_or_left() {
    assert_eq!(by_id(32).unwrap().name(), "ndlz");
    let block = picture(16, 16, 1);
    assert!(encoded(4, 16, 15, &block).is_none());
    assert!(encoded(5, 16, 16, &block).is_none());
    let square = BlockLayout::new(&[16, 16], 1, "|u1");
    assert!(Ndlz.check(8, 1, &square).is_ok() && Ndlz.check(0, 1, &square).is_err());
    for layout in [BlockLayout::UNKNOWN, BlockLayout::new(&[4, 4, 4], 1, "|u1")] {
        assert!(Ndlz.check(4, 1, &layout).is_err());
    }
}
