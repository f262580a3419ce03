//! Bytes that a `RangeReader` of Python fetches, as a source of the engine.
//!
//! In: an object with `size`, `read_ranges` (many ranges, one answer) and `read` (one that nobody foresaw). Out: a
//! source that is far away. Whoever reads takes the GIL for the call and lets go of it while bytes are decoded.

use std::ops::Range;

use coquina::{Far, Piece, Ranges};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;

/// What Python reads.
struct Reader {
    object: Py<PyAny>,
    len: u64,
}

/// The source that a `RangeReader` is.
pub(crate) fn far(reader: &Bound<'_, PyAny>) -> PyResult<Far> {
    let len = reader.getattr("size")?.extract()?;
    Ok(Far::new(Box::new(Reader { object: reader.clone().unbind(), len })))
}

/// Whether an object is a `RangeReader`.
pub(crate) fn is_reader(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    object.hasattr("read_ranges")
}

/// What Python raised comes back to its user as it was.
fn failed(error: PyErr) -> coquina::Error {
    std::io::Error::other(error).into()
}

impl Ranges for Reader {
    fn len(&self) -> u64 {
        self.len
    }

    fn fetch(&self, ranges: &[Range<u64>]) -> coquina::Result<Vec<Piece>> {
        let pieces = Python::attach(|py| {
            let ranges: Vec<_> = ranges.iter().map(|range| (range.start, range.end)).collect();
            let pieces = self.object.bind(py).call_method1("read_ranges", (ranges,))?;
            pieces.extract::<Vec<PyBackedBytes>>()
        });
        let boxed = |piece: PyBackedBytes| -> Piece { Box::new(piece) };
        Ok(pieces.map_err(failed)?.into_iter().map(boxed).collect())
    }

    fn read(&self, range: Range<u64>) -> coquina::Result<Piece> {
        let piece = Python::attach(|py| {
            let piece = self.object.bind(py).call_method1("read", (range.start, range.end))?;
            piece.extract::<PyBackedBytes>().map_err(PyErr::from)
        });
        Ok(Box::new(piece.map_err(failed)?))
    }
}
