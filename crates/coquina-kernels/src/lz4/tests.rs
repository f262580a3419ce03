//! Laws of the LZ4 doors: round trips, no memory of former uses, hostile bytes.

use super::{FastDictionary, FastState, HcDictionary, HcState, Malformed};
use super::{compressed_bytes_max, decompress, decompress_with, far_from_the_ends};
use crate::level::{Isa, Level, levels};
use crate::testing::Random;

const SEED: u64 = 0x1A4;

/// Bytes between noise and a run, as `kind` says.
fn sample(random: &mut Random, bytes: usize, kind: u64) -> Vec<u8> {
    let noise = random.bytes(bytes);
    match kind % 4 {
        0 => noise,
        1 => noise.iter().map(|byte| byte & 3).collect(),
        2 => (0..bytes).map(|place| noise[place / 16 * 16 / 7 % bytes]).collect(),
        _ => vec![7; bytes],
    }
}

fn lengths() -> impl Iterator<Item = usize> {
    (0..=40).chain([100, 255, 300, 4095, 4096, 4097, 12_000, 65_546, 65_547, 70_000, 200_000])
}

/// Compresses in every way there is: (name, answer, dictionary of the decoder).
fn all_ways(
    fast: &mut FastState,
    hc: &mut HcState,
    dictionary: &[u8],
    src: &[u8],
) -> Vec<(String, Option<Vec<u8>>, bool)> {
    let room = compressed_bytes_max(src.len()).expect("a short input");
    let mut dst = vec![0xEE; room];
    let mut ways = Vec::new();
    let mut keep = |name: String, answer: Option<usize>, dst: &[u8], with: bool| {
        ways.push((name, answer.map(|bytes| dst[..bytes].to_vec()), with));
    };
    let prepared = FastDictionary::new(dictionary);
    for acceleration in [-3, 1, 2, 9, 100_000] {
        let answer = fast.compress(src, &mut dst, acceleration);
        keep(format!("fast {acceleration}"), answer, &dst, false);
        let answer = fast.compress_with(&prepared, src, &mut dst, acceleration);
        keep(format!("fast {acceleration} with dictionary"), answer, &dst, true);
    }
    for level in [-1, 1, 2, 3, 9, 10, 12, 40] {
        let answer = hc.compress(src, &mut dst, level);
        keep(format!("hc {level}"), answer, &dst, false);
        let prepared = HcDictionary::new(dictionary, level);
        let answer = hc.compress_with(&prepared, src, &mut dst);
        keep(format!("hc {level} with dictionary"), answer, &dst, true);
    }
    ways
}

#[test]
fn decompressing_what_was_compressed_is_the_identity() {
    let mut random = Random::new(SEED);
    let (mut fast, mut hc) = (FastState::new(), HcState::new());
    for (number, bytes) in lengths().enumerate() {
        let src = sample(&mut random, bytes, number as u64);
        let dictionary_bytes = [0, 3, 8, 1000, 65_536, 100_000][number % 6];
        let dictionary = sample(&mut random, dictionary_bytes, number as u64 / 6);
        for (name, block, with) in all_ways(&mut fast, &mut hc, &dictionary, &src) {
            let block = block.unwrap_or_else(|| panic!("{name}: {bytes} bytes do not fit"));
            for (fill, &level) in
                [0x00, 0xFF].into_iter().flat_map(|fill| levels().iter().map(move |l| (fill, l)))
            {
                let mut back = vec![fill; bytes];
                let answer = match with {
                    true => decompress_with(&dictionary, &block, &mut back),
                    false => decompress(level, &block, &mut back),
                };
                assert_eq!(answer, Ok(bytes), "{name}: {bytes} bytes");
                assert!(back == src, "{name}: {bytes} bytes come back otherwise");
            }
        }
    }
}

#[test]
fn a_used_state_compresses_as_a_new_one_does() {
    let mut random = Random::new(SEED + 1);
    let (mut fast, mut hc) = (FastState::new(), HcState::new());
    let dictionary = sample(&mut random, 20_000, 2);
    let sizes: Vec<usize> = lengths().collect();
    for turn in 0..60 {
        let bytes = sizes[random.below(sizes.len())];
        let src = sample(&mut random, bytes, turn);
        let used = all_ways(&mut fast, &mut hc, &dictionary, &src);
        let new = all_ways(&mut FastState::new(), &mut HcState::new(), &dictionary, &src);
        assert!(used == new, "turn {turn}, {bytes} bytes: the state's past shows");
    }
}

#[test]
fn a_dictionary_makes_blocks_that_repeat_it_small() {
    let mut random = Random::new(SEED + 2);
    let dictionary = random.bytes(70_000);
    let src = &dictionary[30_000..32_000];
    let mut dst = vec![0; 4000];
    let fast = FastState::new().compress_with(&FastDictionary::new(&dictionary), src, &mut dst, 1);
    assert!(fast.is_some_and(|bytes| bytes < 100), "{fast:?}");
    for level in 1..=12 {
        let prepared = HcDictionary::new(&dictionary, level);
        assert_eq!(prepared.content().len(), 65_536);
        let hc = HcState::new().compress_with(&prepared, src, &mut dst);
        assert!(hc.is_some_and(|bytes| bytes < 100), "level {level}: {hc:?}");
    }
}

