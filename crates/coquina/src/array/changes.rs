//! What changes the items or the shape of an array: writes, resizes and appends.
//!
//! A change makes the touched chunks anew, applies them in one step, and commits; if anything fails, the state is that of
//! the last commit.

use std::borrow::Cow;
use std::sync::Arc;

use super::geometry::{Grid, Selection, Window};
use super::handle::{Array, Writer};
use super::read::State;
use super::write::{ChunkEncoder, Request, Values, Write, clear_uncovered, statistics_after_resize};
use crate::base::error::{Error, Result};
use crate::base::pool::Job;
use crate::store::Change;

impl Array {
    /// Writes values to the window's bytes of the selected items. Of several values for one item the last one stays.
    ///
    /// # Errors
    /// As [`Array::read`], `Io`; the array is then as it was.
    pub fn write(
        &self,
        selection: &Selection,
        window: Window,
        values: Values<'_>,
        job: &Job<'_>,
    ) -> Result<()> {
        let request = Request { selection: Cow::Borrowed(selection), window, values };
        self.change(|old| Ok((old.clone(), Some(request))), job)
    }

    /// Writes as [`Array::write`] does, if the shape is this one; whether it is. A selection that was made for a shape
    /// means something else once another thread has resized the array.
    ///
    /// # Errors
    /// As [`Array::write`].
    pub fn write_in_shape(
        &self,
        shape: &[u64],
        selection: &Selection,
        window: Window,
        values: Values<'_>,
        job: &Job<'_>,
    ) -> Result<bool> {
        let mut is_same = true;
        let resolve = |old: &Grid| {
            is_same = old.shape() == shape;
            let request = Request { selection: Cow::Borrowed(selection), window, values };
            Ok((old.clone(), is_same.then_some(request)))
        };
        self.change(resolve, job)?;
        Ok(is_same)
    }

    /// Gives it another shape. What is new is zeros; what is cut off is gone.
    ///
    /// # Errors
    /// `Limit` for more than can be counted, `Io`; the array is then as it was.
    pub fn resize(&self, shape: &[u64], job: &Job<'_>) -> Result<()> {
        self.change(|old| Ok((old.resized(shape)?, None)), job)
    }

    /// Makes axis `axis` longer by `len` and fills what is new, in one commit.
    ///
    /// # Errors
    /// As [`Array::write`] and [`Array::resize`].
    pub fn append(&self, axis: usize, len: u64, values: Values<'_>, job: &Job<'_>) -> Result<()> {
        let longer = |old: &Grid| {
            let mut shape = old.shape().to_vec();
            let Some(size) = shape.get_mut(axis) else {
                return Err(Error::out_of_bounds(format!(
                    "axis {axis} is out of bounds for an array with {} axes",
                    old.ndim()
                )));
            };
            let start = *size;
            *size = start.checked_add(len).ok_or_else(|| Error::limit(format!("{start} + {len} items")))?;
            let grid = old.resized(&shape)?;
            let mut ranges: Vec<_> = shape.iter().map(|&len| 0..len).collect();
            ranges[axis] = start..start + len;
            let window = Window { offset: 0, bytes: old.typesize() };
            let selection = Cow::Owned(Selection::region(&ranges));
            Ok((grid, Some(Request { selection, window, values })))
        };
        self.change(longer, job)
    }

    /// Goes over to another grid and writes, as one change. `resolve` is asked for both while no other thread can
    /// change the array: what it answers is about the shape that the change will find.
    fn change<'v>(
        &self,
        resolve: impl FnOnce(&Grid) -> Result<(Grid, Option<Request<'v>>)>,
        job: &Job<'_>,
    ) -> Result<()> {
        let mut writer = self.writer()?;
        let state = self.state();
        let (grid, write) = resolve(&state.grid)?;
        if grid == state.grid && write.is_none() {
            return writer.check().map_err(|e| self.placed(e));
        }
        let made = self.make_change(&mut writer, &grid, write.as_ref(), job);
        self.settle(&mut writer, made).map_err(|e| self.placed(e))
    }

    fn make_change(
        &self,
        writer: &mut Writer,
        grid: &Grid,
        write: Option<&Request<'_>>,
        job: &Job<'_>,
    ) -> Result<Arc<State>> {
        writer.check()?;
        let state = self.read_policies(writer)?;
        let old = self.source(&state);
        let policy = state.policies.for_write(&*self.format)?;
        let encoder = ChunkEncoder { old: &old, grid, format: &*self.format, policy: policy.policy() };
        let mut entries = Vec::new();
        let is_same = *grid == state.grid;
        if let Some(request) = write {
            request.check(grid)?;
            if !request.is_empty() {
                entries = Write { encoder, request }.run(&mut *writer.store, job)?;
            }
        }
        if !is_same {
            let encoder = ChunkEncoder { policy: policy.lossless(), ..encoder };
            clear_uncovered(&encoder, &mut *writer.store, &mut entries, job)?;
        }
        let remap = |number: u64| grid.number_in(old.grid, number);
        let (policies, layers) = state.policies.after(&policy.lost(), old.chunks.metadata());
        let mut change = Change { entries, layers, ..Change::default() };
        if !is_same {
            change.nchunks = Some(grid.nchunks());
            change.shape = Some(grid.shape());
            // Where numbers stay, nobody needs to go through all of them.
            change.remap = if grid.numbers_as(old.grid) { None } else { Some(&remap) };
            let meta = self.meta(grid);
            change.metalayers.push((meta.name().into(), meta.write()));
            change.statistics = statistics_after_resize(&old, grid, &change.entries);
        }
        writer.store.apply(change)?;
        Ok(Arc::new(State { grid: grid.clone(), chunks: writer.store.chunks(), policies }))
    }
}
