//! Queries of columns: the rows that match a condition, gathered or folded.

use coquina::Error;
use coquina::query::{Column, Part, Report, Rows, scan_fold as fold_rows};
use coquina_kernels::Type;
use coquina_kernels::reduce::Fold;
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::errors::Raised;
use crate::lazy::Lazy;
use crate::watch;

pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(text_ranks, module)?)?;
    module.add_function(wrap_pyfunction!(scan_fold, module)?)
}

/// A column: items of one size, or offsets and bytes of strings.
#[derive(FromPyObject)]
pub(crate) enum Wanted<'py> {
    Strings(PyRef<'py, Lazy>, PyRef<'py, Lazy>),
    #[pyo3(transparent)]
    Items(PyRef<'py, Lazy>),
}

impl Wanted<'_> {
    /// It as the engine takes it.
    pub(crate) fn column(&self) -> Column<'_> {
        match self {
            Self::Items(items) => Column::Items(&*items.source),
            Self::Strings(offsets, bytes) => {
                Column::Strings { offsets: &*offsets.source, bytes: &*bytes.source }
            }
        }
    }
}

/// What was gathered as NumPy's: bytes of items, or offsets and bytes of texts.
pub(crate) fn part_of(py: Python<'_>, part: Part) -> PyResult<Bound<'_, PyAny>> {
    Ok(match part {
        Part::Items(items) => PyArray1::from_vec(py, items).into_any(),
        Part::Strings { offsets, bytes } => {
            (PyArray1::from_vec(py, offsets), PyArray1::from_vec(py, bytes)).into_pyobject(py)?.into_any()
        }
    })
}

/// The ranks of texts, given by offsets (int64) and bytes (uint8): equal texts have the same one, others are in the order
/// of their bytes.
#[pyfunction]
#[pyo3(signature = (offsets, bytes, /))]
fn text_ranks<'py>(
    py: Python<'py>,
    offsets: PyReadonlyArray1<'py, i64>,
    bytes: PyReadonlyArray1<'py, u8>,
) -> Result<Bound<'py, PyArray1<u32>>, Raised> {
    let (offsets, bytes) = (offsets.as_slice().map_err(PyErr::from)?, bytes.as_slice().map_err(PyErr::from)?);
    let ranks = py.detach(|| coquina::query::text_ranks(offsets, bytes))?;
    Ok(PyArray1::from_vec(py, ranks))
}

/// The bytes of the result, its columns one after another, how many rows match, and the report.
type Folded<'py> = (Bound<'py, PyBytes>, u64, Bound<'py, PyDict>);

/// Folds the items of a column, numbers of the type of this name, of the rows that match.
#[pyfunction]
#[pyo3(signature = (condition, column, type_name, fold_name, start, stop, step=1, *, threads=None))]
#[expect(clippy::too_many_arguments, reason = "they are the keywords of a Python function")]
fn scan_fold<'py>(
    py: Python<'py>,
    condition: Option<&Lazy>,
    column: &Lazy,
    type_name: &str,
    fold_name: &str,
    start: u64,
    stop: u64,
    step: u64,
    threads: Option<i64>,
) -> Result<Folded<'py>, Raised> {
    let ty = Type::by_name(type_name)
        .ok_or_else(|| Error::invalid(format!("type {type_name:?}: none of ours")))?;
    let fold = Fold::by_name(fold_name)
        .ok_or_else(|| Error::invalid(format!("fold {fold_name:?}: none of ours")))?;
    let condition = condition.map(|condition| &*condition.source);
    let column = &*column.source;
    let rows = Rows { start, stop, step };
    let folded =
        watch::run(py, usize::MAX, threads, None, |job| fold_rows(condition, column, ty, fold, rows, job))?;
    Ok((PyBytes::new(py, &folded.bytes), folded.matched, report_of(py, folded.report)?))
}

/// What was done for a query.
pub(crate) fn report_of(py: Python<'_>, report: Report) -> PyResult<Bound<'_, PyDict>> {
    let Report { boxes, skipped, whole, decoded, rows_scanned } = report;
    let dict = PyDict::new(py);
    dict.set_item("boxes", boxes)?;
    dict.set_item("boxes_skipped", skipped)?;
    dict.set_item("boxes_whole", whole)?;
    dict.set_item("boxes_decoded", decoded)?;
    dict.set_item("rows_scanned", rows_scanned)?;
    Ok(dict)
}
