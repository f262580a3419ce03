//! Byte shuffle: puts the first bytes of all elements together, then the second bytes, and so on.
//!
//! In: `n * width` bytes and a tail. Out: as many bytes; the tail is copied as it is.
//! Source: `docs/formats/filters.md`, "Shuffle".
//! Invariant: `unshuffle(shuffle(x)) == x` for every length and every width.
//!
//! Naively: `out[j * n + i] = in[i * width + j]`. All variants instead transpose blocks of 16, 32 or 64 elements in
//! registers, so that whole registers are read and written. The last block is aligned to the last element and
//! redoes a part of the one before; widths above 16 are cut in tiles of 16 columns, the last one aligned to the
//! last column in the same way. What is left to the naive loop is fewer than 16 elements.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod portable;
mod register;

#[cfg(target_arch = "x86_64")]
use crate::level::Isa;
use crate::level::Level;

/// The rows that [`split_by_stage`] does at a time.
const STAGE_ROWS: usize = 128;

/// How rows of bytes (elements, or some columns of them) and streams (a column's bytes) lie in memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    /// Bytes of each row that are moved, the first ones. At least 1.
    pub(crate) width: usize,
    /// From the start of a row to that of the next: `width`; or more, for a width of 16 and above.
    pub(crate) row_step: usize,
    /// The number of rows.
    pub(crate) rows: usize,
    /// From the start of a stream to that of the next: `rows` or more.
    pub(crate) stream_step: usize,
}

impl Layout {
    /// Elements side by side, and streams side by side.
    fn dense(width: usize, rows: usize) -> Self {
        Self { width, row_step: width, rows, stream_step: rows }
    }

    /// Whether 16 streams, written in turn and each by less than a cache line, would throw each other out of a
    /// first-level cache: they are a multiple of 4 KiB apart, so they share a few of its places.
    fn is_crowded(&self) -> bool {
        self.width >= 16 && self.rows >= STAGE_ROWS && self.stream_step.is_multiple_of(4096)
    }

    /// Panics unless rows and streams fit in their buffers and do not overlap.
    fn check(&self, row_bytes: usize, stream_bytes: usize) {
        let is_dense = self.row_step == self.width || (self.row_step > self.width && self.width >= 16);
        assert!(self.width > 0 && is_dense && self.stream_step >= self.rows, "{self:?}");
        if let Some(last) = self.rows.checked_sub(1) {
            assert!(last * self.row_step + self.width <= row_bytes, "{self:?}, {row_bytes} bytes");
            let end = (self.width - 1) * self.stream_step + self.rows;
            assert!(end <= stream_bytes, "{self:?}, {stream_bytes} bytes");
        }
    }
}

/// Shuffles the whole elements of `src` into `dst` and copies the tail.
///
/// Panics if the lengths differ or `width` is 0.
pub fn shuffle(level: Level, width: usize, src: &[u8], dst: &mut [u8]) {
    assert_eq!(src.len(), dst.len(), "a filter never changes the length");
    let layout = Layout::dense(width, src.len() / width);
    let whole_bytes = layout.rows * width;
    let (whole, tail) = dst.split_at_mut(whole_bytes);
    tail.copy_from_slice(&src[whole_bytes..]);
    split(level, layout, &src[..whole_bytes], whole);
}

/// The inverse of [`shuffle`].
///
/// Panics if the lengths differ or `width` is 0.
pub fn unshuffle(level: Level, width: usize, src: &[u8], dst: &mut [u8]) {
    assert_eq!(src.len(), dst.len(), "a filter never changes the length");
    let layout = Layout::dense(width, src.len() / width);
    let whole_bytes = layout.rows * width;
    let (whole, tail) = dst.split_at_mut(whole_bytes);
    tail.copy_from_slice(&src[whole_bytes..]);
    join(level, layout, &src[..whole_bytes], whole);
}

