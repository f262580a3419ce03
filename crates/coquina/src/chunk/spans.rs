//! Where the stored bytes of each block of a chunk stand.
//!
//! In: what stands before the blocks. Out: ranges of the chunk's bytes, all between its first block and its end.
//! Source: `docs/formats/chunk.md`, "Ordinary chunks": blocks may stand in any order, and their ends are not
//! stored.

use std::borrow::Cow;
use std::ops::Range;

use super::block::dictionary;
use super::header::{Header, Kind};
use crate::base::bytes::ByteReader;
use crate::base::error::{Error, Result};

/// The places of a chunk's blocks.
pub(super) struct Spans<'a> {
    cut: Cut<'a>,
    /// Where the first block may start.
    data_start: usize,
    /// Where the chunk ends.
    end: usize,
}

enum Cut<'a> {
    /// Bytes that are not encoded, in blocks of so many.
    Even(usize),
    /// Blocks that start where these numbers of four bytes say.
    Starts(Cow<'a, [u8]>, Ends),
}

/// Where blocks end at the latest.
enum Ends {
    /// Where the chunk ends: a block says itself where it ends.
    Unknown,
    /// Where the next one starts.
    Next,
    /// At the next larger one of these starts, which are sorted.
    Sorted(Vec<u32>),
}

impl<'a> Spans<'a> {
    /// For a chunk with this header and these block starts, whose blocks come after `data_start`.
    /// Each block reaches to the end of the chunk, until [`Spans::find_ends`].
    pub(super) fn new(header: &Header, starts: Cow<'a, [u8]>, data_start: usize) -> Self {
        Self { cut: Cut::Starts(starts, Ends::Unknown), data_start, end: header.cbytes }
    }

    /// For a chunk of stored bytes.
    pub(super) fn even(header: &Header) -> Self {
        Self { cut: Cut::Even(header.block_bytes()), data_start: header.len(), end: header.cbytes }
    }

    /// Says that each block ends where the next one starts.
    pub(super) fn rise(&mut self) {
        if let Cut::Starts(_, ends) = &mut self.cut {
            *ends = Ends::Next;
        }
    }

    /// Checks all block starts, and ends each block at the next larger one.
    pub(super) fn find_ends(&mut self) -> Result<()> {
        let Cut::Starts(bytes, _) = &self.cut else { return Ok(()) };
        let mut starts = Vec::with_capacity(bytes.len() / 4);
        for number in 0..bytes.len() / 4 {
            let start = self.start(number).map_err(|e| e.at(format!("block {number}")))?;
            starts.push(u32::try_from(start).unwrap_or(u32::MAX));
        }
        if starts.is_sorted_by(|a, b| a < b) {
            self.rise();
            return Ok(());
        }
        starts.sort_unstable();
        starts.dedup();
        if let Cut::Starts(_, ends) = &mut self.cut {
            *ends = Ends::Sorted(starts);
        }
        Ok(())
    }

    /// Where block `number` starts.
    pub(super) fn start(&self, number: usize) -> Result<usize> {
        let start = match &self.cut {
            Cut::Even(bytes) => self.data_start + number * bytes,
            Cut::Starts(starts, _) => {
                let bytes = starts.get(4 * number..).unwrap_or_default();
                ByteReader::new(bytes).size_le("block start")?
            }
        };
        if start < self.data_start || start >= self.end {
            let (first, end) = (self.data_start, self.end);
            return Err(Error::corrupt(format!("block start: {start} is not in {first}..{end}")));
        }
        Ok(start)
    }

    /// The bytes of block `number`.
    pub(super) fn get(&self, number: usize) -> Result<Range<usize>> {
        let start = self.start(number)?;
        let end = match &self.cut {
            Cut::Even(bytes) => (start + bytes).min(self.end),
            Cut::Starts(_, Ends::Unknown) => self.end,
            Cut::Starts(starts, Ends::Next) if 4 * (number + 1) < starts.len() => self.start(number + 1)?,
            Cut::Starts(_, Ends::Next) => self.end,
            Cut::Starts(_, Ends::Sorted(sorted)) => {
                let next = sorted.partition_point(|&other| other as usize <= start);
                sorted.get(next).map_or(self.end, |&next| next as usize)
            }
        };
        Ok(start..end)
    }

    /// Bytes of memory that it takes beyond itself.
    pub(super) fn memory_bytes(&self) -> usize {
        match &self.cut {
            Cut::Starts(Cow::Owned(starts), Ends::Sorted(sorted)) => starts.len() + 4 * sorted.len(),
            Cut::Starts(Cow::Owned(starts), _) => starts.len(),
            _ => 0,
        }
    }
}

/// The bytes of a chunk before its first block: header, block starts, dictionary. Of a special chunk all.
/// `chunk` must reach so far.
pub(super) fn head_bytes(header: &Header, chunk: &[u8]) -> Result<usize> {
    match header.kind()? {
        Kind::Special(_) => Ok(header.cbytes),
        Kind::Memcpyed => Ok(header.len()),
        _ if header.nbytes == 0 => Ok(header.len()),
        Kind::Blocks | Kind::VariableBlocks => Ok(dictionary(header, chunk)?.1),
    }
}

/// The bytes of the block starts in a chunk that has some.
pub(super) fn starts_range(header: &Header) -> Range<usize> {
    header.len()..usize::try_from(header.bstarts_end()).unwrap_or(usize::MAX)
}
