//! The blocks of a chunk that is written: what was there, and the values over it.
//!
//! In: a request, and a chunk that it touches. Out: any block as it is to be, made when it is asked for; of a block that
//! is not touched the stored bytes, if it can stay as it is.

use coquina_kernels::boxes::{AXES_MAX, Axis, Steps, copy_box};

use super::computed;
use super::first_error::FirstError;
use super::old_chunk::OldChunk;
use super::request::{Request, Values};
use crate::array::geometry::{Plan, Touched};
use crate::base::error::Result;
use crate::chunk::{BlockSource, Header, Params};
use crate::policy::ChunkBlocks;

/// The touched block that a block of the chunk is, if it is one.
const NOT_TOUCHED: usize = usize::MAX;

/// The blocks of a chunk as they are to be: what was there, and the values over it.
pub(super) struct PatchedBlocks<'w> {
    request: &'w Request<'w>,
    plan: &'w Plan,
    touched: &'w Touched,
    number_of: Vec<usize>,
    strides: Vec<usize>,
    old: OldChunk<'w>,
    pub(super) failed: FirstError,
}

impl<'w> PatchedBlocks<'w> {
    /// Those of a chunk of `nblocks` blocks, over what it held.
    pub(super) fn new(
        request: &'w Request<'w>,
        plan: &'w Plan,
        touched: &'w Touched,
        old: OldChunk<'w>,
        nblocks: usize,
    ) -> Self {
        let mut number_of = vec![NOT_TOUCHED; nblocks];
        let mut groups = [0; AXES_MAX];
        for number in 0..touched.nblocks() {
            number_of[touched.block(plan, number, &mut groups[..plan.axes.len()])] = number;
        }
        let strides = request.value_strides();
        Self { request, plan, touched, number_of, strides, old, failed: FirstError::default() }
    }
}

impl BlockSource for PatchedBlocks<'_> {
    fn fill(&self, number: usize, out: &mut [u8]) {
        let _ = self.failed.note(number, self.make(number, out));
    }
}

impl ChunkBlocks for PatchedBlocks<'_> {
    fn fill_old(&self, number: usize, out: &mut [u8]) {
        let _ = self.failed.note(number, self.old.block(number, out));
    }

    fn written(&self) -> Vec<usize> {
        let written = self.number_of.iter().enumerate().filter(|(_, touched)| **touched != NOT_TOUCHED);
        written.map(|(number, _)| number).collect()
    }

    fn reused(&self, number: usize, params: &Params) -> Option<Vec<u8>> {
        if self.touched_number(number).is_some() {
            return None;
        }
        let stored = self.old.stored(number, params);
        self.failed.note(number, stored).flatten()
    }

    fn old_header(&self) -> Option<Header> {
        self.old.header()
    }
}

impl PatchedBlocks<'_> {
    /// The touched block that block `number` of the chunk is, if it is one.
    fn touched_number(&self, number: usize) -> Option<usize> {
        self.number_of.get(number).copied().filter(|&touched| touched != NOT_TOUCHED)
    }

    fn make(&self, number: usize, out: &mut [u8]) -> Result<()> {
        let Some(touched) = self.touched_number(number) else {
            return self.old.block(number, out).map(drop);
        };
        let (plan, request) = (self.plan, self.request);
        let ndim = plan.axes.len();
        let mut groups = [0; AXES_MAX];
        self.touched.block(plan, touched, &mut groups[..ndim]);
        let groups = &groups[..ndim];
        let is_whole = plan.is_box(&request.selection)
            && plan.lens(groups).product::<usize>() * request.window.bytes == out.len();
        if !is_whole {
            self.old.block(number, out)?;
        }
        let mut to = [Steps::Even { start: 0, step: 0 }; AXES_MAX];
        plan.block_steps(groups, &mut to[..ndim]);
        let values = match request.values {
            Values::Bytes(values) | Values::Uniform(values) => values,
            Values::Computed(source) => return computed::fill_block(source, plan, groups, &to[..ndim], out),
        };
        let mut rooms = vec![Vec::new(); ndim];
        let from = plan.result_steps(groups, &self.strides, &mut rooms);
        let axes: Vec<Axis<'_>> =
            from.into_iter().zip(to).map(|((len, from), to)| Axis { len, to, from }).collect();
        copy_box(&mut out[request.window.offset..], values, &axes, request.window.bytes);
        Ok(())
    }
}
