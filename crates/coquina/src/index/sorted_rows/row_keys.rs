//! Keys of rows, of all columns that they are sorted by: bytes whose order is that of the rows.
//!
//! In: the keys of each column, the first of which weighs most. Out: their order, and comparisons of two rows.
//! Invariant: no key begins another, so the first bytes as numbers, and the others behind them, say all.

use std::cmp::Ordering;

use coquina_kernels::Type;
use coquina_kernels::items::bytes_of;

use super::column_keys::ColumnKeys;
use super::lot::place;
use crate::base::error::Result;
use crate::base::pool::Job;
use crate::index::keys::{KeyKind, PREFIX_BYTES as WORD_BYTES, prefix};
use crate::index::order::order_of;

/// Rows with the same beginning are compared if they are so few.
const FEW: usize = 32;
/// And those that have so many bytes in common: a step for each eight takes a pass over all.
const STEPPED_BYTES: usize = 128;
/// So many parts of the rows are sorted at the same time, about.
const PIECES: usize = 32;

/// Keys of rows.
#[derive(Default)]
pub(super) struct RowKeys {
    /// Numbers of each row: those of the columns before the first that has bytes, as many in one as it has room for, and
    /// then the first sixteen bytes of all others.
    pub(super) words: Vec<Vec<u64>>,
    /// Where the other bytes of each row end; empty if none has others.
    pub(super) ends: Vec<u64>,
    /// The other bytes.
    pub(super) rest: Vec<u8>,
}

impl RowKeys {
    /// Of `rows` rows.
    pub(super) fn new(columns: Vec<ColumnKeys>, rows: usize) -> Self {
        let (mut words, mut left): (Vec<Vec<u64>>, usize) = (Vec::new(), 0);
        let mut columns = columns.into_iter();
        let mut others = Vec::new();
        for column in columns.by_ref() {
            match column {
                ColumnKeys::Numbers { width, keys } => match words.last_mut() {
                    Some(word) if width <= left => {
                        left -= width;
                        add_to(word, &keys, width);
                    }
                    _ => {
                        left = WORD_BYTES - width;
                        words.push(keys);
                    }
                },
                bytes @ ColumnKeys::Bytes { .. } => {
                    others.push(bytes);
                    break;
                }
            }
        }
        others.extend(columns);
        let mut all = Self { words, ..Self::default() };
        if !others.is_empty() {
            all.push_bytes(&others, rows);
        }
        all
    }

    /// Takes columns, the first of which has bytes.
    fn push_bytes(&mut self, columns: &[ColumnKeys], rows: usize) {
        let (mut first, mut second) = (Vec::with_capacity(rows), Vec::with_capacity(rows));
        let mut key = Vec::new();
        for row in 0..rows {
            key.clear();
            for column in columns {
                match column {
                    ColumnKeys::Numbers { width, keys } => {
                        key.extend_from_slice(&keys[row].to_be_bytes()[WORD_BYTES - width..]);
                    }
                    ColumnKeys::Bytes { ends, bytes } => {
                        let start = row.checked_sub(1).map_or(0, |before| ends[before]);
                        key.extend_from_slice(&bytes[start..ends[row]]);
                    }
                }
            }
            first.push(prefix(&key));
            second.push(prefix(key.get(WORD_BYTES..).unwrap_or_default()));
            self.rest.extend_from_slice(key.get(2 * WORD_BYTES..).unwrap_or_default());
            self.ends.push(self.rest.len() as u64);
        }
        self.words.extend([first, second]);
        if self.rest.is_empty() {
            self.ends = Vec::new();
        }
    }

    /// Those of some rows.
    pub(super) fn taken(&self, rows: &[i64]) -> Self {
        let of = |word: &Vec<u64>| rows.iter().map(|&row| word[place(row)]).collect();
        let mut taken = Self { words: self.words.iter().map(of).collect(), ..Self::default() };
        for &row in rows.iter().filter(|_| !self.ends.is_empty()) {
            taken.rest.extend_from_slice(self.rest(place(row)));
            taken.ends.push(taken.rest.len() as u64);
        }
        taken
    }

    /// The bytes that they take.
    pub(super) fn nbytes(&self) -> usize {
        let numbers = self.words.iter().map(Vec::len).sum::<usize>() + self.ends.len();
        size_of::<u64>() * numbers + self.rest.len()
    }

