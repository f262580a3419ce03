//! Writes the manifest of a directory, by which arrays are committed together.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use coquina::array::{Array, Outcome, Text, commit_together};
use coquina::frame::Manifest;
use pyo3::prelude::*;

use crate::arrays::ArrayHandle;
use crate::errors::Raised;

/// A manifest that is written, by which arrays are committed together.
#[pyclass(frozen, module = "coquina._core")]
pub(super) struct ManifestWriter(Mutex<Manifest>);

#[pymethods]
impl ManifestWriter {
    #[new]
    #[pyo3(signature = (path, /))]
    fn new(path: PathBuf) -> Self {
        Self(Mutex::new(Manifest::new(&path)))
    }

    /// Whether a line can be added; if not, or rather not, the whole is written anew.
    #[getter]
    fn takes_line(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).takes_line()
    }

    /// Commits the prepared states of arrays by a new manifest, or by a line of it. Returns "committed", "undone", or,
    /// for states in which nothing more can be written, "not durable" or "unknown"; with the error of all but the first.
    #[pyo3(signature = (handles, text, /, *, line=false, durable=false))]
    fn commit(
        &self,
        py: Python<'_>,
        handles: Vec<Bound<'_, ArrayHandle>>,
        text: &[u8],
        line: bool,
        durable: bool,
    ) -> (&'static str, Option<Py<PyAny>>) {
        let arrays: Vec<Arc<Array>> = handles.iter().map(|handle| Arc::clone(&handle.get().array)).collect();
        let outcome = py.detach(|| {
            let arrays: Vec<&Array> = arrays.iter().map(|array| &**array).collect();
            let mut manifest = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let text = if line { Text::Line(text) } else { Text::Whole(text) };
            commit_together(&arrays, &mut manifest, text, durable)
        });
        let (word, error) = match outcome {
            Outcome::Committed => return ("committed", None),
            Outcome::NotDurable(error) => ("not durable", error),
            Outcome::Undone(error) => ("undone", error),
            Outcome::Unknown(error) => ("unknown", error),
        };
        (word, Some(Raised::from(error).0.into_value(py).into_any()))
    }
}
