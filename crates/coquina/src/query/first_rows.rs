//! The first rows of a source that has more.
//!
//! Invariant: a box of these rows is the box of the source; what lies behind them is never read.

use std::any::Any;
use std::ops::Range;
use std::sync::Arc;

use crate::array::{Bounds, BoxSource, Known, NextRowPlane, Walk, check_box};
use crate::base::error::Result;
use crate::base::text_bounds::TextBounds;

/// Some rows of a source, from the first one on.
pub(crate) struct FirstRows {
    pub(crate) source: Arc<dyn BoxSource>,
    /// How many, no more than the source has.
    pub(super) rows: u64,
}

impl BoxSource for FirstRows {
    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }

    fn shape(&self) -> Vec<u64> {
        let mut shape = self.source.shape();
        if let Some(len) = shape.first_mut() {
            *len = self.rows.min(*len);
        }
        shape
    }

    fn item_bytes(&self) -> usize {
        self.source.item_bytes()
    }

    fn walk(&self) -> Walk {
        self.source.walk()
    }

    fn fill(&self, start: &[u64], shape: &[u64], out: &mut [u8]) -> Result<()> {
        check_box(&self.shape(), start, shape, self.item_bytes(), out.len())?;
        self.source.fill(start, shape, out)
    }

    fn uniform(&self, start: &[u64], shape: &[u64]) -> Option<Vec<u8>> {
        self.source.uniform(start, shape)
    }

    fn bounds(&self, start: &[u64], shape: &[u64]) -> Option<Bounds> {
        self.source.bounds(start, shape)
    }

    fn text_bounds(&self, start: &[u64], shape: &[u64]) -> Option<TextBounds> {
        self.source.text_bounds(start, shape)
    }

    fn known(&self, start: &[u64], shape: &[u64]) -> Known {
        self.source.known(start, shape)
    }

    fn possible(&self, rows: Range<u64>) -> Option<Range<u64>> {
        self.source.possible(rows)
    }

    fn planes(&self, rows: Range<u64>, next: &mut NextRowPlane<'_>) -> Result<bool> {
        self.source.planes(rows, next)
    }
}
