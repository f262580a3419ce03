//! HDF5's bytes without h5py: the filters over a chunk, and the table of chunks in a file.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use coquina::chunk::Params;
use coquina::hdf5::{
    self, ChunkRow, IndexKind, Layout, Pipeline, Slot, ZoneField, has_sums, is_filter_there, known_filters,
    put_place, read_index as read_rows,
};
use coquina::tune::Tuner;
use coquina::{Error, Job, Limits};
use coquina_kernels::Type;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::rows::{RowTuple, row_tuples};
use crate::arrays::{GoalTerms, goal_of};
use crate::buffers::{Input, NewBytes};
use crate::errors::Raised;

pub(super) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(hdf5_filters, module)?)?;
    module.add_function(wrap_pyfunction!(hdf5_filter_is_there, module)?)?;
    module.add_function(wrap_pyfunction!(filter_encode, module)?)?;
    module.add_function(wrap_pyfunction!(filter_place, module)?)?;
    module.add_function(wrap_pyfunction!(filter_has_sums, module)?)?;
    module.add_class::<ChunkTuner>()?;
    module.add_function(wrap_pyfunction!(filter_decode, module)?)?;
    module.add_function(wrap_pyfunction!(read_index, module)?)?;
    module.add_function(wrap_pyfunction!(check_attributes, module)?)?;
    module.add_function(wrap_pyfunction!(count_index, module)?)?;
    module.add_function(wrap_pyfunction!(lookup3, module)?)
}

/// A filter of a dataset: a tuple of Python's.
#[derive(FromPyObject)]
pub(super) struct Filter {
    #[pyo3(item(0))]
    id: u16,
    #[pyo3(item(1))]
    is_optional: bool,
    #[pyo3(item(2))]
    values: Vec<u32>,
}

pub(super) fn slots(filters: Vec<Filter>) -> Vec<Slot> {
    let slot = |Filter { id, is_optional, values }| Slot { id, is_optional, values };
    filters.into_iter().map(slot).collect()
}

/// The filters of HDF5 that are known: id, name, whether chunks can be read whatever is installed, whether they can be
/// written.
#[pyfunction]
fn hdf5_filters() -> Vec<(u16, &'static str, bool, bool)> {
    known_filters().map(|f| (f.id, f.name, f.needs_codec.is_none(), f.can_encode)).collect()
}

/// Whether chunks can be read with a filter; a plugin that it needs is looked for.
#[pyfunction]
fn hdf5_filter_is_there(py: Python<'_>, code: u16) -> bool {
    py.detach(|| is_filter_there(code))
}

/// A number in every item: a tuple of Python's.
#[derive(FromPyObject)]
pub(super) struct Zone {
    #[pyo3(item(0))]
    offset: usize,
    #[pyo3(item(1))]
    type_name: String,
}

pub(super) fn zone_fields(zones: Vec<Zone>) -> Result<Vec<ZoneField>, Error> {
    let field = |Zone { offset, type_name: name }: Zone| {
        let ty = Type::by_name(&name);
        let ty = ty.ok_or_else(|| Error::invalid(format!("zones: type {name:?}: none of ours")))?;
        Ok(ZoneField { offset, ty })
    };
    zones.into_iter().map(field).collect()
}

/// Chooses how chunks are encoded that Python code hands over encoded, one after another, and remembers it.
#[pyclass(frozen, module = "coquina._core")]
pub(super) struct ChunkTuner(Arc<Tuner>);

#[pymethods]
impl ChunkTuner {
    #[new]
    #[pyo3(signature = (goal, /))]
    fn new(goal: GoalTerms) -> Result<Self, Raised> {
        Ok(Self(Arc::new(Tuner::new(goal_of(Some(goal))?.unwrap_or_default()))))
    }
}

/// Runs the filters of a dataset over the items of a chunk of `dims` items. Where it can have one, the chunk gets a
/// zone map of `zones`, for which those before `rows` count along the first axis. With a tuner codec, level and filters
/// of Blosc2 are chosen for these items.
#[pyfunction]
#[pyo3(signature = (filters, dims, itemsize, data, /, *, zones=Vec::new(), rows=u64::MAX, tuner=None,
    checksums=true))]
