//! Calls of libhdf5, with h5py's lock held.
//!
//! In: functions, the identifier of a dataset. Out: what the functions tell, or why they failed.
#![expect(unsafe_code, reason = "functions of a C library")]

use std::any::Any;
use std::ffi::{CStr, c_int, c_uint, c_void};
use std::io;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::slice;
use std::sync::Arc;
use std::time::Duration;

use coquina::hdf5::ChunkRow;
use coquina::{Error, Result};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

use super::kept;
use super::symbols::{
    ChunkOptions, ErrorRecord, GetVersion, Id, IsValid, Iterate, Read, Source, StoredBytes, WalkErrors, Way,
    WriteChunk, lacks,
};

/// Default property lists, and the error stack of the calling thread.
const DEFAULT: Id = 0;
/// The address of what is not in the file.
const UNDEFINED: u64 = u64::MAX;
/// From the place of an error to the function that was called.
const UPWARD: c_int = 0;
/// The first version in which `H5Dchunk_iter` tells sizes of 8 bytes.
const ITERATES: (u32, u32, u32) = (1, 14, 0);
/// What the library says of a chunk that is not stored, in all versions from 1.10.2 to 2.0. The second is said of one
/// that somebody read, so that its fill value is in the cache of decoded chunks.
const NOT_STORED: [&str; 2] = ["chunk storage is not allocated", "chunk address isn't defined"];

/// The option of chunks that keeps filters from those that the edge cuts (`H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS`).
const DONT_FILTER_PARTIAL_CHUNKS: c_uint = 2;

/// The functions that this crate calls.
pub(crate) struct Libhdf5 {
    way: Way,
    is_valid: IsValid,
    stored_bytes: StoredBytes,
    read: Read,
    write: WriteChunk,
    iterate: Option<Iterate>,
    chunk_options: Option<ChunkOptions>,
    version: (u32, u32, u32),
}

/// What else releases h5py's lock before it waits.
const LOCKS: &str = "coquina.locks";

/// h5py's lock, once a dataset was looked at.
static PHIL: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

fn phil(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    let found = kept(&PHIL, py, || Ok(py.import("h5py._objects")?.getattr("phil")?.unbind()))?;
    Ok(found.bind(py))
}

/// Whether this thread has h5py's lock already: within what h5py itself calls, and in a loop over `values()` or
/// `items()` of h5py, which keep it from one turn to the next.
pub(crate) fn is_locked_here(py: Python<'_>) -> bool {
    let ask = |lock: &Py<PyAny>| lock.bind(py).call_method0("_is_owned")?.extract::<bool>();
    PHIL.get(py).is_some_and(|lock| ask(lock).unwrap_or(false))
}

/// Calls `wait`, which waits for another thread without the GIL, with h5py's lock released if this thread has it. In a
/// visitor of h5py, where it cannot be, `wait` gets a limit, and returns whether it was in time.
pub(crate) fn wait(wait: &mut dyn FnMut(Option<Duration>) -> bool) -> PyResult<()> {
    let leave = |py: Python<'_>| py.import(LOCKS)?.call_method0("leave_h5py")?.extract();
    let (times, limit): (usize, Option<f64>) = Python::attach(leave)?;
    let is_free = wait(limit.map(Duration::from_secs_f64));
    Python::attach(|py| py.import(LOCKS)?.call_method1("enter_h5py", (times, is_free)).map(drop))
}

/// h5py's lock, held by the thread that took it; the same thread may take it again.
struct Phil {
    lock: Py<PyAny>,
    _stays_on_its_thread: PhantomData<*const ()>,
}

impl Phil {
    fn take(lock: &Bound<'_, PyAny>) -> PyResult<Self> {
        // Waits without the GIL, so that whoever has the lock can go on and release it.
        lock.call_method0("acquire")?;
        Ok(Self { lock: lock.clone().unbind(), _stays_on_its_thread: PhantomData })
    }
}

