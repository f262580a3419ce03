//! The matching items of a column, one behind another.
//!
//! In: a source, and the matches of a box. Out: their items. Only the blocks of the source that hold matches are
//! decoded, and of a single run of rows that lie close together only these.

use std::ops::Range;

use coquina_kernels::{best_level, compress, count_picked};

use super::walk::Picked;
use crate::array::BoxSource;
use crate::base::error::{Error, Result};
use crate::base::scratch::with_scratch;

/// Makes room for more bytes behind those that there are.
pub(super) fn grow(out: &mut Vec<u8>, bytes: usize) -> Result<&mut [u8]> {
    let old = out.len();
    out.try_reserve(bytes)
        .map_err(|_| Error::limit(format!("a result of {} bytes and more", old + bytes)))?;
    out.resize(old + bytes, 0);
    Ok(&mut out[old..])
}

/// The bytes that so many items have.
pub(super) fn bytes_of(items: usize, item_bytes: usize) -> Result<usize> {
    items.checked_mul(item_bytes).ok_or_else(|| Error::limit(format!("{items} items of {item_bytes} bytes")))
}

/// Fills `out` with the items of the matches; whether anything was decoded.
pub(super) fn gather(source: &dyn BoxSource, picked: &Picked<'_>, out: &mut [u8]) -> Result<bool> {
    let item_bytes = source.item_bytes();
    if let Some(item) = source.uniform(&[picked.start], &[picked.len as u64]) {
        repeat(&item, out);
        return Ok(false);
    }
    let Some(mask) = picked.mask else {
        source.fill(&[picked.start], &[picked.len as u64], out)?;
        return Ok(true);
    };
    let mut written = 0;
    for Run { rows, count } in Runs::new(source, picked.start, mask) {
        let mask = &mask[rows.clone()];
        let (start, len) = (picked.start + rows.start as u64, rows.len() as u64);
        let to = &mut out[written..written + bytes_of(count, item_bytes)?];
        written += to.len();
        if count == rows.len() {
            source.fill(&[start], &[len], to)?;
            continue;
        }
        with_scratch(bytes_of(rows.len(), item_bytes)?, |room| {
            source.fill(&[start], &[len], room)?;
            compress(best_level(), mask, room, item_bytes, to);
            Result::<()>::Ok(())
        })?;
    }
    Ok(true)
}

/// Fills `out` with one item over and over.
pub(super) fn repeat(item: &[u8], out: &mut [u8]) {
    match item {
        [byte] => out.fill(*byte),
        [] => {}
        _ if item.iter().all(|&byte| byte == 0) => out.fill(0),
        _ => out.chunks_exact_mut(item.len()).for_each(|out| out.copy_from_slice(item)),
    }
}

/// Matches that are read at once.
pub(super) struct Run {
    /// Which rows of the box; the first and the last one match, or all rows are those of whole blocks.
    pub(super) rows: Range<usize>,
    /// How many of them match.
    pub(super) count: usize,
}

/// The runs of neighbouring blocks of a source that hold matches.
pub(super) struct Runs<'m> {
    chunk: u64,
    block: u64,
    start: u64,
    mask: &'m [u8],
    at: usize,
}

impl<'m> Runs<'m> {
    /// Those of a box of rows from `start` on.
    pub(super) fn new(source: &dyn BoxSource, start: u64, mask: &'m [u8]) -> Self {
        let walk = source.walk();
        let one = |lens: &[u64]| lens.first().copied().unwrap_or(u64::MAX).max(1);
        let chunk = one(&walk.chunks);
        Self { chunk, block: one(&walk.blocks).min(chunk), start, mask, at: 0 }
    }

    /// The matches of the block that the next row is in.
    fn next_block(&mut self) -> Option<(Range<usize>, usize)> {
        if self.at == self.mask.len() {
            return None;
        }
        let row = self.start + self.at as u64;
        let end = super::rows::end_of(row, self.chunk, self.block) - self.start;
        let end = usize::try_from(end).unwrap_or(usize::MAX).min(self.mask.len());
        let rows = self.at..end;
        self.at = end;
        let count = count_picked(best_level(), &self.mask[rows.clone()]);
        Some((rows, count))
    }
}

impl Iterator for Runs<'_> {
    type Item = Run;

    fn next(&mut self) -> Option<Run> {
        let mut run: Option<Run> = None;
        loop {
            let before = self.at;
            match (&mut run, self.next_block()) {
                (_, None) => break,
                (None, Some((_, 0))) => {}
                (Some(_), Some((_, 0))) => {
                    self.at = before;
                    break;
                }
                (None, Some((rows, count))) => run = Some(Run { rows, count }),
                (Some(run), Some((rows, count))) => {
                    run.rows.end = rows.end;
                    run.count += count;
                }
            }
        }
        let Run { rows, count } = run?;
        let mask = &self.mask[rows.clone()];
        let (first, last) = ends(mask).unwrap_or((0, mask.len() - 1));
        // Whole blocks are decoded to where they are wanted, parts of them are copied there.
        let is_part = last + 1 - first <= mask.len() / 2;
        let rows = if is_part { rows.start + first..rows.start + last + 1 } else { rows };
        Some(Run { rows, count })
    }
}

/// So many bytes of a mask are looked at together.
const GROUP: usize = 64;

/// The first and the last picked row.
fn ends(mask: &[u8]) -> Option<(usize, usize)> {
    let is_picked = |group: &[u8]| group.iter().fold(0, |all, byte| all | byte) != 0;
    let at = mask.chunks(GROUP).position(is_picked)? * GROUP;
    let first = at + mask[at..].iter().position(|&byte| byte != 0)?;
    let end = mask.len() - mask.rchunks(GROUP).position(is_picked)? * GROUP;
    Some((first, mask[..end].iter().rposition(|&byte| byte != 0)?))
}
