//! Reading a selection: the touched blocks of all touched chunks as one job.
//!
//! A block is decoded once, whatever is wanted of it: straight into the result where it lies there in one piece,
//! else into a thread's scratch, from where its items are copied. What is not touched is neither read nor decoded.

use std::cell::Cell;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use coquina_kernels::Type;
use coquina_kernels::boxes::{AXES_MAX, SharedOutput, Steps};

use super::cache::Cache;
use super::grid::Grid;
use super::memo;
use super::plan::{Plan, Touched};
use super::selection::{AxisSelection, Selection, Window};
use crate::base::error::{Error, Result};
use crate::base::limits::Limits;
use crate::base::pool::Job;
use crate::chunk::{Header, LazyChunk, Params};
use crate::store::{Access, Chunks, OpenChunk, Stored};

/// A task decodes about this much.
pub(super) const TASK_BYTES_MAX: usize = 512 << 10;
pub(super) const TASK_BYTES_MIN: usize = 64 << 10;

/// The front of a block is decoded in so many items: as many as a shuffle turns at once.
const FRONT_ITEMS: usize = 64;

/// What has been done for the reads of an array so far.
#[derive(Default)]
pub(super) struct Counters {
    pub(super) blocks_decoded: AtomicU64,
    pub(super) blocks_cached: AtomicU64,
}

/// All that a read needs of an array, as of one commit.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    pub(super) grid: &'a Grid,
    pub(super) chunks: &'a dyn Chunks,
    pub(super) cache: &'a Cache,
    pub(super) limits: &'a Limits,
    pub(super) counters: &'a Counters,
    /// The type of the items, if what is known of them is kept.
    pub(super) statistics: Option<Type>,
}

/// What stands in a chunk: one item over and over, or blocks.
pub(super) enum Content {
    Item(Arc<[u8]>),
    Blocks(u64, Arc<dyn OpenChunk>),
}

