//! A snapshot with a change.

use std::collections::BTreeSet;

use super::change::{Change, Entry, Put};
use crate::base::error::{Error, Result};
use crate::chunk::Special;
use crate::frame::NCHUNKS_MAX;
use crate::frame::format::header::{self, Counts};
use crate::frame::format::layer;
use crate::frame::format::metalayers::check_name;
use crate::frame::format::offsets::special_raw;
use crate::frame::format::slots::{Builder, Slot, Slots};
use crate::frame::format::spec::METALAYERS_MAX;
use crate::frame::snapshot::{Snapshot, Stored};
use crate::frame::state::SumState;

impl Snapshot {
    /// The state after `change`, in a frame that has `cbytes` bytes of chunks by now.
    pub(crate) fn changed(&self, change: &Change<'_>, cbytes: u64) -> Result<Self> {
        let mut new = self.clone();
        // What is stale is not taken over: the state has the sums of what is put from here on.
        new.state.sums = if self.state.has_sums { SumState::Fresh } else { SumState::Absent };
        for (name, content) in &change.metalayers {
            new.state.header.set_metalayer(name, content)?;
        }
        new.state.header.set_counts(Counts { nbytes: change.nbytes, cbytes, ..self.state.header.counts });
        new.check_counts(change)?;
        new.change_slots(self, change)?;
        new.change_statistics(self, change);
        for (name, value) in &change.vlmetalayers {
            new.set_vlmetalayer(name, value.as_deref())?;
        }
        Ok(new)
    }

    fn check_counts(&self, change: &Change<'_>) -> Result<()> {
        let (nchunks, nbytes, each) = (change.nchunks, change.nbytes, self.chunk_bytes());
        let is_right = match header::nchunks(nbytes, each) {
            Some(expected) => nchunks == expected,
            None => nchunks > 0,
        };
        if !is_right {
            return Err(Error::invalid(format!("{nchunks} chunks of {each} bytes for {nbytes} bytes")));
        }
        if nchunks > NCHUNKS_MAX {
            return Err(Error::limit(format!("{nchunks} chunks: a frame holds {NCHUNKS_MAX}")));
        }
        Ok(())
    }

    fn change_slots(&mut self, old: &Self, change: &Change<'_>) -> Result<()> {
        let zeros = Slot::new(special_raw(Special::Zeros).unwrap_or(i64::MIN));
        let mut dropped = Vec::new();
        if let Some(fill) = change.fill {
            self.state.header.takes_special(fill)?;
            let raw = special_raw(fill).unwrap_or(zeros.raw);
            self.state.slots = Slots::same(Slot { raw, ..zeros }, change.nchunks);
            dropped.extend(old.state.slots.stored().map(|(_, slot)| slot));
        } else if let Some(remap) = change.remap.filter(|_| old.state.slots.all_same() != Some(zeros)) {
            self.state.slots = remapped(&old.state.slots, change.nchunks, zeros, remap)?;
        } else {
            self.state.slots.resize(change.nchunks, zeros);
            let cut_off = old.state.slots.stored_from(change.nchunks);
            dropped.extend(cut_off.map(|(_, slot)| slot));
        }
        let is_in_place = change.remap.is_none() && change.fill.is_none();
        let mut added = Vec::new();
        for (number, entry) in &change.entries {
            let slot = self.slot_of(*number, entry).map_err(|e| e.at(format!("chunk {number}")))?;
            let before = self.state.slots.get(*number);
            let before =
                before.ok_or_else(|| Error::invalid(format!("chunk {number} of {}", change.nchunks)))?;
            if is_in_place && before.raw != slot.raw {
                dropped.push(before);
            }
            self.state.slots.set(*number, slot);
            added.push(slot);
        }
        if self.chunk_bytes() == 0 && self.state.slots.stored().count() as u64 != change.nchunks {
            return Err(Error::invalid("every chunk must be put where sizes of chunks vary"));
        }
        if change.remap.is_some() && change.fill.is_none() {
            let kept: BTreeSet<i64> = self.state.slots.stored().map(|(_, slot)| slot.raw).collect();
            dropped.extend(
                old.state.slots.stored().map(|(_, slot)| slot).filter(|slot| !kept.contains(&slot.raw)),
            );
        }
        if is_in_place {
            self.check_borders(old)?;
        }
        let added: u64 = added.into_iter().map(|slot| self.stored_bytes(slot)).sum();
        let dropped: u64 = dropped.into_iter().map(|slot| self.stored_bytes(slot)).sum();
        self.state.live_bytes = (self.state.live_bytes + added).saturating_sub(dropped);
        Ok(())
    }

