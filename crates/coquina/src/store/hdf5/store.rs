//! A dataset that is open: gives views of its chunks, and has the library write new ones.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::counters::{Counters, add};
use super::cut::{Cut, copy_front};
use super::encoder::Encoder;
use super::meaning::Meaning;
use super::opened::Format;
use super::reader::Reader;
use super::stored::StoredBytes;
use super::table::Places;
use super::view::{Shared, View};
use super::{ChunkAccess, Hdf5Spec};
use crate::base::error::{Error, Result};
use crate::base::limits::Limits;
use crate::chunk::{BLOCK_BYTES_MAX, HEADER_BYTES, Header};
use crate::hdf5::{FrameChunk, Inner, Pipeline, put_place};
use crate::store::{Change, ChunkFormat, Chunks, Entry, Statistics, Store};

/// Slabs of datasets without chunks.
const SLAB_BYTES: usize = 256 << 10;
/// Slabs of chunks that no filter changes.
const STORED_SLAB_BYTES: usize = 64 << 10;
/// A slab has so many blocks of Blosc at least, where their borders differ: as many blocks are decoded twice.
const BLOCKS_PER_SLAB: usize = 8;

/// What opening a dataset gives.
pub(crate) struct Hdf5Opened {
    pub(crate) store: Hdf5Store,
    /// What encodes its chunks.
    pub(crate) format: Arc<dyn ChunkFormat>,
    /// Items of a chunk along each axis.
    pub(crate) chunks: Vec<u64>,
    /// Items of a block along each axis.
    pub(crate) blocks: Vec<u64>,
}

/// A dataset that is open.
pub(crate) struct Hdf5Store {
    shared: Arc<Shared>,
    view: Arc<View>,
    put: Vec<Vec<u8>>,
    writable: bool,
    place: Option<PathBuf>,
    is_closed: bool,
}

impl Hdf5Store {
    /// Opens what the spec says; the chunk shape and its cut into blocks are for the array.
    pub(crate) fn open(spec: Hdf5Spec, limits: Limits) -> Result<Hdf5Opened> {
        let (rank, typesize) = (spec.rank, spec.typesize);
        if typesize == 0 || spec.fill.len() != typesize || rank > spec.shape.len() {
            return Err(Error::invalid(format!(
                "a dataset of {} axes, {rank} of the file, items of {typesize} bytes, fill value of {}",
                spec.shape.len(),
                spec.fill.len()
            )));
        }
        let mut chunks = spec.chunks.clone();
        let mut chunk_access = spec.chunk_access;
        if chunks.is_empty() {
            chunks = slab_of(&spec.shape, typesize);
            if chunk_access == ChunkAccess::Fetched || spec.contiguous.is_none() {
                chunk_access = ChunkAccess::Whole;
            }
        }
        if chunks.len() != spec.shape.len() {
            return Err(Error::invalid(format!("chunks {chunks:?} of a shape {:?}", spec.shape)));
        }
        let inner: u64 = chunks[rank..].iter().product();
        let itemsize = usize::try_from(inner).ok().and_then(|inner| inner.checked_mul(typesize));
        let itemsize =
            itemsize.ok_or_else(|| Error::limit(format!("items of {inner} times {typesize} bytes")))?;
        let mut pipeline = Pipeline::new(spec.slots.clone(), &chunks[..rank], itemsize)?;
        if let Some(encoding) = &spec.encoding {
            pipeline = pipeline.encoded_as(encoding)?;
        }
        let pipeline = if chunks.len() == 1 { pipeline.with_zones(&spec.zones)? } else { pipeline };
        let pipeline = if spec.checksums { pipeline } else { pipeline.without_sums() };
        let dims = chunks[..rank].to_vec();
        let places = Places { shape: spec.shape.clone(), chunks: chunks.clone() };
        let probe =
            Probe { spec: &spec, chunk_access, pipeline: &pipeline, dims: &dims, itemsize, limits: &limits };
        let cut = probe.cut(&places)?;
        let is_plain = chunk_access == ChunkAccess::Whole || pipeline.unwritable().is_some();
        let meaning = Meaning::of(&spec)?;
        let encoder = Arc::new(Encoder::new(pipeline.clone(), cut.clone(), is_plain, meaning.clone()));
        let mut fill = spec.fill;
        if let Some(Meaning::Terminated(terminated)) = &meaning {
            terminated.clear_tails(&mut fill);
        }
        let format = Arc::new(Format { pipeline, cut: cut.clone(), dims, itemsize, meaning });
        let shared = Arc::new(Shared {
            library: spec.library,
            chunk_access,
            format,
            fill: fill.into(),
            source: spec.source,
            header: spec.header,
            contiguous: spec.contiguous.filter(|_| spec.chunks.is_empty()),
            rank,
            dtype: spec.dtype,
            encoder: Arc::clone(&encoder),
            counters: Counters::default(),
            limits,
            is_direct_disabled: AtomicBool::new(false),
        });
        let view = Arc::new(View::new(Arc::clone(&shared), places));
        let store = Self {
            shared,
            view,
            put: Vec::new(),
            writable: spec.writable,
            place: spec.place,
            is_closed: false,
        };
        Ok(Hdf5Opened { store, format: encoder, chunks, blocks: cut.blocks().to_vec() })
    }

