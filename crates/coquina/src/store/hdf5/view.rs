//! The chunks of a dataset as a reader sees them.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use super::counters::{Counters, add};
use super::cut::copy_front;
use super::encoder::Encoder;
use super::fetched::{Fetched, id_of};
use super::identities::Identities;
use super::list::List;
use super::opened::Format;
use super::stored::StoredBytes;
use super::table::{Places, Table};
use super::{ChunkAccess, Library};
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::io::ReadAt;
use crate::base::limits::Limits;
use crate::base::settings::Settings;
use crate::hdf5::{ChunkRow, Inner, Layout, read_index};
use crate::store::{Access, Stored};

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
    pub(super) chunk_access: ChunkAccess,
    pub(super) format: Arc<Format>,
    pub(super) fill: Arc<[u8]>,
    pub(super) source: Option<Arc<dyn ReadAt>>,
    pub(super) header: Option<u64>,
    pub(super) contiguous: Option<u64>,
    /// How many axes are those of the file's dataset.
    pub(super) rank: usize,
    /// Text of the dtype of the items.
    pub(super) dtype: String,
    pub(super) encoder: Arc<Encoder>,
    pub(super) counters: Counters,
    pub(super) limits: Limits,
    /// Whether what we read of the file ourselves was found to be wrong.
    pub(super) is_direct_disabled: AtomicBool,
}

impl Shared {
    /// The access path in use now.
    pub(super) fn chunk_access(&self) -> ChunkAccess {
        match self.chunk_access {
            ChunkAccess::Direct if self.is_direct_disabled.load(Ordering::Relaxed) => ChunkAccess::Fetched,
            chunk_access => chunk_access,
        }
    }

    /// That threads need chunks to be fetched, so many at once.
    pub(super) fn fetched(&self) -> Access {
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
    pub(super) table: OnceLock<Arc<Table>>,
    /// How many chunks were asked for without it.
    asked: AtomicU64,
    identities: Identities,
    list: List,
}

impl View {
    pub(super) fn new(shared: Arc<Shared>, places: Places) -> Self {
        let (table, asked) = (OnceLock::new(), AtomicU64::new(0));
        Self { shared, places, table, asked, identities: Identities::default(), list: List::default() }
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
    pub(super) fn known_table(&self) -> Option<&Table> {
        self.table.get().map(|table| &**table).filter(|_| self.shared.contiguous.is_none())
    }

    /// Whether a read of so many chunks is to begin with the table: not if that takes longer than to have a few small
    /// chunks fetched, now and before.
    pub(super) fn is_worth_a_table(&self, chunks: u64) -> bool {
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
                add(&shared.counters.fallbacks, 1);
                rows = self.rows_of_library()?;
                matches!(error.kind(), ErrorKind::Corrupt | ErrorKind::Truncated)
            }
        };
        let mut table = Table::new(rows, self.places.nchunks(), filters_partial_edges);
        table.has_lost = has_lost;
        shared.counters.table_rows.store(table.len() as u64, Ordering::Relaxed);
        Ok(table)
    }

    /// All stored chunks, by number, as the library tells them.
    fn rows_of_library(&self) -> Result<Vec<(u64, ChunkRow)>> {
        let mut rows = Vec::new();
        self.shared.library.chunk_table(&mut |start, row| {
            if let Some(number) = self.places.number(start)? {
                rows.push((number, row));
            }
            Ok(())
        })?;
        Ok(rows)
    }

    /// The list of stored chunks where the library fetches them, if nothing can have changed since it was made.
    pub(super) fn listed(&self, chunks: u64) -> Option<Arc<Table>> {
        let (library, nchunks) = (&self.shared.library, self.places.nchunks());
        let version = library.version()?;
        self.list.get(version, chunks, nchunks, || {
            let rows = self.rows_of_library().ok()?;
            self.shared.counters.table_rows.store(rows.len() as u64, Ordering::Relaxed);
            (library.version()? == version).then(|| Table::new(rows, nchunks, None))
        })
    }

    /// A chunk that we read ourselves, and its mask; none for one that is not stored.
    pub(super) fn direct(&self, number: u64) -> Result<Option<(StoredBytes, u32)>> {
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
    pub(super) fn fetch_stored(&self, numbers: &[u64]) -> Result<HashMap<u64, Fetched>> {
        let shared = &*self.shared;
        // Before the chunks: what changes them meanwhile makes it another version.
        let version = shared.library.version();
        let listed = self.listed(0);
        let is_missing = |number: u64| listed.as_ref().is_some_and(|table| table.row(number).is_none());
        let (missing, asked): (Vec<u64>, Vec<u64>) = numbers.iter().partition(|&&number| is_missing(number));
        let mut fetched: HashMap<u64, Fetched> =
            missing.into_iter().map(|number| (number, Fetched::Missing)).collect();
        let starts: Vec<Vec<u64>> = asked.iter().map(|&n| self.start(n)).collect();
        let found = if starts.is_empty() { Vec::new() } else { shared.library.read_chunks(&starts)? };
        let stored = found.iter().flatten().count();
        add(&shared.counters.fetched, stored);
        self.list.look((found.len() - stored) as u64);
        for (number, found) in asked.into_iter().zip(found) {
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
        if let Some(version) = version {
            self.identities.keep(version, fetched.iter().map(|(&number, chunk)| (number, chunk.identity())));
        }
        Ok(fetched)
    }

    /// What stands in a chunk that was fetched before, if nothing can have changed it since.
    pub(super) fn unchanged(&self, number: u64) -> Option<Stored> {
        let shared = &*self.shared;
        let found = self.identities.get(shared.library.version()?, number)?;
        add(&shared.counters.unchanged, 1);
        Some(found.map_or_else(|| Stored::Item(Arc::clone(&shared.fill)), |id| Stored::Other { id }))
    }

    /// Has the library read the items of a chunk.
    pub(super) fn read_items(&self, number: u64) -> Result<Fetched> {
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
