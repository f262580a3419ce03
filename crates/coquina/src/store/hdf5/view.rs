//! The chunks of a dataset as a reader sees them.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use super::counters::{Counters, add};
use super::cut::copy_front;
use super::encoder::Encoder;
use super::fetched::{Batch, Fetched, id_of, kept_or};
use super::opened::Format;
use super::stored::StoredBytes;
use super::table::{Places, Table};
use super::{Gear, Library};
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::io::ReadAt;
use crate::base::limits::Limits;
use crate::base::settings::Settings;
use crate::hdf5::{Inner, Layout, read_index};
use crate::store::{Access, Chunks, EncodeChunk, Extent, OpenChunk, Parts, Sizes, Stored};

/// Decoded bytes of the chunks that are fetched at once.
const FETCH_BYTES: usize = 32 << 20;

/// To read the table of fewer chunks takes less than a millisecond.
const MANY_CHUNKS: u64 = 8192;
/// Fewer than one of so many chunks are fetched without it, if they are small.
const FEW_CHUNKS: u64 = 64;
const FEW_CHUNK_BYTES: usize = 1 << 20;

/// What all states of an open dataset share.
pub(super) struct Shared {
    pub(super) library: Arc<dyn Library>,
    pub(super) gear: Gear,
    pub(super) format: Arc<Format>,
    pub(super) fill: Arc<[u8]>,
    pub(super) source: Option<Arc<dyn ReadAt>>,
    pub(super) header: Option<u64>,
    pub(super) contiguous: Option<u64>,
    /// How many axes are those of the file's dataset.
    pub(super) rank: usize,
    pub(super) encoder: Encoder,
    pub(super) counters: Counters,
    pub(super) limits: Limits,
    /// Whether what we read of the file ourselves was found to be wrong.
    pub(super) is_distrusted: AtomicBool,
}

impl Shared {
    /// How chunks are got at now.
    fn gear(&self) -> Gear {
        match self.gear {
            Gear::Direct if self.is_distrusted.load(Ordering::Relaxed) => Gear::Fetched,
            gear => gear,
        }
    }

    /// That threads need chunks to be fetched, so many at once.
    fn fetched(&self) -> Access {
        Access::Fetched((FETCH_BYTES / self.format.cut.chunk_bytes().max(1)).max(1))
    }

    /// Refuses what is not the way that was asked for, where that is wanted.
    pub(super) fn allow(&self, what: &str) -> Result<()> {
        if Settings::is_strict() {
            return Err(Error::unsupported(format!("{what}: refused, as COQUINA_STRICT is set")));
        }
        Ok(())
    }
}

/// The chunks of a dataset of one shape.
pub(super) struct View {
    pub(super) shared: Arc<Shared>,
    pub(super) places: Places,
    table: OnceLock<Arc<Table>>,
    /// How many chunks were asked for without it.
    asked: AtomicU64,
}

impl View {
    pub(super) fn new(shared: Arc<Shared>, places: Places) -> Self {
        Self { shared, places, table: OnceLock::new(), asked: AtomicU64::new(0) }
    }

    /// Reads the table of chunks, if that has not been done.
    pub(super) fn table(&self) -> Result<Arc<Table>> {
        if let Some(table) = self.table.get() {
            return Ok(Arc::clone(table));
        }
        // Perhaps by two threads at once: a lock held while the library waits for its own could be waited for there.
        let table = Arc::new(self.read_table()?);
        Ok(Arc::clone(self.table.get_or_init(|| table)))
    }

    /// The table of chunks, if it has been read; none of what is not in chunks.
    fn known_table(&self) -> Option<&Table> {
        self.table.get().map(|table| &**table).filter(|_| self.shared.contiguous.is_none())
    }

    /// Whether a read of so many chunks is to begin with the table: not if that takes longer than to have a few small
    /// chunks fetched, now and before.
    fn is_worth_a_table(&self, chunks: u64) -> bool {
        let nchunks = self.places.nchunks();
        let is_small = self.shared.format.cut.chunk_bytes() <= FEW_CHUNK_BYTES;
        if self.table.get().is_some() || nchunks < MANY_CHUNKS || !is_small {
            return true;
        }
        let before = self.asked.fetch_add(chunks, Ordering::Relaxed);
        before.saturating_add(chunks).saturating_mul(FEW_CHUNKS) > nchunks
    }

