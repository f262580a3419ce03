//! Positioned reading, and files that replace another only when they are complete.

use std::fs::{self, File, OpenOptions};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::error::{Error, Result};
use super::held::Held;

/// Bytes that can be read at any position, by several threads at once.
pub trait ReadAt: Send + Sync {
    /// How many bytes there are.
    ///
    /// # Errors
    /// What the operating system says.
    fn len(&self) -> Result<u64>;

    /// Fills `buffer` with the bytes from `offset` on.
    ///
    /// # Errors
    /// [`super::error::ErrorKind::Truncated`] if there are not as many, or what the operating system says.
    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> Result<()>;

    /// Whether there are none.
    ///
    /// # Errors
    /// What the operating system says.
    fn is_empty(&self) -> Result<bool> {
        Ok(self.len()? == 0)
    }

    /// The bytes themselves, where they are in memory: who has them need not copy.
    fn as_slice(&self) -> Option<&[u8]> {
        None
    }

    /// Tells the system that these bytes are read soon, so that it fetches them while others are worked on. A hint.
    fn will_read(&self, _range: Range<u64>) {}

    /// Whether each read takes long, however few bytes it is for: then what will be read is better held before.
    fn is_far(&self) -> bool {
        false
    }

    /// Has these bytes fetched in one go, where they are far away; they are at hand as long as the result lives.
    /// Ranges that end behind the last byte end there.
    ///
    /// # Errors
    /// What the source says.
    fn hold(&self, _ranges: &[Range<u64>]) -> Result<Held> {
        Ok(Held::default())
    }
}

impl<T: ReadAt + ?Sized> ReadAt for Arc<T> {
    fn len(&self) -> Result<u64> {
        (**self).len()
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> Result<()> {
        (**self).read_exact_at(buffer, offset)
    }

    fn as_slice(&self) -> Option<&[u8]> {
        (**self).as_slice()
    }

    fn will_read(&self, range: Range<u64>) {
        (**self).will_read(range);
    }

    fn is_far(&self) -> bool {
        (**self).is_far()
    }

    fn hold(&self, ranges: &[Range<u64>]) -> Result<Held> {
        (**self).hold(ranges)
    }
}

/// Bytes that can be written at any position too.
pub trait WriteAt: ReadAt {
    /// Writes all of `bytes` at `offset`; what lies between the end and `offset` is filled with zeros.
    ///
    /// # Errors
    /// What the operating system says; some of the bytes may be written then.
    fn write_all_at(&self, bytes: &[u8], offset: u64) -> Result<()>;

    /// Cuts the end off, or puts zeros behind it.
    ///
    /// # Errors
    /// What the operating system says.
    fn set_len(&self, len: u64) -> Result<()>;

    /// Waits until the disk has all that was written.
    ///
    /// # Errors
    /// What the operating system says: nobody knows then what the disk has.
    fn sync(&self) -> Result<()>;
}

impl<T: WriteAt + ?Sized> WriteAt for Arc<T> {
    fn write_all_at(&self, bytes: &[u8], offset: u64) -> Result<()> {
        (**self).write_all_at(bytes, offset)
    }

    fn set_len(&self, len: u64) -> Result<()> {
        (**self).set_len(len)
    }

    fn sync(&self) -> Result<()> {
        (**self).sync()
    }
}

impl WriteAt for File {
    #[cfg(unix)]
    fn write_all_at(&self, bytes: &[u8], offset: u64) -> Result<()> {
        Ok(std::os::unix::fs::FileExt::write_all_at(self, bytes, offset)?)
    }

    #[cfg(windows)]
    fn write_all_at(&self, bytes: &[u8], offset: u64) -> Result<()> {
        let mut done = 0;
        while done < bytes.len() {
            let left = bytes.get(done..).unwrap_or_default();
            done += std::os::windows::fs::FileExt::seek_write(self, left, offset + done as u64)?;
        }
        Ok(())
    }

    fn set_len(&self, len: u64) -> Result<()> {
        Ok(Self::set_len(self, len)?)
    }

    fn sync(&self) -> Result<()> {
        Ok(self.sync_data()?)
    }
}

/// The error of a read for which there are not enough bytes.
pub(crate) fn ends_early(buffer: &[u8], offset: u64) -> Error {
    Error::truncated(format!("{} bytes at {offset}: the file ends before", buffer.len()))
}

impl ReadAt for File {
    fn len(&self) -> Result<u64> {
        Ok(self.metadata()?.len())
    }

    #[cfg(unix)]
    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> Result<()> {
        match std::os::unix::fs::FileExt::read_exact_at(self, buffer, offset) {
            Err(e) if e.kind() == std::io::ErrorKind::UnexpectedEof => Err(ends_early(buffer, offset)),
            done => Ok(done?),
        }
    }

    #[cfg(target_os = "linux")]
    fn will_read(&self, range: Range<u64>) {
        use rustix::fs::{Advice, fadvise};
        let bytes = std::num::NonZeroU64::new(range.end.saturating_sub(range.start));
        if bytes.is_some() {
            let _ignored = fadvise(self, range.start, bytes, Advice::WillNeed);
        }
    }

