//! The chunks of a dataset as a reader gets at them: directly, or fetched by libhdf5.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::ChunkAccess;
use super::batch::{Batch, kept_or};
use super::counters::add;
use super::listed::Listed;
use super::view::View;
use crate::base::error::{Error, Result};
use crate::base::limits::Limits;
use crate::base::settings::Settings;
use crate::frame::Spec;
use crate::hdf5::Inner;
use crate::store::announce::announce;
use crate::store::{
    Access, Chunks, Ends, Extent, Extents, ForeignChunks, LibraryAccess, Metadata, OpenChunk, Parts,
    Prefetch, Remote, Sizes, Stored,
};

/// A view with an access path: that of the dataset, or a fallback.
pub(super) struct Reader {
    pub(super) view: Arc<View>,
    /// Set if another way than that of the dataset is to be taken.
    pub(super) chunk_access: Option<ChunkAccess>,
}

impl Reader {
    fn chunk_access(&self) -> ChunkAccess {
        self.chunk_access.unwrap_or_else(|| self.view.shared.chunk_access())
    }

    fn fetched(&self, number: u64) -> Result<Arc<dyn Chunks>> {
        self.fetch(&[number])
    }

    /// Has the library fetch these.
    fn fetch_all(&self, numbers: &[u64]) -> Result<Batch> {
        let chunks = match self.chunk_access() {
            ChunkAccess::Whole => {
                let read = |&number: &u64| Ok((number, self.view.read_items(number)?));
                numbers.iter().map(read).collect::<Result<HashMap<_, _>>>()?
            }
            _ => self.view.fetch_stored(numbers)?,
        };
        Ok(Batch { view: Arc::clone(&self.view), chunks })
    }
}

impl Prefetch for Reader {
    fn access(&self, chunks: u64) -> Result<Access> {
        let (view, shared) = (&self.view, &self.view.shared);
        if self.chunk_access() == ChunkAccess::Direct && !view.is_worth_a_table(chunks) {
            return Ok(shared.fetched());
        }
        if self.chunk_access() == ChunkAccess::Direct {
            if shared.contiguous.is_some() || view.table().is_ok() {
                return Ok(Access::Free);
            }
            shared.allow("the table of chunks cannot be read")?;
            add(&shared.counters.fallbacks, 1);
            self.disable_direct();
        }
        if self.chunk_access() == ChunkAccess::Whole {
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

    fn unchanged(&self, number: u64) -> Option<Stored> {
        if self.chunk_access() == ChunkAccess::Fetched { self.view.unchanged(number) } else { None }
    }

    fn listed(&self, chunks: u64) -> Option<Arc<dyn Chunks>> {
        if self.chunk_access() != ChunkAccess::Fetched {
            return None;
        }
        let table = self.view.listed(chunks)?;
        Some(Arc::new(Listed { view: Arc::clone(&self.view), table }))
    }
}

impl Extents for Reader {
    fn extent(&self, number: u64) -> Result<Option<Extent>> {
        let Some((stored, mask)) = self.view.direct(number)? else { return Ok(None) };
        let format = &self.view.shared.format;
        let parts = match format.pipeline.inner(mask) {
            _ if self.view.shared.contiguous.is_some() => Parts::Blocks,
            Inner::Blosc2 => Parts::EndsFirst(Ends::FRAME),
            Inner::Blosc if !format.cut.is_tiles() => Parts::EndsFirst(Ends::CHUNK),
            Inner::Stored if !format.cut.is_tiles() => Parts::Blocks,
            _ => Parts::All,
        };
        Ok(Some(Extent { bytes: stored.at..stored.at.saturating_add(stored.len), parts }))
    }
}

impl Metadata for Reader {
    fn is_of_library(&self) -> bool {
        true
    }

    fn spec(&self) -> Option<Spec> {
        None
    }

    fn state_sum(&self) -> Option<u64> {
        None
    }

    fn metalayers(&self) -> Vec<(String, Vec<u8>)> {
        Vec::new()
    }

    fn layer(&self, name: &str) -> Result<Option<Vec<u8>>> {
        let shared = &self.view.shared;
        shared.library.attributes().map_or(Ok(None), |attributes| attributes.layer(name, &shared.dtype))
    }

    fn layer_names(&self) -> Vec<String> {
        Vec::new()
    }
}

impl LibraryAccess for Reader {
    fn may_know_items(&self) -> bool {
        self.chunk_access() != ChunkAccess::Whole
    }

    fn read_box(&self, start: &[u64], shape: &[u64], out: &mut [u8]) -> Option<Result<()>> {
        if self.chunk_access() != ChunkAccess::Whole {
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
        let is_direct = self.chunk_access() == ChunkAccess::Direct && self.view.shared.contiguous.is_none();
        if !is_direct || Settings::is_strict() {
            return None;
        }
        add(&self.view.shared.counters.fallbacks, 1);
        Some(Arc::new(Self { view: Arc::clone(&self.view), chunk_access: Some(ChunkAccess::Fetched) }))
    }

    fn disable_direct(&self) {
        self.view.shared.is_direct_disabled.store(true, Ordering::Relaxed);
    }
}

impl ForeignChunks for Reader {
    fn open(&self, number: u64, limits: &Limits) -> Result<Arc<dyn OpenChunk>> {
        if self.chunk_access() != ChunkAccess::Direct {
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
}

impl Chunks for Reader {
    fn prefetch(&self) -> Option<&dyn Prefetch> {
        Some(self)
    }

    fn remote(&self) -> Option<Remote<'_>> {
        let source = self.view.shared.source.as_deref()?;
        (self.chunk_access() == ChunkAccess::Direct && source.is_far())
            .then_some(Remote { source, extents: self })
    }

    fn library(&self) -> Option<&dyn LibraryAccess> {
        Some(self)
    }

    fn will_read(&self, numbers: Range<u64>) {
        if self.chunk_access() == ChunkAccess::Direct
            && let Some(source) = &self.view.shared.source
        {
            announce(&**source, numbers.filter_map(|number| self.extent(number).ok()?));
        }
    }

    fn metadata(&self) -> Option<&dyn Metadata> {
        self.view.shared.library.attributes().map(|_| self as _)
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
        if self.chunk_access() != ChunkAccess::Direct {
            return self.fetched(number)?.chunk(number);
        }
        match self.view.direct(number)? {
            Some((stored, _)) => Ok(Stored::Other { id: stored.at }),
            None => Ok(Stored::Item(Arc::clone(&self.view.shared.fill))),
        }
    }

    fn alike_until(&self, number: u64, end: u64) -> u64 {
        match self.view.known_table() {
            Some(table) if self.chunk_access() == ChunkAccess::Direct => table.alike_until(number, end),
            _ => number.saturating_add(1).min(end),
        }
    }

    fn foreign(&self) -> Option<&dyn ForeignChunks> {
        Some(self)
    }

    fn fill(&self) -> Option<&[u8]> {
        Some(&self.view.shared.fill)
    }

    fn sizes(&self) -> Sizes {
        let (cbytes, special_chunks) = match self.view.table.get() {
            Some(table) => (table.cbytes(), self.nchunks().saturating_sub(table.len() as u64)),
            None => (0, 0),
        };
        let chunk_access = Some(self.view.shared.counters.stats(self.chunk_access()));
        Sizes { cbytes, special_chunks, chunk_access, ..Sizes::NOTHING }
    }
}
