//! The common keys of `a[key]`: integers, slices and an ellipsis, alone or in a tuple.
//!
//! In: a key, and the shape. Out: what it selects, and the shape of the result; nothing for any other key, and for
//! wrong ones, which Python code then looks at: there NumPy is asked what it says of them.

use coquina::array::AxisSelection;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyEllipsis, PyInt, PySlice, PyTuple, PyType};

/// What a common key selects.
pub(crate) struct Basic {
    pub(crate) axes: Vec<Option<AxisSelection>>,
    /// The axes of the result: those that have no integer.
    pub(crate) shape: Vec<isize>,
    /// The result is an element, and not an array without axes.
    pub(crate) is_element: bool,
}

enum Part<'a, 'py> {
    Index(i64),
    Slice(&'a Bound<'py, PySlice>),
    Ellipsis,
}

/// Of Python's integers only the exact type: a `bool` is an `int` too, but means a mask.
fn part<'a, 'py>(item: &'a Bound<'py, PyAny>) -> Option<Part<'a, 'py>> {
    if item.is_exact_instance_of::<PyInt>() {
        item.extract().ok().map(Part::Index)
    } else if let Ok(slice) = item.cast_exact::<PySlice>() {
        Some(Part::Slice(slice))
    } else if item.is_exact_instance_of::<PyEllipsis>() {
        Some(Part::Ellipsis)
    } else if is_numpy_integer(item) {
        item.extract().ok().map(Part::Index)
    } else {
        None
    }
}

/// NumPy's integers are as common as Python's: loops over index arrays give them.
fn is_numpy_integer(item: &Bound<'_, PyAny>) -> bool {
    static INTEGER: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let integer = INTEGER.import(item.py(), "numpy", "integer");
    integer.and_then(|integer| item.is_instance(integer)).unwrap_or(false)
}

/// What `key` selects of an array of this shape; `None` if it is no common key, or a wrong one.
pub(crate) fn basic(key: &Bound<'_, PyAny>, shape: &[u64]) -> Option<Basic> {
    if let Ok(tuple) = key.cast_exact::<PyTuple>() {
        let items: Vec<_> = tuple.iter().collect();
        return select(&items.iter().map(part).collect::<Option<Vec<_>>>()?, shape);
    }
    select(&[part(key)?], shape)
}

fn select(parts: &[Part<'_, '_>], shape: &[u64]) -> Option<Basic> {
    let ellipses = parts.iter().filter(|part| matches!(part, Part::Ellipsis)).count();
    let ndim = shape.len();
    let unnamed = ndim.checked_sub(parts.len() - ellipses).filter(|_| ellipses <= 1)?;
    let mut basic =
        Basic { axes: Vec::with_capacity(ndim), shape: Vec::with_capacity(ndim), is_element: false };
    for part in parts {
        let axis = basic.axes.len();
        match *part {
            Part::Index(index) => basic.index(index, shape[axis])?,
            Part::Slice(slice) => basic.slice(slice, shape[axis])?,
            Part::Ellipsis => basic.whole(&shape[axis..axis + unnamed])?,
        }
    }
    if ellipses == 0 {
        basic.whole(&shape[ndim - unnamed..])?;
    }
    basic.is_element = basic.shape.is_empty() && ellipses == 0;
    Some(basic)
}

impl Basic {
    fn index(&mut self, given: i64, size: u64) -> Option<()> {
        let start = if given < 0 { size.checked_add_signed(given) } else { u64::try_from(given).ok() };
        let start = start.filter(|&start| start < size)?;
        self.axes.push(Some(AxisSelection::Range { start, step: 1, len: 1 }));
        Some(())
    }

    fn slice(&mut self, slice: &Bound<'_, PySlice>, size: u64) -> Option<()> {
        let found = slice.indices(isize::try_from(size).ok()?).ok()?;
        // An empty range starts nowhere in particular, perhaps behind the end.
        let range = match u64::try_from(found.start) {
            Ok(start) if found.slicelength > 0 => {
                AxisSelection::Range { start, step: found.step as i64, len: found.slicelength as u64 }
            }
            _ => AxisSelection::Range { start: 0, step: 1, len: 0 },
        };
        self.shape.push(isize::try_from(range.len()).ok()?);
        self.axes.push(Some(range));
        Some(())
    }

    fn whole(&mut self, sizes: &[u64]) -> Option<()> {
        for &len in sizes {
            self.shape.push(isize::try_from(len).ok()?);
            self.axes.push(Some(AxisSelection::Range { start: 0, step: 1, len }));
        }
        Some(())
    }

    /// Bytes of the result, if they can be counted.
    pub(crate) fn bytes(&self, item_bytes: usize) -> Option<usize> {
        let mut lengths = self.shape.iter().map(|n| n.unsigned_abs());
        lengths.try_fold(item_bytes, usize::checked_mul)
    }

    /// Whether all of it lies in one block of a grid of chunks and blocks.
    pub(crate) fn is_in_one_block(&self, chunks: &[u64], blocks: &[u64]) -> bool {
        self.axes.iter().zip(chunks.iter().zip(blocks)).all(|(axis, (&chunk, &block))| {
            let Some(AxisSelection::Range { start, step, len }) = *axis else { return false };
            if len == 1 {
                return true;
            }
            let Some(way) = i64::try_from(len).ok().and_then(|len| (len - 1).checked_mul(step)) else {
                return len == 0;
            };
            let Some(last) = start.checked_add_signed(way) else { return false };
            let place = |index: u64| (index / chunk.max(1), index % chunk.max(1) / block.max(1));
            place(start) == place(last)
        })
    }
}
