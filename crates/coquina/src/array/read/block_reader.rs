//! Reads touched blocks into a result: each is decoded once, whatever is wanted of it.
//!
//! A block is decoded straight into the result where it lies there in one piece, else into a thread's scratch, from where
//! its items are copied.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use coquina_kernels::boxes::{AXES_MAX, SharedOutput, Steps};

use super::block_cache::Turn;
use super::snapshot::{Content, Source};
use crate::array::geometry::{Plan, TASK_BYTES_MAX, TASK_BYTES_MIN, Touched, Window, block_runs};
use crate::base::error::Result;
use crate::base::pool::Job;
use crate::base::scratch::with_scratch;
use crate::store::{OpenChunk, Stored};

/// The front of a block is decoded in so many items: as many as a shuffle turns at once.
pub(super) const FRONT_ITEMS: usize = 64;

/// A read that is going on.
#[derive(Clone, Copy)]
pub(super) struct BlockReader<'r> {
    pub(super) source: &'r Source<'r>,
    pub(super) plan: &'r Plan,
    pub(super) output: &'r SharedOutput<'r>,
    pub(super) window: Window,
    pub(super) whole_items: bool,
    pub(super) keeps_blocks: bool,
    /// Whether those are kept too that are decoded straight to where they are wanted.
    pub(super) keeps_whole: bool,
    /// Whether it may wait for another thread that decodes the same.
    pub(super) waits: bool,
}

/// Stands for all blocks of a chunk where turns are taken.
const WHOLE_CHUNK: usize = usize::MAX;
/// More touched blocks are not looked for one by one before chunks are fetched.
const CACHED_BLOCKS_MAX: u64 = 256;

/// What a touched block holds, at hand: one item over and over, or decoded bytes.
enum AtHand {
    Item(Arc<[u8]>),
    Block(Arc<Vec<u8>>),
}

const NO_STEPS: Steps<'static> = Steps::Even { start: 0, step: 0 };

