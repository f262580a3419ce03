//! Lets threads that work on numbered tasks do one step of each in the order of the numbers.
//!
//! In: tasks that are handed out in order, as [`super::pool::Job::run`] does. Out: what each does in its turn.
//! Invariant: a task whose turn has been dropped keeps nobody waiting; so the first of those that are being worked on never
//! waits, and no thread does for ever.

use std::collections::BTreeSet;
use std::sync::{Condvar, Mutex, PoisonError};

/// The turns of a job.
#[derive(Default)]
pub(crate) struct Turns {
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

/// The turn of one task.
pub(crate) struct Turn<'t> {
    turns: Option<&'t Turns>,
    number: usize,
}

impl Turns {
    /// The turn of task `number`; of each there must be one, once.
    pub(crate) fn turn(&self, number: usize) -> Turn<'_> {
        Turn { turns: Some(self), number }
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

impl Turn<'_> {
    /// The turn of a task that has no others beside it.
    pub(crate) fn alone() -> Self {
        Self { turns: None, number: 0 }
    }

    /// Does something when all tasks before have done theirs.
    pub(crate) fn take<T>(&self, work: impl FnOnce() -> T) -> T {
        if let Some(turns) = self.turns {
            turns.wait(self.number);
        }
        // Passed on also where the work panics.
        let _pass = Pass(self);
        work()
    }

    fn pass(&self) {
        if let Some(turns) = self.turns {
            turns.pass(self.number);
        }
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.pass();
    }
}

/// Passes a turn on when it goes.
struct Pass<'t>(&'t Turn<'t>);

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
    fn whoever_takes_a_turn_does_so_in_order() {
        for threads in [1, 2, 8] {
            let turns = Turns::default();
            let taken = Mutex::new(Vec::new());
            let job = Job::default().threads(Some(threads));
            let done = job.run(1 << 30, 0..500_usize, |number| {
                let turn = turns.turn(number);
                let mut next = random(number as u64);
                std::hint::black_box((0..next(20_000)).sum::<u64>());
                // Some want none, and some fail before.
                if number % 7 == 3 {
                    return Ok(1);
                }
                if number == 450 {
                    return Err(Error::cancelled());
                }
                turn.take(|| taken.lock().unwrap().push(number));
                std::hint::black_box((0..next(20_000)).sum::<u64>());
                Ok(1)
            });
            assert!(done.is_err());
            let taken = taken.into_inner().unwrap();
            assert!(taken.is_sorted() && taken.len() >= 450 * 6 / 7, "{taken:?}");
            assert!(taken.iter().all(|number| number % 7 != 3));
        }
        assert_eq!(Turn::alone().take(|| 3), 3);
    }
}
