//! A file for what does not fit into memory: pairs of keys and rows, or any bytes.
//!
//! It has no name where the system allows that, so nothing is left of it, whatever happens.

use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use coquina_kernels::items::{bytes_of, items};

use crate::base::error::{Error, Result};
use crate::base::io::ReadAt;
use crate::base::scratch::with_scratch;

/// Bytes of a pair.
pub(super) const PAIR_BYTES: usize = size_of::<[u64; 2]>();

/// Pairs that stand one behind another in the file.
#[derive(Clone, Copy)]
pub(super) struct Extent {
    at: u64,
    pub(super) len: usize,
}

/// Bytes that stand one behind another in the file.
#[derive(Clone, Copy)]
pub(super) struct BytesExtent {
    at: u64,
    pub(super) len: usize,
}

/// The file.
pub(super) struct Spill {
    file: File,
    path: PathBuf,
    bytes: u64,
}

impl Spill {
    /// A new file in a folder.
    pub(super) fn create(folder: &Path) -> Result<Self> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        loop {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let path = folder.join(format!(".coquina-sort-{}-{number}.tmp", std::process::id()));
            match OpenOptions::new().read(true).write(true).create_new(true).open(&path) {
                Ok(file) => {
                    let spill = Self { file, path, bytes: 0 };
                    if cfg!(unix) {
                        spill.remove();
                    }
                    return Ok(spill);
                }
                Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(e) => return Err(Error::from(e).at(path.display().to_string())),
            }
        }
    }

    fn remove(&self) {
        // What cannot be removed stays as a file of which nobody knows; nothing is lost by it.
        let _ = std::fs::remove_file(&self.path);
    }

    /// Where in the world an error happened.
    fn place(&self, error: Error) -> Error {
        error.at(self.path.display().to_string())
    }

    /// Writes pairs behind all others.
    pub(super) fn append(&mut self, pairs: &[[u64; 2]]) -> Result<Extent> {
        let BytesExtent { at, .. } = self.append_bytes(bytes_of(pairs))?;
        Ok(Extent { at, len: pairs.len() })
    }

    /// Writes bytes behind all others.
    pub(super) fn append_bytes(&mut self, bytes: &[u8]) -> Result<BytesExtent> {
        let at = self.bytes;
        let written = self.file.seek(SeekFrom::Start(at)).and_then(|_| self.file.write_all(bytes));
        written.map_err(|e| self.place(e.into()))?;
        self.bytes += bytes.len() as u64;
        Ok(BytesExtent { at, len: bytes.len() })
    }

    /// The pairs of an extent.
    pub(super) fn read(&self, extent: Extent) -> Result<Vec<[u64; 2]>> {
        let len = extent.len * PAIR_BYTES;
        with_scratch(len, |room| {
            self.read_bytes(BytesExtent { at: extent.at, len }, room)?;
            Ok(items(room).to_vec())
        })
    }

    /// Fills `out` with the bytes of an extent, of which there are as many.
    pub(super) fn read_bytes(&self, extent: BytesExtent, out: &mut [u8]) -> Result<()> {
        self.file.read_exact_at(out, extent.at).map_err(|e| self.place(e))
    }
}

impl Drop for Spill {
    fn drop(&mut self) {
        if !cfg!(unix) {
            self.remove();
        }
    }
}
