//! Rows in the order of columns: each column gives its values a rank, and rows are sorted by their ranks.
//!
//! In: gathered values. Out: places of rows, sorted. What is missing, NaN and no times come last, whichever way.
//! Plain version: a stable sort that compares values; here values are compared once, and ranks from then on.

use std::cmp::Ordering;

use coquina_kernels::Type;

use super::columns::{Categories, ColumnValues, QueryColumn};
use super::numbers::{Real, numbers, with_real};
use super::scan::Part;
use super::text_ranks;
use crate::base::error::{Error, Result};

/// Which way an order goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the least to the greatest.
    Ascending,
    /// From the greatest to the least.
    Descending,
}

/// The ranks of rows in one column.
pub(super) struct SortKey(Vec<u32>);

/// The rank of what is missing.
const LAST: u32 = u32::MAX;

impl SortKey {
    /// The ranks of the gathered values of a column.
    ///
    /// # Errors
    /// `Unsupported` for values without an order, and for 2^32 rows.
    pub(super) fn new(
        column: &QueryColumn,
        values: &Part,
        mask: Option<&[u8]>,
        direction: Direction,
        rows: usize,
    ) -> Result<Self> {
        if u32::try_from(rows).is_err() {
            return Err(Error::limit(format!("an order of {rows} rows")));
        }
        let is_masked = |row: usize| mask.is_some_and(|mask| mask.get(row) != Some(&0));
        match (&column.values, values) {
            (ColumnValues::Texts { .. }, Part::Strings { offsets, bytes }) => {
                let at = |row: usize| usize::try_from(offsets[row]).unwrap_or(0);
                Self::of_texts(rows, direction, is_masked, |row| &bytes[at(row)..at(row + 1)])
            }
            (ColumnValues::FixedBytes(source), Part::Items(items)) => {
                let width = source.item_bytes();
                Self::of_texts(rows, direction, is_masked, |row| &items[row * width..][..width])
            }
            (ColumnValues::FixedPoints(source), Part::Items(items)) => {
                let (width, points) = (source.item_bytes() / 4, numbers::<u32>(items));
                let item = |row: usize| &points[row * width..][..width];
                Ok(Self::ranked(rows, direction, is_masked, |a, b| item(a).cmp(item(b))))
            }
            (ColumnValues::Categories { ty, categories, .. }, Part::Items(codes)) => {
                let ranks = Self::of_categories(categories)?;
                let places = Self::places(*ty, codes, ranks.len())?;
                let is_missing = |row: usize| is_masked(row) || places[row].is_none();
                let rank = |row: usize| places[row].map(|place| ranks[place]);
                Ok(Self::ranked(rows, direction, is_missing, |a, b| rank(a).cmp(&rank(b))))
            }
            (ColumnValues::Times { .. }, Part::Items(items)) => {
                let counts = numbers::<i64>(items);
                let is_missing = |row: usize| is_masked(row) || counts[row] == i64::MIN;
                Ok(Self::ranked(rows, direction, is_missing, |a, b| counts[a].cmp(&counts[b])))
            }
            (ColumnValues::Numbers { ty, .. } | ColumnValues::Enumeration { ty, .. }, Part::Items(items)) => {
                Self::of_numbers(*ty, items, rows, direction, &is_masked)
            }
            _ => Err(Error::unsupported(format!("column {:?} has values without an order", column.path))),
        }
    }

    fn of_numbers(
        ty: Type,
        items: &[u8],
        rows: usize,
        direction: Direction,
        is_masked: &dyn Fn(usize) -> bool,
    ) -> Result<Self> {
        fn ranked<T: Real>(
            values: &[T],
            rows: usize,
            direction: Direction,
            is_masked: &dyn Fn(usize) -> bool,
        ) -> SortKey {
            let is_missing = |row: usize| is_masked(row) || values[row].is_nan();
            let compare = |a: usize, b: usize| values[a].partial_cmp(&values[b]).unwrap_or(Ordering::Equal);
            SortKey::ranked(rows, direction, is_missing, compare)
        }
        with_real!(ty, T => ranked::<T>(&numbers::<T>(items), rows, direction, is_masked))
            .ok_or_else(|| Error::unsupported(format!("an order of {}", ty.name())))
    }

    fn of_texts<'t>(
        rows: usize,
        direction: Direction,
        is_missing: impl Fn(usize) -> bool,
        text: impl Fn(usize) -> &'t [u8],
    ) -> Result<Self> {
        let texts: Vec<&[u8]> = (0..rows).map(|row| if is_missing(row) { &[] } else { text(row) }).collect();
        let mut ranks = text_ranks::ranks(&texts)?;
        let last = ranks.iter().copied().max().unwrap_or(0);
        for (row, rank) in ranks.iter_mut().enumerate() {
            *rank = match direction {
                _ if is_missing(row) => LAST,
                Direction::Ascending => *rank,
                Direction::Descending => last - *rank,
            };
        }
        Ok(Self(ranks))
    }

    /// The places of categories in their order.
    fn of_categories(categories: &Categories) -> Result<Vec<u32>> {
        let len = categories.len();
        let up = Direction::Ascending;
        let key = match categories {
            Categories::Texts(texts) => Self::ranked(len, up, |_| false, |a, b| texts[a].cmp(&texts[b])),
            Categories::Times { items, .. } => {
                Self::ranked(len, up, |at| items[at] == i64::MIN, |a, b| items[a].cmp(&items[b]))
            }
            Categories::Numbers { ty, items } => Self::of_numbers(*ty, items, len, up, &|_| false)?,
        };
        Ok(key.0)
    }

    /// The places that codes name, of so many.
    fn places(ty: Type, codes: &[u8], len: usize) -> Result<Vec<Option<usize>>> {
        fn of<T: Real>(codes: &[T], len: usize) -> Vec<Option<usize>> {
            let place = |code: &T| usize::try_from(code.key()).ok().filter(|&place| place < len);
            codes.iter().map(place).collect()
        }
        with_real!(ty, T => of::<T>(&numbers::<T>(codes), len))
            .ok_or_else(|| Error::invalid(format!("codes of {}", ty.name())))
    }

    fn ranked(
        rows: usize,
        direction: Direction,
        is_missing: impl Fn(usize) -> bool,
        compare: impl Fn(usize, usize) -> Ordering,
    ) -> Self {
        let mut places: Vec<usize> = (0..rows).filter(|&row| !is_missing(row)).collect();
        places.sort_by(|&a, &b| match direction {
            Direction::Ascending => compare(a, b),
            Direction::Descending => compare(b, a),
        });
        let mut ranks = vec![LAST; rows];
        let mut rank = 0;
        for (at, &place) in places.iter().enumerate() {
            if at > 0 && compare(places[at - 1], place).is_ne() {
                rank += 1;
            }
            ranks[place] = rank;
        }
        Self(ranks)
    }
}

/// The places of rows in the order of keys, the first of which weighs most.
pub(super) fn sorted(keys: &[SortKey], rows: usize) -> Vec<usize> {
    let mut places: Vec<usize> = (0..rows).collect();
    places.sort_by(|&a, &b| {
        keys.iter().map(|key| key.0[a].cmp(&key.0[b])).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
    });
    places
}
