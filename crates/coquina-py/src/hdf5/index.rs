//! The table of chunks and the attributes of a dataset, read from the bytes of a file without h5py.

use std::fs::File;
use std::path::{Path, PathBuf};

use coquina::hdf5::{self, ChunkRow, IndexKind, Layout, read_index as read_rows};
use coquina::{Error, Limits};
use pyo3::prelude::*;

use super::rows::{RowTuple, row_tuples};
use crate::buffers::Input;
use crate::errors::Raised;

pub(super) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(read_index, module)?)?;
    module.add_function(wrap_pyfunction!(check_attributes, module)?)?;
    module.add_function(wrap_pyfunction!(count_index, module)?)?;
    module.add_function(wrap_pyfunction!(lookup3, module)?)
}

/// How the dataset whose object header stands at `header` is stored, and the table of its chunks.
#[pyfunction]
#[pyo3(signature = (path, header, /))]
fn read_index(
    py: Python<'_>,
    path: PathBuf,
    header: u64,
) -> Result<(&'static str, Vec<RowTuple<'_>>), Raised> {
    let mut rows = Vec::new();
    let layout = walk(py, &path, header, |start, row| rows.push((start.to_vec(), row)))?;
    Ok((layout_name(&layout), row_tuples(py, rows)?))
}

/// How many chunks that table lists, each read and checked as `read_index` does, but not made into objects.
#[pyfunction]
#[pyo3(signature = (path, header, /))]
fn count_index(py: Python<'_>, path: PathBuf, header: u64) -> Result<u64, Raised> {
    let mut count = 0;
    walk(py, &path, header, |_, _| count += 1)?;
    Ok(count)
}

/// The checksum of HDF5's metadata.
#[pyfunction]
#[pyo3(signature = (data, /))]
fn lookup3(data: &Bound<'_, PyAny>) -> Result<u32, Raised> {
    Ok(hdf5::lookup3(Input::of(data)?.bytes()))
}

/// Checks that the values of variable length of the attributes of the object at `header` can be read by libhdf5; says
/// whether there is a header to look at.
#[pyfunction]
#[pyo3(signature = (path, header, /))]
fn check_attributes(py: Python<'_>, path: PathBuf, header: u64) -> Result<bool, Raised> {
    let check = || hdf5::check_attributes(&File::open(&path)?, header, &Limits::default());
    Ok(py.detach(check).map_err(|error| error.at(path.display().to_string()))?)
}

fn walk(
    py: Python<'_>,
    path: &Path,
    header: u64,
    mut each: impl FnMut(&[u64], ChunkRow) + Send,
) -> Result<Layout, Error> {
    py.detach(|| {
        let place = |error: Error| error.at(path.display().to_string());
        let file = File::open(path).map_err(|error| place(error.into()))?;
        let mut each = |start: &[u64], row: ChunkRow| {
            each(start, row);
            Ok(())
        };
        read_rows(&file, header, &Limits::default(), &mut each).map_err(place)
    })
}

fn layout_name(layout: &Layout) -> &'static str {
    match layout {
        Layout::Compact => "compact",
        Layout::Contiguous { .. } => "contiguous",
        Layout::Virtual => "virtual",
        Layout::Chunked { kind, .. } => match kind {
            IndexKind::BTree1 => "btree1",
            IndexKind::BTree2 => "btree2",
            IndexKind::FixedArray => "fixed array",
            IndexKind::ExtensibleArray => "extensible array",
            IndexKind::Implicit => "implicit",
            IndexKind::SingleChunk => "single chunk",
        },
    }
}