    /// By our own parser; where it does not know the file's structures, by the library.
    fn read_table(&self) -> Result<Table> {
        let shared = &*self.shared;
        let mut rows = Vec::new();
        let mut row = |start: &[u64], row| {
            if let Some(number) = self.places.number(start)? {
                rows.push((number, row));
            }
            Ok(())
        };
        let mut filters_partial_edges = None;
        let parsed = match (&shared.source, shared.header) {
            (Some(source), Some(header)) => read_index(source, header, &shared.limits, &mut row),
            _ => Err(Error::unsupported("the place of the dataset is not known")),
        };
        let has_lost = match parsed {
            Ok(Layout::Chunked { filters_partial_edges: are_filtered, is_complete, .. }) => {
                filters_partial_edges = Some(are_filtered);
                !is_complete
            }
            Ok(layout) => return Err(Error::corrupt(format!("no chunks: the file says {layout:?}"))),
            Err(error) => {
                rows.clear();
                let mut row = |start: &[u64], row| {
                    if let Some(number) = self.places.number(start)? {
                        rows.push((number, row));
                    }
                    Ok(())
                };
                add(&shared.counters.fallbacks, 1);
                shared.library.chunk_table(&mut row)?;
                matches!(error.kind(), ErrorKind::Corrupt | ErrorKind::Truncated)
            }
        };
        let mut table = Table::new(rows, self.places.nchunks(), filters_partial_edges);
        table.has_lost = has_lost;
        shared.counters.table_rows.store(table.len() as u64, Ordering::Relaxed);
        Ok(table)
    }

    /// A chunk that we read ourselves, and its mask; none for one that is not stored.
    fn direct(&self, number: u64) -> Result<Option<(StoredBytes, u32)>> {
        let shared = &*self.shared;
        let source = shared.source.as_ref().ok_or_else(|| Error::invalid("there is no file to read"))?;
        let source = Arc::clone(source);
        if let Some(address) = shared.contiguous {
            let (at, len) = self.places.piece(number);
            let typesize = shared.fill.len() as u64;
            let at = address.saturating_add(at.saturating_mul(typesize));
            return Ok(Some((StoredBytes { source, at, len: len.saturating_mul(typesize) }, u32::MAX)));
        }
        let table = self.table()?;
        let Some(row) = table.row(number) else { return self.missing(number).map(|()| None) };
        let stored = StoredBytes { source, at: row.address, len: row.size };
        if !self.places.is_edge(number) || shared.format.pipeline.slots().is_empty() {
            return Ok(Some((stored, row.mask)));
        }
        match table.filters_partial_edges {
            Some(false) => Ok(Some((stored, u32::MAX))),
            None if self.is_ambiguous(row.size, row.mask) => {
                Err(Error::unsupported("an edge chunk that may or may not be filtered"))
            }
            _ => Ok(Some((stored, row.mask))),
        }
    }

    /// Refuses a chunk of Blosc2 that a damaged index has not; trees of other filters' writers may only look damaged.
    fn missing(&self, number: u64) -> Result<()> {
        let has_lost = self.table.get().is_some_and(|table| table.has_lost);
        if has_lost && self.shared.format.pipeline.inner(0) == Inner::Blosc2 {
            let start = self.start(number);
            return Err(Error::corrupt(format!("the index of chunks is damaged: none at {start:?}")));
        }
        Ok(())
    }

    /// The coordinates in the file's dataset of the first item of a chunk.
    pub(super) fn start(&self, number: u64) -> Vec<u64> {
        let mut start = self.places.start(number);
        start.truncate(self.shared.rank);
        start
    }

    /// Whether a chunk at the edge has the size of one that no filter changed, though its mask says otherwise.
    fn is_ambiguous(&self, size: u64, mask: u32) -> bool {
        mask == 0 && size == self.shared.format.pipeline.chunk_bytes() as u64
    }

