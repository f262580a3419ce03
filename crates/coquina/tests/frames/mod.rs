//! Frames with known content, and what a snapshot holds.

#![allow(dead_code, unreachable_pub, reason = "compiled into several tests, which do not all use everything")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use coquina::chunk::{Chunk, LazyChunk, Params, encode};
use coquina::frame::{Change, Entry, Frame, Kind, Mode, Snapshot, Spec, Stored};
use coquina::{Existing, Job, Limits, Result};

/// Bytes of a chunk in these tests, and of an item.
pub const EACH: usize = 240;
pub const TYPESIZE: usize = 4;
/// More than any of the frames here asks for, little enough that a lie about a size is refused.
pub const LIMITS: Limits = Limits { chunk_bytes: 1 << 16 };

/// A directory that goes away with its test.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("coquina-frame-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Numbers that look random; the seed is in the source.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

pub fn spec() -> Spec {
    let metalayers = vec![("shape".to_owned(), b"0000".to_vec()), ("empty".to_owned(), Vec::new())];
    Spec { typesize: TYPESIZE, chunk_bytes: EACH, metalayers, ..Spec::default() }
}

pub fn params() -> Params {
    Params { typesize: TYPESIZE, blocksize: Some(64), ..Params::default() }
}

/// Some content of a chunk, told apart by `seed`.
pub fn content(seed: u64, bytes: usize) -> Vec<u8> {
    let numbers = (0..).map(|i: u64| u32::try_from(seed * 1000 + i * i % 300).unwrap());
    numbers.flat_map(u32::to_le_bytes).take(bytes).collect()
}

pub fn packed(bytes: &[u8]) -> Vec<u8> {
    encode(bytes, &params(), &Job::default()).unwrap()
}

pub fn unpacked(chunk: &[u8]) -> Result<Vec<u8>> {
    let chunk = Chunk::parse(chunk, &LIMITS)?;
    let mut out = vec![0; chunk.header().nbytes];
    chunk.decode_into(&mut out, &Job::default())?;
    Ok(out)
}

/// What a snapshot holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    pub chunks: Vec<Vec<u8>>,
    pub shape: Vec<u8>,
    pub values: Vec<(String, Vec<u8>)>,
}

pub fn state(snapshot: &Snapshot) -> Result<State> {
    let chunks = (0..snapshot.nchunks()).map(|number| {
        let content = unpacked(&snapshot.chunk_data(number)?)?;
        if let Stored::At { source, place, .. } = snapshot.chunk(number)? {
            let chunk = LazyChunk::open(source, place, &LIMITS)?;
            let mut out = vec![0xff; content.len()];
            chunk.read(0, &mut out)?;
            assert_eq!(out, content, "block by block");
        }
        Ok(content)
    });
    let mut values = Vec::new();
    for name in snapshot.vlmetalayer_names() {
        values.push((name.to_owned(), snapshot.vlmetalayer(name)?.unwrap()));
    }
    let shape = snapshot.metalayer("shape").unwrap_or_default().to_vec();
    Ok(State { chunks: chunks.collect::<Result<_>>()?, shape, values })
}

pub fn opened(path: &Path) -> Result<State> {
    state(&Frame::open(path, 0, Mode::Read, LIMITS)?.snapshot())
}

/// A change to `count` whole chunks.
pub fn to_count(count: u64, entries: Vec<(u64, Entry)>) -> Change<'static> {
    Change { nchunks: count, nbytes: count * EACH as u64, entries, ..Change::default() }
}

/// A frame of `count` chunks, published and closed.
pub fn written(path: &Path, kind: Kind, spec: &Spec, count: u64) -> State {
    let mut frame = Frame::create(path, kind, spec, Existing::Refuse).unwrap();
    append(&mut frame, 0..count);
    frame.publish().unwrap();
    let written = state(&frame.snapshot()).unwrap();
    frame.close().unwrap();
    written
}

pub fn append(frame: &mut Frame, seeds: std::ops::Range<u64>) {
    let before = frame.snapshot().nchunks();
    let count = before + seeds.end - seeds.start;
    let put = |(number, seed)| (number, frame.put(&packed(&content(seed, EACH))).unwrap());
    let entries = (before..).zip(seeds).map(put).collect();
    frame.apply(to_count(count, entries)).unwrap();
    frame.commit(false).unwrap();
}

/// Reads all of a frame in memory.
pub fn read_bytes(bytes: Vec<u8>) -> Result<State> {
    state(&Frame::from_source(Arc::new(bytes), 0, LIMITS)?.snapshot())
}
