//! Frames of plain chunks: chunks by number, and metadata.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use coquina::chunk::{Chunk, Header, LazyChunk, Params, Special, encode_special, read_header};
use coquina::frame::{Change, Frame, Snapshot, Spec, Stored};
use coquina::tune::{self, Goal, Tuner};
use coquina::{Error, Job, Limits, ReadAt, Result};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::arrays::{GoalTerms, GoalTuple, existing, goal_of, kind, sums_name, to_tuple};
use crate::buffers::Input;
use crate::errors::Raised;
use crate::options::{self, CodecOption};

pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(create_frame, module)?)?;
    module.add_class::<FrameHandle>()
}

/// Makes a frame without chunks. It gets its name by `publish`.
#[pyfunction]
#[pyo3(signature = (path, /, *, typesize=1, chunk_size=0, codec=CodecOption::from("zstd"), level=1, filters=None,
    contiguous=true, overwrite=false, checksums=true, metalayers=None, tuning=None, variable_blocks=false),
    text_signature = "(path, /, *, typesize=1, chunk_size=0, codec=\"zstd\", level=1, filters=None, \
    contiguous=True, overwrite=False, checksums=True, metalayers=None, tuning=None, variable_blocks=False)")]
#[expect(clippy::too_many_arguments, reason = "keyword-only options of a Python function")]
fn create_frame(
    py: Python<'_>,
    path: PathBuf,
    typesize: i64,
    chunk_size: i64,
    codec: CodecOption,
    level: i64,
    filters: Option<&Bound<'_, PyAny>>,
    contiguous: bool,
    overwrite: bool,
    checksums: bool,
    metalayers: Option<Vec<(String, Vec<u8>)>>,
    tuning: Option<GoalTerms>,
    variable_blocks: bool,
) -> Result<FrameHandle, Raised> {
    let typesize = options::number("typesize", typesize, 1)?;
    let mut params = options::params(&codec, level, typesize)?;
    if let Some(filters) = filters {
        params.pipeline = options::pipeline(filters, typesize)?;
    }
    params.check()?;
    let spec = Spec {
        typesize,
        chunk_bytes: options::number("chunk size", chunk_size, 0)?,
        codec_id: params.codec.id(),
        codec_meta: params.codec_meta,
        level: params.level,
        pipeline: params.pipeline,
        metalayers: metalayers.unwrap_or_default(),
        with_sums: checksums,
        has_variable_blocks: variable_blocks,
        ..Spec::default()
    };
    let goal = goal_of(tuning)?;
    goal.as_ref().map_or(Ok(()), |_| tune::check(&params))?;
    let made = || {
        let frame = Frame::create(&path, kind(contiguous), &spec, existing(overwrite))?;
        let mut state = State { frame, is_open: true, tuner: None };
        if goal.is_some() {
            state.set_goal(goal)?;
        }
        state.is_open = false;
        Ok::<_, Error>(state)
    };
    let state = py.detach(made)?;
    Ok(FrameHandle { state: Mutex::new(Some(state)), path: Some(path) })
}

struct State {
    frame: Frame,
    /// Changes wait for a commit of their own.
    is_open: bool,
    /// What chooses how chunks are encoded, as long as its goal is that of the frame.
    tuner: Option<Tuner>,
}

impl State {
    /// Makes a change, and commits it if nobody said that more will follow.
    fn change(&mut self, change: Change<'_>) -> Result<()> {
        self.frame.apply(change)?;
        if self.is_open { Ok(()) } else { self.frame.commit(false) }
    }

    /// No change, as a start for one.
    fn unchanged<'c>(&self) -> Change<'c> {
        let snapshot = self.frame.snapshot();
        Change { nchunks: snapshot.nchunks(), nbytes: snapshot.nbytes(), ..Change::default() }
    }