impl Drop for Phil {
    fn drop(&mut self) {
        // A lock that this thread holds can be released.
        let _released = Python::attach(|py| self.lock.call_method0(py, "release").map(drop));
    }
}

impl Libhdf5 {
    /// The functions of the library that has opened `dataset`: by raw symbols or by capsules, and with `None` by
    /// capsules if raw symbols cannot be used. They are looked up once, for a dataset that is open.
    pub(crate) fn of(py: Python<'_>, dataset: Id, raw: Option<bool>) -> PyResult<Arc<Self>> {
        static SYMBOLS: PyOnceLock<Arc<Libhdf5>> = PyOnceLock::new();
        static CAPSULES: PyOnceLock<Arc<Libhdf5>> = PyOnceLock::new();
        // Of a library that once knew a dataset it is known that it is h5py's.
        let checked = |place: &'static PyOnceLock<Arc<Self>>, find: fn(Python<'_>) -> PyResult<Self>| {
            let found = kept(place, py, || {
                let found = find(py)?;
                found.check(py, dataset).map(|()| Arc::new(found))
            });
            found.map(Arc::clone)
        };
        let by_symbols =
            || checked(&SYMBOLS, |py| Self::from_source(py, Source::raw(&py.import("h5py.defs")?)?));
        let by_capsules =
            || checked(&CAPSULES, |py| Self::from_source(py, Source::capsules(&py.import("h5py.defs")?)?));
        match raw {
            Some(true) => by_symbols(),
            Some(false) => by_capsules(),
            None => by_symbols().or_else(|_| by_capsules()),
        }
    }

    /// Another copy of the library would not know what h5py has opened.
    fn check(&self, py: Python<'_>, dataset: Id) -> PyResult<()> {
        let _locked = Phil::take(phil(py)?)?;
        // SAFETY: the function takes any number; this thread has the lock, and the GIL for a capsule.
        if unsafe { (self.is_valid)(dataset) } > 0 {
            return Ok(());
        }
        Err(lacks("H5Iis_valid", "the dataset is not known; perhaps it was closed"))
    }

    fn from_source(py: Python<'_>, source: Source<'_>) -> PyResult<Self> {
        let told = py.import("h5py.version")?.getattr("hdf5_version_tuple")?.extract()?;
        let _locked = Phil::take(phil(py)?)?;
        let get_version: GetVersion = source.find("H5get_libversion", 3)?;
        let is_valid: IsValid = source.find("H5Iis_valid", 1)?;
        let version = version(get_version);
        if version != told {
            return Err(lacks("H5get_libversion", format!("{version:?}, h5py uses {told:?}")));
        }
        let iterate = if version >= ITERATES { source.find("H5Dchunk_iter", 4).ok() } else { None };
        Ok(Self {
            is_valid,
            stored_bytes: source.find("H5Dget_chunk_storage_size", 3)?,
            read: source.read()?,
            // Older h5py wraps the older name of the same function.
            write: source.find("H5Dwrite_chunk", 6).or_else(|_| source.find("H5DOwrite_chunk", 6))?,
            iterate,
            chunk_options: source.find("H5Pget_chunk_opts", 2).ok(),
            version,
            way: source.way()?,
        })
    }

    /// Whether functions are called by raw symbols, without the GIL.
    pub(crate) fn is_raw(&self) -> bool {
        !matches!(self.way, Way::Capsules)
    }

    /// Whether [`Session::each_chunk`] can be used.
    pub(crate) fn iterates(&self) -> bool {
        self.iterate.is_some()
    }

    pub(crate) fn version(&self) -> (u32, u32, u32) {
        self.version
    }

    /// Takes h5py's lock, for a dataset of `rank` axes, which is asked for with the lock held. `dataset` is h5py's
    /// `DatasetID`, which tells an identifier that is not valid once the dataset is closed: then there is no session.
    pub(crate) fn session(
        &self,
        dataset: &Py<PyAny>,
        rank: impl FnOnce(Python<'_>) -> PyResult<usize>,
    ) -> PyResult<Option<Session<'_>>> {
        let (lock, id) = Python::attach(|py| {
            let lock = Phil::take(phil(py)?)?;
            PyResult::Ok((lock, dataset.bind(py).getattr("id")?.extract::<Id>()?))
        })?;
        self.stay_silent();
        // SAFETY: the function takes any number; this thread has the lock.
        let is_valid = self.call("H5Iis_valid", || unsafe { (self.is_valid)(id) });
        if !is_valid.is_ok_and(|answer| answer > 0) {
            return Ok(None);
        }
        let rank = Python::attach(rank)?;
        Ok(Some(Session { library: self, id, rank, _lock: lock }))
    }

    /// Errors are returned, not printed. h5py sets this before its own calls, for threads that it knows.
    fn stay_silent(&self) {
        #[cfg(unix)]
        if let Way::Raw { set_printer, .. } = &self.way {
            // SAFETY: no printer and nothing to hand to it are what the manual allows; this thread has the lock.
            let _set = unsafe { set_printer(DEFAULT, std::ptr::null_mut(), std::ptr::null_mut()) };
        }
    }

    /// Runs one call of the library, and fetches its error.
    fn call(&self, function: &'static str, call: impl FnOnce() -> c_int) -> Result<c_int, Failure> {
        let (status, sentence) = match &self.way {
            #[cfg(unix)]
            Way::Raw { walk, .. } => {
                let status = call();
                (
                    status,
                    if status < 0 {
                        raised_below().unwrap_or_else(|| sentence(*walk))
                    } else {
                        String::new()
                    },
                )
            }
            Way::Capsules => Python::attach(|py| {
                let status = call();
                PyErr::take(py).map_or((status, String::new()), |error| (-1, error.value(py).to_string()))
            }),
        };
        if status < 0 { Err(failed(function, sentence)) } else { Ok(status) }
    }
}

