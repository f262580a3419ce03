//! A box folded into cells: as few and as long loops as its axes allow.
//!
//! Axes of one kind that lie beside each other are one; the last three of those are the kernel's, and what is left
//! before them is walked over here.

use coquina_kernels::Level;
use coquina_kernels::reduce::{Cells, Kernel, Part};

use super::walk::Span;

/// Axes of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Group {
    is_reduced: bool,
    len: usize,
}

fn groups(shape: &[u64], is_reduced: &[bool]) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::with_capacity(shape.len());
    for (&len, &is_reduced) in shape.iter().zip(is_reduced).filter(|(len, _)| **len != 1) {
        let len = usize::try_from(len).unwrap_or(usize::MAX);
        match groups.last_mut() {
            Some(group) if group.is_reduced == is_reduced => group.len *= len,
            _ => groups.push(Group { is_reduced, len }),
        }
    }
    groups
}

/// Folds the items of a box into cells, one for each place of the kept axes. Places are those in the box.
pub(super) fn fold(
    kernel: &Kernel,
    level: Level,
    values: &[u8],
    span: &Span,
    is_reduced: &[bool],
    cells: &mut Cells<'_>,
) {
    let mut groups = groups(&span.shape, is_reduced);
    let mut last =
        |is_reduced| groups.pop_if(|group| group.is_reduced == is_reduced).map_or(1, |group| group.len);
    let (inner, reduced, outer) = (last(false), last(true), last(false));
    let items = outer * reduced * inner;
    if items == 0 {
        return;
    }
    // What a step along a group adds to the cell, and to the place.
    let (mut cell_step, mut place_step) = (outer * inner, reduced);
    let mut steps: Vec<(usize, usize, usize)> = Vec::with_capacity(groups.len());
    for group in groups.iter().rev() {
        if group.is_reduced {
            steps.push((group.len, 0, place_step));
            place_step *= group.len;
        } else {
            steps.push((group.len, cell_step, 0));
            cell_step *= group.len;
        }
    }
    let part_bytes = values.len() / steps.iter().map(|(len, ..)| len).product::<usize>().max(1);
    for (number, values) in values.chunks_exact(part_bytes.max(1)).enumerate() {
        let (mut cell, mut place, mut left) = (0, 0, number);
        for &(len, cell_step, place_step) in &steps {
            let at = left % len;
            left /= len;
            cell += at * cell_step;
            place += at * place_step;
        }
        kernel.fold(level, values, Part { outer, reduced, inner, cell, place: place as i64 }, cells);
    }
}

/// Makes places in a box those in the whole shape.
pub(super) fn place(shape: &[u64], span: &Span, is_reduced: &[bool], places: &mut [i64]) {
    let axes = || shape.iter().zip(&span.start).zip(&span.shape).zip(is_reduced).filter(|(_, is)| **is);
    // From the innermost axis outwards: its length in the box, where the box starts, and a step along it.
    let mut step = 1_u64;
    let mut steps: Vec<(i64, i64)> = Vec::with_capacity(shape.len());
    let mut first = 0;
    for (((&whole, &start), &len), _) in axes().rev() {
        first += (start * step).cast_signed();
        steps.push((len.cast_signed(), step.cast_signed()));
        step = step.saturating_mul(whole);
    }
    // An axis along which the box has one item only says where it begins.
    steps.retain(|(len, _)| *len > 1);
    if let [] | [(_, 1)] = steps[..] {
        for place in places.iter_mut().filter(|place| **place >= 0) {
            *place += first;
        }
        return;
    }
    for place in places.iter_mut().filter(|place| **place >= 0) {
        let (mut left, mut found) = (*place, first);
        for &(len, step) in &steps {
            found += left % len * step;
            left /= len;
        }
        *place = found;
    }
}