    /// Statistics of chunks that are put are none yet; those of chunks that stay are told, or no longer sure.
    fn change_statistics(&mut self, old: &Self, change: &Change<'_>) {
        let Some(statistics) = &change.statistics else {
            let is_same =
                change.remap.is_none() && change.metalayers.is_empty() && change.nchunks == old.nchunks();
            if !is_same {
                self.state.slots.forget_statistics();
            }
            return;
        };
        for &(number, statistics) in statistics {
            if let Some(slot) =
                self.state.slots.get(number).filter(|slot| self.state.has_statistics && slot.raw >= 0)
            {
                self.state.slots.set(number, Slot { statistics, ..slot });
            }
        }
    }

    /// A chunk that was the last one or becomes it may have to be of another size than it is.
    fn check_borders(&self, old: &Self) -> Result<()> {
        for number in [old.nchunks(), self.nchunks()].into_iter().filter_map(|count| count.checked_sub(1)) {
            let (Some(before), Some(now)) = (old.state.slots.get(number), self.state.slots.get(number))
            else {
                continue;
            };
            let (held, needed) = (old.state.header.nbytes_of(number), self.state.header.nbytes_of(number));
            if before.raw == now.raw && now.raw >= 0 && held != needed {
                let (held, needed) = (held.unwrap_or(0), needed.unwrap_or(0));
                return Err(Error::invalid(format!(
                    "chunk {number}: holds {held} bytes, and must hold {needed}"
                )));
            }
        }
        Ok(())
    }

    /// What the index is to say, if it may.
    fn slot_of(&self, number: u64, entry: &Entry) -> Result<Slot> {
        match entry {
            Entry::Special(special) => {
                self.state.header.takes_special(*special)?;
                let raw = special_raw(*special).unwrap_or(i64::MIN);
                Ok(Slot::new(raw))
            }
            Entry::Stored(Put { key, sum }) => {
                let raw = i64::try_from(*key).map_err(|_| Error::limit(format!("a chunk at {key}")))?;
                let slot = Slot { sum: sum.map_or(0, u64::from), ..Slot::new(raw) };
                if let Stored::At { source, place, .. } = self.locate(number, slot)?
                    && let Some(misfit) = self.misfit(number, &self.chunk_header(&*source, &place)?)
                {
                    return Err(Error::invalid(misfit));
                }
                Ok(slot)
            }
        }
    }

    fn set_vlmetalayer(&mut self, name: &str, value: Option<&[u8]>) -> Result<()> {
        check_name(name)?;
        if name == layer::NAME {
            return Err(Error::invalid(format!("metalayer {name:?}: the name is taken")));
        }
        let place = self.state.vlmetalayers.iter().position(|(known, _)| known == name);
        let Some(value) = value else {
            let place = place.ok_or_else(|| Error::invalid(format!("metalayer {name:?}: there is none")))?;
            self.state.vlmetalayers.remove(place);
            return Ok(());
        };
        let packed = layer::pack(value)?.into();
        let count = self.state.vlmetalayers.len();
        match place.and_then(|place| self.state.vlmetalayers.get_mut(place)) {
            Some(layer) => layer.1 = packed,
            None if count + 1 >= METALAYERS_MAX => {
                let most = METALAYERS_MAX - 1;
                return Err(Error::limit(format!(
                    "metalayer {name:?}: there are {most} already, and no more may be"
                )));
            }
            None => self.state.vlmetalayers.push((name.to_owned(), packed)),
        }
        Ok(())
    }
}

/// The slots in another order.
fn remapped(old: &Slots, nchunks: u64, zeros: Slot, remap: super::change::Remap<'_>) -> Result<Slots> {
    let mut slots = Builder::default();
    let mut taken = BTreeSet::new();
    for number in 0..nchunks {
        let Some(from) = remap(number) else {
            slots.push(zeros);
            continue;
        };
        let slot = old.get(from);
        let slot = slot.ok_or_else(|| Error::invalid(format!("chunk {number}: is to be the old {from}")))?;
        if slot.raw >= 0 && !taken.insert(slot.raw) {
            return Err(Error::invalid(format!("chunk {number}: the old {from} is taken already")));
        }
        slots.push(slot);
    }
    Ok(slots.finish())
}
