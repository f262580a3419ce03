//! Anything that gives the items of boxes: an array, or what is computed of arrays.
//!
//! Whoever walks over all of it (a reduction, the writer of a new array) asks for boxes along its walk: chunks, and
//! within a chunk blocks, since these cost least.

use coquina_kernels::boxes::{Axis, Steps, copy_box};

use super::partition::{Access, partition};
use crate::base::error::{Error, Result};

/// How something is best walked over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Walk {
    /// Items of a chunk along each axis.
    pub chunks: Vec<u64>,
    /// Items of a block along each axis; those of a chunk where a part of one costs as much as all of it.
    pub blocks: Vec<u64>,
}

/// The items of an n-dimensional shape, box by box. Threads may ask at the same time.
pub trait BoxSource: Send + Sync {
    /// Items along each axis.
    fn shape(&self) -> Vec<u64>;

    /// Bytes of an item.
    fn item_bytes(&self) -> usize;

    /// How it is best walked over.
    fn walk(&self) -> Walk;

    /// Fills `out` with the items of the box of `shape` at `start`, in C order without gaps.
    ///
    /// # Errors
    /// `OutOfBounds` for a box that leaves the shape, `Invalid` for an `out` of another size, and what goes wrong
    /// with reading or computing.
    fn fill(&self, start: &[u64], shape: &[u64], out: &mut [u8]) -> Result<()>;

    /// The one item that all items of the box are, where that is known without decoding any of them.
    fn uniform(&self, _start: &[u64], _shape: &[u64]) -> Option<Vec<u8>> {
        None
    }

    /// What is known of the items of the box without decoding them.
    fn bounds(&self, _start: &[u64], _shape: &[u64]) -> Option<Bounds> {
        None
    }
}

/// What is known of some items, which are numbers in the machine's byte order.
#[derive(Clone, Debug, PartialEq)]
pub struct Bounds {
    /// No item that is a number is smaller; the bytes of one.
    pub min: Vec<u8>,
    /// No item that is a number is greater.
    pub max: Vec<u8>,
    /// Whether the least and the greatest item are just these, and not only limits.
    pub is_exact: bool,
    /// Whether there is a NaN among them.
    pub has_nan: bool,
}

/// How something is walked over that has no cut of its own: by the default rule.
pub fn default_walk(shape: &[u64], item_bytes: usize) -> Walk {
    match partition(shape, item_bytes, &Access::Any, None, None) {
        Ok((chunks, blocks)) => Walk { chunks, blocks },
        Err(_) => Walk { chunks: shape.to_vec(), blocks: shape.to_vec() },
    }
}

/// Copies a box out of `items`, which are in C order of `full`, to `out`, which has no gaps.
///
/// # Errors
/// `OutOfBounds` for a box that leaves the shape, `Invalid` for an `out` of another size.
pub fn copy_region(items: &[u8], full: &[u64], start: &[u64], shape: &[u64], out: &mut [u8]) -> Result<()> {
    let small = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
    let count = shape.iter().fold(1, |total: usize, &len| total.saturating_mul(small(len)));
    let size = full.iter().fold(1, |total: usize, &len| total.saturating_mul(small(len)));
    if count == 0 && out.is_empty() {
        return Ok(());
    }
    let item = out.len() / count.max(1);
    if item == 0 || item.saturating_mul(count) != out.len() || item.saturating_mul(size) != items.len() {
        return Err(Error::invalid(format!("{} bytes for a box of {shape:?} of {full:?}", out.len())));
    }
    let is_inside = start.len() == full.len()
        && shape.len() == full.len()
        && start
            .iter()
            .zip(shape)
            .zip(full)
            .all(|((&at, &len), &full)| at.checked_add(len).is_some_and(|end| end <= full));
    if !is_inside {
        return Err(Error::out_of_bounds(format!("the box of {shape:?} at {start:?} of {full:?}")));
    }
    let (mut to, mut from) = (item, item);
    let mut axes = Vec::with_capacity(full.len());
    for ((&at, &len), &full) in start.iter().zip(shape).zip(full).rev() {
        axes.push(Axis {
            len: small(len),
            to: Steps::Even { start: 0, step: to.cast_signed() },
            from: Steps::Even { start: small(at) * from, step: from.cast_signed() },
        });
        to *= small(len);
        from *= small(full);
    }
    axes.reverse();
    copy_box(out, items, &axes, item);
    Ok(())
}
