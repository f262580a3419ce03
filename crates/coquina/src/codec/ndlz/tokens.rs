//! The tokens of cells, and which rows of a cell each takes from earlier in the stream.
//!
//! Source: `docs/formats/codecs.md`, "NDLZ", the table of tokens. Rows are bits: the first one is bit 0.

/// The cell as it is.
pub(super) const LITERAL: u8 = 0x00;
/// One byte over and over.
pub(super) const RUN: u8 = 0x40;
/// A whole cell from earlier.
pub(super) const COPY: u8 = 0xc0;

/// A token, and the rows that it takes from the first place that it names.
pub(super) type Rows = (u8, u8);

/// Two rows from one place and the two others from another.
static PAIRS: [Rows; 3] = [(0x28, 0b0011), (0x30, 0b0101), (0x38, 0b1001)];

/// Some rows from one place, the others follow as they are: first those of three rows.
static ROWS_OF_4: [Rows; 10] = [
    (0xe0, 0b1110),
    (0xe8, 0b0111),
    (0xf0, 0b1011),
    (0xf8, 0b1101),
    (0x80, 0b1100),
    (0x88, 0b0011),
    (0x90, 0b0101),
    (0x98, 0b1001),
    (0xb0, 0b0110),
    (0xb8, 0b1010),
];

/// The same for cells of side 8, where rows are neighbours.
static ROWS_OF_8: [Rows; 13] = [
    (0xa8, 0b111),
    (0xa9, 0b111 << 1),
    (0xaa, 0b111 << 2),
    (0xab, 0b111 << 3),
    (0xac, 0b111 << 4),
    (0xad, 0b111 << 5),
    (0x88, 0b11),
    (0x89, 0b11 << 1),
    (0x8a, 0b11 << 2),
    (0x8b, 0b11 << 3),
    (0x8c, 0b11 << 4),
    (0x8d, 0b11 << 5),
    (0x8e, 0b11 << 6),
];

/// The tokens of some rows, those of more rows first.
pub(super) fn rows(side: usize) -> &'static [Rows] {
    if side == 4 { &ROWS_OF_4 } else { &ROWS_OF_8 }
}

/// The tokens of two pairs of rows.
pub(super) fn pairs(side: usize) -> &'static [Rows] {
    if side == 4 { &PAIRS } else { &[] }
}

/// The rows that a token of the table takes.
pub(super) fn taken(table: &[Rows], token: u8) -> Option<u8> {
    table.iter().find(|(known, _)| *known == token).map(|(_, rows)| *rows)
}
