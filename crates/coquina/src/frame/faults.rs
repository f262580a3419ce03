//! Calls of the operating system that fail, for tests: the n-th of this thread, once, or all from it on.

use std::cell::Cell;

thread_local! {
    static LEFT: Cell<Option<(u32, bool)>> = const { Cell::new(None) };
}

/// From now on the n-th call fails; with `lasting` those that follow too.
pub(crate) fn fail_at(number: u32, lasting: bool) {
    LEFT.set(Some((number, lasting)));
}

/// No call fails from now on; returns whether one had.
pub(crate) fn end() -> bool {
    LEFT.take().is_none_or(|(left, _)| left == 0)
}

/// Fails if it is this call's turn.
pub(super) fn check() -> std::io::Result<()> {
    match LEFT.get() {
        None => return Ok(()),
        Some((0, _)) => {}
        Some((1, lasting)) => LEFT.set(lasting.then_some((0, true))),
        Some((left, lasting)) => {
            LEFT.set(Some((left - 1, lasting)));
            return Ok(());
        }
    }
    Err(std::io::Error::from_raw_os_error(5))
}
