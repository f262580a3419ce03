//! The forms of columns that are awkward arrays.

use coquina::table::{AwkwardParts, awkward_numbers, awkward_parts as parts_of, awkward_texts};
use pyo3::prelude::*;

use crate::errors::Raised;

pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(awkward_form, module)?)?;
    module.add_function(wrap_pyfunction!(awkward_parts, module)?)
}

/// The names of the arrays of a column: numbers or the bytes of texts, where texts begin and end, what is missing.
type Parts = (String, Option<String>, Option<String>);

fn named(parts: AwkwardParts) -> Parts {
    let AwkwardParts { data, offsets, mask } = parts;
    (data, offsets, mask)
}

/// The form of text, or of numbers of this type, which may be missing, and its arrays.
#[pyfunction]
#[pyo3(signature = (numbers, /, *, nullable=true))]
fn awkward_form(numbers: Option<&str>, nullable: bool) -> (String, Parts) {
    let (form, parts) = numbers.map_or_else(|| awkward_texts(nullable), awkward_numbers);
    (form, named(parts))
}

/// The arrays of a form.
#[pyfunction]
#[pyo3(signature = (form, /))]
fn awkward_parts(form: Option<&str>) -> Result<Parts, Raised> {
    Ok(named(parts_of(form)?))
}
