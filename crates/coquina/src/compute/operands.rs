//! The operands of a program: what they say without being decoded, and how they are walked over together.
//!
//! In: operands and what each knows of a box. Out: the items that they are, or may as well be, and one walk for all.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use coquina_kernels::Type;

use crate::array::{Access, BoxSource, Known, Walk, partition};
use crate::base::error::{Error, Result};

/// An operand.
#[derive(Clone)]
pub struct Input {
    /// What gives its items. Its axes are the last ones of the result; those of length 1 stand for any length.
    pub source: Arc<dyn BoxSource>,
    /// Whether the walk should go along the cut of this one.
    pub is_stored: bool,
}

/// What has been done so far.
#[derive(Debug, Default)]
pub struct Counters {
    /// Boxes that were computed item by item.
    pub computed: AtomicU64,
    /// Boxes of which nothing was decoded, since one value was known for all of it.
    pub known: AtomicU64,
    /// Operands that were not decoded for boxes that were computed, since their bounds decide all that they do.
    pub skipped: AtomicU64,
}

/// What is known of the operands of a condition on a box.
pub(super) struct Look {
    /// What each operand says of itself.
    pub(super) known: Vec<Known>,
    /// The one result, if the bounds decide it.
    pub(super) result: Option<Vec<u8>>,
    /// Of each operand whether the result can depend on it; empty where nothing is known.
    pub(super) needed: Vec<bool>,
}

impl Look {
    /// The one item that an operand is, or may as well be.
    pub(super) fn item(&mut self, number: usize, ty: Type, counters: &Counters) -> Option<Vec<u8>> {
        let known = self.known.get_mut(number).map(|known| std::mem::replace(known, Known::Nothing))?;
        if let Known::Item(item) = known {
            return Some(item);
        }
        if self.needed.get(number) != Some(&false) {
            return None;
        }
        counters.skipped.fetch_add(1, Ordering::Relaxed);
        match known {
            Known::Bounds(bounds) => Some(bounds.min),
            _ => Some(vec![0; ty.bytes()]),
        }
    }
}

/// The walk of the stored operand with the most items, if it is as large as the result; else by the default rule.
pub(super) fn walk_of<'i>(
    inputs: impl Iterator<Item = (&'i Input, &'i Vec<u64>)>,
    shape: &[u64],
    item_bytes: usize,
) -> Result<Walk> {
    let stored = inputs.filter(|(input, own)| input.is_stored && *own == shape);
    let stored: Vec<&Input> = stored.map(|(input, _)| input).collect();
    let Some(first) = stored.first() else {
        let (chunks, blocks) = partition(shape, item_bytes, &Access::Any, None, None)?;
        return Ok(Walk { chunks, blocks });
    };
    let mut walk = first.source.walk();
    if stored.iter().any(|input| input.source.walk() != walk) {
        // Blocks that lie askew would be decoded once for every box that they touch.
        walk.blocks.clone_from(&walk.chunks);
    }
    Ok(walk)
}

/// Whether a shape broadcasts to another one.
pub(super) fn check_shape(operand: &[u64], shape: &[u64]) -> Result<()> {
    let fits = operand.len() <= shape.len()
        && operand.iter().rev().zip(shape.iter().rev()).all(|(&own, &full)| own == full || own == 1);
    if fits {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "shape {operand:?} does not broadcast to {shape:?}: has the operand changed?"
    )))
}

/// Whether operands still have the shapes that they were bound with, or more rows where they may.
pub(super) fn check_unchanged(inputs: &[Input], shapes: &[Vec<u64>], grows: bool) -> Result<()> {
    for (number, (input, shape)) in inputs.iter().zip(shapes).enumerate() {
        let found = input.source.shape();
        let has_grown =
            || found.len() == shape.len() && found.iter().zip(shape).all(|(now, then)| now >= then);
        if found != *shape && !(grows && has_grown()) {
            return Err(Error::invalid(format!(
                "operand {number} of shape {shape:?} has been resized: to {found:?}"
            )));
        }
    }
    Ok(())
}
