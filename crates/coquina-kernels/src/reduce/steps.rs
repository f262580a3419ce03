//! Folds whose cells are one number: an item is taken after another.
//!
//! Invariant: `merge` of two rows' results is the result of both, but for the rounding of sums and products, whose
//! order is: sixteen lanes, added up by pairs, for each piece of a row; the pieces by pairs.

use std::marker::PhantomData;

use super::values::{Flag, Item, Total};
use super::{Cells, Folding, Part, Run};
use crate::Type;
use crate::items::Number;

/// Lanes of a row, whatever the registers hold.
const LANES: usize = 16;
/// Items of a row whose lanes are added up before they go on.
const PIECE: usize = 1024;

/// How an item is taken.
pub(super) trait Step: 'static {
    type Item: Number;
    type Acc: Number;
    const TYPE: Type;
    /// What no items give.
    const NONE: Self::Acc;
    fn step(acc: Self::Acc, item: Self::Item) -> Self::Acc;
    fn merge(acc: Self::Acc, other: Self::Acc) -> Self::Acc;
    /// What `count` times this item give, which is more than none.
    fn repeat(item: Self::Item, _count: u64) -> Self::Acc {
        Self::step(Self::NONE, item)
    }
}

/// What a row gives.
#[inline(always)]
pub(super) fn row<S: Step>(values: &[S::Item]) -> S::Acc {
    if values.len() <= PIECE {
        return piece::<S>(values);
    }
    // Pieces by pairs, the pairs by pairs, ...: `open[i]` is what 2^i pieces gave that have no partner yet, and the
    // bits of `done` say where there is one.
    let mut open = [S::NONE; usize::BITS as usize];
    let mut done = 0_usize;
    for values in values.chunks(PIECE) {
        let mut acc = piece::<S>(values);
        let partners = done.trailing_ones() as usize;
        for partner in &open[..partners] {
            acc = S::merge(*partner, acc);
        }
        open[partners] = acc;
        done += 1;
    }
    let left = open.iter().enumerate().filter(|(level, _)| done >> level & 1 == 1);
    left.fold(None, |acc, (_, &more)| Some(acc.map_or(more, |acc| S::merge(more, acc)))).unwrap_or(S::NONE)
}

#[inline(always)]
fn piece<S: Step>(values: &[S::Item]) -> S::Acc {
    if values.len() < LANES {
        let mut acc = S::NONE;
        for &value in values {
            acc = S::step(acc, value);
        }
        return acc;
    }
    let (groups, rest) = values.as_chunks::<LANES>();
    let mut lanes = [S::NONE; LANES];
    for group in groups {
        for (lane, &value) in lanes.iter_mut().zip(group) {
            *lane = S::step(*lane, value);
        }
    }
    for (lane, &value) in lanes.iter_mut().zip(rest) {
        *lane = S::step(*lane, value);
    }
    let mut half = LANES / 2;
    while half > 0 {
        for lane in 0..half {
            lanes[lane] = S::merge(lanes[lane], lanes[lane + half]);
        }
        half /= 2;
    }
    lanes[0]
}

/// Naively: `cells[o * inner + i] = step(cells[o * inner + i], values[(o * reduced + r) * inner + i])` for all.
#[inline(always)]
fn fold<S: Step>(values: &[S::Item], part: Part, cells: &mut [S::Acc]) {
    let cells = &mut cells[part.cell..][..part.outer * part.inner];
    if part.inner == 1 {
        for (cell, values) in cells.iter_mut().zip(values.chunks_exact(part.reduced)) {
            *cell = S::merge(*cell, row::<S>(values));
        }
        return;
    }
    let slabs = values.chunks_exact(part.reduced * part.inner);
    for (cells, slab) in cells.chunks_exact_mut(part.inner).zip(slabs) {
        for values in slab.chunks_exact(part.inner) {
            for (cell, &value) in cells.iter_mut().zip(values) {
                *cell = S::step(*cell, value);
            }
        }
    }
}

#[inline(always)]
fn merge<S: Step>(from: &[S::Acc], to: &mut [S::Acc], run: Run) {
    for (to, &from) in to[run.to..][..run.len].iter_mut().zip(&from[run.from..][..run.len]) {
        *to = S::merge(*to, from);
    }
}

