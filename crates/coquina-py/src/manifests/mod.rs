//! Directories of frames that are committed together: their lock, their manifest, and the commit.

mod lock;
mod writer;

use std::path::PathBuf;

use coquina::array::{Array, OpenOptions};
use coquina::frame::{CommitId, Mode, exchange, read_manifest as read};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::arrays::ArrayHandle;
use crate::errors::Raised;
use crate::tuples::tuple_struct;

pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<lock::DirectoryLock>()?;
    module.add_class::<writer::ManifestWriter>()?;
    module.add_function(wrap_pyfunction!(read_manifest, module)?)?;
    module.add_function(wrap_pyfunction!(open_commit, module)?)?;
    module.add_function(wrap_pyfunction!(exchange_names, module)?)
}

/// Gives two directories each other's name in one step; false if the system cannot, and nothing is done.
#[pyfunction]
#[pyo3(signature = (one, other, /))]
fn exchange_names(one: PathBuf, other: PathBuf) -> PyResult<bool> {
    Ok(exchange(&one, &other)?)
}

tuple_struct! {
    /// What tells a state of an array from others.
    struct Commit {
        end: u64,
        sum: u64,
    }
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

/// The text of a manifest, the lines behind it, and whether checksums say that it is as it was written.
#[pyfunction]
#[pyo3(signature = (path, /))]
fn read_manifest<'py>(py: Python<'py>, path: PathBuf) -> Result<ManifestTuple<'py>, Raised> {
    let found = py.detach(|| read(&path))?;
    let lines = found.lines.iter().map(|line| PyBytes::new(py, line)).collect();
    Ok((PyBytes::new(py, &found.whole), lines, found.is_checked))
}
