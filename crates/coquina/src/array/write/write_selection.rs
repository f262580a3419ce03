//! Writing a selection: every touched chunk is made anew, and none is written over.
//!
//! The blocks of a chunk are made one by one as the encoder asks for them: from the values where these fill a block,
//! else from the block that was there with the values over it. Blocks that are not touched are not even decoded if
//! they can stay as they are. Many chunks are made at once, one by each thread; few are made one after another, by all threads.
//! Chunks arrive at the store in the order of the walk, so the bytes do not depend on the threads.

use std::borrow::Cow;

use super::computed;
use super::encode::{ChunkEncoder, Edit};
use super::old_chunk::OldChunk;
use super::patched_blocks::PatchedBlocks;
use super::request::{Request, Values};
use crate::array::geometry::{Plan, Touched, batches};
use crate::array::read::Source;
use crate::base::error::{Error, Result};
use crate::base::ordered::{Ordered, Take};
use crate::base::pool::Job;
use crate::base::sequencer::{Sequencer, Ticket};
use crate::store::{Access, EncodedChunk, Entry, Store};

/// A write that is going on.
#[derive(Clone, Copy)]
pub(crate) struct Write<'w> {
    pub(crate) encoder: ChunkEncoder<'w>,
    pub(crate) request: &'w Request<'w>,
}

/// A chunk that was encoded, and its number.
struct Numbered {
    number: u64,
    chunk: EncodedChunk,
}

/// Puts chunks into the store, in the order of their walk.
struct Putter<'s> {
    store: &'s mut dyn Store,
    entries: Vec<(u64, Entry)>,
}

impl Take<Numbered> for Putter<'_> {
    type Rest = ();

    fn take(&mut self, Numbered { number, chunk }: Numbered) -> Result<()> {
        self.entries.push((number, chunk.put(self.store)?));
        Ok(())
    }
}

impl Write<'_> {
    /// Makes all touched chunks and puts them into the store; returns what is to stand where.
    pub(crate) fn run(&self, store: &mut dyn Store, job: &Job<'_>) -> Result<Vec<(u64, Entry)>> {
        let plan = Plan::new(&self.request.selection, self.encoder.grid);
        let ChunkEncoder { old, grid, .. } = self.encoder;
        let mut putter = Putter { store, entries: Vec::new() };
        let Access::Fetched(count) = old.chunks.access(plan.nchunks())? else {
            let touched = plan.chunks().count();
            return Ok(self.run_all(&plan, plan.chunks(), touched, putter, job)?.entries);
        };
        for touched in batches(plan.chunks(), count) {
            let kept = touched.iter().filter(|touched| !self.request.covers(grid, &plan, touched));
            let kept: Vec<u64> = kept.filter_map(|touched| grid.number_in(old.grid, touched.chunk)).collect();
            let fetched = old.chunks.fetch(&kept)?;
            let old = Source { chunks: &*fetched, ..*old };
            let encoder = ChunkEncoder { old: &old, ..self.encoder };
            let count = touched.len();
            putter = Write { encoder, ..*self }.run_all(&plan, touched.into_iter(), count, putter, job)?;
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
        let bytes = self.encoder.grid.chunk_bytes();
        let total = count.saturating_mul(bytes);
        let width = job.width(total);
        let place = |number: u64| move |e: Error| e.at(format!("chunk {number}"));
        if count < 2 * width {
            for touched in touched {
                let number = touched.chunk;
                let chunk = self.make(plan, &touched, &Ticket::alone(), job).map_err(place(number))?;
                putter.take(Numbered { number, chunk })?;
            }
            return Ok(putter);
        }
        let putter = Ordered::new(putter, width);
        let sequencer = Sequencer::default();
        job.run(total, touched.enumerate(), |(at, touched)| {
            let number = touched.chunk;
            let make = || {
                let ticket = sequencer.ticket(at);
                let chunk = self.make(plan, &touched, &ticket, &Job::inline()).map_err(place(number))?;
                Ok(Numbered { number, chunk })
            };
            putter.put(at, make)?;
            Ok(bytes)
        })?;
        Ok(putter.into_taker())
    }

    /// The item that a chunk becomes as a whole, where that needs no blocks.
    fn item(&self, plan: &Plan, touched: &Touched) -> Option<Cow<'_, [u8]>> {
        if !self.encoder.can_repeat() {
            return None;
        }
        let covers = || self.request.covers(self.encoder.grid, plan, touched);
        match self.request.values {
            Values::Uniform(item) => covers().then_some(Cow::Borrowed(item)),
            Values::Computed(source) if covers() => {
                let (starts, shape) = touched.positions(plan);
                let item = source.uniform(&starts, &shape)?;
                (item.len() == self.request.window.bytes).then_some(Cow::Owned(item))
            }
            Values::Computed(_) | Values::Bytes(_) => None,
        }
    }

    /// Makes a chunk, one of several of which each has its ticket.
    fn make(
        &self,
        plan: &Plan,
        touched: &Touched,
        ticket: &Ticket<'_>,
        job: &Job<'_>,
    ) -> Result<EncodedChunk> {
        if let Some(item) = self.item(plan, touched) {
            return self.encoder.repeated(&item);
        }
        let patched = |request: &Request<'_>| {
            let plan = Plan::new(&request.selection, self.encoder.grid);
            let Some(touched) = plan.chunks().next() else {
                return Err(Error::invalid("a chunk of no items"));
            };
            self.patch(request, &plan, &touched, ticket, job)
        };
        let gathered = computed::with_gathered(self.request, self.encoder.grid, plan, touched, job, patched);
        gathered.unwrap_or_else(|| self.patch(self.request, plan, touched, ticket, job))
    }

    /// Encodes what a chunk held with values over it.
    fn patch(
        &self,
        request: &Request<'_>,
        plan: &Plan,
        touched: &Touched,
        ticket: &Ticket<'_>,
        job: &Job<'_>,
    ) -> Result<EncodedChunk> {
        let ChunkEncoder { old, grid, .. } = self.encoder;
        let number = touched.chunk;
        let is_covered = request.covers(grid, plan, touched);
        let held = if is_covered { OldChunk::nothing(old) } else { OldChunk::of(old, grid, number)? };
        let blocks = PatchedBlocks::new(request, plan, touched, held, grid.blocks_per_chunk());
        let keeps_items = request.keeps_items(old.grid, grid);
        let edit = Edit { number, is_covered, keeps_items, may_repeat: true };
        let made = self.encoder.encode(edit, &blocks, ticket, job);
        blocks.failed.or(made)
    }
}
