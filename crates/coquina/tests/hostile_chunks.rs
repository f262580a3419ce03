//! Golden chunks of the peers, and what becomes of them when they are cut, flipped and lied about.

#![expect(clippy::unwrap_used, reason = "a helper that fails fails its test")]

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use coquina::chunk::{Chunk, Generation, LazyChunk, Params, Place, Special, encode, encode_special, sums};
use coquina::codec::{CODECS, Streams};
use coquina::filter::{Pipeline, Slot};
use coquina::{Error, ErrorKind, Job, Limits, ReadAt};
use sha2::{Digest, Sha256};

fn golden_folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden")
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The lines of the manifest: name, hash of the file, hash of what it decodes to.
fn manifest() -> Vec<(String, String, String)> {
    let text = fs::read_to_string(golden_folder().join("MANIFEST")).unwrap();
    let fields = |line: &str| {
        let mut words = line.split_whitespace().map(str::to_owned);
        let (file, decoded, name) = (words.next().unwrap(), words.next().unwrap(), words.next().unwrap());
        (name, file, decoded)
    };
    text.lines().map(fields).collect()
}

fn golden_chunks() -> Vec<(String, Vec<u8>)> {
    let read = |(name, ..): (String, String, String)| {
        let bytes = fs::read(golden_folder().join(&name)).unwrap();
        (name, bytes)
    };
    manifest().into_iter().map(read).collect()
}

/// Small chunks of ours: each codec, each kind, each generation.
fn own_chunks() -> Vec<(String, Vec<u8>)> {
    let bytes: Vec<u8> = (0..700_u32).flat_map(|i| (i * i / 50 % 4000).to_le_bytes()).take(1501).collect();
    let mut chunks = Vec::new();
    for codec in CODECS.iter().copied().filter(|c| c.is_writable_in_blosc1() && c.streams() == Streams::Bytes)
    {
        for (what, ids, generation, dictionary) in [
            ("shuffle", &[1][..], Generation::Blosc2, false),
            ("delta and bitshuffle", &[3, 2], Generation::Blosc2, false),
            ("dictionary", &[], Generation::Blosc2, true),
            ("blosc1", &[1], Generation::Blosc1, false),
        ] {
            if generation == Generation::Blosc2 && !codec.is_writable() {
                continue;
            }
            let slots: Vec<_> = ids.iter().map(|&id| Slot { id, meta: 0 }).collect();
            let pipeline = Pipeline::new(&slots).unwrap();
            let dictionary = dictionary && codec.takes_dictionary();
            let params = Params {
                codec,
                typesize: 4,
                pipeline,
                blocksize: Some(512),
                dictionary,
                generation,
                ..Params::default()
            };
            chunks.push((
                format!("{} {what}", codec.name()),
                encode(&bytes, &params, &Job::default()).unwrap(),
            ));
        }
    }
    let stored = Params { level: 0, ..Params::default() };
    chunks.push(("stored".into(), encode(&bytes[..100], &stored, &Job::default()).unwrap()));
    chunks.push(("empty".into(), encode(&[], &stored, &Job::default()).unwrap()));
    chunks.push(("value".into(), encode_special(Special::Value, b"abc", 300, 3).unwrap()));
    chunks.push(("nans".into(), encode_special(Special::Nans, &[], 400, 8).unwrap()));
    chunks
}

fn all_chunks() -> Vec<(String, Vec<u8>)> {
    [golden_chunks(), own_chunks()].concat()
}

/// More than any of the chunks here decodes to, little enough that a lie about a size is refused.
const LIMITS: Limits = Limits { chunk_bytes: 1 << 20 };

fn decode_over(chunk: &[u8], fill: u8) -> Result<Vec<u8>, Error> {
    let chunk = Chunk::parse(chunk, &LIMITS)?;
    let mut out = vec![fill; chunk.header().nbytes];
    chunk.decode_into(&mut out, &Job::default().threads(Some(1)))?;
    Ok(out)
}

/// Bytes that can be had only by reading.
struct File(Vec<u8>);

