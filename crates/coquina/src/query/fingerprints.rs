//! Fingerprints of ranges of rows: by these an index knows whether what it was made of is still there.
//!
//! In: columns, and ranges of rows. Out: for each range the XXH3-64 of one stream: of each column its items, as they
//! lie in memory; of texts the length of each, 64-bit little endian, and then the bytes of all. No seed.
//! Invariant: the stream is that of the decoded items, so it does not depend on chunks, blocks, compression, threads,
//! nor on what is known without decoding: what is one item over and over is not decoded, but its bytes are hashed.

use std::ops::Range;

use coquina_kernels::items::items;
use xxhash_rust::xxh3::Xxh3Default;

use super::gather::{bytes_of, repeat};
use super::rows::{Cut, Rows};
use super::scan::{Column, check_strings};
use super::strings::{OFFSET_BYTES, misplaced};
use super::walk::check_rows;
use crate::array::{BoxSource, at_once};
use crate::base::error::{Error, Result};
use crate::base::ordered::{Ordered, Take};
use crate::base::pool::Job;
use crate::base::scratch::{with_aligned_scratch, with_scratch};

/// Ranges that lie in one chunk or block are read together; a task has as many as this many chunks or blocks have, as
/// those at its ends may be decoded by the next one too.
const TASK_PIECES: u64 = 4;
/// Tasks are not larger than this, unless one range or chunk is.
const TASK_ROWS: u64 = 1 << 20;
/// What is one item over and over is hashed so many bytes at a time.
const REPEAT_BYTES: usize = 16 << 10;
/// Lengths of texts are hashed so many at a time.
const LENGTHS: usize = 512;

