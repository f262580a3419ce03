//! Reductions: all items of a source folded along some of its axes, chunk by chunk, on all threads.
//!
//! In: a [`BoxSource`], what its items are folded to, and along which axes. Out: [`Reduced`], a cell for each place
//! of the other axes. A task folds the boxes of a chunk, or of a part of one, into cells of its own: those of the
//! kept extent of what it reads. The results of tasks are folded into the whole in the order of the walk, on which
//! the kept axes are outermost. A chunk of which is known what it holds is not read.
//! Invariant: tasks depend on shapes alone, so the result has the same bits for any number of threads.

mod cells;
mod part;
#[cfg(test)]
mod tests;
mod walk;

use std::sync::atomic::{AtomicU64, Ordering};

use coquina_kernels::items::Aligned;
use coquina_kernels::reduce::{Cells, Fold, Kernel, Operation};
use coquina_kernels::{Type, best_level};

use crate::array::{BoxSource, at_once};
use crate::base::error::{Error, Result};
use crate::base::ordered::{Ordered, Take};
use crate::base::pool::Job;
use crate::base::scratch::with_aligned_scratch;
pub(crate) use cells::Piece;
pub(crate) use walk::Span;
use walk::{Task, Tasks};

/// From so many chunks on, runs of equal ones are folded as one box: to look at each would take a second and more.
/// Smaller grids are folded chunk by chunk, so that their sums stay as they are, to the last bit.
const CHUNKS_MANY: u64 = 1 << 18;

/// What a reduction gives.
pub struct Reduced {
    cells: Aligned,
    bytes: usize,
    /// What stands in its columns: one after another, each of one item for each cell.
    pub columns: &'static [Type],
    /// How many chunks the source has.
    pub chunks: u64,
    /// Of how many of them the result was known without reading them.
    pub shortcut: u64,
}

impl Reduced {
    /// The cells in C order, column by column, in the machine's byte order.
    pub fn bytes(&self) -> &[u8] {
        &self.cells.all()[..self.bytes]
    }
}

/// Folds the items of `source`, which are of type `ty`, along the axes that `is_reduced` marks.
///
/// What each cell of the result is, [`Operation`] says; without items it is what the fold of none gives: 0 for a
/// sum, the greatest item there can be for a least one. Places count along the folded axes, in C order.
///
/// # Errors
/// `Invalid` for another number of axes or size of items, `Limit` for a result that cannot be, and what goes wrong
/// with reading.
pub fn reduce(
    source: &dyn BoxSource,
    ty: Type,
    fold: Fold,
    is_reduced: &[bool],
    job: &Job<'_>,
) -> Result<Reduced> {
    let shape = source.shape();
    check(source, ty, is_reduced)?;
    let kernel = Kernel::new(fold, ty);
    let whole = Whole::new(kernel, &shape, is_reduced)?;
    let tasks = Tasks::new(&shape, is_reduced, &source.walk(), ty.bytes());
    let reduction =
        Reduction { source, fold, ty, kernel, tasks: &tasks, is_reduced, shortcut: AtomicU64::new(0) };
    let total = shape.iter().product::<u64>().saturating_mul(ty.bytes() as u64);
    let total = usize::try_from(total).unwrap_or(usize::MAX);
    let ordered = Ordered::new(whole, job.width(total));
    let work = |(number, task): (usize, Task)| {
        let bytes = task.bytes;
        ordered.put(number, || {
            reduction.run(&task).map_err(|e| e.at(format!("chunk at {:?}", task.chunk.start)))
        })?;
        Ok(bytes)
    };
    if tasks.chunks() < CHUNKS_MANY {
        job.run(total, tasks.all().enumerate(), work)?;
    } else {
        let item =
            |span: &Span| source.uniform(&span.start, &span.shape).filter(|item| item.len() == ty.bytes());
        job.run(total, tasks.all_in_runs(item).enumerate(), work)?;
    }
    let shortcut = reduction.shortcut.into_inner();
    let Whole { cells, bytes, .. } = ordered.into_taker();
    Ok(Reduced { cells, bytes, columns: kernel.columns(), chunks: tasks.chunks(), shortcut })
}

/// Whether there is a mark for each axis, and items are of the type.
fn check(source: &dyn BoxSource, ty: Type, is_reduced: &[bool]) -> Result<()> {
    let (axes, marks) = (source.shape().len(), is_reduced.len());
    if axes != marks {
        return Err(Error::invalid(format!("{marks} marks for an array of {axes} axes")));
    }
    if ty.bytes() != source.item_bytes() {
        let (name, bytes) = (ty.name(), source.item_bytes());
        return Err(Error::invalid(format!("items of {bytes} bytes are not {name}")));
    }
    Ok(())
}

/// The result as far as it is known.
struct Whole {
    kernel: Kernel,
    shape: Vec<u64>,
    cells: Aligned,
    bytes: usize,
    len: usize,
}

