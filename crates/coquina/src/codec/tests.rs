//! Laws that every row of [`CODECS`] obeys.

use super::*;

/// Bytes like those of a shuffled field: runs, ramps and noise. The same on every machine.
fn sample(bytes: usize) -> Vec<u8> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    (0..bytes)
        .map(|i| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            match i / 700 % 3 {
                0 => 7,
                1 => (i / 3 % 251).to_le_bytes()[0],
                _ => state.to_le_bytes()[0] & 0x1f,
            }
        })
        .collect()
}

fn encoder(codec: &dyn Codec, level: u8, dictionary: &[u8]) -> Result<Box<dyn Encode>> {
    codec.encoder(&EncodeOptions { level, dictionary, ..EncodeOptions::default() })
}

/// Those that work on any bytes; the others have laws of their own beside them.
fn writable() -> impl Iterator<Item = &'static dyn Codec> {
    CODECS.iter().copied().filter(|codec| codec.is_writable_in_blosc1() && codec.streams() == Streams::Bytes)
}

#[test]
fn ids_and_names_are_those_of_the_format_for_ever() {
    let rows: Vec<_> = CODECS.iter().map(|c| (c.id(), c.format(), c.name())).collect();
    let known = [
        (0, 0, "blosclz"),
        (1, 1, "lz4"),
        (2, 1, "lz4hc"),
        (3, 2, "snappy"),
        (4, 3, "zlib"),
        (5, 4, "zstd"),
        (32, 6, "ndlz"),
        (33, 6, "zfp_accuracy"),
        (34, 6, "zfp_precision"),
        (35, 6, "zfp_rate"),
        (224, 6, "predict"),
    ];
    assert_eq!(rows, known);
    for codec in CODECS {
        assert_eq!(by_name(codec.name()).unwrap().id(), codec.id());
        assert_eq!(by_id(codec.id()).unwrap().name(), codec.name());
    }
    assert_eq!(by_format(1).unwrap().name(), "lz4");
    assert!(by_format(6).is_err() && by_format(5).is_err());
    assert!(by_id(39).err().unwrap().to_string().contains("j2k"));
}

#[test]
fn decoding_what_was_encoded_gives_the_stream_back() {
    for codec in writable() {
        for level in 1..=LEVEL_MAX {
            let encoder = encoder(codec, level, &[]).unwrap();
            let decoder = codec.decoder(&DecodeOptions::default()).unwrap();
            for bytes in [17, 100, 1000, 66_000] {
                let stream = sample(bytes);
                let mut coded = vec![0; bytes];
                let Some(length) = encoder.encode(&stream, &mut coded).unwrap() else { continue };
                for fill in [0, 255] {
                    let mut decoded = vec![fill; bytes];
                    decoder.decode(&coded[..length], &mut decoded).unwrap();
                    assert_eq!(decoded, stream, "{} {level} {bytes}", codec.name());
                }
            }
        }
    }
}

#[test]
fn encoded_bytes_do_not_depend_on_what_went_before() {
    for codec in writable() {
        let encode = |level, stream: &[u8]| {
            let mut coded = vec![0; stream.len()];
            let length = encoder(codec, level, &[]).unwrap().encode(stream, &mut coded).unwrap();
            coded.truncate(length.unwrap_or(0));
            coded
        };
        let stream = sample(5000);
        let fresh = std::thread::scope(|s| s.spawn(|| encode(3, &stream)).join().unwrap());
        for (level, bytes) in [(9, 90_000), (1, 50), (3, 70_000), (5, 5001)] {
            encode(level, &sample(bytes));
            assert_eq!(encode(3, &stream), fresh, "{} after level {level}", codec.name());
        }
    }
}

