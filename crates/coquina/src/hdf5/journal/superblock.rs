//! The mark in an HDF5 file that somebody has it open for writing.
//!
//! libhdf5 sets it in files of HDF5 1.10 and later when it opens them, clears it when it closes them, and refuses files
//! that have it. A file that is at a commit needs no such mark: here it is cleared in what is committed.
//! Source: HDF5 File Format Specification 3.0, "Disk Format: Level 0A", version 3, "File Consistency Flags".

use crate::base::error::Result;
use crate::hdf5::index::lookup3;

const SIGNATURE: [u8; 8] = *b"\x89HDF\r\n\x1a\n";
const VERSION_WITH_FLAGS: u8 = 3;
/// Open for writing, and open for writing while others read.
const OPEN_FLAGS: u8 = 0b101;
const FLAGS_AT: usize = 11;
/// Of a superblock with addresses of 8 bytes: fixed fields, four addresses and the checksum.
const BYTES_MAX: usize = 48;
/// The farthest that a user block is looked for: 2^40 bytes.
const PLACES: u32 = 40;

/// The superblock without its mark, and where it stands; `None` if there is nothing to change.
pub(super) fn without_mark(
    len: u64,
    mut read: impl FnMut(&mut [u8], u64) -> Result<()>,
) -> Result<Option<(Vec<u8>, u64)>> {
    let mut at = 0;
    for _ in 0..PLACES {
        if at + BYTES_MAX as u64 > len {
            return Ok(None);
        }
        let mut block = [0; BYTES_MAX];
        read(&mut block, at)?;
        if block.starts_with(&SIGNATURE) {
            return Ok(cleared(&block).map(|bytes| (bytes, at)));
        }
        at = if at == 0 { 512 } else { 2 * at };
    }
    Ok(None)
}

fn cleared(block: &[u8; BYTES_MAX]) -> Option<Vec<u8>> {
    let width = usize::from(block[9]);
    let summed = 12 + 4 * width;
    if block[8] != VERSION_WITH_FLAGS || block[FLAGS_AT] & OPEN_FLAGS == 0 || summed + 4 > BYTES_MAX {
        return None;
    }
    let mut bytes = block[..summed].to_vec();
    bytes[FLAGS_AT] &= !OPEN_FLAGS;
    let sum = lookup3(&bytes);
    bytes.extend_from_slice(&sum.to_le_bytes());
    Some(bytes)
}
