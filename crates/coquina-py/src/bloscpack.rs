//! Bloscpack files: packing, appending, and an open file that reads any part of itself.

use std::io::{BufWriter, Cursor, Write as _};
use std::path::PathBuf;

use coquina::bloscpack::{self, Options, Reader, Source, checksum_by_name};
use coquina::chunk::Generation;
use coquina::{Error, Existing, Limits, NewFile, ReadAt};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::arrays::{GoalTerms, goal_of};
use crate::buffers::{NewBytes, Output};
use crate::errors::Raised;
use crate::files::{FileObject, Readable};
use crate::options::CodecOption;
use crate::{files, options, watch};

pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(pack, module)?)?;
    module.add_function(wrap_pyfunction!(pack_append, module)?)?;
    module.add_function(wrap_pyfunction!(pack_metadata, module)?)?;
    module.add_function(wrap_pyfunction!(checksums, module)?)?;
    module.add_class::<PackReader>()
}

/// Bytes as a number for a job's total; more than fit are more than anybody will see done.
fn total(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

fn existing(overwrite: bool) -> Existing {
    if overwrite { Existing::Replace } else { Existing::Refuse }
}

fn source(readable: &Readable) -> Source<'_> {
    match readable {
        Readable::Buffer(buffer) => Source::Bytes(buffer.bytes()),
        other => Source::At(other),
    }
}

/// Pack bytes, a file or a file object; return the bytes written, or without a target the packed bytes.
#[pyfunction]
#[pyo3(signature = (data, target=None, /, *, typesize=8, codec=CodecOption::from("blosclz"), level=7, filters=None,
    chunk_size=1048576, checksum="adler32", offsets=true, metadata=None, metadata_room=None, overwrite=false,
    threads=None, progress=None, tuning=None),
    text_signature = "(data, target=None, /, *, typesize=8, codec=\"blosclz\", level=7, filters=None, \
    chunk_size=1048576, checksum=\"adler32\", offsets=True, metadata=None, metadata_room=None, overwrite=False, \
    threads=None, progress=None, tuning=None)")]
#[expect(clippy::too_many_arguments, reason = "keyword-only options of a Python function")]
fn pack<'py>(
    py: Python<'py>,
    data: &Bound<'py, PyAny>,
    target: Option<&Bound<'py, PyAny>>,
    typesize: i64,
    codec: CodecOption,
    level: i64,
    filters: Option<&Bound<'py, PyAny>>,
    chunk_size: i64,
    checksum: &str,
    offsets: bool,
    metadata: Option<Vec<u8>>,
    metadata_room: Option<i64>,
    overwrite: bool,
    threads: Option<i64>,
    progress: Option<Py<PyAny>>,
    tuning: Option<GoalTerms>,
) -> Result<Bound<'py, PyAny>, Raised> {
    let typesize = options::number("typesize", typesize, 1)?;
    let chunk_bytes = options::number("chunk size", chunk_size, 1)?;
    let mut params = options::params(&codec, level, typesize)?;
    params.generation = Generation::Blosc1;
    if let Some(filters) = filters {
        params.pipeline = options::pipeline(filters, typesize)?;
    }
    let checksum = checksum_by_name(checksum)?;
    let tuning = goal_of(tuning)?;
    let metadata_room_bytes =
        metadata_room.map(|room| options::number("metadata_room", room, 0)).transpose()?;
    let options = Options { params, chunk_bytes, checksum, offsets, metadata, metadata_room_bytes, tuning };
    let readable = Readable::of(data)?;
    let source = source(&readable);
    let bytes = total(py.detach(|| readable.len())?);
    let Some(target) = target else {
        let packed = watch::run(py, bytes, threads, progress, |job| {
            let mut out = Cursor::new(Vec::new());
            bloscpack::pack(&source, &mut out, &options, job)?;
            Ok(out.into_inner())
        })?;
        return Ok(PyBytes::new(py, &packed).into_any());
    };
    let written = if let Some(path) = files::path(target)? {
        watch::run(py, bytes, threads, progress, |job| {
            bloscpack::pack_file(&source, &path, existing(overwrite), &options, job)
        })?
    } else if target.hasattr("write")? {
        let mut out = BufWriter::with_capacity(1 << 20, FileObject::new(target));
        watch::run(py, bytes, threads, progress, |job| bloscpack::pack(&source, &mut out, &options, job))?
    } else {
        return Err(PyTypeError::new_err("target: takes a path or a file object opened for writing").into());
    };
    Ok(written.into_pyobject(py).map_err(PyErr::from)?.into_any())
}

/// Add to a Bloscpack file and return its new size.
#[pyfunction]
#[pyo3(signature = (path, data, /, *, codec=CodecOption::from("blosclz"), level=7, filters=None, metadata=None,
    threads=None, progress=None, tuning=None),
    text_signature = "(path, data, /, *, codec=\"blosclz\", level=7, filters=None, metadata=None, threads=None, \
    progress=None, tuning=None)")]
#[expect(clippy::too_many_arguments, reason = "keyword-only options of a Python function")]
fn pack_append(
    py: Python<'_>,
    path: PathBuf,
    data: &Bound<'_, PyAny>,
    codec: CodecOption,
    level: i64,
    filters: Option<&Bound<'_, PyAny>>,
    metadata: Option<Vec<u8>>,
    threads: Option<i64>,
    progress: Option<Py<PyAny>>,
    tuning: Option<GoalTerms>,
) -> Result<u64, Raised> {
    let mut params = options::params(&codec, level, 1)?;
    params.generation = Generation::Blosc1;
    if let Some(filters) = filters {
        params.pipeline = options::pipeline(filters, 1)?;
    }
    let tuning = goal_of(tuning)?;
    let options = Options { params, metadata, tuning, ..Options::default() };
    let readable = Readable::of(data)?;
    let source = source(&readable);
    let bytes = total(py.detach(|| readable.len())?);
    watch::run(py, bytes, threads, progress, |job| bloscpack::append(&path, &source, &options, job))
}

