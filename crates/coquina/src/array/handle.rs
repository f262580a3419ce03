//! An open array: a state that readers share, and a store that one writer at a time puts chunks into.
//!
//! A read takes the state as it is and is not disturbed by what comes after.

use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

use coquina_kernels::Type;

use super::geometry::{Grid, Plan, Selection, Window};
use super::read::{Ahead, BlockCache, Counters, Source, State};
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::limits::Limits;
use crate::base::pool::Job;
use crate::chunk::Params;
use crate::frame::b2nd::Meta;
use crate::policy::Policies;
use crate::store::hdf5::Library;
use crate::store::{ChunkFormat, Metadata, Sizes, Store, item_type};

/// A compressed n-dimensional array.
pub struct Array {
    state: RwLock<Arc<State>>,
    writer: Mutex<Writer>,
    pub(super) cache: BlockCache,
    counters: Counters,
    ahead: Ahead,
    limits: Limits,
    params: Params,
    /// What encodes the chunks.
    pub(super) format: Arc<dyn ChunkFormat>,
    /// Of a dataset, what has its file open.
    library: Option<Arc<dyn Library>>,
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
    /// Of a dataset, what has its file open.
    pub(super) library: Option<Arc<dyn Library>>,
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
    /// How many byte planes have been decoded one by one, of blocks of which not all planes may be needed.
    pub planes_decoded: u64,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A lock that is free within a time; by looks at it, as the standard library's locks have no limit.
fn lock_within<T>(mutex: &Mutex<T>, limit: Duration) -> Option<MutexGuard<'_, T>> {
    let begin = Instant::now();
    loop {
        match mutex.try_lock() {
            Ok(guard) => return Some(guard),
            Err(TryLockError::Poisoned(poisoned)) => return Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) if begin.elapsed() >= limit => return None,
            Err(TryLockError::WouldBlock) => thread::sleep(Duration::from_millis(1)),
        }
    }
}

impl Array {
    /// The array in a store; new chunks are encoded by these parameters, unless the store has a format of its own.
    pub(super) fn new(opened: Opened, grid: Grid, meta: Meta, params: Params, limits: Limits) -> Self {
        let Opened { store, format, library } = opened;
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
            cache: BlockCache::new(),
            counters: Counters::default(),
            ahead: Ahead::default(),
            limits,
            params,
            format,
            library,
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

    /// What a writer holds, once no other thread has it.
    ///
    /// # Errors
    /// As [`Library::wait`], for a dataset.
    pub(super) fn writer(&self) -> Result<MutexGuard<'_, Writer>> {
        match (self.writer.try_lock(), &self.library) {
            (Ok(writer), _) => Ok(writer),
            (Err(TryLockError::WouldBlock), Some(library)) => {
                let mut writer = None;
                library.wait(&mut |limit| {
                    writer = limit
                        .map_or_else(|| Some(lock(&self.writer)), |limit| lock_within(&self.writer, limit));
                    writer.is_some()
                })?;
                Ok(writer.unwrap_or_else(|| lock(&self.writer)))
            }
            _ => Ok(lock(&self.writer)),
        }
    }

    /// The same, however long it takes.
    pub(super) fn waited_writer(&self) -> MutexGuard<'_, Writer> {
        self.writer().unwrap_or_else(|_| lock(&self.writer))
    }

    pub(super) fn source<'s>(&'s self, state: &'s State) -> Source<'s> {
        Source {
            grid: &state.grid,
            chunks: &*state.chunks,
            cache: &self.cache,
            limits: &self.limits,
            counters: &self.counters,
            ahead: Some(&self.ahead),
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
        self.waited_writer().store.is_writable()
    }

    /// The file or directory that it lives in.
    pub fn path(&self) -> Option<PathBuf> {
        self.waited_writer().store.path()
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
            planes_decoded: self.counters.planes_decoded.load(Ordering::Relaxed),
        }
    }

    /// A number that tells this state from others of the same file: a sum over what the file's last commit wrote
    /// beside the chunks, with their sums where it has some. `None` in memory and in HDF5 files.
    pub fn state_sum(&self) -> Option<u64> {
        // What readers hold was made before its commit.
        self.waited_writer().store.chunks().metadata().and_then(Metadata::state_sum)
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

    pub(super) fn meta(&self, grid: &Grid) -> Meta {
        Meta { dtype_format: self.dtype_format, dtype: self.dtype.clone(), ..grid.meta() }
    }
}
