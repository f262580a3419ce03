//! What did best for a part of a chunk, for the chunks behind it.
//!
//! In: chunks in their order. Out: the methods to begin with, each as coarse as it was for an earlier chunk: nothing is taken for
//! granted, as every chunk is decoded and measured. They are compared anew for every eighth chunk, since data change.
//! Invariant: depends on the chunks and their order only.

use std::sync::{Mutex, PoisonError};

use super::trial::Hint;
use crate::base::error::Result;
use crate::base::sequencer::Ticket;

/// Chunks that take over what was found for one.
const USES: usize = 7;

/// What did best for an earlier chunk of a write.
#[derive(Default)]
pub(super) struct Memory {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    hints: Vec<Hint>,
    uses_left: usize,
    /// How often methods have been compared.
    compared: u64,
}

impl Memory {
    /// What to begin with: as for the chunk before, or what `compare` finds.
    pub(super) fn hints(
        &self,
        ticket: &Ticket<'_>,
        compare: impl FnOnce() -> Result<Vec<Hint>>,
    ) -> Result<Vec<Hint>> {
        ticket.in_order(|| {
            if let Some(hints) = self.recalled() {
                return Ok(hints);
            }
            // Not while the state is locked: it takes all threads and some time. The ticket keeps the others away.
            let hints = compare()?;
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            let compared = state.compared + 1;
            *state = State { hints: hints.clone(), uses_left: USES, compared };
            Ok(hints)
        })
    }

    fn recalled(&self) -> Option<Vec<Hint>> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.uses_left = state.uses_left.checked_sub(1)?;
        Some(state.hints.clone())
    }

    /// How often methods have been compared.
    #[cfg(test)]
    pub(super) fn compared(&self) -> u64 {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).compared
    }
}
