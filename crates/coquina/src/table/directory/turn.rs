//! Whose turn it is to change a directory: that of one thread, which may take it several times.
//!
//! In: threads that begin changes. Out: one that goes on, others that wait.
//! Invariant: what is changed between two commits is of one thread.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

/// Whose turn it is.
#[derive(Default)]
pub(super) struct Turn {
    holder: Mutex<Holder>,
    free: Condvar,
}

#[derive(Default)]
struct Holder {
    thread: Option<ThreadId>,
    depth: usize,
}

impl Turn {
    fn holder(&self) -> MutexGuard<'_, Holder> {
        self.holder.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the turn; false if another thread has it all the time.
    pub(super) fn take(&self, wait: Duration) -> bool {
        let (own, start) = (thread::current().id(), Instant::now());
        let mut holder = self.holder();
        while holder.thread.is_some_and(|thread| thread != own) {
            let left = wait.saturating_sub(start.elapsed());
            if left.is_zero() {
                return false;
            }
            holder = self.free.wait_timeout(holder, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        holder.thread = Some(own);
        holder.depth += 1;
        true
    }

    /// Gives it back as often as it was taken.
    pub(super) fn give_back(&self) {
        let mut holder = self.holder();
        holder.depth = holder.depth.saturating_sub(1);
        if holder.depth == 0 {
            holder.thread = None;
            self.free.notify_one();
        }
    }

    /// How often this thread has taken it, and not given it back yet.
    pub(super) fn depth(&self) -> usize {
        let holder = self.holder();
        if holder.thread == Some(thread::current().id()) { holder.depth } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thread_at_a_time_has_the_turn_and_may_take_it_again() {
        let turn = Turn::default();
        assert!(turn.take(Duration::ZERO) && turn.take(Duration::ZERO));
        assert_eq!(turn.depth(), 2);
        let other =
            |wait| thread::scope(|scope| scope.spawn(|| (turn.take(wait), turn.depth())).join().unwrap());
        assert_eq!(other(Duration::from_millis(1)), (false, 0));
        turn.give_back();
        assert_eq!(other(Duration::ZERO), (false, 0));
        thread::scope(|scope| {
            let waiting = scope.spawn(|| {
                let is_taken = turn.take(Duration::from_secs(60));
                turn.give_back();
                is_taken
            });
            turn.give_back();
            assert!(waiting.join().unwrap());
        });
        assert_eq!((turn.depth(), turn.take(Duration::ZERO)), (0, true));
    }
}
