//! What arrays may lose, as Python says it and is told it.
//!
//! In: the name of a bound, its value, and the means or none. Out: the same, with what was reached.

use coquina::array::Array;
use coquina::lossy::{self, Contract, LossyMethod, Reached, Record};
use coquina::{Error, Result};
use pyo3::prelude::*;

use crate::errors::Raised;
use crate::tuples::tuple_struct;

pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(check_lossy, module)?)
}

/// Raises ValueError for terms that no array can have.
#[pyfunction]
#[pyo3(signature = (terms, /))]
fn check_lossy(terms: Terms) -> Result<(), Raised> {
    terms.method()?;
    terms.bound()?;
    Ok(())
}

tuple_struct! {
    /// What is asked for.
    pub(crate) struct Terms {
        bound: String,
        value: f64,
        method: Option<String>,
    }
}

tuple_struct! {
    /// What was reached.
    pub(crate) struct ReachedTerms {
        max_error: f64,
        relative_error: f64,
        psnr: f64,
        /// Chunks rounded, truncated, by ZFP, as images, and exact.
        chunks: [u64; lossy::WAYS],
    }
}

/// As [`ReachedTerms`], for Python.
pub(crate) type ReachedTuple = (f64, f64, f64, [u64; lossy::WAYS]);
/// Terms, and what was reached, for Python.
pub(super) type LossyTuple = (&'static str, f64, Option<&'static str>, ReachedTuple);

impl From<ReachedTerms> for Reached {
    fn from(ReachedTerms { max_error, relative_error, psnr, chunks }: ReachedTerms) -> Self {
        Self { max_error, relative_error, mean_square: 10.0_f64.powf(-psnr / 10.0), chunks }
    }
}

/// What was reached, for Python.
pub(crate) fn reached_tuple(reached: &Reached) -> ReachedTuple {
    (reached.max_error, reached.relative_error, reached.psnr(), reached.chunks)
}

impl Terms {
    fn bound(&self) -> Result<lossy::Bound> {
        lossy::Bound::of(&self.bound, self.value)
    }

    fn method(&self) -> Result<Option<LossyMethod>> {
        self.method.as_deref().map(LossyMethod::of).transpose()
    }
}

/// The record of terms for items of this dtype.
pub(crate) fn record(terms: &Terms, reached: Reached, dtype: &str) -> Result<Record> {
    let contract = Contract::new(terms.bound()?, terms.method()?, dtype)?;
    Ok(Record { contract, reached })
}

/// What is written to the array from now on may lose so much.
pub(super) fn set(
    py: Python<'_>,
    array: &Array,
    terms: Terms,
    reached: Option<ReachedTerms>,
) -> Result<(), Raised> {
    let dtype = array.dtype().ok_or_else(|| Error::invalid("lossy: the items have no dtype"))?;
    let record = record(&terms, reached.map_or(Reached::NOTHING, Reached::from), dtype)?;
    Ok(py.detach(|| array.set_lossy(record))?)
}

/// What an array may lose, and what it has lost.
pub(super) fn get(py: Python<'_>, array: &Array) -> Result<Option<LossyTuple>, Raised> {
    let Some(Record { contract, reached }) = py.detach(|| array.lossy())? else { return Ok(None) };
    let (bound, method) = (contract.bound(), contract.method().map(LossyMethod::name));
    Ok(Some((bound.name(), bound.value(), method, reached_tuple(&reached))))
}
