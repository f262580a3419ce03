//! Prediction of lattice numbers from their neighbours: what is left of each, and the numbers again.
//!
//! In: a block of integers, its shape, and a [`Plan`]. Out: as many residuals, in the order in which the numbers are
//! predicted; and back. Numbers marked [`HOLE`] are replaced by their prediction, so that they disturb no neighbour.
//! Source: `docs/formats/predict.md`, "Prediction".
//! Invariant: arithmetic wraps, so that any residuals give some numbers; backward undoes forward.

use super::kernels::{Copied, Cubic, CubicLeft, CubicRight, Extrapolated, Kernel, Linear};

/// What stands for a number that is stored exactly, and for its residual.
pub(super) const HOLE: i32 = i32::MIN;
pub(super) const AXES: usize = 4;

/// How numbers are predicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    /// From all neighbours before, along each axis.
    Lorenzo,
    /// From two neighbours along an axis.
    Linear,
    /// From four neighbours along an axis.
    Cubic,
}

/// How a block is predicted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    /// Items along each axis; those that are not there are 1, in front.
    pub(super) shape: [usize; AXES],
    pub(super) method: Method,
    /// In which order axes are halved.
    pub(super) order: [usize; AXES],
}

impl Plan {
    fn strides(&self) -> [usize; AXES] {
        let [_, b, c, d] = self.shape;
        [b * c * d, c * d, d, 1]
    }
}

/// Which way a residual is used.
trait Direction {
    fn each(number: &mut i32, residual: &mut i32, predicted: i32);
}

/// Numbers become residuals.
struct Forward;
/// Residuals become numbers.
struct Backward;
/// The same, of blocks that have holes.
struct ForwardWithHoles;
struct BackwardWithHoles;

impl Direction for Forward {
    #[inline(always)]
    fn each(number: &mut i32, residual: &mut i32, predicted: i32) {
        *residual = number.wrapping_sub(predicted);
    }
}

impl Direction for Backward {
    #[inline(always)]
    fn each(number: &mut i32, residual: &mut i32, predicted: i32) {
        *number = residual.wrapping_add(predicted);
    }
}

impl Direction for ForwardWithHoles {
    #[inline(always)]
    fn each(number: &mut i32, residual: &mut i32, predicted: i32) {
        let is_hole = *number == HOLE;
        *residual = if is_hole { HOLE } else { number.wrapping_sub(predicted) };
        *number = if is_hole { predicted } else { *number };
    }
}

impl Direction for BackwardWithHoles {
    #[inline(always)]
    fn each(number: &mut i32, residual: &mut i32, predicted: i32) {
        let left = if *residual == HOLE { 0 } else { *residual };
        *number = left.wrapping_add(predicted);
    }
}

/// Fills `residuals`; holes of `numbers` become what is predicted for them. Returns their places in the order of residuals.
pub(super) fn forward(
    plan: &Plan,
    numbers: &mut [i32],
    residuals: &mut [i32],
    has_holes: bool,
) -> Vec<usize> {
    match plan.method {
        Method::Lorenzo => {
            let holes = if has_holes { fill_holes(plan, numbers) } else { Vec::new() };
            residuals.copy_from_slice(numbers);
            for axis in (0..AXES).filter(|&axis| plan.shape[axis] > 1) {
                difference(plan, axis, residuals);
            }
            holes.iter().for_each(|&place| residuals[place] = HOLE);
            holes
        }
        _ if has_holes => walk_with_holes::<ForwardWithHoles>(plan, numbers, residuals),
        _ => walk_without_holes::<Forward>(plan, numbers, residuals),
    }
}

/// Fills `numbers`, and returns the places of holes in the order of residuals.
pub(super) fn backward(
    plan: &Plan,
    residuals: &mut [i32],
    numbers: &mut [i32],
    has_holes: bool,
) -> Vec<usize> {
    match plan.method {
        Method::Lorenzo => {
            let mut holes = Vec::new();
            for (place, (number, &residual)) in numbers.iter_mut().zip(&*residuals).enumerate() {
                *number = if residual == HOLE { 0 } else { residual };
                if has_holes && residual == HOLE {
                    holes.push(place);
                }
            }
            for axis in (0..AXES).rev().filter(|&axis| plan.shape[axis] > 1) {
                sum(plan, axis, numbers);
            }
            holes
        }
        _ if has_holes => walk_with_holes::<BackwardWithHoles>(plan, numbers, residuals),
        _ => walk_without_holes::<Backward>(plan, numbers, residuals),
    }
}

fn walk_without_holes<D: Direction>(plan: &Plan, numbers: &mut [i32], residuals: &mut [i32]) -> Vec<usize> {
    walk::<D>(plan, numbers, residuals, &mut |_, _, _| {});
    Vec::new()
}

/// Returns the places of holes.
fn walk_with_holes<D: Direction>(plan: &Plan, numbers: &mut [i32], residuals: &mut [i32]) -> Vec<usize> {
    let mut holes = Vec::new();
    walk::<D>(plan, numbers, residuals, &mut |place, step, row| {
        let found = row.iter().enumerate().filter(|(_, residual)| **residual == HOLE);
        holes.extend(found.map(|(i, _)| place + i * step));
    });
    holes
}

