//! What an array promises of its items, what it is tuned for, and how its chunks are encoded.
//!
//! Bound and goal stand in layers of the array, or in the attributes of an HDF5 dataset. A dataset whose attributes are not
//! at hand has those that it was told.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::geometry::batches;
use super::handle::{Array, Writer};
use super::read::State;
use crate::base::error::{Error, Result};
use crate::base::limits::Limits;
use crate::chunk::{Kind, read_header};
use crate::policy::bounded::{Reached, Record};
use crate::policy::tuned::{self, Counters, Goal, Tuner};
use crate::policy::{bound_layer, goal_layer, tunable_params};
use crate::store::{Access, Change, Chunks, Stored};

impl Array {
    /// What is promised of the items, and what was reached; `None` if they are kept exactly.
    ///
    /// # Errors
    /// `Corrupt` if the array says something, but it is damaged.
    pub fn lossy(&self) -> Result<Option<Record>> {
        self.state_with_policies()?.policies.record().map(Option::<&Record>::copied)
    }

    /// From now on what is written to an HDF5 dataset is within its bound already and stays as it is, or is not.
    ///
    /// # Errors
    /// `Invalid` for an array that is no HDF5 dataset, or that is open for reading only.
    pub fn set_exact(&self, is_exact: bool) -> Result<()> {
        let mut writer = self.writer()?;
        writer.check()?;
        let old = self.state();
        if old.chunks.metadata().is_some_and(|metadata| !metadata.is_of_library()) {
            return Err(Error::invalid("lossy: the error bound of an array cannot be changed"));
        }
        let policies = old.policies.with_exact(is_exact);
        self.settle(&mut writer, Ok(Arc::new(State { policies, ..State::clone(&old) })))
    }

    /// Counts what was lost by rounding that came before a write; [`Array::write_loss`] lets the metadata say it.
    ///
    /// # Errors
    /// As [`Array::lossy`]; `Invalid` for an array that is open for reading only.
    pub fn add_loss(&self, lost: &Reached) -> Result<()> {
        self.state_with_policies()?;
        let mut writer = self.writer()?;
        writer.check()?;
        let old = self.state();
        let (policies, _) = old.policies.after(lost, None);
        self.settle(&mut writer, Ok(Arc::new(State { policies, ..State::clone(&old) })))
    }

    /// Lets the metadata say what was lost so far, if there is a bound.
    ///
    /// # Errors
    /// As [`Array::lossy`] and [`Array::set_lossy`].
    pub fn write_loss(&self) -> Result<()> {
        let Some(record) = self.lossy()? else { return Ok(()) };
        let mut writer = self.writer()?;
        writer.check()?;
        let state = self.state();
        if state.chunks.metadata().is_none() {
            return Ok(());
        }
        let applied = writer.store.apply(Change { layers: vec![bound_layer(&record)], ..Change::default() });
        self.settle(&mut writer, applied.map(|()| state))
    }

    /// The state, once its policies have been read, which takes a library for HDF5 datasets.
    fn state_with_policies(&self) -> Result<Arc<State>> {
        let state = self.state();
        if !state.policies.is_unread() {
            return Ok(state);
        }
        let mut writer = self.writer()?;
        self.read_policies(&mut writer)
    }

    /// The same for who is writing.
    pub(super) fn read_policies(&self, writer: &mut Writer) -> Result<Arc<State>> {
        let old = self.state();
        let read = old.policies.read_from_library(old.chunks.metadata(), self.dtype(), &*self.format)?;
        let Some(policies) = read else { return Ok(old) };
        let state = Arc::new(State { policies, ..State::clone(&old) });
        if Arc::ptr_eq(&writer.committed, &old) {
            writer.committed = Arc::clone(&state);
        }
        self.set_state(&state);
        Ok(state)
    }

    /// From now on what is written may lose as much as the contract allows; what stands there stays. A record is taken
    /// over from where the array does not keep it: in HDF5 files.
    ///
    /// # Errors
    /// `Invalid` for an array whose codec or filters lose something on their own, and that is open for reading only;
    /// `Io`, the array is then as it was.
    pub fn set_lossy(&self, record: Record) -> Result<()> {
        let params = self.params();
        if params.is_lossy() {
            return Err(Error::invalid(
                "lossy: the codec or a filter of the array is lossy itself; leave out one of the two",
            ));
        }
        let mut writer = self.writer()?;
        writer.check()?;
        let old = self.state();
        let applied = match old.chunks.metadata() {
            Some(_) => writer.store.apply(Change { layers: vec![bound_layer(&record)], ..Change::default() }),
            None => Ok(()),
        };
        let made = applied.map(|()| {
            let (chunks, policies) = (writer.store.chunks(), old.policies.with_record(Some(record)));
            Arc::new(State { chunks, policies, ..State::clone(&old) })
        });
        self.settle(&mut writer, made)
    }

    /// What chunks to come are tuned for; `None` if they are all encoded alike.
    ///
    /// # Errors
    /// `Corrupt` if the array says something, but it is damaged.
    pub fn tuning(&self) -> Result<Option<Goal>> {
        Ok(self.state_with_policies()?.policies.tuner()?.map(|tuner| tuner.goal().clone()))
    }

    /// What has been chosen for chunks of this handle so far.
    pub fn tuner_counters(&self) -> Counters {
        // A goal that is damaged has chosen nothing.
        let state = self.state();
        state.policies.tuner().ok().flatten().map(Tuner::counters).unwrap_or_default()
    }

    /// From now on codec, level and filters of each chunk that is written are chosen for this goal, or no more; what
    /// stands there stays. A goal that is damaged is replaced.
    ///
    /// # Errors
    /// `Invalid` for an array whose codec or filters lose something on their own, and that is open for reading only;
    /// `Unsupported` for chunks that cannot differ in how they are encoded: those of HDF5 without Blosc2 as their only
    /// filter; `Io`, the array is then as it was.
    pub fn set_tuning(&self, goal: Option<Goal>) -> Result<()> {
        let mut writer = self.writer()?;
        writer.check()?;
        let old = self.state();
        if goal.is_some() {
            tuned::check(tunable_params(&*self.format)?)?;
        }
        let is_same = goal.is_none() && old.policies.is_untuned();
        let applied = if old.chunks.metadata().is_some() && !is_same {
            writer.store.apply(Change { layers: vec![goal_layer(goal.as_ref())], ..Change::default() })
        } else {
            Ok(())
        };
        let made = applied.map(|()| {
            let policies = old.policies.with_goal(goal);
            Arc::new(State { policies, chunks: writer.store.chunks(), ..State::clone(&old) })
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
