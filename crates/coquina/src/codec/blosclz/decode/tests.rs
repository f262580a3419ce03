//! Laws of BloscLZ's decoder, and what it must survive.

use super::super::encode::Encoder;
use super::{DecodeError, decode};

/// The format text, read one byte at a time: the judge of the fast loops. None for any error.
fn naive(src: &[u8], len: usize) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let mut bytes = src.iter().copied();
    let mut control = bytes.next()? & 31;
    loop {
        if control < 32 {
            for _ in 0..=control {
                out.push(bytes.next()?);
            }
        } else {
            let mut length = u64::from(control >> 5) + 2;
            while length >= 9 {
                let more = bytes.next()?;
                length += u64::from(more);
                if more != 255 {
                    break;
                }
            }
            let low = bytes.next()?;
            let mut distance = usize::from(control & 31) * 256 + usize::from(low) + 1;
            if distance == 8192 {
                distance += usize::from(bytes.next()?) * 256 + usize::from(bytes.next()?);
            }
            for _ in 0..length {
                if out.len() > len {
                    return None;
                }
                out.push(*out.get(out.len().checked_sub(distance)?)?);
            }
            control = bytes.next()?;
            continue;
        }
        let Some(next) = bytes.next() else { break };
        control = next;
    }
    (out.len() == len).then_some(out)
}

/// Decodes into 0x00 and 0xFF, compares the two, and compares with `naive`.
fn agrees(src: &[u8], len: usize) -> Result<(), DecodeError> {
    let (mut zeros, mut ones) = (vec![0x00; len], vec![0xff; len]);
    let found = decode(src, &mut zeros);
    assert_eq!(decode(src, &mut ones), found);
    match naive(src, len) {
        Some(out) => {
            assert_eq!(found, Ok(()), "{src:02x?}");
            assert!(zeros == out && ones == out, "{src:02x?}");
        }
        None => assert!(found.is_err(), "{src:02x?}"),
    }
    found
}

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(end).unwrap()).unwrap()
    }

    fn byte(&mut self) -> u8 {
        self.next().to_le_bytes()[3]
    }
}

/// A valid stream of random instructions and the length of its output.
fn any_stream(random: &mut Random, instructions: usize) -> (Vec<u8>, usize) {
    let mut stream = Vec::new();
    let mut len = 0;
    let literals = |stream: &mut Vec<u8>, len: &mut usize, random: &mut Random| {
        let count = 1 + random.below(32);
        stream.push(u8::try_from(count - 1).unwrap());
        stream.extend((0..count).map(|_| random.byte()));
        *len += count;
    };
    literals(&mut stream, &mut len, random);
    for _ in 0..instructions {
        if random.below(3) == 0 {
            literals(&mut stream, &mut len, random);
            continue;
        }
        let reach = [2, 9, 20, 40, 400, 9000, 70000][random.below(7)].min(len);
        let distance = 1 + random.below(reach);
        let spread = [6, 30, 300, 2000][random.below(4)];
        let length = 3 + random.below(spread);
        let (high, low) =
            if distance < 8192 { ((distance - 1) / 256, (distance - 1) % 256) } else { (31, 255) };
        stream.push(u8::try_from(((length - 2).min(7) << 5) + high).unwrap());
        if length >= 9 {
            stream.extend(std::iter::repeat_n(255, (length - 9) / 255));
            stream.push(u8::try_from((length - 9) % 255).unwrap());
        }
        stream.push(u8::try_from(low).unwrap());
        if distance >= 8192 {
            stream.extend(u16::try_from(distance - 8192).unwrap().to_be_bytes());
        }
        len += length;
    }
    literals(&mut stream, &mut len, random);
    (stream, len)
}

#[test]
fn the_worked_example_of_the_format_decodes() {
    let stream = b"\x23abcd\xe0\x05\x03\x00z";
    let mut out = [0; 19];
    assert_eq!(decode(stream, &mut out), Ok(()));
    assert_eq!(&out, b"abcdabcdabcdabcdabz");
}

