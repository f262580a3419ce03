//! Rows in the order of columns, handed out some at a time.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use coquina::index::sorted_rows::{RowSort, SortedRows as Rows, SortedRowsPart};
use coquina::query::{Column, Direction, QueryColumn};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyRange;

use crate::column_reader::{ColumnReader, Found, Source, rows_of};
use crate::conditions::column_of;
use crate::errors::Raised;
use crate::lazy::Lazy;
use crate::watch;

pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<SortedRows>()
}

/// Rows in their order.
#[pyclass(frozen, module = "coquina._core")]
struct SortedRows {
    reader: Py<ColumnReader>,
    rows: Mutex<Rows>,
}

#[pymethods]
impl SortedRows {
    /// Reads the rows of a range where a condition holds, and sorts them by columns, each with whether it descends.
    #[new]
    #[pyo3(signature = (reader, condition, span, keys, *, numbers=false, memory_limit, folder))]
    #[expect(clippy::too_many_arguments, reason = "they are the keywords of a Python function")]
    fn new(
        py: Python<'_>,
        reader: Py<ColumnReader>,
        condition: Option<&Lazy>,
        span: &Bound<'_, PyRange>,
        keys: Vec<(Bound<'_, PyAny>, bool)>,
        numbers: bool,
        memory_limit: u64,
        folder: PathBuf,
    ) -> Result<Self, Raised> {
        let key = |(column, descends): (Bound<'_, PyAny>, bool)| {
            let direction = if descends { Direction::Descending } else { Direction::Ascending };
            Ok((column_of(&column)?, direction))
        };
        let keys: Vec<(QueryColumn, Direction)> = keys.into_iter().map(key).collect::<Result<_, Raised>>()?;
        let columns: Vec<Column<'_>> = reader.get().sources().map(Source::column).collect();
        let sort = RowSort {
            condition: condition.map(|condition| &*condition.source),
            columns: &columns,
            keys: &keys,
            rows: rows_of(span)?,
            numbers,
            memory_limit,
            folder: &folder,
        };
        let rows = watch::run(py, usize::MAX, None, None, |job| Rows::new(&sort, job))?;
        drop(columns);
        Ok(Self { reader, rows: Mutex::new(rows) })
    }

    /// Whether the rows wait in a file.
    #[getter]
    fn is_in_file(&self, py: Python<'_>) -> bool {
        py.detach(|| self.rows.lock().unwrap_or_else(PoisonError::into_inner).is_in_file())
    }

    /// The next rows, at most so many; None behind the last.
    fn next(&self, py: Python<'_>, most: usize) -> Result<Option<Found>, Raised> {
        let found = watch::run(py, usize::MAX, None, None, |job| {
            self.rows.lock().unwrap_or_else(PoisonError::into_inner).next(most, job)
        })?;
        let Some(SortedRowsPart { count, parts, numbers }) = found else { return Ok(None) };
        let values = self.reader.get().values(py, parts)?;
        let numbers = numbers.map(|numbers| PyArray1::from_vec(py, numbers).into_any().unbind());
        Ok(Some(Found::new(py, count as u64, values, numbers)))
    }
}
