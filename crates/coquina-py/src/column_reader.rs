//! Columns that are read together: the rows that a query finds, as NumPy arrays.
//!
//! A column is a Python object: `sources()` gives its [`Lazy`] (a pair for text), `values(parts)` makes an array of what
//! was gathered, `read(slice)` gives no rows. `viewed` is the dtype of those whose items are shown as they are.

use coquina::query::{Column, Part, Query, Rows, scan};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyRange, PySlice};

use crate::errors::Raised;
use crate::lazy::Lazy;
use crate::query::{part_of, report_of};
use crate::watch;

pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<ColumnReader>()?;
    module.add_class::<Found>()
}

/// What a query found: how many rows, their values by column, where they are if that was asked for, and what was done.
#[pyclass(frozen, get_all, module = "coquina._core")]
pub(crate) struct Found {
    matched: u64,
    values: Py<PyDict>,
    numbers: Option<Py<PyAny>>,
    report: Py<PyDict>,
}

#[pymethods]
impl Found {
    #[new]
    #[pyo3(signature = (matched, values, numbers=None))]
    pub(crate) fn new(py: Python<'_>, matched: u64, values: Py<PyDict>, numbers: Option<Py<PyAny>>) -> Self {
        Self { matched, values, numbers, report: PyDict::new(py).unbind() }
    }
}

/// A source that is kept.
pub(crate) enum Source {
    Items(Py<Lazy>),
    Strings(Py<Lazy>, Py<Lazy>),
}

struct ReadColumn {
    path: Py<PyAny>,
    column: Py<PyAny>,
    sources: Vec<Source>,
    viewed: Option<Py<PyAny>>,
}

/// Reads columns.
#[pyclass(frozen, module = "coquina._core")]
pub(crate) struct ColumnReader {
    columns: Vec<ReadColumn>,
}

#[pymethods]
impl ColumnReader {
    /// Of columns by path.
    #[new]
    fn new(columns: &Bound<'_, PyDict>) -> PyResult<Self> {
        let columns = columns.iter().map(|(path, column)| {
            let mut sources = Vec::new();
            for source in column.call_method0("sources")?.try_iter()? {
                let source = source?;
                sources.push(match source.cast::<Lazy>() {
                    Ok(items) => Source::Items(items.clone().unbind()),
                    Err(_) => {
                        let (offsets, bytes) = source.extract()?;
                        Source::Strings(offsets, bytes)
                    }
                });
            }
            let viewed = column.getattr_opt("viewed")?.filter(|viewed| !viewed.is_none());
            let viewed = viewed.map(Bound::unbind);
            Ok(ReadColumn { path: path.unbind(), column: column.unbind(), sources, viewed })
        });
        Ok(Self { columns: columns.collect::<PyResult<_>>()? })
    }

    /// The rows of a range where a condition holds, the first ones of them.
    #[pyo3(signature = (condition, span, *, numbers=false, limit=None))]
    fn scan(
        &self,
        py: Python<'_>,
        condition: Option<&Lazy>,
        span: &Bound<'_, PyRange>,
        numbers: bool,
        limit: Option<u64>,
    ) -> Result<Found, Raised> {
        let rows = rows_of(span)?;
        let count = span.len()? as u64;
        if count == 0 || limit == Some(0) {
            return Ok(self.nothing(py, numbers)?);
        }
        if condition.is_none() && self.columns.is_empty() && !numbers {
            let matched = limit.map_or(count, |limit| limit.min(count));
            return Ok(Found::new(py, matched, PyDict::new(py).unbind(), None));
        }
        let columns: Vec<Column<'_>> = self.sources().map(Source::column).collect();
        let condition = condition.map(|condition| &*condition.source);
        let query = Query { condition, columns: &columns, rows, numbers, limit };
        let found = watch::run(py, usize::MAX, None, None, |job| scan(&query, job))?;
        let values = self.values(py, found.parts)?;
        let numbers = found.numbers.map(|numbers| PyArray1::from_vec(py, numbers).into_any().unbind());
        let report = report_of(py, found.report)?.unbind();
        Ok(Found { matched: found.matched, values, numbers, report })
    }

    /// No rows.
    #[pyo3(signature = (*, numbers=false))]
    fn nothing(&self, py: Python<'_>, numbers: bool) -> PyResult<Found> {
        let values = PyDict::new(py);
        for ReadColumn { path, column, .. } in &self.columns {
            values.set_item(path, column.bind(py).call_method1("read", (PySlice::new(py, 0, 0, 1),))?)?;
        }
        let numbers = numbers.then(|| PyArray1::<i64>::from_vec(py, Vec::new()).into_any().unbind());
        Ok(Found::new(py, 0, values.unbind(), numbers))
    }
}

impl ColumnReader {
    /// What is read of all columns.
    pub(crate) fn sources(&self) -> impl Iterator<Item = &Source> {
        self.columns.iter().flat_map(|column| &column.sources)
    }

    /// What was gathered of them, by column.
    pub(crate) fn values(&self, py: Python<'_>, parts: Vec<Part>) -> PyResult<Py<PyDict>> {
        let (values, mut parts) = (PyDict::new(py), parts.into_iter());
        for column in &self.columns {
            let own = parts.by_ref().take(column.sources.len());
            values.set_item(&column.path, column.values(py, own)?)?;
        }
        Ok(values.unbind())
    }
}

/// The rows of a range, which ascends.
pub(crate) fn rows_of(span: &Bound<'_, PyRange>) -> PyResult<Rows> {
    let (start, step): (u64, u64) = (span.getattr("start")?.extract()?, span.getattr("step")?.extract()?);
    let count = span.len()? as u64;
    let stop = if count == 0 { start } else { start + (count - 1) * step + 1 };
    Ok(Rows { start, stop, step })
}

impl Source {
    pub(crate) fn column(&self) -> Column<'_> {
        match self {
            Self::Items(items) => Column::Items(&*items.get().source),
            Self::Strings(offsets, bytes) => {
                Column::Strings { offsets: &*offsets.get().source, bytes: &*bytes.get().source }
            }
        }
    }
}

impl ReadColumn {
    fn values<'py>(&self, py: Python<'py>, parts: impl Iterator<Item = Part>) -> PyResult<Bound<'py, PyAny>> {
        let parts = parts.map(|part| part_of(py, part)).collect::<PyResult<Vec<_>>>()?;
        match (&self.viewed, &parts[..]) {
            (Some(dtype), [items]) => items.call_method1("view", (dtype,)),
            _ => self.column.bind(py).call_method1("values", (PyList::new(py, parts)?,)),
        }
    }
}
