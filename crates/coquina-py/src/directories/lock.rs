//! The lock of a directory in which several files are written.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use coquina::frame;
use pyo3::prelude::*;

use crate::errors::Raised;

/// The lock of a directory, from when it is taken to `release`, or to the end of the process.
#[pyclass(module = "coquina._core", frozen)]
pub(crate) struct FolderLock {
    taken: Mutex<Option<frame::FolderLock>>,
}

#[pymethods]
impl FolderLock {
    /// Takes the lock. Raises BlockingIOError if another writer has it.
    #[new]
    #[pyo3(signature = (path, /))]
    fn new(py: Python<'_>, path: PathBuf) -> Result<Self, Raised> {
        let lock = py.detach(|| frame::FolderLock::take(&path))?;
        Ok(Self { taken: Mutex::new(Some(lock)) })
    }

    /// Whether a path still leads to the directory that is locked.
    #[pyo3(signature = (path, /))]
    fn is_at(&self, path: PathBuf) -> bool {
        let taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        taken.as_ref().is_some_and(|lock| lock.is_at(&path))
    }

    /// Lets the next writer begin.
    fn release(&self) {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}
