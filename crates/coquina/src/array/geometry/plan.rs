//! From a selection to the blocks that it touches: the one walk that reading, writing and counting share.
//!
//! In: a selection and a grid. Out: for each axis of the result its positions in groups, each group in one block
//! along that axis. A block that is touched is one group of each axis; so is the part of the result that it fills.
//! A chunk that is touched is a run of groups of each axis.

use std::ops::Range;

use coquina_kernels::boxes::{Cuts, Steps};

use super::block_order::by_block;
use super::grid::{Grid, Located};
use super::selection::{AxisSelection, Points, Selection};

/// A selection, cut along the grid.
pub(crate) struct Plan {
    pub(crate) axes: Vec<PlanAxis>,
}

/// One axis of the result.
#[derive(Default)]
pub(crate) struct PlanAxis {
    groups: Vec<Group>,
    /// Where the groups begin among the positions, and where the last one ends.
    bounds: Vec<usize>,
    /// The positions of the result, group by group; none if they are in order.
    order: Option<Vec<usize>>,
    /// Where listed positions stand in their blocks, in bytes, group by group.
    places: Vec<usize>,
    /// The chunks: what each adds to the number of a chunk, and its groups.
    chunks: Vec<(u64, Range<usize>)>,
}

/// Positions that lie in one block along this axis.
struct Group {
    /// What the block adds to the number of a block.
    block: usize,
    from: From,
}

/// Where the positions of a group stand in their block.
enum From {
    Even { start: usize, step: isize },
    Listed,
}

/// The indices along an axis that are in one block.
struct Near {
    rows: Range<u64>,
    chunk: u64,
    block: usize,
}

impl Plan {
    /// The plan for a selection that has been checked and is not empty.
    pub(crate) fn new(selection: &Selection, grid: &Grid) -> Self {
        let mut axes = Vec::with_capacity(grid.ndim() + 1);
        for (axis, selected) in selection.axes.iter().enumerate() {
            match selected {
                Some(AxisSelection::Range { start, step, len }) => {
                    axes.push(PlanAxis::of_range(grid, axis, *start, *step, *len));
                }
                Some(AxisSelection::List(indices)) => axes.push(PlanAxis::of_list(grid, axis, indices)),
                None => {}
            }
        }
        if let Some(points) = &selection.points {
            axes.insert(points.place, PlanAxis::of_points(grid, points));
        }
        Self { axes }
    }

    /// How the result is cut into the parts that blocks fill.
    pub(crate) fn cuts(&self) -> Vec<Cuts> {
        self.axes.iter().map(PlanAxis::cuts).collect()
    }

    /// How many blocks are touched.
    pub(crate) fn nblocks(&self) -> u64 {
        self.axes.iter().map(|axis| axis.groups.len() as u64).product()
    }

    /// How many chunks are touched, each once or more often.
    pub(crate) fn nchunks(&self) -> u64 {
        self.axes.iter().map(|axis| axis.chunks.len() as u64).product()
    }

    /// The chunks that are touched, in the order of the first axis's groups.
    pub(crate) fn chunks(&self) -> ChunkWalk<'_> {
        ChunkWalk {
            plan: self,
            at: vec![0; self.axes.len()],
            is_done: self.axes.iter().any(|a| a.chunks.is_empty()),
        }
    }
}

impl PlanAxis {
    fn cuts(&self) -> Cuts {
        match &self.order {
            Some(order) => Cuts::ordered(self.bounds.clone(), order.clone()),
            None => Cuts::in_order(self.bounds.clone()),
        }
    }

    fn push(&mut self, chunk: u64, group: Group, len: usize) {
        let number = self.groups.len();
        match self.chunks.last_mut() {
            Some((last, groups)) if *last == chunk => groups.end = number + 1,
            _ => self.chunks.push((chunk, number..number + 1)),
        }
        self.groups.push(group);
        let end = self.bounds.last().copied().unwrap_or(0) + len;
        self.bounds.push(end);
    }

    fn of_range(grid: &Grid, axis: usize, start: u64, step: i64, len: u64) -> Self {
        let mut plan = Self { bounds: vec![0], ..Self::default() };
        let stride = grid.item_stride(axis).cast_signed();
        // Steps that leave the block at once are as good as the longest step that does.
        let byte_step = isize::try_from(step).unwrap_or(isize::MAX).saturating_mul(stride);
        let (mut at, mut left) = (start, len);
        while left > 0 {
            let located = grid.locate(axis, at);
            let room = if step > 0 { located.ahead } else { located.behind };
            let count = room.div_ceil(step.unsigned_abs()).min(left);
            let step_bytes = if count == 1 { 0 } else { byte_step };
            let from = From::Even { start: located.place, step: step_bytes };
            let count_usize = usize::try_from(count).unwrap_or(usize::MAX);
            plan.push(located.chunk, Group { block: located.block, from }, count_usize);
            left -= count;
            // Checked before: every index taken exists, and the one after the last is not used.
            at = at.wrapping_add_signed(step.wrapping_mul(count.cast_signed()));
        }
        plan
    }

