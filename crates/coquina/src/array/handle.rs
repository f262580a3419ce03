//! An open array: a state that readers share, and a store that one writer at a time puts chunks into.
//!
//! A read takes the state as it is and is not disturbed by what comes after. A write makes the touched chunks anew,
//! applies them as one change, and commits; if anything fails, the state is that of the last commit.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use coquina_kernels::Type;

use super::geometry::{Grid, Plan, Selection, Window};
use super::read::{Cache, Counters, Source, State};
use super::write::{ChunkEncoder, Request, Values, Write, clear_uncovered, statistics_after_resize};
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::limits::Limits;
use crate::base::pool::Job;
use crate::chunk::Params;
use crate::frame::b2nd::Meta;
use crate::policy::Policies;
use crate::store::{Change, ChunkFormat, Metadata, Sizes, Store, item_type};

/// A compressed n-dimensional array.
pub struct Array {
    state: RwLock<Arc<State>>,
    writer: Mutex<Writer>,
    pub(super) cache: Cache,
    counters: Counters,
    limits: Limits,
    params: Params,
    /// What encodes the chunks.
    pub(super) format: Arc<dyn ChunkFormat>,
    dtype_format: u8,
    dtype: Option<String>,
    /// The type of the items, if they are numbers that have an order.
    pub(super) item_type: Option<Type>,
    /// The file, for errors.
    place: Option<String>,
}

/// A store that was opened, and what encodes its chunks.
pub(super) struct Opened {
    pub(super) store: Box<dyn Store>,
    pub(super) format: Arc<dyn ChunkFormat>,
}

/// What a writer holds.
pub(super) struct Writer {
    pub(super) store: Box<dyn Store>,
    pub(super) committed: Arc<State>,
    /// Whether writes wait for a commit of their own.
    pub(super) is_open: bool,
    /// Whether a write of the open transaction has failed.
    pub(super) is_broken: bool,
    pub(super) durable: bool,
}

