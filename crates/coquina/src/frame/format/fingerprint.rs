//! The sum that ties header, index and trailer of a frame together.
//!
//! A writer that does not know it (C-Blosc2) leaves zeros in its place whenever it changes the frame.
//! Source: `docs/formats/frame.md`, "Fingerprint".

use xxhash_rust::xxh3::Xxh3;

use crate::base::error::{Error, Result};

/// Bytes of the field: its type, and room for sixteen.
pub(crate) const FINGERPRINT_BYTES: usize = 17;
const TYPE_NONE: u8 = 0;
/// Eight bytes of XXH3; eight are left over.
const TYPE_XXH3: u8 = 2;

/// XXH3-64 of these bytes behind each other.
pub(crate) fn sum(parts: &[&[u8]]) -> u64 {
    let mut hasher = Xxh3::new();
    for part in parts {
        hasher.update(part);
    }
    hasher.digest()
}

/// The sum that the field holds; `None` if there is none.
pub(crate) fn read(field: &[u8; FINGERPRINT_BYTES]) -> Result<Option<u64>> {
    let [kind, bytes @ ..] = field;
    let (sum, rest) = bytes.split_first_chunk::<8>().unwrap_or((&[0; 8], &[]));
    let is_zero = |bytes: &[u8]| bytes.iter().all(|&byte| byte == 0);
    match *kind {
        TYPE_NONE if is_zero(bytes) => Ok(None),
        TYPE_XXH3 if is_zero(rest) => Ok(Some(u64::from_le_bytes(*sum))),
        TYPE_NONE | TYPE_XXH3 => Err(Error::corrupt("fingerprint: bytes where zeros must be")),
        kind => {
            Err(Error::unsupported(format!("fingerprint: type {kind}, takes {TYPE_NONE} and {TYPE_XXH3}")))
        }
    }
}

/// The field that holds a sum.
pub(crate) fn write(sum: u64) -> [u8; FINGERPRINT_BYTES] {
    let mut field = [0; FINGERPRINT_BYTES];
    field[0] = TYPE_XXH3;
    field[1..9].copy_from_slice(&sum.to_le_bytes());
    field
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_read_as_written_and_no_other_bit_means_the_same() {
        let sum = sum(&[b"a", b"", b"bc"]);
        assert_eq!(sum, super::sum(&[b"abc"]));
        let field = write(sum);
        assert_eq!(read(&field).unwrap(), Some(sum));
        assert_eq!(read(&[0; FINGERPRINT_BYTES]).unwrap(), None);
        for bit in 0..8 * FINGERPRINT_BYTES {
            let mut field = field;
            field[bit / 8] ^= 1 << (bit % 8);
            assert!(read(&field).is_err() || read(&field).unwrap().is_some_and(|other| other != sum));
        }
    }
}
