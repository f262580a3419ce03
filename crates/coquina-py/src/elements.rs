//! Values with axes of their own in the items of an array: `pos[0]` of each row.

use std::sync::Arc;

use coquina::array::{Array, Bounds, BoxSource, Part, Walk, Window};
use coquina::{Error, Result};
use pyo3::prelude::*;

use crate::arrays::ArrayBase;
use crate::lazy::Lazy;

pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(lazy_elements, module)?)
}

/// The values of a part of the items of an array that have axes of their own: `item_bytes` each.
#[pyfunction]
fn lazy_elements(
    array: &Bound<'_, ArrayBase>,
    offset: usize,
    item_bytes: usize,
    swapped_bytes: usize,
    axes: Vec<u64>,
) -> Lazy {
    let array = array.get().shared_array();
    Lazy::of(Arc::new(Elements { array, offset, item_bytes, swapped_bytes, axes }), true)
}

/// Values with axes of their own in the items of an array.
struct Elements {
    array: Arc<Array>,
    offset: usize,
    item_bytes: usize,
    swapped_bytes: usize,
    axes: Vec<u64>,
}

impl Elements {
    /// The values at one place of each item, for a box of one value along each of their axes.
    fn part(&self, start: &[u64], shape: &[u64]) -> Option<Part> {
        if start.len() != self.axes.len() + 1 || shape.iter().skip(1).any(|&len| len != 1) {
            return None;
        }
        let mut place = 0;
        for (&at, &len) in start[1..].iter().zip(&self.axes) {
            if at >= len {
                return None;
            }
            place = place * len + at;
        }
        let offset = self.offset + usize::try_from(place).ok()? * self.item_bytes;
        let window = Window { offset, bytes: self.item_bytes };
        Some(Part { array: Arc::clone(&self.array), window, swapped_bytes: self.swapped_bytes })
    }
}

impl BoxSource for Elements {
    fn shape(&self) -> Vec<u64> {
        self.array.shape().into_iter().take(1).chain(self.axes.iter().copied()).collect()
    }

    fn item_bytes(&self) -> usize {
        self.item_bytes
    }

    fn walk(&self) -> Walk {
        let Walk { mut chunks, mut blocks } = self.array.walk();
        chunks.extend(&self.axes);
        blocks.extend(&self.axes);
        Walk { chunks, blocks }
    }

    fn fill(&self, start: &[u64], shape: &[u64], out: &mut [u8]) -> Result<()> {
        let refused = || Error::unsupported("several values of each row at once");
        self.part(start, shape).ok_or_else(refused)?.fill(&start[..1], &shape[..1], out)
    }

    fn uniform(&self, start: &[u64], shape: &[u64]) -> Option<Vec<u8>> {
        self.part(start, shape)?.uniform(&start[..1], &shape[..1])
    }

    fn bounds(&self, start: &[u64], shape: &[u64]) -> Option<Bounds> {
        self.part(start, shape)?.bounds(&start[..1], &shape[..1])
    }
}
