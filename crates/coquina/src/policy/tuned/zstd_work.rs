//! What a stream of Zstd holds, by the headers of its blocks: nothing is decoded.
//!
//! Source: RFC 8878, sections 3.1.1.1 to 3.1.1.3.

use super::counts::Counts;

const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
const BLOCK_HEADER_BYTES: usize = 3;
/// Kinds of blocks, and of the literals in one.
const RAW: u8 = 0;
const RUN: u8 = 1;
const COMPRESSED: u8 = 2;
/// Of the three kinds of codes that sequences have, one whose table stands in the stream.
const OWN_TABLE: u8 = 2;

/// What is in a stream, in front of what is not one.
pub(super) fn counted(stream: &[u8]) -> Counts {
    let mut counts = Counts::default();
    let _end = blocks(stream, &mut counts);
    counts
}

/// Counts the blocks of a frame; `None` at what is no block.
fn blocks(stream: &[u8], counts: &mut Counts) -> Option<()> {
    let mut rest = behind_frame_header(stream)?;
    loop {
        let (header, tail) = rest.split_at_checked(BLOCK_HEADER_BYTES)?;
        let header = little_endian(header);
        let bytes = header >> 3;
        let kind = low(header >> 1, 2);
        let stored = if kind == RUN { 1 } else { bytes };
        let (block, tail) = tail.split_at_checked(stored)?;
        match kind {
            RAW => counts.raw += bytes,
            COMPRESSED => sections(block, counts)?,
            _ => {}
        }
        if header & 1 == 1 {
            return Some(());
        }
        rest = tail;
    }
}

/// What follows the header of a frame.
fn behind_frame_header(stream: &[u8]) -> Option<&[u8]> {
    let (&descriptor, rest) = stream.strip_prefix(&MAGIC)?.split_first()?;
    let is_single = descriptor >> 5 & 1 == 1;
    let window = usize::from(!is_single);
    let dictionary = [0, 1, 2, 4][usize::from(descriptor & 3)];
    let size = [usize::from(is_single), 2, 4, 8][usize::from(descriptor >> 6)];
    rest.get(window + dictionary + size..)
}

/// Counts the literals and the sequences of a compressed block.
fn sections(block: &[u8], counts: &mut Counts) -> Option<()> {
    let (&first, _) = block.split_first()?;
    let (kind, format) = (first & 3, first >> 2 & 3);
    let literals_end = if kind == RAW || kind == RUN {
        // A size of 5, 12 or 20 bits.
        let (header_bytes, shift) = [(1, 3), (2, 4), (1, 3), (3, 4)][usize::from(format)];
        let bytes = little_endian(block.get(..header_bytes)?) >> shift;
        if kind == RAW {
            counts.literals += bytes;
        }
        header_bytes + if kind == RAW { bytes } else { 1 }
    } else {
        // Two sizes of as many bits, plain and encoded.
        let (header_bytes, bits) = [(3, 10), (3, 10), (4, 14), (5, 18)][usize::from(format)];
        let sizes = little_endian(block.get(..header_bytes)?) >> 4;
        let size = |number: usize| sizes >> (bits * number) & ((1 << bits) - 1);
        counts.coded += size(0);
        header_bytes + size(1)
    };
    let rest = block.get(literals_end..)?;
    let (sequences, rest) = count_of_sequences(rest)?;
    counts.sequences += sequences;
    if sequences > 0 {
        let modes = *rest.first()?;
        counts.tables += [2, 4, 6].into_iter().filter(|&at| modes >> at & 3 == OWN_TABLE).count();
    }
    Some(())
}

/// How many sequences a block says to have, and what follows.
fn count_of_sequences(section: &[u8]) -> Option<(usize, &[u8])> {
    let (&first, rest) = section.split_first()?;
    let more = |count: usize| rest.split_at_checked(count);
    match first {
        0..128 => Some((first.into(), rest)),
        128..255 => more(1).map(|(low, rest)| (((usize::from(first) - 128) << 8) + little_endian(low), rest)),
        255 => more(2).map(|(count, rest)| (little_endian(count) + 0x7f00, rest)),
    }
}

fn little_endian(bytes: &[u8]) -> usize {
    bytes.iter().rev().fold(0, |number, &byte| number << 8 | usize::from(byte))
}

fn low(number: usize, bits: u32) -> u8 {
    u8::try_from(number & ((1 << bits) - 1)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A frame of one segment, whose blocks are these.
    fn frame(blocks: &[&[u8]]) -> Vec<u8> {
        let mut made = [MAGIC.as_slice(), &[0x20, 200]].concat();
        blocks.iter().for_each(|block| made.extend_from_slice(block));
        made
    }

    #[test]
    fn blocks_are_counted_by_their_headers() {
        // Five bytes as they are; a run of nine; then the last: four literals as they are, two sequences, one table.
        let raw = [5 << 3, 0, 0, 1, 2, 3, 4, 5];
        let run = [(9 << 3) | 2, 0, 0, 7];
        let sequences = [(9 << 3) | 5, 0, 0, 4 << 3, 1, 2, 3, 4, 2, 0b10_00_01_00, 9, 9];
        let found = counted(&frame(&[&raw, &run, &sequences]));
        assert_eq!(found, Counts { raw: 5, literals: 4, sequences: 2, tables: 1, ..Counts::default() });
        // Literals behind a code: 300 bytes in 2; many sequences.
        let sizes = (2_u32 | (300 << 4) | (2 << 14)).to_le_bytes();
        let coded = [&[(9 << 3) | 5, 0, 0][..], &sizes[..3], &[8, 8], &[130, 1, 0b10_10_10_00, 0]].concat();
        let found = counted(&frame(&[&coded]));
        assert_eq!(found, Counts { coded: 300, sequences: 513, tables: 3, ..Counts::default() });
        for end in 0..coded.len() {
            assert!(counted(&frame(&[&coded[..end]])).sequences <= 513);
        }
        assert_eq!(counted(b"no frame"), Counts::default());
    }
}
