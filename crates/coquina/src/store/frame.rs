//! Chunks in a frame: a file, a directory, or bytes that are read at positions.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use super::announce::announce;
use super::presence::Presence;
use super::{
    Change, Chunks, Ends, Entry, Extent, Extents, Metadata, Parts, Remote, Sizes, Statistics, Store, Stored,
    SumState,
};
use crate::base::error::{Error, Result};
use crate::frame::{self, CommitId, Frame, Snapshot, Spec};

/// Chunks in a frame.
pub(crate) struct FrameStore {
    frame: Option<Frame>,
    /// The state, kept when the frame is closed so that what it was can still be asked.
    last: Arc<Snapshot>,
    put: Vec<(frame::Entry, Option<Statistics>)>,
    verify: bool,
}

/// The state of a frame, with or without a look at its sums.
struct View {
    snapshot: Arc<Snapshot>,
    verify: bool,
    is_closed: bool,
    /// Which chunks are there, if it is a cache of another array.
    presence: Option<Presence>,
    /// Where stored chunks start, in order, once that was asked for.
    starts: OnceLock<Vec<u64>>,
}

impl View {
    /// Where the chunk at `at` ends at the latest: where the next one starts.
    fn end(&self, at: u64, room: u64) -> u64 {
        let starts = self.starts.get_or_init(|| self.snapshot.starts());
        let next = starts.get(starts.partition_point(|&start| start <= at));
        // What nothing refers to any more may stand between them, and is not to be fetched.
        let longest = match self.snapshot.chunk_bytes() as u64 {
            0 => u64::MAX,
            bytes => bytes.saturating_add(bytes / 4 + SLACK_BYTES),
        };
        at.saturating_add(room.min(longest)).min(next.copied().unwrap_or(u64::MAX))
    }
}

/// More than a header and a table take beyond a quarter of what a chunk decodes to.
const SLACK_BYTES: u64 = 64 << 10;

fn closed() -> Error {
    Error::invalid("the array has been closed")
}

impl FrameStore {
    /// A frame that is open. `verify`: whether sums are looked at.
    pub(crate) fn new(frame: Frame, verify: bool) -> Self {
        Self { last: frame.snapshot(), frame: Some(frame), put: Vec::new(), verify }
    }

    fn frame(&mut self) -> Result<&mut Frame> {
        self.frame.as_mut().ok_or_else(closed)
    }
}

impl Metadata for View {
    fn spec(&self) -> Option<Spec> {
        Some(self.snapshot.spec())
    }

    fn state_sum(&self) -> Option<u64> {
        self.snapshot.state_sum()
    }

    fn metalayers(&self) -> Vec<(String, Vec<u8>)> {
        self.snapshot.metalayers().map(|(name, content)| (name.into(), content.to_vec())).collect()
    }

    fn layer(&self, name: &str) -> Result<Option<Vec<u8>>> {
        self.snapshot.vlmetalayer(name)
    }

    fn layer_names(&self) -> Vec<String> {
        self.snapshot.vlmetalayer_names().map(str::to_owned).collect()
    }
}

impl Extents for View {
    fn extent(&self, number: u64) -> Result<Option<Extent>> {
        Ok(match self.chunk(number)? {
            Stored::At { place, .. } => {
                let bytes = place.at..self.end(place.at, place.room);
                let ends = if self.snapshot.has_dictionaries() { Ends::FRAME } else { Ends::CHUNK };
                Some(Extent { bytes, parts: Parts::EndsFirst(ends) })
            }
            _ => None,
        })
    }
}

impl Chunks for View {
    fn metadata(&self) -> Option<&dyn Metadata> {
        Some(self)
    }

