//! Groups of rows with equal keys.

use coquina::array::BoxSource;
use coquina::query::group::{Aggregation, Grouped, Grouping, Key, KeyKind, Values, group_by as group_rows};
use coquina::query::{Part, Rows};
use coquina::{Error, Result};
use coquina_kernels::Type;
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::errors::Raised;
use crate::lazy::Lazy;
use crate::query::{Wanted, report_of};
use crate::tuples::tuple_struct;
use crate::watch;

pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(group_by, module)?)
}

tuple_struct! {
    /// Values that are aggregated.
    struct Given<'py> {
        column: PyRef<'py, Lazy>,
        type_name: String,
        aggregate: String,
        /// Where values are missing.
        mask: Option<PyRef<'py, Lazy>>,
    }
}

/// How many groups, the items or the offsets and bytes of each key column, the results of each of the values, and the report.
type Found<'py> = (usize, Bound<'py, PyList>, Bound<'py, PyList>, Bound<'py, PyDict>);

/// Groups the rows that match by the items of `keys`, in the order of their first rows.
///
/// A key that is a pair is offsets and bytes of texts. The values are a column, the name of its type ("bytes" for what
/// is no number), the name of an aggregate, and where values are missing, each. Keys with a mask are nothing there.
#[pyfunction]
#[pyo3(signature = (condition, keys, key_kinds, values, start, stop, *, key_masks=None, bytes_max=1 << 30, threads=None))]
#[expect(clippy::too_many_arguments, reason = "they are the keywords of a Python function")]
fn group_by<'py>(
    py: Python<'py>,
    condition: Option<&Lazy>,
    keys: Vec<Wanted<'py>>,
    key_kinds: Vec<String>,
    values: Vec<Given<'py>>,
    start: u64,
    stop: u64,
    key_masks: Option<Vec<Option<PyRef<'py, Lazy>>>>,
    bytes_max: u64,
    threads: Option<i64>,
) -> Result<Found<'py>, Raised> {
    let key_masks = key_masks.unwrap_or_else(|| keys.iter().map(|_| None).collect());
    if keys.len() != key_kinds.len() || keys.len() != key_masks.len() {
        let (keys, kinds, masks) = (keys.len(), key_kinds.len(), key_masks.len());
        return Err(Error::invalid(format!("{kinds} kinds and {masks} masks for {keys} keys")).into());
    }
    let parts = keys.iter().zip(&key_kinds).zip(&key_masks);
    let keys = parts.map(|((key, kind), mask)| key_of(key, kind, mask)).collect::<Result<Vec<Key<'_>>>>()?;
    let values = values.iter().map(values_of).collect::<Result<Vec<Values<'_>>>>()?;
    let condition = condition.map(|condition| &*condition.source);
    let rows = Rows { start, stop, step: 1 };
    let grouping = Grouping { condition, keys: &keys, values: &values, rows, bytes_max };
    let found = watch::run(py, usize::MAX, threads, None, |job| group_rows(&grouping, job))?;
    let Grouped { groups, keys, results, matched, report } = found;
    let of_keys = PyList::empty(py);
    for part in keys {
        match part {
            Part::Items(items) => of_keys.append(PyArray1::from_vec(py, items))?,
            Part::Strings { offsets, bytes } => {
                of_keys.append((PyArray1::from_vec(py, offsets), PyArray1::from_vec(py, bytes)))?;
            }
        }
    }
    let results = PyList::new(py, results.into_iter().map(|part| PyArray1::from_vec(py, part)))?;
    let report = report_of(py, report)?;
    report.set_item("matched", matched)?;
    Ok((groups, of_keys, results, report))
}

fn source_of<'k>(lazy: &'k PyRef<'_, Lazy>) -> &'k dyn BoxSource {
    &*lazy.source
}

fn key_of<'k>(key: &'k Wanted<'_>, kind: &str, mask: &'k Option<PyRef<'_, Lazy>>) -> Result<Key<'k>> {
    let kind = KeyKind::by_name(kind)
        .ok_or_else(|| Error::invalid(format!("kind of key {kind:?}: none of ours")))?;
    Ok(Key { column: key.column(), kind, mask: mask.as_ref().map(source_of) })
}

fn values_of<'v>(given: &'v Given<'_>) -> Result<Values<'v>> {
    let Given { column, type_name, aggregate, mask } = given;
    let ty = match type_name.as_str() {
        "bytes" => None,
        name => {
            let ty = Type::by_name(name);
            Some(ty.ok_or_else(|| Error::invalid(format!("type {name:?}: none of ours")))?)
        }
    };
    let aggregation = Aggregation::by_name(aggregate)
        .ok_or_else(|| Error::invalid(format!("aggregate {aggregate:?}: none of ours")))?;
    Ok(Values { source: source_of(column), ty, aggregation, mask: mask.as_ref().map(source_of) })
}
