//! The files below a frame: one that grows at its end, and a directory of chunks.
//!
//! Source: `docs/formats/frame.md`, "Sparse frames".

use std::fs::{self, File, OpenOptions};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock};

use crate::base::error::{Error, Result};
use crate::base::io::ReadAt;

/// What is added waits in memory up to so many bytes, so that many small additions are one write.
const PENDING_BYTES_MAX: usize = 4 << 20;

/// The file of a sparse frame that holds all but the chunks.
const INDEX_NAME: &str = "chunks.b2frame";

/// Writes all of `bytes` at `offset`.
pub(super) fn write_all_at(file: &File, bytes: &[u8], offset: u64) -> std::io::Result<()> {
    #[cfg(test)]
    super::faults::check()?;
    #[cfg(unix)]
    {
        std::os::unix::fs::FileExt::write_all_at(file, bytes, offset)
    }
    #[cfg(windows)]
    {
        let mut done = 0;
        while done < bytes.len() {
            let left = bytes.get(done..).unwrap_or_default();
            done += std::os::windows::fs::FileExt::seek_write(file, left, offset + done as u64)?;
        }
        Ok(())
    }
}

/// Makes durable what is in a file.
pub(super) fn sync(file: &File) -> std::io::Result<()> {
    #[cfg(test)]
    super::faults::check()?;
    file.sync_data()
}

/// Writes a file of these parts beside `target`, which then takes its place in one step; returns it open.
pub(super) fn replace_file(target: &Path, parts: &[&[u8]], durable: bool) -> std::io::Result<File> {
    // There is one writer at a time: what a killed one has left under this name is written over.
    let mut temporary = target.as_os_str().to_owned();
    temporary.push(".tmp");
    let temporary = PathBuf::from(temporary);
    let write = || {
        // One that a killed writer has left may be anything, and shortening a file is slow.
        match fs::remove_file(&temporary) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let file = OpenOptions::new().read(true).write(true).create_new(true).open(&temporary)?;
        write_all_at(&file, &parts.concat(), 0)?;
        if durable {
            sync(&file)?;
        }
        #[cfg(test)]
        super::faults::check()?;
        fs::rename(&temporary, target)?;
        Ok(file)
    };
    write().inspect_err(|_| {
        // Nothing can be done about a temporary file that cannot be removed, and nothing is lost by it.
        let _ = fs::remove_file(&temporary);
    })
}

/// A file that bytes are added to at the end. They can be read from then on, also while they wait in memory.
pub(super) struct GrowingFile {
    file: File,
    pending: RwLock<Pending>,
    /// Bytes that are in the file itself; all before is read without looking at what is pending.
    written: AtomicU64,
}

/// What is added but not written.
struct Pending {
    at: u64,
    bytes: Vec<u8>,
}

impl GrowingFile {
    /// A file whose end, for our purposes, is at `end`.
    pub(super) fn new(file: File, end: u64) -> Self {
        let pending = RwLock::new(Pending { at: end, bytes: Vec::new() });
        Self { file, pending, written: AtomicU64::new(end) }
    }

    /// The file itself.
    pub(super) fn file(&self) -> &File {
        &self.file
    }

    /// Where the next bytes will be.
    pub(super) fn end(&self) -> u64 {
        let pending = self.pending.read().unwrap_or_else(PoisonError::into_inner);
        pending.at + pending.bytes.len() as u64
    }

    /// Adds these parts behind each other; returns where.
    pub(super) fn push(&self, parts: &[&[u8]]) -> Result<u64> {
        let total: usize = parts.iter().map(|part| <[u8]>::len(part)).sum();
        let mut pending = self.pending.write().unwrap_or_else(PoisonError::into_inner);
        if pending.bytes.len() + total > PENDING_BYTES_MAX {
            self.write_out(&mut pending)?;
        }
        let at = pending.at + pending.bytes.len() as u64;
        if total <= PENDING_BYTES_MAX {
            parts.iter().for_each(|part| pending.bytes.extend_from_slice(part));
            return Ok(at);
        }
        let mut end = at;
        for part in parts {
            write_all_at(&self.file, part, end)?;
            end += <[u8]>::len(part) as u64;
        }
        pending.at = end;
        self.written.store(end, Ordering::Release);
        Ok(at)
    }

    /// Writes all that waits, and sets the end to `end`, which is no less: what is between is for others to write.
    pub(super) fn reserve(&self, end: u64) -> Result<()> {
        let mut pending = self.pending.write().unwrap_or_else(PoisonError::into_inner);
        self.write_out(&mut pending)?;
        pending.at = end;
        self.written.store(end, Ordering::Release);
        Ok(())
    }

    /// Writes all that waits.
    pub(super) fn flush(&self) -> Result<()> {
        self.write_out(&mut self.pending.write().unwrap_or_else(PoisonError::into_inner))
    }

    fn write_out(&self, pending: &mut Pending) -> Result<()> {
        if !pending.bytes.is_empty() {
            write_all_at(&self.file, &pending.bytes, pending.at)?;
            pending.at += pending.bytes.len() as u64;
            pending.bytes.clear();
            self.written.store(pending.at, Ordering::Release);
        }
        Ok(())
    }

    /// Forgets all from `end` on, in memory and in the file.
    pub(super) fn cut(&self, end: u64) -> Result<()> {
        let mut pending = self.pending.write().unwrap_or_else(PoisonError::into_inner);
        pending.bytes.clear();
        pending.at = end;
        self.written.store(end, Ordering::Release);
        if self.file.metadata()?.len() > end {
            #[cfg(test)]
            super::faults::check()?;
            self.file.set_len(end)?;
        }
        Ok(())
    }
}