impl ReadAt for File {
    fn len(&self) -> Result<u64, Error> {
        ReadAt::len(&self.0)
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> Result<(), Error> {
        self.0.read_exact_at(buffer, offset)
    }
}

/// Decodes a chunk in a file block by block, as far as its neighbours let it be found.
fn decode_lazily(chunk: &[u8]) -> Result<Vec<u8>, Error> {
    let place = Place { at: 0, room: chunk.len() as u64, sum: None };
    let lazy = LazyChunk::open(Arc::new(File(chunk.to_vec())), place, &LIMITS)?;
    let mut out = vec![0x77; lazy.header().nbytes];
    for number in (0..lazy.nblocks()).rev() {
        lazy.decode_blocks(number, &mut out[lazy.block_range(number)])?;
    }
    Ok(out)
}

/// Decodes twice, over zeros and over ones: both fail, or both give the same bytes. Also in two halves.
/// What a file gives lazily is that too, and to sum what no one can trust is no danger.
fn assert_error_or_value(chunk: &[u8], what: &str) -> bool {
    let (low, high) = (decode_over(chunk, 0), decode_over(chunk, 0xff));
    let _ = sums(chunk);
    if let Ok(lazy) = decode_lazily(chunk) {
        assert_eq!(low.as_ref().ok(), Some(&lazy), "{what}: read lazily");
    }
    match (low, high) {
        (Ok(low), Ok(high)) => {
            assert_eq!(low, high, "{what}: bytes that were not written");
            let parsed = Chunk::parse(chunk, &LIMITS).unwrap();
            let mut halves = vec![0x33; low.len()];
            let (front, back) = halves.split_at_mut(low.len() / 2);
            parsed.decode_range(0, front, &Job::default()).unwrap();
            parsed.decode_range(low.len() / 2, back, &Job::default()).unwrap();
            assert_eq!(low, halves, "{what}: ranges differ from the whole");
            true
        }
        (Err(low), Err(high)) => {
            assert_eq!(low.to_string(), high.to_string(), "{what}");
            false
        }
        (low, high) => panic!("{what}: {low:?} over zeros, {high:?} over ones"),
    }
}

#[test]
fn golden_chunks_decode_to_what_their_library_read() {
    let manifest = manifest();
    assert!(manifest.len() >= 34);
    for (name, file_hash, decoded_hash) in &manifest {
        let bytes = fs::read(golden_folder().join(name)).unwrap();
        assert_eq!(&sha256(&bytes), file_hash, "{name}: a golden file is never rewritten");
        let decoded = decode_over(&bytes, 0xa5).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(&sha256(&decoded), decoded_hash, "{name}");
    }
    let files = fs::read_dir(golden_folder()).unwrap().map(|entry| entry.unwrap().file_name());
    let files = files.filter(|name| name.to_string_lossy().ends_with(".chunk")).count();
    assert_eq!(files, manifest.len(), "every golden chunk has its line in the manifest");
}

#[test]
fn every_prefix_of_a_chunk_is_an_error() {
    for (name, chunk) in all_chunks() {
        for end in 0..chunk.len() {
            let error = decode_over(&chunk[..end], 0).expect_err(&name);
            assert_eq!(error.kind(), ErrorKind::Truncated, "{name} cut at {end}: {error}");
        }
    }
}

#[test]
fn what_follows_a_chunk_is_ignored() {
    for (name, chunk) in all_chunks() {
        let longer = [&chunk[..], &[0xee; 100]].concat();
        assert_eq!(decode_over(&longer, 0).unwrap(), decode_over(&chunk, 0).unwrap(), "{name}");
    }
}

#[test]
fn every_flipped_bit_gives_an_error_or_a_value() {
    for (name, chunk) in all_chunks() {
        for bit in 0..8 * chunk.len() {
            let mut flipped = chunk.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert_error_or_value(&flipped, &format!("{name}, bit {bit}"));
        }
    }
}

#[test]
fn every_header_byte_at_every_value_gives_an_error_or_a_value() {
    for (name, chunk) in all_chunks() {
        for at in 0..chunk.len().min(36) {
            for value in [0, 1, 2, 3, 4, 5, 6, 7, 8, 16, 31, 32, 33, 34, 35, 36, 64, 127, 128, 160, 254, 255]
            {
                let mut changed = chunk.clone();
                changed[at] = value;
                assert_error_or_value(&changed, &format!("{name}, byte {at} = {value}"));
            }
        }
    }
}

/// The numbers that arithmetic goes wrong at.
const EDGES: [u32; 15] = [
    0,
    1,
    2,
    15,
    16,
    31,
    32,
    33,
    0xffff,
    0x1fff_fe00,
    0x2000_0000,
    0x7fff_ffdf,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
];

#[test]
fn sizes_at_their_edges_give_an_error_or_a_value() {
    for (name, chunk) in all_chunks() {
        // nbytes, blocksize, cbytes, the first two block starts and what follows them.
        for at in (4..64.min(chunk.len() - 4)).step_by(4) {
            for edge in EDGES {
                let mut changed = chunk.clone();
                changed[at..at + 4].copy_from_slice(&edge.to_le_bytes());
                assert_error_or_value(&changed, &format!("{name}, {edge:#x} at {at}"));
            }
        }
    }
}

#[test]
fn a_chunk_larger_than_the_limit_is_refused_whatever_it_is() {
    for (name, chunk) in all_chunks() {
        let nbytes = decode_over(&chunk, 0).unwrap().len();
        let exact = Limits { chunk_bytes: nbytes as u64 };
        assert!(Chunk::parse(&chunk, &exact).is_ok(), "{name}");
        if nbytes > 0 {
            let less = Limits { chunk_bytes: nbytes as u64 - 1 };
            let error = Chunk::parse(&chunk, &less).err().expect(&name);
            assert_eq!(error.kind(), ErrorKind::Limit, "{name}: {error}");
            assert!(error.to_string().contains(&nbytes.to_string()), "{name}: {error}");
        }
    }
}

#[test]
fn flags_that_no_stored_chunk_has_are_refused_by_name() {
    let chunk = encode(&[7; 400], &Params { typesize: 4, ..Params::default() }, &Job::default()).unwrap();
    for (at, bits, kind, word) in [
        (31, 0x08, ErrorKind::Corrupt, "lazy"),
        (31, 0x80, ErrorKind::Unsupported, "instrumented"),
        (31, 0x50, ErrorKind::Corrupt, "special value"),
        (31, 0x70, ErrorKind::Corrupt, "special value"),
        (30, 0x02, ErrorKind::Unsupported, "flags2"),
        (30, 0x80, ErrorKind::Unsupported, "flags2"),
        (0, 0x07, ErrorKind::Unsupported, "version"),
    ] {
        let mut changed = chunk.clone();
        changed[at] |= bits;
        let error = decode_over(&changed, 0).unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.to_string().contains(word), "{error}");
    }
}

