//! Chunks whose items may lose something, within the bound of their array.
//!
//! In: the blocks of a chunk as they are to be. Out: the chunk within the bound, statistics of what it decodes to, and what
//! was lost.
//! Memory: some four chunks for each thread.
//! Invariant: of a chunk of which a part is written, all items that are not given other values stay bit for bit.

use std::sync::{Mutex, PoisonError};

use super::choose::encode;
use super::coder::ChunkCoder;
use super::contract::Contract;
use super::record::Reached;
use super::trial::Given;
use crate::base::error::Result;
use crate::base::pool::Job;
use crate::base::sequencer::Ticket;
use crate::policy::tuned::Tuned;
use crate::policy::{EncodePolicy, NewChunk};
use crate::store::EncodedChunk;

/// Encodes chunks within a bound.
pub(crate) struct Bounded<'w> {
    contract: &'w Contract,
    /// What chooses how rounded items are encoded, if something does.
    tuned: Option<Tuned<'w>>,
    /// What the chunks of the write have lost so far.
    lost: Mutex<Reached>,
}

impl<'w> Bounded<'w> {
    /// A write that has lost nothing yet.
    pub(crate) fn new(contract: &'w Contract, tuned: Option<Tuned<'w>>) -> Self {
        Self { contract, tuned, lost: Mutex::new(Reached::NOTHING) }
    }

    /// What its chunks have lost.
    pub(crate) fn lost(&self) -> Reached {
        *self.lost.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl EncodePolicy for Bounded<'_> {
    fn encode(&self, chunk: &NewChunk<'_>, _ticket: &Ticket<'_>, job: &Job<'_>) -> Result<EncodedChunk> {
        let plain = chunk.plain(job)?;
        let old = kept(chunk.old_plain(job)?, &plain, chunk.fill);
        let inside = chunk.shape.runs();
        let given = Given {
            plain: &plain,
            before: old.as_deref(),
            fill: chunk.fill,
            item_bytes: chunk.shape.item_bytes,
            inside: &inside,
            // A chunk at the end of the first axis grows when something is appended.
            is_whole: chunk.shape.has_all_rows(),
        };
        let coder = ChunkCoder { chunk, tuned: self.tuned, job };
        let made = encode(self.contract, &given, &coder, job)?;
        let mut lost = self.lost.lock().unwrap_or_else(PoisonError::into_inner);
        *lost = lost.and(&made.reached);
        drop(lost);
        let known = chunk.statistics_of(&made.plain);
        Ok(chunk.format.finished(made.bytes)?.with_statistics(known))
    }

    fn keeps_repeated_items(&self) -> bool {
        !self.contract.rounds_all()
    }
}

/// What stood in a chunk, so that items that stand for nothing, which the fill value is, stay as they are.
fn kept(old: Option<Vec<u8>>, plain: &[u8], fill: Option<&[u8]>) -> Option<Vec<u8>> {
    let Some(fill) = fill.filter(|fill| plain.chunks_exact(fill.len().max(1)).any(|item| item == *fill))
    else {
        return old;
    };
    // Of other items nothing stood there: not a byte of these is that of the item.
    let mut old = old.unwrap_or_else(|| plain.iter().map(|byte| !byte).collect());
    let items = old.chunks_exact_mut(fill.len()).zip(plain.chunks_exact(fill.len()));
    items.filter(|(_, item)| item == &fill).for_each(|(stood, item)| stood.copy_from_slice(item));
    Some(old)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fill_values_are_taken_for_what_stood_there_and_nothing_else_is() {
        let plain = [1, 2, 9, 9, 3, 4, 9, 9];
        let fill: &[u8] = &[9, 9];
        let stood = kept(None, &plain, Some(fill)).unwrap();
        let same = |(a, b): (&[u8], &[u8])| a == b;
        let found: Vec<bool> = stood.chunks(2).zip(plain.chunks(2)).map(same).collect();
        assert_eq!(found, [false, true, false, true]);
        let before = vec![1, 2, 0, 0, 0, 0, 9, 9];
        assert_eq!(kept(Some(before.clone()), &plain, Some(fill)), Some(vec![1, 2, 9, 9, 0, 0, 9, 9]));
        for none in [None, Some(&[7, 7][..]), Some(&[2, 9][..])] {
            assert_eq!(kept(None, &plain, none), None);
            assert_eq!(kept(Some(before.clone()), &plain, none), Some(before.clone()));
        }
    }
}