    /// Has the library fetch chunks.
    fn fetch_stored(&self, numbers: &[u64]) -> Result<HashMap<u64, Fetched>> {
        let shared = &*self.shared;
        let starts: Vec<Vec<u64>> = numbers.iter().map(|&n| self.start(n)).collect();
        let found = shared.library.read_chunks(&starts)?;
        add(&shared.counters.fetched, found.iter().flatten().count());
        let mut fetched = HashMap::with_capacity(numbers.len());
        for (&number, found) in numbers.iter().zip(found) {
            let Some((bytes, mask)) = found else {
                self.missing(number)?;
                fetched.insert(number, Fetched::Missing);
                continue;
            };
            let is_filtered = !shared.format.pipeline.slots().is_empty();
            let chunk = if is_filtered
                && self.is_ambiguous(bytes.len() as u64, mask)
                && self.places.is_edge(number)
            {
                self.read_items(number)?
            } else {
                let id = id_of(&bytes, number, mask);
                Fetched::Stored { id, bytes: Arc::new(bytes), mask }
            };
            fetched.insert(number, chunk);
        }
        Ok(fetched)
    }

    /// Has the library read the items of a chunk.
    fn read_items(&self, number: u64) -> Result<Fetched> {
        let shared = &*self.shared;
        shared.allow("libhdf5 is to read items, not chunks")?;
        let start = self.places.start(number);
        let shape = self.places.inside(&start);
        let typesize = shared.fill.len();
        let items = shape.iter().product::<u64>();
        let bytes = usize::try_from(items).ok().and_then(|items| items.checked_mul(typesize));
        let mut read = vec![0; bytes.ok_or_else(|| Error::limit(format!("a box of {shape:?} items")))?];
        shared.library.read_box(&start, &shape, &mut read)?;
        add(&shared.counters.whole, 1);
        let bytes = if shape == self.places.chunks {
            read
        } else {
            let mut bytes = vec![0; shared.format.cut.chunk_bytes()];
            copy_front(&mut bytes, &self.places.chunks, &read, &shape, typesize);
            bytes
        };
        let id = id_of(&bytes, number, 0);
        Ok(Fetched::Stored { id, bytes: Arc::new(bytes), mask: u32::MAX })
    }
}

/// A view whose chunks are got at in a certain way: as this dataset's are, or as fallback.
pub(super) struct Reader {
    pub(super) view: Arc<View>,
    /// Set if another way than that of the dataset is to be taken.
    pub(super) gear: Option<Gear>,
}

impl Reader {
    fn gear(&self) -> Gear {
        self.gear.unwrap_or_else(|| self.view.shared.gear())
    }

    fn fetched(&self, number: u64) -> Result<Arc<dyn Chunks>> {
        self.fetch(&[number])
    }

    /// Has the library fetch these.
    fn fetch_all(&self, numbers: &[u64]) -> Result<Batch> {
        let chunks = match self.gear() {
            Gear::Whole => {
                let read = |&number: &u64| Ok((number, self.view.read_items(number)?));
                numbers.iter().map(read).collect::<Result<HashMap<_, _>>>()?
            }
            _ => self.view.fetch_stored(numbers)?,
        };
        Ok(Batch { view: Arc::clone(&self.view), chunks })
    }
}

impl Chunks for Reader {
    fn access(&self, chunks: u64) -> Result<Access> {
        let (view, shared) = (&self.view, &self.view.shared);
        if self.gear() == Gear::Direct && !view.is_worth_a_table(chunks) {
            return Ok(shared.fetched());
        }
        if self.gear() == Gear::Direct {
            if shared.contiguous.is_some() || view.table().is_ok() {
                return Ok(Access::Free);
            }
            shared.allow("the table of chunks cannot be read")?;
            add(&shared.counters.fallbacks, 1);
            self.distrust();
        }
        if self.gear() == Gear::Whole {
            shared.allow("libhdf5 is to read items, not chunks")?;
        }
        Ok(shared.fetched())
    }

    fn fetch(&self, numbers: &[u64]) -> Result<Arc<dyn Chunks>> {
        match numbers {
            &[number] => Ok(kept_or(&self.view, number, || self.fetch_all(numbers))?),
            _ => Ok(Arc::new(self.fetch_all(numbers)?)),
        }
    }

    fn may_know_items(&self) -> bool {
        self.gear() != Gear::Whole
    }

    fn shape(&self) -> Option<&[u64]> {
        Some(&self.view.places.shape)
    }

