//! Chunks in memory, each in a buffer of its own.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{Change, Chunks, Entry, Metadata, Sizes, Statistics, Store, Stored};
use crate::base::error::{Error, Result};
use crate::base::io::ReadAt;
use crate::chunk::{Place, Special};
use crate::frame::Spec;

/// Identities of all chunks in memory: never given twice.
static IDS: AtomicU64 = AtomicU64::new(0);

/// What stands at a chunk's number.
#[derive(Clone)]
enum Slot {
    Special(Special),
    Bytes(u64, Arc<Vec<u8>>, Option<Statistics>),
}

/// All slots: listed, or one for all of them, so that a chunk costs nothing until it is written.
#[derive(Clone)]
enum Slots {
    Repeated(Special, u64),
    Listed(Vec<Slot>),
}

#[derive(Clone)]
struct State {
    slots: Slots,
    metalayers: Vec<(String, Vec<u8>)>,
    layers: BTreeMap<String, Vec<u8>>,
    /// Bytes of the items of which statistics are kept, if they are.
    statistics_bytes: Option<usize>,
}

/// Chunks in memory.
pub(crate) struct MemoryStore {
    state: Arc<State>,
    committed: Arc<State>,
    put: Vec<Slot>,
}

impl MemoryStore {
    /// `nchunks` chunks that are all zeros; with statistics of items of so many bytes.
    pub(crate) fn new(
        nchunks: u64,
        metalayers: Vec<(String, Vec<u8>)>,
        statistics_bytes: Option<usize>,
    ) -> Self {
        let slots = Slots::Repeated(Special::Zeros, nchunks);
        let state = Arc::new(State { slots, metalayers, layers: BTreeMap::new(), statistics_bytes });
        Self { committed: Arc::clone(&state), state, put: Vec::new() }
    }
}

impl Slots {
    fn len(&self) -> u64 {
        match self {
            Self::Repeated(_, count) => *count,
            Self::Listed(slots) => slots.len() as u64,
        }
    }

    fn get(&self, number: u64) -> Option<Slot> {
        match self {
            Self::Repeated(special, count) => (number < *count).then_some(Slot::Special(*special)),
            Self::Listed(slots) => slots.get(usize::try_from(number).ok()?).cloned(),
        }
    }

    /// Sets what is known of the items of a chunk, if it is stored.
    fn set_statistics(&mut self, number: u64, new: Option<Statistics>) {
        if let (Self::Listed(slots), Ok(number)) = (self, usize::try_from(number))
            && let Some(Slot::Bytes(_, _, statistics)) = slots.get_mut(number)
        {
            *statistics = new;
        }
    }

    /// The slots as a list, of `count` slots that `get` gives.
    fn list(&mut self, count: u64, get: impl Fn(&Self, u64) -> Slot) -> Result<&mut Vec<Slot>> {
        let mut slots = Vec::new();
        reserve(&mut slots, count)?;
        slots.extend((0..count).map(|number| get(self, number)));
        *self = Self::Listed(slots);
        let Self::Listed(slots) = self else { unreachable!("it has just been listed") };
        Ok(slots)
    }
}

/// Makes room for `count` slots in all.
fn reserve(slots: &mut Vec<Slot>, count: u64) -> Result<()> {
    let len = usize::try_from(count).map_err(|_| Error::limit(format!("{count} chunks")))?;
    let more = len.saturating_sub(slots.len());
    slots.try_reserve(more).map_err(|_| Error::limit(format!("{count} chunks: no memory to list them")))
}

impl State {
    fn apply(&mut self, change: Change<'_>, put: &[Slot]) -> Result<()> {
        let zeros = || Slot::Special(Special::Zeros);
        let before = self.slots.len();
        let count = change.nchunks.unwrap_or(before);
        if let Some(fill) = change.fill {
            self.slots = Slots::Repeated(fill, count);
        }
        let is_same = count == self.slots.len() && change.remap.is_none();
        match self.slots {
            // All zeros before and after: the cut does not matter.
            Slots::Repeated(Special::Zeros, _) if !is_same => {
                self.slots = Slots::Repeated(Special::Zeros, count)
            }
            _ if is_same => {}
            Slots::Listed(ref mut slots) if change.remap.is_none() => {
                reserve(slots, count)?;
                slots.resize(usize::try_from(count).unwrap_or(usize::MAX), zeros());
            }
            _ => {
                let old = |number: u64| change.remap.map_or(Some(number), |remap| remap(number));
                let get =
                    |slots: &Slots, number| old(number).and_then(|n| slots.get(n)).unwrap_or_else(zeros);
                self.slots.list(count, get)?;
            }
        }
        if !change.entries.is_empty() {
            let slots = match &mut self.slots {
                Slots::Listed(slots) => slots,
                repeated @ Slots::Repeated(..) => {
                    repeated.list(count, |slots, number| slots.get(number).unwrap_or_else(zeros))?
                }
            };
            for (number, entry) in change.entries {
                let slot = usize::try_from(number).ok().and_then(|number| slots.get_mut(number));
                let slot = slot.ok_or_else(|| Error::out_of_bounds(format!("chunk {number} of {count}")))?;
                *slot = match entry {
                    Entry::Special(special) => Slot::Special(special),
                    Entry::New(number) => put[number].clone(),
                };
            }
        }
        for (number, statistics) in change.statistics {
            self.slots.set_statistics(number, statistics);
        }
        for (name, content) in change.metalayers {
            if let Some(layer) = self.metalayers.iter_mut().find(|(known, _)| *known == name) {
                layer.1 = content;
            }
        }
        for (name, content) in change.layers {
            match content {
                Some(content) => self.layers.insert(name, content),
                None => self.layers.remove(&name),
            };
        }
        Ok(())
    }
}

