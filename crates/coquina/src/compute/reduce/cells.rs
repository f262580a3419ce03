//! The cells that a task makes: those of one kept extent.

use coquina_kernels::items::Aligned;
use coquina_kernels::reduce::{Cells, Kernel, Run};

use super::walk::Span;

/// Cells of a box of the kept axes, in C order.
#[derive(Default)]
pub(crate) struct Piece {
    /// Which box.
    pub(super) span: Span,
    memory: Aligned,
    len: usize,
}

impl Piece {
    /// Cells of no items yet.
    pub(crate) fn new(span: Span, kernel: &Kernel) -> Self {
        let mut piece = Self::default();
        piece.reset(span, kernel);
        piece
    }

    /// Makes it cells of no items, of another box.
    pub(super) fn reset(&mut self, span: Span, kernel: &Kernel) {
        self.len = span.items();
        self.span = span;
        self.memory.room(self.len * kernel.cell_bytes());
        kernel.clear(&mut self.cells());
    }

    /// The bytes of the cells.
    pub(crate) fn bytes(&self, kernel: &Kernel) -> &[u8] {
        &self.memory.all()[..self.len * kernel.cell_bytes()]
    }

    pub(crate) fn cells(&mut self) -> Cells<'_> {
        Cells::new(self.memory.all_mut(), self.len)
    }

    /// Folds these cells into those of the same box.
    pub(crate) fn merge(&mut self, kernel: &Kernel, other: &mut Self) {
        let run = Run { from: 0, to: 0, len: self.len };
        kernel.merge(&mut self.cells(), &mut other.cells(), run);
    }

    /// Folds these cells into those of the whole `shape` of the kept axes.
    pub(super) fn merge_into(&mut self, kernel: &Kernel, whole: &mut Cells<'_>, shape: &[u64]) {
        // The result has been made, so all of these fit.
        let size = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        let span = std::mem::take(&mut self.span);
        // Axes that it covers from end to end are one with the axis before.
        let mut run = 1;
        let mut axes = shape.len();
        while axes > 0 {
            axes -= 1;
            run *= size(span.shape[axes]);
            if span.shape[axes] != shape[axes] {
                break;
            }
        }
        let mut strides = vec![1; shape.len()];
        for axis in (1..shape.len()).rev() {
            strides[axis - 1] = strides[axis] * size(shape[axis]);
        }
        let base: usize = span.start.iter().zip(&strides).map(|(&start, stride)| size(start) * stride).sum();
        let (len, mut mine) = (self.len, self.cells());
        for (number, from) in (0..len).step_by(run.max(1)).enumerate() {
            let (mut to, mut left) = (base, number);
            for axis in (0..axes).rev() {
                let extent = size(span.shape[axis]);
                to += left % extent * strides[axis];
                left /= extent;
            }
            kernel.merge(&mut mine, whole, Run { from, to, len: run });
        }
    }
}
