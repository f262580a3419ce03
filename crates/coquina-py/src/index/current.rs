//! What an index can be asked as long as nothing changes.

use coquina::index::{Asked, Current, Looked};
use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;

use super::key_ranges::PyKeyRanges;
use super::row_set::{PyRowSet, pairs};
use crate::errors::Raised;
use crate::watch;

type Rows<'py> = Bound<'py, PyArray1<i64>>;

/// The runs of an index, or its zones, and what they know.
#[pyclass(frozen, module = "coquina._core")]
pub(super) struct CurrentIndex {
    pub(super) current: Current,
}

#[pymethods]
impl CurrentIndex {
    /// How many rows there are.
    #[getter]
    fn nrows(&self) -> u64 {
        self.current.nrows()
    }

    /// How many rows nothing is known of.
    #[getter]
    fn open_rows(&self) -> u64 {
        self.current.open_rows()
    }

    /// The ranges of rows that nothing is known of: pairs, ascending, not adjacent.
    #[getter]
    fn open<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<i64>>> {
        pairs(py, self.current.open())
    }

    /// The numbers of the runs that own rows, and whether each of them owns all of its own.
    #[getter]
    fn runs(&self) -> Vec<(u64, bool)> {
        self.current.runs().map(|(run, owns_all)| (run.number, owns_all)).collect()
    }

    /// The rows with keys in ranges, and those of which keys do not tell that, if there are some.
    #[pyo3(signature = (keys, missing, by_key))]
    fn lookup<'py>(
        &self,
        py: Python<'py>,
        keys: &PyKeyRanges,
        missing: bool,
        by_key: bool,
    ) -> Result<(PyRowSet, Option<Rows<'py>>), Raised> {
        let asked = Asked { keys: &keys.keys, missing, by_key };
        let Looked { sure, unsure } =
            watch::run(py, usize::MAX, None, None, |job| self.current.lookup(&asked, job))?;
        Ok((sure.into(), (!unsure.is_empty()).then(|| PyArray1::from_vec(py, unsure))))
    }

    /// How many rows `lookup` gives at most, without those of open ranges; from memory alone.
    fn estimate(&self, keys: &PyKeyRanges, missing: bool) -> u64 {
        self.current.estimate(&keys.keys, missing)
    }

    /// Whether rows are told one by one, and nothing is open.
    #[getter]
    fn tells_rows(&self) -> bool {
        self.current.tells_rows()
    }

    /// How many rows are asked for, if runs know the number.
    fn count(
        &self,
        py: Python<'_>,
        keys: &PyKeyRanges,
        missing: bool,
        by_key: bool,
    ) -> Result<Option<u64>, Raised> {
        let asked = Asked { keys: &keys.keys, missing, by_key };
        watch::run(py, usize::MAX, None, None, |job| self.current.count(&asked, job))
    }

    /// The rows without a key.
    fn missing_rows<'py>(&self, py: Python<'py>) -> Result<Rows<'py>, Raised> {
        let rows = watch::run(py, usize::MAX, None, None, |job| self.current.missing_rows(job))?;
        Ok(PyArray1::from_vec(py, rows))
    }

    /// The places of the entries of a run, whose keys are from the least one to the greatest one that is given.
    fn places(&self, py: Python<'_>, run: usize, keys: Option<[u64; 2]>) -> Result<(u64, u64), Raised> {
        let places = watch::run(py, usize::MAX, None, None, |job| self.current.places(run, keys, job))?;
        Ok((places.start, places.end))
    }

    /// The rows that a run owns of entries at some places, in the order of keys.
    fn rows_at<'py>(&self, py: Python<'py>, run: usize, start: u64, stop: u64) -> Result<Rows<'py>, Raised> {
        let rows = watch::run(py, usize::MAX, None, None, |job| self.current.rows_at(run, start..stop, job))?;
        Ok(PyArray1::from_vec(py, rows))
    }
}
