//! Boxes that a thread has decoded of arrays, for as long as it works on one box of a result.
//!
//! This is not a second block cache: what is kept here is a box, which may lie in many blocks, for one thread and one step
//! of a computation. The block cache (`block_cache.rs`) keeps blocks, for all threads, until others replace them.
//!
//! A condition over several fields of records asks one array for the same box again and again, and so does whoever
//! wants the columns of the rows that it found. Inside of [`with_decoded_boxes`] such a box is decoded once, as whole items,
//! and each field is copied out of it; of a block of which byte planes were decoded the others are added when they are
//! needed. Nothing outlives the outermost scope of a thread but empty memory.
//! Invariant: a box is known by the state of its array, so items that were written meanwhile are seen.

use std::cell::RefCell;
use std::sync::Arc;

use coquina_kernels::boxes::{AXES_MAX, Axis, Steps, copy_box};

use super::snapshot::State;
use crate::array::geometry::{BoxAt, Window};
use crate::chunk::BytePlanes;
use crate::store::at_once;

/// A scope keeps so many bytes; what is beyond is decoded as often as it is asked for.
const SCOPE_BYTES_MAX: usize = 16 << 20;
/// More memory than this is given back at the end of a scope.
const SPARE_BYTES_KEPT: usize = 4 << 20;

/// A box of whole items.
struct Decoded {
    state: Arc<State>,
    start: Vec<u64>,
    shape: Vec<u64>,
    items: Vec<u8>,
}

/// The byte planes of a block of an array.
struct Planes {
    state: Arc<State>,
    at: BlockAt,
    planes: BytePlanes,
}

/// Which chunk, and which block of it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct BlockAt {
    pub(crate) chunk: u64,
    pub(crate) block: usize,
}

/// Takes the planes of a block that are kept in this scope.
pub(crate) fn take_planes(state: &Arc<State>, at: BlockAt) -> Option<BytePlanes> {
    BOXES.with_borrow_mut(|boxes| {
        let is_it = |kept: &Planes| Arc::ptr_eq(&kept.state, state) && kept.at == at;
        let number = boxes.planes.iter().position(is_it)?;
        Some(boxes.planes.swap_remove(number).planes)
    })
}

/// Keeps the planes of a block until the end of the scope.
pub(crate) fn keep_planes(state: &Arc<State>, at: BlockAt, planes: BytePlanes) {
    let state = Arc::clone(state);
    BOXES.with_borrow_mut(|boxes| boxes.planes.push(Planes { state, at, planes }));
}

/// Memory for a box of so many bytes, of any content, if there may be one more.
pub(crate) fn room_for(bytes: usize) -> Option<Vec<u8>> {
    BOXES.with_borrow_mut(|boxes| boxes.room(bytes))
}

/// Keeps the items of a box until the end of the scope.
pub(crate) fn keep_decoded(state: &Arc<State>, place: BoxAt<'_>, items: Vec<u8>) {
    let (state, start, shape) = (Arc::clone(state), place.start.into(), place.shape.into());
    BOXES.with_borrow_mut(|boxes| boxes.decoded.push(Decoded { state, start, shape, items }));
}

/// Copies the window's bytes of a box out of one that is kept and holds it, if there is one.
pub(crate) fn copy_decoded(state: &Arc<State>, place: BoxAt<'_>, window: Window, out: &mut [u8]) -> bool {
    BOXES.with_borrow(|boxes| boxes.copy(state, place, window, out))
}

#[derive(Default)]
struct DecodedBoxes {
    depth: usize,
    before: u64,
    decoded: Vec<Decoded>,
    planes: Vec<Planes>,
    spare: Vec<Vec<u8>>,
}

thread_local! {
    static BOXES: RefCell<DecodedBoxes> = RefCell::default();
}

/// Closes a scope, also where its work panics.
struct Scope;

