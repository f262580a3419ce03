//! Writing a selection: every touched chunk is made anew, and none is written over.
//!
//! The blocks of a chunk are made one by one as the encoder asks for them: from the values where these fill a block,
//! else from the block that was there with the values over it. Blocks that are not touched are not even decoded if
//! they can stay as they are. Many chunks are made at once, one by each thread; few are made one after another, by all threads.
//! Chunks arrive at the store in the order of the walk, so the bytes do not depend on the threads.

use std::cell::Cell;
use std::sync::{Mutex, PoisonError};

use coquina_kernels::boxes::{AXES_MAX, Axis, Steps, copy_box};

use super::before::{Before, old_number};
use super::boxes::BoxSource;
use super::computed;
use super::grid::Grid;
use super::lossy::Bounded;
use super::plan::{Plan, Touched};
use super::read::{Source, batches};
use super::selection::{Selection, Window};
use super::statistics::{Gather, keeps_items, of_item};
use crate::base::error::{Error, Result};
use crate::base::limits::Limits;
use crate::base::ordered::{Ordered, Take};
use crate::base::pool::Job;
use crate::chunk::{self, BlockSource, Kind, Params, Special};
use crate::store::{Access, EncodeChunk, Entry, Statistics, Store};

/// What is written to the selected items.
#[derive(Clone, Copy)]
pub enum Values<'a> {
    /// An item for each, in C order.
    Bytes(&'a [u8]),
    /// One item for all.
    Uniform(&'a [u8]),
    /// What is computed, of the shape of the selection, which must be a box without steps.
    Computed(&'a dyn BoxSource),
}

/// A write that is going on.
#[derive(Clone, Copy)]
pub(super) struct Write<'w> {
    /// What there was before.
    pub(super) old: &'w Source<'w>,
    /// The grid to come: that of `old`, or one with another shape.
    pub(super) grid: &'w Grid,
    pub(super) params: &'w Params,
    /// What may be lost, if something may.
    pub(super) bounded: Option<Bounded<'w>>,
    pub(super) selection: &'w Selection,
    pub(super) window: Window,
    pub(super) values: Values<'w>,
}

/// A chunk on its way to the store.
pub(super) enum Made {
    Special(Special),
    Bytes(Vec<u8>, Option<Statistics>),
}

impl Made {
    pub(super) fn put(self, store: &mut dyn Store) -> Result<Entry> {
        match self {
            Self::Special(special) => Ok(Entry::Special(special)),
            Self::Bytes(bytes, statistics) => store.put(bytes, statistics),
        }
    }

    /// The same, with what is known of its items.
    pub(super) fn with_statistics(self, statistics: Option<Statistics>) -> Self {
        match self {
            Self::Bytes(bytes, _) => Self::Bytes(bytes, statistics),
            special @ Self::Special(_) => special,
        }
    }
}

/// Puts chunks into the store, in the order of their walk.
struct Putter<'s> {
    store: &'s mut dyn Store,
    entries: Vec<(u64, Entry)>,
}

impl Take<(u64, Made)> for Putter<'_> {
    type Rest = ();

    fn take(&mut self, (number, made): (u64, Made)) -> Result<()> {
        self.entries.push((number, made.put(self.store)?));
        Ok(())
    }
}

