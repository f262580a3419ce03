//! Directories of frames that are committed together: their lock, their manifest, and the commit.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use coquina::array::{Array, OpenOptions, Outcome, Text, commit_together};
use coquina::frame::{CommitId, FolderLock, Manifest, Mode, read_manifest as read};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::arrays::ArrayHandle;
use crate::errors::Raised;

pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<DirectoryLock>()?;
    module.add_class::<ManifestWriter>()?;
    module.add_function(wrap_pyfunction!(read_manifest, module)?)?;
    module.add_function(wrap_pyfunction!(open_commit, module)?)
}

/// What tells a state of an array from others: a tuple of Python's.
#[derive(FromPyObject)]
struct Commit {
    #[pyo3(item(0))]
    end: u64,
    #[pyo3(item(1))]
    sum: u64,
}

/// Opens the array at a path in the state with this id.
#[pyfunction]
#[pyo3(signature = (path, commit, /, *, writable=false))]
fn open_commit(py: Python<'_>, path: PathBuf, commit: Commit, writable: bool) -> Result<ArrayHandle, Raised> {
    let mode = if writable { Mode::Write } else { Mode::Read };
    let commit = Some(CommitId { end: commit.end, sum: commit.sum });
    let options = OpenOptions { mode, commit, ..OpenOptions::default() };
    let array = py.detach(|| Array::open(&path, &options))?;
    Ok(ArrayHandle::new(array, Some(path)))
}

/// A manifest for Python.
type ManifestTuple<'py> = (Bound<'py, PyBytes>, Vec<Bound<'py, PyBytes>>, bool);

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

/// The text of a manifest, the lines behind it, and whether checksums say that it is as it was written.
#[pyfunction]
#[pyo3(signature = (path, /))]
fn read_manifest<'py>(py: Python<'py>, path: PathBuf) -> Result<ManifestTuple<'py>, Raised> {
    let found = py.detach(|| read(&path))?;
    let lines = found.lines.iter().map(|line| PyBytes::new(py, line)).collect();
    Ok((PyBytes::new(py, &found.whole), lines, found.is_checked))
}

/// A manifest that is written, by which arrays are committed together.
#[pyclass(frozen, module = "coquina._core")]
struct ManifestWriter(Mutex<Manifest>);

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
