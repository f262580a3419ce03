//! The arrays of a column of a table, whose rows are changed, removed and added.

use coquina::table::{ColumnArrays, ItemArray, RowItems, TextArrays, Texts};
use coquina::{Error, Job, Result};
use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;

use crate::arrays::ArrayBase;
use crate::buffers::Items;
use crate::errors::Raised;
use crate::watch;

/// The arrays of a column.
#[pyclass(frozen, name = "ColumnArrays", module = "coquina._core")]
pub(crate) struct PyColumnArrays {
    column: ColumnArrays,
    has_texts: bool,
    /// The same arrays, which count their changes.
    arrays: Vec<Py<ArrayBase>>,
}

/// Numbers of rows.
type Rows<'py> = PyReadonlyArray1<'py, i64>;

#[pymethods]
impl PyColumnArrays {
    /// Arrays of one axis with an item for each row. `new_items` are the bytes of an item for rows without a value, for each
    /// array. With `text_bytes` the first two are offsets and bytes of text, so much of which is in memory at once.
    #[new]
    #[pyo3(signature = (arrays, new_items, text_bytes=None, /))]
    fn new(
        arrays: Vec<Bound<'_, ArrayBase>>,
        new_items: Vec<Option<Vec<u8>>>,
        text_bytes: Option<i64>,
    ) -> PyResult<Self> {
        let shared = |array: &Bound<'_, ArrayBase>| array.get().shared_array();
        let (texts, others) = match (text_bytes, &arrays[..]) {
            (Some(bytes_at_once), [offsets, data, others @ ..]) => {
                (Some(TextArrays { offsets: shared(offsets), data: shared(data), bytes_at_once }), others)
            }
            (None, others) => (None, others),
            _ => return Err(PyValueError::new_err("text has two arrays")),
        };
        if others.len() != new_items.len() {
            return Err(PyValueError::new_err("new items: one for each array"));
        }
        let pairs = others.iter().zip(new_items);
        let items = pairs.map(|(array, new_item)| ItemArray { array: shared(array), new_item }).collect();
        let has_texts = texts.is_some();
        let arrays = arrays.into_iter().map(Bound::unbind).collect();
        Ok(Self { column: ColumnArrays::new(texts, items), has_texts, arrays })
    }

    /// How many rows all arrays have.
    fn rows(&self, py: Python<'_>) -> Result<u64, Raised> {
        watch::run(py, 0, None, None, |job| self.column.rows(job))
    }

    /// Keeps the first `rows` rows.
    #[pyo3(signature = (rows, /))]
    fn truncate(&self, py: Python<'_>, rows: u64) -> Result<(), Raised> {
        self.change(py, |job| self.column.truncate(rows, job))
    }

    /// Adds rows, up to so many.
    #[pyo3(signature = (rows, /))]
    fn grow(&self, py: Python<'_>, rows: u64) -> Result<(), Raised> {
        self.change(py, |job| self.column.grow(rows, job))
    }

    /// Overwrites `count` rows from `start` on with the items of each array; of text, offsets from 0 on and bytes.
    #[pyo3(signature = (start, count, items, /))]
    fn write(
        &self,
        py: Python<'_>,
        start: u64,
        count: u64,
        items: Vec<Bound<'_, PyAny>>,
    ) -> Result<(), Raised> {
        let items = given(&items)?;
        let items = self.row_items(&items)?;
        self.change(py, |job| self.column.write(start, count, items, job))
    }

    /// Overwrites these rows; of several values for one the last stays.
    #[pyo3(signature = (rows, items, /))]
    fn write_at(&self, py: Python<'_>, rows: Rows<'_>, items: Vec<Bound<'_, PyAny>>) -> Result<(), Raised> {
        let (rows, items) = (numbers(&rows)?, given(&items)?);
        let items = self.row_items(&items)?;
        self.change(py, |job| self.column.write_at(&rows, items, job))
    }

    /// Closes the gaps of rows that go, which ascend, of the first `rows` rows.
    #[pyo3(signature = (gone, rows, /))]
    fn remove(&self, py: Python<'_>, gone: Rows<'_>, rows: u64) -> Result<(), Raised> {
        let gone = numbers(&gone)?;
        self.change(py, |job| self.column.remove(&gone, rows, job))
    }
}

impl PyColumnArrays {
    /// Changes the arrays, which count that, also after an error.
    fn change(&self, py: Python<'_>, make: impl FnOnce(&Job<'_>) -> Result<()> + Send) -> Result<(), Raised> {
        let made = watch::run(py, usize::MAX, None, None, make);
        for array in &self.arrays {
            array.call_method0(py, intern!(py, "_wrote"))?;
        }
        made
    }

    fn row_items<'i>(&self, items: &'i [Items<'_>]) -> Result<RowItems<'i>> {
        let (texts, others) = match items {
            [offsets, data, others @ ..] if self.has_texts => {
                let (offsets, _) = offsets.bytes().as_chunks::<8>();
                let offsets = offsets.iter().map(|&bytes| i64::from_le_bytes(bytes)).collect();
                (Some(Texts::placed(offsets, data.bytes().to_vec())?), others)
            }
            others => (None, others),
        };
        Ok(RowItems { texts, items: others.iter().map(Items::bytes).collect() })
    }
}

fn given<'py>(items: &[Bound<'py, PyAny>]) -> PyResult<Vec<Items<'py>>> {
    items.iter().map(Items::of).collect()
}

fn numbers(rows: &Rows<'_>) -> Result<Vec<u64>> {
    let number = |&row: &i64| u64::try_from(row).map_err(|_| Error::out_of_bounds(format!("row {row}")));
    rows.as_array().iter().map(number).collect()
}
