//! Laws of BloscLZ's encoder, and what it must survive.

use super::super::decode::decode;
use super::{Encoder, FAR_END, FAR_START, RUN_MAX};

/// Xorshift; every test starts from a fixed seed.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.next().to_le_bytes()[4]).collect()
    }
}

/// Encodes at each level with as much room as is ever needed, decodes, compares; returns the sizes.
fn round_trips(encoder: &mut Encoder, bytes: &[u8]) -> Vec<Option<usize>> {
    let mut room = vec![0; bytes.len() + bytes.len() / RUN_MAX + 66];
    let mut sizes = Vec::new();
    for level in 1..=9 {
        let written = encoder.encode(level, bytes, &mut room);
        if let Some(written) = written {
            for filler in [0x00, 0xff] {
                let mut back = vec![filler; bytes.len()];
                assert_eq!(decode(&room[..written], &mut back), Ok(()), "level {level}, {}", bytes.len());
                assert!(back == bytes, "level {level}, {} bytes come back changed", bytes.len());
            }
        }
        sizes.push(written);
    }
    sizes
}

fn words(random: &mut Random, len: usize) -> Vec<u8> {
    let list =
        ["the ", "chunk ", "is ", "cut ", "into ", "blocks, ", "and ", "each ", "compressed ", "alone. "];
    let mut text = Vec::with_capacity(len + 16);
    while text.len() < len {
        let number = random.next() % 10;
        text.extend_from_slice(list[usize::try_from(number).unwrap()].as_bytes());
    }
    text.truncate(len);
    text
}

#[test]
fn every_small_size_round_trips() {
    let mut encoder = Encoder::new();
    let mut random = Random(1);
    for len in 0..300 {
        let noise = random.bytes(len);
        round_trips(&mut encoder, &noise);
        round_trips(&mut encoder, &vec![7; len]);
        round_trips(&mut encoder, &noise.iter().map(|byte| byte & 1).collect::<Vec<_>>());
        round_trips(&mut encoder, &words(&mut random, len));
    }
}

#[test]
fn every_small_period_round_trips_and_is_found() {
    let mut encoder = Encoder::new();
    let mut random = Random(2);
    for period in 1..100 {
        let unit = random.bytes(period);
        for len in [200, 1000, 5003] {
            let bytes: Vec<u8> = unit.iter().copied().cycle().take(len).collect();
            let sizes = round_trips(&mut encoder, &bytes);
            if len > 20 * period {
                assert!(sizes[6..].iter().all(|size| size.is_some_and(|size| size < 50 + 2 * period)));
            }
        }
    }
}

#[test]
fn far_matches_round_trip_and_stop_at_the_limit() {
    let mut encoder = Encoder::new();
    let end = FAR_END;
    let near = [8189, 8190, FAR_START - 1, FAR_START, FAR_START + 1, 16384, 65535, 65536];
    let all = near.into_iter().chain([end - 2, end - 1, end, end + 1, 73727, 73728, 80000]);
    for distance in all {
        let mut random = Random(3);
        let unit = random.bytes(40);
        let mut bytes = unit.clone();
        bytes.resize(distance, 0);
        bytes.extend_from_slice(&unit);
        bytes.extend_from_slice(&random.bytes(20));
        let sizes = round_trips(&mut encoder, &bytes);
        assert!(sizes.iter().all(|size| size.is_some_and(|size| size < 1000)), "{distance}");
    }
}

#[test]
fn large_inputs_of_many_kinds_round_trip() {
    let mut encoder = Encoder::new();
    let mut random = Random(4);
    for len in [4096, 32768, 100_003, 300_000] {
        let noise = random.bytes(len);
        assert!(round_trips(&mut encoder, &noise).iter().all(Option::is_none));
        round_trips(&mut encoder, &vec![0; len]);
        let text = words(&mut random, len);
        let sizes = round_trips(&mut encoder, &text);
        assert!(sizes[6..].iter().all(|size| size.is_some_and(|size| size < len)));
        for mask in [1, 3, 7, 15] {
            round_trips(&mut encoder, &noise.iter().map(|byte| byte & mask).collect::<Vec<_>>());
        }
        let ramp: Vec<u8> = (0..len).map(|at| (at / 37).to_le_bytes()[0]).collect();
        round_trips(&mut encoder, &ramp);
        let mut mixed = text;
        for (at, byte) in mixed.iter_mut().enumerate() {
            if (at / 5000) % 3 == 1 {
                *byte = noise[at];
            }
        }
        round_trips(&mut encoder, &mixed);
    }
}

#[test]
fn what_was_encoded_before_has_no_influence() {
    let mut random = Random(5);
    let inputs: Vec<Vec<u8>> = (0..40)
        .map(|number| {
            let len = 100 + usize::from(random.bytes(1)[0]) * 300;
            let mask = [1, 3, 15, 63][number % 4];
            random.bytes(len).iter().map(|byte| byte & mask).collect()
        })
        .collect();
    let encode = |encoder: &mut Encoder, level, bytes: &[u8]| {
        let mut room = vec![0; bytes.len()];
        encoder.encode(level, bytes, &mut room).map(|written| room[..written].to_vec())
    };
    let mut used = Encoder::new();
    for bytes in inputs.iter().chain(inputs.iter().rev()) {
        for level in 1..=9 {
            let alone = encode(&mut Encoder::new(), level, bytes);
            assert!(encode(&mut used, level, bytes) == alone);
            // Positions start again at the beginning shortly before their numbers end.
            let mut old = Encoder::new();
            old.table.fill(u32::MAX - 20_000);
            old.base = u32::MAX - 10_000 + low(bytes.len());
            assert!(encode(&mut old, level, bytes) == alone);
        }
    }
}

fn low(len: usize) -> u32 {
    u32::try_from(len % 1000).unwrap()
}

#[test]
fn no_room_is_none_and_what_fits_does_not_depend_on_the_room() {
    let mut encoder = Encoder::new();
    let text = words(&mut Random(6), 3000);
    for level in 4..=9 {
        let mut room = vec![0; 4000];
        let written = encoder.encode(level, &text, &mut room).expect("text is compressible");
        for len in (0..written + 70).rev() {
            let mut less = vec![0; len];
            let found = encoder.encode(level, &text, &mut less);
            assert!(found.is_none() || less[..found.unwrap()] == room[..written], "room {len}");
            assert!(found.is_some() == (len >= written), "room {len} of {written}");
        }
    }
}

#[test]
fn a_stream_starts_with_marked_literals() {
    let mut room = vec![0; 200];
    let written = Encoder::new().encode(5, &[9; 150], &mut room).expect("a run is compressible");
    assert!((32..64).contains(&room[0]), "{}", room[0]);
    assert!(written < 20, "{written}");
}
