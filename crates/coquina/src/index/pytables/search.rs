//! The search of ranges of keys in an index that PyTables has made, or that was made like it.
//!
//! In: ranges of keys. Out: the rows, or ranges of rows, that may have values in them: candidates. In each slice the
//! chunks in which a range ends are found by the first keys of all chunks, and the places in them by a bisection.
//! Source: `docs/formats/pytables-indexes.md`, "Reading".
//! Invariant: a row whose value is in a range is a candidate, or the search fails. What is told of chunks is not
//! believed: before values are left out for it, the chunk is read. Numbers that nothing can have are errors.

use std::ops::{Range, RangeInclusive};

use coquina_kernels::Type;

use super::candidates::{Candidates, ranges_at, rows_at};
use super::chunk_keys::{ChunkKeys, Ends, READ_KEYS};
use super::merging::merged;
use super::shape::{Arrays, Facts, Shape};
use super::value_keys::{LAST, until_nul};
use crate::base::error::{Error, Result};
use crate::base::pool::Job;
use crate::index::key_ranges::KeyRanges;
use crate::index::keys::KeyKind;

/// More rows than these are not listed: nothing is known of any.
const ROWS_MAX: u64 = 1 << 26;
/// Where ranges end in no more chunks than these, estimates are exact.
const FEW_CHUNKS: u64 = 64;

/// What the values of an index are.
#[derive(Clone, Copy, Debug)]
pub struct Keys {
    /// Numbers, times as the integers that are stored, or strings of a fixed size.
    pub kind: KeyKind,
    /// Bytes of a value.
    pub value_bytes: usize,
    /// Whether values are seconds that were computed, here and by PyTables, perhaps rounded otherwise in the last bit.
    pub is_rounded: bool,
}

/// What a search gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// No rows but these can match: ascending, nothing twice.
    Rows(Vec<i64>),
    /// No rows but those in these ranges can match: ascending, not adjacent.
    Ranges(Vec<Range<i64>>),
    /// Too many to be listed.
    All,
}

/// An index that can be searched.
pub struct Index {
    keys: Keys,
    /// Of values that have no key where others look for them: NaN, and times that are none.
    missing: Option<u64>,
    key_max: u64,
    chunks: ChunkKeys,
}

/// Where a key stands in a slice.
#[derive(Clone, Copy)]
enum Place {
    /// Before all values.
    Start,
    /// In a chunk.
    In(u64),
    /// Behind all values.
    End,
}

/// A key that is looked for in a chunk.
struct Probe {
    chunk: u64,
    key: u64,
    /// Whether the place behind the key is meant, and not that before it.
    is_behind: bool,
    /// Which of the places of the slice it is.
    number: usize,
}

impl Index {
    /// Checks that arrays and attributes fit together; nothing is read yet.
    ///
    /// # Errors
    /// `Corrupt` if they do not, `Limit` for more chunks than can be kept, `Invalid` for kinds that have no such index.
    pub fn open(arrays: Arrays, facts: &Facts, keys: Keys) -> Result<Self> {
        let (kind, missing, key_max) = match keys.kind {
            KeyKind::Time => (KeyKind::Number(Type::I64), Some(0), u64::MAX),
            KeyKind::Bytes => (KeyKind::Bytes, None, u64::MAX),
            KeyKind::Number(ty @ (Type::F32 | Type::F64)) => (keys.kind, Some(LAST), greatest(ty.bytes())),
            KeyKind::Number(Type::Bool) => (keys.kind, None, 1),
            KeyKind::Number(ty) => (keys.kind, None, greatest(ty.bytes())),
            KeyKind::CodePoints | KeyKind::Text => {
                return Err(Error::invalid(format!("{:?}: PyTables indexes none", keys.kind)));
            }
        };
        if !kind.takes(keys.value_bytes) || keys.value_bytes == 0 {
            return Err(Error::invalid(format!("{kind:?} of {} bytes", keys.value_bytes)));
        }
        let shape = Shape::read(&arrays, facts, keys.value_bytes)?;
        let chunks = ChunkKeys::new(arrays, shape, kind, missing == Some(LAST));
        Ok(Self { keys, missing, key_max, chunks })
    }

    /// How many rows are indexed.
    pub fn rows(&self) -> u64 {
        self.chunks.shape.rows
    }

