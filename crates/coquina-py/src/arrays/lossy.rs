//! What arrays may lose, as Python says it and is told it.
//!
//! In: the name of a bound, its value, and the means or none. Out: the same, with what was reached.

use coquina::array::Array;
use coquina::lossy::{self, Contract, Means, Reached, Record};
use coquina::{Error, Result};
use pyo3::prelude::*;

use crate::errors::Raised;

pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(check_lossy, module)?)
}

/// Raises ValueError for terms that no array can have.
#[pyfunction]
#[pyo3(signature = (terms, /))]
fn check_lossy(terms: Terms) -> Result<(), Raised> {
    let (name, value, means) = terms;
    means.as_deref().map(Means::of).transpose()?;
    lossy::Bound::of(&name, value)?;
    Ok(())
}

/// Name and value of a bound, and the name of the means.
pub(super) type Terms = (String, f64, Option<String>);
/// Greatest error, greatest relative error, least PSNR; chunks rounded, truncated, by ZFP, as images, and exact.
pub(super) type ReachedTuple = (f64, f64, f64, [u64; lossy::WAYS]);
/// Terms, and what was reached.
pub(super) type LossyTuple = (&'static str, f64, Option<&'static str>, ReachedTuple);

/// The record of terms for items of this dtype.
fn record((bound, value, means): Terms, reached: Option<ReachedTuple>, dtype: &str) -> Result<Record> {
    let means = means.as_deref().map(Means::of).transpose()?;
    let contract = Contract::new(lossy::Bound::of(&bound, value)?, means, dtype)?;
    let reached = reached.map_or(Reached::NOTHING, |(max_error, relative_error, psnr, chunks)| Reached {
        max_error,
        relative_error,
        mean_square: 10.0_f64.powf(-psnr / 10.0),
        chunks,
    });
    Ok(Record { contract, reached })
}

/// What is written to the array from now on may lose so much.
pub(super) fn set(
    py: Python<'_>,
    array: &Array,
    terms: Terms,
    reached: Option<ReachedTuple>,
) -> Result<(), Raised> {
    let dtype = array.dtype().ok_or_else(|| Error::invalid("lossy: the items have no dtype"))?;
    let record = record(terms, reached, dtype)?;
    Ok(py.detach(|| array.set_lossy(record))?)
}

/// What an array may lose, and what it has lost.
pub(super) fn get(py: Python<'_>, array: &Array) -> Result<Option<LossyTuple>, Raised> {
    let Some(Record { contract, reached }) = py.detach(|| array.lossy())? else { return Ok(None) };
    let (Reached { max_error, relative_error, chunks, .. }, psnr) = (reached, reached.psnr());
    let (bound, means) = (contract.bound(), contract.means().map(Means::name));
    Ok(Some((bound.name(), bound.value(), means, (max_error, relative_error, psnr, chunks))))
}
