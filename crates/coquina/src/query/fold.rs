//! The matching items of a column folded to one cell: a sum, an extreme and its place, a variance.
//!
//! In: a condition or none, a column of numbers, what they are folded to. Out: the cell, and how many items it is of.
//! No array of the matches is made: those of a box are folded while they are in the cache. The extremes of boxes in which
//! all rows match are taken from their bounds, where these are exact.
//! Invariant: boxes and their order depend on shapes alone, so the result has the same bits for any number of threads.

use std::ops::Range;

use coquina_kernels::items::Aligned;
use coquina_kernels::reduce::{Fold, Kernel, Operation, Part};
use coquina_kernels::{Type, best_level};

use super::gather::{bytes_of, gather};
use super::rows::Rows;
use super::walk::{Picked, Report, Visit, Walked};
use crate::array::BoxSource;
use crate::base::error::{Error, Result};
use crate::base::ordered::Take;
use crate::base::pool::Job;
use crate::base::scratch::with_aligned_scratch;
use crate::compute::reduce::{Piece, Span};

/// What a fold of the matching items gives.
#[derive(Clone, Debug)]
pub struct Folded {
    /// The cell, column by column, in the machine's byte order. Places count the matches.
    pub bytes: Vec<u8>,
    /// What stands in its columns.
    pub columns: &'static [Type],
    /// How many items were folded.
    pub matched: u64,
    /// What was done for it.
    pub report: Report,
}

/// Folds the items of `column`, numbers of type `ty`, of the rows that match.
///
/// # Errors
/// As [`super::scan`], and `Invalid` for items of another size than the type's.
pub fn scan_fold(
    condition: Option<&dyn BoxSource>,
    column: &dyn BoxSource,
    ty: Type,
    fold: Fold,
    rows: Rows,
    job: &Job<'_>,
) -> Result<Folded> {
    if ty.bytes() != column.item_bytes() {
        let (name, bytes) = (ty.name(), column.item_bytes());
        return Err(Error::invalid(format!("items of {bytes} bytes are not {name}")));
    }
    let walked = Walked { condition, columns: vec![column], rows, limit: None };
    let visit = Folding { column, fold, kernel: Kernel::new(fold, ty) };
    let whole = Whole { cell: visit.piece(), visit: &visit };
    let (whole, matched, report) = walked.run(&visit, whole, job)?;
    let bytes = whole.cell.piece.bytes(&visit.kernel).to_vec();
    Ok(Folded { bytes, columns: visit.kernel.columns(), matched, report })
}

/// A cell of some matches.
struct Cell {
    piece: Piece,
    matched: u64,
}

struct Folding<'f> {
    column: &'f dyn BoxSource,
    fold: Fold,
    kernel: Kernel,
}

impl Folding<'_> {
    /// Folds in so many matches that are one item.
    fn repeat(&self, item: &[u8], count: u64, cell: &mut Cell) {
        let mut aligned = Aligned::new();
        aligned.room(item.len()).copy_from_slice(item);
        let mut beside = Cell { matched: count, ..self.piece() };
        self.kernel.repeat(&aligned.all()[..item.len()], count, &mut beside.piece.cells());
        self.merge(beside, cell);
    }

    /// The least or greatest item of a range of rows, if that is what is asked for and known.
    fn extreme(&self, range: &Range<u64>) -> Option<Vec<u8>> {
        let is_min = match self.fold.operation {
            Operation::Min => true,
            Operation::Max => false,
            _ => return None,
        };
        let bounds = self.column.bounds(&[range.start], &[range.end - range.start])?;
        let item = if is_min { bounds.min } else { bounds.max };
        // Which zero of floats is folded, and what NaN does, is decided where they are read.
        let is_whole = bounds.is_exact && !bounds.has_nan && item.len() == self.column.item_bytes();
        (is_whole && item.iter().any(|&byte| byte & 0x7f != 0)).then_some(item)
    }

    /// Folds in so many matches, all rows of a range, if what they give is known without decoding any.
    fn fold_known(&self, range: &Range<u64>, count: u64, cell: &mut Cell) -> bool {
        let rows = range.end - range.start;
        let item = self.column.uniform(&[range.start], &[rows]);
        let item = item.or_else(|| (count == rows).then(|| self.extreme(range)).flatten());
        item.map(|item| self.repeat(&item, count, cell)).is_some()
    }

    /// Folds the matches that follow into a cell.
    fn merge(&self, mut next: Cell, cell: &mut Cell) {
        if next.matched == 0 {
            return;
        }
        if matches!(self.fold.operation, Operation::ArgMin | Operation::ArgMax) {
            next.piece.cells().places().iter_mut().for_each(|place| *place += cell.matched.cast_signed());
        }
        next.piece.merge(&self.kernel, &mut cell.piece);
        cell.matched += next.matched;
    }
}

impl Visit for Folding<'_> {
    type Piece = Cell;

    fn piece(&self) -> Cell {
        Cell { piece: Piece::new(Span::default(), &self.kernel), matched: 0 }
    }

    fn visit(&self, picked: &Picked<'_>, cell: &mut Cell) -> Result<bool> {
        let count = picked.count as u64;
        if self.fold_known(&(picked.start..picked.start + picked.len as u64), count, cell) {
            return Ok(false);
        }
        with_aligned_scratch(|room| {
            let values = room.room(bytes_of(picked.count, self.column.item_bytes())?);
            gather(self.column, picked, values)?;
            let place = cell.matched.cast_signed();
            let part = Part { outer: 1, reduced: picked.count, inner: 1, cell: 0, place };
            self.kernel.fold(best_level(), values, part, &mut cell.piece.cells());
            cell.matched += count;
            Ok(true)
        })
    }

    fn settle(&self, range: &Range<u64>, count: u64, cell: &mut Cell) -> Result<bool> {
        Ok(self.fold_known(range, count, cell))
    }
}

/// The cell of all matches, as far as it is known.
struct Whole<'w> {
    cell: Cell,
    visit: &'w Folding<'w>,
}

impl Take<Cell> for Whole<'_> {
    type Rest = ();

    fn take(&mut self, cell: Cell) -> Result<()> {
        self.visit.merge(cell, &mut self.cell);
        Ok(())
    }
}
