//! The matching strings of a column that is stored as offsets and bytes.
//!
//! In: a source of n + 1 offsets (64-bit, in the machine's byte order), a source of bytes, and the matches of a box.
//! Out: where each string ends, and the bytes of all. Offsets come from outside: they must rise and end within the
//! bytes, or the column is corrupt. Bytes between strings that match are not read where there are many of them.

use std::ops::Range;

use coquina_kernels::each_picked;
use coquina_kernels::items::items;

use super::gather::{Run, Runs, bytes_of, grow};
use super::walk::Picked;
use crate::array::BoxSource;
use crate::base::error::{Error, Result};
use crate::base::scratch::{with_aligned_scratch, with_scratch};

/// Bytes of an offset.
pub(super) const OFFSET_BYTES: usize = 8;
/// Strings are read together where fewer bytes than this lie between them,
const GAP_BYTES: u64 = 4096;
/// and up to so many bytes.
const READ_BYTES: u64 = 1 << 20;

/// Strings one behind another.
#[derive(Default)]
pub(crate) struct Strings {
    /// Where each ends in the bytes.
    pub(crate) ends: Vec<i64>,
    pub(crate) bytes: Vec<u8>,
    /// Where the first one and the last one stand in the bytes of the column.
    pub(super) span: Option<Range<u64>>,
}

/// A column of strings.
#[derive(Clone, Copy)]
pub(crate) struct Source<'s> {
    pub(crate) offsets: &'s dyn BoxSource,
    pub(crate) bytes: &'s dyn BoxSource,
}

impl Source<'_> {
    /// Appends the strings of the matches.
    pub(crate) fn gather(&self, picked: &Picked<'_>, out: &mut Strings) -> Result<()> {
        let Some(mask) = picked.mask else {
            return self.run(picked, &(0..picked.len), None, out);
        };
        for Run { rows, .. } in Runs::new(self.offsets, picked.start, mask) {
            self.run(picked, &rows, Some(&mask[rows.clone()]), out)?;
        }
        Ok(())
    }

    /// Appends the strings of some rows of a box.
    fn run(
        &self,
        picked: &Picked<'_>,
        rows: &Range<usize>,
        mask: Option<&[u8]>,
        out: &mut Strings,
    ) -> Result<()> {
        let start = picked.start + rows.start as u64;
        let spans = with_aligned_scratch(|room| {
            let room = room.room(bytes_of(rows.len() + 1, OFFSET_BYTES)?);
            self.offsets.fill(&[start], &[rows.len() as u64 + 1], room)?;
            self.spans(items::<i64>(room), start, mask, out)
        })?;
        let mut spans = &spans[..];
        while !spans.is_empty() {
            let (together, rest) = spans.split_at(close(spans));
            self.read(together, &mut out.bytes)?;
            spans = rest;
        }
        Ok(())
    }

    /// Where the strings that match stand, checked; where they will end is told to `out`.
    fn spans(
        &self,
        offsets: &[i64],
        start: u64,
        mask: Option<&[u8]>,
        out: &mut Strings,
    ) -> Result<Vec<Range<u64>>> {
        let len = self.bytes.shape().first().copied().unwrap_or(0);
        if mask.is_none()
            && let Some(span) = all_of(offsets, out.span.as_ref().map_or(0, |span| span.end)..len)
        {
            let (first, base) = (span.start.cast_signed(), out.bytes.len().cast_signed() as i64);
            out.ends.extend(offsets[1..].iter().map(|end| end - first + base));
            out.span = Some(out.span.as_ref().map_or(span.start, |span| span.start)..span.end);
            return Ok(vec![span]);
        }
        let mut spans = Vec::with_capacity(offsets.len());
        let mut end = out.bytes.len() as u64;
        let mut last = out.span.clone();
        let mut wrong = None;
        let mut see = |row: usize| {
            let (from, to) = (offsets[row], offsets[row + 1]);
            let before = last.as_ref().map_or(0, |span| span.end);
            match (u64::try_from(from), u64::try_from(to)) {
                (Ok(from), Ok(to)) if before <= from && from <= to && to <= len => {
                    // They do not overlap, so all are not longer than the bytes.
                    end += to - from;
                    out.ends.push(end.cast_signed());
                    last = Some(last.as_ref().map_or(from, |span| span.start)..to);
                    spans.push(from..to);
                }
                _ => wrong = wrong.or(Some((row, from, to, before))),
            }
        };
        match mask {
            Some(mask) => each_picked(mask, see),
            None => (0..offsets.len() - 1).for_each(&mut see),
        }
        if let Some((row, from, to, before)) = wrong {
            let row = start + row as u64;
            return Err(misplaced(from, to, before..len).at(format!("row {row}")));
        }
        out.span = last;
        Ok(spans)
    }

    /// Appends the bytes of spans that are read together.
    fn read(&self, spans: &[Range<u64>], out: &mut Vec<u8>) -> Result<()> {
        let (Some(first), Some(last)) = (spans.first(), spans.last()) else { return Ok(()) };
        let size = |bytes: u64| {
            usize::try_from(bytes).map_err(|_| Error::limit(format!("strings of {bytes} bytes")))
        };
        let total = spans.iter().map(|span| span.end - span.start).sum::<u64>();
        let (start, read) = (first.start, last.end - first.start);
        let to = grow(out, size(total)?)?;
        if read == 0 {
            return Ok(());
        }
        if total == read {
            return self.bytes.fill(&[start], &[read], to);
        }
        with_scratch(size(read)?, |room| {
            self.bytes.fill(&[start], &[read], room)?;
            let mut written = 0;
            for span in spans {
                let (from, len) = (size(span.start - start)?, size(span.end - span.start)?);
                to[written..written + len].copy_from_slice(&room[from..from + len]);
                written += len;
            }
            Ok(())
        })
    }
}

/// Where all strings together stand that lie between these offsets, if the offsets rise and do not leave what there is.
fn all_of(offsets: &[i64], left: Range<u64>) -> Option<Range<u64>> {
    let (&first, &last) = (offsets.first()?, offsets.last()?);
    let (first, last) = (u64::try_from(first).ok()?, u64::try_from(last).ok()?);
    let is_rising = offsets.windows(2).fold(true, |is_rising, pair| is_rising & (pair[0] <= pair[1]));
    let is_short = last.saturating_sub(first) <= READ_BYTES;
    (is_rising && is_short && left.start <= first && last <= left.end).then_some(first..last)
}

/// How many of the first spans are read together.
fn close(spans: &[Range<u64>]) -> usize {
    let Some(first) = spans.first() else { return 0 };
    let is_far = |pair: &[Range<u64>]| {
        pair[1].start - pair[0].end > GAP_BYTES || pair[1].end - first.start > READ_BYTES
    };
    spans.windows(2).position(is_far).map_or(spans.len(), |before| before + 1)
}

/// The error of strings that stand where none can.
pub(super) fn misplaced(from: i64, to: i64, left: Range<u64>) -> Error {
    let Range { start, end } = left;
    Error::corrupt(format!("offsets: a string from byte {from} to {to}, where {start} to {end} is left"))
}