#[test]
fn what_does_not_fit_is_refused_and_nothing_is_written_beyond_the_room() {
    let mut random = Random::new(SEED + 3);
    let src = random.bytes(1000);
    let (mut fast, mut hc) = (FastState::new(), HcState::new());
    for room in [0, 1, 2, 10, 500, 1000] {
        let mut dst = vec![0x5A; room + 64];
        assert_eq!(fast.compress(&src, &mut dst[..room], 1), None, "room {room}");
        assert_eq!(hc.compress(&src, &mut dst[..room], 9), None, "room {room}");
        assert_eq!(hc.compress(&src, &mut dst[..room], 1), None, "room {room}");
        assert!(dst[room..].iter().all(|&byte| byte == 0x5A), "room {room}");
    }
}

#[test]
fn hostile_blocks_give_an_error_or_defined_bytes() {
    let mut random = Random::new(SEED + 4);
    let src = sample(&mut random, 600, 2);
    let dictionary = sample(&mut random, 300, 1);
    let mut block = vec![0; 2000];
    let prepared = FastDictionary::new(&dictionary);
    let bytes = FastState::new().compress_with(&prepared, &src, &mut block, 1).expect("it fits");
    block.truncate(bytes);
    let check = |hostile: &[u8]| {
        for dictionary in [&dictionary[..], &[]] {
            let (mut low, mut high) = (vec![0x00; 600], vec![0xFF; 600]);
            let answer = decompress_with(dictionary, hostile, &mut low);
            assert_eq!(answer, decompress_with(dictionary, hostile, &mut high));
            if let Ok(written) = answer {
                assert!(low[..written] == high[..written], "bytes that were never written");
            }
        }
    };
    for cut in 0..bytes {
        check(&block[..cut]);
    }
    for bit in 0..8 * bytes {
        block[bit / 8] ^= 1 << (bit % 8);
        check(&block);
        block[bit / 8] ^= 1 << (bit % 8);
    }
    for &level in levels() {
        assert_eq!(decompress(level, &[], &mut [0; 4]), Err(Malformed));
        assert_eq!(decompress(level, &[0], &mut []), Ok(0));
    }
}

/// Noise, and repetitions of every period and length that the decoder tells apart.
fn repetitions(random: &mut Random, bytes: usize) -> Vec<u8> {
    let mut made = random.bytes(40);
    while made.len() < bytes {
        let noise = [0, 1, 3, 14, 15, 16, 300][random.below(7)];
        made.extend(random.bytes(noise));
        let reach = [40, 40, 40, 6000][random.below(4)];
        let period = 1 + random.below(reach.min(made.len()));
        let lengths = [4, 5, 15, 16, 17, 18, 19, 31, 32, 33, 34, 47, 64, 273, 274, 700, bytes / 4];
        let length = lengths[random.below(lengths.len())];
        for _ in 0..length {
            made.push(made[made.len() - period]);
        }
    }
    made.truncate(bytes);
    made
}

/// What liblz4 alone makes of a block, and what every level makes of it: the same answers and bytes.
fn check_levels(block: &[u8], bytes: usize, what: &str) {
    let mut expected = vec![0x5A; bytes];
    let answer = decompress(Level(Isa::Portable), block, &mut expected);
    for &level in levels() {
        for fill in [0x00, 0xFF] {
            let mut found = vec![fill; bytes + 64];
            let (out, behind) = found.split_at_mut(bytes);
            assert_eq!(decompress(level, block, out), answer, "{what}, {level:?}");
            assert!(behind.iter().all(|&byte| byte == fill), "{what}, {level:?}: bytes behind the room");
            let written = answer.unwrap_or(0);
            assert!(out[..written] == expected[..written], "{what}, {level:?}: other bytes");
        }
    }
}

#[test]
fn every_level_decodes_as_liblz4_does() {
    let mut random = Random::new(SEED + 5);
    for turn in 0..400 {
        let bytes = [60, 100, 200, 1000, 3000, 70_000][turn % 6] + random.below(70);
        let src = repetitions(&mut random, bytes);
        let mut block = vec![0; compressed_bytes_max(bytes).expect("a short input")];
        let written = match turn % 2 {
            0 => FastState::new().compress(&src, &mut block, 1),
            _ => HcState::new().compress(&src, &mut block, 9),
        };
        block.truncate(written.expect("it fits"));
        for room in [bytes - 1, bytes, bytes + 1, bytes + 100] {
            check_levels(&block, room, &format!("turn {turn}, room for {room} of {bytes}"));
        }
    }
}

#[test]
fn every_level_takes_hostile_blocks_as_liblz4_does() {
    let mut random = Random::new(SEED + 6);
    for turn in 0..12 {
        let src = repetitions(&mut random, 900);
        let mut block = vec![0; 2000];
        let bytes = FastState::new().compress(&src, &mut block, 1).expect("it fits");
        block.truncate(bytes);
        for cut in 0..bytes {
            check_levels(&block[..cut], 900, &format!("turn {turn}, {cut} of {bytes}"));
        }
        for bit in 0..8 * bytes {
            block[bit / 8] ^= 1 << (bit % 8);
            check_levels(&block, 900, &format!("turn {turn}, bit {bit}"));
            block[bit / 8] ^= 1 << (bit % 8);
        }
    }
}

#[test]
fn most_of_a_block_is_decoded_far_from_its_ends() {
    let mut random = Random::new(SEED + 7);
    let mut src = repetitions(&mut random, 59_800);
    src.extend(random.bytes(200));
    let mut block = vec![0; 70_000];
    let bytes = FastState::new().compress(&src, &mut block, 1).expect("it fits");
    for &level in levels() {
        let done = far_from_the_ends(level, &block[..bytes], &mut vec![0; 60_000]);
        match level.0 {
            Isa::Portable => assert_eq!((done.read, done.written), (0, 0)),
            _ => assert!(done.written > 59_000 && done.read > bytes - 1000, "{level:?}: {done:?}"),
        }
    }
}
