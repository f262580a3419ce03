//! Codecs and filters from outside of the engine: callables of Python's, and dynamic libraries.
//!
//! In: callables `encode(data, block)` and `decode(data, block)`, or the path of a library. Out: rows more for the
//! engine, which asks `coquina.codec_plugins` for an id that it does not know.
//! Invariant: what a callable gets is a copy that is Python's own, in a view that is released after the call, so that
//! nothing of the engine's memory can be kept. Callables run with the GIL, which whoever waits for them has let go.

use std::sync::Arc;

use coquina::codec::{Codec, Decode, DecodeOptions, Encode, EncodeOptions, Streams};
use coquina::filter::{Filter, Stage};
use coquina::{BlockLayout, Error, Finder, Result, Wanted, codec, filter};
use coquina_plugin_host::{Library, add_blosc2_codec, add_blosc2_filter, check_user_part};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyMemoryView, PyTuple};

use crate::buffers::Input;
use crate::errors::Raised;

/// The stream format that says: see the codec byte. Source: `docs/formats/chunk.md`, "Header".
const FORMAT_SEE_CODEC: u8 = 6;

pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    codec::set_finder(finder("codec"));
    filter::set_finder(finder("filter"));
    module.add_function(wrap_pyfunction!(register_codec, module)?)?;
    module.add_function(wrap_pyfunction!(register_filter, module)?)?;
    module.add_function(wrap_pyfunction!(load_plugin, module)?)?;
    module.add_function(wrap_pyfunction!(load_blosc2_plugin, module)?)?;
    module.add_function(wrap_pyfunction!(loaded_plugins, module)?)?;
    module.add_class::<BlockInfo>()
}

/// Asks the package for what has an id, or a name.
fn finder(what: &'static str) -> Finder {
    Box::new(move |wanted| {
        let found = Python::attach(|py| {
            let package = py.import("coquina.codec_plugins")?;
            match wanted {
                Wanted::Id(id) => package.call_method1("find", (what, id)),
                Wanted::Name(name) => package.call_method1("find_named", (what, name)),
            }
            .map(drop)
        });
        found.map_err(raised)
    })
}

/// What Python raised, which comes back to its user as it was.
fn raised(error: PyErr) -> Error {
    std::io::Error::other(error).into()
}

/// What is known of a block besides its bytes.
///
/// nbytes: bytes of the block as the user has it, which is what `decode` returns.
/// typesize: bytes of an item, 1 to 255; 1 for larger items.
/// shape: items along each axis, last axis dense; None if the block is of no array, or not a whole one.
/// kind: the letter that NumPy has for the kind of the items, such as "f" or "u"; None if it is not known.
/// meta: the parameter byte, 0 to 255, which is stored with each chunk.
/// level: 1 to 9 where a codec encodes, else 0.
/// options: what the writer gave beyond the parameter, as JSON text; "" for none, and where something is decoded.
///
/// Functions of `register_codec` and `register_filter` get one; none is made otherwise.
#[pyclass(frozen, get_all, module = "coquina")]
struct BlockInfo {
    nbytes: usize,
    typesize: usize,
    shape: Option<Py<PyTuple>>,
    kind: Option<char>,
    meta: u8,
    level: u8,
    options: String,
}

/// A block in the engine's words.
#[derive(Clone, Copy)]
struct Facts<'a> {
    nbytes: usize,
    typesize: usize,
    layout: &'a BlockLayout,
    meta: u8,
    level: u8,
    options: &'a str,
}

impl BlockInfo {
    fn of(py: Python<'_>, facts: Facts<'_>) -> PyResult<Self> {
        let shape = facts.layout.shape_of(facts.nbytes).map(|shape| PyTuple::new(py, shape));
        Ok(Self {
            nbytes: facts.nbytes,
            typesize: facts.typesize,
            shape: shape.transpose()?.map(Bound::unbind),
            kind: facts.layout.kind(),
            meta: facts.meta,
            level: facts.level,
            options: facts.options.to_owned(),
        })
    }
}

#[pymethods]
impl BlockInfo {
    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let shape: String = match &self.shape {
            Some(shape) => shape.bind(py).repr()?.extract()?,
            None => "None".into(),
        };
        let kind = self.kind.map_or_else(|| "None".into(), |kind| format!("{kind:?}").replace('\'', "\""));
        let Self { nbytes, typesize, meta, level, options, .. } = self;
        Ok(format!(
            "BlockInfo(nbytes={nbytes}, typesize={typesize}, shape={shape}, kind={kind}, meta={meta}, \
             level={level}, options={options:?})"
        ))
    }
}

/// A pair of callables with an id.
struct Callables {
    what: &'static str,
    id: u8,
    name: &'static str,
    encode: Py<PyAny>,
    decode: Py<PyAny>,
    is_lossy: bool,
}