    fn of_list(grid: &Grid, axis: usize, indices: &[u64]) -> Self {
        let order = (!indices.is_sorted()).then(|| by_block(grid, axis, indices));
        // The block that the last index was in: the next one mostly is too, and dividing takes longer than looking.
        let mut known = Near { rows: 0..0, chunk: 0, block: 0 };
        let stride = grid.item_stride(axis);
        let locate = |at: usize| {
            let index = indices[at];
            if !known.rows.contains(&index) {
                let Located { chunk, block, ahead, behind, .. } = grid.locate(axis, index);
                known = Near { rows: index + 1 - behind..index + ahead, chunk, block };
            }
            let place = usize::try_from(index - known.rows.start).unwrap_or(usize::MAX) * stride;
            (known.chunk, known.block, place)
        };
        Self::of_located(indices.len(), order, locate)
    }

    fn of_points(grid: &Grid, points: &Points) -> Self {
        let len = usize::try_from(points.len()).unwrap_or(usize::MAX);
        let mut located = vec![(0_u64, 0_usize, 0_usize); len];
        for (&axis, indices) in points.axes.iter().zip(&points.coordinates) {
            for (sum, &index) in located.iter_mut().zip(indices) {
                let one = grid.locate(axis, index);
                *sum = (sum.0 + one.chunk, sum.1 + one.block, sum.2 + one.place);
            }
        }
        let block = |at: usize| (located[at].0, located[at].1);
        let order = (!(0..len).is_sorted_by_key(block)).then(|| {
            let mut order: Vec<usize> = (0..len).collect();
            order.sort_by_key(|&at| block(at));
            order
        });
        Self::of_located(len, order, |at| located[at])
    }

    /// Groups of listed positions that follow each other, in order, in one block.
    fn of_located(
        len: usize,
        order: Option<Vec<usize>>,
        mut locate: impl FnMut(usize) -> (u64, usize, usize),
    ) -> Self {
        let mut plan = Self { bounds: vec![0], places: Vec::with_capacity(len), ..Self::default() };
        let mut last: Option<(u64, usize)> = None;
        let mut count = 0;
        for number in 0..len {
            let (chunk, block, place) = locate(order.as_ref().map_or(number, |order| order[number]));
            if let Some((last_chunk, last_block)) = last
                && (chunk, block) != (last_chunk, last_block)
            {
                plan.push(last_chunk, Group { block: last_block, from: From::Listed }, count);
                count = 0;
            }
            last = Some((chunk, block));
            plan.places.push(place);
            count += 1;
        }
        if let Some((chunk, block)) = last {
            plan.push(chunk, Group { block, from: From::Listed }, count);
        }
        plan.order = order;
        plan
    }

    /// Where the positions of a group stand in their block.
    fn steps(&self, group: usize) -> Steps<'_> {
        match self.groups[group].from {
            From::Even { start, step } => Steps::Even { start, step },
            From::Listed => Steps::Listed(&self.places[self.bounds[group]..self.bounds[group + 1]]),
        }
    }

    /// The positions of the result that a group fills: how many, and their places for `stride` bytes from one to
    /// the next; listed places are put into `room`.
    fn result_steps<'r>(&self, group: usize, stride: usize, room: &'r mut Vec<usize>) -> (usize, Steps<'r>) {
        let (start, end) = (self.bounds[group], self.bounds[group + 1]);
        let steps = match &self.order {
            None => Steps::Even { start: start * stride, step: stride.cast_signed() },
            Some(order) => {
                room.clear();
                room.extend(order[start..end].iter().map(|position| position * stride));
                Steps::Listed(room)
            }
        };
        (end - start, steps)
    }
}

/// A chunk that is touched.
#[derive(Clone)]
pub(crate) struct Touched {
    /// Its number.
    pub(crate) chunk: u64,
    /// Its groups along each axis.
    groups: Vec<Range<usize>>,
}

/// Walks over the chunks that are touched.
pub(crate) struct ChunkWalk<'p> {
    plan: &'p Plan,
    at: Vec<usize>,
    is_done: bool,
}

impl Iterator for ChunkWalk<'_> {
    type Item = Touched;

    fn next(&mut self) -> Option<Touched> {
        if self.is_done {
            return None;
        }
        let mut touched = Touched { chunk: 0, groups: Vec::with_capacity(self.at.len()) };
        for (axis, &at) in self.plan.axes.iter().zip(&self.at) {
            let (chunk, groups) = &axis.chunks[at];
            touched.chunk += chunk;
            touched.groups.push(groups.clone());
        }
        self.is_done = true;
        for (axis, at) in self.plan.axes.iter().zip(&mut self.at).rev() {
            *at += 1;
            if *at < axis.chunks.len() {
                self.is_done = false;
                break;
            }
            *at = 0;
        }
        Some(touched)
    }
}

impl Touched {
    /// How many of its blocks are touched.
    pub(crate) fn nblocks(&self) -> usize {
        self.groups.iter().map(ExactSizeIterator::len).product()
    }

