//! Conditions as text: bound to columns, with what they are computed of.
//!
//! A column is a tuple `(path, kind, type, sources, mask, detail)`: its sources are [`Lazy`], its detail are the members of
//! an enumeration, the zone of times, or the type, the values and the order of categories. A parameter is a number or text of
//! Python's, or a tuple that begins with what it is.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use coquina::array::BoxSource;
use coquina::expr::text::{TextError, TextErrorKind};
use coquina::query::condition::{
    BoundText, Constant, Elsewhere, ElsewhereOperand, ItemType, NumberType, Parameter, Rows, bound_condition,
    bound_expression,
};
use coquina::query::{Categories, ColumnValues, QueryColumn, TimeType};
use coquina::{Error, Result};
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::{PyArithmeticError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyComplex, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};

use crate::errors::{Raised, UnsupportedError};
use crate::lazy::Lazy;

/// Conditions whose bound form is kept.
const KNOWN_MAX: usize = 64;

pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<QueryColumns>()?;
    module.add_function(wrap_pyfunction!(all_of, module)?)?;
    module.add_class::<ReadText>()
}

/// The columns that texts are about.
#[pyclass(frozen, module = "coquina._core")]
pub(crate) struct QueryColumns {
    columns: Vec<QueryColumn>,
    elsewhere: Arc<dyn Elsewhere>,
    bound: Mutex<BoundConditions>,
}

/// Conditions that were bound, for so many rows.
#[derive(Default)]
struct BoundConditions {
    rows: u64,
    known: HashMap<String, Py<Lazy>>,
}

#[pymethods]
impl QueryColumns {
    #[new]
    fn new(columns: &Bound<'_, PyList>, elsewhere: Py<PyAny>) -> Result<Self, Raised> {
        let columns = columns.iter().map(|one| column_of(&one)).collect::<Result<_, Raised>>()?;
        Ok(Self { columns, elsewhere: Arc::new(ByPython(elsewhere)), bound: Mutex::default() })
    }

    /// How many rows they have.
    #[getter]
    fn rows(&self) -> u64 {
        self.columns.iter().map(QueryColumn::rows).min().unwrap_or(0)
    }

    /// Where a condition holds. It is the same object until there are other rows, if parameters are numbers or text.
    #[pyo3(signature = (text, params=None))]
    fn condition(
        &self,
        py: Python<'_>,
        text: &str,
        params: Option<&Bound<'_, PyDict>>,
    ) -> Result<Py<Lazy>, Raised> {
        let (key, rows) = (key_of(text, params)?, self.rows());
        let known = || self.bound.lock().unwrap_or_else(PoisonError::into_inner);
        if let (Some(key), bound) = (&key, known())
            && bound.rows == rows
            && let Some(found) = bound.known.get(key)
        {
            return Ok(found.clone_ref(py));
        }
        let params = params.map(parameters_of).transpose()?.unwrap_or_default();
        let found = bound_condition(text, &self.columns, &params, Some(Arc::clone(&self.elsewhere)));
        let found = Py::new(py, Lazy::of_program(found.and_then(|text| text.bound()).map_err(raised)?))?;
        let Some(key) = key else { return Ok(found) };
        let mut bound = known();
        let is_old = bound.rows != rows || bound.known.len() >= KNOWN_MAX;
        // What goes is dropped when nothing is locked: it may be Python's.
        let old = is_old.then(|| std::mem::take(&mut bound.known));
        bound.rows = rows;
        let same = bound.known.insert(key, found.clone_ref(py));
        drop(bound);
        drop((old, same));
        Ok(found)
    }

    /// Binds an expression.
    #[pyo3(signature = (text, params=None))]
    fn expression(&self, text: &str, params: Option<&Bound<'_, PyDict>>) -> Result<ReadText, Raised> {
        let params = params.map(parameters_of).transpose()?.unwrap_or_default();
        let found = bound_expression(text, &self.columns, &params, Some(Arc::clone(&self.elsewhere)));
        Ok(ReadText { text: found.map_err(raised)? })
    }
}

/// What tells conditions apart; None where parameters are something that can change.
fn key_of(text: &str, params: Option<&Bound<'_, PyDict>>) -> Result<Option<String>, Raised> {
    let mut key = text.to_owned();
    for (name, value) in params.into_iter().flat_map(|params| params.iter()) {
        let is_lasting = value.is_exact_instance_of::<PyBool>()
            || value.is_exact_instance_of::<PyInt>()
            || value.is_exact_instance_of::<PyFloat>()
            || value.is_exact_instance_of::<PyString>()
            || value.is_exact_instance_of::<PyBytes>();
        if !is_lasting {
            return Ok(None);
        }
        // 1, 1.0 and True are equal, as are the two zeros, and are not the same.
        key.push('\0');
        key.push_str(name.extract()?);
        key.push('=');
        key.push_str(value.repr()?.to_str()?);
    }
    Ok(Some(key))
}

