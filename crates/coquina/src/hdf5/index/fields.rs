//! A cursor over the fields of HDF5's metadata: little-endian numbers whose widths the file itself chooses.
//!
//! Source: HDF5 File Format Specification 3.0; "size of offsets" and "size of lengths" of the superblock.

use crate::base::error::{Error, Result};

/// How many bytes addresses and lengths have in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Widths {
    /// Of an address: 2, 4 or 8.
    pub(super) address: usize,
    /// Of a length: 2, 4 or 8.
    pub(super) length: usize,
}

/// Reads fields one after another; an error names the field.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fields<'a> {
    left: &'a [u8],
}

impl<'a> Fields<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { left: bytes }
    }

    /// What has not been read yet.
    pub(super) fn left(&self) -> &'a [u8] {
        self.left
    }

    pub(super) fn bytes(&mut self, count: usize, field: &str) -> Result<&'a [u8]> {
        let Some((head, rest)) = self.left.split_at_checked(count) else {
            let left = self.left.len();
            return Err(Error::truncated(format!("{field}: needs {count} bytes, {left} left")));
        };
        self.left = rest;
        Ok(head)
    }

    pub(super) fn u8(&mut self, field: &str) -> Result<u8> {
        Ok(self.bytes(1, field)?[0])
    }

    pub(super) fn u16(&mut self, field: &str) -> Result<u16> {
        let bytes = self.bytes(2, field)?;
        Ok(u16::from_le_bytes([bytes[0], bytes[1]]))
    }

    pub(super) fn u32(&mut self, field: &str) -> Result<u32> {
        let bytes = self.bytes(4, field)?;
        Ok(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }

    /// A number of `width` bytes, at most 8.
    pub(super) fn uint(&mut self, width: usize, field: &str) -> Result<u64> {
        Ok(uint(self.bytes(width, field)?))
    }

    /// An address; `None` where it is the one that means "nowhere".
    pub(super) fn address(&mut self, widths: Widths, field: &str) -> Result<Option<u64>> {
        Ok(address(self.bytes(widths.address, field)?))
    }

    /// A number of one byte that must be `wanted`, else it is a version that is not known here.
    pub(super) fn version(&mut self, wanted: u8, field: &str) -> Result<()> {
        match self.u8(field)? {
            found if found == wanted => Ok(()),
            found => Err(Error::unsupported(format!("{field}: version {found}, known is {wanted}"))),
        }
    }
}

/// A little-endian number; of more than 8 bytes the low ones.
pub(super) fn uint(bytes: &[u8]) -> u64 {
    match <[u8; 8]>::try_from(bytes) {
        Ok(bytes) => u64::from_le_bytes(bytes),
        Err(_) => bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte)),
    }
}

/// An address; `None` where all bits are set.
pub(super) fn address(bytes: &[u8]) -> Option<u64> {
    let number = uint(bytes);
    let nowhere = u64::MAX >> (64 - 8 * bytes.len().clamp(1, 8));
    (number != nowhere).then_some(number)
}

/// A stored number as a size in memory.
pub(super) fn size(number: u64, field: &str) -> Result<usize> {
    usize::try_from(number).map_err(|_| Error::limit(format!("{field}: {number} bytes do not fit in memory")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_every_width_are_little_endian() {
        let bytes = [1, 2, 3, 4, 5, 6, 7, 8];
        assert_eq!(uint(&bytes[..1]), 1);
        assert_eq!(uint(&bytes[..3]), 0x03_0201);
        assert_eq!(uint(&bytes), 0x0807_0605_0403_0201);
        assert_eq!(address(&[0xff; 4]), None);
        assert_eq!(address(&[0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]), Some(0xffff_ffff));
        let error = Fields::new(&bytes).bytes(9, "key").unwrap_err();
        assert_eq!(error.to_string(), "key: needs 9 bytes, 8 left");
    }
}
