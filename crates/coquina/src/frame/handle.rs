//! An open frame.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use super::disk::Folder;
use super::format::header::Header;
use super::format::slots::Slots;
use super::format::spec::{Kind, Spec};
use super::load::Origin;
use super::snapshot::{Chunks, Snapshot};
use super::state::{FrameState, SumState};
use super::writer::Writer;
use super::writer::change::{Change, Entry, Put};
use super::writer::contiguous::Contiguous;
use super::writer::sparse::{self, Sparse};
use super::writer::whole::{Piece, sum, table};
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::io::{Existing, ReadAt};
use crate::base::limits::Limits;
use crate::chunk::{self, sums};

/// Frames are rewritten on close if more than this, and more than half of their chunks' room, is unused.
const DEAD_BYTES_MAX: u64 = 4 << 20;

/// What a frame is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// To read: any number of readers, also while a writer is at work.
    Read,
    /// To read and change: one at a time.
    Write,
}

/// An open frame: the newest state that it knows, and the means to change it.
///
/// What was put and applied and not committed is lost when it is dropped.
pub struct Frame {
    /// With all changes that were applied.
    pub(super) shown: Arc<Snapshot>,
    /// As the frame is for everybody.
    pub(super) committed: Arc<Snapshot>,
    /// What is written to become the next commit, once whoever commits several frames together says so.
    pub(super) prepared: Option<Arc<Snapshot>>,
    pub(super) back: Back,
    pub(super) path: Option<PathBuf>,
    /// Whether it was opened although it is damaged.
    pub(super) is_damaged: bool,
    /// Whether there has never been a commit.
    pub(super) is_unborn: bool,
    /// Whether it is said elsewhere which of its states is the committed one.
    pub(super) is_owned: bool,
}

/// Where the frame is, and what can be done to it.
pub(super) enum Back {
    Source(Arc<dyn ReadAt>, u64),
    File { file: Arc<File>, base: u64, modified: Option<SystemTime> },
    Folder(Arc<Folder>),
    Writer(Box<dyn Writer>),
}

impl Frame {
    /// Opens the frame at `path`: a file, in which it starts at byte `offset`, or the directory of a sparse one.
    ///
    /// # Errors
    /// `Io` (of kind `WouldBlock` if another writer has it), `Invalid` for a place that cannot be written,
    /// `Corrupt`, `Truncated`, `Unsupported` or `Limit` for what is there.
    pub fn open(path: &Path, offset: u64, mode: Mode, limits: Limits) -> Result<Self> {
        Self::open_with(path, offset, mode, limits, false)
    }

    /// Opens a frame, to read it, although its fingerprint says that header, index or trailer are damaged. What
    /// chunks hold is still held against their sums; that some are special values is believed.
    ///
    /// # Errors
    /// As [`Frame::open`], for what cannot be read at all.
    pub fn open_damaged(path: &Path, offset: u64, limits: Limits) -> Result<Self> {
        Self::open_with(path, offset, Mode::Read, limits, true)
    }

    fn open_with(path: &Path, offset: u64, mode: Mode, limits: Limits, is_damaged: bool) -> Result<Self> {
        let open = || {
            let path = std::path::absolute(path)?;
            let metadata = fs::metadata(&path)?;
            if !metadata.is_dir() && !metadata.is_file() {
                return Err(Error::invalid("neither a file nor a directory"));
            }
            if offset > 0 && (mode == Mode::Write || metadata.is_dir()) {
                return Err(Error::invalid(format!(
                    "offset {offset}: a frame inside a file can only be read"
                )));
            }
            let mut frame = match (mode, metadata.is_dir()) {
                (Mode::Read, false) => {
                    Self::open_file(&path, offset, limits, is_damaged, |origin| origin.load())?
                }
                (Mode::Read, true) => Self::open_folder(&path, limits, is_damaged)?,
                (Mode::Write, false) => {
                    let (writer, snapshot) = Contiguous::open(&path, None, limits)?;
                    Self::with(snapshot, Back::Writer(Box::new(writer)))
                }
                (Mode::Write, true) => {
                    let (writer, snapshot) = Sparse::open(&path, limits)?;
                    Self::with(snapshot, Back::Writer(Box::new(writer)))
                }
            };
            frame.is_damaged = is_damaged;
            Ok(frame.at(path))
        };
        open().map_err(|e: Error| e.at(path.display().to_string()))
    }