#[expect(clippy::too_many_arguments, reason = "keyword-only options of a Python function")]
fn filter_encode<'py>(
    py: Python<'py>,
    filters: Vec<Filter>,
    dims: Vec<u64>,
    itemsize: usize,
    data: &Bound<'py, PyAny>,
    zones: Vec<Zone>,
    rows: u64,
    tuner: Option<PyRef<'py, ChunkTuner>>,
    checksums: bool,
) -> Result<Bound<'py, PyBytes>, Raised> {
    let tuner = tuner.map(|tuner| Arc::clone(&tuner.0));
    let pipeline = Pipeline::new(slots(filters), &dims, itemsize)?.with_zones(&zone_fields(zones)?)?;
    let pipeline = if checksums { pipeline } else { pipeline.without_sums() };
    let data = Input::of(data)?;
    let bytes = data.bytes();
    if bytes.len() != pipeline.chunk_bytes() {
        let (given, wanted) = (bytes.len(), pipeline.chunk_bytes());
        return Err(Error::invalid(format!("data: {given} bytes, a chunk has {wanted}")).into());
    }
    let row_bytes = bytes.len() / dims.first().map_or(1, |&rows| usize::try_from(rows).unwrap_or(1)).max(1);
    let given = usize::try_from(rows).unwrap_or(usize::MAX).saturating_mul(row_bytes).min(bytes.len());
    let stored = py.detach(|| match tuner {
        Some(tuner) => {
            let params = chosen(&pipeline, bytes.get(..given).unwrap_or(bytes), &tuner)?;
            pipeline.encode_by(bytes, rows, Some(&params), &Job::default())
        }
        None => pipeline.encode_rows(bytes, rows, &Job::default()),
    })?;
    Ok(PyBytes::new(py, &stored))
}

/// Returns a stored chunk of Blosc2 bound to `start`, the coordinates of its first item, if it has checksums.
#[pyfunction]
#[pyo3(signature = (data, start, /))]
fn filter_place<'py>(
    py: Python<'py>,
    data: &Bound<'py, PyAny>,
    start: Vec<u64>,
) -> Result<Bound<'py, PyBytes>, Raised> {
    let mut stored = Input::of(data)?.bytes().to_vec();
    put_place(&mut stored, &start);
    Ok(PyBytes::new(py, &stored))
}

/// Whether a stored chunk of Blosc2 has checksums.
#[pyfunction]
#[pyo3(signature = (data, /))]
fn filter_has_sums(data: &Bound<'_, PyAny>) -> Result<bool, Raised> {
    Ok(has_sums(Input::of(data)?.bytes()))
}

/// By what a chunk with these items is encoded.
fn chosen(pipeline: &Pipeline, items: &[u8], tuner: &Tuner) -> Result<Params, Error> {
    let Some(spec) = pipeline.blosc2() else {
        return Err(Error::unsupported("tuning: takes a dataset whose only filter is Blosc2"));
    };
    let params = spec.cut_params(pipeline.chunk_bytes());
    Ok(tuner.choose_for_bytes(items, &params, &Job::default())?.params)
}

/// Undoes the filters of a dataset over a stored chunk, but for those that `mask` says were skipped.
#[pyfunction]
#[pyo3(signature = (filters, dims, itemsize, mask, data, /))]
fn filter_decode<'py>(
    py: Python<'py>,
    filters: Vec<Filter>,
    dims: Vec<u64>,
    itemsize: usize,
    mask: u32,
    data: &Bound<'py, PyAny>,
) -> Result<Bound<'py, PyBytes>, Raised> {
    let pipeline = Pipeline::new(slots(filters), &dims, itemsize)?;
    let data = Input::of(data)?;
    let mut items = NewBytes::new(py, pipeline.chunk_bytes())?;
    let (bytes, out) = (data.bytes(), items.bytes());
    py.detach(|| pipeline.decode(bytes, mask, out))?;
    Ok(items.finish(py, pipeline.chunk_bytes())?)
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
