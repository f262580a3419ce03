//! One output that several threads fill at once, each in cells of its own.
//!
//! Every axis of the output is cut into groups of positions, each position in exactly one group. A cell is one
//! group of each axis. Cells are disjoint by construction, and each can be taken once: so whoever holds a cell may
//! write to it without asking anybody, though its bytes lie scattered over the output.

use std::marker::PhantomData;
use std::sync::atomic::{AtomicU64, Ordering};

use super::copy::Copy;
use super::{AXES_MAX, Axis, Steps, fits};

/// How an axis of the output is cut into groups.
#[derive(Clone, Debug)]
pub struct Cuts {
    /// Where each group begins, and where the last one ends.
    bounds: Vec<usize>,
    /// The positions, group by group; none if they are in order.
    order: Option<Vec<usize>>,
}

impl Cuts {
    /// Groups of positions that follow each other: from each bound to the next.
    ///
    /// # Panics
    /// If the bounds do not rise from 0.
    pub fn in_order(bounds: Vec<usize>) -> Self {
        assert!(bounds.first() == Some(&0) && bounds.is_sorted(), "bounds of groups must rise from 0");
        Self { bounds, order: None }
    }

    /// Groups of any positions: those of `order` from each bound to the next.
    ///
    /// # Panics
    /// If the bounds do not rise from 0 to the length of `order`, or a position is missing or there twice.
    pub fn ordered(bounds: Vec<usize>, order: Vec<usize>) -> Self {
        assert_eq!(bounds.last(), Some(&order.len()), "groups must hold all positions");
        let mut seen = vec![false; order.len()];
        for &position in &order {
            assert!(!std::mem::replace(&mut seen[position], true), "position {position} is in two groups");
        }
        Self { order: Some(order), ..Self::in_order(bounds) }
    }

    /// How many groups.
    pub fn groups(&self) -> usize {
        self.bounds.len() - 1
    }

    /// How many positions.
    pub fn positions(&self) -> usize {
        self.bounds[self.groups()]
    }
}

/// The output.
pub struct SharedOutput<'a> {
    start: *mut u8,
    bytes: usize,
    item: usize,
    axes: Vec<SharedAxis>,
    taken: Vec<AtomicU64>,
    borrow: PhantomData<&'a mut [u8]>,
}

struct SharedAxis {
    bounds: Vec<usize>,
    /// Where the positions stand in the output, in bytes, group by group; none if they are in order.
    places: Option<Vec<usize>>,
    stride: usize,
    /// Cells from one group to the next.
    cells: usize,
}

// SAFETY: threads get at the memory only through cells, which are disjoint and taken once.
unsafe impl Sync for SharedOutput<'_> {}
// SAFETY: it is a mutable borrow of plain bytes.
unsafe impl Send for SharedOutput<'_> {}

impl<'a> SharedOutput<'a> {
    /// An output in C order of items of `item` bytes.
    ///
    /// # Panics
    /// If `out` has not exactly the bytes that the axes and the item ask for, or there are too many axes.
    pub fn new(out: &'a mut [u8], item: usize, cuts: Vec<Cuts>) -> Self {
        assert!(cuts.len() <= AXES_MAX, "an output of {} axes", cuts.len());
        let (mut stride, mut cells) = (item, 1_usize);
        let mut axes: Vec<SharedAxis> = Vec::with_capacity(cuts.len());
        for Cuts { bounds, order } in cuts.into_iter().rev() {
            let (groups, positions) = (bounds.len() - 1, bounds[bounds.len() - 1]);
            let places = order.map(|mut order| {
                order.iter_mut().for_each(|position| *position *= stride);
                order
            });
            axes.push(SharedAxis { bounds, places, stride, cells });
            stride = stride.checked_mul(positions).expect("an output fits into memory");
            cells = cells.checked_mul(groups).expect("there are fewer cells than items");
        }
        axes.reverse();
        assert_eq!(stride, out.len(), "the output has as many bytes as its axes say");
        let taken = (0..cells.div_ceil(64)).map(|_| AtomicU64::new(0)).collect();
        Self { start: out.as_mut_ptr(), bytes: out.len(), item, axes, taken, borrow: PhantomData }
    }

