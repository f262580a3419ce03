//! Index metadata as Python has them.

use coquina::index::store::{IndexKind, IndexParams, Metadata, RunEntry};
use coquina::{Error, Json, JsonText};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString};

use crate::directories::attributes::{self, Text};
use crate::errors::Raised;
use crate::tuples::tuple_struct;

tuple_struct! {
    /// How rows are grouped in an index.
    pub(super) struct Params {
        span_rows: u64,
        zone_rows: u64,
        bucket_rows: u64,
        block_entries: u64,
        partial_spans: u64,
        tier_runs: u64,
    }
}

impl Params {
    pub(super) fn engine(&self) -> IndexParams {
        let &Self { span_rows, zone_rows, bucket_rows, block_entries, partial_spans, tier_runs } = self;
        IndexParams { span_rows, zone_rows, bucket_rows, block_entries, partial_spans, tier_runs }
    }
}

tuple_struct! {
    /// What an index is: its name, what it is of, whether that is an expression, its kind, that of its keys, and the
    /// dtype of its values.
    struct Described { name: Text, column: Text, is_expression: bool, kind: String, key_kind: String, dtype: Text }
}

/// What describes an index beside its arrays.
#[pyclass(frozen, module = "coquina._core")]
pub(crate) struct IndexMetadata {
    pub(super) meta: Metadata,
}

#[pymethods]
impl IndexMetadata {
    /// Those of an index without anything.
    #[new]
    fn new(described: Described, params: Params) -> Result<Self, Raised> {
        let Described { name, column, is_expression, kind, key_kind, dtype } = described;
        let kind = IndexKind::by_name(&kind).ok_or_else(|| Error::invalid(format!("kind {kind:?}")))?;
        let meta = Metadata::new(name.0, column.0, kind, &key_kind, &params.engine());
        Ok(Self { meta: Metadata { is_expression, dtype: dtype.0, ..meta } })
    }

    /// What a text says.
    #[staticmethod]
    fn read(text: &Bound<'_, PyAny>, params: Params) -> Result<Self, Raised> {
        let read = |text: &[u8]| Ok(Self { meta: Metadata::read(text, &params.engine())? });
        if let Ok(bytes) = text.cast::<PyBytes>() {
            return read(bytes.as_bytes());
        }
        match text.extract::<Text>() {
            Ok(text) => read(text.0.as_bytes()),
            Err(_) => Err(Error::corrupt("index metadata is not text").into()),
        }
    }

    /// The text.
    fn text(&self) -> String {
        self.meta.text()
    }

    /// The same, of another name and what it is of.
    fn renamed(&self, name: Text, column: Text) -> Self {
        Self { meta: Metadata { name: name.0, column: column.0, ..self.meta.clone() } }
    }

    /// Those of the same index before anything was written.
    fn emptied(&self, key_kind: &str, dtype: Text) -> Self {
        Self { meta: self.meta.emptied(key_kind, dtype.0) }
    }

    #[getter]
    fn name<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyString>> {
        attributes::text(py, &self.meta.name)
    }

    #[getter]
    fn column<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyString>> {
        attributes::text(py, &self.meta.column)
    }

    #[getter]
    fn is_expression(&self) -> bool {
        self.meta.is_expression
    }

    #[getter]
    fn kind(&self) -> &'static str {
        self.meta.kind.name()
    }

    #[getter]
    fn key_kind(&self) -> &str {
        &self.meta.key_kind
    }

    #[getter]
    fn bucket_rows(&self) -> u64 {
        self.meta.bucket_rows
    }

    /// How many rows there were when it was last written.
    #[getter]
    fn rows(&self) -> u64 {
        self.meta.rows
    }

    /// What tells whether values have been written since.
    #[getter]
    fn stamp<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        attributes::object(py, &self.meta.stamp)
    }
}

/// A run: its number, entries, rows without a key, and the rows that it was made of.
pub(super) fn run_of(entry: &RunEntry) -> (u64, u64, u64, u64) {
    (entry.number, entry.entries, entry.missing, entry.rows)
}

/// The object that is the JSON of a stamp.
pub(super) fn stamp_of(text: &JsonText) -> coquina::Result<coquina::JsonObject> {
    match Json::read(text.as_bytes())? {
        Json::Object(stamp) => Ok(stamp),
        _ => Err(Error::invalid("a stamp is an object")),
    }
}
