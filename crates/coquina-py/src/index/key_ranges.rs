//! Sets of keys.

use std::sync::Arc;

use coquina::index::KeyRanges;
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::errors::Raised;

type Keys<'py> = Bound<'py, PyArray1<u64>>;

/// A set of keys: ranges with both ends within, ascending and apart.
#[pyclass(frozen, name = "KeyRanges", module = "coquina._core")]
#[derive(Clone)]
pub(crate) struct PyKeyRanges {
    pub(crate) keys: Arc<KeyRanges>,
}

impl From<KeyRanges> for PyKeyRanges {
    fn from(keys: KeyRanges) -> Self {
        Self { keys: Arc::new(keys) }
    }
}

#[pymethods]
impl PyKeyRanges {
    /// From each of `low` to the one of `high` at the same place.
    #[new]
    fn new(low: PyReadonlyArray1<'_, u64>, high: PyReadonlyArray1<'_, u64>) -> Result<Self, Raised> {
        Ok(KeyRanges::new(&low.as_array().to_vec(), &high.as_array().to_vec())?.into())
    }

    /// The set of all keys in ranges, which may be in any order, and reach over the ends of what keys there are.
    #[staticmethod]
    #[pyo3(signature = (*pairs))]
    fn of(pairs: &Bound<'_, PyTuple>) -> PyResult<Self> {
        let mut ranges = Vec::with_capacity(pairs.len());
        for pair in pairs.iter() {
            let (low, high): (i128, i128) = pair.extract()?;
            let (low, high) = (low.max(0), high.min(u64::MAX.into()));
            if let (Ok(low), Ok(high)) = (u64::try_from(low), u64::try_from(high)) {
                ranges.push(low..=high);
            }
        }
        Ok(KeyRanges::union(ranges).into())
    }

    /// The least key of each range.
    #[getter]
    fn low<'py>(&self, py: Python<'py>) -> Keys<'py> {
        PyArray1::from_iter(py, self.keys.ranges().iter().map(|range| *range.start()))
    }

    /// The greatest key of each range.
    #[getter]
    fn high<'py>(&self, py: Python<'py>) -> Keys<'py> {
        PyArray1::from_iter(py, self.keys.ranges().iter().map(|range| *range.end()))
    }

    /// The ranges as numbers.
    fn pairs(&self) -> Vec<(u64, u64)> {
        self.keys.ranges().iter().map(|range| (*range.start(), *range.end())).collect()
    }

    /// Which of some keys are in it.
    fn has<'py>(&self, py: Python<'py>, keys: PyReadonlyArray1<'py, u64>) -> Bound<'py, PyArray1<bool>> {
        PyArray1::from_iter(py, keys.as_array().iter().map(|&key| self.keys.contains(key)))
    }

    fn __bool__(&self) -> bool {
        !self.keys.is_empty()
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.keys == other.keys
    }

    fn __or__(&self, other: &Self) -> Self {
        self.keys.or(&other.keys).into()
    }

    fn __and__(&self, other: &Self) -> Self {
        self.keys.and(&other.keys).into()
    }

    fn __invert__(&self) -> Self {
        self.keys.not().into()
    }
}