/// What an array takes, and what has been done for its reads.
#[derive(Clone, Copy, Debug)]
pub struct Stats {
    /// Bytes of the items.
    pub nbytes: u64,
    /// How many chunks.
    pub nchunks: u64,
    /// What the chunks take.
    pub sizes: Sizes,
    /// Of how many chunks the bounds are known; `None` if items are no numbers that have an order.
    pub known_chunks: Option<u64>,
    /// How many blocks have been decoded so far.
    pub blocks_decoded: u64,
    /// How many blocks were found decoded already.
    pub blocks_cached: u64,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Array {
    /// The array in a store; new chunks are encoded by these parameters, unless the store has a format of its own.
    pub(super) fn new(opened: Opened, grid: Grid, meta: Meta, params: Params, limits: Limits) -> Self {
        let Opened { store, format } = opened;
        let dtype = meta.dtype.as_deref().filter(|_| meta.dtype_format == 0);
        let item_type = dtype.and_then(|dtype| item_type(dtype, grid.typesize()));
        let chunks = store.chunks();
        let policies = Policies::read(chunks.metadata(), dtype);
        let state = Arc::new(State { grid, chunks, policies });
        let place = store.path().map(|path| path.display().to_string());
        let committed = Arc::clone(&state);
        let writer = Writer { store, committed, is_open: false, is_broken: false, durable: false };
        Self {
            state: RwLock::new(state),
            writer: Mutex::new(writer),
            cache: Cache::new(),
            counters: Counters::default(),
            limits,
            params,
            format,
            dtype_format: meta.dtype_format,
            dtype: meta.dtype,
            item_type,
            place,
        }
    }

    /// An error with the file that it came from.
    pub(super) fn placed(&self, error: Error) -> Error {
        match (&self.place, error.kind()) {
            // What the caller asked for has nothing to do with the file.
            (_, ErrorKind::Invalid | ErrorKind::OutOfBounds | ErrorKind::Cancelled) | (None, _) => error,
            (Some(place), _) => error.at(place.as_str()),
        }
    }

    pub(super) fn state(&self) -> Arc<State> {
        Arc::clone(&self.state.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn set_state(&self, state: &Arc<State>) {
        *self.state.write().unwrap_or_else(PoisonError::into_inner) = Arc::clone(state);
    }

    pub(super) fn writer(&self) -> MutexGuard<'_, Writer> {
        lock(&self.writer)
    }

    pub(super) fn source<'s>(&'s self, state: &'s State) -> Source<'s> {
        Source {
            grid: &state.grid,
            chunks: &*state.chunks,
            cache: &self.cache,
            limits: &self.limits,
            counters: &self.counters,
            statistics: self.item_type.filter(|ty| state.chunks.statistics_bytes() == Some(ty.bytes())),
        }
    }

    /// How it is cut, with its shape.
    pub fn grid(&self) -> Grid {
        self.state().grid.clone()
    }

    /// Bytes of an item.
    pub fn typesize(&self) -> usize {
        self.state().grid.typesize()
    }

    /// The text of the dtype, if there is one that is to be read as NumPy's.
    pub fn dtype(&self) -> Option<&str> {
        self.dtype.as_deref().filter(|_| self.dtype_format == 0)
    }

    /// How new chunks are encoded.
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// Whether it can be changed.
    pub fn is_writable(&self) -> bool {
        self.writer().store.is_writable()
    }

    /// The file or directory that it lives in.
    pub fn path(&self) -> Option<PathBuf> {
        self.writer().store.path()
    }

    /// What it takes.
    pub fn stats(&self) -> Stats {
        let state = self.state();
        let sizes = state.chunks.sizes();
        Stats {
            nbytes: state.grid.size().saturating_mul(state.grid.typesize() as u64),
            nchunks: state.grid.nchunks(),
            sizes,
            known_chunks: self.item_type.map(|_| sizes.special_chunks + sizes.known_chunks),
            blocks_decoded: self.counters.blocks_decoded.load(Ordering::Relaxed),
            blocks_cached: self.counters.blocks_cached.load(Ordering::Relaxed),
        }
    }

    /// A number that tells this state from others of the same file: a sum over what the file's last commit wrote
    /// beside the chunks, with their sums where it has some. `None` in memory and in HDF5 files.
    pub fn state_sum(&self) -> Option<u64> {
        // What readers hold was made before its commit.
        self.writer().store.chunks().metadata().and_then(Metadata::state_sum)
    }

    /// Bytes of decoded blocks that are kept for further reads.
    pub fn cache_bytes(&self) -> usize {
        self.cache.block_bytes()
    }

    /// Sets how many bytes of decoded blocks are kept; 0 for none.
    pub fn set_cache_bytes(&self, bytes: usize) {
        self.cache.set_block_bytes(bytes);
    }

    /// Fills `out` with the window's bytes of the selected items, in C order.
    ///
    /// # Errors
    /// `OutOfBounds` for an index that does not exist, `Invalid` for an `out` of another size, `Corrupt` for
    /// damaged chunks that are touched, `Cancelled`.
    pub fn read(&self, selection: &Selection, window: Window, out: &mut [u8], job: &Job<'_>) -> Result<()> {
        let state = self.state();
        selection.check_bytes(&state.grid, window, Some(out.len()))?;
        let done = self.source(&state).read(selection, window, out, job);
        let done = match done {
            // What did not come from afar would not come by another way either.
            Err(error) if error.kind() == ErrorKind::Io && state.chunks.remote().is_some() => Err(error),
            Err(error) if error.kind() != ErrorKind::Cancelled => {
                self.read_again(&state, selection, window, out, job).ok_or(error)
            }
            done => done,
        };
        done.map_err(|e| self.placed(e))
    }

    /// Tries it in the other way that the chunks may have; whether that was right.
    fn read_again(
        &self,
        state: &State,
        selection: &Selection,
        window: Window,
        out: &mut [u8],
        job: &Job<'_>,
    ) -> Option<()> {
        let library = state.chunks.library()?;
        let other = library.fallback()?;
        let source = Source { chunks: &*other, ..self.source(state) };
        source.read(selection, window, out, job).ok()?;
        library.disable_direct();
        Some(())
    }

    /// How many blocks a read of the selection would touch.
    ///
    /// # Errors
    /// As [`Array::read`].
    pub fn blocks_touched(&self, selection: &Selection) -> Result<u64> {
        let state = self.state();
        selection.check(&state.grid)?;
        if selection.shape().contains(&0) {
            return Ok(0);
        }
        Ok(Plan::new(selection, &state.grid).nblocks())
    }

    /// Writes values to the window's bytes of the selected items. Of several values for one item the last one stays.
    ///
    /// # Errors
    /// As [`Array::read`], `Io`; the array is then as it was.
    pub fn write(
        &self,
        selection: &Selection,
        window: Window,
        values: Values<'_>,
        job: &Job<'_>,
    ) -> Result<()> {
        let request = Request { selection: Cow::Borrowed(selection), window, values };
        self.change(|old| Ok((old.clone(), Some(request))), job)
    }

    /// Writes as [`Array::write`] does, if the shape is this one; whether it is. A selection that was made for a shape
    /// means something else once another thread has resized the array.
    ///
    /// # Errors
    /// As [`Array::write`].
    pub fn write_in_shape(
        &self,
        shape: &[u64],
        selection: &Selection,
        window: Window,
        values: Values<'_>,
        job: &Job<'_>,
    ) -> Result<bool> {
        let mut is_same = true;
        let resolve = |old: &Grid| {
            is_same = old.shape() == shape;
            let request = Request { selection: Cow::Borrowed(selection), window, values };
            Ok((old.clone(), is_same.then_some(request)))
        };
        self.change(resolve, job)?;
        Ok(is_same)
    }

    /// Gives it another shape. What is new is zeros; what is cut off is gone.
    ///
    /// # Errors
    /// `Limit` for more than can be counted, `Io`; the array is then as it was.
    pub fn resize(&self, shape: &[u64], job: &Job<'_>) -> Result<()> {
        self.change(|old| Ok((old.resized(shape)?, None)), job)
    }

    /// Makes axis `axis` longer by `len` and fills what is new, in one commit.
    ///
    /// # Errors
    /// As [`Array::write`] and [`Array::resize`].
    pub fn append(&self, axis: usize, len: u64, values: Values<'_>, job: &Job<'_>) -> Result<()> {
        let longer = |old: &Grid| {
            let mut shape = old.shape().to_vec();
            let Some(size) = shape.get_mut(axis) else {
                return Err(Error::out_of_bounds(format!("axis {axis} of an array of {} axes", old.ndim())));
            };
            let start = *size;
            *size = start.checked_add(len).ok_or_else(|| Error::limit(format!("{start} + {len} items")))?;
            let grid = old.resized(&shape)?;
            let mut ranges: Vec<_> = shape.iter().map(|&len| 0..len).collect();
            ranges[axis] = start..start + len;
            let window = Window { offset: 0, bytes: old.typesize() };
            let selection = Cow::Owned(Selection::region(&ranges));
            Ok((grid, Some(Request { selection, window, values })))
        };
        self.change(longer, job)
    }

    /// Goes over to another grid and writes, as one change. `resolve` is asked for both while no other thread can
    /// change the array: what it answers is about the shape that the change will find.
    fn change<'v>(
        &self,
        resolve: impl FnOnce(&Grid) -> Result<(Grid, Option<Request<'v>>)>,
        job: &Job<'_>,
    ) -> Result<()> {
        let mut writer = self.writer();
        let state = self.state();
        let (grid, write) = resolve(&state.grid)?;
        if grid == state.grid && write.is_none() {
            return writer.check().map_err(|e| self.placed(e));
        }
        let made = self.make_change(&mut writer, &state, &grid, write.as_ref(), job);
        self.settle(&mut writer, made).map_err(|e| self.placed(e))
    }

    fn make_change(
        &self,
        writer: &mut Writer,
        state: &State,
        grid: &Grid,
        write: Option<&Request<'_>>,
        job: &Job<'_>,
    ) -> Result<Arc<State>> {
        writer.check()?;
        let old = self.source(state);
        let policy = state.policies.for_write(&*self.format)?;
        let encoder = ChunkEncoder { old: &old, grid, format: &*self.format, policy: policy.policy() };
        let mut entries = Vec::new();
        let is_same = *grid == state.grid;
        if let Some(request) = write {
            request.check(grid)?;
            if !request.is_empty() {
                entries = Write { encoder, request }.run(&mut *writer.store, job)?;
            }
        }
        if !is_same {
            let encoder = ChunkEncoder { policy: policy.lossless(), ..encoder };
            clear_uncovered(&encoder, &mut *writer.store, &mut entries, job)?;
        }
        let remap = |number: u64| grid.number_in(old.grid, number);
        let (policies, layers) = state.policies.after(&policy.lost(), old.chunks.metadata());
        let mut change = Change { entries, layers, ..Change::default() };
        if !is_same {
            change.nchunks = Some(grid.nchunks());
            change.shape = Some(grid.shape());
            change.remap = Some(&remap);
            let meta = self.meta(grid);
            change.metalayers.push((meta.name().into(), meta.write()));
            change.statistics = statistics_after_resize(&old, grid, &change.entries);
        }
        writer.store.apply(change)?;
        Ok(Arc::new(State { grid: grid.clone(), chunks: writer.store.chunks(), policies }))
    }

    pub(super) fn meta(&self, grid: &Grid) -> Meta {
        Meta { dtype_format: self.dtype_format, dtype: self.dtype.clone(), ..grid.meta() }
    }
}
