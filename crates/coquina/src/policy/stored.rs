//! Which policy the writes of an array follow, as its metadata say it.
//!
//! The bound on the loss stands with what was lost in the layer `coquina.lossy`, the goal of tuning in `coquina.tuning`; of
//! HDF5 datasets, attributes say both, which a library reads: at the first write, as it costs more there.
//! Invariant: reading needs nothing of this: every chunk says itself how it is encoded.

use std::sync::Arc;

use super::bounded::{Bounded, LAYER as BOUND_LAYER, Reached, Record};
use super::encode_policy::EncodePolicy;
use super::exact::Exact;
use super::tuned::{Goal, LAYER as GOAL_LAYER, Tuned, Tuner};
use crate::base::error::{Error, Result};
use crate::chunk::Params;
use crate::store::{ChunkFormat, Metadata};

/// Variable metadata to be set.
type Layers = Vec<(String, Option<Vec<u8>>)>;

/// The policies of an array as of one moment.
#[derive(Clone)]
pub(crate) struct Policies {
    bound: StoredBound,
    goal: StoredGoal,
    /// Whether both have still to be read: a library keeps them.
    is_unread: bool,
    /// Whether what is written is within the bound already, and stays as it is.
    is_exact: bool,
}

/// How much the items of an array may lose.
#[derive(Clone)]
enum StoredBound {
    /// Nothing.
    Exact,
    /// As much as a bound allows.
    Bounded(Record),
    /// Something, but what is damaged.
    Damaged(String),
}

/// What chunks to come are tuned for.
#[derive(Clone)]
enum StoredGoal {
    /// Nothing: all are encoded alike.
    Off,
    /// The goal of this tuner, which lives as long as the handle and remembers what it chose.
    On(Arc<Tuner>),
    /// Some goal, but what is damaged.
    Damaged(String),
}

/// Whether a layer is one of these, which users cannot take.
pub(crate) fn is_reserved(layer: &str) -> bool {
    [BOUND_LAYER, GOAL_LAYER].contains(&layer)
}

/// The goal as a layer.
pub(crate) fn goal_layer(goal: Option<&Goal>) -> (String, Option<Vec<u8>>) {
    (GOAL_LAYER.to_owned(), goal.map(Goal::write))
}

/// What the parameters of a chunk are made of where they are chosen.
///
/// # Errors
/// `Unsupported` if chunks cannot differ.
pub(crate) fn tunable_params(format: &dyn ChunkFormat) -> Result<&Params> {
    format.params().ok_or_else(|| {
        Error::unsupported(
            "tuning: takes an HDF5 dataset whose only filter is Blosc2, run here: other chunks cannot say how they \
             are encoded",
        )
    })
}

impl StoredBound {
    fn read(metadata: &dyn Metadata, dtype: Option<&str>) -> Self {
        let read = |content: Vec<u8>| Record::read(&content, dtype.unwrap_or_default());
        match metadata.layer(BOUND_LAYER).and_then(|content| content.map(read).transpose()) {
            Ok(None) => Self::Exact,
            Ok(Some(record)) => Self::Bounded(record),
            Err(error) => Self::Damaged(error.to_string()),
        }
    }
}

impl StoredGoal {
    fn read(metadata: &dyn Metadata) -> Self {
        let read = |content: Vec<u8>| Goal::read(&content);
        match metadata.layer(GOAL_LAYER).and_then(|content| content.map(read).transpose()) {
            Ok(None) => Self::Off,
            Ok(Some(goal)) => Self::of(goal),
            Err(error) => Self::Damaged(error.to_string()),
        }
    }

    fn of(goal: Goal) -> Self {
        Self::On(Arc::new(Tuner::new(goal)))
    }
}

impl Policies {
    /// What the metadata of an array say, of items of this dtype; without metadata, neither a bound nor a goal.
    pub(crate) fn read(metadata: Option<&dyn Metadata>, dtype: Option<&str>) -> Self {
        let new = |bound, goal| Self { bound, goal, is_unread: false, is_exact: false };
        match metadata {
            None => new(StoredBound::Exact, StoredGoal::Off),
            Some(metadata) if metadata.is_of_library() => {
                Self { is_unread: true, ..new(StoredBound::Exact, StoredGoal::Off) }
            }
            Some(metadata) => new(StoredBound::read(metadata, dtype), StoredGoal::read(metadata)),
        }
    }

    /// What a library says of both, if it has not been asked before. Chunks that cannot differ are not tuned, whatever
    /// the goal.
    ///
    /// # Errors
    /// What the library says; it can be asked again.
    pub(crate) fn read_from_library(
        &self,
        metadata: Option<&dyn Metadata>,
        dtype: Option<&str>,
        format: &dyn ChunkFormat,
    ) -> Result<Option<Self>> {
        let Some(metadata) = metadata.filter(|_| self.is_unread) else { return Ok(None) };
        let record = metadata.layer(BOUND_LAYER)?;
        let record = record.map(|content| Record::read(&content, dtype.unwrap_or_default())).transpose()?;
        let goal = if format.params().is_some() { metadata.layer(GOAL_LAYER)? } else { None };
        let goal = goal.map(|content| Goal::read(&content)).transpose()?;
        // A profile is not stored: it stays with the handle that was given it.
        let goal = match (&self.goal, goal) {
            (StoredGoal::On(old), Some(goal)) if old.goal().is_stored_as(&goal) => Some(old.goal().clone()),
            (_, goal) => goal,
        };
        let read = Self { is_unread: false, ..self.clone() };
        Ok(Some(read.with_record(record).with_goal(goal)))
    }

