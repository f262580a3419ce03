//! Disks in memory that stop after so many bytes, as a kill stops a program.

use std::sync::{Arc, Mutex};

use super::Gate;
use crate::base::error::{Error, Result};
use crate::base::io::{ReadAt, WriteAt};

/// How many bytes may still be written to all disks that share it; then nothing more is.
#[derive(Clone)]
pub(super) struct Budget(pub(super) Arc<Mutex<u64>>);

impl Budget {
    pub(super) fn of(bytes: u64) -> Self {
        Self(Arc::new(Mutex::new(bytes)))
    }

    /// How much of `wanted` may be written.
    fn take(&self, wanted: usize) -> usize {
        let mut left = self.0.lock().unwrap();
        let taken = usize::try_from(*left).unwrap().min(wanted);
        *left -= taken as u64;
        taken
    }
}

/// A file in memory.
#[derive(Clone)]
pub(super) struct Disk {
    pub(super) bytes: Arc<Mutex<Vec<u8>>>,
    budget: Budget,
}

impl Disk {
    pub(super) fn new(bytes: Vec<u8>, budget: &Budget) -> Self {
        Self { bytes: Arc::new(Mutex::new(bytes)), budget: budget.clone() }
    }

    /// The same bytes on a disk that does not stop.
    pub(super) fn revived(&self) -> Self {
        Self::new(self.bytes.lock().unwrap().clone(), &Budget::of(u64::MAX))
    }
}

fn stopped() -> Error {
    std::io::Error::other("the program was killed").into()
}

impl ReadAt for Disk {
    fn len(&self) -> Result<u64> {
        Ok(self.bytes.lock().unwrap().len() as u64)
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> Result<()> {
        self.bytes.lock().unwrap().read_exact_at(buffer, offset)
    }
}

impl WriteAt for Disk {
    fn write_all_at(&self, bytes: &[u8], offset: u64) -> Result<()> {
        let taken = self.budget.take(bytes.len());
        let mut content = self.bytes.lock().unwrap();
        let at = usize::try_from(offset).unwrap();
        if taken > 0 && content.len() < at + taken {
            content.resize(at + taken, 0);
        }
        if taken > 0 {
            content[at..at + taken].copy_from_slice(&bytes[..taken]);
        }
        if taken == bytes.len() { Ok(()) } else { Err(stopped()) }
    }

    fn set_len(&self, len: u64) -> Result<()> {
        if self.budget.take(1) == 0 {
            return Err(stopped());
        }
        self.bytes.lock().unwrap().resize(usize::try_from(len).unwrap(), 0);
        Ok(())
    }

    fn sync(&self) -> Result<()> {
        Ok(())
    }
}

/// A gate that is shut by readers, or not.
pub(super) struct Readers {
    pub(super) are_there: bool,
}

impl Gate for Readers {
    fn close(&mut self) -> Result<bool> {
        Ok(!self.are_there)
    }

    fn open(&mut self) -> Result<()> {
        Ok(())
    }
}
