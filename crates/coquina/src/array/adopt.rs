//! Taking over the chunks of another array as they are stored: what several processes have encoded becomes one array.
//!
//! In: an array of the same cut, and where its first item belongs. Out: the chunks there are those of the other one,
//! bytes and statistics, in one change. Nothing is decoded or encoded; sums are looked at where there are some.
//! Invariant: the parts lie so that a chunk of one is a chunk of the other, so no item comes from elsewhere.

use std::sync::Arc;

use super::geometry::Grid;
use super::handle::Array;
use super::read::State;
use crate::base::error::{Error, Result};
use crate::base::io::ReadAt;
use crate::base::limits::Limits;
use crate::chunk::{HEADER_BYTES, Header, Place};
use crate::frame::read_verified;
use crate::policy::bounded::Reached;
use crate::store::{Change, EncodedChunk, Stored};

impl Array {
    /// Puts chunks that are encoded already in place of those of these numbers, as one change.
    pub(super) fn put_chunks(&self, chunks: Vec<(u64, EncodedChunk)>, lost: &Reached) -> Result<()> {
        let mut writer = self.writer()?;
        let state = self.state();
        let put = || {
            writer.check()?;
            let store = &mut *writer.store;
            let entries = chunks.into_iter().map(|(number, made)| Ok((number, made.put(store)?)));
            let entries = entries.collect::<Result<Vec<_>>>()?;
            let (policies, layers) = state.policies.after(lost, state.chunks.metadata());
            writer.store.apply(Change { entries, layers, ..Change::default() })?;
            Ok(Arc::new(State { chunks: writer.store.chunks(), policies, ..State::clone(&state) }))
        };
        let made = put();
        self.settle(&mut writer, made).map_err(|e| self.placed(e))
    }

    /// Puts the chunks of `other`, as they are stored, in place of those that begin with the item at `start`.
    ///
    /// # Errors
    /// `Invalid` if the two differ in dtype, chunks or blocks, or chunks of one are not chunks of the other there, or if
    /// the other one may have lost what this one does not allow;
    /// `Unsupported` for chunks of an HDF5 file, `Corrupt` for one whose sum does not match, `Io`.
    pub fn adopt(&self, start: &[u64], other: &Self) -> Result<()> {
        let (state, theirs) = (self.state(), other.state());
        if self.dtype() != other.dtype() {
            let (dtype, found) = (self.dtype().unwrap_or("none"), other.dtype().unwrap_or("none"));
            return Err(Error::invalid(format!("chunks of dtype {found} for an array of {dtype}")));
        }
        check_place(&state.grid, start, &theirs.grid)?;
        if !self.format.is_blosc() {
            return Err(Error::unsupported("the chunks of an HDF5 file are not those of an array file"));
        }
        let lost = state.policies.lost_by(&theirs.policies)?;
        let has_statistics = state.chunks.statistics_bytes().is_some();
        let chunks: Result<Vec<_>> = (0..theirs.grid.nchunks())
            .map(|number| {
                let made = stored(&theirs, number).map_err(|e| e.at(format!("chunk {number}")))?;
                let known = theirs.chunks.statistics(number).filter(|_| has_statistics);
                Ok((number_at(&state.grid, start, &theirs.grid, number), made.with_statistics(known)))
            })
            .collect();
        self.put_chunks(chunks?, &lost)
    }
}

/// Whether the chunks of `part`, its first item at `start`, are chunks of `grid`.
fn check_place(grid: &Grid, start: &[u64], part: &Grid) -> Result<()> {
    let cut = |grid: &Grid| (grid.typesize(), grid.chunks().to_vec(), grid.blocks().to_vec());
    if cut(grid) != cut(part) {
        let ((_, chunks, blocks), (_, given, given_blocks)) = (cut(grid), cut(part));
        return Err(Error::invalid(format!(
            "chunks {given:?} of blocks {given_blocks:?} for an array with chunks {chunks:?} of blocks {blocks:?}"
        )));
    }
    let axes = grid.shape().iter().zip(grid.chunks()).zip(part.shape());
    let fits = |(((&len, &chunk), &part), &start): (((&u64, &u64), &u64), &u64)| {
        let Some(end) = start.checked_add(part) else { return false };
        let unit = chunk.max(1);
        start.is_multiple_of(unit) && (end == len || (end < len && part.is_multiple_of(unit)))
    };
    if start.len() != grid.ndim() || !axes.zip(start).all(fits) {
        let (part, shape, chunks) = (part.shape(), grid.shape(), grid.chunks());
        return Err(Error::invalid(format!(
            "shape {part:?} at {start:?}: these are no whole chunks of {chunks:?} in shape {shape:?}"
        )));
    }
    Ok(())
}

/// The number in `grid` of a chunk of `part`.
fn number_at(grid: &Grid, start: &[u64], part: &Grid, number: u64) -> u64 {
    let at = part.chunk_at(number).into_iter().zip(start).zip(grid.chunks());
    at.enumerate()
        .map(|(axis, ((at, start), &chunk))| (at + start / chunk.max(1)) * grid.chunk_stride(axis))
        .sum()
}

/// A chunk as it is stored, as a store takes it.
fn stored(state: &State, number: u64) -> Result<EncodedChunk> {
    match state.chunks.chunk(number)? {
        Stored::Special(special) => Ok(EncodedChunk::Special(special)),
        Stored::At { source, place, .. } => {
            let bytes = stored_bytes(&*source, &place)?;
            let (found, wanted) =
                (Header::read(&bytes, &Limits::default())?.nbytes, state.grid.chunk_bytes());
            if found != wanted {
                return Err(Error::corrupt(format!("decodes to {found} bytes, chunks have {wanted}")));
            }
            Ok(EncodedChunk::Bytes(bytes, None))
        }
        Stored::Item(_) | Stored::Other { .. } => {
            Err(Error::unsupported("the chunks of an HDF5 file are not those of an array file"))
        }
    }
}

fn stored_bytes(source: &dyn ReadAt, place: &Place) -> Result<Vec<u8>> {
    let mut head = [0; HEADER_BYTES];
    source.read_exact_at(&mut head, place.at)?;
    let header = Header::read(&head, &Limits::default())?;
    let cbytes = header.cbytes;
    if cbytes as u64 > place.room {
        return Err(Error::truncated(format!("{cbytes} bytes announced, {} there", place.room)));
    }
    read_verified(source, place, &header)
}