/// Gives holes the sum of their neighbours before, with signs; returns where they are.
fn fill_holes(plan: &Plan, numbers: &mut [i32]) -> Vec<usize> {
    let strides = plan.strides();
    let mut holes = Vec::new();
    for place in 0..numbers.len() {
        if numbers[place] != HOLE {
            continue;
        }
        holes.push(place);
        let mut predicted = 0_i32;
        for corner in 1..1_usize << AXES {
            let axes = || (0..AXES).filter(move |axis| corner >> axis & 1 == 1);
            if axes().all(|axis| !(place / strides[axis]).is_multiple_of(plan.shape[axis])) {
                let value = numbers[place - axes().map(|axis| strides[axis]).sum::<usize>()];
                let is_added = corner.count_ones() % 2 == 1;
                predicted =
                    if is_added { predicted.wrapping_add(value) } else { predicted.wrapping_sub(value) };
            }
        }
        numbers[place] = predicted;
    }
    holes
}

/// Takes from each number the one before it along an axis.
fn difference(plan: &Plan, axis: usize, numbers: &mut [i32]) {
    let (inner, len) = (plan.strides()[axis], plan.shape[axis]);
    for run in numbers.chunks_exact_mut(inner * len) {
        if inner == 1 {
            let mut before = 0;
            for number in run {
                (before, *number) = (*number, number.wrapping_sub(before));
            }
            continue;
        }
        for i in (1..len).rev() {
            let (before, rest) = run.split_at_mut(i * inner);
            let lines = rest[..inner].iter_mut().zip(&before[(i - 1) * inner..]);
            lines.for_each(|(number, before)| *number = number.wrapping_sub(*before));
        }
    }
}

/// Adds to each number the one before it along an axis.
fn sum(plan: &Plan, axis: usize, numbers: &mut [i32]) {
    let (inner, len) = (plan.strides()[axis], plan.shape[axis]);
    for run in numbers.chunks_exact_mut(inner * len) {
        if inner == 1 {
            let mut total = 0_i32;
            for number in run {
                total = total.wrapping_add(*number);
                *number = total;
            }
            continue;
        }
        for i in 1..len {
            let (before, rest) = run.split_at_mut(i * inner);
            let lines = rest[..inner].iter_mut().zip(&before[(i - 1) * inner..]);
            lines.for_each(|(number, before)| *number = number.wrapping_add(*before));
        }
    }
}

/// One pass: the odd multiples of `stride` along an axis.
struct Pass<'p> {
    plan: &'p Plan,
    axis: usize,
    stride: usize,
    /// How far apart known numbers are along each axis; along the axis itself, twice the stride.
    steps: [usize; AXES],
}

/// Shows the place, the step and the residuals of a line once it is done.
type Seen<'s> = dyn FnMut(usize, usize, &[i32]) + 's;

fn walk<D: Direction>(plan: &Plan, numbers: &mut [i32], residuals: &mut [i32], seen: &mut Seen<'_>) {
    let Some((first, mut residuals)) = residuals.split_first_mut() else { return };
    D::each(&mut numbers[0], first, 0);
    seen(0, 1, std::slice::from_ref(first));
    let longest = plan.shape.iter().copied().max().unwrap_or(1);
    let mut stride = longest.next_power_of_two() / 2;
    while stride > 0 {
        let mut steps = [2 * stride; AXES];
        for axis in plan.order {
            if stride < plan.shape[axis] {
                let pass = Pass { plan, axis, stride, steps };
                residuals = pass.run::<D>(numbers, residuals, seen);
            }
            steps[axis] = stride;
        }
        stride /= 2;
    }
}