impl Callables {
    fn new(
        what: &'static str,
        id: i64,
        name: &str,
        encode: &Bound<'_, PyAny>,
        decode: &Bound<'_, PyAny>,
        is_lossy: bool,
    ) -> Result<Self, Raised> {
        let id = u8::try_from(id)
            .map_err(|_| PyValueError::new_err(format!("{what} id {id}: takes ids 160..=255")))?;
        check_user_part(what, id, name)?;
        for (callable, role) in [(encode, "encode"), (decode, "decode")] {
            if !callable.is_callable() {
                let sentence = format!("{role}: takes a function, this is {callable}");
                return Err(PyTypeError::new_err(sentence).into());
            }
        }
        // The engine keeps what is registered for ever.
        let name = Box::leak(name.to_owned().into_boxed_str());
        let (encode, decode) = (encode.clone().unbind(), decode.clone().unbind());
        Ok(Self { what, id, name, encode, decode, is_lossy })
    }

    fn title(&self) -> String {
        format!("{} {} ({})", self.what, self.id, self.name)
    }

    /// Calls one of them on a copy of `data`. `take` gets the bytes that it returns; `None` is for None.
    fn call<T>(
        &self,
        callable: &Py<PyAny>,
        data: &[u8],
        facts: Facts<'_>,
        take: impl FnOnce(&[u8]) -> T,
    ) -> Result<Option<T>> {
        let taken = Python::attach(|py| {
            let view = PyMemoryView::from(PyBytes::new(py, data).as_any())?;
            let returned = callable.bind(py).call1((&view, BlockInfo::of(py, facts)?));
            let taken = returned.and_then(|returned| {
                if returned.is_none() {
                    return Ok(None);
                }
                let bytes = Input::of(&returned)?;
                Ok(Some(take(bytes.bytes())))
            });
            // It fails where an array over the view is still held. That holds the copy, and nothing of the engine's.
            let _ = view.call_method0("release");
            taken
        });
        taken.map_err(|error| raised(error).at(self.title()))
    }

    /// As `call`, for what must fill `out`.
    fn fill(&self, callable: &Py<PyAny>, data: &[u8], facts: Facts<'_>, out: &mut [u8]) -> Result<()> {
        let room = out.len();
        let returned = self.call(callable, data, facts, |bytes| {
            if bytes.len() == room {
                out.copy_from_slice(bytes);
            }
            bytes.len()
        })?;
        match returned {
            Some(bytes) if bytes == room => Ok(()),
            Some(bytes) => {
                Err(Error::corrupt(format!("{}: returned {bytes} bytes for {room}", self.title())))
            }
            None => Err(Error::corrupt(format!("{}: returned None for {room} bytes", self.title()))),
        }
    }
}

struct PythonCodec {
    callables: Arc<Callables>,
    needs_items: bool,
}

struct Encoder {
    callables: Arc<Callables>,
    layout: BlockLayout,
    typesize: usize,
    meta: u8,
    level: u8,
    options: String,
}

struct Decoder {
    callables: Arc<Callables>,
    layout: BlockLayout,
    typesize: usize,
    meta: u8,
}

impl Codec for PythonCodec {
    fn name(&self) -> &'static str {
        self.callables.name
    }

    fn id(&self) -> u8 {
        self.callables.id
    }

    fn format(&self) -> u8 {
        FORMAT_SEE_CODEC
    }

    fn splits(&self, _level: u8) -> bool {
        false
    }

    fn streams(&self) -> Streams {
        if self.needs_items { Streams::Items } else { Streams::Bytes }
    }

    fn encoder(&self, options: &EncodeOptions<'_>) -> Result<Box<dyn Encode>> {
        if !options.dictionary.is_empty() {
            return Err(Error::invalid(format!("{}: takes no dictionary", self.callables.title())));
        }
        Ok(Box::new(Encoder {
            callables: Arc::clone(&self.callables),
            layout: options.layout,
            typesize: options.typesize,
            meta: options.meta,
            level: options.level,
            options: options.text.to_owned(),
        }))
    }

    fn decoder(&self, options: &DecodeOptions<'_>) -> Result<Box<dyn Decode>> {
        if !options.dictionary.is_empty() {
            return Err(Error::corrupt(format!("{}: takes no dictionary", self.callables.title())));
        }
        let DecodeOptions { meta, typesize, layout, .. } = *options;
        Ok(Box::new(Decoder { callables: Arc::clone(&self.callables), layout, typesize, meta }))
    }

    fn is_lossy(&self, _meta: u8, _text: &str) -> bool {
        self.callables.is_lossy
    }
}