    /// The cell of one group of each axis.
    ///
    /// # Panics
    /// If it has been taken before, or there is no such group.
    pub fn cell(&self, groups: &[usize]) -> Cell<'_> {
        assert_eq!(groups.len(), self.axes.len(), "a cell has a group of each axis");
        let mut cell = Cell { output: self, lens: [1; AXES_MAX], steps: [NO_STEPS; AXES_MAX] };
        let mut number = 0;
        for (at, (axis, &group)) in self.axes.iter().zip(groups).enumerate() {
            let (start, end) = (axis.bounds[group], axis.bounds[group + 1]);
            number += group * axis.cells;
            cell.lens[at] = end - start;
            cell.steps[at] = match &axis.places {
                Some(places) => Steps::Listed(&places[start..end]),
                None => Steps::Even { start: start * axis.stride, step: axis.stride.cast_signed() },
            };
        }
        let bit = 1 << (number % 64);
        let before = self.taken[number / 64].fetch_or(bit, Ordering::Relaxed);
        assert!(before & bit == 0, "cell {number} has been taken already");
        cell
    }
}

const NO_STEPS: Steps<'static> = Steps::Even { start: 0, step: 0 };

/// A part of the output that is its holder's alone.
pub struct Cell<'o> {
    output: &'o SharedOutput<'o>,
    lens: [usize; AXES_MAX],
    steps: [Steps<'o>; AXES_MAX],
}

impl Cell<'_> {
    fn ndim(&self) -> usize {
        self.output.axes.len()
    }

    /// Fills the cell with items of `src`, which stand where `from` says for each axis.
    ///
    /// # Panics
    /// If there are not as many `from` as axes, or a position lies outside of `src`.
    pub fn copy_from(&mut self, src: &[u8], from: &[Steps<'_>]) {
        let (ndim, item) = (self.ndim(), self.output.item);
        assert_eq!(from.len(), ndim, "one source for each axis");
        let mut axes = [Axis { len: 1, to: NO_STEPS, from: NO_STEPS }; AXES_MAX];
        for (at, axis) in axes[..ndim].iter_mut().enumerate() {
            *axis = Axis { len: self.lens[at], to: self.steps[at], from: from[at] };
        }
        let axes = &axes[..ndim];
        if item == 0 || axes.iter().any(|axis| axis.len == 0) {
            return;
        }
        assert!(fits(axes.iter().map(|a| (a.len, a.from)), item, src.len()), "the box leaves its source");
        debug_assert!(fits(axes.iter().map(|a| (a.len, a.to)), item, self.output.bytes));
        // SAFETY: the cell's positions lie inside the output, by construction, and are this holder's alone; those
        // of `src` have been checked, and `src` cannot be part of an output that is mutably borrowed.
        unsafe { Copy::new(axes, item).run(self.output.start, src.as_ptr()) }
    }

    /// The cell as one slice, if its bytes follow each other in the output.
    pub fn as_slice_mut(&mut self) -> Option<&mut [u8]> {
        let (mut start, mut bytes) = (0, self.output.item);
        // From the innermost axis on; an axis of one position is contiguous whatever its stride.
        for at in (0..self.ndim()).rev() {
            let Steps::Even { start: first, step } = self.steps[at] else { return None };
            if self.lens[at] != 1 && usize::try_from(step) != Ok(bytes) {
                return None;
            }
            start += first;
            bytes *= self.lens[at];
        }
        debug_assert!(start + bytes <= self.output.bytes);
        // SAFETY: the cell's bytes lie inside the output, by construction.
        let first = unsafe { self.output.start.add(start) };
        // SAFETY: they follow each other, and are this holder's alone for as long as the cell is borrowed.
        Some(unsafe { std::slice::from_raw_parts_mut(first, bytes) })
    }
}