#[test]
fn leading_noise_is_kept_in_one_stream_with_the_rest() {
    let mut state = 7_u64;
    let mut random = || {
        state = state.wrapping_mul(0x2545_f491_4f6c_dd1d).rotate_left(23) ^ 0x5bd1_e995;
        state.to_le_bytes()[5]
    };
    let noise: Vec<u8> = (0..70_000).map(|_| random()).collect();
    for shape in [Shape::Plain, Shape::Planes, Shape::BitPlanes, Shape::DeltaPlanes] {
        for noise_bytes in [0, 16_384, 40_000, 70_000] {
            for tail in [&b"x"[..], &sample(100)[..], &sample(60_000)[600..]] {
                let stream = [&noise[..noise_bytes], tail].concat();
                for codec in writable() {
                    for level in 1..=LEVEL_MAX {
                        let options = EncodeOptions { level, shape, ..EncodeOptions::default() };
                        let mut coded = vec![0; stream.len() + 100];
                        let length = codec.encoder(&options).unwrap().encode(&stream, &mut coded).unwrap();
                        let Some(length) = length else { continue };
                        let mut decoded = vec![0; stream.len()];
                        codec
                            .decoder(&DecodeOptions::default())
                            .unwrap()
                            .decode(&coded[..length], &mut decoded)
                            .unwrap();
                        assert!(decoded == stream, "{} {level} {shape:?} {noise_bytes}", codec.name());
                    }
                }
            }
        }
    }
}

#[test]
fn a_stream_that_does_not_fit_is_said_not_to() {
    for codec in writable() {
        let stream = sample(5000);
        let mut coded = vec![0; 40];
        assert!(
            encoder(codec, 5, &[]).unwrap().encode(&stream, &mut coded).unwrap().is_none(),
            "{}",
            codec.name()
        );
    }
}

#[test]
fn dictionaries_serve_the_codecs_that_take_one_and_no_other() {
    let dictionary = sample(4000);
    let stream = &sample(6000)[1500..3000];
    for codec in writable() {
        if !codec.takes_dictionary() {
            assert!(
                encoder(codec, 5, &dictionary).is_err()
                    && codec
                        .decoder(&DecodeOptions { dictionary: &dictionary, ..DecodeOptions::default() })
                        .is_err()
            );
            continue;
        }
        let mut coded = vec![0; stream.len()];
        let length = encoder(codec, 5, &dictionary).unwrap().encode(stream, &mut coded).unwrap().unwrap();
        let alone =
            encoder(codec, 5, &[]).unwrap().encode(stream, &mut vec![0; stream.len()]).unwrap().unwrap();
        assert!(length < alone, "{}: {length} with a dictionary, {alone} without", codec.name());
        let mut decoded = vec![0; stream.len()];
        codec
            .decoder(&DecodeOptions { dictionary: &dictionary, ..DecodeOptions::default() })
            .unwrap()
            .decode(&coded[..length], &mut decoded)
            .unwrap();
        assert_eq!(decoded, stream, "{}", codec.name());
    }
}

#[test]
fn cut_and_flipped_streams_give_an_error_or_bytes_but_never_a_panic() {
    for codec in writable() {
        let stream = sample(1000)[600..].repeat(4);
        let mut coded = vec![0; stream.len()];
        let length = encoder(codec, 5, &[]).unwrap().encode(&stream, &mut coded).unwrap().unwrap();
        let coded = &coded[..length];
        let decoder = codec.decoder(&DecodeOptions::default()).unwrap();
        let mut out = vec![0; stream.len()];
        for end in 0..coded.len() {
            assert!(decoder.decode(&coded[..end], &mut out).is_err(), "{} cut at {end}", codec.name());
        }
        for bit in 0..8 * coded.len() {
            let mut flipped = coded.to_vec();
            flipped[bit / 8] ^= 1 << (bit % 8);
            let (mut zeros, mut ones) = (vec![0; stream.len()], vec![255; stream.len()]);
            let results = [decoder.decode(&flipped, &mut zeros), decoder.decode(&flipped, &mut ones)];
            assert_eq!(results[0].is_ok(), results[1].is_ok());
            if results[0].is_ok() {
                assert_eq!(zeros, ones, "{} bit {bit}: bytes that were not written", codec.name());
            }
        }
        for wrong in [stream.len() - 1, stream.len() + 1] {
            assert!(decoder.decode(coded, &mut vec![0; wrong]).is_err(), "{} into {wrong}", codec.name());
        }
    }
}