    /// What chunks are tuned for.
    fn goal(&self) -> Result<Option<Goal>> {
        let content = self.frame.snapshot().vlmetalayer(tune::LAYER)?;
        content.map(|content| Goal::read(&content)).transpose()
    }

    fn set_goal(&mut self, goal: Option<Goal>) -> Result<()> {
        let mut change = self.unchanged();
        change.vlmetalayers.push((tune::LAYER.to_owned(), goal.as_ref().map(Goal::write)));
        self.change(change)?;
        self.tuner = goal.map(Tuner::new);
        Ok(())
    }

    /// A chunk of bytes, encoded as is chosen for it; `None` where nothing is to be chosen.
    fn tuned_chunk(&mut self, bytes: &[u8], job: &Job<'_>) -> Result<Option<Vec<u8>>> {
        let Some(goal) = self.goal()? else { return Ok(None) };
        let typesize = self.frame.snapshot().typesize();
        let params = Params { typesize, ..Params::default() };
        let tuner = match self.tuner.take() {
            Some(tuner) if tuner.goal().is_stored_as(&goal) => tuner,
            _ => Tuner::for_params(goal, &params)?,
        };
        let mut out = vec![0; params.bound(bytes.len())];
        let cbytes = tune::encode_into(&tuner, bytes, &params, &mut out, job)?;
        out.truncate(cbytes);
        self.tuner = Some(tuner);
        Ok(Some(out))
    }

    fn stored(&self, number: u64) -> Result<Stored> {
        self.frame.snapshot().chunk(number)
    }

    fn nbytes_of(&self, number: u64) -> Result<u64> {
        Ok(match self.stored(number)? {
            Stored::Special(_, nbytes) => nbytes as u64,
            Stored::At { source, place, .. } => {
                read_header(&*source, &place, &Limits::default())?.nbytes as u64
            }
        })
    }
}

/// An open frame. One thread at a time works with it, without the GIL.
#[pyclass(frozen, module = "coquina._core")]
pub(crate) struct FrameHandle {
    /// None when it has been closed.
    state: Mutex<Option<State>>,
    path: Option<PathBuf>,
}

impl FrameHandle {
    pub(crate) fn new(frame: Frame, path: Option<PathBuf>) -> Self {
        Self { state: Mutex::new(Some(State { frame, is_open: false, tuner: None })), path }
    }

    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut State) -> Result<T> + Send,
    ) -> Result<T, Raised> {
        Ok(py.detach(|| {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            work(state.as_mut().ok_or_else(|| Error::invalid("the frame has been closed"))?)
        })?)
    }
}

/// The bytes of a chunk as it is stored; of a special one, as it would be.
fn stored_bytes(stored: Stored, typesize: usize) -> Result<Vec<u8>> {
    let (source, place) = match stored {
        Stored::Special(Special::Value, _) => {
            return Err(Error::corrupt("a repeated value without the value"));
        }
        Stored::Special(special, nbytes) => return encode_special(special, &[], nbytes, typesize),
        Stored::At { source, place, .. } => (source, place),
    };
    let mut bytes = vec![0; read_header(&*source, &place, &Limits::default())?.cbytes];
    source.read_exact_at(&mut bytes, place.at)?;
    Ok(bytes)
}

/// What a chunk decodes to.
fn decoded(stored: Stored, snapshot: &Snapshot) -> Result<Vec<u8>> {
    if let Stored::At { source, place, .. } = stored {
        let chunk = LazyChunk::open_in(&snapshot.layout(), source, place, &Limits::default())?;
        let mut bytes = vec![0; chunk.header().nbytes];
        chunk.read(0, &mut bytes)?;
        return Ok(bytes);
    }
    let bytes = stored_bytes(stored, snapshot.typesize())?;
    let chunk = Chunk::parse(&bytes, &Limits::default())?;
    let mut out = vec![0; chunk.header().nbytes];
    chunk.decode_into(&mut out, &Job::default())?;
    Ok(out)
}