/// Where all of some conditions hold, of so many rows.
#[pyfunction]
fn all_of(conditions: Vec<PyRef<'_, Lazy>>, rows: u64) -> Result<Lazy, Raised> {
    let sources: Vec<_> = conditions.iter().map(|one| Arc::clone(&one.source)).collect();
    let found = coquina::query::condition::all_of(&sources, rows).map_err(raised)?;
    Ok(Lazy::of(found.ok_or_else(|| Error::invalid("no condition"))?, true))
}

/// A text that was bound to columns.
#[pyclass(frozen, module = "coquina._core")]
pub(crate) struct ReadText {
    pub(crate) text: BoundText,
}

#[pymethods]
impl ReadText {
    /// NumPy's name of the type of the values.
    #[getter]
    fn type_name(&self) -> String {
        self.text.ty().name()
    }

    /// The values.
    fn lazy(&self) -> Result<Lazy, Raised> {
        Ok(Lazy::of_program(self.text.bound().map_err(raised)?))
    }

    /// Where a value is missing; None where none can be.
    fn nulls(&self) -> Result<Option<Lazy>, Raised> {
        Ok(self.text.bound_nulls().map_err(raised)?.map(Lazy::of_program))
    }

    /// The number of the column that the text names, and which of the values of a row.
    #[getter]
    fn column(&self) -> Option<(usize, Vec<u64>)> {
        self.text.column().map(|place| (place.column, place.element.clone()))
    }
}

/// An error of a text as Python's: that of the reader of expressions, or one of Python's with a note of the place.
pub(crate) fn raised(error: TextError) -> Raised {
    Python::attach(|py| made_error(py, error).unwrap_or_else(Raised::from))
}

fn made_error(py: Python<'_>, error: TextError) -> PyResult<Raised> {
    let class = py.import("coquina.expressions.grammar")?.getattr("ExpressionError")?;
    let placed = |sentence: &str, hint: &str| {
        class.call1((sentence, error.text(), error.column(), error.width(), hint))
    };
    let sentence = error.sentence().to_owned();
    let made = match error.kind() {
        // An integer that does not fit is Python's OverflowError, which says nothing of the text.
        TextErrorKind::Expression | TextErrorKind::Overflow => {
            return Ok(PyErr::from_value(placed(&sentence, "")?).into());
        }
        TextErrorKind::Name => {
            let name: String = error.text().chars().skip(error.column()).take(error.width()).collect();
            let is_plain = name.chars().all(|c| c.is_alphanumeric() || c == '_');
            let or = if sentence.ends_with('?') { " Or" } else { "; or" };
            let hint = format!("{or} pass a value: params={{'{name}': ...}}");
            let hint = if is_plain { hint } else { String::new() };
            return Ok(PyErr::from_value(placed(&sentence, &hint)?).into());
        }
        TextErrorKind::Type => PyTypeError::new_err(sentence),
        TextErrorKind::Value => PyValueError::new_err(sentence),
        TextErrorKind::Unsupported => UnsupportedError::new_err(sentence),
        TextErrorKind::Engine => {
            let engine = error.into_engine().unwrap_or_else(|| Error::invalid(sentence));
            return Ok(engine.into());
        }
    };
    if !error.text().is_empty() {
        made.add_note(py, placed("in the expression", "")?.str()?.to_str()?)?;
    }
    Ok(made.into())
}

fn type_of(name: &str) -> Result<NumberType> {
    NumberType::by_name(name).ok_or_else(|| Error::unsupported(format!("type {name:?}: none of ours")))
}

fn time_of(name: &str) -> Result<TimeType> {
    TimeType::by_name(name).ok_or_else(|| Error::unsupported(format!("type {name:?}: no times of ours")))
}

/// A type by NumPy's name.
fn item_type(name: &str) -> Result<ItemType> {
    if name == ItemType::Half.name() {
        return Ok(ItemType::Half);
    }
    let number = NumberType::by_name(name).map(ItemType::Number);
    number.map_or_else(|| time_of(name).map(ItemType::Time), Ok)
}

