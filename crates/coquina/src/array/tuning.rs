//! Arrays that are tuned: what the chunks of a write are encoded by is chosen for each.
//!
//! In: the goal of an array. Out: its tuner, which lives as long as the handle and remembers what it chose. The goal
//! stands in the layer `coquina.tuning`; in HDF5 files, which have no layers, whoever opened the dataset keeps it.
//! Invariant: reading needs nothing of this: every chunk says itself how it is encoded.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::choices::Chooser;
use super::handle::{Array, State};
use super::read::batches;
use crate::base::error::{Error, Result};
use crate::base::limits::Limits;
use crate::chunk::{Kind, Params, read_header};
use crate::store::{Access, Change, Chunks, Stored};
use crate::tune::{self, Counters, Goal, LAYER, Tuner};

/// How chunks to come are encoded.
#[derive(Clone)]
pub(super) enum Tuning {
    /// All alike.
    Off,
    /// As this one chooses for each.
    By(Arc<Tuner>),
    /// By some goal, but what is damaged.
    Unknown(String),
}

impl Tuning {
    /// What the layers of an array say.
    pub(super) fn read(chunks: &dyn Chunks) -> Self {
        let read = |content: Vec<u8>| Goal::read(&content);
        match chunks.layer(LAYER).and_then(|content| content.map(read).transpose()) {
            Ok(None) => Self::Off,
            Ok(Some(goal)) => Self::of(goal),
            Err(error) => Self::Unknown(error.to_string()),
        }
    }

    fn of(goal: Goal) -> Self {
        Self::By(Arc::new(Tuner::new(goal)))
    }

    /// What the layers say now; a tuner whose goal is the same remembers on.
    pub(super) fn read_again(&self, chunks: &dyn Chunks) -> Self {
        match (self, Self::read(chunks)) {
            (Self::By(old), Self::By(new)) if old.goal() == new.goal() => self.clone(),
            (_, new) => new,
        }
    }

    /// What chooses for a write, if something does.
    ///
    /// # Errors
    /// As [`Tuning::tuner`]; `Unsupported` if chunks cannot differ.
    pub(super) fn chooser<'w>(
        &'w self,
        chunks: &'w dyn Chunks,
        params: &'w Params,
    ) -> Result<Option<Chooser<'w>>> {
        let Some(tuner) = self.tuner()? else { return Ok(None) };
        let (params, lends) = (tuned_params(chunks, params)?, chunks.encoder().is_none());
        Ok(Some(Chooser { tuner, params, lends }))
    }

    /// The tuner, if there is one.
    ///
    /// # Errors
    /// `Corrupt` if the goal is damaged.
    pub(super) fn tuner(&self) -> Result<Option<&Tuner>> {
        match self {
            Self::Off => Ok(None),
            Self::By(tuner) => Ok(Some(tuner)),
            Self::Unknown(why) => {
                Err(Error::corrupt(format!("how chunks are to be tuned is not known: {why}")))
            }
        }
    }
}

/// The goal as a layer.
pub(super) fn layer(goal: Option<&Goal>) -> (String, Option<Vec<u8>>) {
    (LAYER.to_owned(), goal.map(Goal::write))
}

impl Array {
    /// What chunks to come are tuned for; `None` if they are all encoded alike.
    ///
    /// # Errors
    /// `Corrupt` if the array says something, but it is damaged.
    pub fn tuning(&self) -> Result<Option<Goal>> {
        Ok(self.state().tuning.tuner()?.map(|tuner| *tuner.goal()))
    }

    /// What has been chosen for chunks of this handle so far.
    pub fn tuner_counters(&self) -> Counters {
        match &self.state().tuning {
            Tuning::By(tuner) => tuner.counters(),
            Tuning::Off | Tuning::Unknown(_) => Counters::default(),
        }
    }

    /// From now on codec, level and filters of each chunk that is written are chosen for this goal, or no more; what
    /// stands there stays. A goal that is damaged is replaced.
    ///
    /// # Errors
    /// `Invalid` for an array whose codec or filters lose something on their own, and that is open for reading only;
    /// `Unsupported` for chunks that cannot differ in how they are encoded: those of HDF5 without Blosc2 as their only
    /// filter; `Io`, the array is then as it was.
    pub fn set_tuning(&self, goal: Option<Goal>) -> Result<()> {
        let mut writer = self.writer();
        writer.check()?;
        let old = self.state();
        if goal.is_some() {
            tune::check(tuned_params(&*old.chunks, self.params())?)?;
        }
        let keeps_layers = old.chunks.encoder().is_none();
        let is_same = goal.is_none() && matches!(old.tuning, Tuning::Off);
        let applied = if keeps_layers && !is_same {
            writer.store.apply(Change { layers: vec![layer(goal.as_ref())], ..Change::default() })
        } else {
            Ok(())
        };
        let made = applied.map(|()| {
            let tuning = goal.map_or(Tuning::Off, Tuning::of);
            Arc::new(State { tuning, chunks: writer.store.chunks(), ..State::clone(&old) })
        });
        self.settle(&mut writer, made)
    }

    /// How many chunks are encoded by which codec and which filters, from what the chunks say. The codec is "special"
    /// for what is one value, "stored" for bytes as they are, and "other" for what is no Blosc chunk.
    ///
    /// # Errors
    /// `Corrupt` for a chunk whose head is damaged, or what the store says.
    pub fn encodings(&self) -> Result<BTreeMap<(String, String), u64>> {
        let state = self.state();
        let nchunks = state.grid.nchunks();
        let mut counts = BTreeMap::new();
        let mut count = |chunks: &dyn Chunks, number: u64| {
            let coding = coding(chunks, number).map_err(|e| e.at(format!("chunk {number}")))?;
            *counts.entry(coding).or_insert(0) += 1;
            Ok::<_, Error>(())
        };
        match state.chunks.access(nchunks)? {
            Access::Free => (0..nchunks).try_for_each(|number| count(&*state.chunks, number))?,
            Access::Fetched(many) => {
                for numbers in batches(0..nchunks, many) {
                    let fetched = state.chunks.fetch(&numbers)?;
                    numbers.into_iter().try_for_each(|number| count(&*fetched, number))?;
                }
            }
        }
        Ok(counts)
    }
}

/// What the parameters of a chunk are made of: those of the store's own encoder, or the array's.
fn tuned_params<'p>(chunks: &'p dyn Chunks, params: &'p Params) -> Result<&'p Params> {
    match chunks.encoder() {
        None => Ok(params),
        Some(encoder) => encoder.params().ok_or_else(|| {
            Error::unsupported(
                "tuning: takes an HDF5 dataset whose only filter is Blosc2, run here: other chunks cannot say how they \
                 are encoded",
            )
        }),
    }
}

/// Names of the codec and the filters of a chunk.
fn coding(chunks: &dyn Chunks, number: u64) -> Result<(String, String)> {
    let named = |name: &str| Ok((name.to_owned(), String::new()));
    let limits = Limits::default();
    let header = match chunks.chunk(number)? {
        Stored::Special(_) | Stored::Item(_) => return named("special"),
        Stored::At { source, place, .. } => Some(read_header(&*source, &place, &limits)?),
        Stored::Other { .. } => {
            let chunk = chunks.open(number, &limits)?;
            if chunk.item().is_some() {
                return named("special");
            }
            chunk.header()
        }
    };
    let Some(header) = header else { return named("other") };
    match header.kind()? {
        Kind::Special(_) => named("special"),
        Kind::Memcpyed => named("stored"),
        Kind::Blocks | Kind::VariableBlocks => Ok((header.codec_name(), header.filter_names())),
    }
}