    pub(super) fn at(mut self, path: PathBuf) -> Self {
        self.path = Some(path);
        self
    }

    pub(super) fn open_file(
        path: &Path,
        base: u64,
        limits: Limits,
        is_damaged: bool,
        load: impl FnOnce(&Origin<'_>) -> Result<(FrameState, bool)>,
    ) -> Result<Self> {
        let file = Arc::new(File::open(path)?);
        let modified = file.metadata()?.modified().ok();
        let origin = Origin { source: &*file, base, kind: Kind::Contiguous, limits: &limits, is_damaged };
        let (loaded, _) = load(&origin)?;
        let snapshot = Snapshot::new(loaded, Chunks::Contiguous(file.clone(), base), limits, 0);
        Ok(Self::with(snapshot, Back::File { file, base, modified }))
    }

    fn open_folder(path: &Path, limits: Limits, is_damaged: bool) -> Result<Self> {
        let folder = Arc::new(Folder::new(path.to_path_buf()));
        let (loaded, _) = sparse::load(&folder, &limits, is_damaged)?;
        let snapshot = Snapshot::new(loaded, Chunks::Sparse(folder.clone()), limits, 0);
        Ok(Self::with(snapshot, Back::Folder(folder)))
    }

    /// Opens a frame that starts at byte `offset` of anything that can be read, to read it.
    ///
    /// # Errors
    /// As [`Frame::open`].
    pub fn from_source(source: Arc<dyn ReadAt>, offset: u64, limits: Limits) -> Result<Self> {
        Self::from_source_with(source, offset, limits, false)
    }

    /// The same for a damaged one, as [`Frame::open_damaged`] does it.
    ///
    /// # Errors
    /// As [`Frame::open_damaged`].
    pub fn from_damaged_source(source: Arc<dyn ReadAt>, offset: u64, limits: Limits) -> Result<Self> {
        Self::from_source_with(source, offset, limits, true)
    }

    fn from_source_with(
        source: Arc<dyn ReadAt>,
        base: u64,
        limits: Limits,
        is_damaged: bool,
    ) -> Result<Self> {
        let origin = Origin { source: &*source, base, kind: Kind::Contiguous, limits: &limits, is_damaged };
        let (loaded, _) = origin.load()?;
        let chunks = Chunks::Contiguous(Arc::clone(&source), base);
        let snapshot = Snapshot::new(loaded, chunks, limits, 0);
        let mut frame = Self::with(snapshot, Back::Source(source, base));
        frame.is_damaged = is_damaged;
        Ok(frame)
    }

    /// Starts a frame without chunks, to be written. It is under a temporary name, and goes away again unless it
    /// is given its own by [`Frame::publish`].
    ///
    /// # Errors
    /// `Invalid` for the spec, `Io` (of kind `AlreadyExists` if `path` must not be replaced).
    pub fn create(path: &Path, kind: Kind, spec: &Spec, existing: Existing) -> Result<Self> {
        let create = || {
            let header = Header::new(spec, kind)?;
            let path = std::path::absolute(path)?;
            let (writer, chunks): (Box<dyn Writer>, _) = match kind {
                Kind::Contiguous => {
                    let writer = Contiguous::create(&path, &header, existing)?;
                    let chunks = writer.chunks();
                    (Box::new(writer), chunks)
                }
                Kind::Sparse => {
                    let writer = Sparse::create(&path, existing)?;
                    let chunks = writer.chunks();
                    (Box::new(writer), chunks)
                }
            };
            let loaded = FrameState {
                header,
                slots: Slots::default(),
                vlmetalayers: Vec::new(),
                sums: if spec.with_sums { SumState::Fresh } else { SumState::Absent },
                has_sums: spec.with_sums,
                has_statistics: spec.with_statistics,
                live_bytes: 0,
                turn: None,
                tail_sum: 0,
                has_fingerprint: true,
            };
            let snapshot = Snapshot::new(loaded, chunks, Limits::default(), 0);
            let mut frame = Self::with(snapshot, Back::Writer(writer)).at(path);
            frame.is_unborn = true;
            Ok(frame)
        };
        create().map_err(|e: Error| e.at(path.display().to_string()))
    }

    pub(super) fn with(snapshot: Snapshot, back: Back) -> Self {
        let shown = Arc::new(snapshot);
        Self {
            committed: Arc::clone(&shown),
            shown,
            prepared: None,
            back,
            path: None,
            is_damaged: false,
            is_unborn: false,
            is_owned: false,
        }
    }

    /// The newest state that this handle knows, with what was applied and not committed.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.shown)
    }

