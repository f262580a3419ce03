//! Arrays in files beside plain buffers that hold the same, and steps that are made on both.

#![allow(dead_code, unreachable_pub, reason = "compiled into several tests, which do not all use everything")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use coquina::array::{Access, Array, ArraySpec, Fill, OpenOptions, Selection, Target, Values, Window};
use coquina::chunk::{Params, Special};
use coquina::codec;
use coquina::frame::{Kind, Mode};
use coquina::{Existing, Job, Result};

pub const TYPESIZE: usize = 4;
pub const ITEMS: Window = Window { offset: 0, bytes: TYPESIZE };
pub const LAYER: &str = "note";

/// A directory that goes away with its test.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("coquina-commit-{}-{number}", std::process::id()));
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

/// The plain version of an array: what a file holds as of one commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plain {
    pub shape: Vec<u64>,
    pub items: Vec<[u8; TYPESIZE]>,
    pub layer: Option<Vec<u8>>,
}

pub fn count(shape: &[u64]) -> usize {
    usize::try_from(shape.iter().product::<u64>()).unwrap()
}

/// `number` counts in C order through `shape`.
pub fn coordinates(shape: &[u64], mut number: u64) -> Vec<u64> {
    let mut at = vec![0; shape.len()];
    for (at, len) in at.iter_mut().zip(shape).rev() {
        (*at, number) = (number % len, number / len);
    }
    at
}

impl Plain {
    pub fn place(&self, at: &[u64]) -> usize {
        usize::try_from(at.iter().zip(&self.shape).fold(0, |place, (at, len)| place * len + at)).unwrap()
    }

    pub fn resize(&mut self, shape: &[u64]) {
        let mut new = Self { shape: shape.into(), items: vec![[0; TYPESIZE]; count(shape)], layer: None };
        for number in 0..self.items.len() as u64 {
            let at = coordinates(&self.shape, number);
            if at.iter().zip(shape).all(|(at, len)| at < len) {
                let place = new.place(&at);
                new.items[place] = self.items[self.place(&at)];
            }
        }
        (self.shape, self.items) = (new.shape, new.items);
    }

    pub fn write(&mut self, ranges: &[std::ops::Range<u64>], values: &[[u8; TYPESIZE]]) {
        let shape: Vec<u64> = ranges.iter().map(|range| range.end - range.start).collect();
        for (number, value) in (0..count(&shape) as u64).zip(values) {
            let at = coordinates(&shape, number);
            let at: Vec<u64> = at.iter().zip(ranges).map(|(at, range)| at + range.start).collect();
            let place = self.place(&at);
            self.items[place] = *value;
        }
    }
}

/// What an array holds; its chunks must be good.
pub fn content(array: &Array) -> Result<Plain> {
    let shape = array.grid().shape().to_vec();
    let mut items = vec![[0xee; TYPESIZE]; count(&shape)];
    array.read(&Selection::all(&shape), ITEMS, items.as_flattened_mut(), &Job::default())?;
    assert!(array.verify(&Job::default())?.is_empty());
    Ok(Plain { shape, items, layer: array.layer(LAYER)? })
}

pub fn opened(path: &Path, mode: Mode) -> Result<Array> {
    Array::open(path, &OpenOptions { mode, ..OpenOptions::default() })
}

pub fn read_file(path: &Path) -> Result<Plain> {
    content(&opened(path, Mode::Read)?)
}

pub fn read_bytes(bytes: &[u8]) -> Result<Plain> {
    content(&Array::from_source(Arc::new(bytes.to_vec()), &OpenOptions::default())?)
}

/// What is done to an array. Numbers are taken modulo what the shape allows.
#[derive(Clone, Debug)]
pub enum Step {
    Write { from: Vec<u64>, len: Vec<u64>, seed: u32 },
    Fill { from: Vec<u64>, seed: u32 },
    Append { axis: usize, len: u64, seed: u32 },
    Resize { shape: Vec<u64> },
    SetLayer { content: Option<Vec<u8>> },
}

pub fn values(number: usize, seed: u32) -> Vec<[u8; TYPESIZE]> {
    // Some compress well, some do not, some are all zeros.
    let value = |i: u32| match seed % 4 {
        0 => 0,
        1 => seed,
        2 => seed + i,
        _ => i.wrapping_mul(0x9e37_79b9) ^ seed,
    };
    (0..u32::try_from(number).unwrap()).map(|i| value(i).to_le_bytes()).collect()
}

/// The box of the shape that begins at `from`, of at most this length.
pub fn region(shape: &[u64], from: &[u64], len: &[u64]) -> Vec<std::ops::Range<u64>> {
    let range = |((&size, &from), &len): ((&u64, &u64), &u64)| {
        let start = from % size.max(1);
        start.min(size)..(start + len).min(size)
    };
    shape.iter().zip(from).zip(len).map(range).collect()
}

impl Step {
    /// Does it to an array and to its plain version.
    pub fn run(&self, array: &Array, plain: &mut Plain) -> Result<()> {
        let job = Job::default();
        match self {
            Self::Write { from, len, seed } => {
                let ranges = region(&plain.shape, from, len);
                let shape: Vec<u64> = ranges.iter().map(|range| range.end - range.start).collect();
                let values = values(count(&shape), *seed);
                plain.write(&ranges, &values);
                let bytes = Values::Bytes(values.as_flattened());
                array.write(&Selection::region(&ranges), ITEMS, bytes, &job)
            }
            Self::Fill { from, seed } => {
                let ranges = region(&plain.shape, from, &plain.shape);
                plain.write(&ranges, &vec![seed.to_le_bytes(); plain.items.len()]);
                array.write(&Selection::region(&ranges), ITEMS, Values::Uniform(&seed.to_le_bytes()), &job)
            }
            Self::Append { axis, len, seed } => {
                let (axis, mut shape) = (axis % plain.shape.len(), plain.shape.clone());
                let start = std::mem::replace(&mut shape[axis], *len);
                let values = values(count(&shape), *seed);
                let mut ranges: Vec<_> = plain.shape.iter().map(|&size| 0..size).collect();
                ranges[axis] = start..start + len;
                shape[axis] = start + len;
                plain.resize(&shape);
                plain.write(&ranges, &values);
                array.append(axis, *len, Values::Bytes(values.as_flattened()), &job)
            }
            Self::Resize { shape } => {
                plain.resize(&shape[..plain.shape.len()]);
                array.resize(&plain.shape, &job)
            }
            // What is not there cannot be removed.
            Self::SetLayer { content: None } if plain.layer.is_none() => Ok(()),
            Self::SetLayer { content } => {
                plain.layer.clone_from(content);
                array.set_layer(LAYER, content.clone())
            }
        }
    }
}

pub fn spec(shape: &[u64], chunks: &[u64], blocks: &[u64]) -> ArraySpec {
    ArraySpec {
        shape: shape.into(),
        chunks: Some(chunks.into()),
        blocks: Some(blocks.into()),
        access: Access::Any,
        dtype: "<u4".into(),
        fill: Fill::Special(Special::Zeros),
        params: Params { codec: codec::by_name("lz4").unwrap(), typesize: TYPESIZE, ..Params::default() },
        checksums: true,
        statistics: true,
        tuning: None,
    }
}

pub fn created(path: &Path, kind: Kind, spec: &ArraySpec) -> (Array, Plain) {
    let target = Target::File { path: path.into(), kind, existing: Existing::Refuse };
    let array = Array::create(spec, &target).unwrap();
    array.publish().unwrap();
    let items = vec![[0; TYPESIZE]; count(&spec.shape)];
    (array, Plain { shape: spec.shape.clone(), items, layer: None })
}
