//! A dataset that h5py has open, as the engine wants it: stored chunks by libhdf5's functions, the rest by h5py's.
//!
//! In: an h5py `Dataset`, which is kept alive. Out: a [`Library`]. Every method takes h5py's lock once, for all that
//! it has to do, and first asks whether the dataset is still open.
//! Invariant: what is written gets filter mask 0, whatever stood there.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use coquina::hdf5::ChunkRow;
use coquina::store::hdf5::{Attributes, Library};
use coquina::{Error, Result};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyTuple;

use super::boxes::{Boxes, Region};
use super::storage::Storage;
use super::versions::{DatasetVersion, counted};
use crate::h5py::{self, Failure, Libhdf5, Session, kept};

/// Before this version addresses of chunks did not count the user block in front of the file's own bytes.
const COUNTS_USER_BLOCK: (u32, u32, u32) = (1, 14, 4);

pub(crate) struct Dataset {
    libhdf5: Arc<Libhdf5>,
    /// h5py's `Dataset`.
    object: Py<PyAny>,
    /// Its `DatasetID`.
    id: Py<PyAny>,
    /// The datatype (`TypeID`) of items that are read and written in boxes, once it was asked for.
    datatype: PyOnceLock<Py<PyAny>>,
    name: String,
    /// Once it was asked for: nobody does where chunks are read past libhdf5.
    storage: PyOnceLock<Storage>,
    /// What the addresses that libhdf5 tells lack.
    address_shift: u64,
    /// What reads and writes the attributes that say how chunks are encoded.
    attributes: Option<Py<PyAny>>,
    /// Counts the changes of the dataset, by all of its handles.
    version: Option<DatasetVersion>,
}

/// An exception of h5py's, which comes back to Python as it was.
fn raised(error: PyErr) -> Error {
    io::Error::other(error).into()
}

fn place(start: &[u64]) -> String {
    let numbers: Vec<String> = start.iter().map(u64::to_string).collect();
    format!("chunk at ({})", numbers.join(", "))
}

impl Dataset {
    /// Lends what h5py has open. `raw` chooses the way to libhdf5's functions, with `None` the best there is;
    /// `datatype` is another one for items in boxes than that of the file. h5py is asked for a `name` that is not given.
    pub(crate) fn new(
        object: &Bound<'_, PyAny>,
        raw: Option<bool>,
        datatype: Option<Bound<'_, PyAny>>,
        name: Option<String>,
    ) -> PyResult<Self> {
        let py = object.py();
        let id = object.getattr("id")?;
        if !id.getattr("valid")?.is_truthy()? {
            return Err(PyValueError::new_err(
                "Invalid dataset identifier: the dataset or its file was closed",
            ));
        }
        let libhdf5 = Libhdf5::of(py, id.getattr("id")?.extract()?, raw)?;
        let name = match name {
            Some(name) => Some(name),
            None => object.getattr("name")?.extract()?,
        };
        let address_shift = if libhdf5.version() < COUNTS_USER_BLOCK {
            object.getattr("file")?.getattr("userblock_size")?.extract()?
        } else {
            0
        };
        let memory_type = PyOnceLock::new();
        if let Some(datatype) = datatype {
            let _first = memory_type.set(py, datatype.unbind());
        }
        Ok(Self {
            libhdf5,
            object: object.clone().unbind(),
            id: id.unbind(),
            datatype: memory_type,
            name: name.unwrap_or_else(|| String::from("a dataset without a name")),
            storage: PyOnceLock::new(),
            address_shift,
            attributes: None,
            version: None,
        })
    }

    /// The same, with what reads and writes its attributes.
    pub(crate) fn with_attributes(self, attributes: Option<Py<PyAny>>) -> Self {
        Self { attributes, ..self }
    }

    /// The same, with what counts its changes.
    pub(crate) fn with_version(self, version: Option<DatasetVersion>) -> Self {
        Self { version, ..self }
    }

    /// Calls `call` under h5py's lock with the dataset and what reads and writes its attributes, if there is something.
    pub(super) fn with_attributes_of<T>(
        &self,
        call: impl FnOnce(&Bound<'_, PyAny>, &Bound<'_, PyAny>) -> PyResult<T>,
    ) -> Result<Option<T>> {
        let Some(attributes) = &self.attributes else { return Ok(None) };
        self.with_h5py(|id| call(attributes.bind(id.py()), self.object.bind(id.py()))).map(Some)
    }

