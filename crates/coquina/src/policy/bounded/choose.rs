//! Encodes a chunk under its contract: tries the means that could hold the bound, and takes the best that does.
//!
//! In: the items of a chunk, block behind block. Out: an encoded chunk, and the items that it decodes to. What is taken
//! has been decoded and measured; of several the smallest is taken, or for a ratio the one with the least loss. Where
//! none holds the bound the items are stored as they are.
//! What does not lose the same again each time, ZFP and the filters that truncate, is for chunks that are written
//! whole: the other items of a chunk of which a part is written would lose once more.

use super::contract::{Bound, Contract, LossyMethod, free_bits};
use super::items::Kind;
use super::lattice::{floor_log2, power_of_two};
use super::measure::Counted;
use super::record::Reached;
use super::sample::Sample;
use super::trial::{Given, Hint, How, Trial, Work};
use super::{images, predicted, ratio, search};
use crate::base::error::{Error, Result};
use crate::chunk::Params;
use crate::filter::{self, Pipeline, Slot};

/// Chunks that become so many times smaller by prediction are also rounded.
const REPEATED: usize = 16;

/// A chunk under its contract.
pub(crate) struct Encoded {
    /// The stored bytes.
    pub(crate) bytes: Vec<u8>,
    /// The items that they decode to.
    pub(crate) plain: Vec<u8>,
    /// What was lost.
    pub(crate) reached: Reached,
}

/// Encodes a chunk under its contract; by the first of the hints that holds the bound, if there are any.
///
/// # Errors
/// What the coder says; `Invalid` for one that does not give back what it was given.
pub(super) fn encode(work: &Work<'_>, hints: Vec<Hint>) -> Result<Encoded> {
    let found = if hints.is_empty() { work.best()? } else { work.first(hints)? };
    let Trial { bytes, plain, measured, method, .. } = match found {
        Some(trial) => trial,
        None => work.exact()?,
    };
    Ok(Encoded { bytes, plain, reached: Reached::of(&measured, method) })
}

/// Whether ZFP could encode chunks like these within the bound.
pub(super) fn suits_zfp(contract: &Contract, params: &Params) -> bool {
    let bound = matches!(contract.bound(), Bound::MaxError(_) | Bound::Psnr(_) | Bound::Ratio(_));
    bound && contract.items.are_transformed() && search::zfp_params(params, "zfp_rate", 50).is_some()
}

