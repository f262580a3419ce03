//! Directories of frames that are committed together, and tables that take the place of others.

pub(crate) mod attributes;
mod directory;
mod lock;

use std::path::PathBuf;

use coquina::array::{Outcome, Text, commit_together};
use coquina::frame::Manifest;
use coquina::table::{check_is_replaceable as check, put_in_place as put};
use pyo3::prelude::*;

use crate::errors::Raised;

pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<directory::TableDirectory>()?;
    module.add_class::<directory::DirectoryTransaction>()?;
    module.add_class::<lock::FolderLock>()?;
    module.add_function(wrap_pyfunction!(check_is_replaceable, module)?)?;
    module.add_function(wrap_pyfunction!(put_in_place, module)?)?;
    module.add_function(wrap_pyfunction!(write_manifest, module)?)
}

/// Raises FileExistsError unless there is a table, and nothing else, in this directory, and BlockingIOError if another
/// process writes it.
#[pyfunction]
#[pyo3(signature = (place, /))]
fn check_is_replaceable(py: Python<'_>, place: PathBuf) -> Result<(), Raised> {
    Ok(py.detach(|| check(&place))?)
}

/// Gives a table its name; one that has it gives way.
#[pyfunction]
#[pyo3(signature = (new, place, /))]
fn put_in_place(py: Python<'_>, new: PathBuf, place: PathBuf) -> Result<(), Raised> {
    Ok(py.detach(|| put(&new, &place))?)
}

/// Makes this text the manifest at a path, with its checksum, whatever it says.
#[pyfunction]
#[pyo3(signature = (path, text, /))]
fn write_manifest(py: Python<'_>, path: PathBuf, text: &[u8]) -> Result<(), Raised> {
    let write = || commit_together(&[], &mut Manifest::new(&path), Text::Whole(text), false);
    match py.detach(write) {
        Outcome::Committed => Ok(()),
        Outcome::NotDurable(error) | Outcome::Undone(error) | Outcome::Unknown(error) => Err(error.into()),
    }
}