impl Whole {
    /// The cells of the kept axes, of nothing yet.
    fn new(kernel: Kernel, shape: &[u64], is_reduced: &[bool]) -> Result<Self> {
        let too_large = || Error::limit(format!("a result of shape {shape:?} less the reduced axes"));
        let kept = walk::pick(shape, is_reduced, false);
        let mut lens = kept.iter().map(|&len| usize::try_from(len).ok());
        let len = lens.try_fold(1_usize, |all, len| all.checked_mul(len?)).ok_or_else(too_large)?;
        let bytes = len.checked_mul(kernel.cell_bytes()).ok_or_else(too_large)?;
        let mut cells = Aligned::new();
        kernel.clear(&mut Cells::new(cells.room(bytes), len));
        Ok(Self { kernel, shape: kept, cells, bytes, len })
    }
}

impl Take<Vec<Piece>> for Whole {
    type Rest = ();

    fn take(&mut self, pieces: Vec<Piece>) -> Result<()> {
        let mut cells = Cells::new(self.cells.all_mut(), self.len);
        for mut piece in pieces {
            piece.merge_into(&self.kernel, &mut cells, &self.shape);
        }
        Ok(())
    }
}

/// A reduction that is going on.
struct Reduction<'r> {
    source: &'r dyn BoxSource,
    fold: Fold,
    ty: Type,
    kernel: Kernel,
    tasks: &'r Tasks,
    is_reduced: &'r [bool],
    shortcut: AtomicU64,
}

impl Reduction<'_> {
    /// What a task gives.
    fn run(&self, task: &Task) -> Result<Vec<Piece>> {
        at_once(|| self.run_at_once(task))
    }

    fn run_at_once(&self, task: &Task) -> Result<Vec<Piece>> {
        if let Some(piece) = self.known(task) {
            // All tasks of the chunk find this, and the first one tells it.
            if task.first > 0 {
                return Ok(Vec::new());
            }
            self.shortcut.fetch_add(task.chunks, Ordering::Relaxed);
            return Ok(vec![piece]);
        }
        with_aligned_scratch(|room| self.read(task, room))
    }

    fn read(&self, task: &Task, room: &mut Aligned) -> Result<Vec<Piece>> {
        let mut pieces: Vec<Piece> = Vec::new();
        let mut beside = Piece::default();
        for number in task.first..task.first + task.count {
            let span = self.tasks.span(&task.chunk, number);
            let bytes = span.items() * self.ty.bytes();
            let values = room.room(bytes);
            self.source.fill(&span.start, &span.shape, values)?;
            // Boxes of the same kept extent follow each other.
            let kept = span.pick(self.is_reduced, false);
            if pieces.last().is_none_or(|piece| piece.span != kept) {
                pieces.push(Piece::new(kept, &self.kernel));
            }
            let Some(piece) = pieces.last_mut() else { continue };
            if self.gives_places() {
                // Places of a box become those of the whole before they meet others.
                beside.reset(piece.span.clone(), &self.kernel);
                part::fold(&self.kernel, best_level(), values, &span, self.is_reduced, &mut beside.cells());
                part::place(self.tasks.shape(), &span, self.is_reduced, beside.cells().places());
                beside.merge(&self.kernel, piece);
            } else {
                part::fold(&self.kernel, best_level(), values, &span, self.is_reduced, &mut piece.cells());
            }
        }
        Ok(pieces)
    }

    fn gives_places(&self) -> bool {
        matches!(self.fold.operation, Operation::ArgMin | Operation::ArgMax)
    }

    /// What a chunk gives, or a box of many, if that is known without reading it.
    fn known(&self, task: &Task) -> Option<Piece> {
        let chunk = &task.chunk;
        let kept = chunk.pick(self.is_reduced, false);
        let reduced = chunk.pick(self.is_reduced, true);
        let item = task.item.clone().or_else(|| self.source.uniform(&chunk.start, &chunk.shape));
        let (item, count) = match item {
            Some(item) => (item, reduced.items() as u64),
            None => (self.extreme(chunk, &kept)?, 1),
        };
        if item.len() != self.ty.bytes() {
            return None;
        }
        let mut aligned = Aligned::new();
        aligned.room(item.len()).copy_from_slice(&item);
        let mut piece = Piece::new(kept, &self.kernel);
        self.kernel.repeat(&aligned.all()[..item.len()], count, &mut piece.cells());
        if self.gives_places() {
            part::place(self.tasks.shape(), chunk, self.is_reduced, piece.cells().places());
        }
        Some(piece)
    }

    /// The least or greatest item of a chunk that gives one cell, if that is what is asked for and known.
    fn extreme(&self, chunk: &Span, kept: &Span) -> Option<Vec<u8>> {
        let is_min = match self.fold.operation {
            Operation::Min => true,
            Operation::Max => false,
            _ => return None,
        };
        if kept.items() != 1 {
            return None;
        }
        let bounds = self.source.bounds(&chunk.start, &chunk.shape)?;
        // With NaN among them, what `fold` wants of it is decided where it is read.
        if !bounds.is_exact || bounds.has_nan && !self.fold.skips_nan {
            return None;
        }
        Some(if is_min { bounds.min } else { bounds.max })
    }
}
