//! Arrays whose items may lose something: the chunks of a write go through the contract of the array.
//!
//! In: the blocks of a chunk as they are to be. Out: the chunk under its contract, statistics of what it decodes to, and
//! what was lost. The contract stands with what was reached in the layer `coquina.lossy`; in HDF5 files, which have no
//! layers, whoever opened the dataset keeps it.
//! Memory: some four chunks for each thread.
//! Invariant: of a chunk of which a part is written, all items that are not given other values stay bit for bit.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use super::choices::Chooser;
use super::grid::Grid;
use super::handle::{Array, State};
use super::statistics::Gather;
use super::write::{Made, made_of};
use crate::base::error::{Error, Result};
use crate::base::limits::Limits;
use crate::base::pool::Job;
use crate::chunk::{self, BlockSource, Chunk, Params, Plain};
use crate::lossy::{self, Coder, Contract, Given, Reached, Record};
use crate::store::{Change, Chunks, EncodeChunk};

/// The layer, which users cannot take.
pub(super) const LAYER: &str = "coquina.lossy";

/// What is promised of the items of an array.
#[derive(Clone, Debug)]
pub(super) enum Promise {
    /// All of them, bit for bit.
    Exact,
    /// A bound.
    Bound(Record),
    /// Something, but what is damaged.
    Unknown(String),
}

impl Promise {
    /// What the layers of an array say.
    pub(super) fn read(chunks: &dyn Chunks, dtype: Option<&str>) -> Self {
        let read = |content: Vec<u8>| Record::read(&content, dtype.unwrap_or_default());
        match chunks.layer(LAYER).and_then(|content| content.map(read).transpose()) {
            Ok(None) => Self::Exact,
            Ok(Some(record)) => Self::Bound(record),
            Err(error) => Self::Unknown(error.to_string()),
        }
    }

    /// The record, if there is one.
    ///
    /// # Errors
    /// `Corrupt` if it is damaged.
    pub(super) fn record(&self) -> Result<Option<&Record>> {
        match self {
            Self::Exact => Ok(None),
            Self::Bound(record) => Ok(Some(record)),
            Self::Unknown(why) => Err(Error::corrupt(format!("what may be lost is not known: {why}"))),
        }
    }

    /// The promise after a write that lost so much, and the layer that says it, if there is one and it has changed.
    pub(super) fn after(&self, lost: &Reached, chunks: &dyn Chunks) -> (Self, Layers) {
        let Self::Bound(old) = self else { return (self.clone(), Vec::new()) };
        let record = Record { reached: old.reached.and(lost), ..*old };
        let is_kept = record != *old && chunks.encoder().is_none();
        let layer = is_kept.then(|| (LAYER.to_owned(), Some(record.write())));
        (Self::Bound(record), layer.into_iter().collect())
    }

    /// What an array loses by taking chunks of another one, as they are stored.
    ///
    /// # Errors
    /// `Invalid` if the other one may have lost what this one does not allow, `Corrupt` if that is not known.
    pub(super) fn lost_by(&self, other: &Self) -> Result<Reached> {
        match (self.record()?, other.record()?) {
            (_, None) => Ok(Reached::NOTHING),
            (Some(ours), Some(theirs)) if ours.contract == theirs.contract => Ok(theirs.reached),
            _ => Err(Error::invalid("lossy: the chunks are of an array with another bound")),
        }
    }
}

/// Variable metadata to be set.
type Layers = Vec<(String, Option<Vec<u8>>)>;

/// What the chunks of a write have lost so far.
pub(super) struct Tally(Mutex<Reached>);

impl Tally {
    pub(super) fn new() -> Self {
        Self(Mutex::new(Reached::NOTHING))
    }

    fn add(&self, reached: &Reached) {
        let mut sum = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *sum = sum.and(reached);
    }