    /// What the metadata say now; a tuner whose goal is the same remembers on. Without metadata, and where a library
    /// keeps them, nothing changes.
    pub(crate) fn read_again(&self, metadata: Option<&dyn Metadata>, dtype: Option<&str>) -> Self {
        if metadata.is_none_or(Metadata::is_of_library) {
            return self.clone();
        }
        let new = Self::read(metadata, dtype);
        match (&self.goal, &new.goal) {
            (StoredGoal::On(old), StoredGoal::On(tuner)) if old.goal().is_stored_as(tuner.goal()) => {
                Self { goal: self.goal.clone(), ..new }
            }
            _ => new,
        }
    }

    /// The bound, with what was lost; `None` if items are kept exactly.
    ///
    /// # Errors
    /// `Corrupt` if it is damaged.
    pub(crate) fn record(&self) -> Result<Option<&Record>> {
        match &self.bound {
            StoredBound::Exact => Ok(None),
            StoredBound::Bounded(record) => Ok(Some(record)),
            StoredBound::Damaged(why) => {
                Err(Error::corrupt(format!("the error bound cannot be read: {why}")))
            }
        }
    }

    /// The same with this bound, or none; what is unread stays so.
    pub(crate) fn with_record(&self, record: Option<Record>) -> Self {
        if self.is_unread {
            return self.clone();
        }
        Self { bound: record.map_or(StoredBound::Exact, StoredBound::Bounded), ..self.clone() }
    }

    /// The tuner, if there is one.
    ///
    /// # Errors
    /// `Corrupt` if the goal is damaged.
    pub(crate) fn tuner(&self) -> Result<Option<&Tuner>> {
        match &self.goal {
            StoredGoal::Off => Ok(None),
            StoredGoal::On(tuner) => Ok(Some(tuner)),
            StoredGoal::Damaged(why) => Err(Error::corrupt(format!("the tuning goal cannot be read: {why}"))),
        }
    }

    /// The same, by which what is written is within the bound already, or is not.
    pub(crate) fn with_exact(&self, is_exact: bool) -> Self {
        Self { is_exact, ..self.clone() }
    }

    /// Whether a library has still to be asked for both.
    pub(crate) fn is_unread(&self) -> bool {
        self.is_unread
    }

    /// Whether nothing is tuned, and nothing says otherwise.
    pub(crate) fn is_untuned(&self) -> bool {
        matches!(self.goal, StoredGoal::Off) && !self.is_unread
    }

    /// The same with this goal, or none; what is unread stays so.
    pub(crate) fn with_goal(&self, goal: Option<Goal>) -> Self {
        Self { goal: goal.map_or(StoredGoal::Off, StoredGoal::of), ..self.clone() }
    }

    /// What a write follows.
    ///
    /// # Errors
    /// `Corrupt` if bound or goal are damaged, `Unsupported` if chunks cannot differ in how they are encoded.
    pub(crate) fn for_write<'w>(&'w self, format: &'w dyn ChunkFormat) -> Result<WritePolicy<'w>> {
        let record = self.record()?.filter(|_| !self.is_exact);
        let tuner = self.tuner()?;
        let tuned = tuner
            .map(|tuner| Ok::<_, Error>(Tuned { tuner, params: tunable_params(format)? }))
            .transpose()?;
        let bounded = record.map(|record| Bounded::new(&record.contract, tuned));
        Ok(WritePolicy { bounded, tuned })
    }

    /// The policies after a write that lost so much, and the layer that says it, if there are layers and it has
    /// changed.
    pub(crate) fn after(&self, lost: &Reached, metadata: Option<&dyn Metadata>) -> (Self, Layers) {
        let StoredBound::Bounded(old) = &self.bound else { return (self.clone(), Vec::new()) };
        let record = Record { reached: old.reached.and(lost), ..*old };
        let is_told = metadata.is_some() && record != *old;
        let layers = if is_told { vec![bound_layer(&record)] } else { Vec::new() };
        (self.with_record(Some(record)), layers)
    }

    /// What an array loses by taking chunks of another one, as they are stored.
    ///
    /// # Errors
    /// `Invalid` if the other one may have lost what this one does not allow, `Corrupt` if that is not known.
    pub(crate) fn lost_by(&self, other: &Self) -> Result<Reached> {
        match (self.record()?, other.record()?) {
            (_, None) => Ok(Reached::NOTHING),
            (Some(ours), Some(theirs)) if ours.contract == theirs.contract => Ok(theirs.reached),
            _ => Err(Error::invalid("lossy: the chunks have another error bound")),
        }
    }
}

/// The bound and what was lost as a layer.
pub(crate) fn bound_layer(record: &Record) -> (String, Option<Vec<u8>>) {
    (BOUND_LAYER.to_owned(), Some(record.write()))
}

/// What one write follows.
pub(crate) struct WritePolicy<'w> {
    bounded: Option<Bounded<'w>>,
    tuned: Option<Tuned<'w>>,
}

impl WritePolicy<'_> {
    /// The policy for values that are written.
    pub(crate) fn policy(&self) -> &dyn EncodePolicy {
        match &self.bounded {
            Some(bounded) => bounded,
            None => self.lossless(),
        }
    }

    /// The policy for items that stay as they are.
    pub(crate) fn lossless(&self) -> &dyn EncodePolicy {
        match &self.tuned {
            Some(tuned) => tuned,
            None => &Exact,
        }
    }

    /// What the write has lost so far.
    pub(crate) fn lost(&self) -> Reached {
        self.bounded.as_ref().map_or(Reached::NOTHING, Bounded::lost)
    }
}
