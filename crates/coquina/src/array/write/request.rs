//! What is to be written: values, and the items that they are for.

use std::borrow::Cow;

use crate::array::geometry::{BoxSource, Grid, Plan, Selection, Touched, Window};
use crate::base::error::{Error, Result};

/// What is written to the selected items.
#[derive(Clone, Copy)]
pub enum Values<'a> {
    /// An item for each, in C order.
    Bytes(&'a [u8]),
    /// One item for all.
    Uniform(&'a [u8]),
    /// What is computed, of the shape of the selection, which must be a box without steps.
    Computed(&'a dyn BoxSource),
}

/// Values for the window's bytes of the selected items.
pub(crate) struct Request<'v> {
    pub(crate) selection: Cow<'v, Selection>,
    pub(crate) window: Window,
    pub(crate) values: Values<'v>,
}

impl Request<'_> {
    /// Whether the values are right for these items of a grid.
    pub(crate) fn check(&self, grid: &Grid) -> Result<()> {
        let bytes = match self.values {
            Values::Bytes(bytes) => Some(bytes.len()),
            Values::Uniform(item) if item.len() == self.window.bytes => None,
            Values::Computed(source) => {
                self.check_computed(source)?;
                None
            }
            Values::Uniform(item) => {
                let (found, bytes) = (item.len(), self.window.bytes);
                return Err(Error::invalid(format!("a value of {found} bytes for items of {bytes}")));
            }
        };
        self.selection.check_bytes(grid, self.window, bytes)
    }

    /// Whether what a source computes can be written to these items.
    fn check_computed(&self, source: &dyn BoxSource) -> Result<()> {
        let (shape, wanted) = (source.shape(), self.selection.shape());
        if self.selection.as_box().is_none() || shape != wanted || source.item_bytes() != self.window.bytes {
            let (bytes, item) = (source.item_bytes(), self.window.bytes);
            return Err(Error::invalid(format!(
                "items of {bytes} bytes of shape {shape:?} are computed for items of {item} bytes of a box of {wanted:?}"
            )));
        }
        Ok(())
    }

    /// Whether no item is selected.
    pub(crate) fn is_empty(&self) -> bool {
        self.selection.shape().contains(&0)
    }

    /// Whether every item of a touched chunk is overwritten.
    pub(super) fn covers(&self, grid: &Grid, plan: &Plan, touched: &Touched) -> bool {
        let region = grid.region(touched.chunk);
        self.window.bytes == grid.typesize()
            && plan.is_box(&self.selection)
            && touched.lens(plan).zip(region).all(|(len, range)| len as u64 == range.end - range.start)
    }

    /// Bytes from one position of each axis of the values to the next; all zero for a single value.
    pub(super) fn value_strides(&self) -> Vec<usize> {
        let shape = self.selection.shape();
        let mut strides = vec![0; shape.len()];
        if let Values::Bytes(_) = self.values {
            let mut stride = self.window.bytes;
            for (at, &len) in shape.iter().enumerate().rev() {
                strides[at] = stride;
                stride = stride.saturating_mul(usize::try_from(len).unwrap_or(usize::MAX));
            }
        }
        strides
    }

    /// Whether all items of `grid`'s chunks that `old` held are still in them when this has been written.
    pub(super) fn keeps_items(&self, old: &Grid, grid: &Grid) -> bool {
        let Some((starts, _)) = self.selection.as_box() else { return false };
        grid.holds_all_of(old) && starts.iter().zip(old.shape()).any(|(start, len)| start >= len)
    }
}