    fn check(&self) -> Result<()> {
        if self.is_closed { Err(Error::invalid("the dataset has been closed")) } else { Ok(()) }
    }

    fn set_layer(&self, name: &str, content: Option<&[u8]>) -> Result<()> {
        let attributes = self.shared.library.attributes();
        let attributes =
            attributes.ok_or_else(|| Error::unsupported("an HDF5 dataset has attributes, not metalayers"))?;
        attributes.set_layer(name, content, &self.shared.dtype)
    }

    fn write(&self, chunks: Vec<(u64, Vec<u8>)>) -> Result<()> {
        let shared = &*self.shared;
        if !shared.encoder.is_plain {
            let is_blosc2 = shared.format.pipeline.inner(0) == Inner::Blosc2;
            let place = |(number, mut bytes): (u64, Vec<u8>)| {
                let start = self.view.start(number);
                if is_blosc2 {
                    put_place(&mut bytes, &start);
                }
                (start, bytes)
            };
            let chunks: Vec<_> = chunks.into_iter().map(place).collect();
            return shared.library.write_chunks(&chunks);
        }
        shared.allow("libhdf5 is to write items, not chunks")?;
        let typesize = shared.fill.len();
        for (number, bytes) in chunks {
            let places = &self.view.places;
            let start = places.start(number);
            let shape = places.inside(&start);
            add(&shared.counters.whole, 1);
            if shape == places.chunks {
                shared.library.write_box(&start, &shape, &bytes)?;
                continue;
            }
            let items = usize::try_from(shape.iter().product::<u64>()).unwrap_or(usize::MAX);
            let mut inside = vec![0; items.saturating_mul(typesize)];
            copy_front(&mut inside, &shape, &bytes, &places.chunks, typesize);
            shared.library.write_box(&start, &shape, &inside)?;
        }
        Ok(())
    }
}

/// Chunks for a dataset that has none: slabs of neighbours.
fn slab_of(shape: &[u64], typesize: usize) -> Vec<u64> {
    let shape: Vec<u64> = shape.iter().map(|&len| len.max(1)).collect();
    Cut::slabs(&shape, typesize, SLAB_BYTES).blocks().to_vec()
}

/// Finds out which blocks the chunks of a dataset have.
struct Probe<'p> {
    spec: &'p Hdf5Spec,
    chunk_access: ChunkAccess,
    pipeline: &'p Pipeline,
    dims: &'p [u64],
    itemsize: usize,
    limits: &'p Limits,
}

