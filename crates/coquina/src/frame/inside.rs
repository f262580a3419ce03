//! Frames inside of other files, such as the chunks of an HDF5 dataset: read without a handle, written with nothing
//! but what the format needs, and sums if they are asked for.
//!
//! In: the bytes of a frame, borrowed or anywhere. Out: its metalayers and where its chunks stand; or a frame of one
//! chunk, without fingerprint and a copy of its header: what is around it takes care of that.
//! Source: `docs/formats/frame.md`.

use std::num::NonZeroU64;

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use super::format::fingerprint::FINGERPRINT_BYTES;
use super::format::guard::{self, Guard};
use super::format::header::{Counts, FIXED_BYTES, Header};
use super::format::offsets::{encode_index, special, special_raw};
use super::format::slots::{Slot, Slots};
use super::format::spec::{Kind, Spec};
use super::format::trailer;
use super::load::Origin;
use super::state::FrameState;
use crate::base::error::{Error, Result};
use crate::base::io::ReadAt;
use crate::base::limits::Limits;
use crate::chunk::{self, HEADER_BYTES, Place, Special};

/// In front of the content of a sealed metalayer: a sum.
pub(crate) const SEAL_BYTES: usize = 8;

/// What a frame says of itself.
pub(crate) struct Inside {
    header: Header,
    slots: Slots,
}

/// A chunk of such a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InsideChunk {
    /// A special value, and how many bytes of it.
    Special(Special, usize),
    /// Stored bytes; the place is counted from the first byte of the frame.
    At(Place),
}

impl Inside {
    /// Reads what the frame at the front of `source` says. What follows the frame is of no account.
    pub(crate) fn read(source: &dyn ReadAt, limits: &Limits) -> Result<Self> {
        let origin = Origin { source, base: 0, kind: Kind::Contiguous, limits, is_damaged: false };
        let (FrameState { header, slots, .. }, _) = origin.load()?;
        Ok(Self { header, slots })
    }

    /// Bytes of an item.
    pub(crate) fn typesize(&self) -> usize {
        self.header.typesize
    }

    /// Bytes of a block, 0 where it is not said.
    pub(crate) fn blocksize(&self) -> usize {
        self.header.blocksize
    }

    /// Bytes that all chunks decode to.
    pub(crate) fn nbytes(&self) -> u64 {
        self.header.counts.nbytes
    }

    /// How many chunks there are.
    pub(crate) fn nchunks(&self) -> u64 {
        self.slots.len()
    }

    /// The content of a metalayer.
    pub(crate) fn metalayer(&self, name: &str) -> Option<&[u8]> {
        self.header.metalayers().find(|(known, _)| *known == name).map(|(_, content)| content)
    }

    /// The content of a sealed metalayer, if it is as it was written in the frame as it was written: a program that
    /// changes chunks changes the header, if only by the numbers of threads in it.
    pub(crate) fn sealed(&self, name: &str) -> Option<&[u8]> {
        let (seal, content) = self.metalayer(name)?.split_first_chunk()?;
        (*seal == sum(&self.header, content)).then_some(content)
    }

    /// What guards the one chunk, if that has sums.
    pub(crate) fn guard(&self) -> Result<Option<Guard<'_>>> {
        match self.slots.get(0) {
            Some(slot) if self.nchunks() == 1 => guard::read(&self.header, slot.raw),
            _ => Ok(None),
        }
    }

    /// Where chunk `number` is, and how many bytes it must decode to, if the frame says it.
    pub(crate) fn chunk(&self, number: u64) -> Result<(InsideChunk, Option<usize>)> {
        let slot = self.slots.get(number);
        let slot =
            slot.ok_or_else(|| Error::out_of_bounds(format!("chunk {number} of {}", self.nchunks())))?;
        let nbytes = self.header.nbytes_of(number);
        let Some(at) = slot.key() else {
            let special = special(slot.raw)?;
            let bytes = nbytes.ok_or_else(|| Error::corrupt("index: a special value where sizes vary"))?;
            return Ok((InsideChunk::Special(special, bytes), nbytes));
        };
        let cbytes = self.header.counts.cbytes;
        let room = cbytes.checked_sub(at).filter(|&room| room >= HEADER_BYTES as u64);
        let room = room.ok_or_else(|| Error::corrupt(format!("index: a chunk at {at} of {cbytes} bytes")))?;
        // The header and all chunks are known to be within the frame.
        let place = Place { at: self.header.len() + at, room, sum: NonZeroU64::new(slot.sum) };
        Ok((InsideChunk::At(place), nbytes))
    }
}

/// The sum over the fixed part of a header and the content of a metalayer.
fn sum(header: &Header, content: &[u8]) -> [u8; SEAL_BYTES] {
    let fixed = header.raw().get(..FIXED_BYTES).unwrap_or_default();
    xxh3_64_with_seed(content, xxh3_64(fixed)).to_le_bytes()
}

/// A contiguous frame of this one chunk. The content of a metalayer that is to be sealed begins with
/// [`SEAL_BYTES`] bytes for the sum.
pub(crate) fn wrap_chunk(spec: &Spec, chunk: &[u8], sealed: Option<&str>) -> Result<Vec<u8>> {
    let known = chunk::Header::read(chunk, &Limits::default())?;
    if known.cbytes != chunk.len() || !known.is_extended() || known.nbytes != spec.chunk_bytes {
        let (bytes, wanted) = (chunk.len(), spec.chunk_bytes);
        return Err(Error::invalid(format!("{bytes} bytes are not one Blosc2 chunk of {wanted}")));
    }
    let told = match known.kind()? {
        chunk::Kind::Special(special) => special_raw(special),
        _ => None,
    };
    let stored = if told.is_some() { &[] } else { chunk };
    let index = encode_index(&Slots::same(Slot::new(told.unwrap_or(0)), 1))?;
    let mut end = trailer::body(std::iter::empty())?;
    end.extend([0; FINGERPRINT_BYTES]);
    let mut header = Header::new(spec, Kind::Contiguous)?;
    let frame_len = header.len() + (stored.len() + index.len() + end.len()) as u64;
    let (nbytes, cbytes) = (known.nbytes as u64, stored.len() as u64);
    header.set_counts(Counts { frame_len, nbytes, cbytes, has_vlmetalayers: false });
    if let Some(name) = sealed {
        let layer = spec.metalayers.iter().find(|(known, _)| known == name);
        let content = layer.and_then(|(_, layer)| layer.get(SEAL_BYTES..)).unwrap_or_default();
        let content = [&sum(&header, content), content].concat();
        header.set_metalayer(name, &content)?;
    }
    guard::seal(&mut header, told.unwrap_or(0), stored)?;
    Ok([header.raw(), stored, &index, &end].concat())
}