thread_local! {
    static SCRATCH: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// More than this is given back when the work is done.
const SCRATCH_BYTES_KEPT: usize = 8 << 20;

/// Runs `work` with `bytes` bytes of this thread's scratch, of any content.
pub(super) fn with_scratch<T>(bytes: usize, work: impl FnOnce(&mut [u8]) -> T) -> T {
    let mut scratch = SCRATCH.take();
    if scratch.len() < bytes {
        scratch.resize(bytes, 0);
    }
    let result = work(&mut scratch[..bytes]);
    if scratch.len() <= SCRATCH_BYTES_KEPT {
        SCRATCH.set(scratch);
    }
    result
}

impl Source<'_> {
    /// Fills `out` with the selected items; the selection and the window have been checked.
    pub(super) fn read(
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
            && let Some(done) = self.chunks.read_box(&start, &shape, out)
        {
            return done;
        }
        if out.len() == window.bytes
            && let Access::Free = self.chunks.access(1)?
            && let Some(done) = self.read_one(selection, window, out)
        {
            return done;
        }
        let plan = Plan::new(selection, self.grid);
        let access = self.chunks.access(plan.nchunks())?;
        let blocks = usize::try_from(plan.nblocks()).unwrap_or(usize::MAX);
        let total = blocks.saturating_mul(self.grid.block_bytes());
        // What fills the cache at once is not worth keeping.
        let all = usize::try_from(memo::boxes_before()).unwrap_or(usize::MAX).saturating_add(1);
        let keeps_blocks = total.saturating_mul(all) <= self.cache.block_bytes() / 2;
        // Nor is a whole block that is kept as long as it is needed.
        let keeps_whole = keeps_blocks && !memo::is_open();
        let whole_items = window.bytes == self.grid.typesize();
        let output = SharedOutput::new(out, window.bytes, plan.cuts());
        let read = Read {
            source: self,
            output: &output,
            whole_items,
            plan: &plan,
            window,
            keeps_blocks,
            keeps_whole,
        };
        let Access::Fetched(count) = access else {
            return match self.chunks.far() {
                Some(far) => read.run_far(far, job),
                None => read.run_all(plan.chunks(), total, job),
            };
        };
        for touched in batches(plan.chunks(), count) {
            let numbers: Vec<u64> = touched.iter().map(|touched| touched.chunk).collect();
            let fetched = self.chunks.fetch(&numbers)?;
            let source = Source { chunks: &*fetched, ..*self };
            let blocks: usize = touched.iter().map(Touched::nblocks).sum();
            let total = blocks.saturating_mul(self.grid.block_bytes());
            Read { source: &source, ..read }.run_all(touched.into_iter(), total, job)?;
        }
        Ok(())
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
        let Ok(Stored::At { id, .. } | Stored::Other { id }) = self.chunks.chunk(chunk) else { return None };
        let bytes = self.cache.block(id, block)?;
        self.counters.blocks_cached.fetch_add(1, Ordering::Relaxed);
        out.copy_from_slice(bytes.get(place..place + window.bytes)?);
        Some(Ok(()))
    }

    /// Fills `out` with the items from `start` on, which are there, of an array of one axis: without a plan, where
    /// they are whole blocks; whether they are.
    pub(super) fn read_blocks(&self, start: u64, out: &mut [u8]) -> Result<bool> {
        let (grid, size) = (self.grid, self.grid.typesize());
        let end = start + (out.len() / size) as u64;
        let begins_block = |at: u64| grid.locate(0, at).place == 0;
        let is_whole = begins_block(start) && (end == grid.shape()[0] || begins_block(end));
        if !is_whole || !matches!(self.chunks.access(1)?, Access::Free) || self.chunks.far().is_some() {
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

    /// What stands in chunk `number`.
    pub(super) fn content(&self, number: u64) -> Result<Content> {
        let stored = self.chunks.chunk(number)?;
        let id = match &stored {
            Stored::Special(special) => return Ok(Content::Item(special.item(self.grid.typesize())?.into())),
            Stored::Item(item) => return Ok(Content::Item(Arc::clone(item))),
            Stored::At { id, .. } | Stored::Other { id } => *id,
        };
        if let Some(head) = self.cache.head(id) {
            return Ok(Content::Blocks(id, head));
        }
        let head: Arc<dyn OpenChunk> = match stored {
            Stored::At { source, place, .. } => {
                let chunk = LazyChunk::open_in(&self.grid.layout(""), source, place, self.limits)?;
                self.check(chunk.header())?;
                let chunk = if self.chunks.are_ours() { chunk.trusted() } else { chunk };
                Arc::new(BloscChunk { chunk, block_bytes: self.grid.block_bytes() })
            }
            _ => self.chunks.open(number, self.limits)?,
        };
        self.cache.keep_head(id, &head);
        Ok(Content::Blocks(id, head))
    }

    /// A chunk must be cut as the array says it is.
    fn check(&self, header: &Header) -> Result<()> {
        let (nbytes, blocks) = (self.grid.chunk_bytes(), self.grid.blocks_per_chunk());
        // Stored and repeated bytes are in C order of blocks too, whatever block size their header has.
        if header.nbytes != nbytes
            || header.nblocks() != blocks && header.kind()? == crate::chunk::Kind::Blocks
        {
            return Err(Error::corrupt(format!(
                "{} bytes in {} blocks: the array has chunks of {nbytes} bytes in {blocks} blocks",
                header.nbytes,
                header.nblocks(),
            )));
        }
        Ok(())
    }

    /// Decodes block `number` of a chunk into `out`.
    pub(super) fn decode(&self, chunk: &dyn OpenChunk, number: usize, out: &mut [u8]) -> Result<()> {
        chunk.read_block(number, out)?;
        self.counters.blocks_decoded.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}

/// A Blosc chunk, cut as the array is.
struct BloscChunk {
    chunk: LazyChunk,
    block_bytes: usize,
}

impl OpenChunk for BloscChunk {
    fn read_block(&self, number: usize, out: &mut [u8]) -> Result<()> {
        // By bytes and not by number: a chunk that is stored as it is may say another block size.
        self.chunk.read(number * self.block_bytes, out).map(drop)
    }

    fn places(&self, number: usize, places: &mut Vec<Range<u64>>) {
        let start = number * self.block_bytes;
        self.chunk.places(start..start + self.block_bytes, places);
    }

    fn lend(&self, number: usize, params: &Params) -> Result<Option<Vec<u8>>> {
        if self.chunk.can_lend(params) { self.chunk.encoded_block(number) } else { Ok(None) }
    }

    fn header(&self) -> Option<Header> {
        Some(*self.chunk.header())
    }

    fn memory_bytes(&self) -> usize {
        self.chunk.memory_bytes()
    }
}

/// So many at a time.
pub(super) fn batches<T>(mut all: impl Iterator<Item = T>, count: usize) -> impl Iterator<Item = Vec<T>> {
    std::iter::from_fn(move || {
        let batch: Vec<T> = all.by_ref().take(count.max(1)).collect();
        (!batch.is_empty()).then_some(batch)
    })
}

/// The blocks of a chunk in runs.
pub(super) fn cut(touched: Touched, task_blocks: usize) -> impl Iterator<Item = (Touched, usize, usize)> {
    let blocks = touched.nblocks();
    (0..blocks)
        .step_by(task_blocks)
        .map(move |first| (touched.clone(), first, task_blocks.min(blocks - first)))
}

/// A read that is going on.
#[derive(Clone, Copy)]
pub(super) struct Read<'r> {
    pub(super) source: &'r Source<'r>,
    pub(super) plan: &'r Plan,
    output: &'r SharedOutput<'r>,
    window: Window,
    whole_items: bool,
    keeps_blocks: bool,
    /// Whether those are kept too that are decoded straight to where they are wanted.
    keeps_whole: bool,
}

const NO_STEPS: Steps<'static> = Steps::Even { start: 0, step: 0 };

impl Read<'_> {
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
        let tasks = touched.flat_map(|touched| cut(touched, task_blocks.max(1)));
        job.run(total, tasks, |(touched, first, count)| {
            let chunk = touched.chunk;
            self.run(&touched, first, count).map_err(|e| e.at(format!("chunk {chunk}")))?;
            Ok(count * block_bytes)
        })
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
        let mut cell = self.output.cell(groups);
        let ndim = groups.len();
        let mut steps = [NO_STEPS; AXES_MAX];
        let (id, chunk) = match content {
            Content::Item(item) => {
                cell.copy_from(&item[self.window.offset..], &steps[..ndim]);
                return Ok(());
            }
            Content::Blocks(id, chunk) => (*id, chunk),
        };
        self.plan.block_steps(groups, &mut steps[..ndim]);
        let block_bytes = self.source.grid.block_bytes();
        if let Some(bytes) = self.source.cache.block(id, block) {
            self.source.counters.blocks_cached.fetch_add(1, Ordering::Relaxed);
            cell.copy_from(&bytes[self.window.offset..], &steps[..ndim]);
            return Ok(());
        }
        if self.whole_items
            && !self.keeps_whole
            && self.plan.is_block_in_order(groups, self.source.grid)
            && let Some(out) = cell.as_slice_mut()
            && out.len() == block_bytes
        {
            return self.source.decode(&**chunk, block, out);
        }
        if self.keeps_blocks {
            let mut bytes = vec![0; block_bytes];
            self.source.decode(&**chunk, block, &mut bytes)?;
            cell.copy_from(&bytes[self.window.offset..], &steps[..ndim]);
            self.source.cache.keep_block(id, block, &Arc::new(bytes));
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
}