/// The fingerprint of all columns in each range of rows. Ranges may be in any order; neighbours are read together.
///
/// # Errors
/// `OutOfBounds` for rows that a column does not have, `Invalid` for a range that ends before it begins and columns of
/// other than one axis, `Corrupt` for texts whose offsets do not rise or leave the bytes, and what goes wrong with
/// reading.
pub fn fingerprints(columns: &[Column<'_>], ranges: &[Range<u64>], job: &Job<'_>) -> Result<Vec<u64>> {
    let stop = ranges.iter().map(|range| range.end).max().unwrap_or(0);
    if let Some(range) = ranges.iter().find(|range| range.end < range.start) {
        return Err(Error::invalid(format!("rows {range:?}: end before they begin")));
    }
    let rows = Rows { start: 0, stop, step: 1 };
    let (mut piece, mut row_bytes) = (1, 0);
    for (number, column) in columns.iter().enumerate() {
        let source = match *column {
            Column::Items(source) => {
                check_rows(source, stop, &format!("column {number}"))?;
                source
            }
            Column::Strings { offsets, bytes } => {
                check_strings(offsets, bytes, &rows).map_err(|e| e.at(format!("column {number}")))?;
                offsets
            }
        };
        row_bytes += source.item_bytes();
        piece = piece.max(source.walk().blocks.first().copied().unwrap_or(1));
    }
    let tasks = tasks(ranges, piece.saturating_mul(TASK_PIECES).min(TASK_ROWS.max(piece)));
    let total: u64 = ranges.iter().map(|range| range.end - range.start).sum();
    let total = bytes_of(usize::try_from(total).unwrap_or(usize::MAX), row_bytes).unwrap_or(usize::MAX);
    let ordered = Ordered::new(Vec::with_capacity(ranges.len()), job.width(total));
    job.run(total, tasks.into_iter().enumerate(), |(number, places)| {
        let ranges = &ranges[places];
        ordered.put(number, || task(columns, ranges))?;
        let rows: u64 = ranges.iter().map(|range| range.end - range.start).sum();
        Ok(usize::try_from(rows).unwrap_or(usize::MAX).saturating_mul(row_bytes))
    })?;
    Ok(ordered.into_taker())
}

impl Take<Vec<u64>> for Vec<u64> {
    type Rest = ();

    fn take(&mut self, found: Vec<u64>) -> Result<()> {
        self.extend(found);
        Ok(())
    }
}

/// Runs of ranges that follow each other, of about so many rows.
fn tasks(ranges: &[Range<u64>], rows: u64) -> Vec<Range<usize>> {
    let mut tasks: Vec<Range<usize>> = Vec::new();
    for (number, range) in ranges.iter().enumerate() {
        match tasks.last_mut() {
            Some(task)
                if range.start == ranges[number - 1].end
                    && range.end - ranges[task.start].start <= rows.max(1) =>
            {
                task.end = number + 1;
            }
            _ => tasks.push(number..number + 1),
        }
    }
    tasks
}

/// The fingerprints of ranges each of which begins where the one before ends.
fn task(columns: &[Column<'_>], ranges: &[Range<u64>]) -> Result<Vec<u64>> {
    let mut hashes: Vec<Xxh3Default> = ranges.iter().map(|_| Xxh3Default::new()).collect();
    for (number, column) in columns.iter().enumerate() {
        let hashed = match *column {
            Column::Items(source) => {
                let mut hashing = Hashing { ranges, hashes: &mut hashes, item_bytes: source.item_bytes() };
                hashing.source(source)
            }
            Column::Strings { offsets, bytes } => texts(offsets, bytes, ranges, &mut hashes),
        };
        hashed.map_err(|e| e.at(format!("column {number}")))?;
    }
    Ok(hashes.iter().map(Xxh3Default::digest).collect())
}

/// Items that are hashed range by range.
struct Hashing<'h> {
    ranges: &'h [Range<u64>],
    hashes: &'h mut [Xxh3Default],
    item_bytes: usize,
}

impl Hashing<'_> {
    /// Hashes the items of a source in all ranges, which follow each other, chunk by chunk.
    fn source(&mut self, source: &dyn BoxSource) -> Result<()> {
        let (Some(first), Some(last)) = (self.ranges.first(), self.ranges.last()) else { return Ok(()) };
        let (mut at, stop) = (first.start, last.end);
        if at == stop {
            return Ok(());
        }
        let cut = Cut::new(Rows { start: at, stop, step: 1 }, Some(source), &[]);
        while at < stop {
            let chunk = at..cut.chunk_end(at).min(stop);
            let part = at_once(|| self.chunk(source, cut, &chunk));
            part.map_err(|e| e.at(format!("rows {chunk:?}")))?;
            at = chunk.end;
        }
        Ok(())
    }

    fn chunk(&mut self, source: &dyn BoxSource, cut: Cut, chunk: &Range<u64>) -> Result<()> {
        if let Some(item) = source.uniform(&[chunk.start], &[chunk.end - chunk.start]) {
            self.repeated(&item, chunk);
            return Ok(());
        }
        for rows in cut.boxes(chunk) {
            let too_large = |_| Error::limit(format!("a box of rows {rows:?}"));
            let len = usize::try_from(rows.end - rows.start).map_err(too_large)?;
            with_scratch(bytes_of(len, self.item_bytes)?, |room| {
                match source.uniform_or_fill(&[rows.start], &[rows.end - rows.start], room)? {
                    Some(item) => self.repeated(&item, &rows),
                    None => self.items(room, &rows),
                }
                Result::<()>::Ok(())
            })?;
        }
        Ok(())
    }

    /// The ranges that some rows are in: each with its hash, and which of the rows are in it.
    fn each(&mut self, rows: &Range<u64>, mut see: impl FnMut(&mut Xxh3Default, Range<u64>)) {
        let first = self.ranges.partition_point(|range| range.end <= rows.start);
        for (range, hash) in self.ranges.iter().zip(self.hashes.iter_mut()).skip(first) {
            if range.start >= rows.end {
                break;
            }
            see(hash, range.start.max(rows.start) - rows.start..range.end.min(rows.end) - rows.start);
        }
    }

    fn items(&mut self, items: &[u8], rows: &Range<u64>) {
        let item = self.item_bytes;
        // They lie in memory, so they fit.
        let byte = |row: u64| usize::try_from(row).unwrap_or(usize::MAX).saturating_mul(item);
        self.each(rows, |hash, part| hash.update(&items[byte(part.start)..byte(part.end)]));
    }

    fn repeated(&mut self, item: &[u8], rows: &Range<u64>) {
        let at_once = (REPEAT_BYTES / item.len().max(1)).max(1);
        with_scratch(item.len() * at_once, |room| {
            repeat(item, room);
            self.each(rows, |hash, part| {
                let mut left = part.end - part.start;
                while left > 0 {
                    let count = left.min(at_once as u64);
                    hash.update(&room[..item.len() * usize::try_from(count).unwrap_or(at_once)]);
                    left -= count;
                }
            });
        });
    }
}