impl BlockReader<'_> {
    /// Reads all touched blocks of these chunks, of `total` bytes.
    pub(super) fn run_all(
        &self,
        touched: impl Iterator<Item = Touched> + Send,
        total: usize,
        job: &Job<'_>,
    ) -> Result<()> {
        let block_bytes = self.source.grid.block_bytes();
        let width = job.width(total);
        let task_bytes = if width == 1 { TASK_BYTES_MAX } else { total / (4 * width) };
        let task_blocks = task_bytes.clamp(TASK_BYTES_MIN, TASK_BYTES_MAX) / block_bytes;
        let tasks = touched.flat_map(|touched| block_runs(touched, task_blocks.max(1)));
        // A task has a block at least: so nobody is woken for one block.
        let tasks = tasks.take(total.div_ceil(block_bytes));
        job.run(total, tasks, |(touched, first, count)| {
            let chunk = touched.chunk;
            self.run(&touched, first, count).map_err(|e| e.at(format!("chunk {chunk}")))?;
            Ok(count * block_bytes)
        })
    }

    /// Reads all touched blocks if each is in the cache, on the calling thread; whether they were. `stored` says what
    /// stands for a chunk, if that is known without fetching it.
    pub(super) fn run_cached(&self, stored: impl Fn(u64) -> Option<Stored>) -> bool {
        let Some(found) = self.at_hand(stored) else { return false };
        let mut groups = [0; AXES_MAX];
        let groups = &mut groups[..self.plan.axes.len()];
        let mut found = found.iter();
        for touched in self.plan.chunks() {
            for (number, found) in (0..touched.nblocks()).zip(&mut found) {
                touched.block(self.plan, number, groups);
                match found {
                    AtHand::Item(item) => self.copy_item(item, groups),
                    AtHand::Block(bytes) => self.copy_block(bytes, groups),
                }
            }
        }
        true
    }

    /// What all touched blocks hold, in the order of the walk; `None` if one is not at hand.
    fn at_hand(&self, stored: impl Fn(u64) -> Option<Stored>) -> Option<Vec<AtHand>> {
        if self.plan.nblocks() > CACHED_BLOCKS_MAX {
            return None;
        }
        let mut groups = [0; AXES_MAX];
        let groups = &mut groups[..self.plan.axes.len()];
        let mut found = Vec::new();
        for touched in self.plan.chunks() {
            let stored = stored(touched.chunk)?;
            for number in 0..touched.nblocks() {
                let block = touched.block(self.plan, number, groups);
                found.push(match &stored {
                    Stored::Item(item) => AtHand::Item(Arc::clone(item)),
                    Stored::At { id, .. } | Stored::Other { id } => {
                        AtHand::Block(self.source.cache.block(*id, block)?)
                    }
                    Stored::Special(_) => return None,
                });
            }
        }
        Some(found)
    }

    /// Reads `count` of the touched blocks of a chunk, from `first` on.
    fn run(&self, touched: &Touched, first: usize, count: usize) -> Result<()> {
        let content = self.source.content(touched.chunk)?;
        let ndim = self.plan.axes.len();
        let mut groups = [0; AXES_MAX];
        for number in first..first + count {
            let block = touched.block(self.plan, number, &mut groups[..ndim]);
            self.fill(&content, block, &groups[..ndim])?;
        }
        Ok(())
    }

    /// Fills the cell of a block.
    fn fill(&self, content: &Content, block: usize, groups: &[usize]) -> Result<()> {
        let (id, chunk) = match content {
            Content::Item(item) => {
                self.copy_item(item, groups);
                return Ok(());
            }
            Content::Blocks(id, chunk) => (*id, chunk),
        };
        if let Some(bytes) = self.source.cache.block(id, block) {
            self.copy_block(&bytes, groups);
            return Ok(());
        }
        let _turn = self.turn(id, &**chunk, block);
        let mut cell = self.output.cell(groups);
        let ndim = groups.len();
        let mut steps = [NO_STEPS; AXES_MAX];
        self.plan.block_steps(groups, &mut steps[..ndim]);
        let block_bytes = self.source.grid.block_bytes();
        if self.whole_items
            && !self.keeps_whole
            && self.plan.is_block_in_order(groups, self.source.grid)
            && let Some(out) = cell.as_slice_mut()
            && out.len() == block_bytes
        {
            return self.source.decode(&**chunk, block, out);
        }
        if self.keeps_blocks {
            let decode = |out: &mut [u8]| self.source.decode(&**chunk, block, out);
            let bytes = self.source.cache.block_or_decode(id, block, block_bytes, decode)?;
            cell.copy_from(&bytes[self.window.offset..], &steps[..ndim]);
            return Ok(());
        }
        // What stands behind the last item that is wanted need not be decoded.
        let wanted = self.plan.block_end(groups, &steps) + self.source.grid.typesize();
        let wanted = wanted.next_multiple_of(FRONT_ITEMS * self.source.grid.typesize()).min(block_bytes);
        with_scratch(wanted, |scratch| {
            self.source.decode(&**chunk, block, scratch)?;
            cell.copy_from(&scratch[self.window.offset..], &steps[..ndim]);
            Ok(())
        })
    }

    /// The turn to decode this block, or the whole chunk if that is what it takes; none where nobody else would have
    /// the result, or where this read must not wait.
    fn turn(&self, id: u64, chunk: &dyn OpenChunk, block: usize) -> Option<Turn<'_>> {
        let key = if chunk.decodes_whole() { Some(WHOLE_CHUNK) } else { self.keeps_blocks.then_some(block) };
        key.filter(|_| self.waits).map(|block| self.source.cache.turn(id, block))
    }

    /// Fills the cell of a block that is one item over and over.
    fn copy_item(&self, item: &[u8], groups: &[usize]) {
        let steps = [NO_STEPS; AXES_MAX];
        self.output.cell(groups).copy_from(&item[self.window.offset..], &steps[..groups.len()]);
    }

    /// Fills the cell of a block that was found decoded.
    fn copy_block(&self, bytes: &[u8], groups: &[usize]) {
        self.source.counters.blocks_cached.fetch_add(1, Ordering::Relaxed);
        let mut steps = [NO_STEPS; AXES_MAX];
        let steps = &mut steps[..groups.len()];
        self.plan.block_steps(groups, steps);
        self.output.cell(groups).copy_from(&bytes[self.window.offset..], steps);
    }
}