    pub(crate) fn object<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        self.object.bind(py).clone()
    }

    pub(crate) fn is_raw(&self) -> bool {
        self.libhdf5.is_raw()
    }

    /// Whether chunks that the edge cuts go through the filters; `None` if nobody can tell.
    pub(crate) fn filters_partial_edges(&self) -> Result<Option<bool>> {
        let session = self.session()?;
        let properties = |id: &Bound<'_, PyAny>| {
            let list = id.call_method0("get_create_plist")?;
            Ok(session.filters_partial_edges(list.getattr("id")?.extract()?))
        };
        self.with_h5py(properties)
    }

    pub(crate) fn session(&self) -> Result<Session<'_>> {
        let session = self.libhdf5.session(&self.id, |py| Ok(self.storage(py)?.rank)).map_err(raised)?;
        session.ok_or_else(|| Error::invalid("the dataset or its file was closed").at(&self.name))
    }

    fn storage(&self, py: Python<'_>) -> PyResult<&Storage> {
        kept(&self.storage, py, || Storage::of(self.object.bind(py)))
    }

    /// The same, with h5py's lock held.
    fn locked_storage(&self) -> Result<&Storage> {
        Python::attach(|py| self.storage(py)).map_err(|error| raised(error).at(&self.name))
    }

    /// Calls h5py under its lock, on a dataset that is open.
    fn with_h5py<T>(&self, call: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>) -> Result<T> {
        let _session = self.session()?;
        Python::attach(|py| call(self.id.bind(py))).map_err(|error| raised(error).at(&self.name))
    }

    fn boxes<'a, 'py>(&self, id: &'a Bound<'py, PyAny>) -> PyResult<Boxes<'a, 'py>> {
        let datatype = kept(&self.datatype, id.py(), || id.call_method0("get_type").map(Bound::unbind))?;
        Boxes::of(self.object.bind(id.py()), id, datatype.bind(id.py()))
    }

    fn failed(&self, failure: Failure, start: &[u64]) -> Error {
        Error::from(failure).at(place(start)).at(&self.name)
    }

    /// That a chunk cannot be read: by the file's fault, unless the system has a number for it, the question made no
    /// sense, or it is not libhdf5 that speaks but what it reads from.
    fn unreadable(&self, failure: Failure, start: &[u64]) -> Error {
        let is_damage = |sentence: &str| {
            let says_so =
                ["can't", "Can't", "unable", "Unable"].iter().any(|word| sentence.starts_with(word));
            says_so && !["errno", "boundary", "not a chunked"].iter().any(|word| sentence.contains(word))
        };
        match failure {
            Failure::Failed { function, sentence } if is_damage(&sentence) => {
                Error::corrupt(format!("{function}: {sentence}")).at(place(start)).at(&self.name)
            }
            failure => self.failed(failure, start),
        }
    }

    /// What a call for the chunk at `start` gave. A failure that the library does not explain in words known here
    /// may mean no more than that nothing is stored; to ask for the chunk's entry is slow, but tells.
    pub(crate) fn found<T>(&self, found: Result<Option<T>, Failure>, start: &[u64]) -> Result<Option<T>> {
        found.or_else(|failure| {
            if matches!(failure, Failure::Refused(_)) {
                return Err(self.failed(failure, start));
            }
            let stored = Python::attach(|py| {
                let start = PyTuple::new(py, start)?;
                let entry = self.id.bind(py).call_method1("get_chunk_info_by_coord", (start,))?;
                entry.getattr("size")?.extract::<u64>()
            });
            if stored.is_ok_and(|bytes| bytes == 0) { Ok(None) } else { Err(self.unreadable(failure, start)) }
        })
    }

    /// What is asked of a chunk. Where a dataset has room for one chunk only, libhdf5 does not find it before it left
    /// the cache of decoded chunks for the first time; to have the chunks counted drives it out.
    pub(crate) fn find<T>(
        &self,
        start: &[u64],
        mut ask: impl FnMut() -> Result<Option<T>, Failure>,
    ) -> Result<Option<T>> {
        let found = self.found(ask(), start)?;
        let may_be_lone = start.iter().all(|&at| at == 0);
        if found.is_some() || !may_be_lone || !self.counts_a_lone_chunk()? {
            return Ok(found);
        }
        self.found(ask(), start)
    }

    fn counts_a_lone_chunk(&self) -> Result<bool> {
        self.with_h5py(|id| {
            let shape: Vec<u64> = id.getattr("shape")?.extract()?;
            if shape.iter().zip(&self.storage(id.py())?.chunks).any(|(len, chunk)| len > chunk) {
                return Ok(false);
            }
            Ok(id.call_method0("get_num_chunks")?.extract::<u64>()? > 0)
        })
    }

    pub(crate) fn write(&self, session: &Session<'_>, start: &[u64], bytes: &[u8]) -> Result<()> {
        counted(self.version.as_ref(), || self.write_uncounted(session, start, bytes))
    }

    fn write_uncounted(&self, session: &Session<'_>, start: &[u64], bytes: &[u8]) -> Result<()> {
        let has_filters = self.locked_storage()?.has_filters;
        let write = || {
            let had_mask = has_filters && self.clear_mask(session, start, bytes)?;
            session.write(start, bytes).map(|()| had_mask)
        };
        if write().map_err(|failure| self.failed(failure, start))? {
            // libhdf5 keeps what it last looked up, with the old mask, until it looks for another chunk.
            let _ = session.stored_bytes(&self.other(start)?);
        }
        Ok(())
    }

    /// Whether the chunk at `start` had skipped filters. libhdf5 keeps the filter mask of a chunk that is overwritten
    /// with as many bytes; so such a one is overwritten with one byte more before.
    fn clear_mask(&self, session: &Session<'_>, start: &[u64], bytes: &[u8]) -> Result<bool, Failure> {
        // What cannot be read is not there; if it is another trouble, writing tells.
        match session.read(start).unwrap_or(None) {
            Some((_, 0)) | None => Ok(false),
            Some((stored, _)) if stored.len() == bytes.len() => {
                session.write(start, &[bytes, &[0]].concat()).map(|()| true)
            }
            Some(_) => Ok(true),
        }
    }

    /// Where another chunk begins: one inside of the shape, if there is one. To ask for what is outside does no harm
    /// where there is one chunk only.
    fn other(&self, start: &[u64]) -> Result<Vec<u64>> {
        let shape: Vec<u64> = self.with_h5py(|id| id.getattr("shape")?.extract())?;
        let chunks = &self.locked_storage()?.chunks;
        let axis = shape.iter().zip(chunks).position(|(len, chunk)| len > chunk);
        let mut other = start.to_vec();
        let (axis, is_first) =
            (axis.unwrap_or(0), axis.is_none() || start.get(axis.unwrap_or(0)) == Some(&0));
        if let (Some(at), Some(&chunk)) = (other.get_mut(axis), chunks.get(axis)) {
            *at = if is_first { chunk } else { 0 };
        }
        Ok(other)
    }

    /// The table of chunks, for which one is asked after the other. Each answer takes libhdf5 a walk over all.
    pub(crate) fn table_by_number(&self, each: &mut dyn FnMut(&[u64], ChunkRow) -> Result<()>) -> Result<()> {
        self.in_order(&|each| self.told_by_number(each), each)
    }

    fn told_by_number(&self, each: &mut dyn FnMut(&[u64], ChunkRow) -> Result<()>) -> Result<()> {
        let entry = |number: u64| {
            self.with_h5py(|id| {
                let entry = id.call_method1("get_chunk_info", (number,))?;
                let start: Vec<u64> = entry.getattr("chunk_offset")?.extract()?;
                let address: u64 = entry.getattr("byte_offset")?.extract()?;
                let size = entry.getattr("size")?.extract()?;
                let mask = entry.getattr("filter_mask")?.extract()?;
                Ok((start, ChunkRow { address: address + self.address_shift, size, mask }))
            })
        };
        let _locked = self.session()?;
        let count: u64 = self.with_h5py(|id| id.call_method0("get_num_chunks")?.extract())?;
        for number in 0..count {
            let (start, row) = entry(number)?;
            each(&start, row)?;
        }
        Ok(())
    }

    fn told_by_iterating(&self, each: &mut dyn FnMut(&[u64], ChunkRow) -> Result<()>) -> Result<()> {
        let walked = self.session()?.each_chunk(&mut |start, row| {
            each(start, ChunkRow { address: row.address.saturating_add(self.address_shift), ..row })
        });
        walked.map_err(|error| error.at(&self.name))
    }

    /// Calls `each` with what was told, where it is not so with the coordinates that chunks have.
    fn in_order(&self, tell: Tell<'_>, each: &mut dyn FnMut(&[u64], ChunkRow) -> Result<()>) -> Result<()> {
        let _locked = self.session()?;
        let Some(order) = &self.locked_storage()?.order else { return tell(each) };
        let mut rows: Vec<(Vec<u64>, ChunkRow)> = Vec::new();
        tell(&mut |start, row| {
            rows.push((start.to_vec(), row));
            Ok(())
        })?;
        // To look for one chunk goes by the right order.
        let farthest = order.farthest(rows.iter().map(|(start, _)| start.as_slice()));
        let is_wrong = match farthest {
            Some(start) => !matches!(self.session()?.stored_bytes(start), Ok(Some(_))),
            None => false,
        };
        for (start, row) in rows {
            each(&if is_wrong { order.place(&start) } else { start }, row)?;
        }
        Ok(())
    }
}

