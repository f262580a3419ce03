//! Groups of rows with equal keys.

use coquina::query::condition::ItemType;
use coquina::query::group::Aggregate;
use coquina::query::group::Aggregation;
use coquina::query::{
    ColumnValues, GroupAggregate, GroupColumn, GroupQuery, GroupValues, Part, Rows, SelectedColumn,
    group_in_order,
};
use coquina::{Error, Result};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyRange;

use crate::conditions::{column_of, raised};
use crate::errors::Raised;
use crate::lazy::Lazy;
use crate::query::part_of;
use crate::tuples::tuple_struct;
use crate::watch;

pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(group_by, module)?)
}

tuple_struct! {
    /// An aggregate, what its values are ("rows", "numbers", "items" or "texts"), and their column.
    struct Given<'py> {
        aggregate: String,
        kind: String,
        column: Option<Bound<'py, PyAny>>,
    }
}

/// What was found of a column: the type of its items, where they are numbers, its values, and where they are missing.
type Values<'py> = (Option<String>, Bound<'py, PyAny>, Option<Bound<'py, PyAny>>);

/// Groups the rows that match by columns, in the order of their first rows: what is found of keys, and of aggregates.
///
/// Columns are as `QueryColumns` takes them. With `rows` these are the ones that are grouped, in this order.
#[pyfunction]
#[pyo3(signature = (condition, span, keys, wanted, rows=None))]
fn group_by<'py>(
    py: Python<'py>,
    condition: Option<&Lazy>,
    span: &Bound<'py, PyRange>,
    keys: Vec<Bound<'py, PyAny>>,
    wanted: Vec<Given<'py>>,
    rows: Option<PyReadonlyArray1<'py, i64>>,
) -> Result<(Vec<Values<'py>>, Vec<Values<'py>>), Raised> {
    let keys = keys.iter().map(column_of).collect::<Result<Vec<_>, _>>()?;
    let wanted = wanted.iter().map(aggregate_of).collect::<Result<Vec<_>, _>>()?;
    let query = GroupQuery { condition: condition.map(|condition| &*condition.source), rows: rows_of(span)? };
    let numbers = rows.map(|rows| rows.as_array().to_vec());
    let found = watch::run(py, usize::MAX, None, None, |job| {
        let found = match &numbers {
            None => query.read(&keys, &wanted, job),
            Some(numbers) => group_in_order(numbers, &keys, &wanted, job),
        };
        Ok(found)
    })?
    .map_err(raised)?;
    let keys =
        found.keys.into_iter().map(|SelectedColumn { values, mask }| values_of(py, None, values, mask));
    let of_group = |GroupColumn { ty, values, mask }| values_of(py, ty.map(ItemType::name), values, mask);
    let aggregates = found.aggregates.into_iter().map(of_group);
    Ok((keys.collect::<PyResult<_>>()?, aggregates.collect::<PyResult<_>>()?))
}

fn rows_of(span: &Bound<'_, PyRange>) -> PyResult<Rows> {
    let (start, step): (u64, u64) = (span.getattr("start")?.extract()?, span.getattr("step")?.extract()?);
    let count = span.len()? as u64;
    let stop = if count == 0 { start } else { start + (count - 1) * step + 1 };
    Ok(Rows { start, stop, step })
}

fn aggregate_of(given: &Given<'_>) -> Result<GroupAggregate, Raised> {
    let Given { aggregate, kind, column } = given;
    let known = Aggregation::by_name(aggregate).filter(|known| !known.skips_nan);
    let aggregate: Aggregate =
        known.ok_or_else(|| Error::invalid(format!("aggregate {aggregate:?}: none of ours")))?.aggregate;
    let column = column.as_ref().map(column_of).transpose()?;
    let values = match (kind.as_str(), column.as_ref().map(|column| &column.values)) {
        ("rows", _) => GroupValues::Rows,
        ("items", Some(_)) => GroupValues::Items,
        ("texts", Some(_)) => GroupValues::Texts,
        ("numbers", Some(ColumnValues::Numbers { ty, .. })) => GroupValues::Numbers(ItemType::Number(*ty)),
        ("numbers", Some(ColumnValues::Times { ty, .. })) => GroupValues::Numbers(ItemType::Time(*ty)),
        _ => return Err(Error::invalid(format!("values {kind:?}: none of ours")).into()),
    };
    Ok(GroupAggregate { aggregate, values, column })
}

fn values_of(
    py: Python<'_>,
    ty: Option<String>,
    values: Part,
    mask: Option<Vec<u8>>,
) -> PyResult<Values<'_>> {
    let mask = mask.map(|mask| PyArray1::from_vec(py, mask).into_any());
    Ok((ty, part_of(py, values)?, mask))
}
