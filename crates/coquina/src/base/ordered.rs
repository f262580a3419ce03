//! Takes what several threads make, in its order, whichever is ready first.
//!
//! An item that comes early waits; a thread that is too far ahead waits with it, so that memory stays bounded.
//! Used inside a job: since tasks are handed out in order, the item that all wait for is always in the hands of
//! a thread that does not wait here.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::error::Result;

/// Something that takes items in order.
pub(crate) trait Take<T> {
    /// What is left to do with an item, in no order.
    type Rest;

    /// Takes the next item.
    fn take(&mut self, item: T) -> Result<Self::Rest>;
}

/// A taker behind a lock, and the items that came early.
pub(crate) struct Ordered<T, C> {
    state: Mutex<State<T, C>>,
    moved: Condvar,
    waiting_max: usize,
}

struct State<T, C> {
    taker: C,
    next: usize,
    waiting: BTreeMap<usize, T>,
    has_failed: bool,
}

impl<T, C: Take<T>> Ordered<T, C> {
    /// For a job of `threads` threads: so many items may wait.
    pub(crate) fn new(taker: C, threads: usize) -> Self {
        let state = State { taker, next: 0, waiting: BTreeMap::new(), has_failed: false };
        Self { state: Mutex::new(state), moved: Condvar::new(), waiting_max: 2 * threads }
    }

    fn lock(&self) -> MutexGuard<'_, State<T, C>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks at the taker.
    pub(crate) fn with<R>(&self, look: impl FnOnce(&mut C) -> R) -> R {
        look(&mut self.lock().taker)
    }

    /// Makes item `number` and hands it over. If making fails, nobody waits for it any more.
    /// What is left to do with it, and with items that waited for it, is for the caller, who then holds no lock.
    pub(crate) fn put(&self, number: usize, make: impl FnOnce() -> Result<T>) -> Result<Vec<C::Rest>> {
        let made = make();
        let mut state = self.lock();
        while made.is_ok() && state.is_ahead(number, self.waiting_max) {
            state = self.moved.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let taken = made.and_then(|item| state.take(number, item));
        state.has_failed |= taken.is_err();
        self.moved.notify_all();
        taken
    }

    /// The taker, when all is done.
    pub(crate) fn into_taker(self) -> C {
        self.state.into_inner().unwrap_or_else(PoisonError::into_inner).taker
    }
}

impl<T, C: Take<T>> State<T, C> {
    fn is_ahead(&self, number: usize, waiting_max: usize) -> bool {
        number > self.next && self.waiting.len() >= waiting_max && !self.has_failed
    }

    fn take(&mut self, number: usize, item: T) -> Result<Vec<C::Rest>> {
        self.waiting.insert(number, item);
        let mut rests = Vec::new();
        while let Some(item) = self.waiting.remove(&self.next) {
            self.next += 1;
            rests.push(self.taker.take(item)?);
        }
        Ok(rests)
    }
}

#[cfg(test)]
mod tests {
    use super::super::error::Error;
    use super::super::pool::{INLINE_BYTES, Job};
    use super::*;

    impl Take<usize> for Vec<usize> {
        type Rest = ();

        fn take(&mut self, item: usize) -> Result<()> {
            self.push(item);
            Ok(())
        }
    }

    #[test]
    fn items_arrive_in_order_from_any_number_of_threads() {
        for threads in [1, 2, 7] {
            let ordered = Ordered::new(Vec::new(), threads);
            let put = |n: usize| ordered.put(n, || Ok(n)).map(|_| 1);
            Job::default().threads(Some(threads)).run(INLINE_BYTES, 0..500, put).unwrap();
            assert_eq!(ordered.into_taker(), (0..500).collect::<Vec<_>>());
        }
    }

    #[test]
    fn an_item_that_fails_leaves_nobody_waiting() {
        for _ in 0..50 {
            let ordered = Ordered::new(Vec::new(), 2);
            let make = |n| if n == 3 { Err(Error::invalid("three")) } else { Ok(n) };
            let put = |n: usize| ordered.put(n, || make(n)).map(|_| 1);
            let error = Job::default().threads(Some(2)).run(INLINE_BYTES, 0..500, put).unwrap_err();
            assert_eq!(error.to_string(), "three");
        }
    }
}