/// What a file object of Python's raised below the library: it must not stay behind for whoever calls Python next.
fn raised_below() -> Option<String> {
    Python::attach(|py| PyErr::take(py).map(|error| error.value(py).to_string()))
}

fn version(get_version: GetVersion) -> (u32, u32, u32) {
    let (mut major, mut minor, mut patch) = (0, 0, 0);
    // SAFETY: three places for numbers, as the function wants them; its caller has the lock.
    let _status = unsafe { get_version(&raw mut major, &raw mut minor, &raw mut patch) };
    (major, minor, patch)
}

/// What the error stack of this thread tells: of the function, and of the place where it began.
fn sentence(walk: WalkErrors) -> String {
    let mut sentences: Vec<String> = Vec::new();
    // SAFETY: `on_error` gets the vector, as it expects; the caller has the lock.
    let _status = unsafe { walk(DEFAULT, UPWARD, on_error, (&raw mut sentences).cast()) };
    match &sentences[..] {
        [] => String::from("it failed, and left no message"),
        [one] => one.clone(),
        [first, .., last] => format!("{last} ({first})"),
    }
}

unsafe extern "C" fn on_error(_number: c_uint, record: *const ErrorRecord, sentences: *mut c_void) -> c_int {
    // SAFETY: `sentence` hands over its vector, which nobody else touches meanwhile.
    let sentences = unsafe { &mut *sentences.cast::<Vec<String>>() };
    // SAFETY: the library lends one record for the time of this call.
    let record = unsafe { &*record };
    if !record.sentence.is_null() {
        // SAFETY: a text of the library, which ends with a zero.
        let text = unsafe { CStr::from_ptr(record.sentence) };
        sentences.push(text.to_string_lossy().into_owned());
    }
    0
}

