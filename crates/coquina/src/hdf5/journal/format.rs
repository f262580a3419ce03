//! The bytes of a journal: who writes it, a header, and frames.
//!
//! Source: `docs/formats/journal.md`.

use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::base::bytes::ByteReader;
use crate::base::error::Result;

/// The unit in which changes of a file are kept.
pub(super) const PAGE_BYTES: usize = PAGE_SIZE as usize;
const PAGE_SIZE: u32 = 4096;
/// What a disk writes as a whole, or tears once.
pub(super) const SECTOR_BYTES: usize = 512;
/// The bytes in front, which say who has the file open for writing.
pub(super) const OWNER_BYTES: usize = 64;
/// Where the header stands.
pub(super) const HEADER_AT: u64 = OWNER_BYTES as u64;
pub(super) const HEADER_BYTES: usize = 64;
/// Where the first frame stands.
pub(super) const FRAMES_AT: u64 = HEADER_AT + HEADER_BYTES as u64;
/// The bytes of a frame before its page.
pub(super) const FRAME_BYTES: usize = 40;

const MAGIC: [u8; 8] = *b"\x89CQJ\r\n\x1a\n";
const OWNER_MAGIC: [u8; 8] = *b"CQWRITER";
const VERSION: u32 = 1;

/// What the journal says of the process that writes, and of the file: its number in the system, or 0.
pub(super) fn owner_bytes(process: u32, file: u64) -> [u8; OWNER_BYTES] {
    let mut bytes = [0; OWNER_BYTES];
    bytes[..8].copy_from_slice(&OWNER_MAGIC);
    bytes[8..12].copy_from_slice(&process.to_le_bytes());
    bytes[16..24].copy_from_slice(&file.to_le_bytes());
    bytes
}

/// The process that says it writes.
pub(super) fn owner(bytes: &[u8]) -> Option<u32> {
    let mut reader = ByteReader::new(bytes);
    let is_known = reader.array::<8>("magic").ok()? == OWNER_MAGIC;
    let process = reader.u32_le("process").ok()?;
    (is_known && process != 0).then_some(process)
}

/// The number of the file that the journal says it is of.
pub(super) fn owned_file(bytes: &[u8; OWNER_BYTES]) -> Option<u64> {
    let mut reader = ByteReader::new(bytes);
    let is_known = reader.array::<8>("magic").ok()? == OWNER_MAGIC;
    reader.array::<8>("process").ok()?;
    let file = u64_le(&mut reader).ok()?;
    (is_known && file != 0).then_some(file)
}

/// What all frames of a journal have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    /// Another one each time the journal begins anew: frames that stood there before do not fit it.
    pub(super) salt: u64,
    /// Where the file ended when the journal began.
    pub(super) end: u64,
}

impl Header {
    pub(super) fn to_bytes(self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
        bytes[12..16].copy_from_slice(&PAGE_SIZE.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.salt.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.end.to_le_bytes());
        let sum = xxh3_64_with_seed(&bytes[..56], 0);
        bytes[56..].copy_from_slice(&sum.to_le_bytes());
        bytes
    }

    /// The header in these bytes; `None` for any others, such as those of a journal that was applied.
    pub(super) fn read(bytes: &[u8; HEADER_BYTES]) -> Option<Self> {
        let (front, sum) = bytes.split_at(56);
        if xxh3_64_with_seed(front, 0).to_le_bytes() != sum {
            return None;
        }
        let mut reader = ByteReader::new(front);
        let is_known = reader.array::<8>("magic").ok()? == MAGIC
            && reader.u32_le("version").ok()? == VERSION
            && reader.u32_le("page").ok()? == PAGE_SIZE;
        let (salt, end) = (u64_le(&mut reader).ok()?, u64_le(&mut reader).ok()?);
        is_known.then_some(Self { salt, end })
    }
}

fn u64_le(reader: &mut ByteReader<'_>) -> Result<u64> {
    Ok(u64::from_le_bytes(reader.array("number")?))
}

/// What a frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Frame {
    /// New bytes of a page, from its start on. `base` is the sum of those that the file has there.
    Page { number: u64, bytes: usize, base: u64 },
    /// All frames before it are a commit, after which the file ends at `end`.
    Commit { end: u64 },
    /// Pages of the commits before it are being written to the file.
    Applying,
    /// What the file has in place of the page that follows: those sectors that the page changes, by a bit for each.
    Old { number: u64, bytes: usize, changed: u8 },
}

