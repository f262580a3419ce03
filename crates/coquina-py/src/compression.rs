//! Compressing and decompressing buffers, and what there is to do it with.

use coquina::chunk::{Chunk, Header, Kind, Special, encode_into};
use coquina::tune::{self, Tuner};
use coquina::{Error, Limits, codec, filter};
use coquina_kernels::advise_huge_pages;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::arrays::{GoalTerms, goal_of};
use crate::buffers::{Input, NewBytes, Output};
use crate::errors::Raised;
use crate::options::CodecOption;
use crate::{options, watch};

pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(compress, module)?)?;
    module.add_function(wrap_pyfunction!(decompress, module)?)?;
    module.add_function(wrap_pyfunction!(decompress_into, module)?)?;
    module.add_function(wrap_pyfunction!(decompress_items, module)?)?;
    module.add_function(wrap_pyfunction!(chunk_info, module)?)?;
    module.add_function(wrap_pyfunction!(codecs, module)?)?;
    module.add_function(wrap_pyfunction!(filters, module)?)?;
    module.add_function(wrap_pyfunction!(num_threads, module)?)?;
    module.add_function(wrap_pyfunction!(set_num_threads, module)?)
}

/// Compress a buffer to one chunk, and return it: what `coquina.compress` does, which says what the options are.
///
/// tuning: a goal; then codec, level and filters are chosen for it, and those that are given count for nothing.
#[pyfunction]
#[pyo3(signature = (data, /, *, typesize=None, codec=CodecOption::from("zstd"), level=1, filters=None, blocksize=None,
    split="auto", dictionary=false, format="blosc2", threads=None, progress=None, tuning=None),
    text_signature = "(data, /, *, typesize=None, codec=\"zstd\", level=1, filters=None, blocksize=None, \
    split=\"auto\", dictionary=False, format=\"blosc2\", threads=None, progress=None, tuning=None)")]
#[expect(clippy::too_many_arguments, reason = "keyword-only options of a Python function")]
fn compress<'py>(
    py: Python<'py>,
    data: &Bound<'py, PyAny>,
    typesize: Option<i64>,
    codec: CodecOption,
    level: i64,
    filters: Option<&Bound<'py, PyAny>>,
    blocksize: Option<i64>,
    split: &str,
    dictionary: bool,
    format: &str,
    threads: Option<i64>,
    progress: Option<Py<PyAny>>,
    tuning: Option<GoalTerms>,
) -> Result<Bound<'py, PyBytes>, Raised> {
    let input = Input::of(data)?;
    let typesize = typesize.map(|bytes| options::number("typesize", bytes, 1)).transpose()?;
    let typesize = typesize.unwrap_or(input.item_bytes());
    let mut params = options::params(&codec, level, typesize)?;
    if let Some(filters) = filters {
        params.pipeline = options::pipeline(filters, typesize)?;
    }
    params.blocksize = blocksize.map(|bytes| options::number("blocksize", bytes, 1)).transpose()?;
    params.split = options::split(split)?;
    params.dictionary = dictionary;
    params.generation = options::generation(format)?;
    params.check()?;
    let tuner = goal_of(tuning)?.map(|goal| Tuner::for_params(goal, &params)).transpose()?;
    let bytes = input.bytes();
    let mut chunk = NewBytes::new(py, params.bound(bytes.len()))?;
    // Of this memory only the front will be touched; huge pages would make it faster by a tenth at best, and
    // slower by half where a virtual machine has to ask its host for them.
    let out = chunk.bytes();
    let cbytes = watch::run(py, bytes.len(), threads, progress, |job| match &tuner {
        Some(tuner) => tune::encode_into(tuner, bytes, &params, out, job),
        None => encode_into(bytes, &params, out, job),
    })?;
    Ok(chunk.finish(py, cbytes)?)
}

fn limits(max_bytes: Option<i64>) -> Result<Limits, Raised> {
    let Some(bytes) = max_bytes else { return Ok(Limits::default()) };
    Ok(Limits { chunk_bytes: options::number("max_bytes", bytes, 0)? as u64 })
}

