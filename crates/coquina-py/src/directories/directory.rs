//! A directory of frames as Python holds it.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use coquina::table::{DirectoryOptions, Node, NodeKind, TableDirectory as Directory};
use coquina::{Error, ErrorKind, JsonText, Result as EngineResult};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};

use super::attributes::{self, Text};
use crate::arrays::ArrayHandle;
use crate::errors::Raised;

/// Who waits looks after signals so often.
const EVERY: Duration = Duration::from_millis(50);

/// A directory of frames that is open. Each change is a commit, or part of one.
#[pyclass(frozen, subclass, module = "coquina._core")]
pub(super) struct TableDirectory(Arc<Directory>);

impl TableDirectory {
    /// Begins a change; Ctrl-C ends the waiting for other threads.
    fn begin_change(&self, py: Python<'_>) -> Result<(), Raised> {
        let mut is_begun = self.0.begin_within(Duration::ZERO)?;
        while !is_begun {
            py.check_signals()?;
            is_begun = py.detach(|| self.0.begin_within(EVERY))?;
        }
        Ok(())
    }

    /// Makes what `work` does a commit, or part of one.
    fn change(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&Directory) -> EngineResult<()> + Send,
    ) -> Result<(), Raised> {
        self.begin_change(py)?;
        let work = || {
            let done = work(&self.0);
            let ended = self.0.end(done.is_ok());
            done.and(ended)
        };
        Ok(py.detach(work)?)
    }

    /// What is at a path. Raises KeyError if nothing is.
    fn node(&self, path: &Text) -> Result<Arc<Node>, Raised> {
        self.0.node(path.0.as_bytes()).ok_or_else(|| PyKeyError::new_err(path.0.to_string()).into())
    }

    fn array_at(&self, py: Python<'_>, path: &Text) -> Result<ArrayHandle, Raised> {
        let found = py.detach(|| self.0.array(path.0.as_bytes()))?;
        let number = self.node(path)?.file_name();
        let (Some(array), Some(name)) = (found, number) else {
            return Err(PyKeyError::new_err(path.0.to_string()).into());
        };
        Ok(ArrayHandle::shared(array, self.0.path().join(name)))
    }
}

fn texts<'py>(py: Python<'py>, texts: &[JsonText]) -> PyResult<Bound<'py, PyList>> {
    let texts: Vec<_> = texts.iter().map(|text| attributes::text(py, text)).collect::<PyResult<_>>()?;
    PyList::new(py, texts)
}

#[pymethods]
impl TableDirectory {
    /// Makes an empty directory for `mode` "x", else opens one: "r" for reading. One that is open for writing in this process
    /// is opened for writing once more. It waits for so many seconds if another process writes.
    #[new]
    #[pyo3(signature = (path, mode="r", /, *, durable=false, wait=0.0, damaged=false))]
    fn new(
        py: Python<'_>,
        path: PathBuf,
        mode: &str,
        durable: bool,
        wait: f64,
        damaged: bool,
    ) -> Result<Self, Raised> {
        if mode == "x" {
            return Ok(Self(py.detach(|| Directory::make(&path, durable))?));
        }
        let writable = mode != "r";
        let wait = Duration::try_from_secs_f64(wait.max(0.0)).unwrap_or(Duration::MAX);
        let options = DirectoryOptions { writable, durable, wait, damaged };
        let mut raised = None;
        let opened = py.detach(|| {
            Directory::open_watched(&path, options, &mut || {
                raised = Python::attach(|py| py.check_signals()).err();
                if raised.is_some() { Err(Error::cancelled()) } else { Ok(()) }
            })
        });
        match (opened, raised) {
            (Err(error), Some(raised)) if error.kind() == ErrorKind::Cancelled => Err(raised.into()),
            (opened, _) => Ok(Self(opened?)),
        }
    }

    /// The same directory once more: it is open as long as one of both is.
    fn shared(&self) -> Self {
        Self(Arc::clone(&self.0))
    }

    /// A number that no other directory has that is open; who open one for writing have the same.
    #[getter]
    fn id(&self) -> u64 {
        self.0.id()
    }

    #[getter]
    fn path(&self) -> OsString {
        self.0.path().as_os_str().to_owned()
    }

    #[getter]
    fn is_writable(&self) -> bool {
        self.0.is_writable()
    }

    #[getter]
    fn durable(&self) -> bool {
        self.0.is_durable()
    }

    /// The number of the commit that is shown.
    #[getter]
    fn generation(&self) -> u64 {
        self.0.generation()
    }