    /// Rows that are told together: 1 where each is told by itself.
    pub fn bucket_rows(&self) -> u64 {
        self.chunks.shape.bucket_rows
    }

    /// Bytes of a stored row or bucket: by these PyTables names its kinds of indexes.
    pub fn item_bytes(&self) -> usize {
        self.chunks.shape.item_bytes
    }

    /// The rows that may have values with these keys; with `missing` also those without a value.
    ///
    /// # Errors
    /// `Corrupt` for values in no order and rows that are not there, and what goes wrong with reading.
    pub fn find(&self, keys: &KeyRanges, missing: bool, job: &Job<'_>) -> Result<Answer> {
        let shape = &self.chunks.shape;
        let ranges = self.ranges(keys, missing);
        let places = self.places(&ranges, job)?;
        let candidates = Candidates { arrays: &self.chunks.arrays, shape, places: &places };
        if shape.item_bytes < 8 {
            return Ok(Answer::Ranges(ranges_at(&candidates, job)?));
        }
        if count(&places) > ROWS_MAX {
            return Ok(Answer::All);
        }
        Ok(Answer::Rows(rows_at(&candidates, job)?))
    }

    /// About how many rows `find` gives at most, with those of ranges; a few chunks are read for it.
    ///
    /// # Errors
    /// As [`Self::find`].
    pub fn estimate(&self, keys: &KeyRanges, missing: bool, job: &Job<'_>) -> Result<u64> {
        let shape = &self.chunks.shape;
        let ranges = self.ranges(keys, missing);
        let ends = self.chunks.ends(job)?;
        let (mut between, mut read) = (0_u64, 0);
        for slice in 0..shape.slices() {
            let (firsts, last) = ends.of(slice);
            for &(low, high) in &ranges {
                let all = firsts.len() as u64;
                let start = match self.place(firsts, last, low, false) {
                    Place::Start => 0,
                    Place::In(chunk) => {
                        read += 1;
                        chunk
                    }
                    Place::End => all.saturating_sub(u64::from(shape.chunking.reduction > 1)),
                };
                let stop = match self.place(firsts, last, high, true) {
                    Place::Start => 0,
                    Place::In(chunk) => {
                        read += 1;
                        chunk + 1
                    }
                    Place::End => all,
                };
                between = between.saturating_add(stop.saturating_sub(start));
            }
        }
        let found = if read <= FEW_CHUNKS {
            count(&self.places(&ranges, job)?)
        } else {
            between.saturating_mul(shape.chunking.chunk).min(shape.rows)
        };
        let is_full = shape.item_bytes == 8;
        Ok(if is_full { found } else { found.saturating_mul(shape.bucket_rows).min(shape.rows) })
    }

    /// Ranges of keys in which PyTables has sorted the values, in order.
    fn ranges(&self, keys: &KeyRanges, missing: bool) -> Vec<(u64, u64)> {
        let range = |range: &RangeInclusive<u64>| {
            let (low, high) = (*range.start(), *range.end());
            if self.keys.kind == KeyKind::Bytes {
                return (until_nul(low), until_nul(high));
            }
            let near = u64::from(self.keys.is_rounded);
            (low.saturating_sub(near), high.saturating_add(near).min(self.key_max))
        };
        let mut ranges: Vec<_> = keys.ranges().iter().map(range).collect();
        ranges.extend(self.missing.filter(|_| missing).map(|key| (key, key)));
        ranges.sort_unstable();
        ranges
    }

    /// For each slice the places of candidates, in order, not adjacent.
    fn places(&self, ranges: &[(u64, u64)], job: &Job<'_>) -> Result<Vec<Vec<Range<u64>>>> {
        if ranges.is_empty() || self.chunks.shape.slices() == 0 {
            return Ok(Vec::new());
        }
        let ends = self.chunks.ends(job)?;
        (0..self.chunks.shape.slices()).map(|slice| self.places_in(slice, ranges, &ends, job)).collect()
    }

