//! Blocks of an array cut into small cells along all axes: NDCELL puts the items of a cell together, NDMEAN their mean
//! in place of each. The parameter byte is the side of a cell; cells at the far edges are smaller.
//!
//! Source: `docs/formats/filters.md`, "NDCELL" and "NDMEAN".
//! Invariant: every item has one place in the order of cells.

mod ndcell;
mod ndmean;
mod order;

pub(super) use ndcell::NdCell;
pub(super) use ndmean::NdMean;

use self::order::Order;
use super::Stage;
use crate::base::error::{Error, Result};

/// The most axes that C-Blosc2 gives an array.
const AXES_MAX: usize = 8;

/// How long the shape of a block is along each axis, and the bytes of an item; for a block that is `bytes` long.
fn shape_of<'s>(name: &str, stage: &Stage<'s>, bytes: usize) -> Result<(&'s [u32], usize)> {
    let layout = stage.layout;
    if layout.shape().is_empty() {
        return Err(Error::unsupported(format!(
            "{name}: needs the axes of an array; the chunk can be read and written through its array only"
        )));
    }
    layout.shape_of(bytes).zip(layout.item_bytes()).ok_or_else(|| {
        let shape = layout.shape();
        Error::corrupt(format!("{name}: {bytes} bytes are no block of shape {shape:?}"))
    })
}

/// Fills `out` with the items of `block`, whose cells stand one behind another in it.
fn uncelled(order: &Order, item_bytes: usize, block: &[u8], out: &mut [u8]) {
    let mut rest = block;
    for cell in order.cells() {
        for row in order.rows(&cell) {
            let (items, behind) = rest.split_at(cell.width() * item_bytes);
            out[row * item_bytes..][..items.len()].copy_from_slice(items);
            rest = behind;
        }
    }
}

#[cfg(test)]
mod tests;
