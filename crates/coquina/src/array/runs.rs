//! The one item of a box of many chunks, told by the index: runs of equal chunks are looked at once.
//!
//! In: a box of the array. Out: the item that all its items are, or nothing. No block is decoded; a chunk that
//! repeats a value is opened once for a run of it. What is far away tells only what its index does.
//! Invariant: where an item is given, `uniform` of each single chunk of the box would be that item, bit by bit.

use super::handle::Array;
use super::read::{Source, State};
use crate::base::error::Result;
use crate::chunk::{Kind, LazyChunk, Special};
use crate::store::{Access, Chunks, Stored};

/// More runs than this are not looked at: who asks goes on with smaller boxes then.
const RUNS_MAX: usize = 4096;

/// The chunks of a box: rows of consecutive numbers, one row for each place along the first axes.
struct Rows {
    /// Of the first axes: the first chunk, how many, and from one to the next.
    axes: Vec<(u64, u64, u64)>,
    first: u64,
    len: u64,
}

impl Rows {
    /// Nothing for a box without items, or one that leaves the shape.
    fn of(state: &State, start: &[u64], shape: &[u64]) -> Option<Self> {
        let grid = &state.grid;
        let mut rows = Self { axes: Vec::with_capacity(grid.ndim()), first: 0, len: 1 };
        let mut is_whole = true; // whether the axes behind are covered from end to end
        for axis in (0..grid.ndim()).rev() {
            let (chunk, size) = (*grid.chunks().get(axis)?, *grid.shape().get(axis)?);
            let first = start.get(axis)?.checked_div(chunk)?;
            let end = start.get(axis)?.checked_add(*shape.get(axis)?).filter(|&end| end <= size)?;
            let count = end.checked_sub(1)?.checked_div(chunk)?.checked_sub(first)?.checked_add(1)?;
            if is_whole {
                (rows.first, rows.len) =
                    (rows.first + first * grid.chunk_stride(axis), count * grid.chunk_stride(axis));
            } else {
                rows.axes.push((first, count, grid.chunk_stride(axis)));
            }
            is_whole &= count == size.div_ceil(chunk);
        }
        (!shape.contains(&0)).then_some(rows)
    }

    /// Rows that lie evenly: the first number of the first of them, and how many there are, and their stride.
    fn groups(&self) -> impl Iterator<Item = (u64, u64, u64)> {
        let (inner, outer) =
            self.axes.split_first().map_or((&(0, 1, 0), &[][..]), |(inner, outer)| (inner, outer));
        let count = outer.iter().fold(1_u64, |all, (_, count, _)| all.saturating_mul(*count));
        (0..count).map(move |mut left| {
            let first = self.first + inner.0 * inner.2;
            let first = outer.iter().fold(first, |number, &(first, count, stride)| {
                let at = first + left % count;
                left /= count;
                number + at * stride
            });
            (first, inner.1, inner.2)
        })
    }

    /// Calls `look` with a number of each run of equal chunks, until it says that this is enough; whether it never did.
    fn all_runs(&self, chunks: &dyn Chunks, mut look: impl FnMut(u64) -> Option<bool>) -> Option<bool> {
        for (first, count, stride) in self.groups() {
            let last =
                first.checked_add(stride.checked_mul(count.checked_sub(1)?)?)?.checked_add(self.len)?;
            let (mut row, mut at) = (0, first);
            while row < count {
                let end = first.checked_add(row * stride)?.checked_add(self.len)?;
                if !look(at)? {
                    return Some(false);
                }
                at = chunks.alike_until(at, last);
                if at >= end {
                    // All rows that end within the run are done.
                    let more = (at - end).checked_div(stride).unwrap_or(count);
                    row = row.saturating_add(more).saturating_add(1);
                    at = at.max(first.saturating_add(row.saturating_mul(stride)));
                }
            }
        }
        Some(true)
    }
}

impl Array {
    /// The one item of a box of several chunks.
    pub(super) fn item_of_runs(&self, state: &State, start: &[u64], shape: &[u64]) -> Option<Vec<u8>> {
        let rows = Rows::of(state, start, shape)?;
        if !state.chunks.may_know_items() {
            return None;
        }
        let listed;
        let chunks = match state.chunks.access(rows.len).ok()? {
            Access::Free => &*state.chunks,
            Access::Fetched(_) => {
                listed = state.chunks.prefetch()?.listed(rows.len)?;
                &*listed
            }
        };
        let source = Source { chunks, ..self.source(state) };
        let (mut item, mut runs) = (None, 0);
        let look = |number: u64| {
            let found = item_of_chunk(&source, number).ok()??;
            runs += 1;
            Some(runs <= RUNS_MAX && item.get_or_insert_with(|| found.clone()) == &found)
        };
        if rows.all_runs(chunks, look)? { item } else { None }
    }
}

