//! Mean, number of items, and sum of the squares of their distances from the mean.
//!
//! Each row is read twice while it is in cache: for its mean, and for the distances from it. Two sets of moments
//! are put together by Chan's formula, so that nothing is lost where the mean is far from zero.
//! Source: T. F. Chan, G. H. Golub, R. J. LeVeque, "Updating formulae and a pairwise algorithm for computing sample
//! variances", 1979, formula 2.1.

use std::marker::PhantomData;

use super::steps::{self, Floats};
use super::values::{Item, Mean, Total};
use super::{Cells, Folding, Part, Run};
use crate::Type;

/// Items of a row that are read twice at once.
const PIECE: usize = 2048;
/// Cells beside each other that are looked after at once.
const STRIP: usize = 32;
/// Lanes of a row.
const LANES: usize = 16;

/// Of the items, or of the numbers among them if `SKIP`.
pub(super) struct Moments<T, const SKIP: bool>(PhantomData<T>);

/// The moments of some items.
#[derive(Clone, Copy)]
struct Cell<M> {
    mean: M,
    count: f64,
    squares: f64,
}

impl<M: Mean> Cell<M> {
    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        if other.count == 0.0 {
            return self;
        }
        if self.count == 0.0 {
            return other;
        }
        let count = self.count + other.count;
        let apart = other.mean.minus(self.mean);
        Self {
            mean: self.mean.plus(apart.scaled(other.count / count)),
            count,
            squares: self.squares + other.squares + apart.square() * (self.count * other.count / count),
        }
    }
}

/// The moments that stand in cells.
struct Columns<'a, M> {
    means: &'a mut [M],
    counts: &'a mut [f64],
    squares: &'a mut [f64],
}

impl<M: Mean> Columns<'_, M> {
    #[inline(always)]
    fn get(&self, at: usize) -> Cell<M> {
        Cell { mean: self.means[at], count: self.counts[at], squares: self.squares[at] }
    }

    #[inline(always)]
    fn add(&mut self, at: usize, more: Cell<M>) {
        let cell = self.get(at).plus(more);
        (self.means[at], self.counts[at], self.squares[at]) = (cell.mean, cell.count, cell.squares);
    }
}

impl<T: Item, const SKIP: bool> Moments<T, SKIP> {
    fn columns<'a>(cells: &'a mut Cells<'_>) -> Columns<'a, T::Mean> {
        let (means, counts, squares) = cells.three();
        Columns { means, counts, squares }
    }

    /// 1 for an item that counts.
    #[inline(always)]
    fn counted(item: T) -> f64 {
        if SKIP && item.is_nan() { 0.0 } else { 1.0 }
    }

    #[inline(always)]
    fn value(item: T) -> T::Mean {
        if SKIP && item.is_nan() { T::Mean::ZERO } else { item.mean() }
    }

    #[inline(always)]
    fn distance(item: T, mean: T::Mean) -> f64 {
        if SKIP && item.is_nan() { 0.0 } else { item.mean().minus(mean).square() }
    }

    /// The sum of what `of` gives for each item, in lanes.
    #[inline(always)]
    fn total(values: &[T], of: impl Fn(T) -> f64) -> f64 {
        let (groups, rest) = values.as_chunks::<LANES>();
        let mut lanes = [0.0; LANES];
        for group in groups {
            for (lane, &value) in lanes.iter_mut().zip(group) {
                *lane += of(value);
            }
        }
        for (lane, &value) in lanes.iter_mut().zip(rest) {
            *lane += of(value);
        }
        let mut half = LANES / 2;
        while half > 0 {
            for lane in 0..half {
                lanes[lane] += lanes[lane + half];
            }
            half /= 2;
        }
        lanes[0]
    }

    #[inline(always)]
    fn row(values: &[T]) -> Cell<T::Mean> {
        let mut all = Cell { mean: T::Mean::ZERO, count: 0.0, squares: 0.0 };
        for values in values.chunks(PIECE) {
            let count = if SKIP { Self::total(values, Self::counted) } else { values.len() as f64 };
            let mean = steps::row::<Floats<T, SKIP>>(values).over(count);
            let squares = Self::total(values, |item| Self::distance(item, mean));
            all = all.plus(Cell { mean, count, squares });
        }
        all
    }

