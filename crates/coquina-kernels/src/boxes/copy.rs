//! The loop of a box copy: axes merged and put in order, then rows.
//!
//! Rows that stand apart in a large buffer are mostly not in the cache, and the CPU does not foresee them: where they begin
//! is told to it some rows before.

use super::{AXES_MAX, Axis, Steps};

/// A box copy, reduced to as few and as long rows as it has.
pub(super) struct Copy<'a> {
    axes: [Axis<'a>; AXES_MAX],
    count: usize,
    /// Bytes that are contiguous in both buffers.
    item: usize,
    to: usize,
    from: usize,
}

const NO_AXIS: Axis<'static> =
    Axis { len: 1, to: Steps::Even { start: 0, step: 0 }, from: Steps::Even { start: 0, step: 0 } };

impl<'a> Copy<'a> {
    /// `axes` from the outermost on, all of them longer than zero.
    pub(super) fn new(axes: &[Axis<'a>], item: usize) -> Self {
        assert!(axes.len() <= AXES_MAX, "a box of {} axes", axes.len());
        let mut copy = Self { axes: [NO_AXIS; AXES_MAX], count: 0, item, to: 0, from: 0 };
        for axis in axes {
            copy.push(*axis);
        }
        copy.merge_rows();
        copy
    }

    fn push(&mut self, mut axis: Axis<'a>) {
        if let (Steps::Even { start: to, step: to_step }, Steps::Even { start: from, step: from_step }) =
            (axis.to, axis.from)
        {
            self.to += to;
            self.from += from;
            if axis.len == 1 {
                return;
            }
            axis.to = Steps::Even { start: 0, step: to_step };
            axis.from = Steps::Even { start: 0, step: from_step };
            if self.extends_last(axis.len, to_step, from_step) {
                axis.len *= self.axes[self.count - 1].len;
                self.count -= 1;
            }
        }
        self.axes[self.count] = axis;
        self.count += 1;
    }

    /// Whether a further axis goes on where the last one steps to, in both buffers.
    fn extends_last(&self, len: usize, to_step: isize, from_step: isize) -> bool {
        let Some(last) = self.count.checked_sub(1).map(|at| self.axes[at]) else { return false };
        let Ok(len) = isize::try_from(len) else { return false };
        let goes_on = |outer: Steps<'_>, inner: isize| match outer {
            Steps::Even { step, .. } => inner.checked_mul(len) == Some(step),
            Steps::Listed(_) => false,
        };
        goes_on(last.to, to_step) && goes_on(last.from, from_step)
    }

    /// Takes the last axis into the item where both buffers hold its items next to each other.
    fn merge_rows(&mut self) {
        while let Some(last) = self.count.checked_sub(1) {
            let item = self.item;
            let is_dense =
                |steps| matches!(steps, Steps::Even { step, .. } if usize::try_from(step) == Ok(item));
            if !is_dense(self.axes[last].to) || !is_dense(self.axes[last].from) {
                return;
            }
            self.item *= self.axes[last].len;
            self.count = last;
        }
    }

    /// Copies.
    ///
    /// # Safety
    /// Every position of the box, `item` bytes from it on, lies in memory that `dst` may be written through and
    /// `src` be read through for as long as this runs, and nobody else uses what is written.
    pub(super) unsafe fn run(&self, dst: *mut u8, src: *const u8) {
        // SAFETY: the sums of the starts are themselves part of every position.
        let dst = unsafe { dst.add(self.to) };
        // SAFETY: as above.
        let src = unsafe { src.add(self.from) };
        // SAFETY: the caller's promise, for what is left of each position.
        unsafe { copy_axes(dst, src, &self.axes[..self.count], self.item) }
    }
}

