//! An array as a source of boxes: each box read by the thread that asks for it.

use std::any::Any;
use std::ops::Range;
use std::sync::Arc;

use super::geometry::{Bounds, BoxAt, BoxSource, Known, NextRowPlane, Selection, Walk, Window, check_box};
use super::handle::Array;
use super::read::{copy_decoded, is_open, keep_decoded, room_for};
use crate::base::error::{Error, Result};
use crate::base::pool::Job;
use crate::base::text_bounds::TextBounds;
use crate::store::Access;

impl BoxSource for Array {
    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }

    fn shape(&self) -> Vec<u64> {
        self.state().grid.shape().to_vec()
    }

    fn item_bytes(&self) -> usize {
        self.typesize()
    }

    fn walk(&self) -> Walk {
        let state = self.state();
        let chunks = state.grid.chunks().to_vec();
        // What is fetched is fetched by chunks.
        let blocks = match state.chunks.access(1) {
            Ok(Access::Free) if state.chunks.remote().is_none() => state.grid.blocks().to_vec(),
            _ => chunks.clone(),
        };
        Walk { chunks, blocks }
    }

    fn fill(&self, start: &[u64], shape: &[u64], out: &mut [u8]) -> Result<()> {
        self.read_region(start, shape, Window { offset: 0, bytes: self.typesize() }, out)
    }

    fn uniform(&self, start: &[u64], shape: &[u64]) -> Option<Vec<u8>> {
        self.uniform_part(start, shape, Window { offset: 0, bytes: self.typesize() })
    }

    fn bounds(&self, start: &[u64], shape: &[u64]) -> Option<Bounds> {
        self.bounds_of_part(start, shape, Window { offset: 0, bytes: self.typesize() })
    }

    fn text_bounds(&self, start: &[u64], shape: &[u64]) -> Option<TextBounds> {
        self.text_bounds_of_part(start, shape, Window { offset: 0, bytes: self.typesize() })
    }

    fn planes(&self, rows: Range<u64>, next: &mut NextRowPlane<'_>) -> Result<bool> {
        self.row_planes(rows, next)
    }

    fn known(&self, start: &[u64], shape: &[u64]) -> Known {
        self.known_of_part(start, shape, Window { offset: 0, bytes: self.typesize() })
    }
}

impl Array {
    /// Reads a box from what is kept in this scope, or so that it will be; `None` where it is too large for that.
    fn read_decoded(&self, place: BoxAt<'_>, window: Window, out: &mut [u8]) -> Option<Result<()>> {
        let BoxAt { start, shape } = place;
        let state = self.state();
        let item = state.grid.typesize();
        let checked = window
            .check(item)
            .and_then(|()| check_box(state.grid.shape(), start, shape, window.bytes, out.len()));
        if let Err(error) = checked {
            return Some(Err(error));
        }
        if out.is_empty() || copy_decoded(&state, place, window, out) {
            return Some(Ok(()));
        }
        match self.join_planes(&state, place) {
            Ok(false) => {}
            Ok(true) => return copy_decoded(&state, place, window, out).then_some(Ok(())),
            Err(error) => return Some(Err(error)),
        }
        let bytes = shape.iter().try_fold(item as u64, |bytes, &len| bytes.checked_mul(len));
        let bytes = bytes.and_then(|bytes| usize::try_from(bytes).ok())?;
        let mut items = room_for(bytes)?;
        // What goes wrong there goes wrong below too, where it is dealt with.
        let is_read =
            start.len() == 1 && matches!(self.source(&state).read_blocks(start[0], &mut items), Ok(true));
        if !is_read {
            let ranges: Vec<_> = start.iter().zip(shape).map(|(&at, &len)| at..at + len).collect();
            let whole = Window { offset: 0, bytes: item };
            if let Err(error) = self.read(&Selection::region(&ranges), whole, &mut items, &Job::inline()) {
                return Some(Err(error));
            }
        }
        keep_decoded(&state, place, items);
        copy_decoded(&state, place, window, out).then_some(Ok(()))
    }

    fn read_region(&self, start: &[u64], shape: &[u64], window: Window, out: &mut [u8]) -> Result<()> {
        if is_open()
            && let Some(done) = self.read_decoded(BoxAt { start, shape }, window, out)
        {
            return done;
        }
        let end = |(&start, &len): (&u64, &u64)| {
            start.checked_add(len).ok_or_else(|| Error::out_of_bounds(format!("{len} items from {start} on")))
        };
        let ends = start.iter().zip(shape).map(end).collect::<Result<Vec<u64>>>()?;
        let ranges: Vec<_> = start.iter().zip(ends).map(|(&start, end)| start..end).collect();
        self.read(&Selection::region(&ranges), window, out, &Job::inline())
    }
}

/// Some bytes of every item of an array, perhaps in the other byte order: a field, or items of another machine.
pub struct Part {
    /// The array.
    pub array: Arc<Array>,
    /// Which bytes of an item.
    pub window: Window,
    /// Bytes of the numbers whose order is turned; 1 for none.
    pub swapped_bytes: usize,
}