impl Encode for Encoder {
    fn encode(&self, stream: &[u8], out: &mut [u8]) -> Result<Option<usize>> {
        let facts = Facts {
            nbytes: stream.len(),
            typesize: self.typesize,
            layout: &self.layout,
            meta: self.meta,
            level: self.level,
            options: &self.options,
        };
        let put = |bytes: &[u8]| {
            let room = out.get_mut(..bytes.len())?;
            room.copy_from_slice(bytes);
            Some(bytes.len())
        };
        Ok(self.callables.call(&self.callables.encode, stream, facts, put)?.flatten())
    }
}

impl Decode for Decoder {
    fn decode(&self, stream: &[u8], out: &mut [u8]) -> Result<()> {
        let Self { callables, layout, typesize, meta } = self;
        let facts =
            Facts { nbytes: out.len(), typesize: *typesize, layout, meta: *meta, level: 0, options: "" };
        callables.fill(&callables.decode, stream, facts, out)
    }
}

struct PythonFilter(Callables);

impl PythonFilter {
    fn run(&self, callable: &Py<PyAny>, stage: &Stage<'_>, block: &[u8], out: &mut [u8]) -> Result<()> {
        let Stage { typesize, meta, layout, .. } = *stage;
        let facts = Facts { nbytes: block.len(), typesize, layout, meta, level: 0, options: "" };
        self.0.fill(callable, block, facts, out)
    }
}

impl Filter for PythonFilter {
    fn name(&self) -> &'static str {
        self.0.name
    }

    fn id(&self) -> u8 {
        self.0.id
    }

    fn encode(&self, stage: &Stage<'_>, block: &[u8], out: &mut [u8]) -> Result<()> {
        self.run(&self.0.encode, stage, block, out)
    }

    fn decode(&self, stage: &Stage<'_>, block: &[u8], out: &mut [u8]) -> Result<()> {
        self.run(&self.0.decode, stage, block, out)
    }

    fn is_lossy(&self) -> bool {
        self.0.is_lossy
    }
}

/// Adds a codec that is two callables. needs_items: whether it takes blocks of items as they are.
#[pyfunction]
#[pyo3(signature = (id, name, encode, decode, /, *, lossy, needs_items))]
fn register_codec(
    id: i64,
    name: &str,
    encode: &Bound<'_, PyAny>,
    decode: &Bound<'_, PyAny>,
    lossy: bool,
    needs_items: bool,
) -> Result<(), Raised> {
    let callables = Arc::new(Callables::new("codec", id, name, encode, decode, lossy)?);
    Ok(codec::register(Box::new(PythonCodec { callables, needs_items }))?)
}

/// Adds a filter that is two callables.
#[pyfunction]
#[pyo3(signature = (id, name, encode, decode, /, lossy))]
fn register_filter(
    id: i64,
    name: &str,
    encode: &Bound<'_, PyAny>,
    decode: &Bound<'_, PyAny>,
    lossy: bool,
) -> Result<(), Raised> {
    let callables = Callables::new("filter", id, name, encode, decode, lossy)?;
    Ok(filter::register(Box::new(PythonFilter(callables)))?)
}

/// A codec or filter: which of both, its id, its name.
type Listed = (&'static str, u8, &'static str);

/// Loads a dynamic library and adds what it has, as far as nobody serves these ids; lists all that it has.
#[pyfunction]
#[pyo3(signature = (path, /))]
fn load_plugin(py: Python<'_>, path: std::path::PathBuf) -> Result<Vec<Listed>, Raised> {
    let listed = py.detach(|| -> Result<Vec<Listed>> {
        let library = Library::open(&path)?;
        library.register()?;
        let codecs = library.codecs().map(|codec| ("codec", codec.id(), codec.name()));
        Ok(codecs.chain(library.filters().map(|filter| ("filter", filter.id(), filter.name()))).collect())
    });
    Ok(listed?)
}

/// Loads the library of a Blosc2 plugin, a "codec" or a "filter", and adds it under an id and a name.
#[pyfunction]
#[pyo3(signature = (what, id, name, path, /))]
fn load_blosc2_plugin(
    py: Python<'_>,
    what: &str,
    id: u8,
    name: &str,
    path: std::path::PathBuf,
) -> Result<(), Raised> {
    let add = if what == "codec" { add_blosc2_codec } else { add_blosc2_filter };
    Ok(py.detach(|| add(&path, id, name))?)
}

/// Lists the codecs and filters from outside that serve now.
#[pyfunction]
fn loaded_plugins() -> Vec<Listed> {
    let codecs = codec::plugins().into_iter().map(|codec| ("codec", codec.id(), codec.name()));
    codecs.chain(filter::plugins().into_iter().map(|filter| ("filter", filter.id(), filter.name()))).collect()
}
