//! The codecs as the host calls them, and what they make of damaged bytes.

use super::*;
use crate::image::Geometry;

fn block<'a>(shape: &'a [u32], typesize: usize, kind: char, options: &'a str) -> Block<'a> {
    Block { typesize, shape, kind: Some(kind), meta: 0, level: 5, options }
}

/// A smooth image with some noise.
fn bytes(shape: &[u32], typesize: usize) -> Vec<u8> {
    let items: u32 = shape.iter().product();
    let columns = shape.last().copied().unwrap_or(1);
    (0..items)
        .flat_map(|item| {
            let (row, column) = (item / columns, item % columns);
            let noise = item.wrapping_mul(2_654_435_761) >> 28;
            let value = 40 * row + 13 * column + noise;
            value.to_le_bytes().into_iter().take(typesize)
        })
        .collect()
}

fn encoded(codec: &Images, block: &Block<'_>, plain: &[u8]) -> Vec<u8> {
    let mut out = vec![0; plain.len() * 2 + 1000];
    let len = codec.encode(block, plain, &mut out).unwrap().unwrap();
    out.truncate(len);
    out
}

#[test]
fn lossless_blocks_come_back_bit_for_bit() {
    for codec in [&J2K, &HTJ2K] {
        for shape in
            [&[64_u32, 48][..], &[1, 1, 31, 33], &[20, 30, 3], &[20, 30, 2], &[9], &[4, 16, 16], &[1]]
        {
            for (typesize, kind) in [(1, 'u'), (2, 'u'), (1, 'i'), (2, 'i')] {
                let plain = bytes(shape, typesize);
                let block = block(shape, typesize, kind, "");
                let stream = encoded(codec, &block, &plain);
                for fill in [0, 0xff] {
                    let mut out = vec![fill; plain.len()];
                    codec.decode(&block, &stream, &mut out).unwrap();
                    assert!(out == plain, "{codec:?} {shape:?} {typesize} {kind}");
                }
                assert!(codec.decode(&block, &stream, &mut vec![0; plain.len() + typesize]).is_err());
            }
        }
    }
}

#[test]
fn a_quality_that_is_asked_for_is_reached() {
    let shape = [120, 150];
    let plain = bytes(&shape, 2);
    for codec in [&J2K, &HTJ2K] {
        for (text, least, most) in [
            (r#"{"quality_mode": "dB", "quality": 60}"#, 60.0, usize::MAX),
            (r#"{"quality_mode": "dB", "quality": 85}"#, 85.0, usize::MAX),
            (r#"{"quality_mode": "rates", "quality": 8}"#, 50.0, plain.len() / 8),
            (r#"{"quality_mode": "rates", "quality": 20, "levels": 3}"#, 45.0, plain.len() / 20),
        ] {
            let block = block(&shape, 2, 'u', text);
            let stream = encoded(codec, &block, &plain);
            assert!(stream.len() <= most, "{codec:?} {text}: {} of {most}", stream.len());
            let geometry = Geometry::of(&block, plain.len()).unwrap();
            let reached = measured(&geometry, &geometry.split(&plain), &stream).unwrap();
            assert!(reached >= least, "{codec:?} {text}: {reached}");
            assert!(reached < least + 60.0 && codec.is_lossy(0, text));
        }
    }
}

#[test]
fn what_cannot_be_written_says_why() {
    let plain = [0; 64];
    let mut out = [0; 64];
    let mut refused = |codec: &Images, block: Block<'_>| codec.encode(&block, &plain, &mut out).unwrap_err();
    assert!(refused(&HTJ2K, block(&[4, 4], 4, 'u', "")).contains("items of 4 bytes"));
    assert!(refused(&J2K, block(&[4, 8], 2, 'f', "")).contains("kind 'f'"));
    assert!(refused(&HTJ2K, block(&[8, 8], 1, 'u', "{\"tile\": 1}")).contains("tile"));
    assert!(refused(&GROK, block(&[8, 8], 1, 'u', "")).contains("can be read"));
}

#[test]
fn damaged_streams_are_errors_or_images_and_never_more() {
    let shape = [40, 52];
    let plain = bytes(&shape, 2);
    for (codec, text) in [(&J2K, ""), (&HTJ2K, ""), (&HTJ2K, r#"{"quality_mode":"rates","quality":6}"#)] {
        let stream = encoded(codec, &block(&shape, 2, 'u', text), &plain);
        let mut out = vec![0; plain.len()];
        for len in 0..stream.len() {
            let _ = decode(&stream[..len], 2, Order::Pixels, &mut out);
        }
        let mut state = 88_172_645_463_325_252_u64;
        for round in 0..6000 {
            let mut damaged = stream.clone();
            for _ in 0..=round % 4 {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                // Half of the damage goes to the head, which says the sizes.
                let room = if state & 1 == 0 { damaged.len() } else { 140 };
                let place = (state >> 8) as usize % room.min(damaged.len());
                damaged[place] = if state & 2 == 0 {
                    damaged[place] ^ 1 << (state >> 2 & 7)
                } else {
                    state.to_le_bytes()[5]
                };
            }
            let _ = decode(&damaged, 2, Order::Pixels, &mut out);
        }
    }
}

#[test]
fn heads_that_ask_for_much_more_than_the_image_are_refused() {
    let shape = [20, 30, 4];
    let plain = bytes(&shape, 1);
    for codec in [&J2K, &HTJ2K] {
        let stream = encoded(codec, &block(&shape, 1, 'u', ""), &plain);
        let coding = stream.windows(2).position(|marker| marker == [0xff, 0x52]).unwrap();
        let refused = |place: usize, bytes: &[u8], removed: usize, why: &str| {
            let mut other = stream.clone();
            other.splice(place..place + removed, bytes.iter().copied());
            let error = decode(&other, 1, Order::Pixels, &mut vec![0; plain.len()]).unwrap_err();
            assert!(error.contains(why), "{error}");
        };
        refused(coding + 6, &[0xff, 0xff], 2, "packets");
        // 600 tiles of one pixel.
        refused(24, &[0, 0, 0, 1, 0, 0, 0, 1], 8, "2400 tiles");
        // A COD in what nobody knows, which OpenJPEG would find.
        refused(coding, &[0xff, 0x30, 0, 4, 0xff, 0x52], 0, "ff30");
    }
}
