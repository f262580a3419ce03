//! How long ways take: a model that was fitted to measurements, the same on every machine.
//!
//! In: how small a way makes some blocks, how much work it and LZ4 have with them behind the same filters, and how small
//! LZ4 and Zstd at level 1 make them. Out: nanoseconds of a core per byte. `times.tsv` holds for each codec, level and kind
//! of streams the least and the usual part of the probe's size that it was seen to reach, and two polynomials, whose values
//! are logarithms; `bench/tuner/tuner_table.py` makes it. Measured on x86-64 with AVX-512, a virtual core of 2.1 GHz; others
//! are slower or faster as a whole, which changes little.

use super::calibrate::{self, Factors};
use super::goal::Goal;
use super::math::exp2;
use super::profile::Profile;
use super::table::{Row, TERMS, rows};
use super::ways::{Times, Way};
use super::work::{LZ4_FORMAT, Work};
use crate::base::error::{Error, Result};

/// What was added to the times that the polynomials were fitted to.
const FLOOR_NS: f64 = 0.02;
/// Powers of two that the polynomials do not leave.
const LOGARITHMS: (f64, f64) = (-6.0, 9.0);
/// The least that anything takes, per byte.
const LEAST_NS: f64 = 0.02;
/// What items take that are stored as they are.
const STORED: Times = Times { write: 0.06, read: 0.05 };

/// What the two probes make of some blocks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Probes {
    pub(super) lz4: Probe,
    pub(super) zstd: Probe,
}

/// What a probe makes of some blocks: a part of their size, and how much work that is.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Probe {
    pub(super) fraction: f64,
    pub(super) work: Work,
}

impl Probes {
    /// The probe whose streams are most like those of a way. BloscLZ, whose format is below that of LZ4, finds matches only too.
    pub(super) fn of(&self, way: &Way) -> &Probe {
        if way.codec.format() <= LZ4_FORMAT { &self.lz4 } else { &self.zstd }
    }

    /// What the polynomials are sums of. Roots have steep beginnings, as times have.
    fn terms(&self, fraction: f64, work: &Work) -> [f64; TERMS] {
        let Work { sequences, literals, coded, tables, raw } = *work;
        let matches = self.lz4.work.sequences;
        [
            1.0,
            fraction,
            fraction.sqrt(),
            fraction * fraction,
            3.0 * sequences.sqrt(),
            10.0 * sequences,
            raw,
            coded.sqrt(),
            coded,
            literals,
            3.0 * matches.sqrt(),
            10.0 * matches,
            1000.0 * tables,
        ]
    }
}

/// The model, perhaps with how much faster or slower this machine is, or with what was learnt from a user's files.
#[derive(Clone, Copy)]
pub(super) struct Model<'g> {
    factors: Option<&'static Factors>,
    profile: Option<&'g Profile>,
}

impl<'g> Model<'g> {
    /// The one that is shipped.
    pub(super) fn shipped() -> Self {
        Self { factors: None, profile: None }
    }

    /// The one that a goal asks for. To compare this machine with that of the table takes a moment at the first time.
    ///
    /// # Errors
    /// None that a sound build has.
    pub(super) fn new(goal: &'g Goal) -> Result<Self> {
        let factors = if goal.is_calibrated() { Some(calibrate::factors()?) } else { None };
        Ok(Self { factors, profile: goal.profile() })
    }

    /// How long a way takes that makes blocks as small as this with as much work; what its probe has, where that is not known.
    ///
    /// # Errors
    /// `Unsupported` for a way that the table does not have.
    pub(super) fn times(
        &self,
        way: &Way,
        fraction: f64,
        work: Option<&Work>,
        probes: &Probes,
    ) -> Result<Times> {
        if way.level == 0 {
            return Ok(STORED);
        }
        let row = row(way)?;
        let terms = probes.terms(fraction, work.unwrap_or(&probes.of(way).work));
        let of = |numbers: &[f64; TERMS]| {
            let sum: f64 = numbers.iter().zip(terms).map(|(a, b)| a * b).sum();
            (exp2(sum.clamp(LOGARITHMS.0, LOGARITHMS.1)) - FLOOR_NS).max(LEAST_NS)
        };
        let times = Times { write: of(&row.write), read: of(&row.read) };
        let times = self.factors.map_or(times, |factors| factors.applied(way, times));
        let learnt = self.profile.and_then(|profile| profile.of(way)).map(|known| known.times);
        let learnt = learnt.unwrap_or(Times { write: 1.0, read: 1.0 });
        Ok(Times { write: times.write * learnt.write, read: times.read * learnt.read })
    }

    /// The least part of the size that a way may make of blocks, and what it usually makes of them.
    ///
    /// # Errors
    /// As [`Model::times`].
    pub(super) fn fractions(&self, way: &Way, probes: &Probes) -> Result<(f64, f64)> {
        let row = row(way)?;
        let learnt = self.profile.and_then(|profile| profile.of(way)).map(|known| (known.least, known.usual));
        let (least, usual) = learnt.unwrap_or((row.least, row.usual));
        let probe = probes.of(way).fraction;
        Ok((least * probe, usual * probe))
    }
}

fn row(way: &Way) -> Result<&'static Row> {
    let (codec, streams) = (way.codec.name(), way.filters.streams.name());
    let is_it = |row: &&Row| (row.codec, row.level, row.streams) == (codec, way.level, streams);
    let missing = || Error::unsupported(format!("{codec} at level {}: its times are not known", way.level));
    rows()?.iter().find(is_it).ok_or_else(missing)
}

#[cfg(test)]
mod tests {
    use super::super::ways::{codecs, filters_for};
    use super::*;
    use crate::chunk::Params;

    #[test]
    fn every_way_has_times_that_can_be() {
        let model = Model::shipped();
        for typesize in [1, 4] {
            for filters in filters_for(&Params { typesize, ..Params::default() }) {
                for (codec, level) in codecs().unwrap() {
                    let way = Way { codec, level, filters };
                    for fraction in [0.0, 0.1, 0.5, 1.0] {
                        let work = Work { sequences: fraction / 20.0, ..Work::default() };
                        let probe = Probe { fraction, work };
                        let probes = Probes { lz4: probe, zstd: probe };
                        let Times { write, read } = model.times(&way, fraction, None, &probes).unwrap();
                        assert!((0.01..600.0).contains(&write), "{} {level} {write}", codec.name());
                        assert!((0.01..600.0).contains(&read), "{} {level} {read}", codec.name());
                        let (least, usual) = model.fractions(&way, &probes).unwrap();
                        assert!(least <= usual && usual <= 1.6 * fraction, "{} {level}", codec.name());
                    }
                }
            }
        }
    }

    #[test]
    fn zstd_gets_slower_with_its_level_and_lz4_is_faster() {
        let model = Model::shipped();
        let filters = filters_for(&Params { typesize: 4, ..Params::default() })[1];
        let work = Work { sequences: 0.03, raw: 0.2, ..Work::default() };
        let probes = Probes {
            lz4: Probe { fraction: 0.6, work },
            zstd: Probe { fraction: 0.4, work: Work { coded: 0.4, tables: 1e-4, ..work } },
        };
        let write = |name, level, fraction| {
            let way = Way { codec: crate::codec::by_name(name).unwrap(), level, filters };
            model.times(&way, fraction, None, &probes).unwrap().write
        };
        let written =
            [write("lz4", 1, 0.6), write("zstd", 1, 0.4), write("zstd", 5, 0.38), write("zstd", 9, 0.36)];
        assert!(written.is_sorted(), "{written:?}");
    }
}