#[test]
fn a_special_chunk_of_nothing_decodes_to_nothing() {
    // A repeated value of no bytes passed the header's checks, as empty chunks of all kinds do, and was then
    // repeated: a remainder by zero, found by the fuzz target chunk_whole.
    for code in 0..=4 {
        let mut chunk = encode(&[], &Params { typesize: 4, ..Params::default() }, &Job::default()).unwrap();
        chunk[2] = 0x05;
        chunk[31] = code << 4;
        assert_eq!(decode_over(&chunk, 0).unwrap(), [0_u8; 0], "special value {code}");
    }
}

#[test]
fn a_delta_chunk_whose_first_block_is_damaged_fails_for_every_range() {
    // C-Blosc2 hangs on it with several threads, and decodes later blocks against nothing.
    let bytes: Vec<u8> = (0..400_000_u32).flat_map(u32::to_le_bytes).collect();
    let delta = Pipeline::new(&[Slot { id: 3, meta: 0 }]).unwrap();
    let params = Params { typesize: 4, pipeline: delta, blocksize: Some(64_000), ..Params::default() };
    let mut chunk = encode(&bytes, &params, &Job::default()).unwrap();
    chunk[32..36].copy_from_slice(&u32::MAX.to_le_bytes());
    for threads in [1, 2, 7] {
        let decoded = Chunk::parse(&chunk, &Limits::default()).and_then(|parsed| {
            let mut out = vec![0; 100_000];
            parsed.decode_range(1_000_000, &mut out, &Job::default().threads(Some(threads)))
        });
        assert_eq!(decoded.unwrap_err().kind(), ErrorKind::Corrupt);
    }
}
