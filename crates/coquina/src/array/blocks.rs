//! The blocks of a chunk that is written: what was there, and the values over it.
//!
//! In: a write, and a chunk that it touches. Out: any block as it is to be, made when it is asked for; of a block that
//! is not touched the stored bytes, if it can stay as it is.

use std::sync::{Mutex, PoisonError};

use coquina_kernels::boxes::{AXES_MAX, Axis, Steps, copy_box};

use super::before::Before;
use super::computed;
use super::plan::{Plan, Touched};
use super::write::{Values, Write};
use crate::base::error::{Error, Result};
use crate::chunk::{BlockSource, Header, Params};

/// The touched block that a block of the chunk is, if it is one.
const NOT_TOUCHED: usize = usize::MAX;

/// The first error of making blocks, which has no other way out of the encoder.
#[derive(Default)]
pub(super) struct Failed(Mutex<Option<Error>>);

impl Failed {
    pub(super) fn note<T>(&self, block: usize, made: Result<T>) -> Option<T> {
        match made {
            Ok(made) => Some(made),
            Err(error) => {
                let mut first = self.0.lock().unwrap_or_else(PoisonError::into_inner);
                first.get_or_insert(error.at(format!("block {block}")));
                None
            }
        }
    }

    /// What a block could not be made of explains whatever came out.
    pub(super) fn first<T>(self, made: Result<T>) -> Result<T> {
        match self.0.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some(error) => Err(error),
            None => made,
        }
    }
}

impl Write<'_> {
    /// The blocks of a chunk as they are to be.
    pub(super) fn blocks<'b>(&'b self, plan: &'b Plan, touched: &'b Touched) -> Result<NewBlocks<'b>> {
        let mut number_of = vec![NOT_TOUCHED; self.grid.blocks_per_chunk()];
        let mut groups = [0; AXES_MAX];
        for number in 0..touched.nblocks() {
            number_of[touched.block(plan, number, &mut groups[..plan.axes.len()])] = number;
        }
        let before = if self.covers(plan, touched) {
            Before::Nothing(self.old.chunks.fill())
        } else {
            Before::of(self.old, self.grid, touched.chunk)?
        };
        let strides = self.value_strides();
        let failed = Failed::default();
        Ok(NewBlocks { write: self, plan, touched, params: *self.params, number_of, strides, before, failed })
    }

    /// Bytes from one position of each axis of the values to the next; all zero for a single value.
    fn value_strides(&self) -> Vec<usize> {
        let shape = self.selection.shape();
        let mut strides = vec![0; shape.len()];
        if let Values::Bytes(_) = self.values {
            let mut stride = self.window.bytes;
            for (at, &len) in shape.iter().enumerate().rev() {
                strides[at] = stride;
                stride = stride.saturating_mul(usize::try_from(len).unwrap_or(usize::MAX));
            }
        }
        strides
    }
}

/// The blocks of a chunk as they are to be: what was there, and the values over it.
pub(super) struct NewBlocks<'w> {
    write: &'w Write<'w>,
    plan: &'w Plan,
    touched: &'w Touched,
    /// By what the chunk is to be encoded.
    pub(super) params: Params,
    number_of: Vec<usize>,
    strides: Vec<usize>,
    before: Before<'w>,
    pub(super) failed: Failed,
}

impl BlockSource for NewBlocks<'_> {
    fn fill(&self, number: usize, out: &mut [u8]) {
        let _ = self.failed.note(number, self.make(number, out));
    }

    fn encoded(&self, number: usize) -> Option<Vec<u8>> {
        if self.touched_number(number).is_some() {
            return None;
        }
        let stored = self.before.stored(number, &self.params);
        self.failed.note(number, stored).flatten()
    }
}

/// The blocks of a chunk as they were.
pub(super) struct Stood<'w>(pub(super) &'w NewBlocks<'w>);

impl BlockSource for Stood<'_> {
    fn fill(&self, number: usize, out: &mut [u8]) {
        let _ = self.0.failed.note(number, self.0.before.block(number, out));
    }
}

impl NewBlocks<'_> {
    /// The numbers of the blocks that are written.
    pub(super) fn written(&self) -> Vec<usize> {
        let written = self.number_of.iter().enumerate().filter(|(_, touched)| **touched != NOT_TOUCHED);
        written.map(|(number, _)| number).collect()
    }

    /// The header of the Blosc chunk that stood there, if one did.
    pub(super) fn header(&self) -> Option<Header> {
        self.before.header()
    }

    /// The touched block that block `number` of the chunk is, if it is one.
    fn touched_number(&self, number: usize) -> Option<usize> {
        self.number_of.get(number).copied().filter(|&touched| touched != NOT_TOUCHED)
    }

    fn make(&self, number: usize, out: &mut [u8]) -> Result<()> {
        let Some(touched) = self.touched_number(number) else {
            return self.before.block(number, out).map(drop);
        };
        let (plan, write) = (self.plan, self.write);
        let ndim = plan.axes.len();
        let mut groups = [0; AXES_MAX];
        self.touched.block(plan, touched, &mut groups[..ndim]);
        let groups = &groups[..ndim];
        let is_whole = plan.is_box(write.selection)
            && plan.lens(groups).product::<usize>() * write.window.bytes == out.len();
        if !is_whole {
            self.before.block(number, out)?;
        }
        let mut to = [Steps::Even { start: 0, step: 0 }; AXES_MAX];
        plan.block_steps(groups, &mut to[..ndim]);
        let values = match write.values {
            Values::Bytes(values) | Values::Uniform(values) => values,
            Values::Computed(source) => return computed::fill_block(source, plan, groups, &to[..ndim], out),
        };
        let mut rooms = vec![Vec::new(); ndim];
        let from = plan.result_steps(groups, &self.strides, &mut rooms);
        let axes: Vec<Axis<'_>> =
            from.into_iter().zip(to).map(|((len, from), to)| Axis { len, to, from }).collect();
        copy_box(&mut out[write.window.offset..], values, &axes, write.window.bytes);
        Ok(())
    }
}