    /// Folds one item into each cell: what `plus` does, without what only several items need.
    #[inline(always)]
    fn once(values: &[T], columns: &mut Columns<'_, T::Mean>, first: usize) {
        let last = first + values.len();
        let cells = columns.means[first..last].iter_mut().zip(&mut columns.counts[first..last]);
        let cells = cells.zip(&mut columns.squares[first..last]);
        for (((mean, count), squares), &item) in cells.zip(values) {
            let (before, after, value) = (*count, *count + 1.0, item.mean());
            let apart = value.minus(*mean);
            // Squares that overflow are nothing where there is no other item. Of infinity `distance` is NaN.
            let moved = if before == 0.0 { 0.0 } else { apart.square() * (before / after) };
            *mean = mean.plus(apart.scaled(1.0 / after));
            *count = after;
            *squares += Self::distance(item, value) + moved;
        }
    }

    /// Folds the columns of a slab of rows of `inner` items from `first` on, `width` of them.
    #[inline(always)]
    fn strip(slab: &[T], inner: usize, first: usize, width: usize) -> [Cell<T::Mean>; STRIP] {
        let mut sums = [T::Mean::ZERO; STRIP];
        let mut counts = [0.0; STRIP];
        for values in slab.chunks_exact(inner) {
            let totals = sums.iter_mut().zip(&mut counts);
            for ((sum, count), &item) in totals.zip(&values[first..first + width]) {
                *sum = sum.plus(Self::value(item));
                *count += Self::counted(item);
            }
        }
        let mut means = sums;
        for (mean, count) in means.iter_mut().zip(counts) {
            *mean = mean.over(count);
        }
        let mut squares = [0.0; STRIP];
        for values in slab.chunks_exact(inner) {
            for ((square, &mean), &item) in squares.iter_mut().zip(&means).zip(&values[first..first + width])
            {
                *square += Self::distance(item, mean);
            }
        }
        std::array::from_fn(|at| Cell { mean: means[at], count: counts[at], squares: squares[at] })
    }
}

impl<T: Item, const SKIP: bool> Folding for Moments<T, SKIP> {
    type Item = T;
    const COLUMNS: &'static [Type] = &[T::Mean::TYPE, Type::F64, Type::F64];

    fn clear(cells: &mut Cells<'_>) {
        let columns = Self::columns(cells);
        columns.means.fill(T::Mean::ZERO);
        columns.counts.fill(0.0);
        columns.squares.fill(0.0);
    }

    #[inline(always)]
    fn fold(values: &[T], part: Part, cells: &mut Cells<'_>) {
        let mut columns = Self::columns(cells);
        for (number, slab) in values.chunks_exact(part.reduced * part.inner).enumerate() {
            let cell = part.cell + number * part.inner;
            if part.inner == 1 {
                columns.add(cell, Self::row(slab));
                continue;
            }
            if part.reduced == 1 && !SKIP {
                Self::once(slab, &mut columns, cell);
                continue;
            }
            for first in (0..part.inner).step_by(STRIP) {
                let width = STRIP.min(part.inner - first);
                for (at, more) in
                    Self::strip(slab, part.inner, first, width).into_iter().take(width).enumerate()
                {
                    columns.add(cell + first + at, more);
                }
            }
        }
    }

    fn merge(from: &mut Cells<'_>, to: &mut Cells<'_>, run: Run) {
        let (from, mut to) = (Self::columns(from), Self::columns(to));
        for at in 0..run.len {
            to.add(run.to + at, from.get(run.from + at));
        }
    }

    fn repeat(item: T, count: u64, cells: &mut Cells<'_>) {
        let one = Self::row(&[item]);
        let columns = Self::columns(cells);
        columns.means.fill(one.mean);
        columns.counts.fill(one.count * count as f64);
        // No distances, but for items that are not finite.
        columns.squares.fill(one.squares);
    }
}