/// What Python says of a column.
#[derive(FromPyObject)]
struct Given<'py>(
    String,
    String,
    String,
    Vec<PyRef<'py, Lazy>>,
    Option<PyRef<'py, Lazy>>,
    Option<Bound<'py, PyAny>>,
);

pub(crate) fn column_of(given: &Bound<'_, PyAny>) -> Result<QueryColumn, Raised> {
    let Given(path, kind, ty, sources, mask, detail) = given.extract()?;
    let source = |at: usize| -> Result<Arc<dyn BoxSource>> {
        let found = sources.get(at).map(|lazy| Arc::clone(&lazy.source));
        found.ok_or_else(|| Error::invalid(format!("column {path:?}: {kind} without a source {at}")))
    };
    let missing = || Error::invalid(format!("column {path:?}: {kind} without a detail"));
    let detail = || detail.as_ref().ok_or_else(missing);
    let values = match kind.as_str() {
        "numbers" => ColumnValues::Numbers { ty: type_of(&ty)?, source: source(0)? },
        "halves" => ColumnValues::Halves(source(0)?),
        "bytes" => ColumnValues::FixedBytes(source(0)?),
        "points" => ColumnValues::FixedPoints(source(0)?),
        "enumeration" => {
            let members: Vec<(String, i64)> = detail()?.extract()?;
            ColumnValues::Enumeration { ty: type_of(&ty)?, source: source(0)?, members: members.into() }
        }
        "times" => ColumnValues::Times { ty: time_of(&ty)?, source: source(0)?, zone: None },
        "seconds" => ColumnValues::Seconds(source(0)?),
        "texts" => ColumnValues::Texts { offsets: source(0)?, bytes: source(1)? },
        "categories" => {
            let (own, items, is_ordered): (String, Bound<'_, PyAny>, bool) = detail()?.extract()?;
            let categories = Arc::new(categories_of(&own, &items)?);
            ColumnValues::Categories { ty: type_of(&ty)?, codes: source(0)?, categories, is_ordered }
        }
        _ => return Err(Error::unsupported(format!("column {path:?}: {kind} has no conditions")).into()),
    };
    let column = QueryColumn::new(path.clone(), values);
    Ok(match mask {
        None => column,
        Some(mask) => column.with_mask(Arc::clone(&mask.source)),
    })
}

fn categories_of(name: &str, items: &Bound<'_, PyAny>) -> Result<Categories, Raised> {
    if name == "text" {
        return Ok(Categories::Texts(items.extract()?));
    }
    Ok(match item_type(name)? {
        ItemType::Number(ty) => {
            let items = items.cast::<PyBytes>().map_err(PyErr::from)?.as_bytes().to_vec();
            Categories::Numbers { ty, items }
        }
        ItemType::Time(ty) => Categories::Times { ty, items: items.extract()? },
        ItemType::Half => return Err(Error::unsupported("categories of half precision").into()),
    })
}

fn parameters_of(params: &Bound<'_, PyDict>) -> Result<Vec<(String, Parameter)>, Raised> {
    params.iter().map(|(name, value)| Ok((name.extract()?, parameter_of(&value)?))).collect()
}

fn parameter_of(value: &Bound<'_, PyAny>) -> Result<Parameter, Raised> {
    if let Ok(tuple) = value.cast::<PyTuple>() {
        return made_parameter(tuple);
    }
    let constant = if let Ok(truth) = value.cast_exact::<PyBool>() {
        Constant::Bool(truth.is_true())
    } else if value.is_exact_instance_of::<PyInt>() {
        let too_long = |_| Error::unsupported("an integer of more than 127 bits");
        Constant::Int(value.extract().map_err(too_long)?)
    } else if value.is_exact_instance_of::<PyFloat>() {
        Constant::Float(value.extract()?)
    } else if let Ok(complex) = value.cast_exact::<PyComplex>() {
        Constant::Complex(complex.real(), complex.imag())
    } else if let Ok(text) = value.cast_exact::<PyString>() {
        let halves = |_| Error::unsupported("text with halves of characters");
        Constant::Text(text.to_str().map_err(halves)?.to_owned())
    } else if let Ok(bytes) = value.cast_exact::<PyBytes>() {
        Constant::Bytes(bytes.as_bytes().to_vec())
    } else {
        return Err(Error::unsupported(format!("a parameter of type {}", value.get_type().name()?)).into());
    };
    Ok(constant.into())
}

/// `("number", type, bytes)`, `("time", type, count)`, `("list", values)` with None for what is missing,
/// `("column", column)`, `("rows", type, lazy)`.
fn made_parameter(tuple: &Bound<'_, PyTuple>) -> Result<Parameter, Raised> {
    let part = |at: usize| tuple.get_item(at);
    let kind: String = part(0)?.extract()?;
    let name = || -> PyResult<String> { part(1)?.extract() };
    Ok(match kind.as_str() {
        "number" => {
            let bytes = part(2)?.cast::<PyBytes>().map_err(PyErr::from)?.as_bytes().to_vec();
            Parameter::Number(type_of(&name()?)?, bytes)
        }
        "time" => Parameter::Time(time_of(&name()?)?, part(2)?.extract()?),
        "list" => {
            let items = part(1)?.cast_into::<PyList>().map_err(PyErr::from)?;
            let item = |item: Bound<'_, PyAny>| -> Result<_, Raised> {
                if item.is_none() { Ok(None) } else { parameter_of(&item).map(Some) }
            };
            Parameter::List(items.iter().map(item).collect::<Result<_, Raised>>()?)
        }
        "column" => Parameter::Column(column_of(&part(1)?)?),
        "rows" => {
            let lazy: PyRef<'_, Lazy> = part(2)?.extract().map_err(PyErr::from)?;
            Parameter::Rows(item_type(&name()?)?, Arc::clone(&lazy.source))
        }
        _ => return Err(Error::invalid(format!("parameter {kind:?}")).into()),
    })
}

