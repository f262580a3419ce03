//! The file object that h5py's "fileobj" driver reads and writes: a file whose changes are commits.
//!
//! In: the calls of that driver, one at a time under h5py's lock, and the word that all so far is a commit. Out: the
//! engine's writer, or a snapshot for those who read beside one.
//! Invariant: a process that was forked from the one that opened the file changes nothing.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use coquina::hdf5::journal::{FileGate, Snapshot, Writer, location};
use coquina::{Error, Limits, ReadAt, Result, check_in_place};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::access::{Access, complete, create_writer, finish, is_replaced, open_snapshot, open_writer};
use crate::buffers::{Input, NewBytes, Output};
use crate::errors::Raised;

/// Larger reads and writes let other threads of Python run.
const LARGE_BYTES: usize = 64 << 10;
const POLL_TIME: Duration = Duration::from_millis(5);

/// An HDF5 file below h5py.
#[pyclass(frozen, module = "coquina._core")]
pub(super) struct JournaledFile {
    path: PathBuf,
    locking: bool,
    process: u32,
    state: Mutex<State>,
}

struct State {
    position: u64,
    access: Access,
    /// Where the superblock is, once libhdf5 has read it.
    superblock: Option<u64>,
}

/// How many bytes libhdf5 reads to find the superblock of a file that it opens; nothing else reads so many there.
const SIGNATURE_BYTES: usize = 8;

fn place(path: &Path) -> impl Fn(Error) -> Error {
    let name = path.display().to_string();
    move |error| error.at(name.clone())
}

fn is_busy(error: &Error) -> bool {
    error.io().is_some_and(|e| e.kind() == io::ErrorKind::WouldBlock)
}

