//! The order of numbers in memory.

use coquina::index::{KeyKind, order_of as places_in_order};
use numpy::PyArray1;
use pyo3::prelude::*;

use crate::buffers::Input;
use crate::errors::Raised;
use crate::watch;

/// The places of numbers of a kind, none of them NaN, in the order of the numbers; of equal ones in their order.
#[pyfunction]
#[pyo3(signature = (numbers, kind, item_bytes, /))]
pub(super) fn order_of<'py>(
    py: Python<'py>,
    numbers: &Bound<'py, PyAny>,
    kind: &str,
    item_bytes: usize,
) -> Result<Bound<'py, PyArray1<i64>>, Raised> {
    let kind = KeyKind::by_name(kind)?;
    let input = Input::of(numbers)?;
    let bytes = input.bytes();
    let order = watch::run(py, bytes.len(), None, None, |job| places_in_order(bytes, item_bytes, kind, job))?;
    Ok(PyArray1::from_vec(py, order))
}
