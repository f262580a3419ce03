//! The bytes of a chunk, in memory or not, and the fetching of the blocks that are wanted.
//!
//! In: which blocks a walk will want. Out: their stored bytes. What is in memory is lent; else blocks that stand
//! next to each other are read at once, into the thread's scratch.
//! Invariant: no byte is read that belongs to no wanted block.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use super::scratch::room;
use super::spans::Spans;
use crate::base::error::{Error, Result};
use crate::base::io::ReadAt;

/// More is not read at once: what has been read should still be in the cache when it is decoded.
const READ_BYTES_MAX: usize = 1 << 20;
/// Threads of C-Blosc2 put blocks down as they finish. How far from its neighbours a block is looked for.
const LOOK_AHEAD: usize = 64;

/// The bytes of a chunk.
pub(super) enum ChunkBytes<'a> {
    /// Exactly these.
    Here(Cow<'a, [u8]>),
    /// So many of a source, from a position on.
    There {
        /// The source.
        source: Arc<dyn ReadAt>,
        /// Where the chunk starts in it.
        at: u64,
        /// Its bytes.
        cbytes: usize,
    },
}

impl ChunkBytes<'_> {
    /// All of them, where they are in memory.
    pub(super) fn slice(&self) -> Option<&[u8]> {
        match self {
            Self::Here(bytes) => Some(bytes),
            Self::There { source, at, cbytes } => {
                source.as_slice()?.get(usize::try_from(*at).ok()?..)?.get(..*cbytes)
            }
        }
    }

    /// Fills `out` with those from `start` on.
    pub(super) fn read(&self, start: usize, out: &mut [u8]) -> Result<()> {
        let ends = || Error::truncated("stored bytes: the chunk ends before");
        if let Some(bytes) = self.slice() {
            let part = bytes.get(start..).and_then(|rest| rest.get(..out.len()));
            out.copy_from_slice(part.ok_or_else(ends)?);
            return Ok(());
        }
        let Self::There { source, at, cbytes } = self else { return Err(ends()) };
        if out.len() > cbytes.saturating_sub(start) {
            return Err(ends());
        }
        source.read_exact_at(out, at.saturating_add(start as u64))
    }

    /// Where some of them stand in the source, if they are not in memory.
    pub(super) fn place(&self, bytes: Range<usize>) -> Option<Range<u64>> {
        match self {
            Self::There { at, .. } if self.slice().is_none() => {
                Some(at.saturating_add(bytes.start as u64)..at.saturating_add(bytes.end as u64))
            }
            _ => None,
        }
    }

    /// Bytes of memory that they take beyond themselves and the source.
    pub(super) fn memory_bytes(&self) -> usize {
        match self {
            Self::Here(Cow::Owned(bytes)) => bytes.capacity(),
            _ => 0,
        }
    }
}

/// Gets the blocks of one walk.
pub(super) struct Fetcher<'f> {
    bytes: &'f ChunkBytes<'f>,
    all: Option<&'f [u8]>,
    spans: &'f Spans<'f>,
    /// The blocks that the walk wants; it may need block 0 too.
    wanted: Range<usize>,
    /// Which bytes of the chunk stand at the front of `encoded`.
    held: Range<usize>,
    encoded: &'f mut Vec<u8>,
}

impl<'f> Fetcher<'f> {
    /// For a walk over these blocks.
    pub(super) fn new(
        bytes: &'f ChunkBytes<'f>,
        spans: &'f Spans<'f>,
        wanted: Range<usize>,
        encoded: &'f mut Vec<u8>,
    ) -> Self {
        Self { bytes, all: bytes.slice(), spans, wanted, held: 0..0, encoded }
    }

    /// The stored bytes of block `number`. Those that the walk wants next may be read with it.
    pub(super) fn get(&mut self, number: usize) -> Result<&[u8]> {
        let span = self.spans.get(number)?;
        if let Some(all) = self.all {
            return Ok(all.get(span).unwrap_or_default());
        }
        if span.start < self.held.start || span.end > self.held.end {
            let run = self.run(number, span.clone());
            self.held = 0..0;
            self.bytes.read(run.start, room(self.encoded, run.len()))?;
            self.held = run;
        }
        let at = span.start - self.held.start;
        Ok(self.encoded.get(at..at + span.len()).unwrap_or_default())
    }

    /// The longest range without a gap that holds block `number`, at `span`, and some that follow it.
    fn run(&self, number: usize, span: Range<usize>) -> Range<usize> {
        let (mut run, mut around, mut wanted) = (span.clone(), span.clone(), span.len());
        let mut since = 0;
        let end = if self.wanted.contains(&number) { self.wanted.end } else { 0 };
        for next in number + 1..end {
            // Where a block is wrong the walk will say so when it is there.
            let Ok(span) = self.spans.get(next) else { break };
            around = around.start.min(span.start)..around.end.max(span.end);
            wanted += span.len();
            since += 1;
            if around.len() > READ_BYTES_MAX || since > LOOK_AHEAD {
                break;
            }
            if around.len() <= wanted {
                (run, since) = (around.clone(), 0);
            }
        }
        run
    }
}
