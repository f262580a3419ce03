//! One trial of a method on a chunk: encoded, decoded again and measured.
//!
//! What all methods share: the items that were given, the rounding of them, and the check that what comes out holds the
//! bound.

use std::ops::Range;

use super::coder::ChunkCoder;
use super::contract::{Contract, LossyMethod};
use super::measure::{Counted, Extent, Measured};
use super::round::{Rule, Unrounded, round};
use crate::base::error::{Error, Result};
use crate::base::pool::Job;
use crate::base::scratch::with_scratch;
use crate::chunk::Params;

/// The items of a chunk that is to be encoded.
#[derive(Clone, Copy)]
pub(crate) struct Given<'a> {
    /// All of them, those behind the edge of the array too.
    pub(crate) plain: &'a [u8],
    /// What stood there, where only a part of them is written: what is equal stays bit for bit.
    pub(crate) before: Option<&'a [u8]>,
    /// The item that stands for what is not there, which stays as it is.
    pub(crate) fill: Option<&'a [u8]>,
    /// Bytes of an item.
    pub(crate) item_bytes: usize,
    /// Those that are inside the shape of the array.
    pub(crate) inside: &'a [Range<usize>],
    /// Whether the chunk is unlikely to be written in parts.
    pub(crate) is_whole: bool,
}

/// LossyMethod to be tried, and how coarse they were where a part of the chunk was tried.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hint {
    pub(super) method: LossyMethod,
    pub(super) how: Option<How>,
}

/// How coarse a chunk is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum How {
    /// Numbers are multiples of two to this power.
    Multiples(i32),
    /// Numbers are rounded like this.
    Rule(Rule),
    /// The ZFP codec of this name with this parameter.
    Zfp(&'static str, i32),
}

/// A chunk that has been encoded, and what came of it.
pub(super) struct Trial {
    pub(super) bytes: Vec<u8>,
    pub(super) plain: Vec<u8>,
    pub(super) measured: Measured,
    /// By which means; `None` for items as they are.
    pub(super) method: Option<LossyMethod>,
    /// How coarse it is, where that was searched for.
    pub(super) how: Option<How>,
}

/// A chunk that is being encoded.
pub(super) struct Work<'w> {
    pub(super) contract: &'w Contract,
    pub(super) given: &'w Given<'w>,
    pub(super) counted: Counted<'w>,
    pub(super) extent: Extent,
    pub(super) coder: &'w ChunkCoder<'w>,
    pub(super) job: &'w Job<'w>,
}

impl<'w> Work<'w> {
    /// These items under a contract.
    pub(super) fn new(
        contract: &'w Contract,
        given: &'w Given<'w>,
        coder: &'w ChunkCoder<'w>,
        job: &'w Job<'w>,
    ) -> Self {
        let Given { plain, before, inside, .. } = *given;
        let counted = Counted { items: contract.items, given: plain, before, inside };
        Self { contract, given, extent: counted.extent(), counted, coder, job }
    }
}

impl Work<'_> {
    /// The given items, rounded.
    pub(super) fn round(&self, rule: Rule, plain: &mut [u8]) -> Result<()> {
        let Given { plain: from, before, fill, .. } = *self.given;
        let fill = fill.filter(|_| !self.contract.items.is_complex);
        round(rule, self.contract.items, &Unrounded { from, before, fill }, plain, self.job)
    }

    /// How far items are off.
    pub(super) fn measured(&self, plain: &[u8]) -> Measured {
        self.counted.measured(plain, self.extent.range())
    }

    /// Room for the items.
    pub(super) fn room(&self) -> Vec<u8> {
        vec![0; self.given.plain.len()]
    }

    /// A chunk that is to decode to these items, if it does and the bound holds.
    pub(super) fn checked(&self, bytes: Vec<u8>, plain: Vec<u8>) -> Result<Option<Trial>> {
        let measured = self.measured(&plain);
        let gives_back = with_scratch(plain.len(), |room| {
            self.coder.decode(&bytes, room)?;
            Ok::<_, Error>(self.are_equal(room, &plain))
        })?;
        let method = (measured.max_error > 0.0).then_some(LossyMethod::Round);
        let trial = Trial { bytes, plain, measured, method, how: None };
        Ok((gives_back && self.contract.holds(&trial.measured)).then_some(trial))
    }

    /// Whether two lots are the same where items count; stores need not keep what blocks have beyond a chunk.
    fn are_equal(&self, a: &[u8], b: &[u8]) -> bool {
        let bytes = self.contract.items.number_bytes() * self.contract.items.numbers();
        let run = |range: &Range<usize>| range.start * bytes..range.end * bytes;
        self.given.inside.iter().all(|range| a.get(run(range)) == b.get(run(range)))
    }

    /// Encodes the given items by parameters that lose something; what comes out, if it holds the bound.
    pub(super) fn lost(&self, params: &Params, method: LossyMethod) -> Result<(Trial, bool)> {
        let bytes = self.coder.encode(self.given.plain, Some(params))?;
        let mut plain = self.room();
        self.coder.decode(&bytes, &mut plain)?;
        let measured = self.measured(&plain);
        // Who did not ask for it keeps zeros, which may stand for nothing or for what is not there.
        let is_wanted = measured.keeps_zeros || self.contract.method().is_some();
        let holds = is_wanted && self.contract.holds(&measured);
        let method = (measured.max_error > 0.0).then_some(method);
        Ok((Trial { bytes, plain, measured, method, how: None }, holds))
    }
}
