//! Frames and arrays that C-Blosc2 wrote hold what it reads in them.

#![expect(clippy::unwrap_used, reason = "a helper that fails fails its test")]

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use coquina::array::{Array, OpenOptions, Selection, Window};
use coquina::chunk::Chunk;
use coquina::frame::{Frame, SumState};
use coquina::{Job, Limits};
use sha2::{Digest as _, Sha256};

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/frames")
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The chunks behind each other.
fn chunks_of(bytes: Vec<u8>) -> Vec<u8> {
    let frame = Frame::from_source(Arc::new(bytes), 0, Limits::default()).unwrap();
    let snapshot = frame.snapshot();
    assert_eq!(snapshot.sums(), SumState::Absent);
    let decoded = |number| {
        let chunk = snapshot.chunk_data(number).unwrap();
        let chunk = Chunk::parse(&chunk, &Limits::default()).unwrap();
        let mut out = vec![0; chunk.header().nbytes];
        chunk.decode_into(&mut out, &Job::default()).unwrap();
        out
    };
    let content: Vec<u8> = (0..snapshot.nchunks()).flat_map(decoded).collect();
    assert_eq!(content.len() as u64, snapshot.nbytes());
    content
}

/// The items in C order.
fn items_of(bytes: Vec<u8>) -> Vec<u8> {
    let array = Array::from_source(Arc::new(bytes), &OpenOptions::default()).unwrap();
    let grid = array.grid();
    let mut out = vec![0xa5; usize::try_from(grid.size()).unwrap() * grid.typesize()];
    let window = Window { offset: 0, bytes: grid.typesize() };
    array.read(&Selection::all(grid.shape()), window, &mut out, &Job::default()).unwrap();
    assert!(array.verify(&Job::default()).unwrap().is_empty());
    out
}

#[test]
fn golden_frames_hold_what_their_library_read() {
    let manifest = fs::read_to_string(folder().join("MANIFEST")).unwrap();
    for line in manifest.lines() {
        let [file_hash, decoded_hash, name] = line.split(' ').collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        let bytes = fs::read(folder().join(name)).unwrap();
        assert_eq!(sha256(&bytes), file_hash, "{name}: a golden file is never rewritten");
        let content = if name.ends_with(".b2nd") { items_of(bytes) } else { chunks_of(bytes) };
        assert_eq!(sha256(&content), decoded_hash, "{name}");
    }
    let files = fs::read_dir(folder()).unwrap().count();
    assert_eq!(files, manifest.lines().count() + 1, "every golden frame has its line in the manifest");
    assert!(files > 19);
}

#[test]
fn metalayers_of_golden_frames_are_read() {
    let bytes = fs::read(folder().join("c-blosc2-3.3.5-metalayers.b2frame")).unwrap();
    let frame = Frame::from_source(Arc::new(bytes), 0, Limits::default()).unwrap();
    let snapshot = frame.snapshot();
    // MessagePack: "m", [1.5, -2], nil.
    let expected: [(&str, &[u8]); 3] = [
        ("unit", b"\xa1m"),
        ("origin", b"\x92\xcb\x3f\xf8\x00\x00\x00\x00\x00\x00\xfe"),
        ("nothing", b"\xc0"),
    ];
    assert_eq!(snapshot.metalayers().collect::<Vec<_>>(), expected);
    assert_eq!(snapshot.vlmetalayer_names().collect::<Vec<_>>(), ["history", "long"]);
    let history = snapshot.vlmetalayer("history").unwrap().unwrap();
    assert_eq!(history, b"\x92\xa4made\xa5moved");
    assert!(snapshot.vlmetalayer("short").unwrap().is_none());
}

#[test]
fn every_prefix_of_a_golden_frame_is_an_error() {
    for entry in fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        let bytes = fs::read(&path).unwrap();
        for end in (0..bytes.len()).filter(|_| !path.ends_with("MANIFEST")) {
            let cut = Frame::from_source(Arc::new(bytes[..end].to_vec()), 0, Limits::default());
            assert!(cut.is_err(), "{}: {end} of {} bytes", path.display(), bytes.len());
        }
    }
}
