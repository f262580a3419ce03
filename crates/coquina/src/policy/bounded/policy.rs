//! Chunks whose items may lose something, within the bound of their array.
//!
//! In: the blocks of a chunk as they are to be. Out: the chunk within the bound, statistics of what it decodes to, and what
//! was lost.
//! Memory: some four chunks for each thread; some blocks where chunks are rounded and nothing else is tried.
//! Invariant: of a chunk of which a part is written, all items that are not given other values stay bit for bit.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use super::blocks::rounded;
use super::choose::{encode, suits_zfp};
use super::coder::ChunkCoder;
use super::contract::{Bound, Contract, LossyMethod};
use super::kept::kept;
use super::memory::Memory;
use super::record::Reached;
use super::round::Rule;
use super::trial::{Given, Hint, How, Work};
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
    /// What did best for earlier chunks of the write.
    memory: Memory,
    /// What the chunks of the write have lost so far.
    lost: Mutex<Lost>,
}

/// What the chunks of a write have lost.
struct Lost {
    reached: Reached,
    /// How many chunks were rounded block by block.
    by_blocks: u64,
}

impl<'w> Bounded<'w> {
    /// A write that has lost nothing yet.
    pub(crate) fn new(contract: &'w Contract, tuned: Option<Tuned<'w>>) -> Self {
        let lost = Lost { reached: Reached::NOTHING, by_blocks: 0 };
        Self { contract, tuned, memory: Memory::default(), lost: Mutex::new(lost) }
    }

    /// What its chunks have lost.
    pub(crate) fn lost(&self) -> Reached {
        self.lost.lock().unwrap_or_else(PoisonError::into_inner).reached
    }

    /// How many chunks were rounded block by block, and how often methods have been compared for those of several.
    #[cfg(test)]
    pub(super) fn counters(&self) -> (u64, u64) {
        (self.lost.lock().unwrap_or_else(PoisonError::into_inner).by_blocks, self.memory.compared())
    }

    /// What was lost by one more chunk.
    fn add(&self, reached: &Reached, is_by_blocks: bool) {
        let mut lost = self.lost.lock().unwrap_or_else(PoisonError::into_inner);
        lost.reached = lost.reached.and(reached);
        lost.by_blocks += u64::from(is_by_blocks);
    }

    /// What to begin with for a chunk, where it does not take the items of all of it to know; else nothing.
    fn hints(&self, chunk: &NewChunk<'_>, ticket: &Ticket<'_>, job: &Job<'_>) -> Result<Vec<Hint>> {
        if !chunk.is_covered || self.tuned.is_some() {
            return Ok(Vec::new());
        }
        if let Some(rule) = self.only_rule(chunk) {
            return Ok(vec![Hint { method: LossyMethod::Round, how: Some(How::Rule(rule)) }]);
        }
        let is_alike = matches!(self.contract.bound(), Bound::MaxError(_)) && chunk.fill.is_none();
        if !is_alike || !chunk.shape.has_all_rows() {
            return Ok(Vec::new());
        }
        self.memory.hints(ticket, || self.compared(chunk, job))
    }

    /// The rule by which the chunk is rounded, if nothing else may be tried.
    fn only_rule(&self, chunk: &NewChunk<'_>) -> Option<Rule> {
        let params = chunk.format.params().filter(|_| chunk.format.is_blosc());
        let may_be_zfp =
            || params.is_some_and(|params| chunk.shape.has_all_rows() && suits_zfp(self.contract, params));
        let is_rounded = match self.contract.method() {
            Some(method) => method == LossyMethod::Round,
            None => !may_be_zfp(),
        };
        let rules = self.contract.rules();
        rules.first().copied().filter(|_| is_rounded && rules.len() == 1)
    }

    /// What did best for a part of the chunk; nothing if it has too few blocks.
    fn compared(&self, chunk: &NewChunk<'_>, job: &Job<'_>) -> Result<Vec<Hint>> {
        let plain = chunk.plain(job)?;
        let inside = chunk.shape.runs();
        let given = given(chunk, &plain, None, &inside);
        let coder = ChunkCoder { chunk, tuned: self.tuned, job };
        Work::new(self.contract, &given, &coder, job).sampled_hints()
    }

    /// The chunk by rounding and checking it block by block, if that is what to begin with and the bound holds.
    fn by_blocks(&self, chunk: &NewChunk<'_>, hints: &[Hint], job: &Job<'_>) -> Result<Option<EncodedChunk>> {
        let Some(&Hint { method: LossyMethod::Round, how: Some(How::Rule(rule)) }) = hints.first() else {
            return Ok(None);
        };
        let Some((made, reached)) = rounded(self.contract, rule, chunk, job)? else { return Ok(None) };
        self.add(&reached, true);
        Ok(Some(made))
    }
}

/// The items of a chunk.
fn given<'a>(
    chunk: &NewChunk<'a>,
    plain: &'a [u8],
    before: Option<&'a [u8]>,
    inside: &'a [Range<usize>],
) -> Given<'a> {
    Given {
        plain,
        before,
        fill: chunk.fill,
        item_bytes: chunk.shape.item_bytes,
        inside,
        // A chunk at the end of the first axis grows when something is appended.
        is_whole: chunk.shape.has_all_rows(),
    }
}

impl EncodePolicy for Bounded<'_> {
    fn encode(&self, chunk: &NewChunk<'_>, ticket: &Ticket<'_>, job: &Job<'_>) -> Result<EncodedChunk> {
        let hints = self.hints(chunk, ticket, job)?;
        if let Some(made) = self.by_blocks(chunk, &hints, job)? {
            return Ok(made);
        }
        let plain = chunk.plain(job)?;
        let old = kept(chunk.old_plain(job)?, &plain, chunk.fill);
        let inside = chunk.shape.runs();
        let given = given(chunk, &plain, old.as_deref(), &inside);
        let coder = ChunkCoder { chunk, tuned: self.tuned, job };
        let made = encode(&Work::new(self.contract, &given, &coder, job), hints)?;
        self.add(&made.reached, false);
        let known = chunk.statistics_of(&made.plain);
        Ok(chunk.format.finished(made.bytes)?.with_statistics(known))
    }

    fn keeps_repeated_items(&self) -> bool {
        !self.contract.rounds_all()
    }
}
