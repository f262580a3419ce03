//! Blocks of metadata, read from a file: few reads, each byte counted, checksums verified.
//!
//! In: addresses that a file states. Out: the bytes there. Reads go through one window of the file, which grows
//! while neighbours are asked for and shrinks when they are not.
//! Invariant: blocks that are taken have no more bytes together than the file. No block of a sound file is read
//! twice, so links that lead in circles end, as an error.

use super::fields::size;
use super::lookup3::lookup3;
use crate::base::error::{Error, Result};
use crate::base::io::ReadAt;
use crate::base::limits::Limits;

const WINDOW_MIN: usize = 4 << 10;
const WINDOW_MAX: usize = 256 << 10;
const CHECKSUM_BYTES: usize = 4;

/// The metadata of a file.
pub(super) struct Blocks<'a> {
    source: &'a dyn ReadAt,
    /// Bytes of the file.
    length: u64,
    /// Where address 0 is: behind a user block.
    base: u64,
    /// How many bytes may still be taken.
    budget: u64,
    limits: Limits,
    window: Vec<u8>,
    window_at: u64,
    /// How many bytes of the window were asked for.
    used: usize,
    ahead: usize,
}

impl<'a> Blocks<'a> {
    pub(super) fn new(source: &'a dyn ReadAt, limits: &Limits) -> Result<Self> {
        let length = source.len()?;
        let limits = *limits;
        let window = Vec::new();
        let ahead = WINDOW_MIN;
        Ok(Self { source, length, base: 0, budget: length, limits, window, window_at: 0, used: 0, ahead })
    }

    /// Addresses count from here on.
    pub(super) fn set_base(&mut self, base: u64) {
        self.base = base;
    }

    pub(super) fn base(&self) -> u64 {
        self.base
    }

    /// How many bytes there are from address 0 on.
    pub(super) fn room(&self) -> u64 {
        self.length.saturating_sub(self.base)
    }

    /// Bytes at an address that are looked at before it is known how long their block is.
    pub(super) fn peek(&mut self, address: u64, bytes: usize) -> Result<&[u8]> {
        let at = self.base.saturating_add(address);
        let end = at.checked_add(bytes as u64).filter(|&end| end <= self.length);
        let Some(end) = end else {
            let length = self.length;
            return Err(Error::truncated(format!("{bytes} bytes at {at}: the file has {length}")));
        };
        if bytes as u64 > self.limits.chunk_bytes {
            let limit = self.limits.chunk_bytes;
            return Err(Error::limit(format!("{bytes} bytes at {at}: the limit is {limit}")));
        }
        if let Some(all) = self.source.as_slice() {
            let place = size(at, "address")?..size(end, "address")?;
            return all.get(place).ok_or_else(|| Error::truncated(format!("{bytes} bytes at {at}")));
        }
        if at < self.window_at || end > self.window_at + self.window.len() as u64 {
            self.fill(at, bytes)?;
        }
        self.used = self.used.saturating_add(bytes);
        let start = size(at - self.window_at, "address")?;
        self.window
            .get(start..start + bytes)
            .ok_or_else(|| Error::truncated(format!("{bytes} bytes at {at}")))
    }

    /// Reads a window that starts at `at` and has at least `bytes`, all of which the file has.
    fn fill(&mut self, at: u64, bytes: usize) -> Result<()> {
        let was_dense = self.used >= self.window.len() / 2;
        self.ahead = if was_dense { (2 * self.ahead).min(WINDOW_MAX) } else { WINDOW_MIN };
        let there = usize::try_from(self.length - at).unwrap_or(usize::MAX);
        self.window.clear();
        self.window.resize(self.ahead.min(there).max(bytes), 0);
        // Until it is filled, the window is one that holds nothing.
        self.window_at = u64::MAX - self.window.len() as u64;
        self.source.read_exact_at(&mut self.window, at)?;
        (self.window_at, self.used) = (at, 0);
        Ok(())
    }

    /// The bytes of a block, once.
    pub(super) fn take(&mut self, address: u64, bytes: usize) -> Result<&[u8]> {
        let Some(budget) = self.budget.checked_sub(bytes as u64) else {
            let length = self.length;
            return Err(Error::corrupt(format!(
                "{bytes} bytes at {address}: more metadata than the {length} bytes of the file"
            )));
        };
        self.budget = budget;
        self.peek(address, bytes)
    }

    /// The bytes of a block without the checksum at its end, which is verified.
    pub(super) fn summed(&mut self, address: u64, bytes: usize) -> Result<&[u8]> {
        let block = self.take(address, bytes)?;
        let Some((content, &stored)) = block.split_last_chunk::<CHECKSUM_BYTES>() else {
            return Err(Error::truncated(format!("{bytes} bytes at {address} have no room for a checksum")));
        };
        let (stored, found) = (u32::from_le_bytes(stored), lookup3(content));
        if stored != found {
            return Err(Error::corrupt(format!(
                "{bytes} bytes at {address}: checksum {found:08x}, stored is {stored:08x}"
            )));
        }
        Ok(content)
    }

    /// As [`Self::summed`], of a block that starts with `signature`, which is not returned.
    pub(super) fn signed(&mut self, signature: [u8; 4], address: u64, bytes: usize) -> Result<&[u8]> {
        let name = String::from_utf8_lossy(&signature).into_owned();
        let content = self.summed(address, bytes).map_err(|e| e.at(name.clone()))?;
        content.strip_prefix(&signature).ok_or_else(|| {
            Error::corrupt(format!("the block at {address} does not start with its signature")).at(name)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::error::ErrorKind;

    /// Bytes that must be read.
    struct Disk(Vec<u8>);

    impl ReadAt for Disk {
        fn len(&self) -> Result<u64> {
            Ok(self.0.len() as u64)
        }

        fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> Result<()> {
            (&self.0[..]).read_exact_at(buffer, offset)
        }
    }

    #[test]
    fn every_stretch_is_the_one_asked_for_however_it_is_read() {
        let bytes: Vec<u8> = (0..300_000_u32).map(|n| n.to_le_bytes()[usize::from(n % 2 == 0)]).collect();
        let disk = Disk(bytes.clone());
        let mut blocks = Blocks::new(&disk, &Limits::default()).unwrap();
        let mut at = 1_usize;
        for step in 0..2000_usize {
            let count = 1 + step * 7 % 700;
            at = if step % 50 == 0 { step * 911 % 290_000 } else { (at + count) % 290_000 };
            assert_eq!(blocks.peek(at as u64, count).unwrap(), &bytes[at..at + count]);
        }
        assert_eq!(blocks.peek(299_999, 1).unwrap(), &bytes[299_999..]);
        assert_eq!(blocks.peek(299_999, 2).unwrap_err().kind(), ErrorKind::Truncated);
        assert_eq!(blocks.peek(u64::MAX, 2).unwrap_err().kind(), ErrorKind::Truncated);
        assert_eq!(blocks.take(0, 300_000).unwrap(), &bytes[..]);
        assert_eq!(blocks.take(0, 1).unwrap_err().kind(), ErrorKind::Corrupt);
    }
}