    /// Whether nothing more can be written, because of a commit that has failed.
    #[getter]
    fn is_broken(&self) -> bool {
        self.0.is_broken()
    }

    /// Whether what this thread writes now is part of a commit to come.
    #[getter]
    fn is_changing(&self) -> bool {
        self.0.is_changing()
    }

    /// A context in which all changes are one commit, and which an exception undoes; those within it are part of it.
    /// `undone` is called after changes have been undone.
    #[pyo3(signature = (undone, /))]
    fn committing(slf: Py<Self>, undone: Py<PyAny>) -> DirectoryTransaction {
        DirectoryTransaction { directory: slf, undone }
    }

    /// Whether there is a newer commit than the one that is shown.
    fn is_outdated(&self, py: Python<'_>) -> Result<bool, Raised> {
        Ok(py.detach(|| self.0.is_outdated())?)
    }

    /// Goes to the newest commit; returns whether there is one.
    fn refresh(&self, py: Python<'_>) -> Result<bool, Raised> {
        Ok(py.detach(|| self.0.refresh())?)
    }

    /// Gives unused room back.
    fn compact(&self, py: Python<'_>) -> Result<(), Raised> {
        Ok(py.detach(|| self.0.compact())?)
    }

    /// Commits, and lets go of the directory, unless others have it open too.
    fn close(&self, py: Python<'_>) -> Result<(), Raised> {
        Ok(py.detach(|| self.0.close())?)
    }

    /// The paths of all that there is.
    fn paths<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyList>, Raised> {
        Ok(texts(py, &self.0.paths())?)
    }