    /// What follows the numbers of a row.
    fn rest(&self, row: usize) -> &[u8] {
        let Some(&end) = self.ends.get(row) else { return &[] };
        let start = row.checked_sub(1).map_or(0, |before| self.ends[before]);
        let [start, end] = [start, end].map(|at| usize::try_from(at).unwrap_or(usize::MAX));
        &self.rest[start..end]
    }

    /// How a row compares with one of other keys by the same columns.
    pub(super) fn compare(&self, row: usize, other: &Self, other_row: usize) -> Ordering {
        let pairs = self.words.iter().zip(&other.words);
        let words = pairs.map(|(a, b)| a[row].cmp(&b[other_row])).find(|order| order.is_ne());
        words.unwrap_or_else(|| self.rest(row).cmp(other.rest(other_row)))
    }

    /// The rows in the order of their keys; those with the same key in theirs.
    ///
    /// # Errors
    /// `Limit` for more rows than there is memory for; `Cancelled`.
    pub(super) fn order(&self, job: &Job<'_>) -> Result<Vec<i64>> {
        // By the last numbers first: a pass over all for each, and nothing is compared.
        let mut order: Option<Vec<i64>> = None;
        for word in self.words.iter().rev() {
            order = Some(match order {
                None => in_order(word, job)?,
                Some(before) => {
                    let word: Vec<u64> = before.iter().map(|&row| word[place(row)]).collect();
                    let mut order = in_order(&word, job)?;
                    order.iter_mut().for_each(|row| *row = before[place(*row)]);
                    order
                }
            });
        }
        let mut order = order.unwrap_or_default();
        if !self.ends.is_empty() {
            let is_same = |&a: &i64, &b: &i64| self.words.iter().all(|word| word[place(a)] == word[place(b)]);
            let (bytes, pieces) = (size_of_val(&order[..]), cut_between(&mut order, is_same));
            job.run(bytes, pieces.into_iter(), |rows| {
                rows.chunk_by_mut(is_same).for_each(|rows| self.sort_by_rest(rows, 0));
                Ok(0)
            })?;
        }
        Ok(order)
    }

    /// Sorts rows whose keys are the same up to the byte `at` of what follows the numbers.
    fn sort_by_rest(&self, rows: &mut [i64], at: usize) {
        let rest = |row: i64| self.rest(place(row)).get(at..).unwrap_or_default();
        if rows.len() == 1 {
            return;
        }
        if rows.len() <= FEW || at >= STEPPED_BYTES {
            rows.sort_by(|&a, &b| rest(a).cmp(rest(b)));
            return;
        }
        let first = rest(rows[0]);
        if rows.iter().all(|&row| rest(row) == first) {
            return;
        }
        let mut pairs: Vec<(u64, i64)> = rows.iter().map(|&row| (prefix(rest(row)), row)).collect();
        pairs.sort_by_key(|(next, _)| *next);
        rows.iter_mut().zip(&pairs).for_each(|(row, (_, sorted))| *row = *sorted);
        let mut from = 0;
        for same in pairs.chunk_by(|(a, _), (b, _)| a == b) {
            self.sort_by_rest(&mut rows[from..from + same.len()], at + WORD_BYTES);
            from += same.len();
        }
    }
}

/// Cuts rows into about equal pieces, nowhere between two that are the same.
fn cut_between(mut rows: &mut [i64], is_same: impl Fn(&i64, &i64) -> bool) -> Vec<&mut [i64]> {
    let wanted = rows.len().div_ceil(PIECES).max(1);
    let mut pieces = Vec::with_capacity(PIECES);
    while !rows.is_empty() {
        let mut end = wanted.min(rows.len());
        while end < rows.len() && is_same(&rows[end - 1], &rows[end]) {
            end += 1;
        }
        pieces.extend(rows.split_off_mut(..end));
    }
    pieces
}

/// The places of numbers in their order; of equal ones in theirs.
fn in_order(numbers: &[u64], job: &Job<'_>) -> Result<Vec<i64>> {
    let ty = Type::U64;
    order_of(bytes_of(numbers), ty.bytes(), KeyKind::Number(ty), job)
}

/// Puts keys of so many bytes behind those that numbers have already.
fn add_to(word: &mut [u64], keys: &[u64], width: usize) {
    word.iter_mut().zip(keys).for_each(|(word, key)| *word = *word << (8 * width) | key);
}
