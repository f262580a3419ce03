//! Boxes of items, read and written by h5py with all that libhdf5 can: any layout, filter and driver.
//!
//! In: an h5py dataset and its `DatasetID`, start and shape of a box. The items go over as they lie in the file: the
//! datatype in memory is that of the file, so nothing is converted, unless the dataset says otherwise (`memory_type`).

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::buffers::Items;
use crate::errors::UnsupportedError;

/// h5py reads into arrays of its callers, so bytes go through one, which must not be as large as the result.
const PART_BYTES: u64 = 32 << 20;

/// First indices and lengths along the axes of a dataset and, behind them, those of items that are arrays.
#[derive(Clone, Copy)]
pub(super) struct Region<'a> {
    pub(super) start: &'a [u64],
    pub(super) shape: &'a [u64],
}

/// A dataset to be read or written in boxes.
pub(super) struct Boxes<'a, 'py> {
    id: &'a Bound<'py, PyAny>,
    datatype: Bound<'py, PyAny>,
    item_bytes: u64,
    chunks: Vec<u64>,
}

/// Whether items of a datatype hold addresses in memory.
fn has_addresses(datatype: &Bound<'_, PyAny>) -> PyResult<bool> {
    match datatype.getattr("dtype") {
        Ok(dtype) => dtype.getattr("hasobject")?.extract(),
        // NumPy has no dtype for times. Strings may be of variable length; whoever is in doubt refuses.
        Err(_) => {
            let classes = datatype.py().import("h5py.h5t")?;
            for class in ["VLEN", "REFERENCE", "STRING"] {
                if datatype.call_method1("detect_class", (classes.getattr(class)?,))?.extract()? {
                    return Ok(true);
                }
            }
            Ok(false)
        }
    }
}

/// What is done with a part of a box: an array with room for its bytes, the part, how many bytes.
type Visit<'a, 'py> = dyn FnMut(&Bound<'py, PyAny>, Region<'_>, usize) -> PyResult<()> + 'a;

impl<'a, 'py> Boxes<'a, 'py> {
    /// `id` and `datatype` are the `DatasetID` of the dataset, and the `TypeID` of items in memory.
    pub(super) fn of(
        dataset: &Bound<'py, PyAny>,
        id: &'a Bound<'py, PyAny>,
        datatype: &Bound<'py, PyAny>,
    ) -> PyResult<Self> {
        if has_addresses(datatype)? {
            // In memory such items are addresses of what libhdf5 allocates, for who knows to free it.
            let sentence = "items of variable length, and references, are not plain bytes";
            return Err(UnsupportedError::new_err(sentence));
        }
        let item_bytes = datatype.call_method0("get_size")?.extract()?;
        let chunks: Option<Vec<u64>> = dataset.getattr("chunks")?.extract()?;
        Ok(Self { id, datatype: datatype.clone(), item_bytes, chunks: chunks.unwrap_or_default() })
    }

    /// Fills `out` with the items of a box, in C order.
    pub(super) fn read(&self, region: Region<'_>, out: &mut [u8]) -> PyResult<()> {
        let mut left = out;
        self.each_part(region, left.len(), &mut |array, part, bytes| {
            self.call("read", array, part)?;
            let (front, rest) = std::mem::take(&mut left).split_at_mut(bytes);
            front.copy_from_slice(&Items::of(array)?.bytes()[..bytes]);
            left = rest;
            Ok(())
        })
    }

    /// Writes the items of a box.
    pub(super) fn write(&self, region: Region<'_>, items: &[u8]) -> PyResult<()> {
        let mut left = items;
        self.each_part(region, left.len(), &mut |array, part, bytes| {
            let (front, rest) = left.split_at(bytes);
            Items::writable(array)?.bytes_mut()[..bytes].copy_from_slice(front);
            left = rest;
            self.call("write", array, part)
        })
    }