    /// Whether it can be changed.
    pub fn is_writable(&self) -> bool {
        matches!(self.back, Back::Writer(_))
    }

    /// The file or directory, or the one that it is to become; `None` for bytes that have no path.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Sets the size of chunks of a frame that has none and does not know it, as C-Blosc2 may leave it.
    ///
    /// # Errors
    /// `Invalid` if there are chunks, or for what cannot be the size of one.
    pub fn set_chunk_bytes(&mut self, bytes: usize) -> Result<()> {
        if self.shown.nchunks() > 0 {
            let now = self.shown.chunk_bytes();
            return Err(Error::invalid(format!("chunk size {bytes}: there are chunks of {now}")));
        }
        let mut snapshot = (*self.shown).clone();
        snapshot.state.header.set_chunk_bytes(bytes)?;
        self.shown = Arc::new(snapshot);
        Ok(())
    }

    pub(super) fn writer(&mut self) -> Result<&mut dyn Writer> {
        match &mut self.back {
            Back::Writer(writer) => Ok(&mut **writer),
            _ => Err(Error::invalid("the frame is open for reading only; open it for writing")),
        }
    }

    /// Stores a chunk; nobody sees it before it is applied and committed. A special chunk is not stored.
    ///
    /// # Errors
    /// `Invalid` for what is not exactly one Blosc2 chunk; `Io`, and then all since the last commit is undone.
    pub fn put(&mut self, chunk: &[u8]) -> Result<Entry> {
        let snapshot = Arc::clone(&self.shown);
        let known = chunk::Header::read(chunk, &Limits::default())?;
        let other = match Piece::of(&snapshot.state.header, &known, chunk)? {
            Some(Piece::Special(special)) => return Ok(Entry::Special(special)),
            Some(Piece::Bytes(bytes)) => Some(bytes),
            None => None,
        };
        let chunk = other.as_deref().unwrap_or(chunk);
        let sums = if snapshot.state.has_sums { Some(sums(chunk)?) } else { None };
        let put = self.writer()?.put(&[chunk, table(sums.as_ref())]);
        let key = put.inspect_err(|_| self.rollback())?;
        Ok(Entry::Stored(Put { key, sum: sum(sums.as_ref()) }))
    }

    /// Makes a change, for this handle.
    ///
    /// # Errors
    /// `Invalid` or `Limit` for what does not fit together; nothing is changed then.
    pub fn apply(&mut self, change: Change<'_>) -> Result<()> {
        let cbytes = self.writer()?.cbytes();
        self.shown = Arc::new(self.shown.changed(&change, cbytes)?);
        Ok(())
    }

    /// Whether the frame is committed by itself.
    fn check_alone(&self) -> Result<()> {
        if self.is_owned {
            return Err(Error::invalid(
                "the frame is committed together with others, by what they belong to",
            ));
        }
        Ok(())
    }