    fn nchunks(&self) -> u64 {
        self.view.places.nchunks()
    }

    fn chunk(&self, number: u64) -> Result<Stored> {
        if number >= self.nchunks() {
            return Err(Error::out_of_bounds(format!("chunk {number} of {}", self.nchunks())));
        }
        if self.gear() != Gear::Direct {
            return self.fetched(number)?.chunk(number);
        }
        match self.view.direct(number)? {
            Some((stored, _)) => Ok(Stored::Other { id: stored.at }),
            None => Ok(Stored::Item(Arc::clone(&self.view.shared.fill))),
        }
    }

    fn alike_until(&self, number: u64, end: u64) -> u64 {
        let next = number.saturating_add(1).min(end);
        // Of chunks that are not stored, those up to the next one that is.
        match self.view.known_table() {
            Some(table) if self.gear() == Gear::Direct && table.row(number).is_none() => {
                table.next_stored(next).map_or(end, |stored| stored.min(end))
            }
            _ => next,
        }
    }

    fn far(&self) -> Option<&dyn ReadAt> {
        let source = self.view.shared.source.as_deref()?;
        (self.gear() == Gear::Direct && source.is_far()).then_some(source)
    }

    fn extent(&self, number: u64) -> Result<Option<Extent>> {
        let Some((stored, mask)) = self.view.direct(number)? else { return Ok(None) };
        let format = &self.view.shared.format;
        let parts = match format.pipeline.inner(mask) {
            _ if self.view.shared.contiguous.is_some() => Parts::Blocks,
            Inner::Blosc2 => Parts::EndsFirst,
            Inner::Blosc if !format.cut.is_tiles() => Parts::EndsFirst,
            Inner::Stored if !format.cut.is_tiles() => Parts::Blocks,
            _ => Parts::All,
        };
        Ok(Some(Extent { bytes: stored.at..stored.at.saturating_add(stored.len), parts }))
    }

    fn open(&self, number: u64, limits: &Limits) -> Result<Arc<dyn OpenChunk>> {
        if self.gear() != Gear::Direct {
            return self.fetched(number)?.open(number, limits);
        }
        let shared = &self.view.shared;
        let (stored, mask) =
            self.view.direct(number)?.ok_or_else(|| Error::invalid("a chunk that is not stored"))?;
        add(&shared.counters.direct, 1);
        if shared.contiguous.is_some() {
            return Ok(shared.format.plain(stored));
        }
        shared.format.open(&self.view.start(number), stored, mask, limits)
    }

    fn read_box(&self, start: &[u64], shape: &[u64], out: &mut [u8]) -> Option<Result<()>> {
        if self.gear() != Gear::Whole {
            return None;
        }
        let shared = &self.view.shared;
        let allowed = shared.allow("libhdf5 is to read items, not chunks");
        add(&shared.counters.whole, 1);
        Some(allowed.and_then(|()| shared.library.read_box(start, shape, out)).map(|()| {
            if let Some(meaning) = &shared.format.meaning {
                meaning.show(out);
            }
        }))
    }

    fn fallback(&self) -> Option<Arc<dyn Chunks>> {
        let is_direct = self.gear() == Gear::Direct && self.view.shared.contiguous.is_none();
        if !is_direct || Settings::is_strict() {
            return None;
        }
        add(&self.view.shared.counters.fallbacks, 1);
        Some(Arc::new(Self { view: Arc::clone(&self.view), gear: Some(Gear::Fetched) }))
    }

    fn distrust(&self) {
        self.view.shared.is_distrusted.store(true, Ordering::Relaxed);
    }

    fn encoder(&self) -> Option<&dyn EncodeChunk> {
        Some(&self.view.shared.encoder)
    }

    fn fill(&self) -> Option<&[u8]> {
        Some(&self.view.shared.fill)
    }

    fn sizes(&self) -> Sizes {
        let (cbytes, special_chunks) = match self.view.table.get() {
            Some(table) => (table.cbytes(), self.nchunks().saturating_sub(table.len() as u64)),
            None => (0, 0),
        };
        let gear = Some(self.view.shared.counters.stats(self.gear()));
        Sizes { cbytes, special_chunks, gear, ..Sizes::NOTHING }
    }
}
