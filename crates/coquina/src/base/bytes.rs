//! A cursor over untrusted bytes: every read is checked, and an error names the field.

use super::error::{Error, Result};

/// Reads fields one after another from the front of a byte slice.
#[derive(Clone, Debug)]
pub(crate) struct ByteReader<'a> {
    left: &'a [u8],
}

impl<'a> ByteReader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { left: bytes }
    }

    pub(crate) fn array<const N: usize>(&mut self, field: &str) -> Result<[u8; N]> {
        let Some((head, rest)) = self.left.split_first_chunk() else {
            let left = self.left.len();
            return Err(Error::truncated(format!("{field}: needs {N} bytes, {left} left")));
        };
        self.left = rest;
        Ok(*head)
    }

    pub(crate) fn u8(&mut self, field: &str) -> Result<u8> {
        Ok(u8::from_le_bytes(self.array(field)?))
    }

    pub(crate) fn u32_le(&mut self, field: &str) -> Result<u32> {
        Ok(u32::from_le_bytes(self.array(field)?))
    }

    pub(crate) fn i32_le(&mut self, field: &str) -> Result<i32> {
        Ok(i32::from_le_bytes(self.array(field)?))
    }

    pub(crate) fn i64_le(&mut self, field: &str) -> Result<i64> {
        Ok(i64::from_le_bytes(self.array(field)?))
    }

    /// A signed 32-bit size that must not be negative.
    pub(crate) fn size_le(&mut self, field: &str) -> Result<usize> {
        let size = self.i32_le(field)?;
        usize::try_from(size).map_err(|_| Error::corrupt(format!("{field}: {size} is not a size")))
    }
}
