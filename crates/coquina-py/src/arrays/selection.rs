//! Selections that Python code made from a key, as the engine takes them.
//!
//! In: for each axis a triple (start, step, length), an array of indices, or None where the axis is in the points;
//! and the points, pairs of an axis and an array. Out: a `Selection`. The engine checks that all indices exist.

use coquina::array::{AxisSelection, Points, Selection};
use numpy::PyReadonlyArray1;
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

/// The selection that `axes` and `points` are.
pub(crate) fn selection(
    axes: &Bound<'_, PyList>,
    points: Option<&Bound<'_, PyList>>,
    points_at: usize,
) -> PyResult<Selection> {
    let axes = axes.iter().map(|axis| axis_selection(&axis)).collect::<PyResult<Vec<_>>>()?;
    let Some(points) = points else { return Ok(Selection { axes, points: None }) };
    let mut joint = Points { axes: Vec::new(), coordinates: Vec::new(), place: points_at };
    for point in points.iter() {
        let (axis, indices): (usize, Bound<'_, PyAny>) = point.extract()?;
        joint.axes.push(axis);
        joint.coordinates.push(list(&indices)?);
    }
    Ok(Selection { axes, points: Some(joint) })
}

fn axis_selection(axis: &Bound<'_, PyAny>) -> PyResult<Option<AxisSelection>> {
    if axis.is_none() {
        return Ok(None);
    }
    if !axis.is_instance_of::<PyTuple>() {
        return Ok(Some(AxisSelection::List(list(axis)?)));
    }
    let (start, step, len): (i64, i64, u64) = axis.extract()?;
    if len == 0 {
        // Starts nowhere in particular, perhaps behind the end.
        return Ok(Some(AxisSelection::Range { start: 0, step: 1, len }));
    }
    let start = u64::try_from(start).map_err(|_| PyValueError::new_err(format!("start {start}")))?;
    Ok(Some(AxisSelection::Range { start, step, len }))
}

fn list(indices: &Bound<'_, PyAny>) -> PyResult<Vec<u64>> {
    let indices: PyReadonlyArray1<'_, i64> = indices.extract()?;
    let unsigned = |&index: &i64| {
        u64::try_from(index).map_err(|_| PyIndexError::new_err(format!("index {index} is out of bounds")))
    };
    indices.as_array().iter().map(unsigned).collect()
}