/// A function of Python's that computes what there are no kernels for: it takes a name and operands, numbers and text
/// of Python's or `(type, lazy)`, and returns such a tuple. The type of text is "U" and its width.
struct ByPython(Py<PyAny>);

impl Elsewhere for ByPython {
    fn call(&self, name: &str, operands: Vec<ElsewhereOperand>) -> Result<Rows, TextError> {
        Python::attach(|py| {
            let operands = operands.into_iter().map(|operand| operand_of(py, operand));
            let operands = PyList::new(py, operands.collect::<PyResult<Vec<_>>>()?)?;
            let found = self.0.bind(py).call1((name, operands))?;
            let (ty, lazy): (String, PyRef<'_, Lazy>) = found.extract()?;
            let source = Arc::clone(&lazy.source);
            if ty.starts_with('U') {
                return Ok(Rows::Points(source));
            }
            Ok(Rows::Items(item_type(&ty).map_err(Raised::from)?, source))
        })
        .map_err(text_error)
    }
}

fn operand_of(py: Python<'_>, operand: ElsewhereOperand) -> PyResult<Bound<'_, PyAny>> {
    let rows = |ty: String, source| -> PyResult<Bound<'_, PyAny>> {
        Ok((ty, Lazy::of(source, true)).into_pyobject(py)?.into_any())
    };
    match operand {
        ElsewhereOperand::Rows(Rows::Items(ty, source)) => rows(ty.name(), source),
        ElsewhereOperand::Rows(Rows::Points(source)) => rows(format!("U{}", source.item_bytes() / 4), source),
        ElsewhereOperand::One(Constant::Bool(value)) => value.into_bound_py_any(py),
        ElsewhereOperand::One(Constant::Int(value)) => value.into_bound_py_any(py),
        ElsewhereOperand::One(Constant::Float(value)) => value.into_bound_py_any(py),
        ElsewhereOperand::One(Constant::Complex(real, imag)) => {
            Ok(PyComplex::from_doubles(py, real, imag).into_any())
        }
        ElsewhereOperand::One(Constant::Text(text)) => text.into_bound_py_any(py),
        ElsewhereOperand::One(Constant::Bytes(bytes)) => Ok(PyBytes::new(py, &bytes).into_any()),
    }
}

/// An error of a function of Python's as one of a text.
fn text_error(error: PyErr) -> TextError {
    Python::attach(|py| {
        let sentence = error.value(py).to_string();
        let kinds = [
            (error.is_instance_of::<PyTypeError>(py), TextErrorKind::Type),
            (error.is_instance_of::<PyValueError>(py), TextErrorKind::Value),
            (error.is_instance_of::<UnsupportedError>(py), TextErrorKind::Unsupported),
            (error.is_instance_of::<PyArithmeticError>(py), TextErrorKind::Expression),
        ];
        match kinds.iter().find(|(is, _)| *is) {
            Some((_, kind)) => TextError::new(*kind, sentence),
            None => Error::from(std::io::Error::other(error)).into(),
        }
    })
}