    /// Makes all changes that were applied the frame's state, in one step. With `durable` they also survive a
    /// power cut from then on; else they survive whatever happens to this program.
    ///
    /// # Errors
    /// `Io`, and then all since the last commit is undone; if it comes from making a commit durable that has
    /// happened, nothing is undone.
    pub fn commit(&mut self, durable: bool) -> Result<()> {
        self.check_alone()?;
        let is_same = Arc::ptr_eq(&self.shown, &self.committed) && !self.is_unborn;
        let shown = Arc::clone(&self.shown);
        let writer = self.writer()?;
        if !is_same {
            let snapshot = writer.commit(&shown, durable).inspect_err(|_| self.rollback())?;
            self.committed = Arc::new(snapshot);
            self.shown = Arc::clone(&self.committed);
            self.is_unborn = false;
        }
        if durable { self.writer()?.sync() } else { Ok(()) }
    }

    /// Goes back to the last commit. What was put since is gone.
    pub fn rollback(&mut self) {
        if let Back::Writer(writer) = &mut self.back {
            // What could not be removed stands where nothing refers to, and the next writer removes it.
            let _ = writer.rollback();
            // Other chunks will be at the same places.
            self.prepared = None;
            let epoch = self.shown.epoch.max(self.committed.epoch) + 1;
            self.committed = Arc::new(Snapshot { epoch, ..(*self.committed).clone() });
        }
        self.shown = Arc::clone(&self.committed);
    }

    /// Gives a new frame its name, with what was committed; commits first if nothing was.
    ///
    /// # Errors
    /// `Io`; the new frame is lost then, and what was at its place is still there.
    pub fn publish(&mut self) -> Result<()> {
        if self.is_unborn {
            self.commit(false)?;
        }
        self.writer()?.publish()
    }

    /// Commits, and gives back the room that nothing refers to: a contiguous frame is written anew and takes the
    /// place of the old one in one step, of a sparse one files are removed. Readers of the old state keep it if
    /// the frame is contiguous.
    ///
    /// # Errors
    /// `Io`, or `Corrupt` for a chunk whose sum does not match; what the frame holds is as it was then.
    pub fn compact(&mut self) -> Result<()> {
        self.commit(false)?;
        let committed = Arc::clone(&self.committed);
        let snapshot = self.writer()?.compact(&committed)?;
        self.committed = Arc::new(snapshot);
        self.shown = Arc::clone(&self.committed);
        self.writer()?.sync_name()
    }

    /// Ends writing: forgets what was not committed, and gives back unused room if there is much of it.
    ///
    /// # Errors
    /// `Corrupt` for a chunk whose sum does not match when room is given back.
    pub fn close(mut self) -> Result<()> {
        if !matches!(self.back, Back::Writer(_)) || self.is_unborn {
            return Ok(());
        }
        self.rollback();
        if self.is_owned {
            return Ok(());
        }
        let committed = Arc::clone(&self.committed);
        match self.writer()?.settle(&committed) {
            // All is committed, and only the place of the record was to be another one.
            Err(error) if error.kind() == ErrorKind::Io => return Ok(()),
            settled => self.committed = Arc::new(settled?),
        }
        self.shown = Arc::clone(&self.committed);
        let (dead, cbytes) = (self.committed.dead_bytes(), self.committed.cbytes());
        let is_wasteful = dead > DEAD_BYTES_MAX && dead > cbytes / 2;
        if !is_wasteful && self.committed.kind() == Kind::Contiguous {
            return Ok(());
        }
        match self.compact() {
            // All is committed, and only room was to be won: on a full disk there is none to win it with.
            Err(error) if error.kind() == ErrorKind::Io => Ok(()),
            done => done,
        }
    }
}

impl Drop for Frame {
    fn drop(&mut self) {
        self.rollback();
    }
}
