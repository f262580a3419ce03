//! Encodes a chunk rounded by one rule, and checks what comes out, block by block while a block is in the cache.
//!
//! In: a chunk of which all items are written. Out: the chunk on its way to the store, and what was lost; nothing if the bound
//! does not hold. A block is rounded on its way into the chunk; then each is decoded again, compared with what it was rounded
//! to, and measured. So nobody needs room for the items of a chunk.
//! Invariant: the chunk is that which all items rounded first, then encoded, give.

use std::sync::{Mutex, PoisonError};

use coquina_kernels::Errors;

use super::contract::{Contract, LossyMethod};
use super::kept::kept;
use super::measure::{Counted, Extent, Measured};
use super::record::Reached;
use super::round::{Rule, Unrounded, round_run};
use crate::base::error::Result;
use crate::base::pool::Job;
use crate::base::scratch::with_scratch;
use crate::chunk::BlockSource;
use crate::policy::NewChunk;
use crate::store::{EncodedChunk, Statistics};

/// The chunk rounded by this rule and what it lost, if the bound holds.
///
/// # Errors
/// What codec, filters and the store say; `Cancelled`.
pub(super) fn rounded(
    contract: &Contract,
    rule: Rule,
    chunk: &NewChunk<'_>,
    job: &Job<'_>,
) -> Result<Option<(EncodedChunk, Reached)>> {
    let blocks = Blocks { contract, rule, chunk, extent: Mutex::new(Extent::NONE) };
    let bytes = chunk.format.encode(&blocks, &chunk.shape, None, job)?;
    let Some((errors, statistics)) = blocks.check(&bytes, job)? else { return Ok(None) };
    let measured = Measured::of(&errors, contract.items);
    if !contract.holds(&measured) {
        return Ok(None);
    }
    let method = (measured.max_error > 0.0).then_some(LossyMethod::Round);
    let made = chunk.format.finished(bytes)?.with_statistics(statistics);
    Ok(Some((made, Reached::of(&measured, method))))
}

/// The blocks of a chunk, rounded.
struct Blocks<'c> {
    contract: &'c Contract,
    rule: Rule,
    chunk: &'c NewChunk<'c>,
    /// Of the items of the blocks that were filled.
    extent: Mutex<Extent>,
}

/// A block that was decoded again.
struct Decoded {
    number: usize,
    errors: Errors,
    statistics: Option<Statistics>,
}

impl Blocks<'_> {
    /// What all items lost, and what is to be known of them; nothing if they do not decode to what they were rounded to.
    fn check(&self, bytes: &[u8], job: &Job<'_>) -> Result<Option<(Errors, Option<Statistics>)>> {
        let peak = self.extent.lock().unwrap_or_else(PoisonError::into_inner).range();
        let found = Mutex::new(Some(Vec::new()));
        let see = |number: usize, block: &[u8]| {
            let decoded = self.decoded(number, block, peak);
            let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
            match (decoded, found.as_mut()) {
                (Some(decoded), Some(found)) => found.push(decoded),
                _ => *found = None,
            }
        };
        self.chunk.format.decode_blocks(bytes, &self.chunk.shape, &see, job)?;
        let found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
        let Some(mut found) = found else { return Ok(None) };
        // Sums must not depend on which thread was first.
        found.sort_unstable_by_key(|block: &Decoded| block.number);
        let errors = found.iter().fold(Errors::NONE, |all, block| all.and(&block.errors));
        let statistics = self.chunk.known.and_then(|known| {
            let all = found.iter().filter_map(|block| block.statistics);
            all.reduce(|a, b| a.and(known.ty, &b).unwrap_or(a))
        });
        Ok(Some((errors, statistics)))
    }

    /// What a block lost that decodes to these bytes, if they are right.
    fn decoded(&self, number: usize, block: &[u8], peak: f64) -> Option<Decoded> {
        let shape = &self.chunk.shape;
        let compared = |given: &[u8], decoded: &[u8]| {
            let before = kept(None, given, self.chunk.fill);
            let is_right = with_scratch(given.len(), |rounded| {
                self.round(given, before.as_deref(), rounded);
                rounded == decoded
            });
            let inside = 0..given.len() / shape.item_bytes;
            let inside = std::slice::from_ref(&inside);
            let counted = Counted { items: self.contract.items, given, before: before.as_deref(), inside };
            is_right.then(|| counted.errors(decoded, peak))
        };
        let errors = with_scratch(block.len(), |given| {
            self.chunk.blocks.fill(number, given);
            shape.with_inside(number, given, |given| {
                shape.with_inside(number, block, |decoded| compared(given, decoded))
            })
        });
        // A block that is outside the array has no items that could be wrong.
        let errors = errors.flatten().unwrap_or(Some(Errors::NONE))?;
        let known = self.chunk.known;
        let statistics = known.and_then(|known| Statistics::of_block(known.ty, shape, number, block));
        Some(Decoded { number, errors, statistics })
    }

    fn round(&self, from: &[u8], before: Option<&[u8]>, to: &mut [u8]) {
        round_run(self.rule, self.contract.items, &Unrounded { from, before, fill: None }, to);
    }

    /// Which finite numbers of a block are inside.
    fn extent_of(&self, number: usize, given: &[u8], before: Option<&[u8]>) -> Extent {
        let shape = &self.chunk.shape;
        let of = |given: &[u8], before: Option<&[u8]>| {
            let inside = 0..given.len() / shape.item_bytes;
            let inside = std::slice::from_ref(&inside);
            Counted { items: self.contract.items, given, before, inside }.extent()
        };
        let extent = shape.with_inside(number, given, |given| match before {
            None => of(given, None),
            Some(before) => {
                shape.with_inside(number, before, |before| of(given, Some(before))).unwrap_or(Extent::NONE)
            }
        });
        extent.unwrap_or(Extent::NONE)
    }
}

impl BlockSource for Blocks<'_> {
    fn fill(&self, number: usize, out: &mut [u8]) {
        with_scratch(out.len(), |given| {
            self.chunk.blocks.fill(number, given);
            let before = kept(None, given, self.chunk.fill);
            self.round(given, before.as_deref(), out);
            let extent = self.extent_of(number, given, before.as_deref());
            // To see a block once more makes no difference.
            let mut all = self.extent.lock().unwrap_or_else(PoisonError::into_inner);
            *all = all.and(&extent);
        });
    }
}
