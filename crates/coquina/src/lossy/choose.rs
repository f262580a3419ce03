//! Encodes a chunk under its contract: tries the means that could hold the bound, and takes the best that does.
//!
//! In: the items of a chunk, block behind block. Out: an encoded chunk, and the items that it decodes to. What is taken
//! has been decoded and measured; of several the smallest is taken, or for a ratio the one with the least loss. Where
//! none holds the bound the items are stored as they are.
//! What does not lose the same again each time, ZFP and the filters that truncate, is for chunks that are written
//! whole: the other items of a chunk of which a part is written would lose once more.

use std::ops::Range;

use super::contract::{Bound, Contract, Means, free_bits};
use super::floats::floor_log2;
use super::measure::{Counted, Extent, Measured};
use super::number::Kind;
use super::record::Reached;
use super::round::{Rule, round};
use super::sample::Sample;
use super::{images, ratio, search};
use crate::base::error::{Error, Result};
use crate::base::pool::Job;
use crate::base::room::with_room;
use crate::chunk::Params;
use crate::filter::{self, Pipeline, Slot};

/// Encodes chunks of an array, and decodes them again.
pub(crate) trait Coder {
    /// How they are encoded without loss, if they are Blosc chunks: then other codecs and filters may be used too.
    fn params(&self) -> Option<&Params>;

    /// The stored bytes of a chunk; by these parameters, or without loss.
    ///
    /// # Errors
    /// What the codec or the store says.
    fn encode(&self, plain: &[u8], params: Option<&Params>) -> Result<Vec<u8>>;

    /// Whether time counts for more than bytes, so that slow means do not pay.
    fn is_for_speed(&self) -> bool {
        false
    }

    /// Fills `out` with the items of a chunk; whether this can be done here.
    ///
    /// # Errors
    /// `Corrupt` for what does not decode.
    fn decode(&self, chunk: &[u8], out: &mut [u8]) -> Result<bool>;
}

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

/// A chunk under its contract.
pub(crate) struct Encoded {
    /// The stored bytes.
    pub(crate) bytes: Vec<u8>,
    /// The items that they decode to.
    pub(crate) plain: Vec<u8>,
    /// What was lost.
    pub(crate) reached: Reached,
}

/// Encodes a chunk under its contract.
///
/// # Errors
/// What the coder says; `Invalid` for one that does not give back what it was given.
pub(crate) fn encode(
    contract: &Contract,
    given: &Given<'_>,
    coder: &dyn Coder,
    job: &Job<'_>,
) -> Result<Encoded> {
    let Given { plain, before, inside, .. } = *given;
    let counted = Counted { items: contract.items, given: plain, before, inside };
    let work = Work { contract, given, extent: counted.extent(), counted, coder, job };
    let found = work.best()?;
    let Trial { bytes, plain, measured, means, .. } = match found {
        Some(trial) => trial,
        None => work.exact()?,
    };
    Ok(Encoded { bytes, plain, reached: Reached::of(&measured, means) })
}

/// Means to be tried, and how coarse they were where a part of the chunk was tried.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hint {
    means: Means,
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
    pub(super) means: Option<Means>,
    /// How coarse it is, where that was searched for.
    pub(super) how: Option<How>,
}

/// A chunk that is being encoded.
pub(super) struct Work<'w> {
    pub(super) contract: &'w Contract,
    pub(super) given: &'w Given<'w>,
    pub(super) counted: Counted<'w>,
    pub(super) extent: Extent,
    pub(super) coder: &'w dyn Coder,
    pub(super) job: &'w Job<'w>,
}

