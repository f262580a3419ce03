//! Lets threads that work on numbered tasks do one step of each in the order of the numbers.
//!
//! In: tasks that are handed out in order, as [`super::pool::Job::run`] does. Out: what each does in its turn.
//! Invariant: a task whose ticket has been dropped keeps nobody waiting; so the first of those that are being worked on never
//! waits, and no thread does for ever.

use std::collections::BTreeSet;
use std::sync::{Condvar, Mutex, PoisonError};

/// Hands out the tickets of a job.
#[derive(Default)]
pub(crate) struct Sequencer {
    state: Mutex<State>,
    moved: Condvar,
}

#[derive(Default)]
struct State {
    /// Whose turn it is.
    next: usize,
    /// Those behind it that do not want theirs any more.
    passed: BTreeSet<usize>,
}

/// The ticket of one task: its place in the order.
pub(crate) struct Ticket<'t> {
    sequencer: Option<&'t Sequencer>,
    number: usize,
}

impl Sequencer {
    /// The ticket of task `number`; of each there must be one, once.
    pub(crate) fn ticket(&self, number: usize) -> Ticket<'_> {
        Ticket { sequencer: Some(self), number }
    }

    fn wait(&self, number: usize) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        while state.next < number {
            state = self.moved.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn pass(&self, number: usize) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let State { next, passed } = &mut *state;
        if number < *next {
            return;
        }
        passed.insert(number);
        while passed.remove(next) {
            *next += 1;
        }
        self.moved.notify_all();
    }
}

impl Ticket<'_> {
    /// The ticket of a task that has no others beside it.
    pub(crate) fn alone() -> Self {
        Self { sequencer: None, number: 0 }
    }

    /// Does something when all tasks before have done theirs.
    pub(crate) fn in_order<T>(&self, work: impl FnOnce() -> T) -> T {
        if let Some(sequencer) = self.sequencer {
            sequencer.wait(self.number);
        }
        // Passed on also where the work panics.
        let _pass = Pass(self);
        work()
    }

    fn pass(&self) {
        if let Some(sequencer) = self.sequencer {
            sequencer.pass(self.number);
        }
    }
}

impl Drop for Ticket<'_> {
    fn drop(&mut self) {
        self.pass();
    }
}

/// Passes the turn on when it goes.
struct Pass<'t>(&'t Ticket<'t>);

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        self.0.pass();
    }
}

#[cfg(test)]
mod tests {
    use super::super::error::Error;
    use super::super::pool::Job;
    use super::super::testing::random;
    use super::*;

    #[test]
    fn steps_are_done_in_the_order_of_the_tickets() {
        for threads in [1, 2, 8] {
            let sequencer = Sequencer::default();
            let taken = Mutex::new(Vec::new());
            let job = Job::default().threads(Some(threads));
            let done = job.run(1 << 30, 0..500_usize, |number| {
                let ticket = sequencer.ticket(number);
                let mut next = random(number as u64);
                std::hint::black_box((0..next(20_000)).sum::<u64>());
                // Some want none, and some fail before.
                if number % 7 == 3 {
                    return Ok(1);
                }
                if number == 450 {
                    return Err(Error::cancelled());
                }
                ticket.in_order(|| taken.lock().unwrap().push(number));
                std::hint::black_box((0..next(20_000)).sum::<u64>());
                Ok(1)
            });
            assert!(done.is_err());
            let taken = taken.into_inner().unwrap();
            assert!(taken.is_sorted() && taken.len() >= 450 * 6 / 7, "{taken:?}");
            assert!(taken.iter().all(|number| number % 7 != 3));
        }
        assert_eq!(Ticket::alone().in_order(|| 3), 3);
    }
}