    /// Visits the parts of a box, which follow each other in C order.
    fn each_part(&self, region: Region<'_>, len: usize, visit: &mut Visit<'_, 'py>) -> PyResult<()> {
        let py = self.id.py();
        let rank: usize = self.id.getattr("rank")?.extract()?;
        let Region { start, shape } = region;
        let (Some(start), Some(shape)) = (start.get(..rank), shape.get(..rank)) else {
            return Err(PyValueError::new_err(format!(
                "a box of {} axes, the dataset has {rank}",
                shape.len()
            )));
        };
        if self.bytes(shape) != Some(len as u64) {
            let item_bytes = self.item_bytes;
            let sentence = format!("{len} bytes for a box of {shape:?} items of {item_bytes} bytes");
            return Err(PyValueError::new_err(sentence));
        }
        if len == 0 {
            return Ok(());
        }
        let room = (len as u64).min(PART_BYTES.max(self.item_bytes));
        let array = py.import("numpy")?.call_method1("empty", (room, "u1"))?;
        self.split(Region { start, shape }, &mut |part| {
            let bytes = self.bytes(part.shape).and_then(|bytes| usize::try_from(bytes).ok());
            visit(&array, part, bytes.unwrap_or(usize::MAX))
        })
    }

    fn bytes(&self, shape: &[u64]) -> Option<u64> {
        shape.iter().try_fold(self.item_bytes, |bytes, &len| bytes.checked_mul(len))
    }

    /// Halves a box along its first axis until it is small enough, at a chunk's border if there is one.
    fn split(&self, region: Region<'_>, visit: &mut dyn FnMut(Region<'_>) -> PyResult<()>) -> PyResult<()> {
        let Region { start, shape } = region;
        let axis = shape.iter().position(|&len| len > 1);
        let (Some(axis), false) = (axis, self.bytes(shape).is_some_and(|bytes| bytes <= PART_BYTES)) else {
            return visit(region);
        };
        let (first, len) = (start[axis], shape[axis]);
        let chunk = self.chunks.get(axis).map_or(1, |&chunk| chunk.max(1));
        let border = (first + len.div_ceil(2)) / chunk * chunk;
        let cut = if border > first { border - first } else { len.div_ceil(2) };
        let (mut starts, mut lens) = (start.to_vec(), shape.to_vec());
        lens[axis] = cut;
        self.split(Region { start: &starts, shape: &lens }, visit)?;
        starts[axis] = first + cut;
        lens[axis] = len - cut;
        self.split(Region { start: &starts, shape: &lens }, visit)
    }

    fn call(&self, method: &str, array: &Bound<'py, PyAny>, region: Region<'_>) -> PyResult<()> {
        let Region { start, shape } = region;
        let py = self.id.py();
        let file = self.id.call_method0("get_space")?;
        let memory = if shape.is_empty() {
            // A dataset of one item has nothing to be chosen.
            file.clone()
        } else {
            let shape = PyTuple::new(py, shape)?;
            file.call_method1("select_hyperslab", (PyTuple::new(py, start)?, &shape))?;
            py.import("h5py.h5s")?.call_method1("create_simple", (shape,))?
        };
        let done = self.id.call_method1(method, (memory, file, array, &self.datatype));
        done.map(drop).map_err(|error| self.missing_filter().unwrap_or(error))
    }

    /// What to say of a call that failed, if libhdf5 lacks a filter of the dataset: itself it speaks of plugins that
    /// it looked for.
    fn missing_filter(&self) -> Option<PyErr> {
        let plist = self.id.call_method0("get_create_plist").ok()?;
        let count: usize = plist.call_method0("get_nfilters").ok()?.extract().ok()?;
        let known = self.id.py().import("h5py.h5z").ok()?;
        for at in 0..count {
            let (code, _, _, name): (i64, Bound<'_, PyAny>, Bound<'_, PyAny>, Vec<u8>) =
                plist.call_method1("get_filter", (at,)).ok()?.extract().ok()?;
            if !known.call_method1("filter_avail", (code,)).ok()?.extract::<bool>().ok()? {
                let name = String::from_utf8_lossy(&name);
                let sentence = format!("filter {code} ({name}): neither coquina nor libhdf5 has it here");
                return Some(UnsupportedError::new_err(sentence));
            }
        }
        None
    }
}
