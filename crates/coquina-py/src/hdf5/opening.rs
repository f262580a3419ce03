//! Opens a dataset of h5py's as an array of the engine.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, Weak};

use coquina::array::Array;
use coquina::hdf5::Slot;
use coquina::store::ChunkAccess;
use coquina::store::hdf5::{Hdf5Spec, Library, Seconds, TerminatedField};
use coquina::{Error, Limits, ReadAt, Result};
use pyo3::prelude::*;

use super::filters::{Encoding, Zone, zone_fields};
use super::library::Hdf5Library;
use crate::arrays::ArrayHandle;
use crate::errors::Raised;
use crate::remote;
use crate::tuples::tuple_struct;

pub(super) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(open_dataset, module)?)
}

fn access_of(name: &str) -> Result<ChunkAccess> {
    let known = [ChunkAccess::Direct, ChunkAccess::Fetched, ChunkAccess::Whole];
    let access = known.into_iter().find(|access| access.name() == name);
    access.ok_or_else(|| Error::invalid(format!("access {name:?}: takes direct, fetched or whole")))
}

/// The numbers that tell a file from all others.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct FileId {
    device: u64,
    inode: u64,
}

/// The files that are open: however many datasets of one are open, it is opened once.
static OPEN: Mutex<BTreeMap<FileId, Weak<File>>> = Mutex::new(BTreeMap::new());

/// The file at `path`, which may be open already.
fn shared_descriptor(path: &Path, expected: FileId) -> Result<Arc<File>> {
    // Not to be waited for: in a forked child whoever holds it may not exist.
    let Ok(mut open) = OPEN.try_lock() else { return own_descriptor(path, expected).map(Arc::new) };
    if let Some(file) = open.get(&expected).and_then(Weak::upgrade) {
        return Ok(file);
    }
    let file = Arc::new(own_descriptor(path, expected)?);
    open.retain(|_, file| file.strong_count() > 0);
    open.insert(expected, Arc::downgrade(&file));
    Ok(file)
}

/// The file at `path`, if it is the one that is expected. HDF5's own descriptor is not shared:
/// it holds HDF5's lock on the file, which a second one to the same open file would keep after HDF5 closed it.
fn own_descriptor(path: &Path, expected: FileId) -> Result<File> {
    let open = || {
        let file = File::open(path)?;
        let found = identity(&file)?;
        if found == expected {
            return Ok(file);
        }
        Err(io::Error::other("not the file that HDF5 has open: it was renamed or replaced"))
    };
    open().map_err(|error| Error::from(error).at(path.display().to_string()))
}

#[cfg(unix)]
fn identity(file: &File) -> io::Result<FileId> {
    use std::os::unix::fs::MetadataExt;
    let metadata = file.metadata()?;
    Ok(FileId { device: metadata.dev(), inode: metadata.ino() })
}

#[cfg(not(unix))]
fn identity(_file: &File) -> io::Result<FileId> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "files have no number here that tells them apart"))
}

fn seconds_of(order: &str) -> Result<Seconds> {
    match order {
        "little" => Ok(Seconds::Little),
        "big" => Ok(Seconds::Big),
        _ => Err(Error::invalid(format!("seconds {order:?}: takes little or big"))),
    }
}

tuple_struct! {
    /// Strings in every item that end at their first NUL.
    struct Terminated {
        offset: usize,
        size: usize,
        count: usize,
    }
}

impl From<Terminated> for TerminatedField {
    fn from(Terminated { offset, size, count }: Terminated) -> Self {
        Self { offset, size, count }
    }
}

tuple_struct! {
    /// A filter with its name, as h5py gives it.
    struct NamedFilter {
        id: u16,
        _name: String,
        is_optional: bool,
        values: Vec<u32>,
    }
}

impl From<NamedFilter> for Slot {
    fn from(NamedFilter { id, is_optional, values, .. }: NamedFilter) -> Self {
        Self { id, is_optional, values }
    }
}

/// What Python code knows of a dataset: attributes of `Facts` in `python/coquina/hdf5/describing.py`.
#[derive(FromPyObject)]
struct Facts<'py> {
    shape: Vec<u64>,
    chunks: Vec<u64>,
    rank: usize,
    dtype_text: String,
    itemsize: usize,
    fill: Vec<u8>,
    filters: Vec<NamedFilter>,
    is_writable: bool,
    place: Option<PathBuf>,
    path: Option<PathBuf>,
    device: Option<u64>,
    inode: Option<u64>,
    header: Option<u64>,
    contiguous: Option<u64>,
    remote: Option<Bound<'py, PyAny>>,
    checksums: bool,
    terminated: Vec<Terminated>,
    seconds: Option<String>,
    encoding: Option<Encoding<'py>>,
}

impl Facts<'_> {
    /// What the bytes of the file are read from, past libhdf5: a file that is far away, or the one at the path.
    fn source(&self, py: Python<'_>) -> Result<Arc<dyn ReadAt>, Raised> {
        if let Some(reader) = &self.remote {
            return Ok(Arc::new(remote::far(reader)?));
        }
        let (Some(path), Some(device), Some(inode)) = (&self.path, self.device, self.inode) else {
            return Err(Error::invalid("access direct: needs the path, device and inode of the file").into());
        };
        Ok(py.detach(|| shared_descriptor(path, FileId { device, inode }))?)
    }
}

/// Opens a dataset of which `facts` are known. With access "direct" the bytes that its `remote`, a `RangeReader`, gives are
/// read besides, or the file at its path, if it has its numbers of device and inode; `OSError` if not. Chunks that are
/// written get a zone map of `zones`.
#[pyfunction]
#[pyo3(signature = (library, facts, /, *, access, blocks=None, zones=Vec::new()))]
fn open_dataset(
    py: Python<'_>,
    library: &Bound<'_, Hdf5Library>,
    facts: Facts<'_>,
    access: &str,
    blocks: Option<Vec<u64>>,
    zones: Vec<Zone>,
) -> Result<ArrayHandle, Raised> {
    let access = access_of(access)?;
    let is_direct = access == ChunkAccess::Direct;
    let spec = Hdf5Spec {
        source: if is_direct { Some(facts.source(py)?) } else { None },
        shape: facts.shape,
        chunks: facts.chunks,
        blocks,
        place: facts.place,
        rank: facts.rank,
        dtype: facts.dtype_text,
        typesize: facts.itemsize,
        fill: facts.fill,
        slots: facts.filters.into_iter().map(Slot::from).collect(),
        encoding: facts.encoding.map(Encoding::resolve).transpose()?,
        zones: zone_fields(zones)?,
        checksums: facts.checksums,
        terminated: facts.terminated.into_iter().map(TerminatedField::from).collect(),
        seconds: facts.seconds.as_deref().map(seconds_of).transpose()?,
        chunk_access: access,
        writable: facts.is_writable,
        library: Arc::clone(&library.get().dataset) as Arc<dyn Library>,
        header: facts.header.filter(|_| is_direct),
        contiguous: facts.contiguous.filter(|_| is_direct),
    };
    let array = py.detach(|| Array::open_hdf5(spec, Limits::default()))?;
    // Whatever the access is, h5py may have to be asked, which needs the GIL.
    let handle = ArrayHandle::new(array, facts.path.filter(|_| is_direct)).of_python();
    Ok(match facts.remote.filter(|_| is_direct) {
        Some(reader) => handle.of_reader(&reader),
        None => handle,
    })
}