    /// The places of candidates in a slice.
    fn places_in(
        &self,
        slice: u64,
        ranges: &[(u64, u64)],
        ends: &Ends,
        job: &Job<'_>,
    ) -> Result<Vec<Range<u64>>> {
        let shape = &self.chunks.shape;
        let (firsts, last) = ends.of(slice);
        let mut probes = Vec::new();
        // How many kept values stand before the first key of each range, and how many not behind its last key.
        let mut kept = vec![0; 2 * ranges.len()];
        // Whether all of the slice's rows stand before the range's end.
        let mut is_end = vec![false; ranges.len()];
        // Chunks that are not searched, but whose promised first or last value says that nothing in them is wanted.
        let mut relied = Vec::new();
        let last_chunk = shape.slice_chunks(slice) - 1;
        for (at, &(low, high)) in ranges.iter().enumerate() {
            for (number, key, is_behind) in [(2 * at, low, false), (2 * at + 1, high, true)] {
                match self.place(firsts, last, key, is_behind) {
                    Place::Start if is_behind => relied.push(0),
                    Place::Start => {}
                    Place::In(chunk) => probes.push(Probe { chunk, key, is_behind, number }),
                    Place::End if is_behind => is_end[at] = true,
                    Place::End => {
                        relied.push(last_chunk);
                        kept[number] = shape.slice_kept(slice);
                    }
                }
            }
        }
        relied.extend(self.look(slice, &mut probes, ends, &mut kept, job)?);
        relied.sort_unstable();
        relied.dedup();
        relied.into_iter().try_for_each(|chunk| self.chunks.verify(slice, chunk, ends, job))?;
        let (reduction, rows) = (shape.chunking.reduction, shape.slice_rows(slice));
        let found = kept.chunks_exact(2).zip(&is_end).map(|(kept, &is_end)| {
            // Between the last kept value that is less, and the next, anything may stand; so behind the last one: what
            // is told to be a slice's last value is at times only the last that was kept.
            let start = if kept[0] == 0 { 0 } else { (kept[0] - 1) * reduction + 1 };
            start..if is_end { rows } else { (kept[1] * reduction).min(rows) }
        });
        Ok(merged(found))
    }

    /// Where a key stands in a slice, by the first keys of its chunks.
    fn place(&self, firsts: &[u64], last: u64, key: u64, is_behind: bool) -> Place {
        // A slice that has NaN behind its numbers may be told to end with these.
        let may_be_nan = key == LAST && self.chunks.has_nan;
        if !may_be_nan && (last < key || (is_behind && last == key)) {
            return Place::End;
        }
        let before = firsts.partition_point(|&first| first < key || (is_behind && first == key));
        before.checked_sub(1).map_or(Place::Start, |chunk| Place::In(chunk as u64))
    }

    /// Looks for keys in their chunks: how many kept values of the slice stand before each place. Returns the chunks
    /// before which ranges end: their promised first values say so.
    fn look(
        &self,
        slice: u64,
        probes: &mut [Probe],
        ends: &Ends,
        kept: &mut [u64],
        job: &Job<'_>,
    ) -> Result<Vec<u64>> {
        let chunks = self.chunks.shape.slice_chunks(slice);
        let mut relied = Vec::new();
        let each = self.chunks.shape.chunking.kept();
        let most = (READ_KEYS / each).max(1);
        probes.sort_unstable_by_key(|probe| probe.chunk);
        let mut left = &probes[..];
        while let Some(first) = left.first() {
            let mut end = first.chunk + 1;
            let together = left.iter().take_while(|probe| {
                let is_near = probe.chunk <= end && probe.chunk - first.chunk < most;
                end = if is_near { probe.chunk + 1 } else { end };
                is_near
            });
            let (now, then) = left.split_at(together.count());
            let run = self.chunks.run(slice, first.chunk..end, ends, job)?;
            for &Probe { chunk, key, is_behind, number } in now {
                let keys = usize::try_from(chunk - run.chunks.start).ok().and_then(|at| run.keys.get(at));
                let keys = keys.map_or(&[][..], |keys| keys);
                let before = keys.partition_point(|&other| other < key || (is_behind && other == key));
                kept[number] = chunk * each + before as u64;
                if is_behind && before == keys.len() && chunk + 1 < chunks {
                    relied.push(chunk + 1);
                }
            }
            left = then;
        }
        Ok(relied)
    }
}

/// The greatest key of numbers of so many bytes.
fn greatest(bytes: usize) -> u64 {
    u64::MAX >> (u64::BITS - 8 * u32::try_from(bytes).unwrap_or(8).clamp(1, 8))
}

fn count(places: &[Vec<Range<u64>>]) -> u64 {
    places.iter().flatten().fold(0, |sum: u64, range| sum.saturating_add(range.end - range.start))
}
