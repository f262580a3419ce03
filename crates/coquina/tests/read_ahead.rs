//! Laws of telling the system what will be read: of each chunk once, before it is read, and of none by chance.

#![expect(clippy::unwrap_used, reason = "a helper that fails fails its test")]

mod cases;
mod plain;

use std::ops::Range;
use std::sync::{Arc, Mutex};

use cases::noise;
use coquina::array::{Array, ArraySpec, OpenOptions, Selection, Values};
use coquina::chunk::Params;
use coquina::frame::Kind;
use coquina::{Job, ReadAt, Result};
use plain::{Folder, ITEMS, TYPESIZE, created, spec};

const CHUNK: u64 = 64 << 10;
const BLOCK: u64 = 16 << 10;
const CHUNKS: u64 = 12;

/// What is asked of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Asked {
    Told(Range<u64>),
    Read(Range<u64>),
}

/// A file that writes down what it is asked.
struct File {
    bytes: Vec<u8>,
    asked: Mutex<Vec<Asked>>,
}

impl ReadAt for File {
    fn len(&self) -> Result<u64> {
        ReadAt::len(&self.bytes)
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> Result<()> {
        self.asked.lock().unwrap().push(Asked::Read(offset..offset + buffer.len() as u64));
        self.bytes.read_exact_at(buffer, offset)
    }

    fn will_read(&self, range: Range<u64>) {
        self.asked.lock().unwrap().push(Asked::Told(range));
    }
}

/// An array of `chunks` chunks of noise in such a file.
fn stored(chunk: u64, chunks: u64) -> (Arc<File>, Array) {
    stored_in(&[chunk * chunks], &[chunk], &[chunk.min(BLOCK)])
}

/// An array of noise, of a shape in chunks and blocks, in such a file.
fn stored_in(shape: &[u64], chunks: &[u64], blocks: &[u64]) -> (Arc<File>, Array) {
    let folder = Folder::new();
    let path = folder.path("a.b2nd");
    let spec = ArraySpec {
        params: Params { typesize: TYPESIZE, level: 1, ..Params::default() },
        ..spec(shape, chunks, blocks)
    };
    let items = noise(usize::try_from(shape.iter().product::<u64>()).unwrap() * TYPESIZE);
    let (array, _) = created(&path, Kind::Contiguous, &spec);
    array.write(&Selection::all(shape), ITEMS, Values::Bytes(&items), &Job::default()).unwrap();
    array.close().unwrap();
    let file = Arc::new(File { bytes: std::fs::read(&path).unwrap(), asked: Mutex::default() });
    let array = Array::from_source(Arc::clone(&file) as Arc<dyn ReadAt>, &OpenOptions::default()).unwrap();
    file.asked.lock().unwrap().clear();
    (file, array)
}

fn read(array: &Array, rows: Range<u64>) {
    let mut out = vec![0; usize::try_from(rows.end - rows.start).unwrap() * TYPESIZE];
    array.read(&Selection::region(&[rows]), ITEMS, &mut out, &Job::default()).unwrap();
}

/// How many chunks the file was told of, each byte once and before it was read.
fn told_chunks(file: &File) -> f64 {
    let mut read: Vec<Range<u64>> = Vec::new();
    let mut told: Vec<Range<u64>> = Vec::new();
    for asked in file.asked.lock().unwrap().drain(..) {
        match asked {
            Asked::Read(range) => read.push(range),
            Asked::Told(range) => {
                let is_late = read.iter().any(|read| read.start < range.end && range.start < read.end);
                assert!(!is_late, "{range:?} has been read");
                let is_known = told.iter().any(|told| told.start < range.end && range.start < told.end);
                assert!(!is_known, "{range:?} twice");
                told.push(range);
            }
        }
    }
    assert!(!read.is_empty());
    let bytes = |count: u64| f64::from(u32::try_from(count).unwrap());
    let all = bytes(file.bytes.len() as u64) / bytes(CHUNKS);
    told.iter().map(|range| bytes(range.end - range.start)).sum::<f64>() / all
}

#[test]
fn blocks_one_after_another_are_told_of_by_chunks() {
    let (file, array) = stored(CHUNK, CHUNKS);
    for at in (0..CHUNK * CHUNKS).step_by(usize::try_from(BLOCK).unwrap()) {
        read(&array, at..at + BLOCK);
    }
    // Two chunks make a run.
    assert!((told_chunks(&file) - 10.0).abs() < 0.1);
}

#[test]
fn a_whole_read_tells_of_every_chunk() {
    let (file, array) = stored(CHUNK, CHUNKS);
    read(&array, 0..CHUNK * CHUNKS);
    assert!((told_chunks(&file) - 12.0).abs() < 0.1);
}

#[test]
fn nothing_is_told_backwards_by_chance_or_of_small_chunks() {
    let (file, array) = stored(CHUNK, CHUNKS);
    for chunk in [11, 10, 5, 4, 0] {
        read(&array, chunk * CHUNK..chunk * CHUNK + 10);
    }
    assert_eq!(told_chunks(&file), 0.0);
    let (file, array) = stored(CHUNK / 16, CHUNKS);
    for chunk in 0..CHUNKS {
        read(&array, chunk * CHUNK / 16..(chunk + 1) * CHUNK / 16);
    }
    assert_eq!(told_chunks(&file), 0.0);
}

#[test]
fn planes_tell_of_nothing_as_they_need_little_of_each_chunk() {
    let (rows, columns) = (CHUNK / BLOCK, BLOCK * CHUNKS);
    let (file, array) = stored_in(&[rows, columns], &[rows, BLOCK], &[1, BLOCK]);
    let mut out = vec![0; usize::try_from(columns).unwrap() * TYPESIZE];
    for row in 0..rows {
        let plane = Selection::region(&[row..row + 1, 0..columns]);
        array.read(&plane, ITEMS, &mut out, &Job::default()).unwrap();
    }
    assert_eq!(told_chunks(&file), 0.0);
}

#[test]
fn few_blocks_of_each_chunk_are_no_run() {
    let block = CHUNK / 8;
    let (file, array) = stored_in(&[CHUNK * CHUNKS], &[CHUNK], &[block]);
    for chunk in 0..CHUNKS {
        read(&array, chunk * CHUNK..chunk * CHUNK + 10);
    }
    assert_eq!(told_chunks(&file), 0.0);
}

#[test]
fn steps_that_meet_at_other_places_than_chunks_are_a_run() {
    let (file, array) = stored(CHUNK, CHUNKS);
    let step = CHUNK / 5 + 1;
    for at in (0..CHUNK * CHUNKS - step).step_by(usize::try_from(step).unwrap()) {
        read(&array, at..at + step);
    }
    assert!(told_chunks(&file) > 8.9);
}