#[pymethods]
impl FrameHandle {
    #[getter]
    fn path(&self) -> Option<OsString> {
        self.path.clone().map(PathBuf::into_os_string)
    }

    /// What the frame says of itself, by name.
    fn stats<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyDict>, Raised> {
        let snapshot = self.with(py, |state| Ok(state.frame.snapshot()))?;
        let spec = snapshot.spec();
        let facts = PyDict::new(py);
        facts.set_item("nchunks", snapshot.nchunks())?;
        facts.set_item("nbytes", snapshot.nbytes())?;
        facts.set_item("cbytes", snapshot.cbytes())?;
        facts.set_item("dead_bytes", snapshot.dead_bytes())?;
        facts.set_item("chunk_size", snapshot.chunk_bytes())?;
        facts.set_item("typesize", snapshot.typesize())?;
        facts.set_item("checksums", sums_name(snapshot.sums()))?;
        facts.set_item("codec", options::codec_name(spec.codec_id))?;
        facts.set_item("codec_parameter", options::codec_parameter(spec.codec_id, spec.codec_meta))?;
        facts.set_item("level", spec.level)?;
        facts.set_item("filters", options::filter_names(&spec.pipeline))?;
        Ok(facts)
    }

    /// Decodes a chunk.
    #[pyo3(signature = (number, /))]
    fn chunk<'py>(&self, py: Python<'py>, number: u64) -> Result<Bound<'py, PyBytes>, Raised> {
        let bytes = self.with(py, |state| decoded(state.stored(number)?, &state.frame.snapshot()))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Returns a chunk as it is stored.
    #[pyo3(signature = (number, /))]
    fn stored_chunk<'py>(&self, py: Python<'py>, number: u64) -> Result<Bound<'py, PyBytes>, Raised> {
        let bytes =
            self.with(py, |state| stored_bytes(state.stored(number)?, state.frame.snapshot().typesize()))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Puts an encoded chunk at a number: in place of the one there, or before it, or behind the last one.
    #[pyo3(signature = (number, chunk, /, *, insert=false))]
    fn put_chunk(
        &self,
        py: Python<'_>,
        number: u64,
        chunk: &Bound<'_, PyAny>,
        insert: bool,
    ) -> Result<(), Raised> {
        let input = Input::of(chunk)?;
        let bytes = input.bytes();
        self.with(py, |state| {
            let mut change = state.unchanged();
            let nchunks = change.nchunks;
            if number > nchunks || number == nchunks && !insert {
                return Err(Error::out_of_bounds(format!(
                    "chunk {number} is out of bounds for a frame of {nchunks} chunks"
                )));
            }
            let nbytes = Header::read(bytes, &Limits::default())?.nbytes;
            if !state.frame.snapshot().knows_chunk_bytes() {
                state.frame.set_chunk_bytes(nbytes)?;
            }
            let nbytes = nbytes as u64;
            let replaced = if insert { 0 } else { state.nbytes_of(number)? };
            let remap = |new: u64| (new != number).then(|| if new > number { new - 1 } else { new });
            if insert {
                change.nchunks += 1;
                change.remap = Some(&remap);
            }
            change.nbytes = change.nbytes - replaced + nbytes;
            change.entries.push((number, state.frame.put(bytes)?));
            state.change(change)
        })
    }

    #[pyo3(signature = (number, /))]
    fn remove_chunk(&self, py: Python<'_>, number: u64) -> Result<(), Raised> {
        self.with(py, |state| {
            let mut change = state.unchanged();
            change.nbytes -= state.nbytes_of(number)?;
            change.nchunks -= 1;
            let remap = |new: u64| Some(if new >= number { new + 1 } else { new });
            change.remap = Some(&remap);
            state.change(change)
        })
    }

    /// What chunks that come are tuned for; `None` if they are encoded as the frame says.
    fn tuning(&self, py: Python<'_>) -> Result<Option<GoalTuple>, Raised> {
        Ok(self.with(py, |state| state.goal())?.as_ref().map(to_tuple))
    }

    #[pyo3(signature = (goal, /))]
    fn set_tuning(&self, py: Python<'_>, goal: Option<GoalTerms>) -> Result<(), Raised> {
        let goal = goal_of(goal)?;
        self.with(py, |state| state.set_goal(goal))
    }

    /// Encodes a chunk as is chosen for it; returns `None` if the frame is not tuned.
    #[pyo3(signature = (data, /))]
    fn tuned_chunk<'py>(
        &self,
        py: Python<'py>,
        data: &Bound<'py, PyAny>,
    ) -> Result<Option<Bound<'py, PyBytes>>, Raised> {
        let input = Input::of(data)?;
        let bytes = input.bytes();
        let made = self.with(py, |state| state.tuned_chunk(bytes, &Job::default()))?;
        Ok(made.map(|made| PyBytes::new(py, &made)))
    }

    /// Changes from here on are one commit.
    fn begin(&self, py: Python<'_>) -> Result<(), Raised> {
        self.with(py, |state| {
            state.is_open = true;
            Ok(())
        })
    }

    fn commit(&self, py: Python<'_>) -> Result<(), Raised> {
        self.with(py, |state| {
            state.is_open = false;
            state.frame.commit(false)
        })
    }

    fn rollback(&self, py: Python<'_>) -> Result<(), Raised> {
        self.with(py, |state| {
            state.is_open = false;
            state.frame.rollback();
            Ok(())
        })
    }

    fn publish(&self, py: Python<'_>) -> Result<(), Raised> {
        self.with(py, |state| state.frame.publish())
    }

    fn compact(&self, py: Python<'_>) -> Result<(), Raised> {
        self.with(py, |state| state.frame.compact())
    }

    fn refresh(&self, py: Python<'_>) -> Result<bool, Raised> {
        self.with(py, |state| state.frame.refresh())
    }

    /// Whether it was closed.
    #[getter]
    fn is_closed(&self, py: Python<'_>) -> bool {
        py.detach(|| self.state.lock().unwrap_or_else(PoisonError::into_inner).is_none())
    }

    fn close(&self, py: Python<'_>) -> Result<(), Raised> {
        let state = py.detach(|| self.state.lock().unwrap_or_else(PoisonError::into_inner).take());
        Ok(py.detach(|| state.map_or(Ok(()), |state| state.frame.close()))?)
    }

    #[pyo3(signature = (name, /))]
    fn layer<'py>(&self, py: Python<'py>, name: &str) -> Result<Option<Bound<'py, PyBytes>>, Raised> {
        let content = self.with(py, |state| state.frame.snapshot().vlmetalayer(name))?;
        Ok(content.map(|content| PyBytes::new(py, &content)))
    }

    #[pyo3(signature = (name, content, /))]
    fn set_layer(&self, py: Python<'_>, name: String, content: Option<Vec<u8>>) -> Result<(), Raised> {
        self.with(py, |state| {
            if name == tune::LAYER {
                return Err(Error::invalid(format!("metalayer {name:?}: the name is taken")));
            }
            let mut change = state.unchanged();
            change.vlmetalayers.push((name, content));
            state.change(change)
        })
    }

    fn layer_names(&self, py: Python<'_>) -> Result<Vec<String>, Raised> {
        self.with(py, |state| {
            let snapshot = state.frame.snapshot();
            let names = snapshot.vlmetalayer_names().filter(|&name| name != tune::LAYER);
            Ok(names.map(str::to_owned).collect())
        })
    }

    fn metalayers<'py>(&self, py: Python<'py>) -> Result<Vec<(String, Bound<'py, PyBytes>)>, Raised> {
        let snapshot = self.with(py, |state| Ok(state.frame.snapshot()))?;
        Ok(snapshot.metalayers().map(|(name, bytes)| (name.to_owned(), PyBytes::new(py, bytes))).collect())
    }
}
