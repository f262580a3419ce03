//! Which elements of an array: a box with steps, lists of indices along axes, joint coordinates.
//!
//! What NumPy's keys come down to. The result of a selection has an axis for each axis of the array that is not in
//! the points, in order, and one axis for the points among them; it lies in C order.

use super::grid::Grid;
use crate::base::error::{Error, Result};

/// The indices taken along one axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AxisSelection {
    /// `len` indices: `start`, `start + step` and so on.
    Range {
        /// The first index taken.
        start: u64,
        /// From one to the next; never 0.
        step: i64,
        /// How many.
        len: u64,
    },
    /// Any indices, in any order, as often as one likes.
    List(Vec<u64>),
}

impl AxisSelection {
    /// How many indices.
    #[expect(clippy::len_without_is_empty, reason = "nobody asks")]
    pub fn len(&self) -> u64 {
        match self {
            Self::Range { len, .. } => *len,
            Self::List(indices) => indices.len() as u64,
        }
    }

    fn check(&self, axis: usize, size: u64) -> Result<()> {
        let worst = match *self {
            Self::Range { len: 0, .. } => None,
            Self::Range { step: 0, .. } => return Err(Error::invalid(format!("axis {axis}: a step of 0"))),
            Self::Range { start, step, len } => {
                let last = i64::try_from(len - 1).ok().and_then(|n| n.checked_mul(step));
                let last = last.and_then(|way| start.checked_add_signed(way)).unwrap_or(u64::MAX);
                Some(start.max(last))
            }
            Self::List(ref indices) => indices.iter().copied().max(),
        };
        out_of_bounds(worst, axis, size)
    }
}

fn out_of_bounds(worst: Option<u64>, axis: usize, size: u64) -> Result<()> {
    match worst {
        Some(index) if index >= size => Err(Error::out_of_bounds(format!(
            "index {index} is out of bounds for axis {axis} with size {size}"
        ))),
        _ => Ok(()),
    }
}

/// Elements given by their coordinates along some axes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Points {
    /// Which axes.
    pub axes: Vec<usize>,
    /// For each of these axes the index of every point.
    pub coordinates: Vec<Vec<u64>>,
    /// Before which axis of the rest the points stand in the result.
    pub place: usize,
}

impl Points {
    /// How many points.
    #[expect(clippy::len_without_is_empty, reason = "nobody asks")]
    pub fn len(&self) -> u64 {
        self.coordinates.first().map_or(0, |indices| indices.len() as u64)
    }
}

/// Which elements of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    /// For each axis; none where it is one of the points'.
    pub axes: Vec<Option<AxisSelection>>,
    /// Joint coordinates, if any.
    pub points: Option<Points>,
}

impl Selection {
    /// All elements of a shape.
    pub fn all(shape: &[u64]) -> Self {
        let whole = |&len: &u64| Some(AxisSelection::Range { start: 0, step: 1, len });
        Self { axes: shape.iter().map(whole).collect(), points: None }
    }

    /// A box.
    pub fn region(ranges: &[std::ops::Range<u64>]) -> Self {
        let axis = |range: &std::ops::Range<u64>| {
            let len = range.end.saturating_sub(range.start);
            Some(AxisSelection::Range { start: range.start, step: 1, len })
        };
        Self { axes: ranges.iter().map(axis).collect(), points: None }
    }

    /// Start and shape of the box that is selected, if it is one of neighbours in order.
    pub(crate) fn as_box(&self) -> Option<(Vec<u64>, Vec<u64>)> {
        let axis = |axis: &Option<AxisSelection>| match axis {
            Some(AxisSelection::Range { start, step: 1, len }) => Some((*start, *len)),
            Some(AxisSelection::Range { start, len: 1, .. }) => Some((*start, 1)),
            _ => None,
        };
        if self.points.is_some() { None } else { self.axes.iter().map(axis).collect() }
    }

    /// The shape of the result.
    pub fn shape(&self) -> Vec<u64> {
        let mut shape: Vec<u64> = self.axes.iter().flatten().map(AxisSelection::len).collect();
        if let Some(points) = &self.points {
            shape.insert(points.place.min(shape.len()), points.len());
        }
        shape
    }

    /// Whether a window and as many bytes fit this selection, and all of them the grid.
    pub(crate) fn check_bytes(&self, grid: &Grid, window: Window, bytes: Option<usize>) -> Result<()> {
        window.check(grid.typesize())?;
        self.check(grid)?;
        let items = self.shape().iter().try_fold(1_u64, |total, &len| total.checked_mul(len));
        let wanted = items.and_then(|items| usize::try_from(items).ok()?.checked_mul(window.bytes));
        match (wanted, bytes) {
            (None, _) => Err(Error::limit("a selection of more bytes than memory can have")),
            (Some(wanted), Some(bytes)) if wanted != bytes => {
                Err(Error::invalid(format!("{bytes} bytes for a selection of {wanted}")))
            }
            _ => Ok(()),
        }
    }

    /// Whether every index exists, and all lists fit each other.
    pub(crate) fn check(&self, grid: &Grid) -> Result<()> {
        if self.axes.len() != grid.ndim() {
            let (axes, ndim) = (self.axes.len(), grid.ndim());
            return Err(Error::invalid(format!("a selection of {axes} axes of an array of {ndim}")));
        }
        let in_points = |axis: usize| self.points.as_ref().is_some_and(|points| points.axes.contains(&axis));
        for (axis, (selection, &size)) in self.axes.iter().zip(grid.shape()).enumerate() {
            match selection {
                Some(selection) if !in_points(axis) => selection.check(axis, size)?,
                None if in_points(axis) => {}
                _ => return Err(Error::invalid(format!("axis {axis} is selected twice"))),
            }
        }
        let Some(points) = &self.points else { return Ok(()) };
        let rest = self.axes.iter().flatten().count();
        let len = points.len();
        let is_even = points.coordinates.iter().all(|indices| indices.len() as u64 == len);
        let joined = points.axes.len();
        if joined == 0
            || points.coordinates.len() != joined
            || !is_even
            || points.place > rest
            || joined + rest != grid.ndim()
        {
            return Err(Error::invalid(
                "points: one list of indices for each of their axes, all of one length",
            ));
        }
        for (&axis, indices) in points.axes.iter().zip(&points.coordinates) {
            out_of_bounds(indices.iter().copied().max(), axis, grid.shape()[axis])?;
        }
        Ok(())
    }
}

/// Which bytes of each item: a field of a record, or all of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// The first byte.
    pub offset: usize,
    /// How many.
    pub bytes: usize,
}

impl Window {
    pub(crate) fn check(self, typesize: usize) -> Result<()> {
        if self.bytes == 0 || self.offset.checked_add(self.bytes).is_none_or(|end| end > typesize) {
            let Self { offset, bytes } = self;
            return Err(Error::invalid(format!("bytes {offset}..{offset}+{bytes} of items of {typesize}")));
        }
        Ok(())
    }
}