    fn remote(&self) -> Option<Remote<'_>> {
        let source = self.snapshot.source().filter(|source| source.is_far())?;
        Some(Remote { source, extents: self })
    }

    fn nchunks(&self) -> u64 {
        self.snapshot.nchunks()
    }

    fn chunk(&self, number: u64) -> Result<Stored> {
        if self.is_closed {
            return Err(closed());
        }
        let found = self.snapshot.chunk(number)?;
        if let Some(presence) = &self.presence {
            presence.check(number, matches!(found, frame::Stored::At { .. }))?;
        }
        Ok(match found {
            frame::Stored::Special(special, _) => Stored::Special(special),
            frame::Stored::At { id, source, mut place } => {
                if !self.verify {
                    place.sum = None;
                }
                Stored::At { id, source, place }
            }
        })
    }

    fn will_read(&self, numbers: Range<u64>) {
        if let Some(source) = self.snapshot.source() {
            announce(source, numbers.filter_map(|number| self.extent(number).ok()?));
        }
    }

    fn alike_until(&self, number: u64, end: u64) -> u64 {
        if self.presence.is_some() {
            return number.saturating_add(1).min(end);
        }
        self.snapshot.alike_until(number, end)
    }

    fn is_closed(&self) -> bool {
        self.is_closed
    }

    fn with_sums(&self) -> Option<Arc<dyn Chunks>> {
        if self.verify {
            return None;
        }
        let (snapshot, is_closed) = (Arc::clone(&self.snapshot), self.is_closed);
        let presence = Presence::of(&snapshot);
        Some(Arc::new(Self { snapshot, verify: true, is_closed, presence, starts: OnceLock::new() }))
    }

    fn are_ours(&self) -> bool {
        // Where sums are looked at they tell; who does not want that still has them.
        !self.verify && self.snapshot.sums() == SumState::Fresh
    }

    fn statistics_bytes(&self) -> Option<usize> {
        self.snapshot.has_statistics().then(|| self.snapshot.typesize())
    }

    fn statistics(&self, number: u64) -> Option<Statistics> {
        self.snapshot.statistics(number)
    }

    fn knows_any(&self) -> bool {
        self.snapshot.knows_any()
    }

    fn sizes(&self) -> Sizes {
        let snapshot = &self.snapshot;
        Sizes {
            cbytes: snapshot.cbytes() - snapshot.dead_bytes(),
            dead_bytes: snapshot.dead_bytes(),
            special_chunks: snapshot.special_chunks(),
            known_chunks: snapshot.chunks_with_statistics(),
            sums: snapshot.sums(),
            chunk_access: None,
        }
    }
}

impl Store for FrameStore {
    fn chunks(&self) -> Arc<dyn Chunks> {
        let snapshot = self.frame.as_ref().map_or_else(|| Arc::clone(&self.last), Frame::snapshot);
        let (verify, is_closed) = (self.verify, self.frame.is_none());
        let presence = Presence::of(&snapshot);
        Arc::new(View { snapshot, verify, is_closed, presence, starts: OnceLock::new() })
    }

    fn put(&mut self, chunk: Vec<u8>, statistics: Option<Statistics>) -> Result<Entry> {
        let entry = self.frame()?.put(&chunk)?;
        self.put.push((entry, statistics));
        Ok(Entry::New(self.put.len() - 1))
    }

    fn apply(&mut self, change: Change<'_>) -> Result<()> {
        let put = std::mem::take(&mut self.put);
        let mut entries = Vec::with_capacity(change.entries.len());
        let mut statistics = change.statistics;
        for (number, entry) in change.entries {
            entries.push(match entry {
                Entry::Special(special) => (number, frame::Entry::Special(special)),
                Entry::New(at) => {
                    statistics.push((number, put[at].1));
                    (number, put[at].0)
                }
            });
        }
        let frame = self.frame()?;
        let (nchunks, chunk_bytes) = (frame.snapshot().nchunks(), frame.snapshot().chunk_bytes());
        let nchunks = change.nchunks.unwrap_or(nchunks);
        frame.apply(frame::Change {
            nchunks,
            nbytes: nchunks * chunk_bytes as u64,
            fill: change.fill,
            remap: change.remap,
            entries,
            metalayers: change.metalayers,
            vlmetalayers: change.layers,
            statistics: Some(statistics),
        })
    }

    fn commit(&mut self, durable: bool) -> Result<()> {
        self.frame()?.commit(durable)
    }

    fn rollback(&mut self) {
        self.put.clear();
        if let Some(frame) = &mut self.frame {
            frame.rollback();
        }
    }

    fn commit_id(&self) -> Option<CommitId> {
        self.frame.as_ref().map(Frame::commit_id)
    }

    fn prepare(&mut self, durable: bool) -> Result<CommitId> {
        self.frame()?.prepare(durable)
    }

    fn finish(&mut self) {
        self.put.clear();
        if let Some(frame) = &mut self.frame {
            frame.finish();
        }
    }

    fn abandon(&mut self) {
        if let Some(frame) = &mut self.frame {
            frame.abandon();
        }
    }

    fn publish(&mut self) -> Result<()> {
        self.frame()?.publish()
    }

    fn compact(&mut self) -> Result<()> {
        self.frame()?.compact()
    }

    fn refresh(&mut self) -> Result<bool> {
        self.frame()?.refresh()
    }

    fn is_writable(&self) -> bool {
        self.frame.as_ref().is_some_and(Frame::is_writable)
    }

    fn path(&self) -> Option<PathBuf> {
        self.frame.as_ref().and_then(Frame::path).map(PathBuf::from)
    }

    fn close(&mut self) -> Result<()> {
        let Some(frame) = self.frame.take() else { return Ok(()) };
        self.last = frame.snapshot();
        frame.close()
    }
}