/// The item that a chunk repeats, if it has no blocks.
fn item_of_chunk(source: &Source<'_>, number: u64) -> Result<Option<Vec<u8>>> {
    let typesize = source.grid.typesize();
    match source.chunks.chunk(number)? {
        Stored::Special(special) => special.item(typesize).map(Some),
        Stored::Item(item) => Ok(Some(item.to_vec())),
        Stored::At { source: bytes, place, .. } if source.chunks.remote().is_none() => {
            let chunk = LazyChunk::open_in(&source.grid.layout(""), bytes, place, source.limits)?;
            let header = chunk.header();
            let is_value = header.kind()? == Kind::Special(Special::Value)
                && header.nbytes == source.grid.chunk_bytes()
                && header.typesize == typesize;
            let mut item = vec![0; typesize];
            Ok(if is_value { chunk.read(0, &mut item).map(|_| Some(item))? } else { None })
        }
        Stored::At { .. } | Stored::Other { .. } => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::super::geometry::{Access as Hint, Selection, Window};
    use super::super::open::{ArraySpec, Fill, Target};
    use super::super::write::Values;
    use crate::array::{Array, BoxSource};
    use crate::base::pool::Job;
    use crate::chunk::{Params, Special};

    fn zeros(shape: &[u64], chunks: &[u64]) -> Array {
        let spec = ArraySpec {
            shape: shape.to_vec(),
            chunks: Some(chunks.to_vec()),
            blocks: Some(chunks.to_vec()),
            access: Hint::Any,
            dtype: "<u2".into(),
            fill: Fill::Special(Special::Zeros),
            params: Params { typesize: 2, ..Params::default() },
            checksums: true,
            statistics: true,
            tuning: None,
        };
        Array::create(&spec, &Target::Memory).unwrap()
    }

    /// The law: a box of many chunks is one item if all its chunks are that item.
    #[test]
    fn a_box_of_chunks_is_one_item_where_each_of_its_chunks_is() {
        let array = zeros(&[9, 10, 7], &[2, 3, 2]);
        let window = Window { offset: 0, bytes: 2 };
        let write = |ranges: &[std::ops::Range<u64>], item: u16| {
            let bytes = item.to_le_bytes();
            let values = Values::Uniform(&bytes);
            array.write(&Selection::region(ranges), window, values, &Job::inline()).unwrap();
        };
        write(&[2..4, 3..6, 2..4], 5);
        write(&[2..4, 3..6, 4..6], 5);
        write(&[8..9, 9..10, 6..7], 7);
        let mut known = 0;
        for start in [[0, 0, 0], [2, 3, 2], [2, 3, 0], [4, 0, 0], [8, 9, 6], [0, 6, 0]] {
            for shape in
                [[9, 10, 7], [2, 3, 4], [2, 3, 2], [2, 7, 7], [1, 1, 1], [2, 4, 7], [9, 3, 1], [0, 1, 1]]
            {
                let end: Vec<u64> = start.iter().zip(shape).map(|(start, len)| start + len).collect();
                if end.iter().zip([9, 10, 7]).any(|(&end, size)| end > size) || shape.contains(&0) {
                    assert!(shape != [0, 1, 1] || array.uniform(&start, &shape).is_none());
                    continue;
                }
                let bytes: u64 = shape.iter().product::<u64>() * 2;
                let mut items = vec![0; usize::try_from(bytes).unwrap()];
                array.fill(&start, &shape, &mut items).unwrap();
                if let Some(item) = array.uniform(&start, &shape) {
                    assert!(items.chunks(2).all(|one| one == item), "{start:?} {shape:?}");
                    known += 1;
                }
            }
        }
        assert!(known > 12, "{known}");
        assert_eq!(array.uniform(&[2, 3, 2], &[2, 3, 4]), Some(vec![5, 0]));
        assert_eq!(array.uniform(&[0, 6, 0], &[9, 3, 1]), Some(vec![0, 0]));
        assert_eq!(array.uniform(&[0, 0, 0], &[9, 10, 7]), None);
    }

    #[test]
    fn very_many_equal_chunks_are_one_look() {
        let array = zeros(&[1 << 37, 1000], &[1 << 20, 1]);
        assert_eq!(array.uniform(&[0, 0], &[1 << 37, 1000]), Some(vec![0, 0]));
        assert_eq!(array.uniform(&[0, 5], &[1 << 31, 990]), Some(vec![0, 0]));
    }
}