impl Frame {
    /// How many bytes follow its head.
    pub(super) fn payload(self) -> usize {
        match self {
            Self::Page { bytes, .. } | Self::Old { bytes, .. } => bytes,
            Self::Commit { .. } | Self::Applying => 0,
        }
    }

    /// Adds the frame to what is written at `at`, with the bytes of its page.
    pub(super) fn put(self, salt: u64, at: u64, page: &[u8], out: &mut Vec<u8>) {
        let (kind, number, base) = match self {
            Self::Page { number, base, .. } => (1_u32, number, base),
            Self::Commit { end } => (2, end, 0),
            Self::Applying => (3, 0, 0),
            Self::Old { number, changed, .. } => (4, number, u64::from(changed)),
        };
        let start = out.len();
        out.extend_from_slice(&kind.to_le_bytes());
        // A page has at most 4096 bytes.
        out.extend_from_slice(&u32::try_from(page.len()).unwrap_or(u32::MAX).to_le_bytes());
        out.extend_from_slice(&number.to_le_bytes());
        out.extend_from_slice(&base.to_le_bytes());
        out.extend_from_slice(&[0; 8]);
        let sum = sum(salt, at, &out[start..], page);
        out.extend_from_slice(&sum.to_le_bytes());
        out.extend_from_slice(page);
    }

    /// The frame that the head at `at` announces, and the sum that it has to have with its page.
    pub(super) fn read(head: &[u8; FRAME_BYTES]) -> Option<(Self, u64)> {
        let mut reader = ByteReader::new(head);
        let (kind, len) = (reader.u32_le("kind").ok()?, reader.u32_le("bytes").ok()?);
        let (number, base) = (u64_le(&mut reader).ok()?, u64_le(&mut reader).ok()?);
        let _reserved = u64_le(&mut reader).ok()?;
        let sum = u64_le(&mut reader).ok()?;
        let bytes = usize::try_from(len).ok().filter(|&bytes| bytes <= PAGE_BYTES)?;
        let is_addressable = number.checked_add(1)?.checked_mul(PAGE_BYTES as u64).is_some();
        match kind {
            1 if is_addressable => Some((Self::Page { number, bytes, base }, sum)),
            2 if bytes == 0 => Some((Self::Commit { end: number }, sum)),
            3 if bytes == 0 => Some((Self::Applying, sum)),
            4 => Some((Self::Old { number, bytes, changed: u8::try_from(base).ok()? }, sum)),
            _ => None,
        }
    }
}

/// The sum of a frame: of its head, without the sum, and its page; where it stands and in which journal counts too.
pub(super) fn sum(salt: u64, at: u64, head: &[u8], page: &[u8]) -> u64 {
    let of_head = xxh3_64_with_seed(head, salt ^ at.rotate_left(32));
    xxh3_64_with_seed(page, of_head)
}

/// The sum by which a page of the file is known again.
pub(super) fn page_sum(page: &[u8]) -> u64 {
    xxh3_64_with_seed(page, 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flipped_bit_of_a_header_is_seen() {
        let header = Header { salt: 0x0123_4567_89ab_cdef, end: 4711 };
        let bytes = header.to_bytes();
        assert_eq!(Header::read(&bytes), Some(header));
        for bit in 0..HEADER_BYTES * 8 {
            let mut damaged = bytes;
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Header::read(&damaged), None, "bit {bit}");
        }
    }

    #[test]
    fn frames_come_back_as_they_were_put() {
        for frame in [
            Frame::Page { number: 7, bytes: 3, base: 9 },
            Frame::Commit { end: 12 },
            Frame::Applying,
            Frame::Old { number: 7, bytes: 3, changed: 5 },
        ] {
            let mut bytes = Vec::new();
            let page = &b"abc"[..frame.payload()];
            frame.put(5, 128, page, &mut bytes);
            let (head, rest) = bytes.split_first_chunk::<FRAME_BYTES>().unwrap();
            let (found, expected) = Frame::read(head).unwrap();
            assert_eq!((found, rest), (frame, page));
            assert_eq!(sum(5, 128, &head[..32], page), expected);
            assert_ne!(sum(5, 256, &head[..32], page), expected, "frames of another place");
            assert_ne!(sum(6, 128, &head[..32], page), expected, "frames of another journal");
        }
    }

    #[test]
    fn only_a_process_that_wrote_its_number_owns_a_journal() {
        assert_eq!(owner(&owner_bytes(42, 7)), Some(42));
        assert_eq!(owner(&[0; 64]), None);
        assert_eq!(owner(b"CQ"), None);
    }
}
