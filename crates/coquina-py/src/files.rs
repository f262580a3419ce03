//! Where packed bytes come from and go to: a path, any buffer, or any Python file object.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use coquina::{Error, Far, Held, ReadAt, Result};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

use crate::buffers::Input;
use crate::errors::Raised;
use crate::remote;

/// The path that a `str` or a path object names; `None` for any other object.
pub(crate) fn path(object: &Bound<'_, PyAny>) -> PyResult<Option<PathBuf>> {
    if object.is_instance_of::<PyString>() || object.hasattr("__fspath__")? {
        return object.extract().map(Some);
    }
    Ok(None)
}

/// Something to read at positions.
pub(crate) enum Readable {
    Path(File),
    Buffer(Input),
    Object(FileObject),
    Far(Far),
}

impl Readable {
    /// What is no path and has a `read` method is a file object; all else must lend a buffer.
    pub(crate) fn of(source: &Bound<'_, PyAny>) -> Result<Self, Raised> {
        if let Some(path) = path(source)? {
            let file = File::open(&path).map_err(|e| Error::from(e).at(path.display().to_string()))?;
            return Ok(Self::Path(file));
        }
        if remote::is_reader(source)? {
            return Ok(Self::Far(remote::far(source)?));
        }
        if source.hasattr("read")? {
            return Ok(Self::Object(FileObject::new(source)));
        }
        Ok(Self::Buffer(Input::of(source)?))
    }
}

impl ReadAt for Readable {
    fn len(&self) -> Result<u64> {
        match self {
            Self::Path(file) => file.len(),
            Self::Buffer(buffer) => Ok(buffer.bytes().len() as u64),
            Self::Object(object) => Ok(object.len()?),
            Self::Far(far) => far.len(),
        }
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> Result<()> {
        match self {
            Self::Path(file) => ReadAt::read_exact_at(file, buffer, offset),
            Self::Buffer(bytes) => bytes.bytes().read_exact_at(buffer, offset),
            Self::Object(object) => object.read_exact_at(buffer, offset),
            Self::Far(far) => far.read_exact_at(buffer, offset),
        }
    }

    fn is_far(&self) -> bool {
        matches!(self, Self::Far(_))
    }

    fn hold(&self, ranges: &[Range<u64>]) -> Result<Held> {
        match self {
            Self::Far(far) => far.hold(ranges),
            _ => Ok(Held::default()),
        }
    }
}

/// A Python file object, opened in binary mode. Its position is its user's again when a job is over.
pub(crate) struct FileObject {
    object: Py<PyAny>,
    /// One thread at a time may move the object's position and read there.
    position: Mutex<()>,
}

impl FileObject {
    pub(crate) fn new(object: &Bound<'_, PyAny>) -> Self {
        Self { object: object.clone().unbind(), position: Mutex::new(()) }
    }

    fn call<T>(&self, call: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>) -> io::Result<T> {
        Python::attach(|py| call(self.object.bind(py))).map_err(io::Error::other)
    }

    fn len(&self) -> io::Result<u64> {
        let _alone = self.position.lock().unwrap_or_else(PoisonError::into_inner);
        self.call(|file| {
            let before: u64 = file.call_method0("tell")?.extract()?;
            let end = file.call_method1("seek", (0, 2))?.extract()?;
            file.call_method1("seek", (before,))?;
            Ok(end)
        })
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> Result<()> {
        let _alone = self.position.lock().unwrap_or_else(PoisonError::into_inner);
        let mut done = 0;
        while done < buffer.len() {
            let left = &mut buffer[done..];
            let read = self.call(|file| {
                file.call_method1("seek", (offset + done as u64,))?;
                let bytes = file.call_method1("read", (left.len(),))?;
                let bytes = bytes.cast::<PyBytes>()?.as_bytes().to_vec();
                Ok(bytes)
            })?;
            let (Some(room), false) = (left.get_mut(..read.len()), read.is_empty()) else {
                return Err(Error::truncated(format!(
                    "{} bytes at {offset}: the file ends before",
                    buffer.len()
                )));
            };
            room.copy_from_slice(&read);
            done += read.len();
        }
        Ok(())
    }
}

impl Write for FileObject {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.call(|file| {
            let written = file.call_method1("write", (PyBytes::new(file.py(), bytes),))?;
            // Some file objects return nothing; they take everything.
            if written.is_none() { Ok(bytes.len()) } else { written.extract() }
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        self.call(|file| if file.hasattr("flush")? { file.call_method0("flush").map(drop) } else { Ok(()) })
    }
}

impl Seek for FileObject {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let (offset, whence) = match to {
            SeekFrom::Start(at) => (i64::try_from(at).map_err(io::Error::other)?, 0),
            SeekFrom::Current(by) => (by, 1),
            SeekFrom::End(by) => (by, 2),
        };
        self.call(|file| file.call_method1("seek", (offset, whence))?.extract())
    }
}