/// Moves rows to streams: `streams[j * stream_step + i] = rows[i * row_step + j]`.
pub(crate) fn split(level: Level, layout: Layout, rows: &[u8], streams: &mut [u8]) {
    layout.check(rows.len(), streams.len());
    if layout.width == 1 {
        streams[..layout.rows].copy_from_slice(&rows[..layout.rows]);
        return;
    }
    match level.0 {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: an `Avx512` level exists only where `levels` has found these features on this CPU.
        Isa::Avx512 if layout.rows >= avx512::ROWS => unsafe { avx512::split(layout, rows, streams) },
        _ if layout.is_crowded() => split_by_stage(level, layout, rows, streams),
        #[cfg(target_arch = "x86_64")]
        // SAFETY: an `Avx2` or `Avx512` level exists only where `levels` has found AVX2 on this CPU.
        Isa::Avx2 | Isa::Avx512 if layout.rows >= avx2::ROWS => unsafe { avx2::split(layout, rows, streams) },
        _ if layout.rows >= portable::ROWS => portable::split(layout, rows, streams),
        _ => split_naively(layout, rows, streams),
    }
}

/// Moves streams to rows: `rows[i * row_step + j] = streams[j * stream_step + i]`.
///
/// Bytes between the rows stay as they are; the up to 15 bytes after the last row may get any value.
pub(crate) fn join(level: Level, layout: Layout, streams: &[u8], rows: &mut [u8]) {
    layout.check(rows.len(), streams.len());
    if layout.width == 1 {
        rows[..layout.rows].copy_from_slice(&streams[..layout.rows]);
        return;
    }
    match level.0 {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: an `Avx512` level exists only where `levels` has found these features on this CPU.
        Isa::Avx512 if avx512::joins(layout) => unsafe { avx512::join(layout, streams, rows) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: an `Avx2` or `Avx512` level exists only where `levels` has found AVX2 on this CPU.
        Isa::Avx2 | Isa::Avx512 if layout.rows >= avx2::ROWS => unsafe { avx2::join(layout, streams, rows) },
        _ if layout.rows >= portable::ROWS => portable::join(layout, streams, rows),
        _ => join_naively(layout, streams, rows),
    }
}

/// [`split`] for [crowded](Layout::is_crowded) streams: by way of a small buffer, from which whole cache lines are
/// copied.
fn split_by_stage(level: Level, layout: Layout, rows: &[u8], streams: &mut [u8]) {
    let mut stage = [0; 16 * STAGE_ROWS];
    let tile = Layout { width: 16, rows: STAGE_ROWS, stream_step: STAGE_ROWS, ..layout };
    for row in starts_with_lead(layout.rows, STAGE_ROWS, lead(layout, streams, 64)) {
        for column in starts(layout.width, 16) {
            split(level, tile, &rows[row * layout.row_step + column..], &mut stage);
            for (j, stream) in stage.chunks_exact(STAGE_ROWS).enumerate() {
                let at = (column + j) * layout.stream_step + row;
                streams[at..at + STAGE_ROWS].copy_from_slice(stream);
            }
        }
    }
}

/// The definition of [`split`], and its way for a few rows.
fn split_naively(layout: Layout, rows: &[u8], streams: &mut [u8]) {
    for (i, row) in rows.chunks(layout.row_step).take(layout.rows).enumerate() {
        for (stream, &byte) in streams.chunks_mut(layout.stream_step).zip(&row[..layout.width]) {
            stream[i] = byte;
        }
    }
}

/// The definition of [`join`], and its way for a few rows.
fn join_naively(layout: Layout, streams: &[u8], rows: &mut [u8]) {
    for (i, row) in rows.chunks_mut(layout.row_step).take(layout.rows).enumerate() {
        for (stream, byte) in streams.chunks(layout.stream_step).zip(&mut row[..layout.width]) {
            *byte = stream[i];
        }
    }
}

/// The starts of the pieces of `piece` that cover `0..count`, the last one aligned to the end: `count >= piece`.
fn starts(count: usize, piece: usize) -> impl Iterator<Item = usize> {
    starts_with_lead(count, piece, 0)
}

/// The same, but for the second piece, which starts at `lead` if that is not 0: at most `piece`.
fn starts_with_lead(count: usize, piece: usize, lead: usize) -> impl Iterator<Item = usize> {
    let last = count - piece;
    let first = (lead > 0).then_some(0);
    first.into_iter().chain((lead..count).step_by(piece)).map(move |start| start.min(last))
}

/// The rows to do apart so that all later pieces of `piece` rows are written to aligned places, if there is such a
/// number and many such pieces: stores across two cache lines halve the speed.
fn lead(layout: Layout, streams: &[u8], piece: usize) -> usize {
    let offset = streams.as_ptr().align_offset(piece);
    let pays = layout.stream_step.is_multiple_of(piece) && layout.rows >= 8 * piece;
    if pays && offset < piece { offset } else { 0 }
}

#[cfg(test)]
mod tests;
