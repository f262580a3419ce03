//! Options as Python users write them, turned into what the engine takes.

use coquina::chunk::{Generation, Params, Split};
use coquina::filter::{self, Pipeline, Slot};
use coquina::{Error, codec};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::errors::Raised;

/// One filter: its name, or its name and parameter.
#[derive(FromPyObject)]
enum FilterOption {
    Name(String),
    WithMeta(String, i64),
}

/// The filters of a pipeline: one, or several in order.
pub(crate) fn pipeline(filters: &Bound<'_, PyAny>, typesize: usize) -> Result<Pipeline, Raised> {
    let options: Vec<FilterOption> = match filters.extract::<FilterOption>() {
        Ok(one) if !filters.is_instance_of::<pyo3::types::PyList>() => vec![one],
        _ => filters.extract().map_err(|_| {
            PyTypeError::new_err("filters: takes names, or pairs of a name and a parameter, in a list")
        })?,
    };
    let slots =
        options.into_iter().map(|option| slot(option, typesize)).collect::<Result<Vec<_>, Error>>()?;
    Ok(Pipeline::new(&slots)?)
}

fn slot(option: FilterOption, typesize: usize) -> Result<Slot, Error> {
    let (name, meta) = match option {
        FilterOption::Name(name) => (name, None),
        FilterOption::WithMeta(name, meta) => (name, Some(meta)),
    };
    if name == "nofilter" {
        return Ok(Slot::default());
    }
    let filter = filter::by_name(&name)?;
    let meta = match meta {
        None => filter.default_meta(typesize),
        // Some filters read the byte as signed, so both ranges are taken.
        Some(meta) => u8::try_from(meta)
            .or_else(|_| i8::try_from(meta).map(i8::cast_unsigned))
            .map_err(|_| Error::invalid(format!("filter {name}: parameter {meta}: takes -128..=255")))?,
    };
    Ok(Slot { id: filter.id(), meta })
}

pub(crate) fn split(name: &str) -> Result<Split, Error> {
    match name {
        "auto" => Ok(Split::Auto),
        "always" => Ok(Split::Always),
        "never" => Ok(Split::Never),
        _ => Err(Error::invalid(format!("split {name:?}: takes auto, always or never"))),
    }
}

pub(crate) fn generation(name: &str) -> Result<Generation, Error> {
    match name {
        "blosc1" => Ok(Generation::Blosc1),
        "blosc2" => Ok(Generation::Blosc2),
        _ => Err(Error::invalid(format!("format {name:?}: takes blosc1 or blosc2"))),
    }
}

/// A number that must be at least `least`; Python's integers can be anything.
pub(crate) fn number(name: &str, value: i64, least: usize) -> Result<usize, Error> {
    let number = usize::try_from(value).ok().filter(|&number| number >= least);
    number.ok_or_else(|| Error::invalid(format!("{name} {value}: takes {least} and more")))
}

/// The number of threads of a call, if it says one.
pub(crate) fn threads(threads: Option<i64>) -> Result<Option<usize>, Error> {
    threads.map(|threads| number("threads", threads, 1)).transpose()
}

/// The options that every writer has.
pub(crate) fn params(codec: &str, level: i64, typesize: usize) -> Result<Params, Error> {
    let level = u8::try_from(level)
        .map_err(|_| Error::invalid(format!("level {level}: takes 0..={}", codec::LEVEL_MAX)))?;
    Ok(Params { codec: codec::by_name(codec)?, level, typesize, ..Params::default() })
}

/// The filters of a pipeline, as users write them: pairs of a name and a parameter.
pub(crate) fn filter_names(pipeline: &Pipeline) -> Vec<(String, u8)> {
    let name = |id| filter::by_id(id).map_or_else(|_| format!("{id}"), |filter| filter.name().to_owned());
    pipeline.slots.iter().filter(|slot| slot.id != 0).map(|slot| (name(slot.id), slot.meta)).collect()
}