#[test]
fn each_error_has_its_class_and_its_values() {
    let mut out = [0; 19];
    let too_far = b"\x23abcd\xe0\x05\x04\x00z";
    let cases: [(&[u8], DecodeError); 9] = [
        (b"", DecodeError::Empty),
        (b"\x23", DecodeError::Truncated { at: 0 }),
        (b"\x23abc", DecodeError::Truncated { at: 0 }),
        (b"\x23abcd\xe0", DecodeError::Truncated { at: 5 }),
        (b"\x23abcd\x3f\xff\x00", DecodeError::Truncated { at: 5 }),
        (b"\x23abcd\xe0\x05\x03", DecodeError::EndsInMatch { at: 5 }),
        (too_far, DecodeError::DistanceBeforeStart { distance: 5, written: 4 }),
        (b"\x23abcd\xe0\x07\x03\x00z", DecodeError::OutputTooLong { expected: 19 }),
        (b"\x23abcd\xe0\x04\x03\x00z", DecodeError::OutputTooShort { written: 18, expected: 19 }),
    ];
    for (stream, error) in cases {
        assert_eq!(decode(stream, &mut out), Err(error), "{stream:02x?}");
        assert!(agrees(stream, 19).is_err());
    }
    assert!(decode(too_far, &mut out).unwrap_err().to_string().contains("5 bytes back where only 4"));
}

/// C-Blosc2 issue 801: the sum of extension bytes went past 32 bits and the check of the length with it.
#[test]
fn a_match_length_beyond_all_bounds_is_an_error() {
    let mut stream = b"\x23abcd\xe0".to_vec();
    stream.extend(std::iter::repeat_n(255, (1 << 24) + (1 << 17)));
    stream.extend(b"\x05\x03\x00z");
    let expected = 4096;
    assert_eq!(decode(&stream, &mut vec![0; expected]), Err(DecodeError::OutputTooLong { expected }));
    assert_eq!(decode(&stream[..1 << 23], &mut [0; 10]), Err(DecodeError::OutputTooLong { expected: 10 }));
}

#[test]
fn every_distance_and_length_repeats_as_the_naive_loop_does() {
    let mut random = Random(11);
    for distance in 1..=70 {
        for length in (3..=150).chain([255, 263, 264, 265, 518, 519, 520, 1000]) {
            let mut stream = Vec::new();
            for _ in 0..3 {
                stream.push(31);
                stream.extend((0..32).map(|_| random.byte()));
            }
            let control = u8::try_from((length - 2).min(7)).unwrap() << 5;
            stream.push(control);
            if length >= 9 {
                stream.extend(std::iter::repeat_n(255, (length - 9) / 255));
                stream.push(u8::try_from((length - 9) % 255).unwrap());
            }
            stream.extend([u8::try_from(distance - 1).unwrap(), 0, 7]);
            assert_eq!(agrees(&stream, 96 + length + 1), Ok(()));
            // With output behind it, the match goes through the loop of whole blocks.
            for _ in 0..4 {
                stream.push(31);
                stream.extend((0..32).map(|_| random.byte()));
            }
            assert_eq!(agrees(&stream, 96 + length + 1 + 128), Ok(()));
        }
    }
}

#[test]
fn streams_of_random_instructions_decode_as_the_naive_loop_does() {
    let mut random = Random(12);
    for round in 0..3000 {
        let (stream, len) = any_stream(&mut random, round % 60);
        assert_eq!(agrees(&stream, len), Ok(()));
        assert!(agrees(&stream, len + 1).is_err());
        assert!(agrees(&stream, len - 1).is_err());
    }
}

#[test]
fn every_prefix_and_every_flipped_bit_is_an_error_or_a_value() {
    let mut random = Random(13);
    let mut streams: Vec<_> = (0..12).map(|round| any_stream(&mut random, round * 3)).collect();
    for step in [1, 3, 50] {
        let bytes: Vec<u8> = (0..2000_usize).map(|at| (at * at / (7 * step)).to_le_bytes()[0]).collect();
        let mut room = vec![0; 3000];
        if let Some(written) = Encoder::new().encode(9, &bytes, &mut room) {
            streams.push((room[..written].to_vec(), bytes.len()));
        }
    }
    for (stream, len) in streams {
        for end in 0..stream.len() {
            assert!(agrees(&stream[..end], len).is_err(), "a prefix of {end} bytes");
        }
        for bit in 0..stream.len() * 8 {
            let mut damaged = stream.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            let _ = agrees(&damaged, len);
        }
    }
}

#[test]
fn garbage_is_an_error_or_a_value() {
    let mut random = Random(14);
    for _ in 0..100_000 {
        let count = random.below(200);
        let mask = [0xff, 0x3f, 0xe7][random.below(3)];
        let stream: Vec<u8> = (0..count).map(|_| random.byte() & mask).collect();
        let len = random.below(300);
        let _ = agrees(&stream, len);
    }
}