impl ReadAt for GrowingFile {
    fn len(&self) -> Result<u64> {
        Ok(self.end())
    }

    fn will_read(&self, range: Range<u64>) {
        let written = self.written.load(Ordering::Acquire);
        self.file.will_read(range.start..range.end.min(written));
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> Result<()> {
        let is_written = |end: u64| end <= self.written.load(Ordering::Acquire);
        if offset.checked_add(buffer.len() as u64).is_some_and(is_written) {
            return self.file.read_exact_at(buffer, offset);
        }
        let pending = self.pending.read().unwrap_or_else(PoisonError::into_inner);
        let of_file = usize::try_from(pending.at.saturating_sub(offset)).unwrap_or(usize::MAX);
        let (front, back) = buffer.split_at_mut(of_file.min(buffer.len()));
        if !front.is_empty() {
            self.file.read_exact_at(front, offset)?;
        }
        pending.bytes.as_slice().read_exact_at(back, offset.saturating_sub(pending.at))
    }
}

/// The directory of a sparse frame.
pub(super) struct Folder {
    path: RwLock<PathBuf>,
}

impl Folder {
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path: RwLock::new(path) }
    }

    pub(super) fn path(&self) -> PathBuf {
        self.path.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The directory has got another name.
    pub(super) fn set_path(&self, path: PathBuf) {
        *self.path.write().unwrap_or_else(PoisonError::into_inner) = path;
    }

    /// The file of the index.
    pub(super) fn index(&self) -> PathBuf {
        self.path().join(INDEX_NAME)
    }

    /// The file of the chunk with this number.
    pub(super) fn chunk(&self, number: u64) -> PathBuf {
        self.path().join(format!("{number:08X}.chunk"))
    }

    /// Opens a chunk's file for reading. A link, or what else is no file of its own, is not followed.
    pub(super) fn open_chunk(&self, number: u64) -> Result<File> {
        let path = self.chunk(number);
        let place = |e: std::io::Error| Error::from(e).at(path.display().to_string());
        if !fs::symlink_metadata(&path).map_err(place)?.is_file() {
            return Err(Error::corrupt("not a file").at(path.display().to_string()));
        }
        File::open(&path).map_err(place)
    }

    /// Starts the file of a new chunk; `None` if there is one of this number.
    pub(super) fn create_chunk(&self, number: u64) -> Result<Option<File>> {
        let path = self.chunk(number);
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(file) => Ok(Some(file)),
            Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => Ok(None),
            Err(e) => Err(Error::from(e).at(path.display().to_string())),
        }
    }

    /// The numbers of all files of chunks.
    pub(super) fn numbers(&self) -> Result<Vec<u64>> {
        let mut numbers = Vec::new();
        for entry in fs::read_dir(self.path())? {
            let name = entry?.file_name();
            let digits = name.to_str().and_then(|name| name.strip_suffix(".chunk"));
            let number = digits.and_then(|digits| u64::from_str_radix(digits, 16).ok());
            // Only what is named exactly as we name it is ours to count, and to remove.
            numbers.extend(number.filter(|number| digits == Some(&format!("{number:08X}"))));
        }
        Ok(numbers)
    }

    /// The temporary files from which the index is renamed. Who holds the lock and writes none has no use for them.
    pub(super) fn half_indexes(&self) -> Result<Vec<PathBuf>> {
        let mut found = Vec::new();
        for entry in fs::read_dir(self.path())? {
            let entry = entry?;
            let name = entry.file_name();
            let name = name.to_str().and_then(|name| name.strip_suffix(".tmp"));
            // Former versions had the number of the process in the name.
            let process = name.and_then(|name| name.strip_prefix("chunks."));
            if name == Some(INDEX_NAME) || process.is_some_and(|process| process.parse::<u32>().is_ok()) {
                found.push(entry.path());
            }
        }
        Ok(found)
    }
}

/// Makes what a directory lists durable, where the system can.
pub(super) fn sync_folder(path: &Path) -> Result<()> {
    if cfg!(unix) {
        #[cfg(test)]
        super::faults::check()?;
        File::open(path)?.sync_all()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_added_can_be_read_before_and_after_it_is_written() {
        let path = std::env::temp_dir().join(format!("coquina-growing-{}", std::process::id()));
        fs::write(&path, b"0123456789rubbish").unwrap();
        let file = OpenOptions::new().read(true).write(true).open(&path).unwrap();
        let growing = GrowingFile::new(file, 10);
        assert_eq!(growing.push(&[b"ab", b"cd"]).unwrap(), 10);
        let mut bytes = [0; 6];
        let read = |bytes: &mut [u8; 6], at| growing.read_exact_at(bytes, at).map(|()| *bytes);
        assert_eq!(&read(&mut bytes, 8).unwrap(), b"89abcd");
        assert!(read(&mut bytes, 9).is_err());
        growing.flush().unwrap();
        assert_eq!(growing.push(&[b"ef"]).unwrap(), 14);
        assert_eq!(&read(&mut bytes, 10).unwrap(), b"abcdef");
        let big = vec![7; PENDING_BYTES_MAX + 1];
        assert_eq!(growing.push(&[&big]).unwrap(), 16);
        assert_eq!(growing.len().unwrap(), 17 + PENDING_BYTES_MAX as u64);
        growing.cut(12).unwrap();
        assert_eq!((growing.end(), fs::read(&path).unwrap()), (12, b"0123456789ab".to_vec()));
        fs::remove_file(&path).unwrap();
    }
}