impl Write<'_> {
    /// Makes all touched chunks and puts them into the store; returns what is to stand where.
    pub(super) fn run(&self, store: &mut dyn Store, job: &Job<'_>) -> Result<Vec<(u64, Entry)>> {
        let plan = Plan::new(self.selection, self.grid);
        let mut putter = Putter { store, entries: Vec::new() };
        let Access::Fetched(count) = self.old.chunks.access(plan.nchunks())? else {
            let touched = plan.chunks().count();
            return Ok(self.run_all(&plan, plan.chunks(), touched, putter, job)?.entries);
        };
        for touched in batches(plan.chunks(), count) {
            let kept = touched.iter().filter(|touched| !self.covers(&plan, touched));
            let kept: Vec<u64> =
                kept.filter_map(|touched| old_number(touched.chunk, self.grid, self.old.grid)).collect();
            let fetched = self.old.chunks.fetch(&kept)?;
            let old = Source { chunks: &*fetched, ..*self.old };
            let count = touched.len();
            putter = Write { old: &old, ..*self }.run_all(&plan, touched.into_iter(), count, putter, job)?;
        }
        Ok(putter.entries)
    }

    /// Makes `count` touched chunks.
    fn run_all<'s>(
        &self,
        plan: &Plan,
        touched: impl Iterator<Item = Touched> + Send,
        count: usize,
        mut putter: Putter<'s>,
        job: &Job<'_>,
    ) -> Result<Putter<'s>> {
        let bytes = self.grid.chunk_bytes();
        let total = count.saturating_mul(bytes);
        let width = job.width(total);
        let place = |number: u64| move |e: Error| e.at(format!("chunk {number}"));
        if count < 2 * width {
            for touched in touched {
                let number = touched.chunk;
                let made = self.make(plan, &touched, job).map_err(place(number))?;
                putter.take((number, made))?;
            }
            return Ok(putter);
        }
        let putter = Ordered::new(putter, width);
        job.run(total, touched.enumerate(), |(at, touched)| {
            let number = touched.chunk;
            let make = || Ok((number, self.make(plan, &touched, &Job::inline()).map_err(place(number))?));
            putter.put(at, make)?;
            Ok(bytes)
        })?;
        Ok(putter.into_taker())
    }

    pub(super) fn make(&self, plan: &Plan, touched: &Touched, job: &Job<'_>) -> Result<Made> {
        if let Values::Computed(source) = self.values
            && let Some(made) = computed::made_at_once(self, source, plan, touched, job)
        {
            return made;
        }
        let is_whole = self.covers(plan, touched);
        let encoder = self.old.chunks.encoder();
        if is_whole
            && encoder.is_none()
            && self.bounded.is_none_or(|bounded| !bounded.contract.rounds_all())
            && let Values::Uniform(item) = self.values
        {
            let known = self.old.statistics.and_then(|ty| of_item(ty, item));
            let made = uniform(item, self.grid.chunk_bytes(), self.params)?;
            return Ok(made.with_statistics(known));
        }
        let mut number_of = vec![NOT_TOUCHED; self.grid.blocks_per_chunk()];
        let mut groups = [0; AXES_MAX];
        for number in 0..touched.nblocks() {
            number_of[touched.block(plan, number, &mut groups[..plan.axes.len()])] = number;
        }
        let before = if is_whole {
            Before::Nothing(self.old.chunks.fill())
        } else {
            Before::of(self.old, self.grid, touched.chunk)?
        };
        let strides = self.value_strides();
        let failed = Failed::default();
        let blocks = NewBlocks { write: self, plan, touched, number_of, strides, before, failed };
        let keeps_items = keeps_items(self.old.grid, self.grid, Some(self.selection));
        let gather = Gather { old: self.old, grid: self.grid, number: touched.chunk, keeps_items };
        let made = match self.bounded {
            None => gather.encoded(&blocks, self.params, job),
            Some(bounded) => {
                let stood = Stood(&blocks);
                let stood = (!is_whole).then_some(&stood as &dyn BlockSource);
                bounded.encoded(&gather, &blocks, stood, (self.params, job))
            }
        };
        blocks.failed.first(made)
    }

    /// Whether every item of a chunk is overwritten.
    fn covers(&self, plan: &Plan, touched: &Touched) -> bool {
        let region = self.grid.region(touched.chunk);
        self.window.bytes == self.grid.typesize()
            && plan.is_box(self.selection)
            && touched.lens(plan).zip(region).all(|(len, range)| len as u64 == range.end - range.start)
    }

    /// Bytes from one position of each axis of the values to the next; all zero for a single value.
    fn value_strides(&self) -> Vec<usize> {
        let shape = self.selection.shape();
        let mut strides = vec![0; shape.len()];
        if let Values::Bytes(_) = self.values {
            let mut stride = self.window.bytes;
            for (at, &len) in shape.iter().enumerate().rev() {
                strides[at] = stride;
                stride = stride.saturating_mul(usize::try_from(len).unwrap_or(usize::MAX));
            }
        }
        strides
    }
}

/// A chunk that is one item over and over.
pub(super) fn uniform(item: &[u8], chunk_bytes: usize, params: &Params) -> Result<Made> {
    if item.iter().all(|&byte| byte == 0) {
        return Ok(Made::Special(Special::Zeros));
    }
    Ok(Made::Bytes(chunk::encode_repeated(item, chunk_bytes, params)?, None))
}

/// Encodes a chunk of blocks as they are made. Zeros need not be stored. Beside an encoder stands how many items of
/// the chunk along the first axis are inside the shape.
pub(super) fn encoded(
    blocks: &dyn BlockSource,
    grid: &Grid,
    params: &Params,
    encoder: Option<(&dyn EncodeChunk, u64)>,
    job: &Job<'_>,
) -> Result<Made> {
    if let Some((encoder, rows)) = encoder {
        return Ok(Made::Bytes(encoder.encode(blocks, rows, job)?, None));
    }
    let mut room = ENCODED.take();
    let cbytes = chunk::encode_blocks_of(blocks, grid.chunk_bytes(), params, &mut room, job)?;
    let bytes = room[..cbytes].to_vec();
    if room.len() <= ENCODED_BYTES_KEPT {
        ENCODED.set(room);
    }
    made_of(bytes)
}