/// Why there is no answer.
pub(crate) enum Failure {
    /// The question makes no sense, and was not asked.
    Refused(String),
    /// The library said no.
    Failed { function: &'static str, sentence: String },
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Refused(sentence) => Self::invalid(sentence),
            Failure::Failed { function, sentence } => {
                io::Error::other(format!("{function}: {sentence}")).into()
            }
        }
    }
}

fn failed(function: &'static str, sentence: impl Into<String>) -> Failure {
    Failure::Failed { function, sentence: sentence.into() }
}

/// h5py's lock, and a dataset that was open when it was taken.
pub(crate) struct Session<'a> {
    library: &'a Libhdf5,
    id: Id,
    rank: usize,
    _lock: Phil,
}

impl Session<'_> {
    /// The library reads as many coordinates as the dataset has axes.
    fn check(&self, start: &[u64]) -> Result<(), Failure> {
        if start.len() == self.rank {
            return Ok(());
        }
        Err(Failure::Refused(format!("the start has {} axes, the dataset {}", start.len(), self.rank)))
    }

    /// Whether chunks that the edge cuts go through the filters, by the list of properties that a chunked dataset was
    /// made with; `None` if the library cannot be asked, as by h5py's capsules.
    pub(crate) fn filters_partial_edges(&self, properties: Id) -> Option<bool> {
        let function = self.library.chunk_options?;
        let mut options = 0;
        // SAFETY: the function takes any number, and there is a place for its answer; the lock is held.
        let told =
            self.library.call("H5Pget_chunk_opts", || unsafe { function(properties, &raw mut options) });
        told.ok().map(|_| options & DONT_FILTER_PARTIAL_CHUNKS == 0)
    }

    /// Bytes of the stored chunk that starts here; `None` if there is none.
    pub(crate) fn stored_bytes(&self, start: &[u64]) -> Result<Option<usize>, Failure> {
        let name = "H5Dget_chunk_storage_size";
        self.check(start)?;
        // Some versions leave it as it is where nothing is stored at all.
        let mut bytes = 0;
        let function = self.library.stored_bytes;
        // SAFETY: a valid identifier, a coordinate for each axis and a place for a number; the lock is held.
        let asked = self.library.call(name, || unsafe { function(self.id, start.as_ptr(), &raw mut bytes) });
        match asked {
            Err(Failure::Failed { sentence, .. })
                if NOT_STORED.iter().any(|said| sentence.contains(said)) =>
            {
                Ok(None)
            }
            Err(failure) => Err(failure),
            Ok(_) if bytes == 0 => Ok(None),
            Ok(_) => usize::try_from(bytes).map(Some).map_err(|_| failed(name, format!("{bytes} bytes"))),
        }
    }

    /// The stored bytes and the filter mask of the chunk that starts here; `None` if there is none.
    pub(crate) fn read(&self, start: &[u64]) -> Result<Option<(Vec<u8>, u32)>, Failure> {
        let Some(size) = self.stored_bytes(start)? else { return Ok(None) };
        let mut bytes: Vec<u8> = Vec::new();
        let room = bytes.try_reserve_exact(size);
        room.map_err(|_| failed("H5Dread_chunk", format!("no memory for {size} bytes")))?;
        let mask = self.fill(start, bytes.as_mut_ptr(), size)?;
        // SAFETY: there is room for `size` bytes, and the library has written them.
        unsafe { bytes.set_len(size) };
        Ok(Some((bytes, mask)))
    }

    /// The same into `out`, which must have room for all of it: how many bytes, and the filter mask.
    pub(crate) fn read_into(&self, start: &[u64], out: &mut [u8]) -> Result<Option<(usize, u32)>, Failure> {
        let Some(size) = self.stored_bytes(start)? else { return Ok(None) };
        let Some(room) = out.get_mut(..size) else {
            let room = out.len();
            return Err(Failure::Refused(format!("{size} bytes are stored, there is room for {room}")));
        };
        let mask = self.fill(start, room.as_mut_ptr(), size)?;
        Ok(Some((size, mask)))
    }

    /// Reads a chunk of which `size` bytes are stored to `room`, which has as many. Both are asked with one lock
    /// held, and the library answers both by the same entry of its index, which it keeps; so the size cannot change
    /// in between.
    fn fill(&self, start: &[u64], room: *mut u8, size: usize) -> Result<u32, Failure> {
        let name = "H5Dread_chunk";
        self.check(start)?;
        let (id, at, room) = (self.id, start.as_ptr(), room.cast::<c_void>());
        let (mut mask, mut bytes) = (0, size);
        self.library.call(name, || match self.library.read {
            // SAFETY: a valid identifier, a coordinate for each axis, room for the chunk; the lock is held.
            Read::Plain(read) => unsafe { read(id, DEFAULT, at, &raw mut mask, room) },
            // SAFETY: the same, and the size of the room.
            Read::WithRoom(read) => unsafe { read(id, DEFAULT, at, &raw mut mask, room, &raw mut bytes) },
        })?;
        if bytes == size { Ok(mask) } else { Err(failed(name, format!("{bytes} bytes instead of {size}"))) }
    }

    /// Stores the bytes of a chunk, with no filter skipped.
    pub(crate) fn write(&self, start: &[u64], bytes: &[u8]) -> Result<(), Failure> {
        self.check(start)?;
        let (id, at, len, from) = (self.id, start.as_ptr(), bytes.len(), bytes.as_ptr().cast());
        let write = self.library.write;
        // SAFETY: a valid identifier, a coordinate for each axis, and `len` bytes; the lock is held.
        self.library.call("H5Dwrite_chunk", || unsafe { write(id, DEFAULT, 0, at, len, from) })?;
        Ok(())
    }

    /// Calls `each` with the start and the row of every stored chunk, in the order of the library's index.
    pub(crate) fn each_chunk(&self, each: &mut dyn FnMut(&[u64], ChunkRow) -> Result<()>) -> Result<()> {
        let name = "H5Dchunk_iter";
        let iterate = self.library.iterate.ok_or_else(|| failed(name, "not in this version"))?;
        let mut walk = Walk { rank: self.rank, each, failed: None, panicked: None };
        let state = (&raw mut walk).cast::<c_void>();
        // SAFETY: a valid identifier, and `on_chunk` gets the `Walk` that it expects; the lock is held.
        let walked = self.library.call(name, || unsafe { iterate(self.id, DEFAULT, on_chunk, state) });
        if let Some(payload) = walk.panicked {
            resume_unwind(payload);
        }
        // What `each` said comes before what the library says of having been stopped.
        walk.failed.map_or(Ok(()), Err)?;
        walked?;
        Ok(())
    }
}

/// What a walk over the stored chunks needs and leaves.
struct Walk<'a> {
    rank: usize,
    each: &'a mut dyn FnMut(&[u64], ChunkRow) -> Result<()>,
    failed: Option<Error>,
    panicked: Option<Box<dyn Any + Send>>,
}

/// Goes on after 0, stops after 1.
unsafe extern "C" fn on_chunk(
    start: *const u64,
    mask: c_uint,
    address: u64,
    size: u64,
    walk: *mut c_void,
) -> c_int {
    // SAFETY: `each_chunk` hands over its `Walk`, which nobody else touches meanwhile.
    let walk = unsafe { &mut *walk.cast::<Walk<'_>>() };
    // SAFETY: the library lends a coordinate for each axis for the time of this call.
    let start = unsafe { slice::from_raw_parts(start, walk.rank) };
    if address == UNDEFINED {
        return 0;
    }
    // A panic must not pass the frames of C.
    match catch_unwind(AssertUnwindSafe(|| (walk.each)(start, ChunkRow { address, size, mask }))) {
        Ok(Ok(())) => return 0,
        Ok(Err(error)) => walk.failed = Some(error),
        Err(payload) => walk.panicked = Some(payload),
    }
    1
}