impl Pass<'_> {
    fn run<'r, D: Direction>(
        &self,
        numbers: &mut [i32],
        mut residuals: &'r mut [i32],
        seen: &mut Seen<'_>,
    ) -> &'r mut [i32] {
        let (shape, strides) = (self.plan.shape, self.plan.strides());
        let x = AXES - 1;
        let mut firsts = [0; AXES];
        let mut steps = self.steps;
        firsts[self.axis] = self.stride;
        steps[self.axis] = 2 * self.stride;
        for w in (firsts[0]..shape[0]).step_by(steps[0]) {
            for z in (firsts[1]..shape[1]).step_by(steps[1]) {
                for y in (firsts[2]..shape[2]).step_by(steps[2]) {
                    let row = w * strides[0] + z * strides[1] + y * strides[2];
                    let count = (shape[x] - firsts[x]).div_ceil(steps[x]);
                    let (now, rest) = residuals.split_at_mut(count);
                    residuals = rest;
                    if self.axis == x {
                        self.along::<D>(&mut numbers[row..row + shape[x]], now);
                    } else {
                        self.across::<D>(numbers, row, [w, z, y][self.axis], now);
                    }
                    seen(row + firsts[x], steps[x], now);
                }
            }
        }
        residuals
    }

    /// A row whose own numbers are predicted from others of it.
    fn along<D: Direction>(&self, row: &mut [i32], residuals: &mut [i32]) {
        let (s, len) = (self.stride, row.len());
        let mut one = |i: usize, residual: &mut i32| {
            let mut number = row[i];
            let left = row[i - s];
            let farther = if i >= 3 * s { Some(row[i - 3 * s]) } else { None };
            let (right, beyond) = (row.get(i + s).copied(), row.get(i + 3 * s).copied());
            let predicted = match (farther, right, beyond, self.plan.method) {
                (Some(a), Some(c), Some(d), Method::Cubic) => Cubic::of(a, left, c, d),
                (None, Some(c), Some(d), Method::Cubic) => CubicLeft::of(0, left, c, d),
                (Some(a), Some(c), None, Method::Cubic) => CubicRight::of(a, left, c, 0),
                (_, Some(c), _, _) => Linear::of(0, left, c, 0),
                (Some(a), None, _, _) => Extrapolated::of(a, left, 0, 0),
                (None, None, _, _) => left,
            };
            D::each(&mut number, residual, predicted);
            row[i] = number;
        };
        let count = residuals.len();
        // Those with all four neighbours lie between the first and the last two.
        let inside = if self.plan.method == Method::Cubic && len > 4 * s {
            (len - 1 - 4 * s) / (2 * s) + 1
        } else {
            0
        };
        let inside = 1.min(count)..inside.clamp(1.min(count), count);
        for k in (0..inside.start).chain(inside.end..count) {
            one((2 * k + 1) * s, &mut residuals[k]);
        }
        if s == 1 {
            if inside.is_empty() {
                return;
            }
            let first = 2 * inside.start;
            let mut kept = [row[first - 2], row[first], row[first + 2]];
            for k in inside {
                let i = 2 * k + 1;
                let far = row[i + 3];
                let predicted = Cubic::of(kept[0], kept[1], kept[2], far);
                let mut number = row[i];
                D::each(&mut number, &mut residuals[k], predicted);
                row[i] = number;
                kept = [kept[1], kept[2], far];
            }
        } else {
            for k in inside {
                let i = (2 * k + 1) * s;
                let predicted = Cubic::of(row[i - 3 * s], row[i - s], row[i + s], row[i + 3 * s]);
                let mut number = row[i];
                D::each(&mut number, &mut residuals[k], predicted);
                row[i] = number;
            }
        }
    }

    /// A row that is predicted from the rows beside it, `index` being where it is along the axis.
    fn across<D: Direction>(&self, numbers: &mut [i32], row: usize, index: usize, residuals: &mut [i32]) {
        let (s, len) = (self.stride, self.plan.shape[self.axis]);
        let away = s * self.plan.strides()[self.axis];
        let width = self.plan.shape[AXES - 1];
        let (before, rest) = numbers.split_at_mut(row);
        let (target, after) = rest.split_at_mut(width);
        let b = &before[row - away..][..width];
        let a = if index >= 3 * s { Some(&before[row - 3 * away..][..width]) } else { None };
        let c = if index + s < len { Some(&after[away - width..][..width]) } else { None };
        let d = if index + 3 * s < len { Some(&after[3 * away - width..][..width]) } else { None };
        let line = Line { target, residuals, step: self.steps[AXES - 1] };
        match (a, c, d, self.plan.method) {
            (Some(a), Some(c), Some(d), Method::Cubic) => line.each::<D, Cubic>([a, b, c, d]),
            (None, Some(c), Some(d), Method::Cubic) => line.each::<D, CubicLeft>([b, b, c, d]),
            (Some(a), Some(c), None, Method::Cubic) => line.each::<D, CubicRight>([a, b, c, b]),
            (_, Some(c), _, _) => line.each::<D, Linear>([b, b, c, b]),
            (Some(a), None, _, _) => line.each::<D, Extrapolated>([a, b, b, b]),
            (None, None, _, _) => line.each::<D, Copied>([b, b, b, b]),
        }
    }
}

/// A row of numbers, of which every so many are predicted.
struct Line<'l> {
    target: &'l mut [i32],
    residuals: &'l mut [i32],
    step: usize,
}

impl Line<'_> {
    #[inline(always)]
    fn each<D: Direction, K: Kernel>(self, [a, b, c, d]: [&[i32]; 4]) {
        let Self { target, residuals, step } = self;
        if step == 1 {
            let n = residuals.len();
            let (target, a, b, c, d) = (&mut target[..n], &a[..n], &b[..n], &c[..n], &d[..n]);
            for i in 0..n {
                D::each(&mut target[i], &mut residuals[i], K::of(a[i], b[i], c[i], d[i]));
            }
        } else {
            for (i, residual) in residuals.iter_mut().enumerate() {
                let i = i * step;
                D::each(&mut target[i], residual, K::of(a[i], b[i], c[i], d[i]));
            }
        }
    }
}
