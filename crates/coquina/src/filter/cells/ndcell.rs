//! NDCELL (32): the items of a cell one behind another, so that neighbours along all axes are near.
//!
//! Source: `docs/formats/filters.md`, "NDCELL".
//! Invariant: decoding undoes encoding; only the order of items changes.

use super::super::{Filter, Stage};
use super::{AXES_MAX, Order, shape_of, uncelled};
use crate::base::error::{Error, Result};
use crate::base::layout::BlockLayout;

pub(in crate::filter) struct NdCell;

const NAME: &str = "ndcell";

/// The order of a block of this shape in cells of that side.
fn order(meta: u8, shape: &[u32]) -> Result<Order> {
    let side = usize::from(meta);
    let items = shape.iter().fold(1_usize, |items, &size| items.saturating_mul(size as usize));
    let cell_items = shape.iter().fold(1_usize, |items, _| items.saturating_mul(side));
    Order::new(shape, |_| side).filter(|_| cell_items <= items).ok_or_else(|| {
        Error::invalid(format!(
            "ndcell: parameter {meta}, the side of a cell: takes 1 and more, blocks of 1 to {AXES_MAX} axes and at least \
             as many items as a cell, not of shape {shape:?}"
        ))
    })
}

impl Filter for NdCell {
    fn name(&self) -> &'static str {
        NAME
    }

    fn id(&self) -> u8 {
        32
    }

    fn needs_layout(&self) -> bool {
        true
    }

    fn check(&self, meta: u8, _typesize: usize, layout: &BlockLayout) -> Result<()> {
        if meta == 0 {
            return Err(Error::invalid(
                "ndcell: parameter 0: takes 1..=255, the side of a cell, as (\"ndcell\", 4)",
            ));
        }
        if layout.shape().is_empty() { Ok(()) } else { order(meta, layout.shape()).map(drop) }
    }

    fn encode(&self, stage: &Stage<'_>, block: &[u8], out: &mut [u8]) -> Result<()> {
        let (shape, item_bytes) = shape_of(NAME, stage, block.len())?;
        let order = order(stage.meta, shape)?;
        let mut rest = out;
        for cell in order.cells() {
            for row in order.rows(&cell) {
                let (items, behind) = rest.split_at_mut(cell.width() * item_bytes);
                items.copy_from_slice(&block[row * item_bytes..][..items.len()]);
                rest = behind;
            }
        }
        Ok(())
    }

    fn decode(&self, stage: &Stage<'_>, block: &[u8], out: &mut [u8]) -> Result<()> {
        let (shape, item_bytes) = shape_of(NAME, stage, block.len())?;
        uncelled(&order(stage.meta, shape)?, item_bytes, block, out);
        Ok(())
    }
}
