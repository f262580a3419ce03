//! What is known of the items of an array without decoding any: one item over and over, or bounds.

use std::sync::Arc;

use coquina_kernels::Type;

use super::geometry::{Bounds, BoxAt, Known, Window};
use super::handle::Array;
use super::read::{Content, Source, State};
use crate::base::text_bounds::TextBounds;
use crate::store::{Access, OpenChunk, Statistics, Stored};

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
    pub(super) fn uniform_part(&self, start: &[u64], shape: &[u64], window: Window) -> Option<Vec<u8>> {
        match self.known_of_part(start, shape, window) {
            Known::Item(item) => Some(item),
            _ => None,
        }
    }

    /// What is known of the numbers that the bytes of the window are.
    pub(super) fn bounds_of_part(&self, start: &[u64], shape: &[u64], window: Window) -> Option<Bounds> {
        let state = self.state();
        let number = only_chunk(&state, start, shape)?;
        let glance = self.glance(&state, number)?;
        self.glanced_bounds(&state, number, &glance, BoxAt { start, shape }, window)
    }

    /// What is known of the texts that the bytes of the window are.
    pub(super) fn text_bounds_of_part(
        &self,
        start: &[u64],
        shape: &[u64],
        window: Window,
    ) -> Option<TextBounds> {
        let state = self.state();
        let (&[at], &[len]) = (start, shape) else { return None };
        let number = only_chunk(&state, start, shape)?;
        let Glance::Opened(chunk) = self.glance(&state, number)? else { return None };
        let first = at - state.grid.region(number).first()?.start;
        chunk.text_bounds(first..first + len, window.offset, window.bytes)
    }

    /// Both at one glance.
    pub(super) fn known_of_part(&self, start: &[u64], shape: &[u64], window: Window) -> Known {
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
            let bounds = self.glanced_bounds(&state, number, &glance, BoxAt { start, shape }, window)?;
            Some(if is_one_item(&bounds) { Known::Item(bounds.min) } else { Known::Bounds(bounds) })
        });
        glanced.unwrap_or(Known::Nothing)
    }

    fn glanced_bounds(
        &self,
        state: &State,
        number: u64,
        glance: &Glance,
        place: BoxAt<'_>,
        window: Window,
    ) -> Option<Bounds> {
        // Of all of an item the dtype says what number it is; of a part of it only the chunk does.
        let whole = Some(window) == Some(Window { offset: 0, bytes: self.typesize() });
        let ty = self.item_type.filter(|_| whole);
        let region = state.grid.region(number);
        match glance {
            Glance::Item(item) => bounds_of(ty?, &Statistics::of_item(ty?, item)?),
            Glance::Blocks => {
                let bounds = self.chunk_bounds(number).filter(|_| whole)?;
                let is_all =
                    region.iter().zip(place.shape).all(|(range, &len)| range.end - range.start == len);
                Some(Bounds { is_exact: bounds.is_exact && is_all, ..bounds })
            }
            Glance::Opened(chunk) => {
                let (&[at], &[len], [range]) = (place.start, place.shape, &region[..]) else { return None };
                let first = at - range.start;
                let (found, known) = chunk.bounds(first..first + len, window.offset, window.bytes)?;
                bounds_of(found, &known).filter(|_| ty.is_none_or(|ty| ty == found))
            }
        }
    }
}

impl Array {
    /// What is known of the items of chunk `number` without decoding any: those inside the shape. Limits that are not
    /// exact may be wider than the items, and say that there is a NaN where there may be one. Of a chunk that has
    /// only NaNs, both limits are NaN.
    pub fn chunk_bounds(&self, number: u64) -> Option<Bounds> {
        let (state, ty) = (self.state(), self.item_type?);
        if let Some(statistics) = state.chunks.statistics(number) {
            return bounds_of(ty, &statistics);
        }
        let Ok(Access::Free) = state.chunks.access(1) else { return None };
        let statistics = match state.chunks.chunk(number).ok()? {
            Stored::Special(special) => Statistics::of_item(ty, &special.item(state.grid.typesize()).ok()?),
            Stored::Item(item) => Statistics::of_item(ty, &item),
            Stored::At { .. } => None,
            Stored::Other { .. } => {
                let region = state.grid.region(number);
                let (start, shape): (Vec<_>, Vec<_>) =
                    region.iter().map(|range| (range.start, range.end - range.start)).unzip();
                return self.bounds_of_part(&start, &shape, Window { offset: 0, bytes: self.typesize() });
            }
        };
        bounds_of(ty, &statistics?)
    }
}

/// The bounds that statistics say; `None` for what none of ours say.
fn bounds_of(ty: Type, statistics: &Statistics) -> Option<Bounds> {
    let size = ty.bytes();
    let &Statistics { min, max, is_exact, has_nan } = statistics;
    statistics.are_sound(ty).then(|| Bounds {
        min: min[..size].into(),
        max: max[..size].into(),
        is_exact,
        has_nan,
    })
}

/// Whether all items within bounds are the same one.
fn is_one_item(bounds: &Bounds) -> bool {
    let Bounds { min, max, is_exact, has_nan } = bounds;
    // Zeros of both signs are one number, but not one item; numbers of one byte have no such zeros.
    let is_zero = min.len() > 1 && min.iter().rev().skip(1).all(|&byte| byte == 0);
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

#[cfg(test)]
mod tests {
    use super::*;

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
        for byte in [0, 1, 0x80] {
            assert!(is_one_item(&exact(&[byte], &[byte])));
        }
    }

    #[test]
    fn statistics_that_none_of_ours_say_are_no_bounds() {
        let double = f64::to_le_bytes;
        let known = |min: f64, max: f64, has_nan| {
            bounds_of(Type::F64, &Statistics { min: double(min), max: double(max), is_exact: true, has_nan })
        };
        assert!(known(1.0, 2.0, false).is_some() && known(1.0, 1.0, true).is_some());
        assert!(known(f64::NAN, f64::NAN, true).is_some());
        assert!(known(2.0, 1.0, false).is_none());
        assert!(known(f64::NAN, f64::NAN, false).is_none());
        assert!(known(f64::NAN, 1.0, true).is_none());
        assert!(known(-0.0, 1.0, true).is_none());
        let byte = |min: u8, max: u8| {
            let item = |byte| [byte, 0, 0, 0, 0, 0, 0, 0];
            bounds_of(
                Type::Bool,
                &Statistics { min: item(min), max: item(max), is_exact: true, has_nan: false },
            )
        };
        assert!(byte(0, 1).is_some() && byte(0, 2).is_none());
        let spill = Statistics { min: [1; 8], max: [1; 8], is_exact: true, has_nan: false };
        assert!(bounds_of(Type::U8, &spill).is_none());
    }
}
