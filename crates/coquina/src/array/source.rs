//! An array as a source of boxes: each box read by the thread that asks for it.

use std::sync::Arc;

use super::boxes::{Bounds, BoxSource, Known, Walk};
use super::handle::{Array, State};
use super::memo;
use super::read::{Content, Source};
use super::selection::{Selection, Window};
use super::statistics::{checked, of_item};
use crate::base::error::{Error, Result};
use crate::base::pool::Job;
use crate::store::{Access, OpenChunk, Stored};

impl BoxSource for Array {
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
            Ok(Access::Free) if state.chunks.far().is_none() => state.grid.blocks().to_vec(),
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

    fn known(&self, start: &[u64], shape: &[u64]) -> Known {
        self.known_of_part(start, shape, Window { offset: 0, bytes: self.typesize() })
    }
}

/// What stands in a chunk, as far as it can be told without decoding any of it.
enum Glance {
    /// This item over and over.
    Item(Vec<u8>),
    /// Blocks of a Blosc chunk, of which only the index may tell something.
    Blocks,
    /// A chunk of another format, opened.
    Opened(Arc<dyn OpenChunk>),
}

impl Array {
    fn glance(&self, state: &State, number: u64) -> Option<Glance> {
        if !state.chunks.may_know_items() {
            return None;
        }
        let fetched;
        let chunks = match state.chunks.access(1).ok()? {
            Access::Free => &*state.chunks,
            Access::Fetched(_) => {
                fetched = state.chunks.fetch(&[number]).ok()?;
                &*fetched
            }
        };
        match chunks.chunk(number).ok()? {
            Stored::Special(special) => Some(Glance::Item(special.item(state.grid.typesize()).ok()?)),
            Stored::Item(item) => Some(Glance::Item(item.to_vec())),
            Stored::At { .. } => Some(Glance::Blocks),
            // A chunk that is damaged says so when it is read.
            Stored::Other { .. } => {
                let source = Source { chunks, ..self.source(state) };
                let _held = source.hold_head(number)?;
                match source.content(number).ok()? {
                    Content::Item(item) => Some(Glance::Item(item.to_vec())),
                    Content::Blocks(_, chunk) => {
                        Some(chunk.item().map_or_else(|| Glance::Opened(chunk), Glance::Item))
                    }
                }
            }
        }
    }

    /// The bytes of the window that all items of a box have.
    fn uniform_part(&self, start: &[u64], shape: &[u64], window: Window) -> Option<Vec<u8>> {
        match self.known_of_part(start, shape, window) {
            Known::Item(item) => Some(item),
            _ => None,
        }
    }

    /// What is known of the numbers that the bytes of the window are.
    fn bounds_of_part(&self, start: &[u64], shape: &[u64], window: Window) -> Option<Bounds> {
        let state = self.state();
        let number = only_chunk(&state, start, shape)?;
        let glance = self.glance(&state, number)?;
        self.glanced_bounds(&state, number, &glance, (start, shape), window)
    }

    /// Both at one glance.
    fn known_of_part(&self, start: &[u64], shape: &[u64], window: Window) -> Known {
        let state = self.state();
        let glanced = only_chunk(&state, start, shape);
        if glanced.is_none() {
            let end = window.offset.checked_add(window.bytes);
            let item = self.item_of_runs(&state, start, shape);
            let part = item.and_then(|item| item.get(window.offset..end?).map(<[u8]>::to_vec));
            return part.map_or(Known::Nothing, Known::Item);
        }
        let glanced = glanced.and_then(|number| {
            let glance = self.glance(&state, number)?;
            if let Glance::Item(item) = &glance {
                let end = window.offset.checked_add(window.bytes)?;
                return Some(Known::Item(item.get(window.offset..end)?.to_vec()));
            }
            let bounds = self.glanced_bounds(&state, number, &glance, (start, shape), window)?;
            Some(if is_one_item(&bounds) { Known::Item(bounds.min) } else { Known::Bounds(bounds) })
        });
        glanced.unwrap_or(Known::Nothing)
    }

    fn glanced_bounds(
        &self,
        state: &State,
        number: u64,
        glance: &Glance,
        (start, shape): (&[u64], &[u64]),
        window: Window,
    ) -> Option<Bounds> {
        // Of all of an item the dtype says what number it is; of a part of it only the chunk does.
        let whole = Some(window) == Some(Window { offset: 0, bytes: self.typesize() });
        let ty = self.item_type.filter(|_| whole);
        let region = state.grid.region(number);
        match glance {
            Glance::Item(item) => checked(ty?, &of_item(ty?, item)?),
            Glance::Blocks => {
                let bounds = self.chunk_bounds(number).filter(|_| whole)?;
                let is_all = region.iter().zip(shape).all(|(range, &len)| range.end - range.start == len);
                Some(Bounds { is_exact: bounds.is_exact && is_all, ..bounds })
            }
            Glance::Opened(chunk) => {
                let (&[at], &[len], [range]) = (start, shape, &region[..]) else { return None };
                let first = at - range.start;
                let (found, known) = chunk.bounds(first..first + len, window.offset, window.bytes)?;
                checked(found, &known).filter(|_| ty.is_none_or(|ty| ty == found))
            }
        }
    }

    fn read_region(&self, start: &[u64], shape: &[u64], window: Window, out: &mut [u8]) -> Result<()> {
        if memo::is_open()
            && let Some(done) = memo::read(self, start, shape, window, out)
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

/// Whether all items within bounds are the same one.
fn is_one_item(bounds: &Bounds) -> bool {
    let Bounds { min, max, is_exact, has_nan } = bounds;
    // Zeros of both signs are one number, but not one item.
    let is_zero = min.iter().rev().skip(1).all(|&byte| byte == 0);
    *is_exact && !has_nan && min == max && !is_zero
}

/// The chunk that the whole box lies in, if it is one.
fn only_chunk(state: &State, start: &[u64], shape: &[u64]) -> Option<u64> {
    let grid = &state.grid;
    let mut number = 0;
    for axis in 0..grid.ndim() {
        let (chunk, first) = (*grid.chunks().get(axis)?, *start.get(axis)?);
        let last = first.checked_add(*shape.get(axis)?)?.checked_sub(1)?;
        if last >= *grid.shape().get(axis)? || last / chunk != first / chunk || last < first {
            return None;
        }
        number += first / chunk * grid.chunk_stride(axis);
    }
    Some(number)
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
    use super::super::create::{ArraySpec, Fill, Target};
    use super::super::partition::Access as Hint;
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
    fn one_item_is_known_by_its_bounds_but_not_a_zero() {
        let exact = |min: &[u8], max: &[u8]| Bounds {
            min: min.to_vec(),
            max: max.to_vec(),
            is_exact: true,
            has_nan: false,
        };
        let three = 3.0_f64.to_le_bytes();
        assert!(is_one_item(&exact(&three, &three)));
        assert!(!is_one_item(&Bounds { is_exact: false, ..exact(&three, &three) }));
        assert!(!is_one_item(&Bounds { has_nan: true, ..exact(&three, &three) }));
        let zero = (-0.0_f64).to_le_bytes();
        assert!(!is_one_item(&exact(&zero, &zero)));
        assert!(!is_one_item(&exact(&[1, 0], &[2, 0])));
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