impl Work<'_> {
    /// The best of what holds the bound.
    fn best(&self) -> Result<Option<Trial>> {
        let means = self.means();
        let is_chosen = self.contract.means().is_none() && means.len() > 1;
        let is_searched = matches!(self.contract.bound(), Bound::Ratio(_))
            || means.contains(&Means::Zfp)
            || self.contract.rules().len() > 1;
        let params = self.coder.params().filter(|_| is_chosen || is_searched);
        let hints = match params.and_then(|params| Sample::of(self.given, params.blocksize?)) {
            Some(sample) => {
                let given = Given { plain: &sample.plain, inside: &sample.inside, ..*self.given };
                let counted = Counted { given: given.plain, inside: given.inside, ..self.counted };
                let part = Work { given: &given, counted, ..*self };
                part.compared(&means)?.into_iter().map(|(hint, _)| hint).collect()
            }
            None if is_chosen => {
                return Ok(self.compared(&means)?.into_iter().find_map(|(_, trial)| trial));
            }
            None => means.into_iter().map(|means| Hint { means, how: None }).collect(),
        };
        self.first(hints)
    }

    /// The first that holds the bound, if it is no finer than a part of the chunk has promised; else the best.
    fn first(&self, hints: Vec<Hint>) -> Result<Option<Trial>> {
        let mut best: Option<Trial> = None;
        for hint in hints {
            let Some(trial) = self.tried(&hint)? else { continue };
            let is_finer =
                matches!(trial.how, Some(How::Zfp(..))) && hint.how.is_some_and(|how| trial.how != Some(how));
            if best.as_ref().is_none_or(|old| self.is_better(&trial, old)) {
                best = Some(trial);
            }
            if !is_finer || self.contract.means().is_some() {
                break;
            }
        }
        Ok(best)
    }

    /// What comes of each of these means; the best first, unless the user wants them in this order.
    fn compared(&self, means: &[Means]) -> Result<Vec<(Hint, Option<Trial>)>> {
        let mut tried: Vec<(Hint, Option<Trial>)> = Vec::new();
        for &means in means {
            let trial = self.tried(&Hint { means, how: None })?;
            let hint = Hint { means, how: trial.as_ref().and_then(|trial| trial.how) };
            let is_better = |(_, old): &(Hint, Option<Trial>)| match (&trial, old) {
                (Some(new), Some(old)) => self.is_better(new, old),
                (new, _) => new.is_some(),
            };
            let place = tried.iter().position(is_better).filter(|_| self.contract.means().is_none());
            tried.insert(place.unwrap_or(tried.len()), (hint, trial));
        }
        Ok(tried)
    }

    fn tried(&self, hint: &Hint) -> Result<Option<Trial>> {
        match hint.means {
            Means::Round => self.rounded(hint),
            Means::Trunc => self.truncated(),
            Means::Zfp => self.transformed(hint),
            Means::J2k | Means::Htj2k => images::coded(self, hint.means),
        }
    }

    /// The means that may be tried.
    fn means(&self) -> Vec<Means> {
        let is_free = self.coder.params().is_some() && self.given.before.is_none();
        match self.contract.means() {
            Some(Means::Round) => vec![Means::Round],
            // What they cannot hold is rounded.
            Some(means) if is_free => vec![means, Means::Round],
            Some(_) => vec![Means::Round],
            // Truncation loses twice what rounding to as many bits does, and is no smaller: only on demand.
            None if is_free && self.given.is_whole && !self.coder.is_for_speed() && self.suits_zfp() => {
                vec![Means::Round, Means::Zfp]
            }
            None => vec![Means::Round],
        }
    }

    fn suits_zfp(&self) -> bool {
        let bound = matches!(self.contract.bound(), Bound::MaxError(_) | Bound::Psnr(_) | Bound::Ratio(_));
        bound && self.contract.items.are_transformed() && search::zfp_params(self, "zfp_rate", 50).is_some()
    }

    /// Whether one trial that holds the bound is better than another.
    fn is_better(&self, new: &Trial, old: &Trial) -> bool {
        match self.contract.bound() {
            Bound::Ratio(_) => new.measured.mean_square < old.measured.mean_square,
            _ => new.bytes.len() < old.bytes.len(),
        }
    }

    /// Whether the bound holds.
    pub(super) fn holds(&self, measured: &Measured) -> bool {
        match self.contract.bound() {
            Bound::MaxError(limit) => measured.max_error <= limit,
            // An infinite error of what has no size is no part of it, and must not pass for none.
            Bound::RelativeError(limit) => {
                measured.relative_error <= limit && measured.max_error < f64::INFINITY
            }
            Bound::Psnr(psnr) => search::holds_psnr(measured, psnr),
            Bound::KeepBits(_) | Bound::Ratio(_) => measured.max_error < f64::INFINITY,
        }
    }

    /// The given items, rounded.
    pub(super) fn round(&self, rule: Rule, plain: &mut [u8]) -> Result<()> {
        let Given { plain: from, before, fill, .. } = *self.given;
        let fill = fill.filter(|_| !self.contract.items.is_complex);
        round(rule, self.contract.items, (from, before, fill), plain, self.job)
    }

    /// How far items are off.
    pub(super) fn measured(&self, plain: &[u8]) -> Measured {
        self.counted.measured(plain, self.extent.range())
    }

    /// Room for the items.
    pub(super) fn room(&self) -> Vec<u8> {
        vec![0; self.given.plain.len()]
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

    /// A chunk that is to decode to these items, if it does and the bound holds.
    pub(super) fn checked(&self, bytes: Vec<u8>, plain: Vec<u8>) -> Result<Option<Trial>> {
        let measured = self.measured(&plain);
        let gives_back = with_room(plain.len(), |room| {
            let is_known = self.coder.decode(&bytes, room)?;
            Ok::<_, Error>(!is_known || self.are_equal(room, &plain))
        })?;
        let means = (measured.max_error > 0.0).then_some(Means::Round);
        let trial = Trial { bytes, plain, measured, means, how: None };
        Ok((gives_back && self.holds(&trial.measured)).then_some(trial))
    }

    /// Whether two lots are the same where items count; stores need not keep what blocks have beyond a chunk.
    fn are_equal(&self, a: &[u8], b: &[u8]) -> bool {
        let bytes = self.contract.items.number_bytes() * self.contract.items.numbers();
        let run = |range: &Range<usize>| range.start * bytes..range.end * bytes;
        self.given.inside.iter().all(|range| a.get(run(range)) == b.get(run(range)))
    }

    /// Encodes the given items by parameters that lose something; what comes out, if it holds the bound.
    pub(super) fn lost(&self, params: &Params, means: Means) -> Result<(Trial, bool)> {
        let bytes = self.coder.encode(self.given.plain, Some(params))?;
        let mut plain = self.room();
        let is_known = self.coder.decode(&bytes, &mut plain)?;
        let measured = self.measured(&plain);
        // Who did not ask for it keeps zeros, which may stand for nothing or for what is not there.
        let is_wanted = measured.keeps_zeros || self.contract.means().is_some();
        let holds = is_known && is_wanted && self.holds(&measured);
        let means = (measured.max_error > 0.0).then_some(means);
        Ok((Trial { bytes, plain, measured, means, how: None }, holds))
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
        let (trial, holds) = self.lost(&params, Means::Trunc)?;
        Ok(holds.then_some(trial))
    }

    /// How many bits of the mantissa, or of the integer, are kept; 1 at least, as the filters want it.
    fn truncated_bits(&self) -> u32 {
        let items = self.contract.items;
        let bits = match self.contract.bound() {
            Bound::KeepBits(bits) => bits,
            // A bit of weight 2^-n is kept, so that what is lost is less.
            Bound::RelativeError(limit) => {
                (0..64).find(|&bits| super::floats::power_of_two(-bits) <= limit).unwrap_or(64).unsigned_abs()
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
        trial.ok_or_else(|| Error::invalid("lossy: a codec or filter does not give back what it was given"))
    }
}