/// Copies what is left of a box below the given places.
///
/// # Safety
/// As [`Copy::run`].
unsafe fn copy_axes(dst: *mut u8, src: *const u8, axes: &[Axis<'_>], item: usize) {
    match axes {
        // SAFETY: the caller's promise; the buffers are two different ones.
        [] => unsafe { std::ptr::copy_nonoverlapping(src, dst, item) },
        [row] => match item {
            // SAFETY: the caller's promise, here and below.
            1 => unsafe { copy_row::<1>(dst, src, row) },
            // SAFETY: as above.
            2 => unsafe { copy_row::<2>(dst, src, row) },
            // SAFETY: as above.
            4 => unsafe { copy_row::<4>(dst, src, row) },
            // SAFETY: as above.
            8 => unsafe { copy_row::<8>(dst, src, row) },
            // SAFETY: as above.
            16 => unsafe { copy_row::<16>(dst, src, row) },
            // SAFETY: as above.
            _ => unsafe { copy_rows(dst, src, row, item) },
        },
        [outer, inner @ ..] => {
            // SAFETY: the caller's promise, for what is left of each position.
            let copy = |to, from| unsafe { copy_axes(to, from, inner, item) };
            // SAFETY: every place of the outer axis is part of positions of the box.
            unsafe { each(dst, src, outer, copy) }
        }
    }
}

/// Copies a row of items of a known size: no call for each.
///
/// # Safety
/// As [`Copy::run`].
unsafe fn copy_row<const N: usize>(dst: *mut u8, src: *const u8, row: &Axis<'_>) {
    let copy = |to: *mut u8, from: *const u8| {
        // SAFETY: the caller's promise: N bytes may be read here.
        let item = unsafe { from.cast::<[u8; N]>().read() };
        // SAFETY: and N be written there.
        unsafe { to.cast::<[u8; N]>().write(item) };
    };
    // SAFETY: the caller's promise.
    unsafe { each(dst, src, row, copy) }
}

/// Rows that the CPU is told of before they are copied.
const ROWS_AHEAD: isize = 4;
/// Bytes of such rows. In longer ones the CPU foresees what comes.
const AHEAD_BYTES: std::ops::RangeInclusive<usize> = 32..=2048;
#[cfg(target_arch = "x86_64")]
const LINE_BYTES: usize = 64;

/// Copies rows of `item` bytes.
///
/// # Safety
/// As [`Copy::run`].
unsafe fn copy_rows(dst: *mut u8, src: *const u8, row: &Axis<'_>, item: usize) {
    let (to, from) = (ahead(row.to, item), ahead(row.from, item));
    let copy = |at: *mut u8, source: *const u8| {
        if to != 0 {
            prefetch_row(at.wrapping_offset(to), item);
        }
        if from != 0 {
            prefetch_row(source.wrapping_offset(from), item);
        }
        // SAFETY: the caller's promise; the buffers are two different ones.
        unsafe { std::ptr::copy_nonoverlapping(source, at, item) }
    };
    // SAFETY: the caller's promise.
    unsafe { each(dst, src, row, copy) }
}

/// How far ahead rows of `item` bytes are asked for; 0 where they follow each other closely.
fn ahead(steps: Steps<'_>, item: usize) -> isize {
    match steps {
        Steps::Even { step, .. } if step.unsigned_abs() >= 2 * item && AHEAD_BYTES.contains(&item) => {
            step.wrapping_mul(ROWS_AHEAD)
        }
        _ => 0,
    }
}

/// Asks for the cache lines of a row, which may lie outside of all memory.
#[inline(always)]
fn prefetch_row(row: *const u8, bytes: usize) {
    #[cfg(target_arch = "x86_64")]
    for line in (0..bytes.next_multiple_of(LINE_BYTES)).step_by(LINE_BYTES) {
        crate::x86::prefetch_at(row.wrapping_add(line));
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (row, bytes);
}

/// Calls `work` for each position of an axis.
///
/// # Safety
/// The places of the axis lie in the memory of `dst` and `src`, and `work` may be called with all of them.
#[inline(always)]
unsafe fn each(dst: *mut u8, src: *const u8, axis: &Axis<'_>, work: impl Fn(*mut u8, *const u8)) {
    let place = |steps: Steps<'_>, at: usize| match steps {
        // Wrapping, as all intermediate values: only the sum has been found to lie inside.
        Steps::Even { start, step } => start.wrapping_add_signed(step.wrapping_mul(at.cast_signed())),
        Steps::Listed(places) => places[at],
    };
    if let (Steps::Even { start: to, step: to_step }, Steps::Even { start: from, step: from_step }) =
        (axis.to, axis.from)
    {
        // SAFETY: the first position lies inside.
        let mut dst = unsafe { dst.add(to) };
        // SAFETY: as above.
        let mut src = unsafe { src.add(from) };
        for _ in 0..axis.len {
            work(dst, src);
            dst = dst.wrapping_offset(to_step);
            src = src.wrapping_offset(from_step);
        }
        return;
    }
    for at in 0..axis.len {
        work(dst.wrapping_add(place(axis.to, at)), src.wrapping_add(place(axis.from, at)));
    }
}
