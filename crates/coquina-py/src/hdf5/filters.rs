//! The filters of HDF5 over chunks, without h5py.

use coquina::chunk::Params;
use coquina::hdf5::{
    ChunkEncoding, Pipeline, Slot, ZoneField, ZoneKind, has_sums, is_filter_there, known_filters, put_place,
};
use coquina::{Error, Job};
use coquina_kernels::Type;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::tuner::ChunkTuner;
use crate::buffers::{Input, NewBytes};
use crate::errors::Raised;
use crate::options::{self, CodecOption};
use crate::tuples::tuple_struct;

pub(super) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(hdf5_filters, module)?)?;
    module.add_function(wrap_pyfunction!(hdf5_filter_is_there, module)?)?;
    module.add_function(wrap_pyfunction!(filter_encode, module)?)?;
    module.add_function(wrap_pyfunction!(filter_place, module)?)?;
    module.add_function(wrap_pyfunction!(filter_has_sums, module)?)?;
    module.add_function(wrap_pyfunction!(filter_decode, module)?)
}

tuple_struct! {
    /// A filter of a dataset.
    pub(super) struct Filter {
        id: u16,
        is_optional: bool,
        values: Vec<u32>,
    }
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

tuple_struct! {
    /// A number or a text in every item.
    pub(super) struct Zone {
        offset: usize,
        type_name: String,
    }
}

pub(super) fn zone_fields(zones: Vec<Zone>) -> Result<Vec<ZoneField>, Error> {
    let field = |Zone { offset, type_name: name }: Zone| {
        let number = Type::by_name(&name).map(ZoneKind::Number);
        // A text of fixed width is called as NumPy calls it: `S16`.
        let text = || name.strip_prefix('S')?.parse().ok().map(ZoneKind::text);
        let kind = number.or_else(text);
        let kind = kind.ok_or_else(|| Error::invalid(format!("zones: type {name:?}: none of ours")))?;
        Ok(ZoneField { offset, kind })
    };
    zones.into_iter().map(field).collect()
}

tuple_struct! {
    /// How chunks are encoded, where the parameters of Blosc2 cannot say it; the codec's own filters by default.
    pub(super) struct Encoding<'py> {
        codec: CodecOption,
        level: i64,
        filters: Option<Bound<'py, PyAny>>,
        dictionary: bool,
        dtype: String,
        typesize: usize,
    }
}

impl Encoding<'_> {
    /// As the engine has it.
    pub(super) fn resolve(self) -> Result<ChunkEncoding, Raised> {
        let Self { codec, level, filters, dictionary, dtype, typesize } = self;
        let mut params = Params { dictionary, ..options::params(&codec, level, typesize)? };
        if let Some(filters) = filters {
            params.pipeline = options::pipeline(&filters, typesize)?;
        }
        Ok(ChunkEncoding { params, dtype })
    }
}

/// Runs the filters of a dataset over the items of a chunk of `dims` items. Where it can have one, the chunk gets a
/// zone map of `zones`, for which those before `rows` count along the first axis. With a tuner codec, level and filters
/// of Blosc2 are chosen for these items.
#[pyfunction]
#[pyo3(signature = (filters, dims, itemsize, data, /, *, zones=Vec::new(), rows=u64::MAX, tuner=None,
    checksums=true, encoding=None))]
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
    encoding: Option<Encoding<'py>>,
) -> Result<Bound<'py, PyBytes>, Raised> {
    let tuner = tuner.map(|tuner| tuner.clone());
    let mut pipeline = Pipeline::new(slots(filters), &dims, itemsize)?;
    if let Some(encoding) = encoding {
        pipeline = pipeline.encoded_as(&encoding.resolve()?)?;
    }
    let pipeline = pipeline.with_zones(&zone_fields(zones)?)?;
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
            let params = tuner.choose(&pipeline, bytes.get(..given).unwrap_or(bytes))?;
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
