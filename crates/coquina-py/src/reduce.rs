//! Reductions of what is computed: sums, extremes, moments along some axes.

use coquina::Error;
use coquina::compute::reduce::reduce as fold_along;
use coquina_kernels::Type;
use coquina_kernels::reduce::Fold;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::Raised;
use crate::lazy::Lazy;
use crate::watch;

pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(reduce, module)?)
}

/// The bytes of the result, its columns one after another, and of how many chunks how many needed no reading.
type Reduction<'py> = (Bound<'py, PyBytes>, u64, u64);

/// Folds the items of `lazy`, numbers of the type of this name, along the axes that are marked.
#[pyfunction]
#[pyo3(signature = (lazy, type_name, fold_name, axes, /, threads=None))]
fn reduce<'py>(
    py: Python<'py>,
    lazy: &Lazy,
    type_name: &str,
    fold_name: &str,
    axes: Vec<bool>,
    threads: Option<i64>,
) -> Result<Reduction<'py>, Raised> {
    let ty = Type::by_name(type_name)
        .ok_or_else(|| Error::invalid(format!("type {type_name:?}: none of ours")))?;
    let fold = Fold::by_name(fold_name)
        .ok_or_else(|| Error::invalid(format!("fold {fold_name:?}: none of ours")))?;
    let source = &*lazy.source;
    let reduced = watch::run(py, usize::MAX, threads, None, |job| fold_along(source, ty, fold, &axes, job))?;
    Ok((PyBytes::new(py, reduced.bytes()), reduced.chunks, reduced.shortcut))
}
