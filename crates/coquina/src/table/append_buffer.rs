//! Rows that were appended and wait in memory for the next flush.

use std::ops::Range;

use super::part::PartRows;

/// The encoded rows of all columns.
#[derive(Default)]
pub(crate) struct AppendBuffer {
    rows: usize,
    nbytes: usize,
    /// For each column the rows of its parts.
    columns: Vec<Vec<PartRows>>,
}

/// The bytes that rows of all columns take.
pub(crate) fn nbytes_of(columns: &[Vec<PartRows>]) -> usize {
    columns.iter().flatten().map(PartRows::nbytes).sum()
}

impl AppendBuffer {
    /// How many rows wait.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// How many bytes they take.
    pub(crate) fn nbytes(&self) -> usize {
        self.nbytes
    }

    /// The rows of each column, of each of its parts.
    pub(crate) fn columns(&self) -> &[Vec<PartRows>] {
        &self.columns
    }

    /// Puts some of the rows of all columns behind the last.
    pub(crate) fn push(&mut self, columns: &[Vec<PartRows>], rows: Range<usize>) {
        if rows.is_empty() {
            return;
        }
        let cut = |parts: &Vec<PartRows>| parts.iter().map(|part| part.cut(rows.clone())).collect();
        let added: Vec<Vec<PartRows>> = columns.iter().map(cut).collect();
        self.rows += rows.len();
        self.nbytes += nbytes_of(&added);
        if self.columns.is_empty() {
            self.columns = added;
            return;
        }
        for (known, more) in self.columns.iter_mut().flatten().zip(added.iter().flatten()) {
            known.extend(more);
        }
    }
}
