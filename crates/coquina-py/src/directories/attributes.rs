//! Values of JSON, and text, as Python has them.

use coquina::{Json, JsonNumber, JsonObject, JsonText};
use pyo3::Borrowed;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyFloat, PyInt, PyList, PyString};

use crate::errors::Raised;

/// A `str`, which may have surrogates alone.
pub(crate) struct Text(pub(crate) JsonText);

impl<'a, 'py> FromPyObject<'a, 'py> for Text {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        let text = object.cast::<PyString>().map_err(|_| PyTypeError::new_err("text is expected"))?;
        if let Ok(text) = text.to_str() {
            return Ok(Self(text.into()));
        }
        let bytes = text.call_method1("encode", ("utf-8", "surrogatepass"))?;
        let text = JsonText::from_bytes(bytes.cast::<PyBytes>()?.as_bytes());
        Ok(Self(text.map_err(Raised::from)?))
    }
}

/// The `str` of a text.
pub(crate) fn text<'py>(py: Python<'py>, text: &JsonText) -> PyResult<Bound<'py, PyString>> {
    match text.as_str() {
        Some(text) => Ok(PyString::new(py, text)),
        None => {
            let bytes = PyBytes::new(py, text.as_bytes());
            Ok(bytes.call_method1("decode", ("utf-8", "surrogatepass"))?.cast_into()?)
        }
    }
}

/// The object of a value.
pub(super) fn value<'py>(py: Python<'py>, of: &Json) -> PyResult<Bound<'py, PyAny>> {
    match of {
        Json::Null => Ok(py.None().into_bound(py)),
        Json::Bool(value) => Ok(value.into_pyobject(py)?.to_owned().into_any()),
        Json::Number(value) => number(py, value),
        Json::Text(value) => Ok(text(py, value)?.into_any()),
        Json::List(values) => {
            let list = PyList::empty(py);
            for one in values {
                list.append(value(py, one)?)?;
            }
            Ok(list.into_any())
        }
        Json::Object(of) => Ok(object(py, of)?.into_any()),
    }
}

/// The `dict` of values by name.
pub(crate) fn object<'py>(py: Python<'py>, of: &JsonObject) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (name, one) in of.iter() {
        dict.set_item(text(py, name)?, value(py, one)?)?;
    }
    Ok(dict)
}

fn number<'py>(py: Python<'py>, of: &JsonNumber) -> PyResult<Bound<'py, PyAny>> {
    if !of.is_integer() {
        return Ok(PyFloat::new(py, of.as_f64()).into_any());
    }
    match of.as_i64() {
        Some(small) => Ok(small.into_pyobject(py)?.into_any()),
        None => py.get_type::<PyInt>().call1((of.as_str(),)),
    }
}

/// The object that JSON is text of.
pub(super) fn read_object(json: &[u8]) -> Result<JsonObject, Raised> {
    match Json::read(json)? {
        Json::Object(object) => Ok(object),
        _ => Err(PyTypeError::new_err("a JSON object is expected").into()),
    }
}
