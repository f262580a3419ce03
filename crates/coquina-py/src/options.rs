//! Options as Python users write them, turned into what the engine takes.

use coquina::chunk::{Generation, Params, Split};
use coquina::codec::{Codec, Streams};
use coquina::filter::{self, Pipeline, Slot};
use coquina::{Error, codec};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMapping};

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
        Some(meta) => byte(&format!("filter {name}"), meta)?,
    };
    Ok(Slot { id: filter.id(), meta })
}

/// A parameter byte. Some are read as signed, so both ranges are taken.
fn byte(whose: &str, meta: i64) -> Result<u8, Error> {
    u8::try_from(meta)
        .or_else(|_| i8::try_from(meta).map(i8::cast_unsigned))
        .map_err(|_| Error::invalid(format!("{whose}: parameter {meta}: takes -128..=255")))
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

/// A codec as users write it: its name, or its name and parameter, or its name and options by name.
pub(crate) struct CodecOption {
    name: String,
    meta: Option<i64>,
    /// What is left of the options, as JSON.
    text: String,
}

impl From<&str> for CodecOption {
    fn from(name: &str) -> Self {
        Self { name: name.into(), meta: None, text: String::new() }
    }
}

impl<'a, 'py> FromPyObject<'a, 'py> for CodecOption {
    type Error = PyErr;

    fn extract(value: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(name) = value.extract::<String>() {
            return Ok(Self::from(&*name));
        }
        let Ok((name, more)) = value.extract::<(String, Bound<'py, PyAny>)>() else {
            return Err(PyTypeError::new_err(
                "codec: takes a name, or a pair of a name and a parameter, or of a name and a mapping of options",
            ));
        };
        if let Ok(meta) = more.extract::<i64>() {
            return Ok(Self { name, meta: Some(meta), text: String::new() });
        }
        let Ok(more) = more.cast_into::<PyMapping>() else {
            return Err(PyTypeError::new_err(format!(
                "codec {name}: takes a whole number as its parameter, or a mapping of options"
            )));
        };
        let options = PyDict::new(value.py());
        options.update(&more)?;
        let meta = options.get_item("meta")?.map(|meta| meta.extract()).transpose()?;
        if meta.is_some() {
            options.del_item("meta")?;
        }
        let text = if options.is_empty() { String::new() } else { json_of(&options)? };
        Ok(Self { name, meta, text })
    }
}

/// Options as JSON, the same text for the same ones.
fn json_of(options: &Bound<'_, PyDict>) -> PyResult<String> {
    let py = options.py();
    let how = PyDict::new(py);
    how.set_item("sort_keys", true)?;
    how.set_item("allow_nan", false)?;
    py.import("json")?.call_method("dumps", (options,), Some(&how))?.extract()
}

impl CodecOption {
    /// The codec, its parameter byte and its options.
    fn resolve(&self) -> Result<(&'static dyn Codec, u8, &'static str), Error> {
        let codec = codec::by_name(&self.name)?;
        let name = codec.name();
        let meta = self.meta.map(|meta| byte(&format!("codec {name}"), meta)).transpose()?;
        match (codec.parameter(), meta) {
            (Some(parameter), None) => {
                return Err(Error::invalid(format!(
                    "codec {name}: needs a parameter, as codec=({name:?}, N): {}",
                    parameter.about
                )));
            }
            (None, Some(meta)) if codec.format() < FORMAT_SEE_CODEC && meta != 0 => {
                return Err(Error::invalid(format!("codec {name}: takes no parameter, not {meta}")));
            }
            _ => {}
        }
        let is_own = codec::CODECS.iter().any(|own| own.id() == codec.id());
        if is_own && !self.text.is_empty() {
            return Err(Error::invalid(format!("codec {name}: takes no options, not {}", self.text)));
        }
        Ok((codec, meta.unwrap_or(0), codec::kept_options(&self.text)))
    }
}

/// The stream format of codecs that the header of a chunk names by their id.
const FORMAT_SEE_CODEC: u8 = 6;

/// The options that every writer has, and the filters that suit the codec.
pub(crate) fn params(codec: &CodecOption, level: i64, typesize: usize) -> Result<Params, Error> {
    let level = u8::try_from(level)
        .map_err(|_| Error::invalid(format!("level {level}: takes 0..={}", codec::LEVEL_MAX)))?;
    let (codec, codec_meta, codec_options) = codec.resolve()?;
    let params = Params { codec, codec_meta, codec_options, level, typesize, ..Params::default() };
    let is_of_items = codec.streams() == Streams::Items;
    Ok(if is_of_items { Params { pipeline: Pipeline::default(), ..params } } else { params })
}

/// The parameter of a codec as users write it; `None` for one that has none.
pub(crate) fn codec_parameter(id: u8, meta: u8) -> Option<i16> {
    match codec::by_id(id).ok().and_then(|codec| codec.parameter()) {
        Some(parameter) => Some(parameter.number(meta)),
        None => (meta != 0).then_some(meta.into()),
    }
}

/// The name of a codec, or where it is not here its id.
pub(crate) fn codec_name(id: u8) -> String {
    codec::by_id(id).map_or_else(|_| format!("{id}"), |codec| codec.name().to_owned())
}

/// The filters of a pipeline, as users write them: pairs of a name and a parameter.
pub(crate) fn filter_names(pipeline: &Pipeline) -> Vec<(String, u8)> {
    let name = |id| filter::by_id(id).map_or_else(|_| format!("{id}"), |filter| filter.name().to_owned());
    pipeline.slots.iter().filter(|slot| slot.id != 0).map(|slot| (name(slot.id), slot.meta)).collect()
}
