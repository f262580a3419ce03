//! Whether a dataset may have changed: counts of changes, which hold as long as only this package can write to the file.
//!
//! In: a [`SoleWriter`] for each file that is opened over a file object of ours, ended when h5py's objects of it are
//! handed out, or it is closed. Out: a [`DatasetVersion`] for each dataset of it, shared by all its handles.
//! Invariant: a version is told only while all changes are counted, and each change is counted before the call that made
//! it returns.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use pyo3::prelude::*;

/// Whether only this package writes to a file that is open.
#[pyclass(frozen, module = "coquina._core")]
pub(crate) struct SoleWriter(Arc<AtomicBool>);

#[pymethods]
impl SoleWriter {
    #[new]
    fn new() -> Self {
        Self(Arc::new(AtomicBool::new(true)))
    }

    /// Notes that others may write from now on, or that the file is about to be closed.
    fn end(&self) {
        self.0.store(false, Ordering::SeqCst);
    }

    /// Counts the changes of a dataset.
    fn dataset(&self) -> DatasetVersion {
        DatasetVersion { is_sole: Arc::clone(&self.0), changes: Arc::default() }
    }
}

/// A count of the changes of one dataset.
#[derive(Clone)]
#[pyclass(frozen, module = "coquina._core")]
pub(crate) struct DatasetVersion {
    is_sole: Arc<AtomicBool>,
    changes: Arc<AtomicU64>,
}

#[pymethods]
impl DatasetVersion {
    /// Counts a change that was made, or has failed half-way.
    pub(crate) fn count(&self) {
        self.changes.fetch_add(1, Ordering::SeqCst);
    }
}

impl DatasetVersion {
    /// How many changes there were; `None` where there may be some that were not counted.
    pub(crate) fn get(&self) -> Option<u64> {
        self.is_sole.load(Ordering::SeqCst).then(|| self.changes.load(Ordering::SeqCst))
    }
}

/// Runs what changes a dataset, and counts it, whether or not it succeeds.
pub(super) fn counted<T>(version: Option<&DatasetVersion>, change: impl FnOnce() -> T) -> T {
    let done = change();
    if let Some(version) = version {
        version.count();
    }
    done
}