/// Decompress a chunk and return its bytes.
///
/// chunk: a Blosc or Blosc2 chunk; bytes behind it are ignored.
/// max_bytes: refuse a chunk that decodes to more, with LimitError; for chunks from strangers.
/// threads, progress: see `compress`.
///
/// Raises CorruptError (or its child TruncatedError) for damaged bytes, UnsupportedError for what this build
/// cannot read. Memory: the result and a few blocks a thread.
///
/// >>> import coquina as cq
/// >>> cq.decompress(cq.compress(b"abc" * 100))[:6]
/// b'abcabc'
#[pyfunction]
#[pyo3(signature = (chunk, /, *, max_bytes=None, threads=None, progress=None))]
fn decompress<'py>(
    py: Python<'py>,
    chunk: &Bound<'py, PyAny>,
    max_bytes: Option<i64>,
    threads: Option<i64>,
    progress: Option<Py<PyAny>>,
) -> Result<Bound<'py, PyBytes>, Raised> {
    let input = Input::of(chunk)?;
    let limits = limits(max_bytes)?;
    let chunk = py.detach(|| Chunk::parse(input.bytes(), &limits))?;
    let nbytes = chunk.header().nbytes;
    let mut data = NewBytes::new(py, nbytes)?;
    let out = data.bytes();
    advise_huge_pages(out);
    watch::run(py, nbytes, threads, progress, |job| chunk.decode_into(out, job))?;
    Ok(data.finish(py, nbytes)?)
}

/// Decompress a chunk to the front of a writable buffer and return how many bytes that are.
///
/// out: any contiguous writable buffer of at least as many bytes as the chunk decodes to; it must not overlap the
///     chunk. If an error is raised its content is undefined.
/// threads, progress: see `compress`. Raises ValueError for a buffer too short, else as `decompress`.
///
/// >>> import coquina as cq
/// >>> out = bytearray(300)
/// >>> cq.decompress_into(cq.compress(b"abc" * 100), out)
/// 300
#[pyfunction]
#[pyo3(signature = (chunk, out, /, *, threads=None, progress=None))]
fn decompress_into(
    py: Python<'_>,
    chunk: &Bound<'_, PyAny>,
    out: &Bound<'_, PyAny>,
    threads: Option<i64>,
    progress: Option<Py<PyAny>>,
) -> Result<usize, Raised> {
    let input = Input::of(chunk)?;
    let mut output = Output::of(out)?;
    output.check_apart(&input)?;
    let nbytes = Header::read(input.bytes(), &Limits::default())?.nbytes;
    let out = output.bytes();
    let room = out.len();
    // Looked at before the chunk is, which may have to decode a block: its size is then known to be wanted.
    let out = out
        .get_mut(..nbytes)
        .ok_or_else(|| Error::invalid(format!("output: {room} bytes for a chunk of {nbytes}")))?;
    let chunk = py.detach(|| Chunk::parse(input.bytes(), &Limits::default()))?;
    watch::run(py, nbytes, threads, progress, |job| chunk.decode_into(out, job))?;
    Ok(nbytes)
}

/// Decompress the items `start` to `stop` (exclusive) of a chunk, and only the blocks that hold them.
///
/// Items are counted in the chunk's typesize. Raises IndexError if the chunk does not have them, else as
/// `decompress`.
///
/// >>> import coquina as cq
/// >>> cq.decompress_items(cq.compress(b"abcdef" * 100, typesize=1), 2, 5)
/// b'cde'
#[pyfunction]
#[pyo3(signature = (chunk, start, stop, /, *, max_bytes=None, threads=None))]
fn decompress_items<'py>(
    py: Python<'py>,
    chunk: &Bound<'py, PyAny>,
    start: i64,
    stop: i64,
    max_bytes: Option<i64>,
    threads: Option<i64>,
) -> Result<Bound<'py, PyBytes>, Raised> {
    let input = Input::of(chunk)?;
    let limits = limits(max_bytes)?;
    let chunk = py.detach(|| Chunk::parse(input.bytes(), &limits))?;
    let wanted = usize::try_from(start).ok().zip(usize::try_from(stop).ok());
    let (start, stop) = wanted.ok_or_else(|| Error::out_of_bounds(format!("items {start}..{stop}")))?;
    let (range, nbytes) = (chunk.item_range(start, stop)?, chunk.header().nbytes);
    let mut data = NewBytes::new(py, range.len())?;
    let out = data.bytes();
    watch::run(py, nbytes, threads, None, |job| chunk.decode_range(range.start, out, job))?;
    Ok(data.finish(py, range.len())?)
}

