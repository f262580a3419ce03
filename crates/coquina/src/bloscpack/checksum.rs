//! The checksums that a Bloscpack file can carry behind every chunk and its metadata.
//!
//! Source: `docs/formats/bloscpack.md`, "Checksums".

use sha2::Digest as _;

use crate::base::error::{Error, Result};

/// A kind of checksum.
pub struct Checksum {
    /// The name that users write, such as `crc32`.
    pub name: &'static str,
    /// The id in a file.
    pub id: u8,
    /// Bytes of a digest.
    pub digest_bytes: usize,
    digest: fn(&[u8]) -> Vec<u8>,
}

/// Every checksum there is.
pub static CHECKSUMS: &[Checksum] = &[
    Checksum { name: "none", id: 0, digest_bytes: 0, digest: |_| Vec::new() },
    Checksum {
        name: "adler32",
        id: 1,
        digest_bytes: 4,
        digest: |b| libdeflater::adler32(b).to_le_bytes().into(),
    },
    Checksum {
        name: "crc32",
        id: 2,
        digest_bytes: 4,
        digest: |b| libdeflater::crc32(b).to_le_bytes().into(),
    },
    Checksum { name: "md5", id: 3, digest_bytes: 16, digest: |b| md5::Md5::digest(b).to_vec() },
    Checksum { name: "sha1", id: 4, digest_bytes: 20, digest: |b| sha1::Sha1::digest(b).to_vec() },
    Checksum { name: "sha224", id: 5, digest_bytes: 28, digest: |b| sha2::Sha224::digest(b).to_vec() },
    Checksum { name: "sha256", id: 6, digest_bytes: 32, digest: |b| sha2::Sha256::digest(b).to_vec() },
    Checksum { name: "sha384", id: 7, digest_bytes: 48, digest: |b| sha2::Sha384::digest(b).to_vec() },
    Checksum { name: "sha512", id: 8, digest_bytes: 64, digest: |b| sha2::Sha512::digest(b).to_vec() },
];

impl Checksum {
    /// The digest of `bytes`.
    pub fn digest(&self, bytes: &[u8]) -> Vec<u8> {
        (self.digest)(bytes)
    }

    /// Checks `bytes` against a stored digest.
    ///
    /// # Errors
    /// `Corrupt` if they differ.
    pub fn verify(&self, bytes: &[u8], stored: &[u8]) -> Result<()> {
        if self.digest(bytes) == stored {
            return Ok(());
        }
        Err(Error::corrupt(format!("{} checksum does not match: the bytes are damaged", self.name)))
    }
}

/// The checksum of that name.
///
/// # Errors
/// `Invalid` if there is none.
pub fn by_name(name: &str) -> Result<&'static Checksum> {
    CHECKSUMS.iter().find(|checksum| checksum.name == name).ok_or_else(|| {
        let names: Vec<_> = CHECKSUMS.iter().map(|checksum| checksum.name).collect();
        Error::invalid(format!("checksum {name:?}: takes one of {}", names.join(", ")))
    })
}

pub(super) fn by_id(id: u8) -> Result<&'static Checksum> {
    CHECKSUMS
        .iter()
        .find(|checksum| checksum.id == id)
        .ok_or_else(|| Error::corrupt(format!("checksum: {id} is not a kind")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_its_digest_length_and_finds_itself() {
        for checksum in CHECKSUMS {
            assert_eq!(checksum.digest(b"abc").len(), checksum.digest_bytes, "{}", checksum.name);
            assert_eq!(by_id(checksum.id).unwrap().name, checksum.name);
            assert_eq!(by_name(checksum.name).unwrap().id, checksum.id);
        }
        assert_eq!(by_id(2).unwrap().digest(b"123456789"), 0xcbf4_3926_u32.to_le_bytes());
        assert!(by_id(9).is_err());
    }

    #[test]
    fn a_flipped_bit_is_noticed() {
        for checksum in CHECKSUMS.iter().filter(|checksum| checksum.id != 0) {
            let digest = checksum.digest(b"abc");
            checksum.verify(b"abc", &digest).unwrap();
            assert!(checksum.verify(b"abb", &digest).is_err());
        }
    }
}
