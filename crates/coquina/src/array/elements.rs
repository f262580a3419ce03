//! Values with axes of their own in the items of an array: `pos[0]` of each row.

use std::any::Any;
use std::sync::Arc;

use super::geometry::{Bounds, BoxSource, Walk, Window};
use super::handle::Array;
use super::source::Part;
use crate::base::error::{Error, Result};
use crate::base::text_bounds::TextBounds;

/// Values with axes of their own in the items of an array.
pub struct Elements {
    /// The array.
    pub array: Arc<Array>,
    /// The byte of an item at which the first value begins.
    pub offset: usize,
    /// Bytes of a value.
    pub item_bytes: usize,
    /// Bytes of the numbers whose order is turned; 1 for none.
    pub swapped_bytes: usize,
    /// Values along each axis.
    pub axes: Vec<u64>,
}

impl Elements {
    /// The values at one place of each item, for a box of one value along each of their axes.
    fn part(&self, start: &[u64], shape: &[u64]) -> Option<Part> {
        let is_one = shape.iter().skip(1).all(|&len| len == 1);
        self.at(start.get(1..)?).filter(|_| is_one)
    }

    /// The values at one place of each item; nothing for a place that there is not.
    pub fn at(&self, index: &[u64]) -> Option<Part> {
        if index.len() != self.axes.len() {
            return None;
        }
        let mut place = 0;
        for (&at, &len) in index.iter().zip(&self.axes) {
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
    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }

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

    fn text_bounds(&self, start: &[u64], shape: &[u64]) -> Option<TextBounds> {
        self.part(start, shape)?.text_bounds(&start[..1], &shape[..1])
    }
}
