//! Byte planes of rows of an array, decoded one after another as far as they are wanted.
//!
//! In: rows of one block of an array of one axis, and who looks at planes. Out: those that it asks for. They are kept as
//! long as the thread works on a box: who asks next goes on with them, and who wants the items has what is missing added.
//! Invariant: the planes are those of the items that [`Array::read`] gives.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::geometry::{BoxAt, NextRowPlane, RowPlanes};
use super::handle::Array;
use super::read::{BlockAt, Content, State, is_open, keep_decoded, keep_planes, room_for, take_planes};
use crate::base::error::Result;
use crate::chunk::{BytePlanes, NextPlane};
use crate::store::{Access, OpenChunk};

/// A block, and rows of it.
struct RowsAt {
    at: BlockAt,
    /// Where the first of the rows is in it.
    first: usize,
    /// The first row of the block, and how many of its rows are there.
    start: u64,
    len: u64,
}

impl Array {
    /// Where these rows are, if they are in one block that this thread may fetch by itself.
    fn rows_at(&self, state: &State, rows: &Range<u64>) -> Option<RowsAt> {
        let (grid, item) = (&state.grid, state.grid.typesize());
        let &[len] = grid.shape() else { return None };
        if rows.start >= rows.end || rows.end > len {
            return None;
        }
        let located = grid.locate(0, rows.start);
        let chunks = &state.chunks;
        let is_one = rows.end - rows.start <= located.ahead && located.place.is_multiple_of(item);
        let is_free = is_one && chunks.remote().is_none() && matches!(chunks.access(1), Ok(Access::Free));
        let first = located.place / item;
        let start = rows.start - first as u64;
        let len = (first as u64 + located.ahead).min(len - start);
        is_free.then_some(RowsAt {
            at: BlockAt { chunk: located.chunk, block: located.block },
            first,
            start,
            len,
        })
    }

    /// Shows byte planes of these rows, as far as `next` asks for them, if they are at least half of a block that is stored
    /// as planes and not decoded yet; whether they are.
    pub(super) fn row_planes(&self, rows: Range<u64>, next: &mut NextRowPlane<'_>) -> Result<bool> {
        let state = self.state();
        let Some(found) = is_open().then(|| self.rows_at(&state, &rows)).flatten() else { return Ok(false) };
        let (block_bytes, item) = (state.grid.block_bytes(), state.grid.typesize());
        let count = usize::try_from(rows.end - rows.start).unwrap_or(usize::MAX);
        if item < 2 || count < block_bytes / item / 2 {
            return Ok(false);
        }
        let Content::Blocks(id, chunk) = self.source(&state).content(found.at.chunk)? else {
            return Ok(false);
        };
        if self.source(&state).cache.block(id, found.at.block).is_some() {
            return Ok(false);
        }
        let kept = take_planes(&state, found.at);
        let planes = kept.or_else(|| room_for(block_bytes).map(|room| BytePlanes::new(room, item)));
        let Some(mut planes) = planes else { return Ok(false) };
        let rows = found.first..found.first + count;
        let mut next = |planes: &BytePlanes| next(&RowPlanes { planes, rows: rows.clone() });
        let done = self.decode_planes(&state, &*chunk, found.at, &mut planes, &mut next);
        keep_planes(&state, found.at, planes);
        // What goes wrong here goes wrong with the items too, where it is dealt with.
        Ok(matches!(done, Ok(true)))
    }

    fn decode_planes(
        &self,
        state: &State,
        chunk: &dyn OpenChunk,
        at: BlockAt,
        planes: &mut BytePlanes,
        next: &mut NextPlane<'_>,
    ) -> Result<bool> {
        let before = planes.decoded();
        let done = chunk.read_planes(at.block, planes, next)?;
        let (more, source) = (planes.decoded() - before, self.source(state));
        source.counters.planes_decoded.fetch_add(more as u64, Ordering::Relaxed);
        source.counters.blocks_decoded.fetch_add(u64::from(before == 0 && more > 0), Ordering::Relaxed);
        Ok(done)
    }

    /// Makes items of the planes of a block that are kept, and keeps these; whether a box is in such a block.
    pub(super) fn join_planes(&self, state: &Arc<State>, place: BoxAt<'_>) -> Result<bool> {
        let (&[start], &[len]) = (place.start, place.shape) else { return Ok(false) };
        let Some(found) = self.rows_at(state, &(start..start.saturating_add(len))) else { return Ok(false) };
        let Some(mut planes) = take_planes(state, found.at).filter(|planes| planes.decoded() > 0) else {
            return Ok(false);
        };
        if planes.first_missing().is_some() {
            let Content::Blocks(_, chunk) = self.source(state).content(found.at.chunk)? else {
                return Ok(false);
            };
            let all = &mut |planes: &BytePlanes| planes.first_missing();
            if !matches!(self.decode_planes(state, &*chunk, found.at, &mut planes, all), Ok(true)) {
                return Ok(false);
            }
        }
        let Some(mut items) = room_for(planes.nbytes()) else { return Ok(false) };
        planes.join(&mut items);
        keep_planes(state, found.at, planes);
        items
            .truncate(usize::try_from(found.len).unwrap_or(usize::MAX).saturating_mul(state.grid.typesize()));
        keep_decoded(state, BoxAt { start: &[found.start], shape: &[found.len] }, items);
        Ok(true)
    }
}
