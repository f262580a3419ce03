//! NDMEAN (33): every item of a cell becomes the mean of the cell, and the items of a cell stand one behind another.
//! Lossy.
//!
//! Source: `docs/formats/filters.md`, "NDMEAN".
//! Invariant: decoding only puts the items back to their places.

use super::super::{Filter, Stage};
use super::{AXES_MAX, Order, shape_of, uncelled};
use crate::base::error::{Error, Result};
use crate::base::layout::BlockLayout;

pub(in crate::filter) struct NdMean;

const NAME: &str = "ndmean";
const SIDE_MAX: u8 = 127;

/// The order of a block of this shape in cells of that side, or of less where an axis is shorter.
fn order(meta: u8, shape: &[u32]) -> Result<Order> {
    let side = if meta <= SIDE_MAX { usize::from(meta) } else { 0 };
    Order::new(shape, |size| side.min(size)).ok_or_else(|| {
        Error::invalid(format!(
            "ndmean: parameter {meta}, the side of a cell: takes 1..={SIDE_MAX}, and blocks of 1 to {AXES_MAX} axes, not of \
             shape {shape:?}"
        ))
    })
}

/// Whether C-Blosc2 takes the places of cells along another axis to be as far apart as along the first one, where they
/// are not.
fn is_misread(meta: u8, shape: &[u32]) -> bool {
    let side = u32::from(meta);
    let Some((&first, others)) = shape.split_first() else { return false };
    first < side && others.iter().any(|&size| size > side.min(size) && side.min(size) != first)
}

impl Filter for NdMean {
    fn name(&self) -> &'static str {
        NAME
    }

    fn id(&self) -> u8 {
        33
    }

    fn needs_layout(&self) -> bool {
        true
    }

    fn is_lossy(&self) -> bool {
        true
    }

    fn check(&self, meta: u8, typesize: usize, layout: &BlockLayout) -> Result<()> {
        if !(1..=SIDE_MAX).contains(&meta) {
            return Err(Error::invalid(format!(
                "ndmean: parameter {meta}: takes 1..={SIDE_MAX}, the side of a cell, as (\"ndmean\", 4)"
            )));
        }
        let is_number = matches!(typesize, 4 | 8) && layout.kind().is_none_or(|kind| kind == 'f');
        if !is_number || layout.is_big_endian() {
            return Err(Error::invalid(format!(
                "ndmean: takes little-endian float32 and float64, not items of {typesize} bytes of this dtype"
            )));
        }
        if layout.shape().is_empty() { Ok(()) } else { order(meta, layout.shape()).map(drop) }
    }

    fn encode(&self, stage: &Stage<'_>, block: &[u8], out: &mut [u8]) -> Result<()> {
        let (shape, item_bytes) = shape_of(NAME, stage, block.len())?;
        if is_misread(stage.meta, shape) {
            let (meta, first) = (stage.meta, shape.first().copied().unwrap_or(0));
            return Err(Error::invalid(format!(
                "ndmean: parameter {meta} with blocks of shape {shape:?}: C-Blosc2 cannot read these; give at most {first}"
            )));
        }
        let order = order(stage.meta, shape)?;
        match item_bytes {
            4 => fill(&order, block.as_chunks().0, out.as_chunks_mut().0, mean_f32),
            8 => fill(&order, block.as_chunks().0, out.as_chunks_mut().0, mean_f64),
            _ => return Err(Error::invalid(format!("ndmean: items of {item_bytes} bytes: takes 4 or 8"))),
        }
        Ok(())
    }

    fn decode(&self, stage: &Stage<'_>, block: &[u8], out: &mut [u8]) -> Result<()> {
        let (shape, item_bytes) = shape_of(NAME, stage, block.len())?;
        uncelled(&order(stage.meta, shape)?, item_bytes, block, out);
        Ok(())
    }
}

/// Fills `out`, cell by cell, with what `mean` makes of the rows of each.
fn fill<const BYTES: usize>(
    order: &Order,
    block: &[[u8; BYTES]],
    out: &mut [[u8; BYTES]],
    mean: fn(&mut dyn Iterator<Item = [u8; BYTES]>, usize) -> [u8; BYTES],
) {
    let mut rest = out;
    for cell in order.cells() {
        let (items, behind) = rest.split_at_mut(cell.items());
        let rows = order.rows(&cell).map(|row| &block[row..row + cell.width()]);
        items.fill(mean(&mut rows.flatten().copied(), cell.items()));
        rest = behind;
    }
}

/// The sum is of the type of the items, in their order, as in C.
fn mean_f32(items: &mut dyn Iterator<Item = [u8; 4]>, count: usize) -> [u8; 4] {
    // No cell has so many items that the count itself would be rounded by much; C rounds it in the same way.
    let count = count as f32;
    (items.fold(0.0, |sum, item| sum + f32::from_le_bytes(item)) / count).to_le_bytes()
}

fn mean_f64(items: &mut dyn Iterator<Item = [u8; 8]>, count: usize) -> [u8; 8] {
    let count = count as f64;
    (items.fold(0.0, |sum, item| sum + f64::from_le_bytes(item)) / count).to_le_bytes()
}