    /// The names right below a path.
    #[pyo3(signature = (path))]
    fn names<'py>(&self, py: Python<'py>, path: Text) -> Result<Bound<'py, PyList>, Raised> {
        Ok(texts(py, &self.0.child_names(path.0.as_bytes()))?)
    }

    /// What there is at a path: "array", "texts" or "group"; `None` for nothing.
    #[pyo3(signature = (path))]
    fn kind(&self, path: Text) -> Option<&'static str> {
        self.0.node(path.0.as_bytes()).map(|node| match node.kind() {
            NodeKind::Group => "group",
            NodeKind::Array => "array",
            NodeKind::Texts => "texts",
        })
    }

    /// The number of the array at a path; `None` if there is none.
    #[pyo3(signature = (path, /))]
    fn number(&self, path: Text) -> Option<u64> {
        self.0.node(path.0.as_bytes())?.number()
    }

    /// The array at a path. Raises KeyError if there is none, CorruptError if its file holds another one.
    #[pyo3(signature = (path, /))]
    fn handle(&self, py: Python<'_>, path: Text) -> Result<ArrayHandle, Raised> {
        self.array_at(py, &path)
    }

    /// A number for a new array, and its file.
    fn new_array(&self) -> Result<(u64, OsString), Raised> {
        let new = self.0.new_array()?;
        Ok((new.number, new.file.into_os_string()))
    }

    /// Puts an array at a path that was made in the file of this number. `members` is a JSON object.
    #[pyo3(signature = (path, number, handle, members=None, /))]
    fn add_array(
        &self,
        py: Python<'_>,
        path: Text,
        number: u64,
        handle: &Bound<'_, ArrayHandle>,
        members: Option<&[u8]>,
    ) -> Result<(), Raised> {
        let members = members.map(attributes::read_object).transpose()?;
        let array = Arc::clone(&handle.get().array);
        self.change(py, |directory| directory.add_array(&path.0, number, array, members))
    }

    /// The names of the numbers of the array at a path; `None` if they have none.
    #[pyo3(signature = (path))]
    fn members<'py>(&self, py: Python<'py>, path: Text) -> Result<Option<Bound<'py, PyDict>>, Raised> {
        let node = self.node(&path)?;
        Ok(node.members().map(|members| attributes::object(py, members)).transpose()?)
    }

    /// The texts at a path.
    #[pyo3(signature = (path, /))]
    fn text_list<'py>(&self, py: Python<'py>, path: Text) -> Result<Bound<'py, PyAny>, Raised> {
        let node = self.node(&path)?;
        let list = node.list().ok_or_else(|| PyKeyError::new_err(path.0.to_string()))?;
        let list: Vec<_> = list.iter().map(|text| attributes::value(py, text)).collect::<PyResult<_>>()?;
        Ok(PyList::new(py, list)?.into_any())
    }

    /// How many texts there are at a path.
    #[pyo3(signature = (path))]
    fn texts_count(&self, path: Text) -> Result<usize, Raised> {
        let node = self.node(&path)?;
        Ok(node.list().ok_or_else(|| PyKeyError::new_err(path.0.to_string()))?.len())
    }

    /// Puts a list of texts at a path; attributes stay.
    #[pyo3(signature = (path, texts, /))]
    fn put_text_list(&self, py: Python<'_>, path: Text, texts: Vec<Text>) -> Result<(), Raised> {
        let texts = texts.into_iter().map(|text| text.0).collect();
        self.change(py, |directory| directory.put_texts(&path.0, texts))
    }

    /// Puts a group without attributes at a path.
    #[pyo3(signature = (path))]
    fn create_group(&self, py: Python<'_>, path: Text) -> Result<(), Raised> {
        self.change(py, |directory| directory.put_group(&path.0))
    }

    /// Removes what is at a path and below.
    #[pyo3(signature = (path))]
    fn remove(&self, py: Python<'_>, path: Text) -> Result<(), Raised> {
        self.change(py, |directory| directory.remove_below(path.0.as_bytes()))
    }

    /// Gives what is at a path and below another path.
    #[pyo3(name = "move", signature = (old, new))]
    fn move_to(&self, py: Python<'_>, old: Text, new: Text) -> Result<(), Raised> {
        self.change(py, |directory| directory.move_to(old.0.as_bytes(), new.0.as_bytes()))
    }

    /// An attribute of what is at a path. Raises KeyError if there is none.
    #[pyo3(signature = (path, name, /))]
    fn attribute<'py>(&self, py: Python<'py>, path: Text, name: Text) -> Result<Bound<'py, PyAny>, Raised> {
        let node = self.node(&path)?;
        match node.attributes().and_then(|known| known.get(name.0.as_bytes())) {
            Some(value) => Ok(attributes::value(py, value)?),
            None => Err(PyKeyError::new_err(name.0.to_string()).into()),
        }
    }

    /// The names of the attributes of what is at a path.
    #[pyo3(signature = (path, /))]
    fn attribute_names<'py>(&self, py: Python<'py>, path: Text) -> Result<Vec<Bound<'py, PyString>>, Raised> {
        let node = self.node(&path)?;
        let names = node.attributes().into_iter().flat_map(|known| known.iter());
        Ok(names.map(|(name, _)| attributes::text(py, name)).collect::<PyResult<_>>()?)
    }

    /// Sets the attributes that a JSON object has, of what is at a path.
    #[pyo3(signature = (path, attributes, /))]
    fn set_attributes(&self, py: Python<'_>, path: Text, attributes: &[u8]) -> Result<(), Raised> {
        self.node(&path)?;
        let new = attributes::read_object(attributes)?;
        self.change(py, |directory| {
            directory.change_attributes(path.0.as_bytes(), |known| {
                new.into_iter().for_each(|(name, value)| known.set(name, value));
            })
        })
    }

    /// Removes an attribute of what is at a path. Raises KeyError if there is none.
    #[pyo3(signature = (path, name, /))]
    fn remove_attribute(&self, py: Python<'_>, path: Text, name: Text) -> Result<(), Raised> {
        let node = self.node(&path)?;
        if node.attributes().is_none_or(|known| known.get(name.0.as_bytes()).is_none()) {
            return Err(PyKeyError::new_err(name.0.to_string()).into());
        }
        self.change(py, |directory| {
            directory.change_attributes(path.0.as_bytes(), |known| drop(known.remove(name.0.as_bytes())))
        })
    }
}

/// A context in which all changes of a directory are one commit. It begins and ends without Python code, so that an
/// interrupt comes before or after.
#[pyclass(frozen, module = "coquina._core")]
pub(super) struct DirectoryTransaction {
    directory: Py<TableDirectory>,
    undone: Py<PyAny>,
}

#[pymethods]
impl DirectoryTransaction {
    fn __enter__(&self, py: Python<'_>) -> Result<(), Raised> {
        self.directory.get().begin_change(py)
    }

    #[pyo3(signature = (kind, _value, _traceback, /))]
    fn __exit__(
        &self,
        py: Python<'_>,
        kind: &Bound<'_, PyAny>,
        _value: &Bound<'_, PyAny>,
        _traceback: &Bound<'_, PyAny>,
    ) -> Result<(), Raised> {
        let (directory, is_good) = (&self.directory.get().0, kind.is_none());
        let ended = py.detach(|| directory.end(is_good));
        if (!is_good || ended.is_err()) && !directory.is_changing() {
            self.undone.call0(py)?;
        }
        Ok(ended?)
    }
}
