//! The keys of some rows that follow each other.
//!
//! Invariant: keys stand in the order of their rows, and every row has a key or is missing.

use std::ops::{Range, RangeInclusive};

use crate::base::error::{Error, Result};

/// Keys of rows, from one row on.
pub(super) struct Piece {
    /// The first row.
    start: u64,
    /// How many rows have been taken.
    len: u32,
    keys: Vec<u64>,
    /// The row of each key, from the first row on; none as long as no row is missing.
    rows: Option<Vec<u32>>,
    missing: Vec<u32>,
}

impl Piece {
    /// For these rows; none of them has been taken yet.
    pub(super) fn new(rows: &Range<u64>) -> Result<Self> {
        let count = rows.end - rows.start;
        let too_many = || Error::limit(format!("rows {}..{} at once", rows.start, rows.end));
        let len = u32::try_from(count).map_err(|_| too_many())?;
        let mut keys = Vec::new();
        keys.try_reserve_exact(usize::try_from(len).unwrap_or(usize::MAX)).map_err(|_| too_many())?;
        Ok(Self { start: rows.start, len: 0, keys, rows: None, missing: Vec::new() })
    }

    /// For one row.
    pub(super) fn one() -> Self {
        Self { start: 0, len: 0, keys: Vec::new(), rows: None, missing: Vec::new() }
    }

    /// Takes `count` rows with these keys, of which there are as many.
    #[inline]
    pub(super) fn push_all(&mut self, count: usize, keys: impl Iterator<Item = u64>) {
        self.keys.extend(keys);
        let end = self.end(count);
        if let Some(rows) = &mut self.rows {
            rows.extend(self.len..end);
        }
        self.len = end;
    }

    /// Takes `count` rows that have no key.
    pub(super) fn push_missing(&mut self, count: usize) {
        let end = self.end(count);
        self.missing.extend(self.len..end);
        self.rows.get_or_insert_with(|| (0..self.len).collect());
        self.len = end;
    }

    /// As many rows as this are taken, with `count` more: the rows of a piece fit, which was checked.
    fn end(&self, count: usize) -> u32 {
        self.len.saturating_add(u32::try_from(count).unwrap_or(u32::MAX))
    }

    /// How many keys there are.
    pub(super) fn len(&self) -> usize {
        self.keys.len()
    }

    /// The keys.
    pub(super) fn keys(&self) -> &[u64] {
        &self.keys
    }

    /// The keys, given away.
    pub(super) fn into_keys(self) -> Vec<u64> {
        self.keys
    }

    /// The least key and the greatest one.
    pub(super) fn bounds(&self) -> Option<RangeInclusive<u64>> {
        let first = *self.keys.first()?;
        let widen = |(min, max): (u64, u64), &key: &u64| (min.min(key), max.max(key));
        let (min, max) = self.keys.iter().fold((first, first), widen);
        Some(min..=max)
    }

    /// The first row and the last one that was taken.
    pub(super) fn rows(&self) -> Option<RangeInclusive<u64>> {
        (self.len > 0).then(|| self.start..=self.start + u64::from(self.len) - 1)
    }

    /// The rows without a key; they are given away.
    pub(super) fn take_missing(&mut self) -> impl Iterator<Item = u64> + use<> {
        let start = self.start;
        std::mem::take(&mut self.missing).into_iter().map(move |row| start + u64::from(row))
    }

    /// Calls `see` with each key and its row.
    #[inline]
    pub(super) fn each(&self, mut see: impl FnMut(u64, u64)) {
        match &self.rows {
            None => self.keys.iter().zip(self.start..).for_each(|(&key, row)| see(key, row)),
            Some(rows) => {
                let pairs = self.keys.iter().zip(rows);
                pairs.for_each(|(&key, &row)| see(key, self.start + u64::from(row)));
            }
        }
    }
}
