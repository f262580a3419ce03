//! Lots of rows, each sorted and in a file, as one order.
//!
//! In: lots in the order of the table. Out: rows, as many at a time as are asked for. A heap has the lots by their next
//! row; of rows with the same key that of the first lot comes first, so equal rows stay in the order of the table.

use std::cmp::Ordering;

use super::lot::{Lot, place};
use super::spilled::SpilledLot;
use crate::base::error::Result;
use crate::base::pool::Job;
use crate::index::spill::Spill;
use crate::query::Part;

/// Sorted lots.
pub(super) struct Merge {
    spill: Spill,
    lots: Vec<SpilledLot>,
    /// Lots that have rows left: each before the two that are its own in the heap.
    heap: Vec<usize>,
    /// What rows look like.
    like: Lot,
    widths: Vec<usize>,
}

impl Merge {
    /// Of lots that are in the file.
    ///
    /// # Errors
    /// `Io`.
    pub(super) fn new(
        spill: Spill,
        mut lots: Vec<SpilledLot>,
        like: Lot,
        widths: Vec<usize>,
    ) -> Result<Self> {
        for lot in &mut lots {
            lot.load(&like, &spill)?;
        }
        let heap = (0..lots.len()).filter(|&lot| lots[lot].rows.count > 0).collect();
        let mut merge = Self { spill, lots, heap, like, widths };
        for at in (0..merge.heap.len() / 2).rev() {
            merge.sink(at);
        }
        Ok(merge)
    }

    /// The next rows, at most `most`; none behind the last.
    ///
    /// # Errors
    /// `Io`; `Cancelled`.
    pub(super) fn next(&mut self, most: usize, job: &Job<'_>) -> Result<Option<Lot>> {
        let mut found = Lot { count: 0, ..self.like.clone() };
        let mut picked: Vec<(usize, i64)> = Vec::new();
        while found.count + picked.len() < most {
            let Some(&lot) = self.heap.first() else { break };
            let first = &mut self.lots[lot];
            picked.push((lot, first.at.cast_signed() as i64));
            first.at += 1;
            if first.at == first.rows.count {
                // What was picked is in rows that go now.
                self.take(&mut found, &picked)?;
                picked.clear();
                job.look(0, u64::MAX)?;
                if !self.lots[lot].load(&self.like, &self.spill)? {
                    self.heap.swap_remove(0);
                }
            }
            self.sink(0);
        }
        self.take(&mut found, &picked)?;
        Ok((found.count > 0).then_some(found))
    }

    /// Puts rows of lots behind others.
    fn take(&self, found: &mut Lot, picked: &[(usize, i64)]) -> Result<()> {
        let mut rows = Lot { count: picked.len(), ..Lot::default() };
        for (number, (part, &width)) in self.like.parts.iter().zip(&self.widths).enumerate() {
            rows.parts.push(match part {
                Part::Items(_) => Part::Items(self.items(picked, number, width)),
                Part::Strings { .. } => self.texts(picked, number),
            });
        }
        rows.numbers = self.like.numbers.as_ref().map(|_| {
            let number = |&(lot, row): &(usize, i64)| {
                let numbers = self.lots[lot].rows.numbers.as_ref();
                numbers.and_then(|numbers| numbers.get(place(row)).copied()).unwrap_or_default()
            };
            picked.iter().map(number).collect()
        });
        found.extend(rows)
    }

    fn items(&self, picked: &[(usize, i64)], column: usize, width: usize) -> Vec<u8> {
        let mut taken = Vec::with_capacity(picked.len() * width);
        for &(lot, row) in picked {
            if let Part::Items(items) = &self.lots[lot].rows.parts[column] {
                taken.extend_from_slice(&items[place(row) * width..][..width]);
            }
        }
        taken
    }

    fn texts(&self, picked: &[(usize, i64)], column: usize) -> Part {
        let (mut ends, mut taken) = (Vec::with_capacity(picked.len() + 1), Vec::new());
        ends.push(0);
        for &(lot, row) in picked {
            if let Part::Strings { offsets, bytes } = &self.lots[lot].rows.parts[column] {
                let at = |row: usize| place(offsets[row]);
                taken.extend_from_slice(&bytes[at(place(row))..at(place(row) + 1)]);
            }
            ends.push(taken.len().cast_signed() as i64);
        }
        Part::Strings { offsets: ends, bytes: taken }
    }

    /// How the next rows of two lots in the heap compare.
    fn compare(&self, a: usize, b: usize) -> Ordering {
        let (a, b) = (self.heap[a], self.heap[b]);
        let (first, other) = (&self.lots[a], &self.lots[b]);
        first.keys.compare(first.at, &other.keys, other.at).then(a.cmp(&b))
    }

    /// Moves what is at a place of the heap behind what comes before it.
    fn sink(&mut self, mut at: usize) {
        loop {
            let below = [2 * at + 1, 2 * at + 2].into_iter().filter(|&child| child < self.heap.len());
            let Some(least) = below.min_by(|&a, &b| self.compare(a, b)) else { return };
            if self.compare(at, least).is_lt() {
                return;
            }
            self.heap.swap(at, least);
            at = least;
        }
    }
}
