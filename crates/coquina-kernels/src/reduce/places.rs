//! The place of the first least or greatest item.
//!
//! In: items whose places follow each other along the folded axis. Out: place and item; the place is -1 where there
//! was none. Rows are folded twice: for the item, and if it is better than what is there, for where it stands.
//! Invariant: of equal items the smaller place wins, in whatever order parts come.

use std::marker::PhantomData;

use super::steps::{self, Largest, LargestNumber, Smallest, SmallestNumber};
use super::values::Item;
use super::{Cells, Folding, Part, Run};
use crate::Type;

/// Items that are looked through at once for the one that is wanted.
const LOOK: usize = 64;
/// No item has been taken yet.
const NOWHERE: i64 = -1;

/// Of the greatest if `MAX`, else of the least. NaN is better than all, or as bad as can be if `SKIP`.
pub(super) struct Place<T, const MAX: bool, const SKIP: bool>(PhantomData<T>);

impl<T: Item, const MAX: bool, const SKIP: bool> Place<T, MAX, SKIP> {
    #[inline(always)]
    fn is_better(item: T, other: T) -> bool {
        if MAX { other.before(item) } else { item.before(other) }
    }

    /// What counts for an item.
    #[inline(always)]
    fn ranked(item: T) -> T {
        let worst = if MAX { T::LEAST } else { T::GREATEST };
        if SKIP && item.is_nan() { worst } else { item }
    }

    /// Whether an item stands before one with a smaller place.
    #[inline(always)]
    fn wins(item: T, best: T) -> bool {
        if SKIP {
            Self::is_better(Self::ranked(item), Self::ranked(best))
        } else {
            !best.is_nan() & (Self::is_better(item, best) | item.is_nan())
        }
    }

    #[inline(always)]
    fn best(values: &[T]) -> T {
        match (MAX, SKIP) {
            (false, false) => steps::row::<Smallest<T>>(values),
            (true, false) => steps::row::<Largest<T>>(values),
            (false, true) => steps::row::<SmallestNumber<T>>(values),
            (true, true) => steps::row::<LargestNumber<T>>(values),
        }
    }

    /// Where the first item stands that is as good as the best.
    #[inline(always)]
    fn position(values: &[T], best: T) -> usize {
        let is_it = |&item: &T| !Self::wins(best, item) & (SKIP | (item.is_nan() == best.is_nan()));
        for (number, values) in values.chunks(LOOK).enumerate() {
            if values.iter().fold(false, |found, item| found | is_it(item)) {
                return number * LOOK + values.iter().position(is_it).unwrap_or(0);
            }
        }
        0
    }

    /// Where the best of a few items stands, and which it is: one after the other.
    #[inline(always)]
    fn scan(values: &[T]) -> (i64, T) {
        let (mut place, mut best) = (0, values[0]);
        for (at, &item) in values.iter().enumerate() {
            let wins = Self::wins(item, best);
            place = if wins { at as i64 } else { place };
            best = if wins | (SKIP & best.is_nan()) { item } else { best };
        }
        (place, best)
    }

    /// Takes an item whose place may lie before or behind.
    #[inline(always)]
    fn take(place: &mut i64, best: &mut T, new_place: i64, item: T) {
        if new_place < 0 {
            return;
        }
        if *place < 0 || Self::wins(item, *best) {
            (*place, *best) = (new_place, item);
        } else if !Self::wins(*best, item) {
            *place = new_place.min(*place);
            if best.is_nan() {
                *best = item;
            }
        }
    }
}

impl<T: Item, const MAX: bool, const SKIP: bool> Folding for Place<T, MAX, SKIP> {
    type Item = T;
    const COLUMNS: &'static [Type] = &[Type::I64, T::TYPE];

    fn clear(cells: &mut Cells<'_>) {
        let (places, best) = cells.two();
        places.fill(NOWHERE);
        best.fill(T::NAN);
    }

    #[inline(always)]
    fn fold(values: &[T], part: Part, cells: &mut Cells<'_>) {
        let (places, best) = cells.two::<i64, T>();
        let places = &mut places[part.cell..][..part.outer * part.inner];
        let best = &mut best[part.cell..][..part.outer * part.inner];
        if part.inner == 1 {
            let rows = values.chunks_exact(part.reduced);
            for ((place, best), values) in places.iter_mut().zip(best).zip(rows) {
                if values.len() <= LOOK {
                    let (position, found) = Self::scan(values);
                    Self::take(place, best, part.place + position, found);
                    continue;
                }
                let found = Self::best(values);
                if *place < 0 || !Self::wins(*best, found) {
                    let position = Self::position(values, found) as i64;
                    Self::take(place, best, part.place + position, found);
                }
            }
            return;
        }
        let cells = places.chunks_exact_mut(part.inner).zip(best.chunks_exact_mut(part.inner));
        for ((places, best), slab) in cells.zip(values.chunks_exact(part.reduced * part.inner)) {
            // Along the axis places only grow, so an item that is as good as the best is too late.
            for (step, values) in slab.chunks_exact(part.inner).enumerate() {
                let here = part.place + step as i64;
                for ((place, best), &item) in places.iter_mut().zip(best.iter_mut()).zip(values) {
                    let wins = (*place < 0) | Self::wins(item, *best);
                    *place = if wins { here } else { *place };
                    *best = if wins | (SKIP & best.is_nan()) { item } else { *best };
                }
            }
        }
    }

    fn merge(from: &mut Cells<'_>, to: &mut Cells<'_>, run: Run) {
        let (from_places, from_best) = from.two::<i64, T>();
        let (to_places, to_best) = to.two::<i64, T>();
        let from = from_places[run.from..][..run.len].iter().zip(&from_best[run.from..][..run.len]);
        let to = to_places[run.to..][..run.len].iter_mut().zip(&mut to_best[run.to..][..run.len]);
        for ((place, best), (&new_place, &item)) in to.zip(from) {
            Self::take(place, best, new_place, item);
        }
    }

    fn repeat(item: T, _count: u64, cells: &mut Cells<'_>) {
        let (places, best) = cells.two::<i64, T>();
        places.fill(0);
        best.fill(item);
    }
}
