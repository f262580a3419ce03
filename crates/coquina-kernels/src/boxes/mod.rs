//! Copies of n-dimensional boxes of items between two buffers.
//!
//! In: two buffers, and for each axis where its positions stand in either, in bytes. Out: the items copied.
//! The plain version is a loop over all positions that copies one item; the real one merges axes that are
//! contiguous in both buffers, and copies rows at once.

mod copy;
mod shared;
#[cfg(test)]
mod tests;

pub use shared::{Cell, Cuts, SharedOutput};

use copy::Copy;

/// The most axes that a copy may have: 16 of an array, and one for joint coordinates.
pub const AXES_MAX: usize = 17;

/// Where the positions of an axis stand, in bytes from the beginning of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Steps<'a> {
    /// `start`, `start + step`, and so on.
    Even {
        /// The place of the first position.
        start: usize,
        /// From one position to the next.
        step: isize,
    },
    /// One place for each position.
    Listed(&'a [usize]),
}

impl Steps<'_> {
    /// The highest place of the first `len` positions, if there are as many.
    pub fn highest(&self, len: usize) -> Option<usize> {
        self.extent(len.max(1)).map(|(_, high)| high)
    }

    /// The lowest and the highest place of `len` positions, at least one; `None` if one is out of all range.
    fn extent(&self, len: usize) -> Option<(usize, usize)> {
        match *self {
            Self::Even { start, step } => {
                let last = isize::try_from(len - 1).ok()?.checked_mul(step)?;
                let end = start.checked_add_signed(last)?;
                Some((start.min(end), start.max(end)))
            }
            Self::Listed(places) => {
                let places = places.get(..len)?;
                Some((*places.iter().min()?, *places.iter().max()?))
            }
        }
    }
}

/// One axis of a box to be copied.
#[derive(Clone, Copy, Debug)]
pub struct Axis<'a> {
    /// How many positions.
    pub len: usize,
    /// Where they go.
    pub to: Steps<'a>,
    /// Where they come from; steps of zero repeat one item.
    pub from: Steps<'a>,
}

/// Whether all positions of a box lie inside a buffer of `bytes`.
fn fits<'a>(axes: impl Iterator<Item = (usize, Steps<'a>)>, item: usize, bytes: usize) -> bool {
    let mut end = item;
    for (len, steps) in axes {
        let Some((_, high)) = steps.extent(len) else { return false };
        let Some(sum) = end.checked_add(high) else { return false };
        end = sum;
    }
    end <= bytes
}

/// Copies the items of a box, `item` bytes each, from `src` to `dst`.
///
/// # Panics
/// If a position lies outside of its buffer, a list is shorter than its axis, or there are more than
/// [`AXES_MAX`] axes.
pub fn copy_box(dst: &mut [u8], src: &[u8], axes: &[Axis<'_>], item: usize) {
    if item == 0 || axes.iter().any(|axis| axis.len == 0) {
        return;
    }
    assert!(fits(axes.iter().map(|a| (a.len, a.to)), item, dst.len()), "the box leaves its destination");
    assert!(fits(axes.iter().map(|a| (a.len, a.from)), item, src.len()), "the box leaves its source");
    // SAFETY: all positions have been found to lie inside of `dst` and of `src`, which cannot overlap.
    unsafe { Copy::new(axes, item).run(dst.as_mut_ptr(), src.as_ptr()) }
}
