//! Reading a selection: the touched blocks of all touched chunks as one job.
//!
//! What is not touched is neither read nor decoded.

use std::sync::atomic::Ordering;

use coquina_kernels::boxes::SharedOutput;

use super::ahead::chunks_ahead;
use super::block_reader::{BlockReader, FRONT_ITEMS};
use super::decoded_boxes::{boxes_before, is_open};
use super::snapshot::{Content, Source};
use crate::array::geometry::{AxisSelection, Plan, Selection, Touched, Window, batches};
use crate::base::error::Result;
use crate::base::pool::{INLINE_COPY_BYTES, Job};
use crate::base::scratch::with_scratch;
use crate::store::{Access, Stored};

/// A step of a loop touches a chunk, or two at their border.
const STEP_CHUNKS_MAX: u64 = 2;

/// Whether a read may be a step of a loop over chunks: a plane needs little of each chunk that it touches.
fn is_step(plan: &Plan) -> bool {
    plan.nchunks() <= STEP_CHUNKS_MAX
}

impl Source<'_> {
    /// Fills `out` with the selected items; the selection and the window have been checked.
    pub(crate) fn read(
        &self,
        selection: &Selection,
        window: Window,
        out: &mut [u8],
        job: &Job<'_>,
    ) -> Result<()> {
        if out.is_empty() {
            return Ok(());
        }
        if window.bytes == self.grid.typesize()
            && let Some((start, shape)) = selection.as_box()
            && let Some(library) = self.chunks.library()
            && let Some(done) = library.read_box(&start, &shape, out)
        {
            return done;
        }
        if out.len() == window.bytes
            && let Some(done) = self.read_one(selection, window, out)
        {
            return done;
        }
        let plan = Plan::new(selection, self.grid);
        let access = self.chunks.access(plan.nchunks())?;
        let blocks = usize::try_from(plan.nblocks()).unwrap_or(usize::MAX);
        let total = blocks.saturating_mul(self.grid.block_bytes());
        // What fills the cache at once is not worth keeping.
        let all = usize::try_from(boxes_before()).unwrap_or(usize::MAX).saturating_add(1);
        let keeps_blocks = total.saturating_mul(all) <= self.cache.block_bytes() / 2;
        // Nor is a whole block that is kept as long as it is needed.
        let keeps_whole = keeps_blocks && !is_open();
        let whole_items = window.bytes == self.grid.typesize();
        let is_quick = keeps_blocks && out.len() < INLINE_COPY_BYTES;
        let output = SharedOutput::new(out, window.bytes, plan.cuts());
        let told = self.told_ahead(&plan);
        let read = BlockReader {
            source: &Source { ahead: self.ahead.filter(|_| told == 0 && is_step(&plan)), ..*self },
            output: &output,
            whole_items,
            plan: &plan,
            window,
            keeps_blocks,
            keeps_whole,
            waits: job.waits,
        };
        let Access::Fetched(count) = access else {
            return match self.chunks.remote() {
                Some(remote) => read.run_remote(remote, job),
                // To wake a thread takes longer than to copy out of a few blocks that are decoded.
                None if is_quick && read.run_cached(|chunk| self.chunks.chunk(chunk).ok()) => Ok(()),
                None => read.run_all(self.announced(&plan, told), total, job),
            };
        };
        if read.run_cached(|chunk| self.chunks.prefetch()?.unchanged(chunk)) {
            return Ok(());
        }
        for touched in batches(plan.chunks(), count) {
            let numbers: Vec<u64> = touched.iter().map(|touched| touched.chunk).collect();
            let fetched = self.chunks.fetch(&numbers)?;
            let source = Source { chunks: &*fetched, ..*self };
            let blocks: usize = touched.iter().map(Touched::nblocks).sum();
            let total = blocks.saturating_mul(self.grid.block_bytes());
            BlockReader { source: &source, ..read }.run_all(touched.into_iter(), total, job)?;
        }
        Ok(())
    }

    /// How many touched chunks the system is told of before they are read; nothing where they are not read whole.
    fn told_ahead(&self, plan: &Plan) -> usize {
        let is_whole =
            plan.nblocks() > plan.nchunks().saturating_mul(self.grid.blocks_per_chunk() as u64) / 2;
        if is_whole && plan.nchunks() > 1 { chunks_ahead(self.grid.chunk_bytes()) } else { 0 }
    }

    /// The touched chunks; the system is told of some of them before.
    fn announced<'p>(
        &'p self,
        plan: &'p Plan,
        mut count: usize,
    ) -> impl Iterator<Item = Touched> + Send + 'p {
        let mut ahead = (count > 0).then(|| plan.chunks()).into_iter().flatten();
        plan.chunks().inspect(move |_| {
            let chunks = ahead.by_ref().take(std::mem::replace(&mut count, 1));
            chunks.for_each(|touched| self.chunks.will_read(touched.chunk..touched.chunk + 1));
        })
    }

    /// One element, without a plan: `None` if the selection is not one, or its block is not at hand.
    fn read_one(&self, selection: &Selection, window: Window, out: &mut [u8]) -> Option<Result<()>> {
        if out.len() != window.bytes || selection.points.is_some() {
            return None;
        }
        let (mut chunk, mut block, mut place) = (0, 0, window.offset);
        for (axis, selected) in selection.axes.iter().enumerate() {
            let index = match selected {
                Some(AxisSelection::Range { start, .. }) => *start,
                Some(AxisSelection::List(indices)) => *indices.first()?,
                None => return None,
            };
            let located = self.grid.locate(axis, index);
            chunk += located.chunk;
            block += located.block;
            place += located.place;
        }
        let stored = match self.chunks.access(1) {
            Ok(Access::Free) => self.chunks.chunk(chunk).ok()?,
            Ok(Access::Fetched(_)) => self.chunks.prefetch()?.unchanged(chunk)?,
            Err(error) => return Some(Err(error)),
        };
        let (Stored::At { id, .. } | Stored::Other { id }) = stored else { return None };
        let bytes = self.cache.block(id, block)?;
        self.counters.blocks_cached.fetch_add(1, Ordering::Relaxed);
        out.copy_from_slice(bytes.get(place..place + window.bytes)?);
        Some(Ok(()))
    }

    /// Fills `out` with the items from `start` on, which are there, of an array of one axis: without a plan, where
    /// they are whole blocks; whether they are.
    pub(crate) fn read_blocks(&self, start: u64, out: &mut [u8]) -> Result<bool> {
        let (grid, size) = (self.grid, self.grid.typesize());
        let end = start + (out.len() / size) as u64;
        let begins_block = |at: u64| grid.locate(0, at).place == 0;
        let is_whole = begins_block(start) && (end == grid.shape()[0] || begins_block(end));
        if !is_whole || !matches!(self.chunks.access(1)?, Access::Free) || self.chunks.remote().is_some() {
            return Ok(false);
        }
        let (mut at, mut out) = (start, out);
        let mut open = None;
        while at < end {
            let located = grid.locate(0, at);
            let count = located.ahead.min(end - at);
            let content = match &open {
                Some((chunk, content)) if *chunk == located.chunk => content,
                _ => &open.insert((located.chunk, self.content(located.chunk)?)).1,
            };
            let (part, rest) = out.split_at_mut(usize::try_from(count).unwrap_or(usize::MAX) * size);
            self.read_block(content, located.block, part)
                .map_err(|e| e.at(format!("chunk {}", located.chunk)))?;
            (at, out) = (at + count, rest);
        }
        Ok(true)
    }

    /// Fills `out` with the first items of a block.
    fn read_block(&self, content: &Content, block: usize, out: &mut [u8]) -> Result<()> {
        let (id, chunk) = match content {
            Content::Item(item) => {
                out.chunks_exact_mut(item.len().max(1)).for_each(|out| out.copy_from_slice(item));
                return Ok(());
            }
            Content::Blocks(id, chunk) => (*id, chunk),
        };
        if let Some(bytes) = self.cache.block(id, block) {
            self.counters.blocks_cached.fetch_add(1, Ordering::Relaxed);
            out.copy_from_slice(&bytes[..out.len()]);
            return Ok(());
        }
        if out.len() == self.grid.block_bytes() {
            return self.decode(&**chunk, block, out);
        }
        let wanted =
            out.len().next_multiple_of(FRONT_ITEMS * self.grid.typesize()).min(self.grid.block_bytes());
        with_scratch(wanted, |scratch| {
            self.decode(&**chunk, block, scratch)?;
            out.copy_from_slice(&scratch[..out.len()]);
            Ok(())
        })
    }
}