/// Tries until whoever writes is done, or the time is over.
fn waiting<T>(py: Python<'_>, wait: f64, mut attempt: impl FnMut() -> Result<T> + Send) -> Result<T, Raised>
where
    T: Send,
{
    let wait = Duration::try_from_secs_f64(wait.max(0.0)).unwrap_or(Duration::MAX);
    // What no clock shows is waited for without end.
    let until = Instant::now().checked_add(wait);
    loop {
        match py.detach(&mut attempt) {
            Err(error) if is_busy(&error) && until.is_none_or(|until| Instant::now() < until) => {
                py.detach(|| std::thread::sleep(POLL_TIME));
                py.check_signals()?;
            }
            done => return Ok(done?),
        }
    }
}

impl JournaledFile {
    fn new(path: PathBuf, locking: bool, access: Access) -> Self {
        Self {
            path,
            locking,
            process: std::process::id(),
            state: Mutex::new(State { position: 0, access, superblock: None }),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn check_process(&self) -> Result<()> {
        if std::process::id() == self.process {
            return Ok(());
        }
        Err(Error::invalid("it was opened for writing before this process was forked; open it again")
            .at(self.path.display().to_string()))
    }

    fn with_writer<T>(
        &self,
        act: impl FnOnce(&mut Writer<Arc<File>>, &mut FileGate<'_>) -> Result<T>,
    ) -> Result<T> {
        self.check_process()?;
        let mut state = self.state();
        let Access::Write { file, writer, .. } = &mut state.access else {
            return Err(Error::invalid("it is not open for writing").at(self.path.display().to_string()));
        };
        check_in_place(file, &self.path, "file").map_err(place(&self.path))?;
        let mut gate = FileGate { file: self.locking.then_some(&**file) };
        act(writer, &mut gate).map_err(place(&self.path))
    }
}

#[pymethods]
impl JournaledFile {
    /// Opens a file to change it. `BlockingIOError` if another process writes, for longer than `wait` seconds.
    #[staticmethod]
    #[pyo3(signature = (path, /, *, locking=true, wait=0.0))]
    fn open(py: Python<'_>, path: PathBuf, locking: bool, wait: f64) -> Result<Self, Raised> {
        let access = waiting(py, wait, || open_writer(&path, locking).map_err(place(&path)))?;
        Ok(Self::new(path, locking, access))
    }

    /// Makes a file that is to get the name `path` by `publish`; until then it is `part`, and has no commits.
    #[staticmethod]
    #[pyo3(signature = (path, part, /, *, locking=true, wait=0.0))]
    fn create(
        py: Python<'_>,
        path: PathBuf,
        part: PathBuf,
        locking: bool,
        wait: f64,
    ) -> Result<Self, Raised> {
        let access = waiting(py, wait, || create_writer(&path, &part, locking).map_err(place(&path)))?;
        Ok(Self::new(path, locking, access))
    }

    /// Opens the last commit of a file.
    #[staticmethod]
    #[pyo3(signature = (path, /, *, locking=true))]
    fn read_only(py: Python<'_>, path: PathBuf, locking: bool) -> Result<Self, Raised> {
        let access = waiting(py, 0.0, || open_snapshot(&path, locking).map_err(place(&path)))?;
        Ok(Self::new(path, locking, access))
    }

    /// Where the journal of a file is, whatever name it is opened by; or would be made.
    #[staticmethod]
    #[pyo3(signature = (path, /))]
    fn journal_of(path: PathBuf) -> Result<PathBuf, Raised> {
        let file = File::open(&path).map_err(|e| place(&path)(e.into()))?;
        Ok(location(&file, &path))
    }

    /// Notes that the file is open, with so many bytes of the user's in front. From then on it is not opened again: an
    /// external link that libhdf5 follows by this file's driver would find these very bytes under another name.
    /// `None` lets it be opened anew.
    #[pyo3(signature = (superblock, /))]
    fn opened(&self, superblock: Option<u64>) {
        self.state().superblock = superblock;
    }

    /// Whether an error has ended writing: then nothing that libhdf5 writes is kept.
    #[getter]
    fn is_stopped(&self) -> bool {
        matches!(&self.state().access, Access::Write { writer, .. } if writer.is_stopped())
    }

    /// Whether the file alone is at the commit: then it needs no driver, as long as this object keeps it so.
    #[getter]
    fn is_plain(&self) -> bool {
        matches!(&self.state().access, Access::Read { snapshot, .. } if snapshot.is_plain())
    }

    /// Whether there is a commit after the one that is read.
    fn is_stale(&self, py: Python<'_>) -> Result<bool, Raised> {
        let found = py.detach(|| {
            let state = self.state();
            let Access::Read { file, snapshot } = &state.access else { return Ok(false) };
            if is_replaced(file, &self.path) {
                return Ok(true);
            }
            let Ok(journal) = File::open(location(file, &self.path)) else { return Ok(false) };
            Ok(Snapshot::new(Arc::clone(file), Some(Arc::new(journal)))?.commit() != snapshot.commit())
        });
        Ok(found.map_err(|e: Error| e.at(self.path.display().to_string()))?)
    }

    /// Checks that the values of variable length of the attributes of the object at `header` can be read by libhdf5;
    /// says whether there is a header to look at.
    #[pyo3(signature = (header, /))]
    fn check_attributes(&self, py: Python<'_>, header: u64) -> Result<bool, Raised> {
        let check = || coquina::hdf5::check_attributes(&Bytes(self), header, &Limits::default());
        Ok(py.detach(check).map_err(place(&self.path))?)
    }

    /// Moves the position; from the end if `whence` is 2.
    #[pyo3(signature = (offset, whence=0, /))]
    fn seek(&self, offset: i64, whence: u8) -> Result<u64, Raised> {
        let mut state = self.state();
        let start = if whence == 2 { state.len()? } else { 0 };
        state.position = start.saturating_add_signed(offset);
        Ok(state.position)
    }

    /// The position.
    fn tell(&self) -> u64 {
        self.state().position
    }

    /// Fills a buffer from the position on, with zeros behind the end.
    fn readinto(&self, py: Python<'_>, buffer: &Bound<'_, PyAny>) -> Result<usize, Raised> {
        let mut out = Output::of(buffer)?;
        let bytes = out.bytes();
        let len = bytes.len();
        if len < LARGE_BYTES {
            self.state().fill(bytes).map_err(place(&self.path))?;
        } else {
            py.detach(|| self.state().fill(bytes)).map_err(place(&self.path))?;
        }
        Ok(len)
    }

    /// The bytes from the position on.
    fn read<'py>(&self, py: Python<'py>, size: usize) -> Result<Bound<'py, PyBytes>, Raised> {
        let mut made = NewBytes::new(py, size)?;
        self.state().fill(made.bytes()).map_err(place(&self.path))?;
        Ok(made.finish(py, size)?)
    }

    /// The bytes from `offset` on, fewer where the file ends before.
    #[pyo3(signature = (offset, size, /))]
    fn read_at<'py>(&self, py: Python<'py>, offset: u64, size: usize) -> Result<Bound<'py, PyBytes>, Raised> {
        let there = self.state().len().map_err(place(&self.path))?.saturating_sub(offset);
        let size = size.min(usize::try_from(there).unwrap_or(usize::MAX));
        let mut made = NewBytes::new(py, size)?;
        Bytes(self).read_exact_at(made.bytes(), offset).map_err(place(&self.path))?;
        Ok(made.finish(py, size)?)
    }

    /// The number of the file's descriptor, as long as it is open.
    #[cfg(unix)]
    fn fileno(&self) -> Option<i32> {
        use std::os::fd::AsRawFd as _;
        match &self.state().access {
            Access::Closed => None,
            Access::Read { file, .. } | Access::Write { file, .. } => Some(file.as_raw_fd()),
        }
    }

    /// Writes bytes at the position. What the disk refuses stays in memory; the next commit says so.
    fn write(&self, py: Python<'_>, data: &Bound<'_, PyAny>) -> Result<usize, Raised> {
        let data = Input::of(data)?;
        let bytes = data.bytes();
        if std::process::id() == self.process {
            if bytes.len() < LARGE_BYTES {
                self.state().write(bytes).map_err(place(&self.path))?;
            } else {
                py.detach(|| self.state().write(bytes)).map_err(place(&self.path))?;
            }
        }
        Ok(bytes.len())
    }

    /// Gives the file another length.
    fn truncate(&self, len: u64) -> Result<u64, Raised> {
        if std::process::id() == self.process
            && let Access::Write { writer, .. } = &mut self.state().access
        {
            writer.set_len(len).map_err(place(&self.path))?;
        }
        Ok(len)
    }

    /// Nothing: libhdf5 calls it in the middle of its work. See `commit`.
    fn flush(&self) {}

    /// Makes all that was written a commit; whether there was anything. durable: waits for the disk.
    #[pyo3(signature = (*, durable=false))]
    fn commit(&self, py: Python<'_>, durable: bool) -> Result<bool, Raised> {
        Ok(py.detach(|| self.with_writer(|writer, gate| writer.commit(durable, gate)))?)
    }

    /// Gives up all that no commit has.
    fn rollback(&self, py: Python<'_>) -> Result<(), Raised> {
        Ok(py.detach(|| self.with_writer(|writer, _| writer.rollback()))?)
    }

    /// Ends writing: what was not committed will not be.
    fn stop(&self, why: &str) {
        if let Access::Write { writer, .. } = &mut self.state().access {
            writer.stop(why);
        }
    }

    /// Makes all that was written the first commit of a new file, and waits for the disk.
    fn publish(&self, py: Python<'_>) -> Result<(), Raised> {
        Ok(py.detach(|| self.with_writer(|writer, gate| writer.publish(gate)))?)
    }

    /// Applies the commits, if nobody reads, and lets go of the file; whether the file alone is at the last commit.
    fn close(&self, py: Python<'_>) -> Result<bool, Raised> {
        let access = std::mem::replace(&mut self.state().access, Access::Closed);
        if std::process::id() != self.process {
            return Ok(false);
        }
        let is_reader = matches!(access, Access::Read { .. });
        let settled = py.detach(|| {
            let settled = finish(access, self.locking)?;
            if is_reader {
                // The last one who looked completes what a writer had to leave.
                complete(&self.path, self.locking)?;
            }
            Ok(settled)
        });
        Ok(settled.map_err(place(&self.path))?)
    }

    /// The path.
    fn __repr__(&self) -> String {
        self.path.display().to_string()
    }
}

