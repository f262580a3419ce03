//! Decoding chunks: whole, one block, any range of bytes; many chunks in one job.
//!
//! In: the bytes of a chunk. Out: its content, or an error that names the place.
//! Source: `docs/formats/chunk.md`.

use std::ops::Range;

use super::content::Content;
use super::header::Header;
use super::spans::head_bytes;
use super::sums::SumsApart;
use crate::base::error::{Error, Result};
use crate::base::layout::BlockLayout;
use crate::base::limits::Limits;
use crate::base::pool::{INLINE_COPY_BYTES, Job};

/// A task decodes about this much: enough to be worth handing out, little enough to share evenly.
const TASK_BYTES_MAX: usize = 1 << 20;
const TASK_BYTES_MIN: usize = 32 << 10;

/// A parsed chunk.
pub struct Chunk<'a> {
    header: Header,
    content: Content<'a>,
}

impl<'a> Chunk<'a> {
    /// Parses the chunk at the front of `bytes`; what follows it is ignored.
    ///
    /// # Errors
    /// `Truncated`, `Corrupt`, `Unsupported` or `Limit`, see [`Header::read`]. With delta, block 0 is decoded.
    pub fn parse(bytes: &'a [u8], limits: &Limits) -> Result<Self> {
        Self::parse_in(&BlockLayout::default(), bytes, limits)
    }

    /// As [`Chunk::parse`], of a chunk of an array with such blocks.
    ///
    /// # Errors
    /// As [`Chunk::parse`].
    pub fn parse_in(layout: &BlockLayout, bytes: &'a [u8], limits: &Limits) -> Result<Self> {
        Self::parse_by(layout, bytes, limits, None)
    }

    /// As [`Chunk::parse_in`], of a chunk whose sums may stand apart; then each block is verified before it is decoded.
    pub(crate) fn parse_by(
        layout: &BlockLayout,
        bytes: &'a [u8],
        limits: &Limits,
        apart: Option<&SumsApart<'_>>,
    ) -> Result<Self> {
        let header = Header::read(bytes, limits)?;
        let Some(bytes) = bytes.get(..header.cbytes) else {
            let (cbytes, left) = (header.cbytes, bytes.len());
            return Err(Error::truncated(format!("chunk: {cbytes} bytes announced, {left} there")));
        };
        let verified = |apart: &SumsApart<'_>| {
            let head = bytes.get(..head_bytes(&header, bytes)?).unwrap_or_default();
            apart.verified(&header, head)
        };
        let sums = apart.map(verified).transpose()?;
        let content = Content::new(&header, bytes, sums, layout)?;
        Ok(Self { header, content })
    }

    /// The header.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Decodes all of it into `out`, which has exactly `nbytes` bytes.
    ///
    /// # Errors
    /// `Invalid` for another length of `out`, `Corrupt` or `Truncated` for damaged bytes.
    pub fn decode_into(&self, out: &mut [u8], job: &Job<'_>) -> Result<()> {
        if out.len() != self.header.nbytes {
            let nbytes = self.header.nbytes;
            return Err(Error::invalid(format!("output: {} bytes for a chunk of {nbytes}", out.len())));
        }
        decode_parts(vec![Part { chunk: self, start: 0, out }], job)
    }

    /// The bytes of the items `start..stop`.
    ///
    /// # Errors
    /// `OutOfBounds` if the chunk does not have them.
    pub fn item_range(&self, start: usize, stop: usize) -> Result<Range<usize>> {
        let (typesize, items) = (self.header.typesize, self.header.nbytes / self.header.typesize);
        if start > stop || stop > items {
            return Err(Error::out_of_bounds(format!("items {start}..{stop} of a chunk of {items}")));
        }
        Ok(start * typesize..stop * typesize)
    }

    /// Decodes the bytes from `start` on that fill `out`, reading only the blocks that hold them.
    ///
    /// # Errors
    /// `OutOfBounds` if the chunk ends before, `Corrupt` or `Truncated` for damaged bytes.
    pub fn decode_range(&self, start: usize, out: &mut [u8], job: &Job<'_>) -> Result<()> {
        decode_parts(vec![Part { chunk: self, start, out }], job)
    }
}

/// A range of a chunk's bytes that is wanted, and where.
pub struct Part<'p, 'a> {
    /// The chunk.
    pub chunk: &'p Chunk<'a>,
    /// The first byte wanted, counted in the decoded chunk.
    pub start: usize,
    /// Takes as many bytes as it is long.
    pub out: &'p mut [u8],
}

/// Decodes parts of several chunks as one job: runs of blocks are shared out across chunk borders.
///
/// # Errors
/// Those of [`Chunk::decode_range`]; of several the first part's.
pub fn decode_parts(parts: Vec<Part<'_, '_>>, job: &Job<'_>) -> Result<()> {
    let mut total = 0;
    for part in &parts {
        let (start, bytes, nbytes) = (part.start, part.out.len(), part.chunk.header.nbytes);
        if start > nbytes || bytes > nbytes - start {
            return Err(Error::out_of_bounds(format!(
                "bytes {start}..{start}+{bytes} of a chunk of {nbytes}"
            )));
        }
        total += bytes;
    }
    // Copies and fills alone are done before another thread is awake.
    if total < INLINE_COPY_BYTES && !parts.iter().any(|part| part.chunk.content.is_encoded()) {
        return parts
            .into_iter()
            .try_for_each(|part| part.chunk.content.read(part.start, part.out).map(drop));
    }
    let width = job.width(total);
    let task_bytes = if width == 1 { TASK_BYTES_MAX } else { total / (4 * width) };
    let task_bytes = task_bytes.clamp(TASK_BYTES_MIN, TASK_BYTES_MAX);
    let tasks = parts.into_iter().flat_map(|part| cut(part, task_bytes));
    job.run(total, tasks, |task: Part<'_, '_>| {
        task.chunk.content.read(task.start, task.out)?;
        Ok(task.out.len())
    })
}

/// Cuts a part at block borders into tasks of about `task_bytes`.
fn cut<'p, 'a>(part: Part<'p, 'a>, task_bytes: usize) -> impl Iterator<Item = Part<'p, 'a>> {
    let Part { chunk, mut start, out } = part;
    let mut left = Some(out);
    let block_bytes = chunk.content.block_bytes().max(1);
    // Whole blocks: half a block costs as much as a whole one.
    let run_bytes = task_bytes.div_ceil(block_bytes) * block_bytes;
    std::iter::from_fn(move || {
        let out = left.take().filter(|out| !out.is_empty())?;
        let until_border = run_bytes - start % run_bytes;
        let (now, rest) = out.split_at_mut(until_border.min(out.len()));
        let task = Part { chunk, start, out: now };
        start += until_border;
        left = Some(rest);
        Some(task)
    })
}