/// How many sequences the blocks of a Zstd frame have, none of them raw: RFC 8878, sections 3.1.1.1 to 3.1.1.3.2.
fn zstd_sequences(frame: &[u8]) -> usize {
    let content_size_bytes = [1, 2, 4, 8][usize::from(frame[4] >> 6)];
    assert_eq!(frame[4] & 0x23, 0x20, "a single segment without a dictionary");
    let (mut at, mut sequences) = (5 + content_size_bytes, 0);
    loop {
        let header =
            usize::from(frame[at]) | usize::from(frame[at + 1]) << 8 | usize::from(frame[at + 2]) << 16;
        let (is_last, kind, bytes) = (header & 1 == 1, header >> 1 & 3, header >> 3);
        assert_eq!(kind, 2, "a compressed block");
        let block = &frame[at + 3..][..bytes];
        let first = block.iter().take(5).rev().fold(0_u64, |word, &byte| word << 8 | u64::from(byte));
        let is_coded = first & 3 >= 2;
        // Raw literals and runs say one size; coded ones two.
        let literals = match (is_coded, first >> 2 & 3) {
            (false, 0 | 2) => 1 + (first >> 3 & 0x1f),
            (false, 1) => 2 + (first >> 4 & 0xfff),
            (false, _) => 3 + (first >> 4 & 0xf_ffff),
            (true, 0 | 1) => 3 + (first >> 14 & 0x3ff),
            (true, 2) => 4 + (first >> 18 & 0x3fff),
            (true, _) => 5 + (first >> 22 & 0x3_ffff),
        };
        sequences += usize::from(block[usize::try_from(literals).unwrap()]);
        at += 3 + bytes;
        if is_last {
            return sequences;
        }
    }
}

#[test]
fn zstd_codes_skewed_bytes_without_repeats_by_their_frequencies() {
    let mut state = 1_u64;
    // One of 16 letters, a quarter of them zeros: 3.4 bits each.
    let mut letter = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let [.., high, highest] = state.to_le_bytes();
        if highest < 64 { 0 } else { high & 0x0f }
    };
    let stream: Vec<u8> = (0..16384).map(|_| letter()).collect();
    let wanted = frequencies::coded_bytes(&stream);
    let repeated = stream[..2000].repeat(8);
    let noisy: Vec<u8> = (0..8000).map(|_| letter() << 4 | letter()).collect();
    for level in 1..=LEVEL_MAX {
        let zstd = by_name("zstd").unwrap();
        let coded = |stream: &[u8]| {
            let mut out = vec![0; stream.len()];
            let bytes = encoder(zstd, level, &[]).unwrap().encode(stream, &mut out).unwrap().unwrap();
            let mut back = vec![0; stream.len()];
            let decoder = zstd.decoder(&DecodeOptions::default()).unwrap();
            decoder.decode(&out[..bytes], &mut back).unwrap();
            assert_eq!(back, stream);
            (bytes, zstd_sequences(&out[..bytes]))
        };
        let (bytes, sequences) = coded(&stream);
        // A search alone takes a tenth more at most levels.
        assert!(bytes < wanted + wanted / 32, "level {level}: {bytes} for {wanted}");
        assert_eq!(sequences, 0, "level {level}");
        let (bytes, sequences) = coded(&repeated);
        assert!(bytes < wanted / 4 && sequences > 0, "level {level}");
        // Where values are many, what a search has found is left.
        assert!(coded(&noisy).0 < noisy.len(), "level {level}");
    }
}
