//! New arrays.

use std::path::PathBuf;

use coquina::Error;
use coquina::array::{Access, Array, ArraySpec, Fill, Selection, Target, Values, Window};
use coquina::chunk::Special;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyString;

use super::handle::{ArrayHandle, existing, kind};
use super::tuning::{GoalTerms, goal_of};
use crate::buffers::Items;
use crate::errors::Raised;
use crate::options::CodecOption;
use crate::{options, watch};

pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(create_array, module)?)?;
    module.add_function(wrap_pyfunction!(small_array, module)?)
}

/// Makes a small array in memory of the items of a NumPy array in C order; `dtype` is the text of their dtype.
#[pyfunction]
fn small_array(values: &Bound<'_, PyAny>, dtype: &str) -> Result<ArrayHandle, Raised> {
    let items = Items::of(values)?;
    let array = Array::small(&items.shape(), items.item_bytes(), dtype, items.bytes())?;
    Ok(ArrayHandle::new(array, None))
}

fn access_of(hint: &Bound<'_, PyAny>) -> Result<Access, Raised> {
    if !hint.is_instance_of::<PyString>() {
        let shape = hint.extract().map_err(|_| {
            PyTypeError::new_err("access: takes \"any\", \"rows\", \"columns\" or the shape of a region")
        })?;
        return Ok(Access::Region(shape));
    }
    match hint.extract::<&str>()? {
        "any" => Ok(Access::Any),
        "rows" => Ok(Access::Rows),
        "columns" => Ok(Access::Columns),
        other => {
            let allowed = "takes any, rows, columns or the shape of a region";
            Err(Error::invalid(format!("access {other:?}: {allowed}")).into())
        }
    }
}

/// What elements are until they are written: a name of a special value, or the bytes of an item.
fn fill_of(value: &Bound<'_, PyAny>) -> Result<Fill, Raised> {
    if !value.is_instance_of::<PyString>() {
        return Ok(Fill::Value(value.extract()?));
    }
    match value.extract::<&str>()? {
        "zeros" => Ok(Fill::Special(Special::Zeros)),
        "nans" => Ok(Fill::Special(Special::Nans)),
        "uninit" => Ok(Fill::Special(Special::Uninit)),
        other => Err(Error::invalid(format!("fill {other:?}: takes zeros, nans, uninit or bytes")).into()),
    }
}

/// Makes an array. With `values`, a NumPy array in C order, they are written, and a file gets its name; else that
/// is left to `publish`.
#[pyfunction]
#[pyo3(signature = (shape, dtype, typesize, values=None, *, fill=None, chunks=None, blocks=None, access=None,
    codec=CodecOption::from("zstd"), level=1, filters=None, split="auto", path=None, contiguous=true, overwrite=false,
    checksums=true, threads=None, tuning=None, metalayers=None),
    text_signature = "(shape, dtype, typesize, values=None, *, fill=None, chunks=None, blocks=None, access=None, \
    codec=\"zstd\", level=1, filters=None, split=\"auto\", path=None, contiguous=True, overwrite=False, \
    checksums=True, threads=None, tuning=None, metalayers=None)")]
#[expect(clippy::too_many_arguments, reason = "keyword-only options of a Python function")]
fn create_array<'py>(
    py: Python<'py>,
    shape: Vec<u64>,
    dtype: String,
    typesize: i64,
    values: Option<&Bound<'py, PyAny>>,
    fill: Option<&Bound<'py, PyAny>>,
    chunks: Option<Vec<u64>>,
    blocks: Option<Vec<u64>>,
    access: Option<&Bound<'py, PyAny>>,
    codec: CodecOption,
    level: i64,
    filters: Option<&Bound<'py, PyAny>>,
    split: &str,
    path: Option<PathBuf>,
    contiguous: bool,
    overwrite: bool,
    checksums: bool,
    threads: Option<i64>,
    tuning: Option<GoalTerms>,
    metalayers: Option<Vec<(String, Vec<u8>)>>,
) -> Result<ArrayHandle, Raised> {
    let typesize = options::number("typesize", typesize, 1)?;
    let mut params = options::params(&codec, level, typesize)?;
    if let Some(filters) = filters {
        params.pipeline = options::pipeline(filters, typesize)?;
    }
    params.split = options::split(split)?;
    let fill = fill.map_or(Ok(Fill::Special(Special::Zeros)), fill_of)?;
    let access = access.map_or(Ok(Access::Any), access_of)?;
    let tuning = goal_of(tuning)?;
    let statistics = true;
    let spec =
        ArraySpec { shape, chunks, blocks, access, dtype, fill, params, checksums, statistics, tuning };
    let target = path.clone().map_or(Target::Memory, |path| Target::File {
        path,
        kind: kind(contiguous),
        existing: existing(overwrite),
    });
    let array = py.detach(|| Array::create_with(&spec, &target, metalayers.unwrap_or_default()))?;
    if let Some(values) = values {
        let items = Items::of(values)?;
        let (bytes, window) = (items.bytes(), Window { offset: 0, bytes: typesize });
        watch::run(py, bytes.len(), threads, None, |job| {
            if !bytes.is_empty() {
                array.write(&Selection::all(&spec.shape), window, Values::Bytes(bytes), job)?;
            }
            array.publish()
        })?;
    }
    Ok(ArrayHandle::new(array, path))
}
