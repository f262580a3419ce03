//! Groups of rows with equal keys.

use coquina::query::Rows;
use coquina::query::group::{Aggregation, Grouped, Grouping, Key, KeyKind, Values, group_by as group_rows};
use coquina::{Error, Result};
use coquina_kernels::Type;
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::errors::Raised;
use crate::lazy::Lazy;
use crate::query::report_of;
use crate::watch;

pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(group_by, module)?)
}

/// How many groups, the items of each key column, the results of each of the values, and the report.
type Found<'py> = (usize, Bound<'py, PyList>, Bound<'py, PyList>, Bound<'py, PyDict>);

/// Groups the rows that match by the items of `keys`, in the order of their first rows.
///
/// The values are a column, the name of its type ("bytes" for what is no number), and the name of an aggregate each.
#[pyfunction]
#[pyo3(signature = (condition, keys, key_kinds, values, start, stop, *, bytes_max=1 << 30, threads=None))]
#[expect(clippy::too_many_arguments, reason = "they are the keywords of a Python function")]
fn group_by<'py>(
    py: Python<'py>,
    condition: Option<&Lazy>,
    keys: Vec<PyRef<'py, Lazy>>,
    key_kinds: Vec<String>,
    values: Vec<(PyRef<'py, Lazy>, String, String)>,
    start: u64,
    stop: u64,
    bytes_max: u64,
    threads: Option<i64>,
) -> Result<Found<'py>, Raised> {
    if keys.len() != key_kinds.len() {
        let (keys, kinds) = (keys.len(), key_kinds.len());
        return Err(Error::invalid(format!("{kinds} kinds for {keys} keys")).into());
    }
    let keys = keys.iter().zip(&key_kinds).map(key_of).collect::<Result<Vec<Key<'_>>>>()?;
    let values = values.iter().map(values_of).collect::<Result<Vec<Values<'_>>>>()?;
    let condition = condition.map(|condition| &*condition.source);
    let rows = Rows { start, stop, step: 1 };
    let grouping = Grouping { condition, keys: &keys, values: &values, rows, bytes_max };
    let found = watch::run(py, usize::MAX, threads, None, |job| group_rows(&grouping, job))?;
    let Grouped { groups, keys, results, matched, report } = found;
    let list =
        |parts: Vec<Vec<u8>>| PyList::new(py, parts.into_iter().map(|part| PyArray1::from_vec(py, part)));
    let report = report_of(py, report)?;
    report.set_item("matched", matched)?;
    Ok((groups, list(keys)?, list(results)?, report))
}

fn key_of<'k>((lazy, kind): (&'k PyRef<'_, Lazy>, &String)) -> Result<Key<'k>> {
    let kind = KeyKind::by_name(kind)
        .ok_or_else(|| Error::invalid(format!("kind of key {kind:?}: none of ours")))?;
    Ok(Key { source: &*lazy.source, kind })
}

fn values_of<'v>((lazy, type_name, name): &'v (PyRef<'_, Lazy>, String, String)) -> Result<Values<'v>> {
    let ty = match type_name.as_str() {
        "bytes" => None,
        name => {
            let ty = Type::by_name(name);
            Some(ty.ok_or_else(|| Error::invalid(format!("type {name:?}: none of ours")))?)
        }
    };
    let aggregation = Aggregation::by_name(name)
        .ok_or_else(|| Error::invalid(format!("aggregate {name:?}: none of ours")))?;
    Ok(Values { source: &*lazy.source, ty, aggregation })
}
