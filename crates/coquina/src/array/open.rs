//! Making and opening arrays.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::geometry::{Access, Grid, partition};
use super::handle::{Array, Opened};
use crate::base::error::{Error, Result};
use crate::base::io::{Existing, ReadAt};
use crate::base::layout::BlockLayout;
use crate::base::limits::Limits;
use crate::chunk::{Params, Special};
use crate::codec;
use crate::frame::b2nd::{self, METALAYER, Meta};
use crate::frame::{CommitId, Frame, Kind, Mode, Snapshot, Spec};
use crate::policy::goal_layer;
use crate::policy::tuned::{self, Goal};
use crate::store::hdf5::{Hdf5Opened, Hdf5Spec, Hdf5Store};
use crate::store::{
    BloscFormat, Change, ChunkFormat, Entry, FrameStore, MemoryStore, Statistics, Store, item_type,
};

/// What a new array is to be.
#[derive(Clone)]
pub struct ArraySpec {
    /// Items along each axis.
    pub shape: Vec<u64>,
    /// Items of a chunk along each axis; none for the default rule.
    pub chunks: Option<Vec<u64>>,
    /// Items of a block along each axis; none for the default rule.
    pub blocks: Option<Vec<u64>>,
    /// How it will be read, where the default rule may choose.
    pub access: Access,
    /// Text of the dtype.
    pub dtype: String,
    /// What the items are until they are written.
    pub fill: Fill,
    /// How chunks are encoded; with the bytes of an item.
    pub params: Params,
    /// Whether chunks in files get checksums.
    pub checksums: bool,
    /// Whether what is known of the items of chunks is kept, where they are numbers.
    pub statistics: bool,
    /// What codec, level and filters of each chunk are chosen for; `None` for those of `params`.
    pub tuning: Option<Goal>,
}

/// What items are until they are written.
#[derive(Clone, Debug)]
pub enum Fill {
    /// Zeros, NaNs, or nothing in particular: takes no space.
    Special(Special),
    /// This item, one for each chunk.
    Value(Vec<u8>),
}

/// Where a new array is to live.
#[derive(Clone, Debug)]
pub enum Target {
    /// In memory.
    Memory,
    /// In a file or a directory.
    File {
        /// Its name.
        path: PathBuf,
        /// Which of them.
        kind: Kind,
        /// What to do if there is one of that name.
        existing: Existing,
    },
}

/// How to open an array.
#[derive(Clone, Copy, Debug)]
pub struct OpenOptions {
    /// To read, or to write too.
    pub mode: Mode,
    /// Where in the file the frame begins.
    pub offset: u64,
    /// Whether checksums are looked at.
    pub verify: bool,
    /// Whether to open, for reading, what is left of a damaged frame too: see [`Frame::open_damaged`].
    pub damaged: bool,
    /// Which of the states that were committed is to be opened, of a file at a path; the newest if `None`.
    pub commit: Option<CommitId>,
    /// How much memory stored sizes may ask for.
    pub limits: Limits,
}

impl OpenOptions {
    /// The frame at `path`, opened as the options say.
    ///
    /// # Errors
    /// As [`Frame::open`]; `Invalid` to write what may be damaged.
    pub fn open_frame(&self, path: &Path) -> Result<Frame> {
        if let (Some(id), 0, false) = (self.commit, self.offset, self.damaged) {
            return Frame::open_at(path, id, self.mode, self.limits);
        }
        match (self.damaged, self.mode) {
            (false, _) => Frame::open(path, self.offset, self.mode, self.limits),
            (true, Mode::Read) => Frame::open_damaged(path, self.offset, self.limits),
            (true, Mode::Write) => Err(Error::invalid(
                "the file is damaged and can only be read; `coquina repair` writes a new one",
            )),
        }
    }

    /// The frame in bytes that can be read at any position.
    ///
    /// # Errors
    /// As [`Frame::from_source`].
    pub fn frame_from_source(&self, source: Arc<dyn ReadAt>) -> Result<Frame> {
        if self.damaged {
            Frame::from_damaged_source(source, self.offset, self.limits)
        } else {
            Frame::from_source(source, self.offset, self.limits)
        }
    }
}

impl Default for OpenOptions {
    fn default() -> Self {
        Self {
            mode: Mode::Read,
            offset: 0,
            verify: true,
            damaged: false,
            commit: None,
            limits: Limits::default(),
        }
    }
}

