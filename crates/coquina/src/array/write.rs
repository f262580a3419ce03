//! Writing a selection: every touched chunk is made anew, and none is written over.
//!
//! The blocks of a chunk are made one by one as the encoder asks for them: from the values where these fill a block,
//! else from the block that was there with the values over it. Blocks that are not touched are not even decoded if
//! they can stay as they are. Many chunks are made at once, one by each thread; few are made one after another, by all threads.
//! Chunks arrive at the store in the order of the walk, so the bytes do not depend on the threads.

use std::borrow::Cow;
use std::cell::Cell;

use super::before::old_number;
use super::blocks::{NewBlocks, Stood};
use super::boxes::BoxSource;
use super::choices::{Chooser, Chosen, one_item};
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
use crate::base::turns::{Turn, Turns};
use crate::chunk::{self, BlockSource, Kind, Params, Special};
use crate::store::{Access, EncodeChunk, Entry, Statistics, Store};
use crate::tune::{self, Choice};

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
    /// What chooses how chunks are encoded, if something does.
    pub(super) chooser: Option<Chooser<'w>>,
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
                let made = self.make(plan, &touched, &Turn::alone(), job).map_err(place(number))?;
                putter.take((number, made))?;
            }
            return Ok(putter);
        }
        let putter = Ordered::new(putter, width);
        let turns = Turns::default();
        job.run(total, touched.enumerate(), |(at, touched)| {
            let number = touched.chunk;
            let make = || {
                let turn = turns.turn(at);
                Ok((number, self.make(plan, &touched, &turn, &Job::inline()).map_err(place(number))?))
            };
            putter.put(at, make)?;
            Ok(bytes)
        })?;
        Ok(putter.into_taker())
    }

    /// How a chunk is to be encoded, where that is to be chosen now: it depends on those before.
    fn choose(
        &self,
        touched: &Touched,
        blocks: &NewBlocks<'_>,
        turn: &Turn<'_>,
        job: &Job<'_>,
    ) -> Result<Option<Choice>> {
        // What may lose something is chosen for when it has.
        let Some(chooser) = self.chooser.filter(|_| self.bounded.is_none()) else { return Ok(None) };
        let (number, header) = (touched.chunk, blocks.header());
        let chunk = Chosen { blocks, grid: self.grid, number, touched: blocks.written(), header };
        chooser.choose(&chunk, turn, job).map(Some)
    }

    /// The item that a chunk becomes as a whole, where that needs no blocks.
    fn item(&self, plan: &Plan, touched: &Touched) -> Option<Cow<'_, [u8]>> {
        let rounds = self.bounded.is_some_and(|bounded| bounded.contract.rounds_all());
        if rounds || self.old.chunks.encoder().is_some() {
            return None;
        }
        match self.values {
            Values::Uniform(item) => self.covers(plan, touched).then_some(Cow::Borrowed(item)),
            Values::Computed(source) if self.covers(plan, touched) => {
                let (starts, shape) = touched.positions(plan);
                let item = source.uniform(&starts, &shape)?;
                (item.len() == self.window.bytes).then_some(Cow::Owned(item))
            }
            Values::Computed(_) | Values::Bytes(_) => None,
        }
    }

    /// Makes a chunk, one of several of which each has its turn.
    pub(super) fn make(
        &self,
        plan: &Plan,
        touched: &Touched,
        turn: &Turn<'_>,
        job: &Job<'_>,
    ) -> Result<Made> {
        if let Some(item) = self.item(plan, touched) {
            let known = self.old.statistics.and_then(|ty| of_item(ty, &item));
            let made = uniform(&item, self.grid.chunk_bytes(), self.params)?;
            return Ok(made.with_statistics(known));
        }
        if let Values::Computed(source) = self.values
            && let Some(made) = computed::made_at_once(self, source, plan, touched, (turn, job))
        {
            return made;
        }
        let mut blocks = self.blocks(plan, touched)?;
        let choice = match self.choose(touched, &blocks, turn, job) {
            Ok(choice) => choice,
            Err(error) => return blocks.failed.first(Err(error)),
        };
        blocks.params = choice.map_or(*self.params, |choice| choice.params);
        let keeps_items = keeps_items(self.old.grid, self.grid, Some(self.selection));
        let is_chosen = choice.is_some();
        let gather = Gather { old: self.old, grid: self.grid, number: touched.chunk, keeps_items, is_chosen };
        let made = match self.bounded {
            None if choice.is_some_and(|choice| choice.is_uniform) => {
                self.made_uniform(&blocks, &gather, &blocks.params, job)
            }
            None => gather.encoded(&blocks, &blocks.params, job),
            Some(bounded) => {
                let stood = Stood(&blocks);
                let stood = (!self.covers(plan, touched)).then_some(&stood as &dyn BlockSource);
                bounded.encoded(&gather, &blocks, stood, (self.params, job))
            }
        };
        blocks.failed.first(made)
    }

    /// A chunk of which samples were one item over and over: it has no blocks if it is that as a whole.
    fn made_uniform(
        &self,
        blocks: &dyn BlockSource,
        gather: &Gather<'_>,
        params: &Params,
        job: &Job<'_>,
    ) -> Result<Made> {
        if self.old.chunks.encoder().is_none()
            && let Some(item) = one_item(blocks, self.grid, gather.number)
            && let Some(chunk) = tune::repeated(&item, self.grid.chunk_bytes(), params)?
        {
            let known = self.old.statistics.and_then(|ty| of_item(ty, &item));
            return Ok(made_of(chunk)?.with_statistics(known));
        }
        gather.encoded(blocks, params, job)
    }

    /// Whether every item of a chunk is overwritten.
    pub(super) fn covers(&self, plan: &Plan, touched: &Touched) -> bool {
        let region = self.grid.region(touched.chunk);
        self.window.bytes == self.grid.typesize()
            && plan.is_box(self.selection)
            && touched.lens(plan).zip(region).all(|(len, range)| len as u64 == range.end - range.start)
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
/// the chunk along the first axis are inside the shape, and whether the parameters count for it too.
pub(super) fn encoded(
    blocks: &dyn BlockSource,
    grid: &Grid,
    params: &Params,
    encoder: Option<(&dyn EncodeChunk, u64, bool)>,
    job: &Job<'_>,
) -> Result<Made> {
    if let Some((encoder, rows, is_chosen)) = encoder {
        let params = is_chosen.then_some(params);
        return Ok(Made::Bytes(encoder.encode(blocks, rows, params, job)?, None));
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

/// More room than this is given back.
const ENCODED_BYTES_KEPT: usize = 40 << 20;

thread_local! {
    /// Room for a chunk on its way; kept, as fresh memory is slow to touch.
    static ENCODED: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}
