//! Chunks of predicted items, by the codec `predict`: the bound is the codec's own, and is checked all the same.
//!
//! In: float32 or float64 within a bound on distances. Out: the chunk, if the bound holds and what stood there stays.
//! Source: `docs/formats/predict.md`.

use super::contract::{Bound, LossyMethod};
use super::items::Kind;
use super::trial::{Trial, Work};
use crate::base::error::Result;
use crate::chunk::{Params, Split};
use crate::codec::{self, predict};
use crate::filter::Pipeline;

/// The chunk by prediction, if the bound holds.
pub(super) fn coded(work: &Work<'_>) -> Result<Option<Trial>> {
    let (Some(base), Bound::MaxError(limit)) = (work.coder.params(), work.contract.bound()) else {
        return Ok(None);
    };
    let fill = work.given.fill.and_then(|fill| match work.contract.items.kind {
        Kind::F32 => Some(u64::from(u32::from_le_bytes(fill.try_into().ok()?))),
        Kind::F64 => Some(u64::from_le_bytes(fill.try_into().ok()?)),
        _ => None,
    });
    let params = Params {
        codec: codec::by_name(LossyMethod::Predict.name())?,
        codec_meta: 0,
        codec_options: codec::kept_options(&predict::options(limit, fill)),
        pipeline: Pipeline::default(),
        split: Split::Never,
        dictionary: false,
        ..*base
    };
    if base.level == 0 || params.check().is_err() {
        return Ok(None);
    }
    let (trial, holds) = work.lost(&params, LossyMethod::Predict)?;
    Ok((holds && work.keeps_old(&trial.plain)).then_some(trial))
}

impl Work<'_> {
    /// Whether items that are given as they stood there are the same bit for bit.
    fn keeps_old(&self, plain: &[u8]) -> bool {
        let Some(before) = self.given.before else { return true };
        let bytes = self.given.item_bytes;
        self.given.inside.iter().all(|run| {
            let run = run.start * bytes..run.end * bytes;
            let lots = (self.given.plain.get(run.clone()), before.get(run.clone()), plain.get(run));
            let (Some(given), Some(before), Some(plain)) = lots else { return false };
            let mut items = given.chunks(bytes).zip(before.chunks(bytes)).zip(plain.chunks(bytes));
            items.all(|((given, before), plain)| given != before || given == plain)
        })
    }
}