/// The grid that a spec asks for, and its parameters with the block size that follows.
pub(super) fn plan(spec: &ArraySpec) -> Result<(Grid, Params)> {
    let typesize = spec.params.typesize;
    let (chunks, blocks) =
        partition(&spec.shape, typesize, &spec.access, spec.chunks.as_deref(), spec.blocks.as_deref())?;
    let grid = Grid::new(&spec.shape, &chunks, &blocks, typesize)?;
    let layout = grid.layout(&spec.dtype);
    let params = Params { blocksize: Some(grid.block_bytes().max(1)), layout, ..spec.params };
    params.check()?;
    Ok((grid, params))
}

/// The frame that holds such an array.
pub(super) fn frame_spec(grid: &Grid, params: &Params, meta: &Meta) -> Spec {
    Spec {
        typesize: params.typesize,
        chunk_bytes: grid.chunk_bytes(),
        blocksize: grid.block_bytes(),
        codec_id: params.codec.id(),
        codec_meta: params.codec_meta,
        level: params.level,
        pipeline: params.pipeline,
        split: params.split,
        dictionary: params.dictionary,
        metalayers: vec![(METALAYER.into(), meta.write())],
        has_variable_blocks: false,
        with_sums: true,
        with_statistics: true,
    }
}

impl Array {
    /// A new array. One in a file gets its name by [`Array::publish`]; dropped before, it leaves nothing.
    ///
    /// # Errors
    /// `Invalid` or `Limit` for sizes that cannot be, `Io` for the file.
    pub fn create(spec: &ArraySpec, target: &Target) -> Result<Self> {
        Self::create_with(spec, target, Vec::new())
    }

    /// A new array that has these metalayers too: names, and contents in msgpack. They are never changed.
    ///
    /// # Errors
    /// As [`Array::create`]; `Invalid` for names that a frame cannot have.
    pub fn create_with(
        spec: &ArraySpec,
        target: &Target,
        metalayers: Vec<(String, Vec<u8>)>,
    ) -> Result<Self> {
        let (grid, params) = plan(spec)?;
        spec.tuning.as_ref().map_or(Ok(()), |_| tuned::check(&params))?;
        let meta = Meta { dtype: Some(spec.dtype.clone()), ..grid.meta() };
        let mut frame_spec = Spec {
            with_sums: spec.checksums,
            with_statistics: spec.statistics,
            ..frame_spec(&grid, &params, &meta)
        };
        frame_spec.metalayers.extend(metalayers);
        let mut store: Box<dyn Store> = match target {
            Target::Memory => {
                let statistics = spec.statistics.then_some(grid.typesize());
                Box::new(MemoryStore::new(grid.nchunks(), frame_spec.metalayers, statistics))
            }
            Target::File { path, kind, existing } => {
                let frame = Frame::create(path, *kind, &frame_spec, *existing)?;
                Box::new(FrameStore::new(frame, true))
            }
        };
        let format = BloscFormat(params);
        fill(&mut *store, &grid, &format, spec)?;
        if spec.tuning.is_some() {
            let layers = vec![goal_layer(spec.tuning.as_ref())];
            store.apply(Change { layers, ..Change::default() })?;
        }
        let opened = Opened { store, format: Arc::new(format), library: None };
        let array = Self::new(opened, grid, meta, params, Limits::default());
        // The layer does not say by which profile is chosen.
        if spec.tuning.as_ref().is_some_and(|goal| goal.profile().is_some()) {
            array.set_tuning(spec.tuning.clone())?;
        }
        Ok(array)
    }

    /// Opens an array in a file or a directory.
    ///
    /// # Errors
    /// `Io`, `Corrupt`, `Truncated`, `Unsupported`; `Io` (would block) if another writer has it.
    pub fn open(path: &Path, options: &OpenOptions) -> Result<Self> {
        let frame = options.open_frame(path)?;
        Self::from_frame(frame, options).map_err(|e| e.at(path.display().to_string()))
    }

    /// Opens an array in bytes that can be read at any position.
    ///
    /// # Errors
    /// As [`Array::open`].
    pub fn from_source(source: Arc<dyn ReadAt>, options: &OpenOptions) -> Result<Self> {
        Self::from_frame(options.frame_from_source(source)?, options)
    }

    /// The array in an open frame.
    ///
    /// # Errors
    /// `Unsupported` if there is none, `Corrupt` if what the frame says of it contradicts the frame.
    pub fn from_frame(frame: Frame, options: &OpenOptions) -> Result<Self> {
        let snapshot = frame.snapshot();
        let layers: Vec<_> =
            snapshot.metalayers().map(|(name, content)| (name.into(), content.to_vec())).collect();
        let Some(meta) = b2nd::find(&layers)? else {
            return Err(Error::unsupported("the frame has no b2nd metalayer, so it is not an array"));
        };
        let grid = stored_grid(&meta, &snapshot)?;
        let layout = grid.layout(meta.dtype.as_deref().unwrap_or_default());
        let params = stored_params(&snapshot, &grid, layout);
        let store = Box::new(FrameStore::new(frame, options.verify));
        let opened = Opened { store, format: Arc::new(BloscFormat(params)), library: None };
        Ok(Self::new(opened, grid, meta, params, options.limits))
    }
}

