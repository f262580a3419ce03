//! Working memory of a thread that begins where every number type may.
//!
//! Kept between uses, as fresh memory is slow to touch. A stack: while one piece is in use, what it is used for may
//! need another.

use std::cell::RefCell;

use coquina_kernels::items::Aligned;

thread_local! {
    static ROOMS: RefCell<Vec<Aligned>> = const { RefCell::new(Vec::new()) };
}

/// More than this is given back when the work is done.
const ROOM_BYTES_KEPT: usize = 40 << 20;

/// Runs `work` with a piece of memory that can be asked for room.
pub(crate) fn with_aligned<T>(work: impl FnOnce(&mut Aligned) -> T) -> T {
    let mut room = ROOMS.with_borrow_mut(Vec::pop).unwrap_or_default();
    let result = work(&mut room);
    if room.all().len() <= ROOM_BYTES_KEPT {
        ROOMS.with_borrow_mut(|rooms| rooms.push(room));
    }
    result
}

/// Runs `work` with room for so many bytes, of any content.
pub(crate) fn with_room<T>(bytes: usize, work: impl FnOnce(&mut [u8]) -> T) -> T {
    with_aligned(|room| work(room.room(bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rooms_nest_and_are_used_again() {
        let outer = with_room(100, |outer| {
            outer.fill(1);
            with_room(50, |inner| inner.fill(2));
            assert!(outer.iter().all(|&byte| byte == 1) && outer.len() == 100);
            outer.as_ptr().addr()
        });
        assert_eq!(with_room(64, |room| room.as_ptr().addr()), outer);
    }
}