    #[cfg(windows)]
    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> Result<()> {
        let mut done = 0;
        while done < buffer.len() {
            let at = offset + done as u64;
            match std::os::windows::fs::FileExt::seek_read(self, &mut buffer[done..], at)? {
                0 => return Err(ends_early(buffer, offset)),
                n => done += n,
            }
        }
        Ok(())
    }
}

impl ReadAt for &[u8] {
    fn len(&self) -> Result<u64> {
        Ok((**self).len() as u64)
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> Result<()> {
        let bytes = usize::try_from(offset).ok().and_then(|at| self.get(at..)?.get(..buffer.len()));
        buffer.copy_from_slice(bytes.ok_or_else(|| ends_early(buffer, offset))?);
        Ok(())
    }

    fn as_slice(&self) -> Option<&[u8]> {
        Some(self)
    }
}

impl ReadAt for Vec<u8> {
    fn len(&self) -> Result<u64> {
        ReadAt::len(&&self[..])
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> Result<()> {
        (&self[..]).read_exact_at(buffer, offset)
    }

    fn as_slice(&self) -> Option<&[u8]> {
        Some(self)
    }
}

/// A file that is written under a temporary name beside its target and takes its place in one step.
///
/// Until [`NewFile::commit`] the target is untouched: a kill or a full disk leaves what was there before.
/// Dropped without a commit, the temporary file is removed.
pub struct NewFile {
    file: File,
    temporary: PathBuf,
    target: PathBuf,
    committed: bool,
    /// The process that writes it. One that was forked from it must leave it alone.
    process: u32,
}

/// What to do if the target exists already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// Fail, leaving it as it is.
    Refuse,
    /// Replace it.
    Replace,
}

impl NewFile {
    /// Starts a file that is to become `target`.
    ///
    /// # Errors
    /// `AlreadyExists` if it exists and must not be replaced, or what the operating system says.
    pub fn create(target: &Path, existing: Existing) -> Result<Self> {
        let place = |e: std::io::Error| Error::from(e).at(target.display().to_string());
        if existing == Existing::Refuse && target.try_exists().map_err(place)? {
            let sentence = "it exists already; overwrite must be set to replace it";
            return Err(place(std::io::Error::new(std::io::ErrorKind::AlreadyExists, sentence)));
        }
        // Replacing must not change where a link points, nor turn it into a file.
        let target = fs::canonicalize(target).unwrap_or_else(|_| target.to_path_buf());
        let name = target.file_name().ok_or_else(|| place(std::io::ErrorKind::InvalidInput.into()))?;
        for attempt in 0..100_u32 {
            let mut hidden = std::ffi::OsString::from(".");
            hidden.push(name);
            hidden.push(format!(".{}-{attempt}.tmp", std::process::id()));
            let temporary = target.with_file_name(hidden);
            match OpenOptions::new().read(true).write(true).create_new(true).open(&temporary) {
                Ok(file) => {
                    let process = std::process::id();
                    return Ok(Self { file, temporary, target, committed: false, process });
                }
                Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(e) => return Err(place(e)),
            }
        }
        Err(Error::invalid("no free temporary name beside it").at(target.display().to_string()))
    }

    /// The open temporary file.
    pub fn file(&mut self) -> &mut File {
        &mut self.file
    }

    /// Gives the file its name, with the permissions of a file that it replaces.
    ///
    /// Where there was a file before, the content is made durable first, so that not even a power cut can take
    /// the old one without leaving the new one. A file that replaces nothing is as durable as any other new file.
    ///
    /// # Errors
    /// What the operating system says; the target is then as before.
    pub fn commit(mut self) -> Result<()> {
        let place = |e: std::io::Error| Error::from(e).at(self.target.display().to_string());
        if let Ok(old) = fs::metadata(&self.target) {
            self.file.set_permissions(old.permissions()).map_err(place)?;
            self.file.sync_all().map_err(place)?;
        }
        fs::rename(&self.temporary, &self.target).map_err(place)?;
        self.committed = true;
        Ok(())
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if !self.committed && self.process == std::process::id() {
            // Nothing can be done about a temporary file that cannot be removed, and nothing is lost by it.
            let _ = fs::remove_file(&self.temporary);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn a_new_file_appears_only_on_commit() {
        let folder = std::env::temp_dir().join(format!("coquina-io-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let target = folder.join("x");
        fs::write(&target, b"old").unwrap();
        assert!(NewFile::create(&target, Existing::Refuse).is_err());

        let mut dropped = NewFile::create(&target, Existing::Replace).unwrap();
        dropped.file().write_all(b"half").unwrap();
        drop(dropped);
        assert_eq!(fs::read(&target).unwrap(), b"old");

        let mut new = NewFile::create(&target, Existing::Replace).unwrap();
        new.file().write_all(b"new").unwrap();
        assert_eq!(fs::read(&target).unwrap(), b"old");
        new.commit().unwrap();
        assert_eq!(fs::read(&target).unwrap(), b"new");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn slices_read_at_positions_and_name_a_short_end() {
        let bytes: &[u8] = b"abcdef";
        let mut two = [0; 2];
        bytes.read_exact_at(&mut two, 4).unwrap();
        assert_eq!(&two, b"ef");
        assert!(bytes.read_exact_at(&mut two, 5).is_err());
        assert!(bytes.read_exact_at(&mut two, u64::MAX).is_err());
        let shared: Arc<dyn ReadAt> = Arc::new(Arc::new(bytes.to_vec()));
        assert_eq!((ReadAt::as_slice(&shared), ReadAt::len(&shared).unwrap()), (Some(bytes), 6));
    }
}