/// The fold of one step.
pub(super) struct Each<S>(PhantomData<S>);

impl<S: Step> Folding for Each<S> {
    type Item = S::Item;
    const COLUMNS: &'static [Type] = &[S::TYPE];

    fn clear(cells: &mut Cells<'_>) {
        cells.one().fill(S::NONE);
    }

    #[inline(always)]
    fn fold(values: &[S::Item], part: Part, cells: &mut Cells<'_>) {
        fold::<S>(values, part, cells.one());
    }

    fn merge(from: &mut Cells<'_>, to: &mut Cells<'_>, run: Run) {
        merge::<S>(from.one(), to.one(), run);
    }

    fn repeat(item: S::Item, count: u64, cells: &mut Cells<'_>) {
        cells.one().fill(S::repeat(item, count));
    }
}

/// The folds of two steps, in two columns.
pub(super) struct Pair<A, B>(PhantomData<(A, B)>);

impl<A: Step, B: Step<Item = A::Item>> Folding for Pair<A, B> {
    type Item = A::Item;
    const COLUMNS: &'static [Type] = &[A::TYPE, B::TYPE];

    fn clear(cells: &mut Cells<'_>) {
        let (first, second) = cells.two();
        first.fill(A::NONE);
        second.fill(B::NONE);
    }

    #[inline(always)]
    fn fold(values: &[A::Item], part: Part, cells: &mut Cells<'_>) {
        // The items are in cache, so a loop for each column costs less than one that has to look after both.
        let (first, second) = cells.two();
        fold::<A>(values, part, first);
        fold::<B>(values, part, second);
    }

    fn merge(from: &mut Cells<'_>, to: &mut Cells<'_>, run: Run) {
        let ((from_first, from_second), (to_first, to_second)) = (from.two(), to.two());
        merge::<A>(from_first, to_first, run);
        merge::<B>(from_second, to_second, run);
    }

    fn repeat(item: A::Item, count: u64, cells: &mut Cells<'_>) {
        let (first, second) = cells.two();
        first.fill(A::repeat(item, count));
        second.fill(B::repeat(item, count));
    }
}

/// The sum in the type of sums.
pub(super) struct Sum<T, const SKIP: bool>(PhantomData<T>);

impl<T: Item, const SKIP: bool> Step for Sum<T, SKIP> {
    type Item = T;
    type Acc = T::Sum;
    const TYPE: Type = T::Sum::TYPE;
    const NONE: T::Sum = T::Sum::ZERO;

    #[inline(always)]
    fn step(acc: T::Sum, item: T) -> T::Sum {
        acc.plus(if SKIP && item.is_nan() { T::Sum::ZERO } else { item.sum() })
    }

    #[inline(always)]
    fn merge(acc: T::Sum, other: T::Sum) -> T::Sum {
        acc.plus(other)
    }

    fn repeat(item: T, count: u64) -> T::Sum {
        Self::step(Self::NONE, item).times(count)
    }
}

/// The product in the type of sums.
pub(super) struct Products<T, const SKIP: bool>(PhantomData<T>);

impl<T: Item, const SKIP: bool> Step for Products<T, SKIP> {
    type Item = T;
    type Acc = T::Sum;
    const TYPE: Type = T::Sum::TYPE;
    const NONE: T::Sum = T::Sum::ONE;

    #[inline(always)]
    fn step(acc: T::Sum, item: T) -> T::Sum {
        acc.multiplied(if SKIP && item.is_nan() { T::Sum::ONE } else { item.sum() })
    }

    #[inline(always)]
    fn merge(acc: T::Sum, other: T::Sum) -> T::Sum {
        acc.multiplied(other)
    }

    fn repeat(item: T, count: u64) -> T::Sum {
        // By squares, as many as the count has bits.
        let (mut acc, mut square, mut count) = (Self::NONE, Self::step(Self::NONE, item), count);
        while count > 0 {
            if count & 1 == 1 {
                acc = acc.multiplied(square);
            }
            square = square.multiplied(square);
            count >>= 1;
        }
        acc
    }
}