    pub(super) fn reached(&self) -> Reached {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a write needs of the contract.
#[derive(Clone, Copy)]
pub(super) struct Bounded<'w> {
    pub(super) contract: &'w Contract,
    pub(super) tally: &'w Tally,
    /// What chooses how chunks are encoded, if something does.
    pub(super) chooser: Option<Chooser<'w>>,
}

impl Bounded<'_> {
    /// Encodes a chunk; `before` gives the blocks that stood there, where only a part of its items is written.
    pub(super) fn encoded(
        &self,
        gather: &Gather<'_>,
        blocks: &dyn BlockSource,
        before: Option<&dyn BlockSource>,
        (params, job): (&Params, &Job<'_>),
    ) -> Result<Made> {
        let grid = gather.grid;
        let region = gather.grid.region(gather.number);
        let lens: Vec<u64> = region.iter().map(|range| range.end - range.start).collect();
        let plain = filled(blocks, grid, job)?;
        let before = before.map(|before| filled(before, grid, job)).transpose()?;
        let fill = gather.old.chunks.fill();
        let before = kept(before, &plain, fill);
        let inside = inside(grid, &lens);
        let encoder = gather.old.chunks.encoder();
        let rows = lens.first().copied().unwrap_or(1);
        // A chunk at the end of the first axis grows when something is appended.
        let is_whole = grid.chunks().first().is_none_or(|&rows_max| rows == rows_max);
        let (before, item_bytes) = (before.as_deref(), grid.typesize());
        let given = Given { plain: &plain, before, fill, item_bytes, inside: &inside, is_whole };
        let made = match encoder {
            Some(encoder) => {
                let coder = ByStore { encoder, rows, grid, chooser: self.chooser, job };
                lossy::encode(self.contract, &given, &coder, job)?
            }
            None => {
                let coder = ByChunks { params, grid, chooser: self.chooser, job };
                lossy::encode(self.contract, &given, &coder, job)?
            }
        };
        self.tally.add(&made.reached);
        let known = gather.of_plain(&made.plain);
        Ok(if encoder.is_some() {
            Made::Bytes(made.bytes, None)
        } else {
            made_of(made.bytes)?.with_statistics(known)
        })
    }
}

/// All blocks of a chunk, one behind another.
fn filled(blocks: &dyn BlockSource, grid: &Grid, job: &Job<'_>) -> Result<Vec<u8>> {
    let mut plain = vec![0; grid.chunk_bytes()];
    let bytes = grid.block_bytes();
    job.run(plain.len(), plain.chunks_mut(bytes.max(1)).enumerate(), |(number, block)| {
        blocks.fill(number, block);
        Ok(bytes)
    })?;
    Ok(plain)
}

/// What stood in a chunk, so that items that stand for nothing, which the fill value is, stay as they are.
fn kept(before: Option<Vec<u8>>, plain: &[u8], fill: Option<&[u8]>) -> Option<Vec<u8>> {
    let Some(fill) = fill.filter(|fill| plain.chunks_exact(fill.len().max(1)).any(|item| item == *fill))
    else {
        return before;
    };
    // Of other items nothing stood there: not a byte of these is that of the item.
    let mut before = before.unwrap_or_else(|| plain.iter().map(|byte| !byte).collect());
    let items = before.chunks_exact_mut(fill.len()).zip(plain.chunks_exact(fill.len()));
    items.filter(|(_, item)| item == &fill).for_each(|(stood, item)| stood.copy_from_slice(item));
    Some(before)
}

/// Which items of a chunk count, of which so many do along each axis: runs, in the order of the blocks.
fn inside(grid: &Grid, lens: &[u64]) -> Vec<Range<usize>> {
    let items = grid.block_bytes() / grid.typesize();
    let strides: Vec<usize> = (0..grid.ndim()).map(|axis| grid.item_stride(axis) / grid.typesize()).collect();
    let mut runs: Vec<Range<usize>> = Vec::new();
    let mut push = |start: usize, len: usize| match runs.last_mut() {
        Some(last) if last.end == start => last.end += len,
        _ => runs.push(start..start + len),
    };
    for number in 0..grid.blocks_per_chunk() {
        let start = number * items;
        let kept = grid.inside_block(lens, number);
        if kept.iter().zip(grid.blocks()).all(|(&kept, &block)| kept as u64 == block) {
            push(start, items);
            continue;
        }
        let Some((&row, outer)) = kept.split_last() else { continue };
        for at in 0..outer.iter().product() {
            let mut left = at;
            let mut place = start;
            for (&len, &stride) in outer.iter().zip(&strides).rev() {
                place += left % len * stride;
                left /= len;
            }
            push(place, row);
        }
    }
    runs.retain(|run| !run.is_empty());
    runs
}

/// Blosc chunks.
struct ByChunks<'c> {
    params: &'c Params,
    grid: &'c Grid,
    chooser: Option<Chooser<'c>>,
    job: &'c Job<'c>,
}

impl Coder for ByChunks<'_> {
    fn params(&self) -> Option<&Params> {
        Some(self.params)
    }

    fn encode(&self, plain: &[u8], params: Option<&Params>) -> Result<Vec<u8>> {
        match (params, self.chooser) {
            // What each chunk gets depends on its items alone, as they are after they have been rounded.
            (None, Some(chooser)) => chooser.encode_alone(plain, self.grid.block_bytes(), self.job),
            (params, _) => chunk::encode(plain, params.unwrap_or(self.params), self.job),
        }
    }

    fn is_for_speed(&self) -> bool {
        self.chooser.is_some_and(|chooser| chooser.tuner.goal().tradeoff() < 0.5)
    }

    fn decode(&self, stored: &[u8], out: &mut [u8]) -> Result<bool> {
        let chunk = Chunk::parse_in(&self.params.layout, stored, &Limits::default())?;
        chunk.decode_into(out, self.job)?;
        Ok(true)
    }
}

