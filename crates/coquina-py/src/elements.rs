//! Values with axes of their own in the items of an array: `pos[0]` of each row.

use std::sync::Arc;

use coquina::array::Elements;
use pyo3::prelude::*;

use crate::arrays::ArrayBase;
use crate::lazy::Lazy;

pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(lazy_elements, module)?)
}

/// The values of a part of the items of an array that have axes of their own: `item_bytes` each.
#[pyfunction]
fn lazy_elements(
    array: &Bound<'_, ArrayBase>,
    offset: usize,
    item_bytes: usize,
    swapped_bytes: usize,
    axes: Vec<u64>,
) -> Lazy {
    let array = array.get().shared_array();
    Lazy::of(Arc::new(Elements { array, offset, item_bytes, swapped_bytes, axes }), true)
}
