//! An index as PyTables stores it, and the search of ranges of keys in it.

use std::sync::Arc;

use coquina::array::BoxSource;
use coquina::index::KeyKind;
use coquina::index::pytables::{Answer, Arrays, Chunking, Facts, Index, Keys};
use numpy::PyArray1;
use pyo3::prelude::*;

use super::key_ranges::PyKeyRanges;
use crate::errors::Raised;
use crate::lazy::Lazy;
use crate::watch;

/// How rows are cut, by the names of the attributes.
#[derive(FromPyObject, IntoPyObject)]
pub(super) struct Sizes {
    #[pyo3(item)]
    superblocksize: u64,
    #[pyo3(item)]
    blocksize: u64,
    #[pyo3(item)]
    slicesize: u64,
    #[pyo3(item)]
    chunksize: u64,
    #[pyo3(item)]
    reduction: u64,
    #[pyo3(item)]
    optlevel: u64,
}

impl From<Sizes> for Chunking {
    fn from(sizes: Sizes) -> Self {
        let Sizes { superblocksize, blocksize, slicesize, chunksize, reduction, optlevel } = sizes;
        let (superblock, block, slice) = (superblocksize, blocksize, slicesize);
        Self { superblock, block, slice, chunk: chunksize, reduction, optlevel }
    }
}

impl From<Chunking> for Sizes {
    fn from(chunking: Chunking) -> Self {
        let Chunking { superblock, block, slice, chunk, reduction, optlevel } = chunking;
        let (superblocksize, blocksize, slicesize) = (superblock, block, slice);
        Self { superblocksize, blocksize, slicesize, chunksize: chunk, reduction, optlevel }
    }
}

/// How a complete index of so many rows is cut.
#[pyfunction]
pub(super) fn pytables_sizes(rows: u64, item_bytes: u64) -> Sizes {
    Chunking::for_rows(rows, item_bytes).into()
}

/// The arrays that queries read, by their names in the file.
#[derive(FromPyObject)]
struct Named<'py> {
    #[pyo3(item)]
    sorted: PyRef<'py, Lazy>,
    #[pyo3(item)]
    indices: PyRef<'py, Lazy>,
    #[pyo3(item)]
    ranges: PyRef<'py, Lazy>,
    #[pyo3(item)]
    bounds: PyRef<'py, Lazy>,
    #[pyo3(item("sortedLR"))]
    rest_sorted: PyRef<'py, Lazy>,
    #[pyo3(item("indicesLR"))]
    rest_indices: PyRef<'py, Lazy>,
}

/// An index of PyTables that can be searched.
#[pyclass(frozen, module = "coquina._core")]
pub(super) struct PyTablesSearch {
    index: Index,
}

/// Rows, and first rows and ends of ranges; None where there are too many.
type Found<'py> = Option<(Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>)>;

#[pymethods]
impl PyTablesSearch {
    #[new]
    #[pyo3(signature = (arrays, sizes, kind, *, rest, rest_kept, table_chunk_rows, is_rounded=false))]
    #[expect(clippy::too_many_arguments, reason = "they are the keywords of a Python function")]
    fn new(
        arrays: Named<'_>,
        sizes: Sizes,
        kind: &str,
        rest: u64,
        rest_kept: u64,
        table_chunk_rows: u64,
        is_rounded: bool,
    ) -> Result<Self, Raised> {
        let shared = |lazy: &PyRef<'_, Lazy>| -> Arc<dyn BoxSource> { Arc::clone(&lazy.source) };
        let value_bytes = arrays.sorted.source.item_bytes();
        let arrays = Arrays {
            sorted: shared(&arrays.sorted),
            indices: shared(&arrays.indices),
            ranges: shared(&arrays.ranges),
            bounds: shared(&arrays.bounds),
            rest_sorted: shared(&arrays.rest_sorted),
            rest_indices: shared(&arrays.rest_indices),
        };
        let facts = Facts { chunking: sizes.into(), rest, rest_kept, table_chunk_rows };
        let keys = Keys { kind: KeyKind::by_name(kind)?, value_bytes, is_rounded };
        Ok(Self { index: Index::open(arrays, &facts, keys)? })
    }

    /// How many rows are indexed.
    #[getter]
    fn rows(&self) -> u64 {
        self.index.rows()
    }

    /// Rows that are told together.
    #[getter]
    fn bucket_rows(&self) -> u64 {
        self.index.bucket_rows()
    }

    /// Bytes of a stored row or bucket.
    #[getter]
    fn item_bytes(&self) -> usize {
        self.index.item_bytes()
    }

    /// The rows that may have values with these keys: rows, and first rows and ends of ranges.
    #[pyo3(signature = (keys, *, missing=false))]
    fn find<'py>(&self, py: Python<'py>, keys: &PyKeyRanges, missing: bool) -> Result<Found<'py>, Raised> {
        let answer = watch::run(py, usize::MAX, None, None, |job| self.index.find(&keys.keys, missing, job))?;
        let (rows, ranges) = match answer {
            Answer::Rows(rows) => (rows, Vec::new()),
            Answer::Ranges(ranges) => {
                (Vec::new(), ranges.into_iter().flat_map(|range| [range.start, range.end]).collect())
            }
            Answer::All => return Ok(None),
        };
        Ok(Some((PyArray1::from_vec(py, rows), PyArray1::from_vec(py, ranges))))
    }

    /// About how many rows `find` gives at most.
    #[pyo3(signature = (keys, *, missing=false))]
    fn estimate(&self, py: Python<'_>, keys: &PyKeyRanges, missing: bool) -> Result<u64, Raised> {
        watch::run(py, usize::MAX, None, None, |job| self.index.estimate(&keys.keys, missing, job))
    }
}
