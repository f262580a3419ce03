//! The order of items in cells: cells in C order, and in each its items in C order.
//!
//! In: the shape of a block and the sides of cells. Out: for each cell the rows that it is made of.
//! Source: `docs/formats/filters.md`, "NDCELL".
//! Invariant: the rows of all cells are all items, each once.

use super::AXES_MAX;

type Axes = [usize; AXES_MAX];

/// How a block is cut.
pub(super) struct Order {
    axes: usize,
    shape: Axes,
    sides: Axes,
    strides: Axes,
}

/// One cell.
pub(super) struct Cell {
    /// The number of its first item.
    first: usize,
    axes: usize,
    sizes: Axes,
}

impl Cell {
    /// Items of its rows, which are along the last axis.
    pub(super) fn width(&self) -> usize {
        self.sizes[self.axes - 1]
    }

    /// Items of all of it.
    pub(super) fn items(&self) -> usize {
        self.sizes[..self.axes].iter().product()
    }
}

impl Order {
    /// Of a block of this shape in cells of these sides; `None` for no axes or too many, more items than can be counted,
    /// or sides of 0.
    pub(super) fn new(shape: &[u32], side: impl Fn(usize) -> usize) -> Option<Self> {
        let axes = shape.len();
        let mut order = Self { axes, shape: [1; AXES_MAX], sides: [1; AXES_MAX], strides: [1; AXES_MAX] };
        for (len, &size) in order.shape.get_mut(..axes)?.iter_mut().zip(shape) {
            *len = size as usize;
        }
        let mut stride = 1;
        for axis in (0..axes).rev() {
            order.sides[axis] = side(order.shape[axis]);
            order.strides[axis] = stride;
            stride = stride.checked_mul(order.shape[axis])?;
        }
        (axes > 0 && stride > 0 && !order.sides.contains(&0)).then_some(order)
    }

    /// All cells.
    pub(super) fn cells(&self) -> impl Iterator<Item = Cell> {
        counted(self.axes, self.shape, self.sides).map(|at| {
            let first = at.iter().zip(&self.strides).map(|(start, stride)| start * stride).sum();
            let sizes = std::array::from_fn(|axis| self.sides[axis].min(self.shape[axis] - at[axis]));
            Cell { first, axes: self.axes, sizes }
        })
    }

    /// The numbers of the first items of a cell's rows.
    pub(super) fn rows(&self, cell: &Cell) -> impl Iterator<Item = usize> {
        let first = cell.first;
        counted(self.axes - 1, cell.sizes, [1; AXES_MAX])
            .map(move |at| at.iter().zip(&self.strides).fold(first, |row, (at, stride)| row + at * stride))
    }
}

/// Positions of so many axes below `ends`, in steps, in C order.
fn counted(axes: usize, ends: Axes, steps: Axes) -> impl Iterator<Item = Axes> {
    let mut next = Some([0; AXES_MAX]);
    std::iter::from_fn(move || {
        let now = next.take()?;
        let mut after = now;
        for axis in (0..axes).rev() {
            after[axis] += steps[axis];
            if after[axis] < ends[axis] {
                next = Some(after);
                break;
            }
            after[axis] = 0;
        }
        Some(now)
    })
}
