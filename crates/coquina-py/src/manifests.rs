//! Directories of frames that are committed together: their lock, their manifest, and the commit.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use coquina::array::{Array, Outcome, commit_together as commit};
use coquina::frame::{FolderLock, read_manifest as read};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::arrays::ArrayHandle;
use crate::errors::Raised;

pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<DirectoryLock>()?;
    module.add_function(wrap_pyfunction!(read_manifest, module)?)?;
    module.add_function(wrap_pyfunction!(commit_together, module)?)
}

/// The lock of a directory, for its one writer.
#[pyclass(frozen, module = "coquina._core")]
struct DirectoryLock(Mutex<Option<FolderLock>>);

impl DirectoryLock {
    fn lock(&self) -> std::sync::MutexGuard<'_, Option<FolderLock>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl DirectoryLock {
    #[new]
    #[pyo3(signature = (path, /))]
    fn new(path: PathBuf) -> Result<Self, Raised> {
        Ok(Self(Mutex::new(Some(FolderLock::take(&path)?))))
    }

    /// Whether the lock is held by this process, and `path` is the directory that is locked.
    #[pyo3(signature = (path, /))]
    fn is_at(&self, path: PathBuf) -> bool {
        self.lock().as_ref().is_some_and(|lock| lock.is_at(&path))
    }

    fn release(&self) {
        self.lock().take();
    }
}

/// The text of a manifest, and whether a checksum says that it is as it was written.
#[pyfunction]
#[pyo3(signature = (path, /))]
fn read_manifest<'py>(py: Python<'py>, path: PathBuf) -> Result<(Bound<'py, PyBytes>, bool), Raised> {
    let (text, is_checked) = py.detach(|| read(&path))?;
    Ok((PyBytes::new(py, &text), is_checked))
}

/// Commits the prepared states of arrays by the manifest at `path`. Returns "committed", "undone", or, for states in
/// which nothing more can be written, "not durable" or "unknown"; with the error of all but the first.
#[pyfunction]
#[pyo3(signature = (handles, path, text, /, *, durable=false))]
fn commit_together(
    py: Python<'_>,
    handles: Vec<Bound<'_, ArrayHandle>>,
    path: PathBuf,
    text: Vec<u8>,
    durable: bool,
) -> (&'static str, Option<Py<PyAny>>) {
    let arrays: Vec<Arc<Array>> = handles.iter().map(|handle| Arc::clone(&handle.get().array)).collect();
    let outcome = py.detach(|| {
        let arrays: Vec<&Array> = arrays.iter().map(|array| &**array).collect();
        commit(&arrays, &path, &text, durable)
    });
    let (word, error) = match outcome {
        Outcome::Committed => return ("committed", None),
        Outcome::NotDurable(error) => ("not durable", error),
        Outcome::Undone(error) => ("undone", error),
        Outcome::Unknown(error) => ("unknown", error),
    };
    (word, Some(Raised::from(error).0.into_value(py).into_any()))
}