/// Return the fields of a chunk's header by name.
#[pyfunction]
#[pyo3(signature = (chunk, /))]
fn chunk_info<'py>(py: Python<'py>, chunk: &Bound<'py, PyAny>) -> Result<Bound<'py, PyDict>, Raised> {
    let input = Input::of(chunk)?;
    let header = Header::read(input.bytes(), &Limits::default())?;
    let kind = header.kind()?;
    let info = PyDict::new(py);
    info.set_item("version", header.version)?;
    info.set_item("nbytes", header.nbytes)?;
    info.set_item("cbytes", header.cbytes)?;
    info.set_item("typesize", header.typesize)?;
    let is_uniform = kind != Kind::VariableBlocks;
    info.set_item("blocksize", is_uniform.then(|| header.block_bytes()))?;
    info.set_item("nblocks", header.nblocks())?;
    info.set_item(
        "codec",
        header.codec().map_or_else(|_| format!("{}", header.codec_id), |c| c.name().into()),
    )?;
    info.set_item("codec_parameter", options::codec_parameter(header.codec_id, header.codec_meta))?;
    info.set_item("filters", options::filter_names(&header.pipeline))?;
    info.set_item("kind", kind_name(kind))?;
    info.set_item("is_split", header.is_split())?;
    info.set_item("has_dictionary", header.has_dictionary())?;
    Ok(info)
}

fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Blocks => "blocks",
        Kind::VariableBlocks => "variable blocks",
        Kind::Memcpyed => "stored",
        Kind::Special(Special::Zeros) => "zeros",
        Kind::Special(Special::Nans) => "nans",
        Kind::Special(Special::Value) => "value",
        Kind::Special(Special::Uninit) => "uninit",
    }
}

/// Return the codecs that can be written, and their ids.
///
/// >>> import coquina as cq
/// >>> cq.codecs()["zstd"]
/// 5
#[pyfunction]
fn codecs(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let table = PyDict::new(py);
    for codec in codec::CODECS.iter().filter(|codec| codec.is_writable()) {
        table.set_item(codec.name(), codec.id())?;
    }
    Ok(table)
}

/// Return the filters that can be written, and their ids.
///
/// >>> import coquina as cq
/// >>> cq.filters()["shuffle"]
/// 1
#[pyfunction]
fn filters(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let table = PyDict::new(py);
    table.set_item("nofilter", 0)?;
    for filter in filter::FILTERS.iter().filter(|filter| filter.is_writable()) {
        table.set_item(filter.name(), filter.id())?;
    }
    Ok(table)
}

/// Return how many threads a call uses unless it says otherwise.
///
/// That is the CPUs which affinity and cgroup leave to this process, unless the environment variable
/// COQUINA_NUM_THREADS or `set_num_threads` says otherwise.
///
/// >>> import coquina as cq
/// >>> cq.num_threads() >= 1
/// True
#[pyfunction]
fn num_threads() -> usize {
    coquina::num_threads()
}

/// Set how many threads (1 to 1024) calls use unless they say otherwise; return the number that was in force.
///
/// >>> import coquina as cq
/// >>> before = cq.set_num_threads(2)
/// >>> cq.set_num_threads(before)
/// 2
#[pyfunction]
#[pyo3(signature = (threads, /))]
fn set_num_threads(threads: i64) -> Result<usize, Raised> {
    Ok(coquina::set_num_threads(options::number("threads", threads, 1)?)?)
}
