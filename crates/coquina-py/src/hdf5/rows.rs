//! The table of a dataset's chunks, as Python gets it.

use std::cmp::Ordering;

use coquina::Result;
use coquina::hdf5::ChunkRow;
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::errors::Raised;

/// A row of the table of chunks: start, address, bytes and filter mask.
pub(super) type RowTuple<'py> = (Bound<'py, PyTuple>, u64, u64, u32);

pub(super) fn row_tuples(
    py: Python<'_>,
    rows: Vec<(Vec<u64>, ChunkRow)>,
) -> Result<Vec<RowTuple<'_>>, Raised> {
    let tuple =
        |(start, row): (Vec<u64>, ChunkRow)| Ok((PyTuple::new(py, start)?, row.address, row.size, row.mask));
    rows.into_iter().map(tuple).collect()
}

/// Takes a row of the table of chunks: the coordinates of the first item, and where the chunk is.
pub(super) type TakeRow<'a> = &'a mut dyn FnMut(&[u64], ChunkRow) -> Result<()>;

/// All stored chunks of a dataset at one moment, in C order, to be looked up by the coordinates of their first item.
///
/// A row takes 24 bytes and 8 for each axis: objects of Python would take ten times as many.
#[pyclass(frozen, module = "coquina._core")]
pub(crate) struct ChunkRows {
    rank: usize,
    /// Those of all rows, one after the other.
    starts: Vec<u64>,
    rows: Vec<ChunkRow>,
}

impl ChunkRows {
    /// Collects what `tell` gives, in whatever order.
    pub(super) fn of(tell: impl FnOnce(TakeRow<'_>) -> Result<()>) -> Result<Self> {
        let (mut starts, mut rows, mut rank) = (Vec::new(), Vec::new(), 0);
        tell(&mut |start, row| {
            rank = start.len();
            starts.extend_from_slice(start);
            rows.push(row);
            Ok(())
        })?;
        Ok(Self { rank, starts, rows }.sorted())
    }

    fn start(&self, number: usize) -> &[u64] {
        self.starts.get(number * self.rank..(number + 1) * self.rank).unwrap_or_default()
    }

    fn sorted(self) -> Self {
        let mut order: Vec<usize> = (0..self.rows.len()).collect();
        if order.is_sorted_by_key(|&number| self.start(number)) {
            return self;
        }
        order.sort_by_key(|&number| self.start(number));
        let starts = order.iter().flat_map(|&number| self.start(number).iter().copied()).collect();
        let rows = order.iter().map(|&number| self.rows[number]).collect();
        Self { rank: self.rank, starts, rows }
    }

    fn place(&self, start: &[u64]) -> Option<usize> {
        let (mut low, mut high) = (0, self.rows.len());
        while low < high {
            let middle = low.midpoint(high);
            match self.start(middle).cmp(start) {
                Ordering::Equal => return Some(middle),
                Ordering::Less => low = middle + 1,
                Ordering::Greater => high = middle,
            }
        }
        None
    }
}

#[pymethods]
impl ChunkRows {
    fn __len__(&self) -> usize {
        self.rows.len()
    }

    /// A row by its number in C order.
    fn __getitem__<'py>(&self, py: Python<'py>, number: usize) -> PyResult<RowTuple<'py>> {
        let Some(row) = self.rows.get(number) else {
            return Err(PyIndexError::new_err(format!("chunk {number} of {}", self.rows.len())));
        };
        Ok((PyTuple::new(py, self.start(number))?, row.address, row.size, row.mask))
    }

    /// Address, bytes and filter mask of the chunk that starts here; `None` if it was not stored.
    #[pyo3(signature = (start, /))]
    #[expect(clippy::needless_pass_by_value, reason = "a tuple of Python becomes a vector")]
    fn find(&self, start: Vec<u64>) -> Option<(u64, u64, u32)> {
        let row = self.rows.get(self.place(&start)?)?;
        Some((row.address, row.size, row.mask))
    }
}