impl BoxSource for Part {
    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }

    fn shape(&self) -> Vec<u64> {
        self.array.shape()
    }

    fn item_bytes(&self) -> usize {
        self.window.bytes
    }

    fn walk(&self) -> Walk {
        self.array.walk()
    }

    fn fill(&self, start: &[u64], shape: &[u64], out: &mut [u8]) -> Result<()> {
        self.array.read_region(start, shape, self.window, out)?;
        self.turn(out);
        Ok(())
    }

    fn uniform(&self, start: &[u64], shape: &[u64]) -> Option<Vec<u8>> {
        let mut part = self.array.uniform_part(start, shape, self.window)?;
        self.turn(&mut part);
        Some(part)
    }

    fn bounds(&self, start: &[u64], shape: &[u64]) -> Option<Bounds> {
        // Bounds of numbers in the other byte order are none.
        if self.swapped_bytes > 1 { None } else { self.array.bounds_of_part(start, shape, self.window) }
    }

    fn text_bounds(&self, start: &[u64], shape: &[u64]) -> Option<TextBounds> {
        let is_turned = self.swapped_bytes > 1;
        if is_turned { None } else { self.array.text_bounds_of_part(start, shape, self.window) }
    }

    fn planes(&self, rows: Range<u64>, next: &mut NextRowPlane<'_>) -> Result<bool> {
        let is_whole = self.window == Window { offset: 0, bytes: self.array.typesize() };
        if is_whole && self.swapped_bytes <= 1 { self.array.row_planes(rows, next) } else { Ok(false) }
    }

    fn known(&self, start: &[u64], shape: &[u64]) -> Known {
        match self.array.known_of_part(start, shape, self.window) {
            Known::Item(mut part) => {
                self.turn(&mut part);
                Known::Item(part)
            }
            Known::Bounds(_) if self.swapped_bytes > 1 => Known::Nothing,
            known => known,
        }
    }
}

impl Part {
    fn turn(&self, bytes: &mut [u8]) {
        if self.swapped_bytes > 1 {
            bytes.chunks_exact_mut(self.swapped_bytes).for_each(<[u8]>::reverse);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::geometry::Access as Hint;
    use super::super::open::{ArraySpec, Fill, Target};
    use super::super::write::Values;
    use super::*;
    use crate::chunk::{Params, Special};

    fn numbers() -> Array {
        let spec = ArraySpec {
            shape: vec![5, 6],
            chunks: Some(vec![2, 3]),
            blocks: Some(vec![1, 2]),
            access: Hint::Any,
            dtype: "<u2".into(),
            fill: Fill::Special(Special::Zeros),
            params: Params { typesize: 2, ..Params::default() },
            checksums: true,
            statistics: true,
            tuning: None,
        };
        let array = Array::create(&spec, &Target::Memory).unwrap();
        let items: Vec<u8> = (0..30_u16).flat_map(u16::to_le_bytes).collect();
        let window = Window { offset: 0, bytes: 2 };
        array.write(&Selection::all(&[5, 6]), window, Values::Bytes(&items), &Job::inline()).unwrap();
        let zeros = Selection::region(&[0..2, 3..6]);
        array.write(&zeros, window, Values::Uniform(&[0, 0]), &Job::inline()).unwrap();
        array
    }

    #[test]
    fn a_box_is_filled_by_any_window_and_byte_order() {
        let array = Arc::new(numbers());
        let mut out = [0; 4];
        array.fill(&[3, 2], &[1, 2], &mut out).unwrap();
        assert_eq!(out, [20, 0, 21, 0]);
        let turned =
            Part { array: Arc::clone(&array), window: Window { offset: 0, bytes: 2 }, swapped_bytes: 2 };
        turned.fill(&[3, 2], &[1, 2], &mut out).unwrap();
        assert_eq!(out, [0, 20, 0, 21]);
        let low =
            Part { array: Arc::clone(&array), window: Window { offset: 0, bytes: 1 }, swapped_bytes: 1 };
        low.fill(&[3, 2], &[2, 2], &mut out).unwrap();
        assert_eq!(out, [20, 21, 26, 27]);
        assert!(array.fill(&[3, 2], &[1, u64::MAX], &mut out).is_err());
        assert!(array.fill(&[5, 0], &[1, 2], &mut out).is_err());
    }

    #[test]
    fn a_box_in_a_chunk_of_one_value_is_known_without_decoding() {
        let array = numbers();
        assert_eq!(array.uniform(&[0, 3], &[2, 3]), Some(vec![0, 0]));
        assert_eq!(array.uniform(&[1, 4], &[1, 1]), Some(vec![0, 0]));
        assert_eq!(array.uniform(&[0, 2], &[2, 3]), None);
        assert_eq!(array.uniform(&[0, 0], &[2, 3]), None);
        assert_eq!(array.uniform(&[0, 3], &[2, 0]), None);
        assert_eq!(array.stats().blocks_decoded, 0);
    }
}
