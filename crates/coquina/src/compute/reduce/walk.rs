//! In which order the boxes of a shape are read for a reduction, and which of them make a task.
//!
//! Kept axes are outermost: all that a cell of the result needs comes close together.

use crate::array::Walk;

/// Small blocks are read some at a time: so many bytes.
const READ_BYTES: usize = 128 << 10;
/// Where there are fewer chunks than this, a chunk makes tasks of about so many bytes.
const CHUNKS_FEW: u64 = 64;
const TASK_BYTES: usize = 1 << 20;
/// The most cells that a box of many chunks may give: they are made beside those of the result.
const KEPT_ITEMS_MAX: u64 = 1 << 22;

/// The entries of the reduced axes, or of the kept ones.
pub(super) fn pick(of_axes: &[u64], is_reduced: &[bool], reduced: bool) -> Vec<u64> {
    of_axes.iter().zip(is_reduced).filter(|(_, is)| **is == reduced).map(|(&of, _)| of).collect()
}

/// A box.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Span {
    pub(super) start: Vec<u64>,
    pub(super) shape: Vec<u64>,
}

impl Span {
    /// How many items; boxes that are read, and what they give, fit memory.
    pub(super) fn items(&self) -> usize {
        self.shape.iter().map(|&len| usize::try_from(len).unwrap_or(usize::MAX)).product()
    }

    /// Its bytes, as far as they can be counted.
    fn bytes(&self, item_bytes: usize) -> usize {
        let size = |len: &u64| usize::try_from(*len).unwrap_or(usize::MAX);
        self.shape.iter().map(size).fold(item_bytes, usize::saturating_mul)
    }

    /// Its extent along the reduced axes, or along the kept ones.
    pub(super) fn pick(&self, is_reduced: &[bool], reduced: bool) -> Self {
        let of = |of_axes| pick(of_axes, is_reduced, reduced);
        Self { start: of(&self.start), shape: of(&self.shape) }
    }

    /// Part `number` of this box when it is cut into boxes of shape `cut`, `order` naming the axes from the
    /// outermost to the innermost.
    fn part(&self, cut: &[u64], order: &[usize], number: u64) -> Self {
        let mut part = self.clone();
        let mut left = number;
        for &axis in order.iter().rev() {
            let (len, cut) = (self.shape[axis], cut[axis].max(1));
            let count = len.div_ceil(cut).max(1);
            let at = left % count * cut;
            left /= count;
            part.start[axis] += at;
            part.shape[axis] = (len - at).min(cut);
        }
        part
    }

    /// How many parts there are.
    fn parts(&self, cut: &[u64]) -> u64 {
        self.shape.iter().zip(cut).map(|(&len, &cut)| len.div_ceil(cut.max(1))).product()
    }
}

/// A part of the work.
pub(super) struct Task {
    /// The chunk, or the box of many chunks that `item` is known of.
    pub(super) chunk: Span,
    /// The one item that all of the box is, where that was asked.
    pub(super) item: Option<Vec<u8>>,
    /// How many chunks the box has.
    pub(super) chunks: u64,
    /// Which boxes of the chunk.
    pub(super) first: u64,
    pub(super) count: u64,
    pub(super) bytes: usize,
}

/// All of the work.
pub(super) struct Tasks {
    whole: Span,
    chunks: Vec<u64>,
    /// What is read at once.
    reads: Vec<u64>,
    order: Vec<usize>,
    /// How many of these are kept.
    kept: usize,
    item_bytes: usize,
    /// Boxes of a task.
    count: u64,
}

impl Tasks {
    pub(super) fn new(shape: &[u64], is_reduced: &[bool], walk: &Walk, item_bytes: usize) -> Self {
        let whole = Span { start: vec![0; shape.len()], shape: shape.to_vec() };
        let within = |lens: &[u64], most: &[u64]| -> Vec<u64> {
            most.iter()
                .enumerate()
                .map(|(axis, &most)| lens.get(axis).map_or(most, |&len| len.min(most)))
                .collect()
        };
        let chunks = within(&walk.chunks, shape);
        let reads = grown(within(&walk.blocks, &chunks), &chunks, item_bytes);
        let (mut order, reduced): (Vec<usize>, _) = (0..shape.len()).partition(|&axis| !is_reduced[axis]);
        let kept = order.len();
        order.extend::<Vec<usize>>(reduced);
        let read = Span { start: Vec::new(), shape: reads.clone() };
        let count = if whole.parts(&chunks) < CHUNKS_FEW {
            (TASK_BYTES / (read.items() * item_bytes).max(1)).max(1) as u64
        } else {
            u64::MAX
        };
        Self { whole, chunks, reads, order, kept, item_bytes, count }
    }

    pub(super) fn shape(&self) -> &[u64] {
        &self.whole.shape
    }

    /// How many chunks there are.
    pub(super) fn chunks(&self) -> u64 {
        self.whole.parts(&self.chunks)
    }

    /// Box `number` of a chunk.
    pub(super) fn span(&self, chunk: &Span, number: u64) -> Span {
        chunk.part(&self.reads, &self.order, number)
    }