    /// The groups of its touched block `number`, into `groups`; returns which block of the chunk it is.
    pub(crate) fn block(&self, plan: &Plan, mut number: usize, groups: &mut [usize]) -> usize {
        let mut block = 0;
        for ((axis, range), group) in plan.axes.iter().zip(&self.groups).zip(groups.iter_mut()).rev() {
            *group = range.start + number % range.len();
            number /= range.len();
            block += axis.groups[*group].block;
        }
        block
    }

    /// Where the items of this chunk stand in a result that is in order: start and shape.
    pub(crate) fn positions(&self, plan: &Plan) -> (Vec<u64>, Vec<u64>) {
        let axes = plan.axes.iter().zip(&self.groups);
        let start = |(axis, groups): (&PlanAxis, &Range<usize>)| axis.bounds[groups.start] as u64;
        (axes.map(start).collect(), self.lens(plan).map(|len| len as u64).collect())
    }

    /// How many items along each axis of the result this chunk gives.
    pub(crate) fn lens<'t>(&'t self, plan: &'t Plan) -> impl Iterator<Item = usize> + 't {
        plan.axes
            .iter()
            .zip(&self.groups)
            .map(|(axis, groups)| axis.bounds[groups.end] - axis.bounds[groups.start])
    }
}

/// A task decodes about this much.
pub(crate) const TASK_BYTES_MAX: usize = 512 << 10;
pub(crate) const TASK_BYTES_MIN: usize = 64 << 10;

/// So many at a time.
pub(crate) fn batches<T>(mut all: impl Iterator<Item = T>, count: usize) -> impl Iterator<Item = Vec<T>> {
    std::iter::from_fn(move || {
        let batch: Vec<T> = all.by_ref().take(count.max(1)).collect();
        (!batch.is_empty()).then_some(batch)
    })
}

/// The blocks of a chunk in runs.
pub(crate) fn block_runs(
    touched: Touched,
    task_blocks: usize,
) -> impl Iterator<Item = (Touched, usize, usize)> {
    let blocks = touched.nblocks();
    (0..blocks)
        .step_by(task_blocks)
        .map(move |first| (touched.clone(), first, task_blocks.min(blocks - first)))
}

impl Plan {
    /// Where the items of a block stand that fill one cell of the result.
    pub(crate) fn block_steps<'p>(&'p self, groups: &[usize], steps: &mut [Steps<'p>]) {
        for ((axis, &group), steps) in self.axes.iter().zip(groups).zip(steps) {
            *steps = axis.steps(group);
        }
    }

    /// Where the items of one cell stand in a result in C order with `strides`, and how many along each axis.
    pub(crate) fn result_steps<'r>(
        &self,
        groups: &[usize],
        strides: &[usize],
        rooms: &'r mut [Vec<usize>],
    ) -> Vec<(usize, Steps<'r>)> {
        let axes = self.axes.iter().zip(groups).zip(strides).zip(rooms);
        axes.map(|(((axis, &group), &stride), room)| axis.result_steps(group, stride, room)).collect()
    }

    /// Where the last item stands in its block that fills a cell.
    pub(crate) fn block_end(&self, groups: &[usize], steps: &[Steps<'_>]) -> usize {
        self.lens(groups).zip(steps).map(|(len, steps)| steps.highest(len).unwrap_or(0)).sum()
    }

    /// Where a cell stands in a result that is in order: start and shape.
    pub(crate) fn positions(&self, groups: &[usize]) -> (Vec<u64>, Vec<u64>) {
        let starts = self.axes.iter().zip(groups).map(|(axis, &group)| axis.bounds[group] as u64);
        (starts.collect(), self.lens(groups).map(|len| len as u64).collect())
    }

    /// How many positions a cell has along each axis.
    pub(crate) fn lens<'p>(&'p self, groups: &'p [usize]) -> impl Iterator<Item = usize> + 'p {
        self.axes.iter().zip(groups).map(|(axis, &group)| axis.bounds[group + 1] - axis.bounds[group])
    }

    /// Whether the items of a block are taken in the order in which they stand there, as far as steps go.
    pub(crate) fn is_block_in_order(&self, groups: &[usize], grid: &Grid) -> bool {
        self.axes.len() == grid.ndim()
            && self.axes.iter().zip(groups).enumerate().all(|(at, (axis, &group))| {
                let len = axis.bounds[group + 1] - axis.bounds[group];
                let stride = grid.item_stride(at);
                match axis.groups[group].from {
                    From::Even { start: 0, step } => len == 1 || usize::try_from(step) == Ok(stride),
                    _ => false,
                }
            })
    }

    /// Whether every axis is a range of neighbours.
    pub(crate) fn is_box(&self, selection: &Selection) -> bool {
        selection.points.is_none()
            && selection.axes.iter().all(|axis| {
                matches!(
                    axis,
                    Some(AxisSelection::Range { step: 1 | -1, .. } | AxisSelection::Range { len: 1, .. })
                )
            })
    }
}