impl Work<'_> {
    /// The best of what holds the bound.
    fn best(&self) -> Result<Option<Trial>> {
        let hints = self.sampled_hints()?;
        if !hints.is_empty() {
            return self.first(hints);
        }
        let method = self.method();
        if self.is_chosen(&method) && self.coder.params().is_some() {
            return Ok(self.compared(&method)?.into_iter().find_map(|(_, trial)| trial));
        }
        self.first(method.into_iter().map(|method| Hint { method, how: None }).collect())
    }

    /// What did best for some blocks of the chunk; nothing if it has too few, or if there is nothing to choose.
    pub(super) fn sampled_hints(&self) -> Result<Vec<Hint>> {
        let method = self.method();
        let is_searched = matches!(self.contract.bound(), Bound::Ratio(_))
            || method.contains(&LossyMethod::Zfp)
            || self.contract.rules().len() > 1;
        let params = self.coder.params().filter(|_| self.is_chosen(&method) || is_searched);
        let sample = params.and_then(|params| Sample::of(self.given, params.blocksize?));
        let Some(sample) = sample else { return Ok(Vec::new()) };
        let given = Given { plain: &sample.plain, inside: &sample.inside, ..*self.given };
        let counted = Counted { given: given.plain, inside: given.inside, ..self.counted };
        let part = Work { given: &given, counted, ..*self };
        Ok(part.compared(&method)?.into_iter().map(|(hint, _)| hint).collect())
    }

    /// Whether one of several methods is to be chosen.
    fn is_chosen(&self, method: &[LossyMethod]) -> bool {
        self.contract.method().is_none() && method.len() > 1
    }

    /// The first that holds the bound, if it is no finer than a part of the chunk has promised; else the best.
    fn first(&self, hints: Vec<Hint>) -> Result<Option<Trial>> {
        let mut best: Option<Trial> = None;
        for hint in hints {
            let Some(trial) = self.tried(&hint)? else { continue };
            let is_finer =
                matches!(trial.how, Some(How::Zfp(..))) && hint.how.is_some_and(|how| trial.how != Some(how));
            let is_final = !is_finer || self.contract.method().is_some();
            let is_final = is_final && !self.may_be_rounded(hint.method, &trial);
            if best.as_ref().is_none_or(|old| self.is_better(&trial, old)) {
                best = Some(trial);
            }
            if is_final {
                break;
            }
        }
        Ok(best)
    }

    /// Whether a chunk that was predicted may be smaller if it is rounded: its items repeat, which predictions do not see.
    fn may_be_rounded(&self, method: LossyMethod, trial: &Trial) -> bool {
        let is_short = trial.bytes.len() < self.given.plain.len() / REPEATED;
        // Rounding would lose something more of what was predicted before.
        method == LossyMethod::Predict && self.given.before.is_none() && is_short
    }

    /// What comes of each of these means; the best first, unless the user wants them in this order.
    fn compared(&self, method: &[LossyMethod]) -> Result<Vec<(Hint, Option<Trial>)>> {
        let mut tried: Vec<(Hint, Option<Trial>)> = Vec::new();
        for &method in method {
            let trial = self.tried(&Hint { method, how: None })?;
            let hint = Hint { method, how: trial.as_ref().and_then(|trial| trial.how) };
            let is_better = |(_, old): &(Hint, Option<Trial>)| match (&trial, old) {
                (Some(new), Some(old)) => self.is_better(new, old),
                (new, _) => new.is_some(),
            };
            let place = tried.iter().position(is_better).filter(|_| self.contract.method().is_none());
            tried.insert(place.unwrap_or(tried.len()), (hint, trial));
        }
        Ok(tried)
    }

    fn tried(&self, hint: &Hint) -> Result<Option<Trial>> {
        match hint.method {
            LossyMethod::Round => self.rounded(hint),
            LossyMethod::Trunc => self.truncated(),
            LossyMethod::Zfp => self.transformed(hint),
            LossyMethod::Predict => predicted::coded(self),
            LossyMethod::J2k | LossyMethod::Htj2k => images::coded(self, hint.method),
        }
    }

    /// The means that may be tried.
    fn method(&self) -> Vec<LossyMethod> {
        let is_free = self.coder.params().is_some() && self.given.before.is_none();
        match self.contract.method() {
            Some(LossyMethod::Round) => vec![LossyMethod::Round],
            // It loses nothing more of what stood there, which is checked.
            Some(LossyMethod::Predict) => vec![LossyMethod::Predict, LossyMethod::Round],
            // What they cannot hold is rounded.
            Some(method) if is_free => vec![method, LossyMethod::Round],
            Some(_) => vec![LossyMethod::Round],
            // Truncation loses twice what rounding to as many bits does, and is no smaller: only on demand.
            None if is_free && self.given.is_whole && !self.coder.is_for_speed() && self.suits_zfp() => {
                vec![LossyMethod::Round, LossyMethod::Zfp]
            }
            None => vec![LossyMethod::Round],
        }
    }

    fn suits_zfp(&self) -> bool {
        self.coder.params().is_some_and(|params| suits_zfp(self.contract, params))
    }

    /// Whether one trial that holds the bound is better than another.
    fn is_better(&self, new: &Trial, old: &Trial) -> bool {
        match self.contract.bound() {
            Bound::Ratio(_) => new.measured.mean_square < old.measured.mean_square,
            _ => new.bytes.len() < old.bytes.len(),
        }
    }

    /// Rounds the items and codes what is left without loss.
    fn rounded(&self, hint: &Hint) -> Result<Option<Trial>> {
        let mut plain = self.room();
        match self.contract.bound() {
            Bound::Ratio(ratio) => return ratio::rounded(self, ratio, hint),
            Bound::Psnr(psnr) => search::psnr_rounded(self, psnr, &mut plain)?,
            _ => return self.by_rules(hint),
        }
        let bytes = self.coder.encode(&plain, None)?;
        self.checked(bytes, plain)
    }

    /// Rounds by the rules of the contract, or by the one that did best for a part; the smallest chunk.
    fn by_rules(&self, hint: &Hint) -> Result<Option<Trial>> {
        let rules = match hint.how {
            Some(How::Rule(rule)) => vec![rule],
            _ => self.contract.rules(),
        };
        let mut best: Option<Trial> = None;
        for rule in rules {
            let mut plain = self.room();
            self.round(rule, &mut plain)?;
            let bytes = self.coder.encode(&plain, None)?;
            let Some(trial) = self.checked(bytes, plain)? else { continue };
            // What has been rounded before loses nothing by the same rule, and is to stay.
            let is_rounded = trial.measured.max_error == 0.0;
            if is_rounded || best.as_ref().is_none_or(|best| trial.bytes.len() < best.bytes.len()) {
                best = Some(Trial { how: Some(How::Rule(rule)), ..trial });
            }
            if is_rounded {
                break;
            }
        }
        Ok(best)
    }

    /// Sets the low bits of the items to zero, by a filter of the chunk.
    fn truncated(&self) -> Result<Option<Trial>> {
        let Some(params) = self.coder.params() else { return Ok(None) };
        let items = self.contract.items;
        let name = if items.is_float() { "trunc_prec" } else { "int_trunc" };
        let bits = self.truncated_bits();
        if bits >= items.bits() {
            return Ok(None);
        }
        let Ok(meta) = u8::try_from(bits) else { return Ok(None) };
        let mut slots = vec![Slot { id: filter::by_name(name)?.id(), meta }];
        slots.extend(params.pipeline.slots.iter().filter(|slot| slot.id != 0));
        let params = Params { pipeline: Pipeline::new(&slots)?, ..*params };
        let (trial, holds) = self.lost(&params, LossyMethod::Trunc)?;
        Ok(holds.then_some(trial))
    }

    /// How many bits of the mantissa, or of the integer, are kept; 1 at least, as the filters want it.
    fn truncated_bits(&self) -> u32 {
        let items = self.contract.items;
        let bits = match self.contract.bound() {
            Bound::KeepBits(bits) => bits,
            // A bit of weight 2^-n is kept, so that what is lost is less.
            Bound::RelativeError(limit) => {
                (0..64).find(|&bits| power_of_two(-bits) <= limit).unwrap_or(64).unsigned_abs()
            }
            Bound::MaxError(limit) if !items.is_float() => items.bits().saturating_sub(free_bits(limit)),
            Bound::MaxError(limit) => match self.extent.greatest() {
                greatest if greatest > 0.0 => {
                    // Numbers of that size lose less than two to the power of their exponent less the bits.
                    (floor_log2(greatest) - floor_log2(limit)).max(0).unsigned_abs()
                }
                _ => 0,
            },
            Bound::Psnr(_) | Bound::Ratio(_) => items.bits(),
        };
        bits.max(1)
    }

    /// Encodes the items by a ZFP codec.
    fn transformed(&self, hint: &Hint) -> Result<Option<Trial>> {
        if !matches!(self.contract.items.kind, Kind::F32 | Kind::F64) {
            return Ok(None);
        }
        match self.contract.bound() {
            Bound::Ratio(ratio) => ratio::transformed(self, ratio, hint),
            Bound::MaxError(limit) => search::zfp(self, limit, hint),
            Bound::Psnr(psnr) => search::zfp(self, search::noise(&self.extent, psnr), hint),
            Bound::RelativeError(_) | Bound::KeepBits(_) => Ok(None),
        }
    }

    /// The items as they are.
    fn exact(&self) -> Result<Trial> {
        let plain = self.given.plain.to_vec();
        let bytes = self.coder.encode(&plain, None)?;
        let trial = self.checked(bytes, plain)?;
        trial.ok_or_else(|| {
            Error::invalid("lossy: a codec or filter does not return the bytes that it encoded")
        })
    }
}