impl Metadata for State {
    fn spec(&self) -> Option<Spec> {
        None
    }

    fn state_sum(&self) -> Option<u64> {
        None
    }

    fn metalayers(&self) -> Vec<(String, Vec<u8>)> {
        self.metalayers.clone()
    }

    fn layer(&self, name: &str) -> Result<Option<Vec<u8>>> {
        Ok(self.layers.get(name).cloned())
    }

    fn layer_names(&self) -> Vec<String> {
        self.layers.keys().cloned().collect()
    }
}

impl Chunks for State {
    fn metadata(&self) -> Option<&dyn Metadata> {
        Some(self)
    }

    fn nchunks(&self) -> u64 {
        self.slots.len()
    }

    fn chunk(&self, number: u64) -> Result<Stored> {
        match self.slots.get(number) {
            None => Err(Error::out_of_bounds(format!("chunk {number} of {}", self.nchunks()))),
            Some(Slot::Special(special)) => Ok(Stored::Special(special)),
            Some(Slot::Bytes(id, bytes, _)) => {
                let place = Place { at: 0, room: Vec::len(&bytes) as u64, sum: None };
                Ok(Stored::At { id, source: bytes as Arc<dyn ReadAt>, place })
            }
        }
    }

    fn alike_until(&self, number: u64, end: u64) -> u64 {
        match &self.slots {
            Slots::Repeated(..) => end,
            Slots::Listed(slots) => {
                let special = |number: u64| match slots.get(usize::try_from(number).ok()?)? {
                    Slot::Special(special) => Some(*special),
                    Slot::Bytes(..) => None,
                };
                let first = special(number);
                let is_other = |&other: &u64| first.is_none() || special(other) != first;
                (number.saturating_add(1)..end).find(is_other).unwrap_or(end)
            }
        }
    }

    fn are_ours(&self) -> bool {
        true
    }

    fn statistics_bytes(&self) -> Option<usize> {
        self.statistics_bytes
    }

    fn statistics(&self, number: u64) -> Option<Statistics> {
        match &self.slots {
            Slots::Listed(slots) => match slots.get(usize::try_from(number).ok()?)? {
                Slot::Bytes(_, _, statistics) => *statistics,
                Slot::Special(_) => None,
            },
            Slots::Repeated(..) => None,
        }
    }

    fn sizes(&self) -> Sizes {
        let mut sizes = Sizes::NOTHING;
        match &self.slots {
            Slots::Repeated(_, count) => sizes.special_chunks = *count,
            Slots::Listed(slots) => {
                for slot in slots {
                    match slot {
                        Slot::Special(_) => sizes.special_chunks += 1,
                        Slot::Bytes(_, bytes, statistics) => {
                            sizes.cbytes += Vec::len(bytes) as u64;
                            sizes.known_chunks += u64::from(statistics.is_some());
                        }
                    }
                }
            }
        }
        sizes
    }
}

impl Store for MemoryStore {
    fn chunks(&self) -> Arc<dyn Chunks> {
        Arc::clone(&self.state) as Arc<dyn Chunks>
    }

    fn put(&mut self, chunk: Vec<u8>, statistics: Option<Statistics>) -> Result<Entry> {
        self.put.push(Slot::Bytes(IDS.fetch_add(1, Ordering::Relaxed), Arc::new(chunk), statistics));
        Ok(Entry::New(self.put.len() - 1))
    }

    fn apply(&mut self, change: Change<'_>) -> Result<()> {
        let mut state = (*self.state).clone();
        state.apply(change, &self.put)?;
        self.state = Arc::new(state);
        Ok(())
    }

    fn commit(&mut self, _durable: bool) -> Result<()> {
        self.committed = Arc::clone(&self.state);
        self.put.clear();
        Ok(())
    }

    fn rollback(&mut self) {
        self.state = Arc::clone(&self.committed);
        self.put.clear();
    }

    fn publish(&mut self) -> Result<()> {
        self.commit(false)
    }

    fn compact(&mut self) -> Result<()> {
        Ok(())
    }

    fn refresh(&mut self) -> Result<bool> {
        Ok(false)
    }

    fn is_writable(&self) -> bool {
        true
    }

    fn path(&self) -> Option<PathBuf> {
        None
    }

    fn close(&mut self) -> Result<()> {
        Ok(())
    }
}