/// Hashes texts: the lengths of those of a range, then their bytes.
fn texts(
    offsets: &dyn BoxSource,
    bytes: &dyn BoxSource,
    ranges: &[Range<u64>],
    hashes: &mut [Xxh3Default],
) -> Result<()> {
    let mut spans: Vec<Range<u64>> = Vec::with_capacity(ranges.len());
    let len = bytes.shape().first().copied().unwrap_or(0);
    let mut end = 0;
    for (range, hash) in ranges.iter().zip(hashes.iter_mut()) {
        let mut span = None;
        let mut at = range.start;
        // An offset more than texts: that of the next batch is read twice.
        while at < range.end {
            let count = (range.end - at).min(TASK_ROWS);
            let found = with_aligned_scratch(|room| {
                let room =
                    room.room(bytes_of(usize::try_from(count).unwrap_or(usize::MAX) + 1, OFFSET_BYTES)?);
                at_once(|| offsets.fill(&[at], &[count + 1], room))?;
                lengths(items::<i64>(room), end..len, hash).map_err(|e| e.at(format!("rows {at}..")))
            })?;
            end = found.end;
            span = Some(span.map_or(found.start, |span: Range<u64>| span.start)..found.end);
            at += count;
        }
        spans.push(span.unwrap_or(end..end));
    }
    // Mostly there is nothing between the texts of two ranges.
    let mut hashes = hashes;
    for ranges in spans.chunk_by(|before, next| before.end == next.start) {
        let (own, rest) = hashes.split_at_mut(ranges.len());
        Hashing { ranges, hashes: own, item_bytes: 1 }.source(bytes)?;
        hashes = rest;
    }
    Ok(())
}

/// Hashes the lengths of texts between some places, which may take the bytes that are left; from where to where their bytes are.
fn lengths(places: &[i64], left: Range<u64>, hash: &mut Xxh3Default) -> Result<Range<u64>> {
    let mut end = left.start;
    let mut lens = [0; 8 * LENGTHS];
    let place = |place: i64| u64::try_from(place).ok();
    for places in places.windows(LENGTHS + 1).step_by(LENGTHS).chain(rest(places)) {
        for (pair, out) in places.windows(2).zip(lens.chunks_exact_mut(8)) {
            match (place(pair[0]), place(pair[1])) {
                (Some(from), Some(to)) if end <= from && from <= to && to <= left.end => {
                    out.copy_from_slice(&(to - from).to_le_bytes());
                    end = to;
                }
                _ => return Err(misplaced(pair[0], pair[1], end..left.end)),
            }
        }
        hash.update(&lens[..8 * (places.len() - 1)]);
    }
    let start = places.first().copied().and_then(place).unwrap_or(left.start);
    Ok(start..end)
}

/// What is left of places behind the whole batches of lengths.
fn rest(places: &[i64]) -> Option<&[i64]> {
    let texts = places.len().saturating_sub(1);
    let rest = &places[texts / LENGTHS * LENGTHS..];
    (rest.len() > 1).then_some(rest)
}