    /// All tasks, in order.
    pub(super) fn all(&self) -> impl Iterator<Item = Task> + Send {
        (0..self.chunks()).flat_map(move |number| {
            let chunk = self.whole.part(&self.chunks, &self.order, number);
            let (boxes, bytes) = (chunk.parts(&self.reads), chunk.items() * self.item_bytes);
            let count = self.count.min(boxes);
            let tasks = boxes.div_ceil(count);
            let bytes = bytes / usize::try_from(tasks).unwrap_or(usize::MAX);
            (0..tasks).map(move |task| {
                let first = task * count;
                let count = count.min(boxes - first);
                Task { chunk: chunk.clone(), item: None, chunks: 1, first, count, bytes }
            })
        })
    }

    /// All tasks, in order, of a grid of very many chunks: a box of chunks of which `item` knows the one item that all
    /// its items are is one task. What is not known is halved, along the outermost axis that has two chunks.
    pub(super) fn all_in_runs<'t>(
        &'t self,
        item: impl Fn(&Span) -> Option<Vec<u8>> + Send + 't,
    ) -> impl Iterator<Item = Task> + Send + 't {
        let counts = self.whole.shape.iter().zip(&self.chunks).map(|(&len, &cut)| len.div_ceil(cut.max(1)));
        let shape: Vec<u64> = counts.collect();
        let mut open = vec![Span { start: vec![0; shape.len()], shape }];
        std::iter::from_fn(move || {
            loop {
                let numbers = open.pop()?;
                let chunk = self.items_of(&numbers);
                let chunks = numbers.shape.iter().product::<u64>();
                let bytes = chunk.bytes(self.item_bytes);
                if chunks <= 1 {
                    let count = chunk.parts(&self.reads);
                    return (chunks == 1).then_some(Task {
                        chunk,
                        item: None,
                        chunks,
                        first: 0,
                        count,
                        bytes,
                    });
                }
                if self.kept_items(&chunk) <= KEPT_ITEMS_MAX
                    && let Some(item) = item(&chunk)
                {
                    return Some(Task { chunk, item: Some(item), chunks, first: 0, count: 1, bytes });
                }
                let Some(&axis) = self.order.iter().find(|&&axis| numbers.shape[axis] > 1) else { continue };
                let (mut first, mut second) = (numbers.clone(), numbers);
                first.shape[axis] /= 2;
                second.start[axis] += first.shape[axis];
                second.shape[axis] -= first.shape[axis];
                open.extend([second, first]);
            }
        })
    }

    /// The items of a box of chunks.
    fn items_of(&self, numbers: &Span) -> Span {
        let mut items = numbers.clone();
        for (axis, &chunk) in self.chunks.iter().enumerate() {
            let end = (numbers.start[axis] + numbers.shape[axis]).saturating_mul(chunk);
            items.start[axis] = numbers.start[axis] * chunk;
            items.shape[axis] = end.min(self.whole.shape[axis]).saturating_sub(items.start[axis]);
        }
        items
    }

    /// How many cells a box gives.
    fn kept_items(&self, span: &Span) -> u64 {
        let kept = &self.order[..self.kept];
        kept.iter().fold(1, |all: u64, &axis| all.saturating_mul(span.shape[axis]))
    }
}

/// Boxes of some blocks beside each other within a chunk, where a block is small.
fn grown(mut blocks: Vec<u64>, chunks: &[u64], item_bytes: usize) -> Vec<u64> {
    let mut bytes = blocks.iter().fold(item_bytes as u64, |bytes, &len| bytes.saturating_mul(len)).max(1);
    for (block, &chunk) in blocks.iter_mut().zip(chunks).rev() {
        let times = (READ_BYTES as u64 / bytes).min(chunk.div_ceil((*block).max(1)));
        if times > 1 {
            bytes *= times;
            *block = (*block * times).min(chunk);
        }
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walk(chunks: &[u64], blocks: &[u64]) -> Walk {
        Walk { chunks: chunks.to_vec(), blocks: blocks.to_vec() }
    }

    #[test]
    fn kept_axes_are_outermost_and_every_item_is_read_once() {
        let tasks = Tasks::new(&[5, 7], &[true, false], &walk(&[2, 4], &[1, 3]), 1 << 16);
        let (mut seen, mut columns) = ([0; 35], Vec::new());
        for task in tasks.all() {
            for number in task.first..task.first + task.count {
                let span = tasks.span(&task.chunk, number);
                columns.push(span.start[1]);
                for row in span.start[0]..span.start[0] + span.shape[0] {
                    for column in span.start[1]..span.start[1] + span.shape[1] {
                        seen[usize::try_from(row * 7 + column).unwrap()] += 1;
                    }
                }
            }
        }
        assert_eq!(seen, [1; 35]);
        columns.dedup();
        assert_eq!(columns, [0, 3, 0, 3, 0, 3, 4]);
        assert_eq!(tasks.chunks(), 6);
    }

    #[test]
    fn small_blocks_are_read_together_and_no_axes_are_one_box() {
        assert_eq!(grown(vec![10, 10], &[100, 100], 8), [100, 100]);
        assert_eq!(grown(vec![10, 10], &[900, 900], 8), [10, 900]);
        assert_eq!(grown(vec![1, 1000], &[7, 1000], 8), [7, 1000]);
        let tasks = Tasks::new(&[], &[], &walk(&[], &[]), 8);
        assert_eq!(tasks.all().map(|task| (task.count, task.bytes)).collect::<Vec<_>>(), [(1, 8)]);
        let tasks = Tasks::new(&[3, 0], &[true, true], &walk(&[3, 0], &[3, 0]), 8);
        assert_eq!(tasks.all().count(), 0);
    }
}
