//! Sets of rows that indexes name: as conditions and as lists; fingerprints of rows; what is known of a condition.

use std::ops::Range;
use std::sync::Arc;

use coquina::query::{Column, RowOp, RowSet, combine, fingerprints, survey as survey_rows, within};
use coquina::{Error, Result};
use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;

use crate::errors::Raised;
use crate::lazy::Lazy;
use crate::query::Wanted;
use crate::watch;

pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(lazy_rows, module)?)?;
    module.add_function(wrap_pyfunction!(rows_and, module)?)?;
    module.add_function(wrap_pyfunction!(rows_or, module)?)?;
    module.add_function(wrap_pyfunction!(rows_minus, module)?)?;
    module.add_function(wrap_pyfunction!(rows_within, module)?)?;
    module.add_function(wrap_pyfunction!(row_fingerprints, module)?)?;
    module.add_function(wrap_pyfunction!(survey, module)?)
}

type Rows<'py> = PyReadonlyArray1<'py, i64>;
type NewRows<'py> = Bound<'py, PyArray1<i64>>;

/// The items of an array that is in one piece.
fn slice<'a>(rows: &'a Rows<'_>) -> Result<&'a [i64]> {
    rows.as_slice().map_err(|_| Error::invalid("rows: an array that is not in one piece"))
}

/// The starts and stops of ranges: an array of two columns.
fn pairs<'a>(ranges: &'a PyReadonlyArray2<'_, i64>) -> Result<&'a [[i64; 2]]> {
    let shape = ranges.shape();
    if shape.get(1) != Some(&2) {
        return Err(Error::invalid(format!("ranges: an array of shape {shape:?}, takes (any, 2)")));
    }
    let items = ranges.as_slice().map_err(|_| Error::invalid("ranges: an array that is not in one piece"))?;
    Ok(items.as_chunks().0)
}

/// A condition on `count` rows that holds at `rows` and in the ranges `open`; it is walked over in such chunks.
#[pyfunction]
fn lazy_rows(
    py: Python<'_>,
    rows: Rows<'_>,
    open: PyReadonlyArray2<'_, i64>,
    count: u64,
    chunk_rows: u64,
    block_rows: u64,
) -> Result<Lazy, Raised> {
    let (rows, open) = (slice(&rows)?, pairs(&open)?);
    let set = py.detach(|| RowSet::new(rows, open, count, chunk_rows, block_rows))?;
    // Nothing of it is stored: what it is put together with says how both are walked over.
    Ok(Lazy::of(Arc::new(set), false))
}

fn combined<'py>(py: Python<'py>, op: RowOp, a: &Rows<'py>, b: &Rows<'py>) -> Result<NewRows<'py>, Raised> {
    let (a, b) = (slice(a)?, slice(b)?);
    let rows = py.detach(|| combine(op, a, b))?;
    Ok(PyArray1::from_vec(py, rows))
}

/// The rows of both.
#[pyfunction]
fn rows_and<'py>(py: Python<'py>, a: Rows<'py>, b: Rows<'py>) -> Result<NewRows<'py>, Raised> {
    combined(py, RowOp::And, &a, &b)
}

/// The rows of either.
#[pyfunction]
fn rows_or<'py>(py: Python<'py>, a: Rows<'py>, b: Rows<'py>) -> Result<NewRows<'py>, Raised> {
    combined(py, RowOp::Or, &a, &b)
}

/// The rows of `a` that are not of `b`.
#[pyfunction]
fn rows_minus<'py>(py: Python<'py>, a: Rows<'py>, b: Rows<'py>) -> Result<NewRows<'py>, Raised> {
    combined(py, RowOp::Minus, &a, &b)
}

/// The rows that are in one of the ranges.
#[pyfunction]
fn rows_within<'py>(
    py: Python<'py>,
    rows: Rows<'py>,
    ranges: PyReadonlyArray2<'py, i64>,
) -> Result<NewRows<'py>, Raised> {
    let (rows, ranges) = (slice(&rows)?, pairs(&ranges)?);
    let rows = py.detach(|| within(rows, ranges))?;
    Ok(PyArray1::from_vec(py, rows))
}

/// A number for each range of rows, of the items that all sources have there.
#[pyfunction]
#[pyo3(signature = (sources, starts, stops, *, threads=None))]
fn row_fingerprints<'py>(
    py: Python<'py>,
    sources: Vec<Wanted<'py>>,
    starts: Rows<'py>,
    stops: Rows<'py>,
    threads: Option<i64>,
) -> Result<Bound<'py, PyArray1<u64>>, Raised> {
    let (starts, stops) = (slice(&starts)?, slice(&stops)?);
    if starts.len() != stops.len() {
        let (starts, stops) = (starts.len(), stops.len());
        return Err(Error::invalid(format!("{starts} starts, {stops} stops")).into());
    }
    let row = |row: i64| u64::try_from(row).map_err(|_| Error::invalid(format!("row {row}: is none")));
    let pairs = starts.iter().zip(stops);
    let ranges: Result<Vec<Range<u64>>> = pairs.map(|(&start, &stop)| Ok(row(start)?..row(stop)?)).collect();
    let ranges = ranges?;
    let columns: Vec<Column<'_>> = sources.iter().map(Wanted::column).collect();
    let found = watch::run(py, usize::MAX, threads, None, |job| fingerprints(&columns, &ranges, job))?;
    Ok(PyArray1::from_vec(py, found))
}

/// How many boxes a walk over these rows has, and of how many of them nothing is known without decoding.
#[pyfunction]
#[pyo3(signature = (condition, start, stop, *, threads=None))]
fn survey(
    py: Python<'_>,
    condition: &Lazy,
    start: u64,
    stop: u64,
    threads: Option<i64>,
) -> Result<(u64, u64), Raised> {
    let condition = &*condition.source;
    watch::run(py, usize::MAX, threads, None, |job| survey_rows(condition, start, stop, job))
}
