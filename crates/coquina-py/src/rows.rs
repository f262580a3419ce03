//! What rows hold: fingerprints of them, and what is known of a condition on them.

use std::ops::Range;

use coquina::query::{Column, fingerprints, survey as survey_rows};
use coquina::{Error, Result};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;

use crate::errors::Raised;
use crate::lazy::Lazy;
use crate::query::Wanted;
use crate::watch;

pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(row_fingerprints, module)?)?;
    module.add_function(wrap_pyfunction!(survey, module)?)
}

type Rows<'py> = PyReadonlyArray1<'py, i64>;

/// The items of an array that is in one piece.
fn slice<'a>(rows: &'a Rows<'_>) -> Result<&'a [i64]> {
    rows.as_slice().map_err(|_| Error::invalid("rows: an array that is not in one piece"))
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
    let row = |row: i64| u64::try_from(row).map_err(|_| Error::invalid(format!("row {row} is negative")));
    let pairs = starts.iter().zip(stops);
    let ranges: Result<Vec<Range<u64>>> = pairs.map(|(&start, &stop)| Ok(row(start)?..row(stop)?)).collect();
    let ranges = ranges?;
    Ok(PyArray1::from_vec(py, fingerprints_of(py, &sources, &ranges, threads)?))
}

/// A number for each range of rows, likewise.
pub(crate) fn fingerprints_of(
    py: Python<'_>,
    sources: &[Wanted<'_>],
    ranges: &[Range<u64>],
    threads: Option<i64>,
) -> Result<Vec<u64>, Raised> {
    let columns: Vec<Column<'_>> = sources.iter().map(Wanted::column).collect();
    watch::run(py, usize::MAX, threads, None, |job| fingerprints(&columns, ranges, job))
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
