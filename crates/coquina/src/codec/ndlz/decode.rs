//! NDLZ streams back to blocks.
//!
//! In: a stream. Out: a block of exactly as many bytes as the stream says.
//! Source: `docs/formats/codecs.md`, "NDLZ".
//! Invariant: nothing is read outside of the stream, and every byte of the block is written.

use super::{AXES, Cell, Cells, HEADER_BYTES, tokens};

/// Fills `out`; `None` for a stream that does not hold it.
pub(super) fn decode(side: usize, stream: &[u8], out: &mut [u8]) -> Option<()> {
    let [axes, height @ .., w0, w1, w2, w3] = *stream.first_chunk::<HEADER_BYTES>()?;
    let length = |bytes| usize::try_from(i32::from_le_bytes(bytes)).ok();
    let (height, width) = (length(height)?, length([w0, w1, w2, w3])?);
    // Rows of nothing would be walked all the same.
    if axes != AXES || width == 0 || height.checked_mul(width)? != out.len() {
        return None;
    }
    let cells = Cells { height, width, side };
    let mut reader = Reader { stream, at: HEADER_BYTES };
    for cell in cells.each() {
        reader.cell(cells, &cell, out)?;
    }
    Some(())
}

struct Reader<'a> {
    stream: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let taken = self.stream.get(self.at..)?.get(..count)?;
        self.at += count;
        Some(taken)
    }

    /// Bytes that stand so far before the token, which is read from here.
    fn earlier(&mut self, token_at: usize, count: usize) -> Option<&'a [u8]> {
        let offset = u16::from_le_bytes(*self.take(2)?.first_chunk()?);
        self.stream.get(token_at.checked_sub(offset.into())?..)?.get(..count)
    }

    fn cell(&mut self, cells: Cells, cell: &Cell, out: &mut [u8]) -> Option<()> {
        let token_at = self.at;
        let [token] = *self.take(1)?.first_chunk()?;
        let bytes = cell.height * cell.width;
        match token {
            tokens::LITERAL => put_rows(self.take(bytes)?, cells, cell, out),
            tokens::RUN => {
                let [value] = *self.take(1)?.first_chunk()?;
                put_rows(&[value; 64][..bytes], cells, cell, out)
            }
            tokens::COPY => put_rows(self.earlier(token_at, bytes)?, cells, cell, out),
            _ if !cells.is_whole(cell) => None,
            _ => self.rows(token_at, token, cells, cell, out),
        }
    }

    /// A whole cell of rows from two places.
    fn rows(&mut self, token_at: usize, token: u8, cells: Cells, cell: &Cell, out: &mut [u8]) -> Option<()> {
        let side = cells.side;
        let bytes = |rows: u8| side * rows.count_ones() as usize;
        let (rows, first, second) = match tokens::taken(tokens::rows(side), token) {
            Some(rows) => {
                let first = self.earlier(token_at, bytes(rows))?;
                (rows, first, self.take(side * side - bytes(rows))?)
            }
            None => {
                let rows = tokens::taken(tokens::pairs(side), token)?;
                let first = self.earlier(token_at, bytes(rows))?;
                (rows, first, self.earlier(token_at, side * side - bytes(rows))?)
            }
        };
        let (mut first, mut second) = (first.chunks_exact(side), second.chunks_exact(side));
        let mut whole = [0; 64];
        for (number, row) in whole.chunks_exact_mut(side).take(side).enumerate() {
            let source = if rows >> number & 1 == 1 { first.next() } else { second.next() };
            row.copy_from_slice(source?);
        }
        put_rows(&whole[..side * side], cells, cell, out)
    }
}

/// Puts the rows of a cell, one behind another, to their places.
fn put_rows(bytes: &[u8], cells: Cells, cell: &Cell, out: &mut [u8]) -> Option<()> {
    let rows = out.get_mut(cell.first..)?.chunks_mut(cells.width);
    for (row, bytes) in rows.zip(bytes.chunks_exact(cell.width)) {
        row.get_mut(..cell.width)?.copy_from_slice(bytes);
    }
    Some(())
}
