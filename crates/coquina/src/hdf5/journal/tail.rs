//! Bytes behind the end of the last commit: they go to the file at once, small ones together.
//!
//! In: writes at positions that no commit has. Out: the file; what could not be written is kept, and tried again.
//! Invariant: reads see every write, in its order, whether or not the disk took it.

use crate::base::error::{Error, Result};
use crate::base::io::WriteAt;

/// What is added to the file waits in memory up to so many bytes, so that many small writes are one.
const WAITING_BYTES_MAX: usize = 1 << 20;
/// Writes of more bytes do not wait.
const SMALL_BYTES_MAX: usize = WAITING_BYTES_MAX / 4;
/// What could not be written is kept in memory up to so many bytes.
pub(super) const UNWRITTEN_BYTES_MAX: usize = 256 << 20;

/// A file, and what is to be written to it.
pub(super) struct Tail<D> {
    pub(super) file: D,
    /// How long the file itself is.
    pub(super) file_len: u64,
    /// What waits to be written, from `at` on.
    waiting: Vec<u8>,
    at: u64,
    /// What could not be written, in the order of writing.
    unwritten: Vec<(u64, Vec<u8>)>,
    /// Why, until somebody was told.
    pub(super) failure: Option<Error>,
    /// Whether the file has bytes that its disk may lack.
    pub(super) is_unsynced: bool,
}

impl<D: WriteAt> Tail<D> {
    pub(super) fn new(file: D) -> Result<Self> {
        let file_len = file.len()?;
        Ok(Self {
            file,
            file_len,
            waiting: Vec::new(),
            at: file_len,
            unwritten: Vec::new(),
            failure: None,
            is_unsynced: false,
        })
    }

    /// The bytes of the file itself; zeros behind its end.
    pub(super) fn read_file(&self, buffer: &mut [u8], offset: u64) -> Result<()> {
        let there = usize::try_from(self.file_len.saturating_sub(offset)).unwrap_or(usize::MAX);
        let (front, back) = buffer.split_at_mut(there.min(buffer.len()));
        if !front.is_empty() {
            self.file.read_exact_at(front, offset)?;
        }
        back.fill(0);
        Ok(())
    }

    /// Puts what the file does not have yet over what was read at `offset`.
    pub(super) fn put_over(&self, buffer: &mut [u8], offset: u64) {
        put_over(buffer, offset, self.at, &self.waiting);
        for (at, bytes) in &self.unwritten {
            put_over(buffer, offset, *at, bytes);
        }
    }

    /// Writes bytes, or keeps them where the disk refuses.
    pub(super) fn write(&mut self, bytes: &[u8], offset: u64) -> Result<()> {
        if !self.unwritten.is_empty() {
            return self.keep(bytes, offset);
        }
        let end = self.at + self.waiting.len() as u64;
        if offset == end && self.waiting.len() + bytes.len() <= WAITING_BYTES_MAX {
            self.waiting.extend_from_slice(bytes);
            return Ok(());
        }
        if offset >= self.at && offset + bytes.len() as u64 <= end {
            put_over(&mut self.waiting, self.at, offset, bytes);
            return Ok(());
        }
        if self.flush().is_err() {
            return self.keep(bytes, offset);
        }
        if bytes.len() <= SMALL_BYTES_MAX {
            self.at = offset;
            self.waiting.extend_from_slice(bytes);
            return Ok(());
        }
        if let Err(error) = self.put(bytes, offset) {
            self.failure.get_or_insert(error);
            return self.keep(bytes, offset);
        }
        Ok(())
    }

    fn keep(&mut self, bytes: &[u8], offset: u64) -> Result<()> {
        let kept: usize = self.unwritten.iter().map(|(_, bytes)| bytes.len()).sum();
        if kept + bytes.len() > UNWRITTEN_BYTES_MAX {
            let why = self.failure.as_ref().map_or_else(String::new, |failure| format!(": {failure}"));
            return Err(Error::limit(format!("{kept} bytes wait that could not be written{why}")));
        }
        self.unwritten.push((offset, bytes.to_vec()));
        Ok(())
    }

    fn put(&mut self, bytes: &[u8], offset: u64) -> Result<()> {
        self.is_unsynced = true;
        let written = self.file.write_all_at(bytes, offset);
        // A write that failed may have made the file longer.
        self.file_len = match written {
            Ok(()) => self.file_len.max(offset + bytes.len() as u64),
            Err(_) => self.file.len().unwrap_or(self.file_len),
        };
        written
    }

    fn flush(&mut self) -> Result<()> {
        let waiting = std::mem::take(&mut self.waiting);
        if waiting.is_empty() {
            return Ok(());
        }
        if let Err(error) = self.put(&waiting, self.at) {
            self.failure.get_or_insert_with(|| Error::from(std::io::Error::other(error.to_string())));
            self.unwritten.push((self.at, waiting));
            return Err(error);
        }
        self.at += waiting.len() as u64;
        self.waiting = waiting;
        self.waiting.clear();
        Ok(())
    }

    /// Writes all that waits, and makes the file as long as it is to be.
    pub(super) fn write_out(&mut self, len: u64) -> Result<()> {
        let flushed = self.flush();
        if let Err(error) = flushed {
            self.failure = None;
            return Err(error);
        }
        while let Some((at, bytes)) = self.unwritten.first() {
            let (at, bytes) = (*at, bytes.clone());
            self.put(&bytes, at)?;
            self.unwritten.remove(0);
        }
        if self.file_len < len {
            self.file.set_len(len)?;
            self.file_len = len;
        }
        Ok(())
    }

    /// Forgets what was to be written from `len` on; the file is cut at `cut`, if it can be.
    pub(super) fn cut(&mut self, len: u64, cut: u64) {
        let narrow = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        self.waiting.truncate(narrow(len.saturating_sub(self.at)));
        for (at, bytes) in &mut self.unwritten {
            bytes.truncate(narrow(len.saturating_sub(*at)));
        }
        // What cannot be cut off does no harm there.
        if self.file_len > cut && self.file.set_len(cut).is_ok() {
            self.file_len = cut;
        }
    }

    /// Forgets all that was to be written, and what was written from `end` on.
    pub(super) fn give_up(&mut self, end: u64, cut: u64) {
        self.waiting.clear();
        self.unwritten.clear();
        self.failure = None;
        self.at = end;
        self.cut(end, cut);
    }

    /// Waits for the disk.
    pub(super) fn sync(&mut self) -> Result<()> {
        self.file.sync()?;
        self.is_unsynced = false;
        Ok(())
    }
}

/// Copies the part of `bytes`, which stand at `at`, that `buffer` at `offset` shows.
pub(super) fn put_over(buffer: &mut [u8], offset: u64, at: u64, bytes: &[u8]) {
    let (first, last) = (at.max(offset), (at + bytes.len() as u64).min(offset + buffer.len() as u64));
    if first < last {
        let narrow = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        let (into, from, len) = (narrow(first - offset), narrow(first - at), narrow(last - first));
        buffer[into..into + len].copy_from_slice(&bytes[from..from + len]);
    }
}