/// Decoded blocks of HDF5 that are kept: they are mostly whole chunks.
const HDF5_CACHE_BYTES: usize = 16 << 20;

impl Array {
    /// The array that is a dataset of an open HDF5 file.
    ///
    /// # Errors
    /// `Invalid` for a spec that contradicts itself, `Unsupported` or `Limit` for a dataset that no array can be.
    pub fn open_hdf5(spec: Hdf5Spec, limits: Limits) -> Result<Self> {
        let (shape, typesize, dtype) = (spec.shape.clone(), spec.typesize, spec.dtype.clone());
        let library = Some(Arc::clone(&spec.library));
        let Hdf5Opened { store, format, chunks, blocks } = Hdf5Store::open(spec, limits)?;
        let grid = Grid::new(&shape, &chunks, &blocks, typesize)?;
        let meta = Meta { dtype: Some(dtype), ..grid.meta() };
        let params = Params { typesize, ..Params::default() };
        let opened = Opened { store: Box::new(store), format, library };
        let array = Self::new(opened, grid, meta, params, limits);
        array.set_cache_bytes(HDF5_CACHE_BYTES);
        Ok(array)
    }
}

/// Makes all chunks what they are until they are written.
fn fill(store: &mut dyn Store, grid: &Grid, format: &BloscFormat, spec: &ArraySpec) -> Result<()> {
    let nchunks = Some(grid.nchunks());
    let item = match &spec.fill {
        Fill::Special(special) => {
            special.item(grid.typesize()).map_err(|e| Error::invalid(e.to_string()))?;
            return store.apply(Change { nchunks, fill: Some(*special), ..Change::default() });
        }
        Fill::Value(item) => item,
    };
    let ty = item_type(&spec.dtype, grid.typesize()).filter(|_| spec.statistics);
    let known = ty.and_then(|ty| Statistics::of_item(ty, item));
    let mut entries: Vec<(u64, Entry)> = Vec::new();
    for number in 0..grid.nchunks() {
        let made = format.repeated(item, grid.chunk_bytes())?.with_statistics(known);
        entries.push((number, made.put(store)?));
    }
    store.apply(Change { nchunks, entries, ..Change::default() })
}

/// The grid of a stored array, which the frame must agree with.
fn stored_grid(meta: &Meta, snapshot: &Snapshot) -> Result<Grid> {
    let (typesize, blocksize) = (snapshot.typesize(), snapshot.spec().blocksize);
    let typesize = meta.item_bytes(typesize, blocksize)?;
    let widen = |sizes: &[u32]| sizes.iter().map(|&n| n.into()).collect::<Vec<u64>>();
    let grid = Grid::new(&meta.shape, &widen(&meta.chunks), &widen(&meta.blocks), typesize)
        .map_err(|e| Error::corrupt(e.to_string()).at("b2nd metalayer"))?;
    let (block_bytes, chunk_bytes) = (grid.block_bytes(), grid.chunk_bytes());
    let nchunks = snapshot.nchunks();
    let fits = nchunks == grid.nchunks()
        && (blocksize == 0 || blocksize == block_bytes)
        && (nchunks == 0 || snapshot.chunk_bytes() == chunk_bytes);
    if !fits {
        let frame_bytes = snapshot.chunk_bytes();
        return Err(Error::corrupt(format!(
            "the frame has {nchunks} chunks of {frame_bytes} bytes in blocks of {blocksize}, the array {} chunks of \
             {chunk_bytes} bytes in blocks of {block_bytes}",
            grid.nchunks(),
        )));
    }
    Ok(grid)
}

/// How the frame says that new chunks are to be encoded; where this build cannot, by the default.
fn stored_params(snapshot: &Snapshot, grid: &Grid, layout: BlockLayout) -> Params {
    let spec = snapshot.spec();
    let params = Params {
        codec: codec::by_id(spec.codec_id).unwrap_or(Params::default().codec),
        level: spec.level,
        typesize: grid.typesize(),
        pipeline: spec.pipeline,
        blocksize: Some(grid.block_bytes().max(1)),
        split: spec.split,
        dictionary: spec.dictionary,
        codec_meta: spec.codec_meta,
        layout,
        ..Params::default()
    };
    if params.check().is_ok() {
        return params;
    }
    Params { typesize: grid.typesize(), blocksize: params.blocksize, ..Params::default() }
}