impl Drop for Scope {
    fn drop(&mut self) {
        let done = BOXES.with_borrow_mut(|boxes| {
            boxes.depth -= 1;
            if boxes.depth > 0 {
                return (Vec::new(), Vec::new());
            }
            boxes.before = 0;
            (std::mem::take(&mut boxes.decoded), std::mem::take(&mut boxes.planes))
        });
        // What is dropped here may be the last of a state, and run code of a store.
        let (decoded, planes) = done;
        let of_planes = planes.into_iter().map(|kept| kept.planes.into_memory());
        for items in decoded.into_iter().map(|decoded| decoded.items).chain(of_planes) {
            BOXES.with_borrow_mut(|boxes| {
                let kept: usize = boxes.spare.iter().map(Vec::len).sum();
                if kept + items.len() <= SPARE_BYTES_KEPT {
                    boxes.spare.push(items);
                }
            });
        }
    }
}

/// Runs `work`; boxes of arrays that it asks for on this thread are decoded once. Scopes within are this one.
pub fn with_decoded_boxes<T>(work: impl FnOnce() -> T) -> T {
    BOXES.with_borrow_mut(|boxes| boxes.depth += 1);
    let _scope = Scope;
    at_once(work)
}

/// The same for a box that so many others of the same work were before, of each of which a small part was wanted: of
/// many such boxes blocks are not kept beyond the scope, as they would only replace each other.
pub fn with_decoded_boxes_after<T>(number: u64, work: impl FnOnce() -> T) -> T {
    with_decoded_boxes(|| {
        BOXES.with_borrow_mut(|boxes| boxes.before = boxes.before.max(number));
        work()
    })
}

/// How many boxes there were before this one.
pub(super) fn boxes_before() -> u64 {
    BOXES.with_borrow(|boxes| boxes.before)
}

/// Whether this thread is in a scope.
pub(crate) fn is_open() -> bool {
    BOXES.with_borrow(|boxes| boxes.depth > 0)
}

impl DecodedBoxes {
    /// Memory for a box of so many bytes, of any content, if there may be one more.
    fn room(&mut self, bytes: usize) -> Option<Vec<u8>> {
        let boxes = self.decoded.iter().map(|decoded| decoded.items.len());
        let kept: usize = boxes.chain(self.planes.iter().map(|kept| kept.planes.nbytes())).sum();
        if kept.checked_add(bytes)? > SCOPE_BYTES_MAX {
            return None;
        }
        let mut room = self.spare.pop().unwrap_or_default();
        room.resize(bytes, 0);
        Some(room)
    }

    /// Copies a box out of one that holds it, if there is one.
    fn copy(&self, state: &Arc<State>, place: BoxAt<'_>, window: Window, out: &mut [u8]) -> bool {
        let BoxAt { start, shape } = place;
        let holding = self.decoded.iter().find(|decoded| {
            let ends = decoded.start.iter().zip(&decoded.shape).map(|(at, len)| at + len);
            let mut axes = decoded.start.iter().zip(ends).zip(start.iter().zip(shape));
            Arc::ptr_eq(&decoded.state, state)
                && axes.all(|((own, own_end), (at, len))| own <= at && at + len <= own_end)
        });
        let Some(Decoded { start: own_start, shape: own_shape, items, .. }) = holding else { return false };
        let item = state.grid.typesize();
        // All of these lie in memory, so they fit.
        let small = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        let (mut to, mut from) = (window.bytes, item);
        let none = Steps::Even { start: 0, step: 0 };
        let mut axes = [Axis { len: 1, to: none, from: none }; AXES_MAX];
        let axes = &mut axes[..shape.len()];
        for (axis, steps) in axes.iter_mut().enumerate().rev() {
            let at = small(start[axis] - own_start[axis]) * from;
            steps.len = small(shape[axis]);
            steps.to = Steps::Even { start: 0, step: to.cast_signed() };
            steps.from = Steps::Even { start: at, step: from.cast_signed() };
            to *= small(shape[axis]);
            from *= small(own_shape[axis]);
        }
        copy_box(out, &items[window.offset..], axes, window.bytes);
        true
    }
}
