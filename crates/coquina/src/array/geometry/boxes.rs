//! Anything that gives the items of boxes: an array, or what is computed of arrays.
//!
//! Whoever walks over all of it (a reduction, the writer of a new array) asks for boxes along its walk: chunks, and
//! within a chunk blocks, since these cost least.

use std::any::Any;
use std::ops::Range;

use coquina_kernels::boxes::{Axis, Steps, copy_box};

use super::partition::{Access, partition};
use crate::base::error::{Error, Result};
use crate::base::text_bounds::TextBounds;
use crate::chunk::BytePlanes;

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

    /// It as what it is, for those who know of such sources: what a condition asks of indexes is read from them.
    fn as_any(&self) -> Option<&dyn Any> {
        None
    }

    /// The one item that all items of the box are, where that is known without decoding any of them.
    fn uniform(&self, _start: &[u64], _shape: &[u64]) -> Option<Vec<u8>> {
        None
    }

    /// What is known of the items of the box without decoding them.
    fn bounds(&self, _start: &[u64], _shape: &[u64]) -> Option<Bounds> {
        None
    }

    /// What is known of the beginnings of the items of a box of one axis, which are bytes of texts, without decoding them.
    fn text_bounds(&self, _start: &[u64], _shape: &[u64]) -> Option<TextBounds> {
        None
    }

    /// Both: the one item, else the bounds.
    fn known(&self, start: &[u64], shape: &[u64]) -> Known {
        match self.uniform(start, shape) {
            Some(item) => Known::Item(item),
            None => self.bounds(start, shape).map_or(Known::Nothing, Known::Bounds),
        }
    }

    /// The rows of a range, from the first to the last one, at which an item may be other than 0, as far as that is
    /// known at no cost; `None` where there is none. Of sources of one axis.
    fn possible(&self, rows: Range<u64>) -> Option<Range<u64>> {
        (!rows.is_empty()).then_some(rows)
    }

    /// Shows byte planes of these rows of a source of one axis, decoded as far as `next` asks for them, where that is
    /// less work than to have the items; whether it was. If not, what `next` has made of planes is of no account.
    ///
    /// # Errors
    /// As [`BoxSource::fill`].
    fn planes(&self, _rows: Range<u64>, _next: &mut NextRowPlane<'_>) -> Result<bool> {
        Ok(false)
    }

    /// The one item of a box as [`BoxSource::uniform`] gives it; only where it is not known, `out` is filled.
    ///
    /// # Errors
    /// As [`BoxSource::fill`].
    fn uniform_or_fill(&self, start: &[u64], shape: &[u64], out: &mut [u8]) -> Result<Option<Vec<u8>>> {
        if let Some(item) = self.uniform(start, shape) {
            return Ok(Some(item));
        }
        self.fill(start, shape, out).map(|()| None)
    }
}

/// The byte planes of some rows, as far as they are decoded.
pub struct RowPlanes<'p> {
    pub(crate) planes: &'p BytePlanes,
    /// Where the rows are in them.
    pub(crate) rows: Range<usize>,
}

impl RowPlanes<'_> {
    /// Byte `number` of the item of each row, if that plane is decoded.
    pub fn get(&self, number: usize) -> Option<&[u8]> {
        self.planes.get(number).and_then(|plane| plane.get(self.rows.clone()))
    }
}

/// Says which plane is wanted next; none where those that are decoded are enough.
pub type NextRowPlane<'n> = dyn FnMut(&RowPlanes<'_>) -> Option<usize> + 'n;

/// What is known of the items of a box without decoding them.
#[derive(Clone, Debug, PartialEq)]
pub enum Known {
    /// Nothing.
    Nothing,
    /// The one item that all of them are.
    Item(Vec<u8>),
    /// Their bounds.
    Bounds(Bounds),
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

/// A box: where it starts, and how many items it has along each axis.
#[derive(Clone, Copy)]
pub(crate) struct BoxAt<'b> {
    pub(crate) start: &'b [u64],
    pub(crate) shape: &'b [u64],
}

/// How something is walked over that has no cut of its own: by the default rule.
pub fn default_walk(shape: &[u64], item_bytes: usize) -> Walk {
    match partition(shape, item_bytes, &Access::Any, None, None) {
        Ok((chunks, blocks)) => Walk { chunks, blocks },
        Err(_) => Walk { chunks: shape.to_vec(), blocks: shape.to_vec() },
    }
}

/// Whether a box lies inside of the shape `full`, and its items of `item` bytes have so many bytes.
///
/// # Errors
/// `OutOfBounds` for a box that leaves the shape, `Invalid` for another number of bytes.
pub fn check_box(full: &[u64], start: &[u64], shape: &[u64], item: usize, bytes: usize) -> Result<()> {
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
    let items = shape.iter().try_fold(1_u64, |total, &len| total.checked_mul(len));
    let wanted = items.and_then(|items| usize::try_from(items).ok()?.checked_mul(item));
    if wanted != Some(bytes) {
        return Err(Error::invalid(format!("{bytes} bytes for a box of {shape:?}")));
    }
    Ok(())
}

/// Copies a box out of `items` of `item_bytes` bytes each, which are in C order of `full`, to `out`, which has no gaps.
///
/// # Errors
/// As [`check_box`], and `Invalid` for other `items` than the shape has.
pub fn copy_region(
    items: &[u8],
    item_bytes: usize,
    full: &[u64],
    start: &[u64],
    shape: &[u64],
    out: &mut [u8],
) -> Result<()> {
    check_box(full, start, shape, item_bytes, out.len())?;
    check_box(full, &vec![0; full.len()], full, item_bytes, items.len())?;
    let small = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
    let (mut to, mut from) = (item_bytes, item_bytes);
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
    copy_box(out, items, &axes, item_bytes);
    Ok(())
}
