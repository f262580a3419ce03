//! The nodes of columns, for who makes and opens them in files of HDF5 and in directories.

use coquina::table::{self, NewCategories, NewColumn, StoredTimes};
use coquina::{Error, Result as EngineResult};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString};

use crate::directories::attributes;
use crate::errors::Raised;

pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(column_nodes, module)?)?;
    module.add_function(wrap_pyfunction!(stored_nodes, module)?)?;
    module.add_function(wrap_pyfunction!(stored_times, module)?)
}

/// What is taken of a `ColumnSpec`.
#[derive(FromPyObject)]
struct Spec {
    dtype: Dtype,
    nullable: bool,
    ordered: bool,
    zone: Option<String>,
}

/// What is taken of a dtype.
#[derive(FromPyObject)]
struct Dtype {
    kind: char,
    name: String,
}

/// Its name in the group of the column, empty for the column itself; its role; the dtype of its items, `None` for that of
/// the values; its attributes.
type Node<'py> = (String, &'static str, Option<&'static str>, Bound<'py, PyDict>);

/// The nodes of a new column, in the order in which they are made. `categories`: how many there are to be, if the values
/// are out of some.
#[pyfunction]
#[pyo3(signature = (spec, categories=None, /))]
fn column_nodes(py: Python<'_>, spec: Spec, categories: Option<usize>) -> PyResult<Vec<Node<'_>>> {
    let column = NewColumn {
        kind: spec.dtype.kind,
        dtype: &spec.dtype.name,
        is_nullable: spec.nullable,
        zone: spec.zone.as_deref(),
        categories: categories.map(|count| NewCategories { count, is_ordered: spec.ordered }),
    };
    let node = |node: table::NewNode| {
        let item = node.item.map(|ty| ty.name());
        Ok((node.name, node.role.name(), item, attributes::object(py, &node.attributes)?))
    };
    table::column_nodes(&column).into_iter().map(node).collect()
}

/// The names of the nodes of a column by their roles, by the attributes of its group; `None` for what is no column.
#[pyfunction]
#[pyo3(signature = (attributes, /))]
fn stored_nodes<'py>(attributes: &Bound<'py, PyAny>) -> Result<Option<Bound<'py, PyDict>>, Raised> {
    let Some(nodes) = table::stored_nodes(|name| text_of(attributes, name))? else { return Ok(None) };
    let named = PyDict::new(attributes.py());
    for (role, name) in nodes.by_role() {
        named.set_item(role.name(), name)?;
    }
    Ok(Some(named))
}

/// The dtype and the zone of the times that an array of int64 holds by its attributes; `None` for one that holds none.
#[pyfunction]
#[pyo3(signature = (attributes, /))]
fn stored_times(attributes: &Bound<'_, PyAny>) -> Result<Option<(String, Option<String>)>, Raised> {
    let found = table::stored_times(|name| text_of(attributes, name))?;
    Ok(found.map(|StoredTimes { ty, zone }| (ty.to_string(), zone)))
}

/// An attribute, if it is text.
fn text_of(attributes: &Bound<'_, PyAny>, name: &str) -> EngineResult<Option<String>> {
    let get = || attributes.call_method1(intern!(attributes.py(), "get"), (name,));
    let found = get().map_err(|raised| Error::from(std::io::Error::other(raised)))?;
    if let Ok(bytes) = found.cast::<PyBytes>() {
        return Ok(Some(String::from_utf8_lossy(bytes.as_bytes()).into_owned()));
    }
    Ok(found.cast::<PyString>().ok().map(|text| text.to_string_lossy().into_owned()))
}
