//! Opens whatever a file holds, by its content: a Bloscpack file, an array, or a frame of plain chunks.
//!
//! Frames that stand for data in another place are refused: nothing is followed or run. A saved expression is a frame, in
//! whose metadata it stands; a cache of another array is an array without the chunks that were not fetched. Both are
//! only read.

use std::path::PathBuf;
use std::sync::Arc;

use coquina::array::{Array, OpenOptions};
use coquina::frame::{Frame, Mode};
use coquina::{Error, ErrorKind, Limits, ReadAt};
use pyo3::prelude::*;

use crate::arrays::ArrayHandle;
use crate::bloscpack::PackReader;
use crate::errors::Raised;
use crate::files::{self, Readable};
use crate::frames::FrameHandle;
use crate::remote;

const BLOSCPACK_MAGIC: &[u8; 4] = b"blpk";
/// Behind the two markers that a frame starts with.
const FRAME_MAGIC: &[u8; 8] = b"b2frame\0";
/// Names of metalayers that say that a frame is an array.
const ARRAY_LAYERS: [&str; 2] = ["b2nd", "caterva"];
/// The metalayer that says that a frame is a cache of another place.
const CACHE_LAYER: &str = "proxy-source";
/// Names of metalayers that say that the items have to be computed.
const EXPRESSION_LAYERS: [&str; 2] = ["b2o", "LazyArray"];
/// The metalayer of a store whose leaves are elsewhere.
const REMOTE_LAYER: &str = "b2remote_store";

pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(open_content, module)?)
}

enum Opened {
    Bloscpack,
    Array(Box<Array>),
    Frame(Box<Frame>),
}

/// The first bytes, as many as there are.
fn start_of(source: &dyn ReadAt) -> Result<[u8; 10], Error> {
    let mut start = [0; 10];
    let known = start.len().min(usize::try_from(source.len()?).unwrap_or(usize::MAX));
    source.read_exact_at(&mut start[..known], 0)?;
    Ok(start)
}

/// Whether what could not be opened was never meant to be a frame, so that the error tells of nothing there is.
/// (One whose first bytes are damaged can be opened, by the copy of them at its end.)
fn is_no_frame(start: Option<[u8; 10]>, error: &Error) -> bool {
    start.is_some_and(|start| start[2..] != *FRAME_MAGIC) && error.kind() != ErrorKind::Io
}

fn no_frame() -> Error {
    Error::corrupt("neither a Bloscpack file nor a Blosc2 frame")
}

fn opened(frame: Frame, options: &OpenOptions) -> Result<Opened, Error> {
    let snapshot = frame.snapshot();
    let has = |name: &str| snapshot.metalayer(name).is_some();
    let is_array = ARRAY_LAYERS.iter().any(|name| has(name));
    let refused =
        |name: &str, what: &str| Err(Error::unsupported(format!("metalayer {name}: the frame {what}")));
    if has(REMOTE_LAYER) || (has(CACHE_LAYER) && !is_array) {
        let name = if has(REMOTE_LAYER) { REMOTE_LAYER } else { CACHE_LAYER };
        return refused(name, "stands for data elsewhere, which is not followed");
    }
    let is_read = options.mode == Mode::Read && !options.damaged;
    if let Some(name) = EXPRESSION_LAYERS.iter().chain([&CACHE_LAYER]).find(|name| !is_read && has(name)) {
        return refused(name, "is a saved expression or a cache, which is only read");
    }
    if EXPRESSION_LAYERS.iter().any(|name| has(name)) {
        return Ok(Opened::Frame(Box::new(frame)));
    }
    if is_array {
        return Array::from_frame(frame, options).map(|array| Opened::Array(Box::new(array)));
    }
    Ok(Opened::Frame(Box::new(frame)))
}

fn open_path(path: &PathBuf, options: &OpenOptions) -> Result<Opened, Error> {
    let place = |error: Error| error.at(path.display().to_string());
    let mut start = None;
    if options.offset == 0 && !path.is_dir() {
        let read = || start_of(&std::fs::File::open(path)?);
        start = Some(read().map_err(place)?);
    }
    if start.is_some_and(|start| start.starts_with(BLOSCPACK_MAGIC)) {
        return Ok(Opened::Bloscpack);
    }
    // The frame's own errors tell the path already.
    let frame = options.open_frame(path);
    let frame = frame.map_err(|error| if is_no_frame(start, &error) { place(no_frame()) } else { error })?;
    opened(frame, options).map_err(place)
}

fn open_source(source: &Arc<Readable>, options: &OpenOptions) -> Result<Opened, Error> {
    let start = if options.offset == 0 { Some(start_of(&**source)?) } else { None };
    if start.is_some_and(|start| start.starts_with(BLOSCPACK_MAGIC)) {
        return Ok(Opened::Bloscpack);
    }
    let frame = options.frame_from_source(Arc::clone(source) as Arc<dyn ReadAt>);
    opened(frame.map_err(|error| if is_no_frame(start, &error) { no_frame() } else { error })?, options)
}

/// Opens a file, a directory, a file object or a buffer: a `PackReader`, an `ArrayHandle` or a `FrameHandle`.
#[pyfunction]
#[pyo3(signature = (source, /, *, writable=false, offset=0, verify=true, damaged=false))]
fn open_content<'py>(
    py: Python<'py>,
    source: &Bound<'py, PyAny>,
    writable: bool,
    offset: u64,
    verify: bool,
    damaged: bool,
) -> Result<Bound<'py, PyAny>, Raised> {
    let mode = if writable { Mode::Write } else { Mode::Read };
    let limits = Limits::default();
    let options = OpenOptions { mode, offset, verify, damaged, commit: None, limits };
    let path = files::path(source)?;
    let (opened, reads_python) = if let Some(path) = &path {
        (py.detach(|| open_path(path, &options))?, false)
    } else {
        if writable {
            return Err(Error::invalid("only a file with a path can be opened for writing").into());
        }
        let source = Arc::new(Readable::of(source)?);
        let reads_python = matches!(*source, Readable::Object(_) | Readable::Far(_));
        (py.detach(|| open_source(&source, &options))?, reads_python)
    };
    Ok(match opened {
        Opened::Bloscpack if writable => {
            let hint = "a Bloscpack file is opened for reading only; coquina.append adds to it";
            return Err(Error::invalid(hint).into());
        }
        Opened::Bloscpack => Bound::new(py, PackReader::new(py, source)?)?.into_any(),
        Opened::Frame(frame) => Bound::new(py, FrameHandle::new(*frame, path))?.into_any(),
        Opened::Array(array) => {
            let handle = ArrayHandle::new(*array, path).at(offset);
            let handle = if remote::is_reader(source)? { handle.of_reader(source) } else { handle };
            Bound::new(py, if reads_python { handle.of_python() } else { handle })?.into_any()
        }
    })
}
