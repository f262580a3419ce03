//! The lock of a directory of frames.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use coquina::frame::FolderLock;
use pyo3::prelude::*;

use crate::errors::Raised;

/// The lock of a directory, for its one writer.
#[pyclass(frozen, module = "coquina._core")]
pub(super) struct DirectoryLock(Mutex<Option<FolderLock>>);

impl DirectoryLock {
    fn lock(&self) -> MutexGuard<'_, Option<FolderLock>> {
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
