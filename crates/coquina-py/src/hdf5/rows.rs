//! The table of a dataset's chunks, as Python gets it.

use coquina::hdf5::ChunkRow;
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
