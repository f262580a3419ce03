//! The sum that ties header, index and trailer of a frame together.
//!
//! A writer that does not know it (C-Blosc2) leaves zeros in its place whenever it changes the frame.
//! Source: `docs/formats/frame.md`, "Fingerprint".

use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use crate::base::error::{Error, Result};

/// Bytes of the field: its type, and room for sixteen.
pub(crate) const FINGERPRINT_BYTES: usize = 17;
/// Pages of which each has a sum.
pub(crate) const PAGE_BYTES: usize = 2 << 10;
const TYPE_NONE: u8 = 0;
/// Eight bytes of XXH3; eight are left over.
const TYPE_BYTES: u8 = 2;
/// The same, of the sums of pages.
const TYPE_PAGES: u8 = 3;

/// What the field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fingerprint {
    /// [`sum`] of all bytes.
    Bytes(u64),
    /// [`sum_of_pages`]: a few changed bytes do not ask for a sum of all.
    Pages(u64),
}

impl Fingerprint {
    /// The sum, of whichever kind.
    pub(crate) fn sum(self) -> u64 {
        match self {
            Self::Bytes(sum) | Self::Pages(sum) => sum,
        }
    }

    /// The field that holds it.
    pub(crate) fn field(self) -> [u8; FINGERPRINT_BYTES] {
        let mut field = [0; FINGERPRINT_BYTES];
        field[0] = match self {
            Self::Bytes(_) => TYPE_BYTES,
            Self::Pages(_) => TYPE_PAGES,
        };
        field[1..9].copy_from_slice(&self.sum().to_le_bytes());
        field
    }
}

/// XXH3-64 of these bytes behind each other.
pub(crate) fn sum(parts: &[&[u8]]) -> u64 {
    let mut hasher = Xxh3::new();
    for part in parts {
        hasher.update(part);
    }
    hasher.digest()
}

/// XXH3-64 of a page, little-endian.
pub(crate) fn page_sum(page: &[u8]) -> [u8; 8] {
    xxh3_64(page).to_le_bytes()
}

/// XXH3-64 of a header and the sums of pages.
pub(crate) fn sum_of_pages(header: &[u8], pages: &[[u8; 8]]) -> u64 {
    sum(&[header, pages.as_flattened()])
}

/// The sum that the field holds; `None` if there is none.
pub(crate) fn read(field: &[u8; FINGERPRINT_BYTES]) -> Result<Option<Fingerprint>> {
    let [kind, bytes @ ..] = field;
    let (sum, rest) = bytes.split_first_chunk::<8>().unwrap_or((&[0; 8], &[]));
    let is_zero = |bytes: &[u8]| bytes.iter().all(|&byte| byte == 0);
    let sum = u64::from_le_bytes(*sum);
    match *kind {
        TYPE_NONE if is_zero(bytes) => Ok(None),
        TYPE_BYTES if is_zero(rest) => Ok(Some(Fingerprint::Bytes(sum))),
        TYPE_PAGES if is_zero(rest) => Ok(Some(Fingerprint::Pages(sum))),
        TYPE_NONE | TYPE_BYTES | TYPE_PAGES => Err(Error::corrupt("fingerprint: bytes where zeros must be")),
        kind => Err(Error::unsupported(format!(
            "fingerprint: type {kind}, takes {TYPE_NONE}, {TYPE_BYTES} and {TYPE_PAGES}"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_read_as_written_and_no_other_bit_means_the_same() {
        let sum = sum(&[b"a", b"", b"bc"]);
        assert_eq!(sum, super::sum(&[b"abc"]));
        for fingerprint in [Fingerprint::Bytes(sum), Fingerprint::Pages(sum)] {
            let field = fingerprint.field();
            assert_eq!(read(&field).unwrap(), Some(fingerprint));
            assert_eq!(read(&[0; FINGERPRINT_BYTES]).unwrap(), None);
            for bit in 0..8 * FINGERPRINT_BYTES {
                let mut field = field;
                field[bit / 8] ^= 1 << (bit % 8);
                assert!(
                    read(&field).is_err() || read(&field).unwrap().is_some_and(|other| other != fingerprint)
                );
            }
        }
    }
}