/// The bytes of the file as libhdf5 sees them.
struct Bytes<'a>(&'a JournaledFile);

impl ReadAt for Bytes<'_> {
    fn len(&self) -> Result<u64> {
        self.0.state().len()
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> Result<()> {
        let mut state = self.0.state();
        if offset.checked_add(buffer.len() as u64).is_none_or(|stop| state.len().is_ok_and(|len| stop > len))
        {
            return Err(Error::truncated(format!(
                "{} bytes at {offset}: the file ends before",
                buffer.len()
            )));
        }
        let (before, superblock) = (state.position, state.superblock.take());
        state.position = offset;
        let filled = state.fill(buffer);
        (state.position, state.superblock) = (before, superblock);
        filled
    }
}

impl State {
    fn len(&self) -> Result<u64> {
        match &self.access {
            Access::Closed => Ok(0),
            Access::Read { snapshot, .. } => snapshot.len(),
            Access::Write { writer, .. } => Ok(writer.len()),
        }
    }

    fn fill(&mut self, bytes: &mut [u8]) -> Result<()> {
        let at = self.position;
        let is_probe = bytes.len() == SIGNATURE_BYTES
            && self.superblock.is_some_and(|superblock| at == 0 || at == superblock);
        match &self.access {
            Access::Closed => return Err(Error::invalid("the file is closed")),
            _ if is_probe => bytes.fill(0),
            Access::Write { writer, .. } => writer.read_at(bytes, at)?,
            Access::Read { snapshot, .. } => {
                let there = usize::try_from(snapshot.len()?.saturating_sub(at)).unwrap_or(usize::MAX);
                let (front, back) = bytes.split_at_mut(there.min(bytes.len()));
                snapshot.read_exact_at(front, at)?;
                back.fill(0);
            }
        }
        self.position += bytes.len() as u64;
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let at = self.position;
        let Access::Write { writer, .. } = &mut self.access else {
            return Err(Error::invalid("the file is not open for writing"));
        };
        writer.write_at(bytes, at)?;
        self.position += bytes.len() as u64;
        Ok(())
    }
}
