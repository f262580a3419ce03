//! Chunks that the libraries wrote, with the bytes that they read in them, held against our decoders.
//!
//! The golden files are records one after another, all numbers little-endian: name (`u8` length, text),
//! filter id (`u16`), parameters (`u16` number, `u32` each), the stored chunk and the decoded one (`u32`
//! length, bytes). They are made by `tests/golden/make_hdf5_filters.py`.

use std::fs;
use std::path::PathBuf;

use sha2::{Digest as _, Sha256};

use super::{Filter, by_id};
use crate::base::bytes::ByteReader;

struct Vector {
    name: String,
    filter: &'static dyn Filter,
    values: Vec<u32>,
    stored: Vec<u8>,
    decoded: Vec<u8>,
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/hdf5-filters")
}

fn take(reader: &mut ByteReader<'_>, len: usize) -> Vec<u8> {
    (0..len).map(|_| reader.u8("record").unwrap()).collect()
}

fn vectors_of(bytes: &[u8]) -> Vec<Vector> {
    let reader = &mut ByteReader::new(bytes);
    let mut vectors = Vec::new();
    while let Ok(len) = reader.u8("name") {
        let name = String::from_utf8(take(reader, len.into())).unwrap();
        let [id, count] = [(); 2].map(|()| u16::from_le_bytes(reader.array("id and number").unwrap()));
        let values = (0..count).map(|_| reader.u32_le("value").unwrap()).collect();
        let [stored, decoded] = [(); 2].map(|()| {
            let len = reader.u32_le("length").unwrap() as usize;
            take(reader, len)
        });
        let filter = by_id(id).unwrap_or_else(|| panic!("{name}: filter {id}"));
        vectors.push(Vector { name, filter, values, stored, decoded });
    }
    vectors
}

/// What the decoder makes of these bytes; the same over zeros and over ones, so that nothing is left as it
/// was.
fn decode(vector: &Vector, stored: &[u8]) -> Option<Vec<u8>> {
    let decode_over = |fill| {
        let mut out = vec![fill; vector.decoded.len()];
        vector.filter.decode(stored, &vector.values, &mut out).map(|()| out)
    };
    match (decode_over(0), decode_over(0xff)) {
        (Ok(zeros), Ok(ones)) => {
            assert!(zeros == ones, "{}", vector.name);
            Some(zeros)
        }
        (Err(_), Err(_)) => None,
        (zeros, ones) => panic!("{}: {:?} over zeros, {:?} over ones", vector.name, zeros.err(), ones.err()),
    }
}

fn golden() -> Vec<Vector> {
    let manifest = fs::read_to_string(folder().join("MANIFEST")).unwrap();
    let files = manifest.lines().map(|line| line.split_once(' ').unwrap().1);
    files.flat_map(|name| vectors_of(&fs::read(folder().join(name)).unwrap())).collect()
}

#[test]
fn golden_files_are_never_rewritten() {
    let manifest = fs::read_to_string(folder().join("MANIFEST")).unwrap();
    for line in manifest.lines() {
        let (hash, name) = line.split_once(' ').unwrap();
        let bytes = fs::read(folder().join(name)).unwrap();
        let found: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(found, hash, "{name}");
    }
    let files = fs::read_dir(folder()).unwrap().count();
    assert_eq!(files, manifest.lines().count() + 1, "every golden file has its line in the manifest");
}

#[test]
fn golden_chunks_decode_to_what_their_library_read() {
    let vectors = golden();
    for id in [3, 4, 5, 6, 307, 32000, 32001, 32004, 32008, 32015, 32026] {
        assert!(vectors.iter().filter(|vector| vector.filter.id() == id).count() >= 5, "{id}");
    }
    for vector in &vectors {
        let decoded = decode(vector, &vector.stored);
        assert!(decoded.is_some_and(|decoded| decoded == vector.decoded), "{}", vector.name);
        let bytes = vector.filter.decoded_bytes(&vector.stored, &vector.values).unwrap();
        assert!(bytes.is_none_or(|bytes| bytes == vector.decoded.len()), "{}: {bytes:?}", vector.name);
        for len in [0, 1, vector.decoded.len() - 1, vector.decoded.len() + 1] {
            let is_same = len == vector.decoded.len();
            let decoded = vector.filter.decode(&vector.stored, &vector.values, &mut vec![0; len]);
            assert_eq!(decoded.is_ok(), is_same, "{}: {len}", vector.name);
        }
    }
}

#[test]
fn a_cut_chunk_is_an_error_unless_nothing_was_missing() {
    for vector in golden() {
        for len in 0..vector.stored.len() {
            let decoded = decode(&vector, &vector.stored[..len]);
            assert!(decoded.is_none_or(|decoded| decoded == vector.decoded), "{}: {len}", vector.name);
        }
    }
}

#[test]
fn a_flipped_bit_gives_a_value_or_an_error() {
    for vector in golden() {
        let mut stored = vector.stored.clone();
        for bit in 0..stored.len() * 8 {
            stored[bit / 8] ^= 1 << (bit % 8);
            decode(&vector, &stored);
            stored[bit / 8] ^= 1 << (bit % 8);
        }
    }
}

#[test]
fn changed_parameters_give_a_value_or_an_error() {
    for mut vector in golden() {
        for number in 0..vector.values.len() {
            let value = vector.values[number];
            for changed in [0, 1, value ^ 2, value.wrapping_sub(1), value.wrapping_mul(2), 1 << 31, u32::MAX]
            {
                vector.values[number] = changed;
                decode(&vector, &vector.stored);
                let _ = vector.filter.decoded_bytes(&vector.stored, &vector.values);
            }
            vector.values[number] = value;
        }
    }
}
