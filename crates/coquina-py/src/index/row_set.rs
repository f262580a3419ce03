//! Sets of rows that indexes give.

use std::ops::Range;
use std::sync::Arc;

use coquina::index::RowSet;
use coquina::query::RowCondition;
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyRange;

use crate::errors::Raised;
use crate::lazy::Lazy;
use crate::tuples::tuple_struct;

type Rows<'py> = Bound<'py, PyArray1<i64>>;
type Ranges<'py> = Bound<'py, PyArray2<i64>>;

/// Numbers of rows, and ranges of which nothing is known.
#[pyclass(frozen, name = "RowSet", module = "coquina._core")]
pub(crate) struct PyRowSet {
    pub(super) set: RowSet,
    /// What was handed out of it.
    rows: PyOnceLock<Py<PyArray1<i64>>>,
    open: PyOnceLock<Py<PyArray2<i64>>>,
}

impl From<RowSet> for PyRowSet {
    fn from(set: RowSet) -> Self {
        Self { set, rows: PyOnceLock::new(), open: PyOnceLock::new() }
    }
}

/// Ranges as an array of two columns.
pub(super) fn pairs<'py>(py: Python<'py>, ranges: &[Range<i64>]) -> PyResult<Ranges<'py>> {
    let ends = ranges.iter().flat_map(|range| [range.start, range.end]).collect();
    PyArray1::<i64>::from_vec(py, ends).reshape([ranges.len(), 2])
}

/// The starts and stops of ranges: an array of two columns.
pub(super) fn ranges_of(ranges: &PyReadonlyArray2<'_, i64>) -> coquina::Result<Vec<[i64; 2]>> {
    let shape = ranges.shape();
    if shape.get(1) != Some(&2) {
        return Err(coquina::Error::invalid(format!("ranges: an array of shape {shape:?}, takes (any, 2)")));
    }
    let ranges = ranges.as_array();
    Ok(ranges.rows().into_iter().map(|pair| [pair[0], pair[1]]).collect())
}

#[pymethods]
impl PyRowSet {
    /// rows: ascending; open: pairs, ascending and disjoint.
    #[new]
    #[pyo3(signature = (rows, open, is_exact=true))]
    fn new(
        rows: PyReadonlyArray1<'_, i64>,
        open: PyReadonlyArray2<'_, i64>,
        is_exact: bool,
    ) -> Result<Self, Raised> {
        let rows = rows.as_array().to_vec();
        Ok(RowSet::new(rows, &ranges_of(&open)?, is_exact)?.into())
    }

    /// The set of so many rows of which nothing is known.
    #[staticmethod]
    fn all(count: u64) -> Self {
        RowSet::all(count).into()
    }

    /// The set without rows.
    #[staticmethod]
    fn none() -> Self {
        RowSet::none().into()
    }

    /// Rows that may belong to the answer: an array that is not to be changed.
    #[getter]
    fn rows<'py>(&self, py: Python<'py>) -> Rows<'py> {
        let made = || PyArray1::from_slice(py, self.set.rows()).unbind();
        self.rows.get_or_init(py, made).bind(py).clone()
    }

    /// The ranges of which nothing is known, likewise.
    #[getter]
    fn open<'py>(&self, py: Python<'py>) -> PyResult<Ranges<'py>> {
        let made = || pairs(py, self.set.open()).map(Bound::unbind);
        Ok(self.open.get_or_try_init(py, made)?.bind(py).clone())
    }

    /// Whether rows that are in no open range belong to the answer.
    #[getter]
    fn is_exact(&self) -> bool {
        self.set.is_exact()
    }

    /// How many rows nothing is known of.
    #[getter]
    fn open_rows(&self) -> u64 {
        self.set.open_rows()
    }

    /// How many ranges there are of which nothing is known.
    #[getter]
    fn open_ranges(&self) -> usize {
        self.set.open().len()
    }

    /// It, as a set that is not exact.
    fn inexact(&self, py: Python<'_>) -> Self {
        py.detach(|| self.set.clone().inexact()).into()
    }

    fn __and__(&self, py: Python<'_>, other: &Self) -> Self {
        py.detach(|| self.set.and(&other.set)).into()
    }

    fn __or__(&self, py: Python<'_>, other: &Self) -> Self {
        py.detach(|| self.set.or(&other.set)).into()
    }

    /// How many rows there may be.
    fn __len__(&self) -> usize {
        self.set.rows().len()
    }

    /// The part of the set that is from row `start` to before row `stop`.
    fn clip<'py>(slf: &Bound<'py, Self>, start: i64, stop: i64) -> PyResult<Bound<'py, Self>> {
        let (py, set) = (slf.py(), &slf.get().set);
        if set.is_within(&(start..stop)) {
            return Ok(slf.clone());
        }
        Bound::new(py, Self::from(py.detach(|| set.clip(&(start..stop)))))
    }

    /// The part of the set that is in a range of rows; open ranges keep rows between its steps.
    fn strided<'py>(slf: &Bound<'py, Self>, span: &Bound<'py, PyRange>) -> PyResult<Bound<'py, Self>> {
        let [start, stop, step] = [span.getattr("start")?, span.getattr("stop")?, span.getattr("step")?];
        let (start, stop, step): (i64, i64, u64) = (start.extract()?, stop.extract()?, step.extract()?);
        if step == 1 {
            return Self::clip(slf, start, stop);
        }
        let set = &slf.get().set;
        Bound::new(slf.py(), Self::from(slf.py().detach(|| set.strided(start, stop, step))))
    }

    /// The rows that are in no open range: of an exact set they belong to the answer.
    fn known<'py>(&self, py: Python<'py>) -> Rows<'py> {
        if self.set.open().is_empty() {
            return self.rows(py);
        }
        PyArray1::from_vec(py, py.detach(|| self.set.known()))
    }

    /// A condition on `count` rows that holds at those of the set; it is walked over in such chunks.
    fn lazy(&self, py: Python<'_>, count: u64, chunk_rows: u64, block_rows: u64) -> Result<Lazy, Raised> {
        let boxes = Boxes { count, chunk_rows, block_rows };
        // Nothing of it is stored: what it is put together with says how both are walked over.
        Ok(Lazy::of(Arc::new(py.detach(|| boxes.rows(self.set.rows(), self.set.open()))?), false))
    }
}

tuple_struct! {
    /// How many rows a table has, and how they are walked over.
    struct Boxes { count: u64, chunk_rows: u64, block_rows: u64 }
}

impl Boxes {
    fn rows(&self, rows: &[i64], open: &[Range<i64>]) -> coquina::Result<RowCondition> {
        let open: Vec<[i64; 2]> = open.iter().map(|range| [range.start, range.end]).collect();
        RowCondition::new(rows, &open, self.count, self.chunk_rows, self.block_rows)
    }
}