/// A way to have libhdf5 tell the rows of all stored chunks.
type Tell<'a> = &'a dyn Fn(&mut dyn FnMut(&[u64], ChunkRow) -> Result<()>) -> Result<()>;

impl Library for Dataset {
    fn wait(&self, wait: &mut dyn FnMut(Option<Duration>) -> bool) -> Result<()> {
        h5py::wait(wait).map_err(|error| raised(error).at(&self.name))
    }

    fn read_chunks(&self, starts: &[Vec<u64>]) -> Result<Vec<Option<(Vec<u8>, u32)>>> {
        let session = self.session()?;
        starts.iter().map(|start| self.find(start, || session.read(start))).collect()
    }

    fn write_chunks(&self, chunks: &[(Vec<u64>, Vec<u8>)]) -> Result<()> {
        let session = self.session()?;
        chunks.iter().try_for_each(|(start, bytes)| self.write(&session, start, bytes))
    }

    fn read_box(&self, start: &[u64], shape: &[u64], out: &mut [u8]) -> Result<()> {
        self.with_h5py(|id| self.boxes(id)?.read(Region { start, shape }, out))
    }

    fn write_box(&self, start: &[u64], shape: &[u64], items: &[u8]) -> Result<()> {
        counted(self.version.as_ref(), || {
            self.with_h5py(|id| self.boxes(id)?.write(Region { start, shape }, items))
        })
    }

    fn set_shape(&self, shape: &[u64]) -> Result<()> {
        let resize = |id: &Bound<'_, PyAny>| {
            let shape = PyTuple::new(id.py(), &shape[..self.storage(id.py())?.rank.min(shape.len())])?;
            id.call_method1("set_extent", (shape,)).map(drop)
        };
        counted(self.version.as_ref(), || self.with_h5py(resize))
    }

    fn version(&self) -> Option<u64> {
        self.version.as_ref()?.get()
    }

    fn shape(&self) -> Result<Option<Vec<u64>>> {
        self.with_h5py(|id| id.getattr("shape")?.extract()).map(Some)
    }

    fn chunk_table(&self, each: &mut dyn FnMut(&[u64], ChunkRow) -> Result<()>) -> Result<()> {
        if !self.libhdf5.iterates() {
            return self.table_by_number(each);
        }
        self.in_order(&|each| self.told_by_iterating(each), each)
    }

    fn flush(&self) -> Result<()> {
        self.with_h5py(|id| id.py().import("h5py.h5f")?.call_method1("flush", (id,)).map(drop))
    }

    fn attributes(&self) -> Option<&dyn Attributes> {
        self.attributes.is_some().then_some(self)
    }
}
