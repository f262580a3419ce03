//! A cursor over the big-endian, marked fields of a frame's header and trailer.
//!
//! Source: `docs/formats/frame.md`, "Header".

use crate::base::error::{Error, Result};

/// Reads fields one after another; every read is checked, and an error names the field.
pub(crate) struct Fields<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Fields<'a> {
    pub(crate) fn new(bytes: &'a [u8], at: usize) -> Self {
        Self { bytes, at }
    }

    /// The position of the next field.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    pub(crate) fn array<const N: usize>(&mut self, field: &str) -> Result<[u8; N]> {
        let left = self.bytes.get(self.at..).unwrap_or_default();
        let Some(bytes) = left.first_chunk() else {
            return Err(Error::truncated(format!("{field}: needs {N} bytes, {} left", left.len())));
        };
        self.at += N;
        Ok(*bytes)
    }

    pub(crate) fn u8(&mut self, field: &str) -> Result<u8> {
        Ok(u8::from_be_bytes(self.array(field)?))
    }

    pub(crate) fn u16(&mut self, field: &str) -> Result<u16> {
        Ok(u16::from_be_bytes(self.array(field)?))
    }

    pub(crate) fn i32(&mut self, field: &str) -> Result<i32> {
        Ok(i32::from_be_bytes(self.array(field)?))
    }

    pub(crate) fn i64(&mut self, field: &str) -> Result<i64> {
        Ok(i64::from_be_bytes(self.array(field)?))
    }

    /// The byte that says what follows.
    pub(crate) fn marker(&mut self, marker: u8, field: &str) -> Result<()> {
        let found = self.u8(field)?;
        if found == marker {
            return Ok(());
        }
        Err(Error::corrupt(format!("{field}: marker {found:#04x}, not {marker:#04x}")))
    }

    /// A signed 32-bit size that must not be negative.
    pub(crate) fn size(&mut self, field: &str) -> Result<usize> {
        let size = self.i32(field)?;
        usize::try_from(size).map_err(|_| Error::corrupt(format!("{field}: {size} is not a size")))
    }

    /// A signed 64-bit size that must not be negative.
    pub(crate) fn long_size(&mut self, field: &str) -> Result<u64> {
        let size = self.i64(field)?;
        u64::try_from(size).map_err(|_| Error::corrupt(format!("{field}: {size} is not a size")))
    }

    /// A marker that holds the length, and text.
    pub(crate) fn short_string(&mut self, field: &str) -> Result<String> {
        let marker = self.u8(field)?;
        if marker & 0xe0 != 0xa0 {
            return Err(Error::corrupt(format!("{field}: marker {marker:#04x} is not a short string's")));
        }
        let bytes = usize::from(marker & 0x1f);
        let text = self.bytes.get(self.at..).and_then(|left| left.get(..bytes));
        let text = text.ok_or_else(|| Error::truncated(format!("{field}: needs {bytes} bytes")))?;
        self.at += bytes;
        let text = std::str::from_utf8(text).map_err(|_| Error::corrupt(format!("{field}: not UTF-8")))?;
        Ok(text.to_owned())
    }
}