/// Chunks that a store encodes.
struct ByStore<'c> {
    encoder: &'c dyn EncodeChunk,
    rows: u64,
    grid: &'c Grid,
    chooser: Option<Chooser<'c>>,
    job: &'c Job<'c>,
}

impl Coder for ByStore<'_> {
    fn params(&self) -> Option<&Params> {
        None
    }

    fn encode(&self, plain: &[u8], _params: Option<&Params>) -> Result<Vec<u8>> {
        let block_bytes = self.grid.block_bytes();
        let choose = |chooser: Chooser<'_>| chooser.params_alone(plain, block_bytes, self.job);
        let params = self.chooser.map(choose).transpose()?;
        self.encoder.encode(&Plain { plain, block_bytes }, self.rows, params.as_ref(), self.job)
    }

    fn decode(&self, stored: &[u8], out: &mut [u8]) -> Result<bool> {
        self.encoder.decode(stored, out)?;
        Ok(true)
    }
}

impl Array {
    /// What is promised of the items, and what was reached; `None` if they are kept exactly.
    ///
    /// # Errors
    /// `Corrupt` if the array says something, but it is damaged.
    pub fn lossy(&self) -> Result<Option<Record>> {
        self.state().promise.record().map(Option::<&Record>::copied)
    }

    /// From now on what is written is kept exactly, until [`Array::set_lossy`] says otherwise: for who has rounded it
    /// already. What was reached is forgotten here; ask for it before.
    ///
    /// # Errors
    /// `Invalid` for an array that keeps its contract itself, or that is open for reading only.
    pub fn set_exact(&self) -> Result<()> {
        let mut writer = self.writer();
        writer.check()?;
        let old = self.state();
        if old.chunks.encoder().is_none() {
            return Err(Error::invalid("lossy: the array is under its contract as long as it lasts"));
        }
        let (chunks, promise) = (writer.store.chunks(), Promise::Exact);
        self.settle(&mut writer, Ok(Arc::new(State { chunks, promise, ..State::clone(&old) })))
    }

    /// From now on what is written may lose as much as the contract allows; what stands there stays. A record is taken
    /// over from where the array does not keep it: in HDF5 files.
    ///
    /// # Errors
    /// `Invalid` for an array whose codec or filters lose something on their own, and that is open for reading only;
    /// `Io`, the array is then as it was.
    pub fn set_lossy(&self, record: Record) -> Result<()> {
        let params = self.params();
        if params.is_lossy() {
            return Err(Error::invalid(
                "lossy: the codec or a filter of the array loses something itself; leave it out, or lossy",
            ));
        }
        let mut writer = self.writer();
        writer.check()?;
        let old = self.state();
        let layers = match old.chunks.encoder() {
            None => vec![(LAYER.to_owned(), Some(record.write()))],
            Some(_) => Vec::new(),
        };
        let made = if layers.is_empty() {
            Ok(())
        } else {
            writer.store.apply(Change { layers, ..Change::default() })
        };
        let made = made.map(|()| {
            let (chunks, promise) = (writer.store.chunks(), Promise::Bound(record));
            Arc::new(State { chunks, promise, ..State::clone(&old) })
        });
        self.settle(&mut writer, made)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fill_values_are_taken_for_what_stood_there_and_nothing_else_is() {
        let plain = [1, 2, 9, 9, 3, 4, 9, 9];
        let fill: &[u8] = &[9, 9];
        let stood = kept(None, &plain, Some(fill)).unwrap();
        let same = |(a, b): (&[u8], &[u8])| a == b;
        let found: Vec<bool> = stood.chunks(2).zip(plain.chunks(2)).map(same).collect();
        assert_eq!(found, [false, true, false, true]);
        let before = vec![1, 2, 0, 0, 0, 0, 9, 9];
        assert_eq!(kept(Some(before.clone()), &plain, Some(fill)), Some(vec![1, 2, 9, 9, 0, 0, 9, 9]));
        for none in [None, Some(&[7, 7][..]), Some(&[2, 9][..])] {
            assert_eq!(kept(None, &plain, none), None);
            assert_eq!(kept(Some(before.clone()), &plain, none), Some(before.clone()));
        }
    }
}
