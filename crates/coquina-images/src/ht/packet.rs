//! Packets: the code-blocks of one resolution of one component, behind a header that says which there are.
//!
//! In: coded blocks. Out: bytes, and back. There is one layer, one precinct a resolution and one pass a code-block.
//! Source: ISO/IEC 15444-1, B.10.

use super::BLOCK_AREA;
use super::bands::{Band, Cell};
use super::bits::{HeaderReader, HeaderWriter};
use super::tag_tree::TagTree;
use crate::stream::Exponents;

/// The bits that a length has at first.
const LENGTH_BITS: u32 = 3;
/// The most bits of a length that is believed.
const LENGTH_BITS_MAX: u32 = 28;

/// The code-blocks of a band, row by row; those of zeros are empty.
#[derive(Debug)]
pub(super) struct CodedBand {
    pub(super) across: usize,
    pub(super) blocks: Vec<Vec<u8>>,
    /// Bit planes that are not coded before the one pass.
    pub(super) missing_planes: u32,
}

/// Appends a packet.
pub(super) fn write(bands: &[CodedBand], out: &mut Vec<u8>) {
    let mut header = HeaderWriter::new(out);
    header.put(1, 1);
    for band in bands.iter().filter(|band| !band.blocks.is_empty()) {
        let absent = band.blocks.iter().map(|block| u32::from(block.is_empty()));
        let mut inclusion = TagTree::of(band.across, absent);
        let mut missing = TagTree::of(band.across, band.blocks.iter().map(|_| band.missing_planes));
        for (number, block) in band.blocks.iter().enumerate() {
            inclusion.write(number, 1, &mut header);
            if block.is_empty() {
                continue;
            }
            missing.write(number, u32::MAX, &mut header);
            // One pass.
            header.put(0, 1);
            let len = u32::try_from(block.len()).unwrap_or(u32::MAX);
            let more = (len.ilog2() + 1).saturating_sub(LENGTH_BITS);
            (0..more).for_each(|_| header.put(1, 1));
            header.put(0, 1);
            header.put(len, LENGTH_BITS + more);
        }
    }
    header.finish();
    bands.iter().flat_map(|band| &band.blocks).for_each(|block| out.extend_from_slice(block));
}

/// A code-block of a packet.
#[derive(Debug)]
pub(super) struct Piece<'a> {
    pub(super) cell: Cell,
    pub(super) bytes: &'a [u8],
}

/// Reads packets.
#[derive(Debug)]
pub(super) struct PacketReader<'a> {
    left: &'a [u8],
}

impl<'a> PacketReader<'a> {
    pub(super) fn new(left: &'a [u8]) -> Self {
        Self { left }
    }

    /// The code-blocks of the next packet that are not zeros, or `None` if some have more than one pass or less than
    /// all planes. `planes` says how many a band has.
    ///
    /// # Errors
    /// The packet ends early or says what cannot be.
    pub(super) fn packet(
        &mut self,
        bands: &[Band],
        block: Exponents,
        planes: impl Fn(usize) -> u32,
    ) -> Result<Option<Vec<Piece<'a>>>, String> {
        let mut header = HeaderReader::new(self.left);
        let mut found = Vec::new();
        if header.take(1)? == 1 {
            for (number, band) in bands.iter().enumerate() {
                let blocks = band.blocks(block);
                let mut inclusion = TagTree::new(blocks.across, blocks.down);
                let mut missing = TagTree::new(blocks.across, blocks.down);
                for (leaf, cell) in blocks.cells().enumerate() {
                    if inclusion.read(leaf, 1, &mut header)?.is_none() {
                        continue;
                    }
                    let left_out = missing.read(leaf, u32::MAX, &mut header)?.unwrap_or(0);
                    if left_out + 1 != planes(number) || header.take(1)? == 1 {
                        return Ok(None);
                    }
                    found.push((cell, length(&mut header)?));
                }
            }
        }
        let mut left = header.finish()?;
        let mut pieces = Vec::with_capacity(found.len());
        for (cell, len) in found {
            let (bytes, rest) = left
                .split_at_checked(len)
                .ok_or_else(|| format!("packet: a code-block of {len} bytes, {} are left", left.len()))?;
            debug_assert!(cell.columns * cell.height <= BLOCK_AREA, "COD bounds code-blocks");
            pieces.push(Piece { cell, bytes });
            left = rest;
        }
        self.left = left;
        Ok(Some(pieces))
    }
}

/// The length of a code-block.
fn length(header: &mut HeaderReader<'_>) -> Result<usize, String> {
    let mut bits = LENGTH_BITS;
    while header.take(1)? == 1 {
        bits += 1;
    }
    if bits > LENGTH_BITS_MAX {
        return Err(format!("packet: a length of {bits} bits"));
    }
    Ok(header.take(bits)? as usize)
}