/// The sum in double precision.
pub(super) struct Floats<T, const SKIP: bool>(PhantomData<T>);

impl<T: Item, const SKIP: bool> Step for Floats<T, SKIP> {
    type Item = T;
    type Acc = T::Mean;
    const TYPE: Type = T::Mean::TYPE;
    const NONE: T::Mean = T::Mean::ZERO;

    #[inline(always)]
    fn step(acc: T::Mean, item: T) -> T::Mean {
        acc.plus(if SKIP && item.is_nan() { T::Mean::ZERO } else { item.mean() })
    }

    #[inline(always)]
    fn merge(acc: T::Mean, other: T::Mean) -> T::Mean {
        acc.plus(other)
    }

    fn repeat(item: T, count: u64) -> T::Mean {
        Self::step(Self::NONE, item).times(count)
    }
}

macro_rules! counts {
    ($($(#[$doc:meta])* $name:ident <T $(, $skip:ident)?>, $item:ident => $counts:expr;)*) => { $(
        $(#[$doc])*
        pub(super) struct $name<T $(, const $skip: bool)?>(PhantomData<T>);

        impl<T: Item $(, const $skip: bool)?> Step for $name<T $(, $skip)?> {
            type Item = T;
            type Acc = i64;
            const TYPE: Type = Type::I64;
            const NONE: i64 = 0;

            #[inline(always)]
            fn step(acc: i64, $item: T) -> i64 {
                acc + i64::from($counts)
            }

            #[inline(always)]
            fn merge(acc: i64, other: i64) -> i64 {
                acc + other
            }

            fn repeat(item: T, count: u64) -> i64 {
                Self::step(0, item) * count.cast_signed()
            }
        }
    )* };
}
counts! {
    /// How many items are not 0.
    Count<T>, item => item.is_true();
    /// How many items there are, or how many numbers.
    Numbers<T, SKIP>, item => !(SKIP && item.is_nan());
}

macro_rules! truths {
    ($($(#[$doc:meta])* $name:ident, $none:literal, $step:tt;)*) => { $(
        $(#[$doc])*
        pub(super) struct $name<T>(PhantomData<T>);

        impl<T: Item> Step for $name<T> {
            type Item = T;
            type Acc = Flag;
            const TYPE: Type = Type::Bool;
            const NONE: Flag = Flag($none);

            #[inline(always)]
            fn step(acc: Flag, item: T) -> Flag {
                Flag(acc.0 $step u8::from(item.is_true()))
            }

            #[inline(always)]
            fn merge(acc: Flag, other: Flag) -> Flag {
                Flag(acc.0 $step other.0)
            }
        }
    )* };
}
truths! {
    /// Whether an item is not 0.
    AnyTrue, 0, |;
    /// Whether no item is 0.
    AllTrue, 1, &;
}

macro_rules! extremes {
    ($($(#[$doc:meta])* $name:ident, $none:ident, |$acc:ident, $item:ident| $takes:expr;)*) => { $(
        $(#[$doc])*
        pub(super) struct $name<T>(PhantomData<T>);

        impl<T: Item> Step for $name<T> {
            type Item = T;
            type Acc = T;
            const TYPE: Type = T::TYPE;
            const NONE: T = T::$none;

            #[inline(always)]
            fn step($acc: T, $item: T) -> T {
                if $takes { $item } else { $acc }
            }

            #[inline(always)]
            fn merge(acc: T, other: T) -> T {
                Self::step(acc, other)
            }
        }
    )* };
}
extremes! {
    /// The least item, or NaN.
    Smallest, GREATEST, |acc, item| (item.before(acc) | item.is_nan()) & !acc.is_nan();
    /// The greatest item, or NaN.
    Largest, LEAST, |acc, item| (acc.before(item) | item.is_nan()) & !acc.is_nan();
    /// The least number.
    SmallestNumber, NAN, |acc, item| item.before(acc) | acc.is_nan();
    /// The greatest number.
    LargestNumber, NAN, |acc, item| acc.before(item) | acc.is_nan();
}
