//! The keys of an index's values: the first ones of all chunks, kept in memory, and those of chunks that are asked for.
//!
//! In: the arrays of an index. Out: keys, which ascend.
//! Source: `docs/formats/pytables-indexes.md`.
//! Invariant: values that are in no order, or not those that the first values of chunks promise, are errors. No lock is
//! held while anything is read: who reads HDF5 may wait for a thread that waits for this one.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use super::shape::{Arrays, Shape};
use super::value_keys::{LAST, read_keys};
use crate::base::error::{Error, Result};
use crate::base::pool::Job;
use crate::index::keys::KeyKind;

/// Keys of chunks that are kept, about.
const CACHED_KEYS: usize = 1 << 20;
/// Keys of chunks side by side that are read at once.
pub(super) const READ_KEYS: u64 = 1 << 20;

/// Of each slice the keys of the first values of its chunks, and the key of its last value.
pub(super) struct Ends {
    firsts: Vec<u64>,
    lasts: Vec<u64>,
    chunks: usize,
}

impl Ends {
    /// The first keys of the chunks of a slice, and its last key.
    pub(super) fn of(&self, slice: u64) -> (&[u64], u64) {
        let slice = usize::try_from(slice).unwrap_or(usize::MAX);
        let start = slice.saturating_mul(self.chunks).min(self.firsts.len());
        let end = start.saturating_add(self.chunks).min(self.firsts.len());
        (&self.firsts[start..end], self.lasts.get(slice).copied().unwrap_or(0))
    }
}

/// Chunks of a slice, and their keys.
pub(super) struct ChunkRun {
    pub(super) chunks: Range<u64>,
    pub(super) keys: Vec<Arc<[u64]>>,
}

/// Which chunk of which slice.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct ChunkAt {
    slice: u64,
    chunk: u64,
}

/// Keys that were read.
#[derive(Default)]
struct Cache {
    ends: Option<Arc<Ends>>,
    chunks: BTreeMap<ChunkAt, Arc<[u64]>>,
    /// In the order in which they came.
    order: VecDeque<ChunkAt>,
    keys: usize,
    /// Chunks that have been read, kept or not: they begin and end with what is promised.
    verified: BTreeSet<ChunkAt>,
}

impl Cache {
    fn put(&mut self, place: ChunkAt, keys: &Arc<[u64]>) {
        self.verified.insert(place);
        if self.chunks.insert(place, Arc::clone(keys)).is_none() {
            self.order.push_back(place);
            self.keys += keys.len();
        }
        while self.keys > CACHED_KEYS.max(keys.len())
            && let Some(oldest) = self.order.pop_front()
        {
            self.keys -= self.chunks.remove(&oldest).map_or(0, |keys| keys.len());
        }
    }
}

/// The keys of the values of an index.
pub(super) struct ChunkKeys {
    pub(super) arrays: Arrays,
    pub(super) shape: Shape,
    kind: KeyKind,
    pub(super) has_nan: bool,
    cache: Mutex<Cache>,
}

impl ChunkKeys {
    pub(super) fn new(arrays: Arrays, shape: Shape, kind: KeyKind, has_nan: bool) -> Self {
        Self { arrays, shape, kind, has_nan, cache: Mutex::default() }
    }

