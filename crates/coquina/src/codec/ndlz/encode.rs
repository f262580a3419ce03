//! Blocks to NDLZ streams.
//!
//! Rows that were seen are found by a hash of their bytes, in the literal cells that are already in the stream; the
//! token that leaves the fewest bytes is tried first.
//! Source: `docs/formats/codecs.md`, "NDLZ".
//! Invariant: a place is taken only if the bytes there are the same.

use coquina_kernels::run_value;

use super::{AXES, Cell, Cells, HEADER_BYTES, tokens};

/// Places that are remembered, and bits of their numbers.
const PLACES_BITS: u32 = 13;
/// The farthest place that a token can name.
const OFFSET_MAX: usize = u16::MAX as usize;

/// Writes the stream of a block; `None` if it does not fit.
pub(super) fn encode(cells: Cells, block: &[u8], out: &mut [u8]) -> Option<usize> {
    let mut writer = Writer { out, at: 0, places: vec![0; 1 << PLACES_BITS] };
    writer.put(&[AXES])?;
    for length in [cells.height, cells.width] {
        writer.put(&i32::try_from(length).ok()?.to_le_bytes())?;
    }
    debug_assert_eq!(writer.at, HEADER_BYTES);
    let mut bytes = [0; 64];
    for cell in cells.each() {
        let bytes = &mut bytes[..cell.height * cell.width];
        let rows = block[cell.first..].chunks(cells.width);
        for (out, row) in bytes.chunks_exact_mut(cell.width).zip(rows) {
            out.copy_from_slice(&row[..cell.width]);
        }
        writer.cell(cells, &cell, bytes)?;
    }
    Some(writer.at)
}

struct Writer<'a> {
    out: &'a mut [u8],
    at: usize,
    /// Where bytes of a hash stand in the output; 0 for nowhere, since the header stands there.
    places: Vec<u32>,
}

impl Writer<'_> {
    fn put(&mut self, bytes: &[u8]) -> Option<()> {
        self.out.get_mut(self.at..)?.get_mut(..bytes.len())?.copy_from_slice(bytes);
        self.at += bytes.len();
        Some(())
    }

    fn cell(&mut self, cells: Cells, cell: &Cell, bytes: &[u8]) -> Option<()> {
        if !cells.is_whole(cell) {
            self.put(&[tokens::LITERAL])?;
            return self.put(bytes);
        }
        if let Some(value) = run_value(bytes) {
            return self.put(&[tokens::RUN, value]);
        }
        if let Some(offset) = self.earlier(bytes) {
            self.put(&[tokens::COPY])?;
            return self.put(&offset);
        }
        let side = cells.side;
        for &(token, rows) in tokens::pairs(side) {
            let (first, second) = (picked(bytes, side, rows), picked(bytes, side, !rows));
            if let (Some(first), Some(second)) = (self.earlier(first.bytes()), self.earlier(second.bytes())) {
                self.put(&[token])?;
                self.put(&first)?;
                return self.put(&second);
            }
        }
        for &(token, rows) in tokens::rows(side) {
            if let Some(offset) = self.earlier(picked(bytes, side, rows).bytes()) {
                self.put(&[token])?;
                self.put(&offset)?;
                return self.put(picked(bytes, side, !rows).bytes());
            }
        }
        self.literal(side, bytes)
    }

    /// A whole cell as it is, which later ones may repeat.
    fn literal(&mut self, side: usize, bytes: &[u8]) -> Option<()> {
        self.put(&[tokens::LITERAL])?;
        let start = self.at;
        self.put(bytes)?;
        for count in [2, 3, side] {
            for row in 0..=side - count {
                let place = u32::try_from(start + row * side).ok()?;
                self.places[hash(&bytes[row * side..(row + count) * side])] = place;
            }
        }
        Some(())
    }

    /// How far before the token to come the same bytes stand, as a token says it.
    fn earlier(&self, bytes: &[u8]) -> Option<[u8; 2]> {
        let place = self.places[hash(bytes)] as usize;
        let offset = self.at - place;
        let is_same = place > 0 && offset <= OFFSET_MAX && self.out.get(place..place + bytes.len())? == bytes;
        u16::try_from(offset).ok().filter(|_| is_same).map(u16::to_le_bytes)
    }
}

/// Some rows of a cell, one behind another.
struct Picked {
    bytes: [u8; 64],
    len: usize,
}

impl Picked {
    fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

fn picked(bytes: &[u8], side: usize, rows: u8) -> Picked {
    let mut picked = Picked { bytes: [0; 64], len: 0 };
    for (number, row) in bytes.chunks_exact(side).enumerate() {
        if rows >> number & 1 == 1 {
            picked.bytes[picked.len..picked.len + side].copy_from_slice(row);
            picked.len += side;
        }
    }
    picked
}

/// The place in the table for bytes, of which there is a multiple of four.
fn hash(bytes: &[u8]) -> usize {
    let words = bytes.as_chunks().0.iter();
    let mixed = words.fold(bytes.len() as u64, |mixed, &word| {
        (mixed ^ u64::from(u32::from_le_bytes(word))).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
    });
    usize::try_from(mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - PLACES_BITS)).unwrap_or(0)
}