/// A chunk as the store takes it: one of a special value takes no bytes.
pub(super) fn made_of(bytes: Vec<u8>) -> Result<Made> {
    let header = chunk::Header::read(&bytes, &Limits::default())?;
    match header.kind()? {
        Kind::Special(special) if special != Special::Value => Ok(Made::Special(special)),
        _ => Ok(Made::Bytes(bytes, None)),
    }
}

/// The touched block that a block of the chunk is, if it is one.
const NOT_TOUCHED: usize = usize::MAX;

/// More room than this is given back.
const ENCODED_BYTES_KEPT: usize = 40 << 20;

thread_local! {
    /// Room for a chunk on its way; kept, as fresh memory is slow to touch.
    static ENCODED: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// The first error of making blocks, which has no other way out of the encoder.
#[derive(Default)]
pub(super) struct Failed(Mutex<Option<Error>>);

impl Failed {
    pub(super) fn note<T>(&self, block: usize, made: Result<T>) -> Option<T> {
        match made {
            Ok(made) => Some(made),
            Err(error) => {
                let mut first = self.0.lock().unwrap_or_else(PoisonError::into_inner);
                first.get_or_insert(error.at(format!("block {block}")));
                None
            }
        }
    }

    /// What a block could not be made of explains whatever came out.
    pub(super) fn first<T>(self, made: Result<T>) -> Result<T> {
        match self.0.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some(error) => Err(error),
            None => made,
        }
    }
}

/// The blocks of a chunk as they are to be: what was there, and the values over it.
struct NewBlocks<'w> {
    write: &'w Write<'w>,
    plan: &'w Plan,
    touched: &'w Touched,
    number_of: Vec<usize>,
    strides: Vec<usize>,
    before: Before<'w>,
    failed: Failed,
}

impl BlockSource for NewBlocks<'_> {
    fn fill(&self, number: usize, out: &mut [u8]) {
        let _ = self.failed.note(number, self.make(number, out));
    }

    fn encoded(&self, number: usize) -> Option<Vec<u8>> {
        if self.touched_number(number).is_some() {
            return None;
        }
        let stored = self.before.stored(number, self.write.params);
        self.failed.note(number, stored).flatten()
    }
}

/// The blocks of a chunk as they were.
struct Stood<'w>(&'w NewBlocks<'w>);

impl BlockSource for Stood<'_> {
    fn fill(&self, number: usize, out: &mut [u8]) {
        let _ = self.0.failed.note(number, self.0.before.block(number, out));
    }
}

impl NewBlocks<'_> {
    /// The touched block that block `number` of the chunk is, if it is one.
    fn touched_number(&self, number: usize) -> Option<usize> {
        self.number_of.get(number).copied().filter(|&touched| touched != NOT_TOUCHED)
    }

    fn make(&self, number: usize, out: &mut [u8]) -> Result<()> {
        let Some(touched) = self.touched_number(number) else {
            return self.before.block(number, out).map(drop);
        };
        let (plan, write) = (self.plan, self.write);
        let ndim = plan.axes.len();
        let mut groups = [0; AXES_MAX];
        self.touched.block(plan, touched, &mut groups[..ndim]);
        let groups = &groups[..ndim];
        let is_whole = plan.is_box(write.selection)
            && plan.lens(groups).product::<usize>() * write.window.bytes == out.len();
        if !is_whole {
            self.before.block(number, out)?;
        }
        let mut to = [Steps::Even { start: 0, step: 0 }; AXES_MAX];
        plan.block_steps(groups, &mut to[..ndim]);
        let values = match write.values {
            Values::Bytes(values) | Values::Uniform(values) => values,
            Values::Computed(source) => return computed::fill_block(source, plan, groups, &to[..ndim], out),
        };
        let mut rooms = vec![Vec::new(); ndim];
        let from = plan.result_steps(groups, &self.strides, &mut rooms);
        let axes: Vec<Axis<'_>> =
            from.into_iter().zip(to).map(|((len, from), to)| Axis { len, to, from }).collect();
        copy_box(&mut out[write.window.offset..], values, &axes, write.window.bytes);
        Ok(())
    }
}
