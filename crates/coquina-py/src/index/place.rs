//! Where the arrays of an index are, as Python has it: a group of HDF5, a directory, or memory.
//!
//! Methods of a Python object are called; what they raise comes back as it was.

use std::path::PathBuf;
use std::sync::Arc;

use coquina::index::store::{AppendItems, ArrayItems, IndexPlace, ItemKind, NewIndexArray, PlacedArray};
use coquina::{Error, Result};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::arrays::ArrayBase;

/// A place that is a Python object: an `IndexPlace` of `coquina.indexes.places`.
pub(super) struct PythonPlace<'a, 'py>(pub(super) &'a Bound<'py, PyAny>);

/// An exception on its way through the engine.
pub(super) fn raised(error: PyErr) -> Error {
    std::io::Error::other(error).into()
}

/// The dtype of items.
fn dtype_of(kind: ItemKind) -> &'static str {
    match kind {
        ItemKind::U8 => "u1",
        ItemKind::U16 => "<u2",
        ItemKind::U32 => "<u4",
        ItemKind::U64 => "<u8",
        ItemKind::Span => "span",
        ItemKind::Zone => "zone",
    }
}

fn numpy_of(py: Python<'_>, items: ArrayItems) -> Bound<'_, PyAny> {
    match items {
        ArrayItems::U8(items) | ArrayItems::Bytes(items) => PyArray1::from_vec(py, items).into_any(),
        ArrayItems::U16(items) => PyArray1::from_vec(py, items).into_any(),
        ArrayItems::U32(items) => PyArray1::from_vec(py, items).into_any(),
        ArrayItems::U64(items) => PyArray1::from_vec(py, items).into_any(),
    }
}

impl PythonPlace<'_, '_> {
    fn writer(&self, arrays: &[NewIndexArray]) -> PyResult<Bound<'_, PyAny>> {
        let array = |one: &NewIndexArray| {
            (one.path.clone(), dtype_of(one.kind), one.codec, one.level, one.chunk, one.rises)
        };
        self.0.call_method1("write", (arrays.iter().map(array).collect::<Vec<_>>(),))
    }
}

impl IndexPlace for PythonPlace<'_, '_> {
    fn names(&self, path: &str) -> Result<Vec<String>> {
        self.0.call_method1("names", (path,)).and_then(|names| names.extract()).map_err(raised)
    }

    fn array(&self, path: &str) -> Result<PlacedArray> {
        let found = || -> PyResult<PlacedArray> {
            let found = self.0.call_method1("array", (path,))?;
            let (array, dtype, is_unsigned): (Bound<'_, ArrayBase>, String, bool) = found.extract()?;
            let source: Arc<dyn coquina::array::BoxSource> = array.get().shared_array();
            Ok(PlacedArray { source, is_unsigned, dtype })
        };
        found().map_err(raised)
    }

    fn write(
        &mut self,
        arrays: &[NewIndexArray],
        fill: &mut dyn FnMut(&mut AppendItems<'_>) -> Result<()>,
    ) -> Result<()> {
        let py = self.0.py();
        let writer = self.writer(arrays).map_err(raised)?;
        let filled = fill(&mut |parts| {
            let append = || -> PyResult<()> {
                let parts = PyList::new(py, parts.into_iter().map(|part| numpy_of(py, part)))?;
                writer.call_method1("append", (parts,)).map(drop)
            };
            append().map_err(raised)
        });
        // What went wrong first is the reason.
        let closed = writer.call_method0("close").map(drop).map_err(raised);
        filled.and(closed)
    }

    fn remove(&mut self, path: &str) -> Result<()> {
        self.0.call_method1("remove", (path,)).map(drop).map_err(raised)
    }

    fn set_metadata(&mut self, key: &str, text: &str) -> Result<()> {
        self.0.call_method1("set_metadata", (key, text)).map(drop).map_err(raised)
    }

    fn flush(&mut self) -> Result<()> {
        self.0.call_method0("flush").map(drop).map_err(raised)
    }

    fn folder(&self) -> Option<PathBuf> {
        self.0.getattr("folder").ok()?.extract().ok()?
    }
}
