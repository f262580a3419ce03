//! The first error of making the blocks of a chunk, which has no other way out of the encoder.

use std::sync::{Mutex, PoisonError};

use crate::base::error::{Error, Result};

/// Keeps the first error.
#[derive(Default)]
pub(super) struct FirstError(Mutex<Option<Error>>);

impl FirstError {
    /// What was made of block `block`; its error is kept if it is the first.
    pub(super) fn note<T>(&self, block: usize, made: Result<T>) -> Option<T> {
        match made {
            Ok(made) => Some(made),
            Err(error) => {
                let mut first = self.0.lock().unwrap_or_else(PoisonError::into_inner);
                first.get_or_insert(error.at(format!("block {block}")));
                None
            }
        }
    }

    /// The error that was kept, which explains whatever came out; else that.
    pub(super) fn or<T>(self, made: Result<T>) -> Result<T> {
        match self.0.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some(error) => Err(error),
            None => made,
        }
    }
}