    fn cache<T>(&self, look: impl FnOnce(&mut Cache) -> T) -> T {
        look(&mut self.cache.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The ends of all slices and chunks.
    pub(super) fn ends(&self, job: &Job<'_>) -> Result<Arc<Ends>> {
        if let Some(ends) = self.cache(|cache| cache.ends.clone()) {
            return Ok(ends);
        }
        let ends = Arc::new(self.read_ends(job)?);
        self.cache(|cache| cache.ends = Some(Arc::clone(&ends)));
        Ok(ends)
    }

    fn read_ends(&self, job: &Job<'_>) -> Result<Ends> {
        let Self { arrays, shape, kind, .. } = self;
        let chunks = shape.chunking.chunks();
        let all = usize::try_from(shape.slices().saturating_mul(chunks)).unwrap_or(0);
        let mut ends = Ends {
            firsts: Vec::with_capacity(all),
            lasts: Vec::new(),
            chunks: usize::try_from(chunks).unwrap_or(usize::MAX),
        };
        for slice in 0..shape.full_slices {
            let range = read_keys(&*arrays.ranges, *kind, &[slice, 0], 2, job)?;
            let start = ends.firsts.len();
            ends.firsts.extend(range.first());
            ends.firsts.append(&mut read_keys(&*arrays.bounds, *kind, &[slice, 0], chunks - 1, job)?);
            // A slice that has NaN behind its numbers may be told to end with these.
            let is_nan = self.has_nan && ends.firsts.last() == Some(&LAST);
            let last = if is_nan { LAST } else { range.last().copied().unwrap_or(0) };
            ends.lasts.push(last);
            check_order(&ends.firsts[start..])?;
            check_order(&[ends.firsts[ends.firsts.len() - 1], last])?;
        }
        if shape.rest > 0 {
            let len = shape.rest_chunks() + 1;
            let mut keys = read_keys(&*arrays.rest_sorted, *kind, &[shape.rest_kept], len, job)?;
            check_order(&keys)?;
            ends.lasts.extend(keys.pop());
            ends.firsts.append(&mut keys);
        }
        Ok(ends)
    }

    /// Chunks of a slice that stand side by side, no more of them than are read at once.
    pub(super) fn run(&self, slice: u64, chunks: Range<u64>, ends: &Ends, job: &Job<'_>) -> Result<ChunkRun> {
        let known: Option<Vec<_>> = self.cache(|cache| {
            chunks.clone().map(|chunk| cache.chunks.get(&ChunkAt { slice, chunk }).cloned()).collect()
        });
        if let Some(keys) = known {
            return Ok(ChunkRun { chunks, keys });
        }
        let keys = self.read(slice, &chunks, ends, job)?;
        self.cache(|cache| {
            chunks.clone().zip(&keys).for_each(|(chunk, keys)| cache.put(ChunkAt { slice, chunk }, keys));
        });
        Ok(ChunkRun { chunks, keys })
    }

    /// Makes sure that a chunk begins with what is promised, and that the last one of a slice ends with it.
    pub(super) fn verify(&self, slice: u64, chunk: u64, ends: &Ends, job: &Job<'_>) -> Result<()> {
        if self.cache(|cache| cache.verified.contains(&ChunkAt { slice, chunk })) {
            return Ok(());
        }
        self.run(slice, chunk..chunk + 1, ends, job).map(drop)
    }

    fn read(&self, slice: u64, chunks: &Range<u64>, ends: &Ends, job: &Job<'_>) -> Result<Vec<Arc<[u64]>>> {
        let Self { arrays, shape, kind, .. } = self;
        let kept = shape.chunking.kept();
        let start = chunks.start * kept;
        let end = (chunks.end * kept).min(shape.slice_kept(slice));
        let len = end.saturating_sub(start);
        let keys = if slice < shape.full_slices {
            read_keys(&*arrays.sorted, *kind, &[slice, start], len, job)?
        } else {
            read_keys(&*arrays.rest_sorted, *kind, &[start], len, job)?
        };
        let (firsts, last) = ends.of(slice);
        let place = |chunk: u64| usize::try_from(chunk).unwrap_or(usize::MAX);
        let promised = firsts.get(place(chunks.start)..place(chunks.end)).unwrap_or_default();
        let found = keys.iter().step_by(usize::try_from(kept).unwrap_or(usize::MAX));
        check_order(&keys)?;
        // NaN may stand behind the number with which a slice is told to end.
        let numbers = if self.has_nan { keys.partition_point(|&key| key != LAST) } else { keys.len() };
        let is_beyond = keys[..numbers].last().is_some_and(|&key| key > last);
        if !found.eq(promised) || is_beyond {
            return Err(Error::corrupt("its values are not those that it tells the chunks begin with"));
        }
        Ok(keys.chunks(usize::try_from(kept).unwrap_or(usize::MAX)).map(Arc::from).collect())
    }
}

fn check_order(keys: &[u64]) -> Result<()> {
    if keys.is_sorted() { Ok(()) } else { Err(Error::corrupt("its values are not in order")) }
}
