//! Conditions on columns that are no arithmetic, as sources of boxes: membership, texts, and what codes stand for.

use std::sync::Arc;

use coquina::array::BoxSource;
use coquina::query::predicates::{Among, FixedText, Lookup, Strings, TextTest, Texts};
use coquina::{Error, Result};
use coquina_kernels::Type;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString};

use crate::errors::Raised;
use crate::lazy::Lazy;

pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(lazy_lookup, module)?)?;
    module.add_function(wrap_pyfunction!(lazy_isin, module)?)?;
    module.add_function(wrap_pyfunction!(lazy_match, module)?)?;
    module.add_function(wrap_pyfunction!(lazy_isin_bytes, module)?)?;
    module.add_function(wrap_pyfunction!(lazy_match_strings, module)?)?;
    module.add_function(wrap_pyfunction!(lazy_isin_strings, module)?)
}

/// `table[code]` for each code, which is an integer of the type of this name; `missing` for a code that has no place
/// there.
#[pyfunction]
fn lazy_lookup(
    codes: &Lazy,
    type_name: &str,
    table: &[u8],
    item_bytes: usize,
    missing: &[u8],
) -> Result<Lazy, Raised> {
    if missing.len() != item_bytes {
        let found = missing.len();
        return Err(Error::invalid(format!("missing: {found} bytes, items have {item_bytes}")).into());
    }
    let lookup = Lookup::new(Arc::clone(&codes.source), type_of(type_name)?, table, missing)?;
    Ok(Lazy::of(Arc::new(lookup), codes.is_stored))
}

/// Whether each number, of the type of this name, is among `values`.
#[pyfunction]
fn lazy_isin(lazy: &Lazy, type_name: &str, values: &[u8]) -> Result<Lazy, Raised> {
    let among = Among::new(Arc::clone(&lazy.source), type_of(type_name)?, values)?;
    Ok(Lazy::of(Arc::new(among), lazy.is_stored))
}

/// A test of texts of fixed width, of kind "S" or "U", against a constant that is stored as they are.
#[pyfunction]
fn lazy_match(lazy: &Lazy, kind: &str, op: &str, constant: Vec<u8>) -> Result<Lazy, Raised> {
    fixed(lazy, kind, TextTest::by_name(op, constant)?)
}

/// Whether each text of fixed width, of kind "S" or "U", is one of these, which are stored as they are.
#[pyfunction]
fn lazy_isin_bytes(lazy: &Lazy, kind: &str, constants: &Bound<'_, PyList>) -> PyResult<Lazy> {
    let mut texts = Texts::default();
    for constant in constants {
        texts.push(constant.cast::<PyBytes>()?.as_bytes());
    }
    Ok(fixed(lazy, kind, TextTest::Among(texts))?)
}

/// A test of texts in UTF-8 that lie in `data` between `offsets`.
#[pyfunction]
fn lazy_match_strings(offsets: &Lazy, data: &Lazy, op: &str, constant: Vec<u8>) -> Result<Lazy, Raised> {
    strings(offsets, data, TextTest::by_name(op, constant)?)
}

/// Whether each text in UTF-8 that lies in `data` between `offsets` is one of these.
#[pyfunction]
fn lazy_isin_strings(offsets: &Lazy, data: &Lazy, constants: &Bound<'_, PyList>) -> PyResult<Lazy> {
    let mut texts = Texts::default();
    for constant in constants {
        texts.push(constant.cast::<PyString>()?.to_str()?.as_bytes());
    }
    Ok(strings(offsets, data, TextTest::Among(texts))?)
}

fn fixed(lazy: &Lazy, kind: &str, test: TextTest) -> Result<Lazy, Raised> {
    let source: Arc<dyn BoxSource> = Arc::clone(&lazy.source);
    let texts = match kind {
        "S" => FixedText::bytes(source, test)?,
        "U" => FixedText::points(source, test)?,
        _ => return Err(Error::invalid(format!("kind {kind:?}: takes \"S\" and \"U\"")).into()),
    };
    Ok(Lazy::of(Arc::new(texts), lazy.is_stored))
}

fn strings(offsets: &Lazy, data: &Lazy, test: TextTest) -> Result<Lazy, Raised> {
    let strings = Strings::new(Arc::clone(&offsets.source), Arc::clone(&data.source), test)?;
    Ok(Lazy::of(Arc::new(strings), offsets.is_stored))
}

fn type_of(name: &str) -> Result<Type> {
    Type::by_name(name).ok_or_else(|| Error::invalid(format!("type {name:?}: none of ours")))
}