impl Probe<'_> {
    fn cut(&self, places: &Places) -> Result<Cut> {
        let (chunks, typesize) = (&places.chunks, self.spec.typesize);
        let whole = Cut::whole(chunks, typesize);
        let bytes = self.pipeline.chunk_bytes();
        let whole =
            if bytes <= BLOCK_BYTES_MAX { whole } else { Cut::slabs(chunks, typesize, BLOCK_BYTES_MAX / 2) };
        if self.chunk_access == ChunkAccess::Whole || self.spec.chunks.is_empty() {
            return Ok(whole);
        }
        // The first chunk tells; one that is damaged says so when it is read.
        let unit = match self.pipeline.inner(0) {
            Inner::Whole => return Ok(whole),
            Inner::Stored => return Ok(Cut::slabs(chunks, typesize, STORED_SLAB_BYTES.max(typesize))),
            Inner::Blosc2 => {
                let frame = self.first(places).and_then(|stored| {
                    let StoredBytes { source, at, len } = stored;
                    FrameChunk::open(source, at, len, self.dims, self.itemsize, self.limits).ok()
                });
                let blocks = match &frame {
                    Some(frame) => frame.blocks().map(<[u64]>::to_vec),
                    None => {
                        let own = self.pipeline.blosc2().and_then(|spec| spec.blocks.clone());
                        own.map(|own| self.wanted().unwrap_or(own))
                    }
                };
                if let Some(mut blocks) = blocks {
                    blocks.extend_from_slice(&chunks[self.spec.rank..]);
                    return Ok(Cut::tiles(chunks, &blocks, typesize));
                }
                // Where nothing is stored yet: what chunks to come will have.
                let own = || self.pipeline.blosc2()?.params.blocksize;
                frame.map(|frame| frame.block_bytes()).or_else(own)
            }
            Inner::Blosc => self.first(places).and_then(|stored| {
                let mut front = [0; HEADER_BYTES];
                let bytes = front.get_mut(..usize::try_from(stored.len).ok()?.min(HEADER_BYTES))?;
                stored.read(0, bytes).ok()?;
                Some(Header::read(&front, self.limits).ok()?.blocksize)
            }),
        };
        let Some(unit) = unit.filter(|&unit| unit > 0) else { return Ok(whole) };
        let exact = Cut::slabs(chunks, typesize, unit);
        if exact.block_bytes() == unit {
            return Ok(exact);
        }
        let slabs = Cut::slabs(chunks, typesize, unit.saturating_mul(BLOCKS_PER_SLAB));
        Ok(if bytes > 4 * slabs.block_bytes() { slabs } else { whole })
    }

    /// The blocks that were asked for, if chunks can be cut so.
    fn wanted(&self) -> Option<Vec<u64>> {
        let blocks = self.spec.blocks.clone()?;
        let fits = |(&block, &dim): (&u64, &u64)| block > 0 && block <= dim;
        let is_tiled = (2..=8).contains(&self.dims.len()) && blocks.len() == self.dims.len();
        (is_tiled && blocks.iter().zip(self.dims).all(fits)).then_some(blocks)
    }

    /// The bytes of a stored chunk.
    fn first(&self, places: &Places) -> Option<StoredBytes> {
        if self.chunk_access == ChunkAccess::Direct {
            let (source, header) = (self.spec.source.as_ref()?, self.spec.header?);
            let mut first: Option<StoredBytes> = None;
            let mut row = |_: &[u64], row: crate::hdf5::ChunkRow| {
                if row.mask == 0 {
                    first = Some(StoredBytes { source: Arc::clone(source), at: row.address, len: row.size });
                    // Enough is known.
                    return Err(Error::cancelled());
                }
                Ok(())
            };
            let _ = crate::hdf5::read_index(source, header, self.limits, &mut row);
            if first.is_some() {
                return first;
            }
        }
        if places.nchunks() == 0 {
            return None;
        }
        let start = vec![0; self.spec.rank];
        let (bytes, mask) = self.spec.library.read_chunks(&[start]).ok()?.pop()??;
        (mask == 0).then(|| StoredBytes::fetched(Arc::new(bytes)))
    }
}

impl Store for Hdf5Store {
    fn chunks(&self) -> Arc<dyn Chunks> {
        Arc::new(Reader { view: Arc::clone(&self.view), chunk_access: None })
    }

    fn put(&mut self, chunk: Vec<u8>, _statistics: Option<Statistics>) -> Result<Entry> {
        self.put.push(chunk);
        Ok(Entry::New(self.put.len() - 1))
    }

    /// Writes at once: HDF5 knows no commits.
    fn apply(&mut self, change: Change<'_>) -> Result<()> {
        let mut put = std::mem::take(&mut self.put);
        self.check()?;
        if let Some(shape) = change.shape {
            self.shared.library.set_shape(&shape[..self.shared.rank])?;
            let places = Places { shape: shape.to_vec(), chunks: self.view.places.chunks.clone() };
            self.view = Arc::new(View::new(Arc::clone(&self.shared), places));
        }
        let mut chunks = Vec::with_capacity(change.entries.len());
        for (number, entry) in change.entries {
            match entry {
                Entry::New(at) => chunks.push((number, std::mem::take(&mut put[at]))),
                Entry::Special(special) => {
                    return Err(Error::unsupported(format!("a chunk of {special:?} in HDF5")));
                }
            }
        }
        if !chunks.is_empty() {
            self.write(chunks)?;
        }
        change.layers.iter().try_for_each(|(name, content)| self.set_layer(name, content.as_deref()))
    }

    fn commit(&mut self, durable: bool) -> Result<()> {
        if durable { self.shared.library.flush() } else { Ok(()) }
    }

    fn rollback(&mut self) {
        self.put.clear();
    }

    fn publish(&mut self) -> Result<()> {
        Ok(())
    }

    fn compact(&mut self) -> Result<()> {
        Err(Error::unsupported("HDF5 files cannot be compacted in place; use `coquina repack`"))
    }

    fn refresh(&mut self) -> Result<bool> {
        self.check()?;
        let places = &self.view.places;
        let Some(mut shape) = self.shared.library.shape()? else { return Ok(false) };
        shape.extend_from_slice(places.shape.get(self.shared.rank..).unwrap_or_default());
        if shape == places.shape {
            return Ok(false);
        }
        let places = Places { shape, chunks: places.chunks.clone() };
        self.view = Arc::new(View::new(Arc::clone(&self.shared), places));
        Ok(true)
    }

    fn is_writable(&self) -> bool {
        self.writable && !self.is_closed
    }

    fn path(&self) -> Option<PathBuf> {
        self.place.clone()
    }

    fn close(&mut self) -> Result<()> {
        self.is_closed = true;
        self.shared.is_direct_disabled.store(true, Ordering::Relaxed);
        Ok(())
    }
}