/// Give a Bloscpack file other metadata; return whether they fitted into the room that it has for them.
#[pyfunction]
#[pyo3(signature = (path, metadata, /, *, room=None), text_signature = "(path, metadata, /, *, room=None)")]
fn pack_metadata(
    py: Python<'_>,
    path: PathBuf,
    metadata: Vec<u8>,
    room: Option<i64>,
) -> Result<bool, Raised> {
    let room = room.map(|room| options::number("room", room, 0)).transpose()?;
    watch::run(py, 0, None, None, |job| bloscpack::set_metadata(&path, &metadata, room, job))
}

/// Return the checksums of Bloscpack files, and their ids.
#[pyfunction]
fn checksums(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let table = PyDict::new(py);
    for checksum in bloscpack::CHECKSUMS {
        table.set_item(checksum.name, checksum.id)?;
    }
    Ok(table)
}

/// An open Bloscpack file.
#[pyclass(frozen, module = "coquina._core")]
pub(crate) struct PackReader {
    reader: Reader,
}

#[pymethods]
impl PackReader {
    #[new]
    #[pyo3(signature = (source, /))]
    pub(crate) fn new(py: Python<'_>, source: &Bound<'_, PyAny>) -> Result<Self, Raised> {
        let readable = Readable::of(source)?;
        let reader = py.detach(|| Reader::open(Box::new(readable), Limits::default()));
        let place = files::path(source)?.map_or_else(|| "packed bytes".into(), |p| p.display().to_string());
        Ok(Self { reader: reader.map_err(|e| e.at(place))? })
    }

    #[getter]
    fn nbytes(&self) -> u64 {
        self.reader.nbytes()
    }

    #[getter]
    fn cbytes(&self) -> u64 {
        self.reader.cbytes()
    }

    #[getter]
    fn nchunks(&self) -> usize {
        self.reader.nchunks()
    }

    #[getter]
    fn chunk_size(&self) -> Option<usize> {
        self.reader.header().chunk_bytes
    }

    #[getter]
    fn typesize(&self) -> u8 {
        self.reader.header().typesize
    }

    #[getter]
    fn checksum(&self) -> &'static str {
        self.reader.header().checksum.name
    }

    #[getter]
    fn has_offsets(&self) -> bool {
        self.reader.header().has_offsets
    }

    #[getter]
    fn spare_chunks(&self) -> u64 {
        self.reader.header().spare_chunks
    }

    #[getter]
    fn chunks_read(&self) -> u64 {
        self.reader.chunks_read()
    }

    #[getter]
    fn offsets(&self) -> Vec<u64> {
        self.reader.offsets().collect()
    }

    #[getter]
    fn metadata_room(&self) -> usize {
        self.reader.metadata_room_bytes()
    }

    #[getter]
    fn metadata<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        self.reader.metadata().map(|text| PyBytes::new(py, text))
    }

    #[pyo3(signature = (start, stop, /, *, threads=None, progress=None))]
    fn read<'py>(
        &self,
        py: Python<'py>,
        start: u64,
        stop: u64,
        threads: Option<i64>,
        progress: Option<Py<PyAny>>,
    ) -> Result<Bound<'py, PyBytes>, Raised> {
        let bytes = total(stop.saturating_sub(start));
        self.check(start, bytes)?;
        let mut data = NewBytes::new(py, bytes)?;
        let out = data.bytes();
        watch::run(py, bytes, threads, progress, |job| self.reader.read_range(start, out, job))?;
        Ok(data.finish(py, bytes)?)
    }

    #[pyo3(signature = (start, out, /, *, threads=None, progress=None))]
    fn read_into(
        &self,
        py: Python<'_>,
        start: u64,
        out: &Bound<'_, PyAny>,
        threads: Option<i64>,
        progress: Option<Py<PyAny>>,
    ) -> Result<(), Raised> {
        let mut output = Output::of(out)?;
        let out = output.bytes();
        watch::run(py, out.len(), threads, progress, |job| self.reader.read_range(start, out, job))
    }

    #[pyo3(signature = (path, header, /, *, overwrite=false, threads=None, progress=None))]
    #[expect(clippy::too_many_arguments, reason = "keyword-only options of a Python method")]
    fn write_to(
        &self,
        py: Python<'_>,
        path: PathBuf,
        header: &[u8],
        overwrite: bool,
        threads: Option<i64>,
        progress: Option<Py<PyAny>>,
    ) -> Result<(), Raised> {
        watch::run(py, total(self.reader.nbytes()), threads, progress, |job| {
            let mut file = NewFile::create(&path, existing(overwrite))?;
            file.file().write_all(header)?;
            self.reader.write_to(file.file(), job)?;
            file.commit()
        })
    }
}

impl PackReader {
    /// Before memory is made for a result, what is asked for must exist.
    fn check(&self, start: u64, bytes: usize) -> Result<(), Raised> {
        let nbytes = self.reader.nbytes();
        if start.checked_add(bytes as u64).is_none_or(|end| end > nbytes) {
            return Err(Error::out_of_bounds(format!("bytes {start}..{start}+{bytes} of {nbytes}")).into());
        }
        Ok(())
    }
}
