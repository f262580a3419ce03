//! Indexes of chunks of HDF5 files: the target, its seeds, and mutations that make checksums true again.
//!
//! An input is the address of an object header, the places of the blocks with a checksum (for the mutations alone),
//! and the file: `header u64 | count u16 | count x (start u32, bytes u32) | file`, little-endian.

use std::fs;
use std::path::Path;

use coquina::hdf5::{ChunkRow, Layout, lookup3, read_index};
use coquina::{Limits, ReadAt, Result};

use crate::mutate::{Random, flip_bit, repeat, set_byte, splice};
use crate::targets::LIMITS;

/// Longer files than that take too long to be copied for each mutation.
const SEED_BYTES_MAX: usize = 23_000;
/// Of a block with a checksum; those of arrays and trees in small files are shorter.
const BLOCK_BYTES_MAX: usize = 2100;
const SIGNATURES: [&[u8]; 12] = [
    b"\x89HDF", b"OHDR", b"OCHK", b"BTHD", b"BTIN", b"BTLF", b"FAHD", b"FADB", b"EAHD", b"EAIB", b"EASB",
    b"EADB",
];
const EDGES: [u64; 10] = [0, 1, 2, 255, 0xffff, 0x7fff_ffff, 0xffff_ffff, 1 << 40, u64::MAX >> 1, u64::MAX];

/// Bytes that must be read, as those of a file on disk.
struct Disk<'a>(&'a [u8]);

impl ReadAt for Disk<'_> {
    fn len(&self) -> Result<u64> {
        Ok(self.0.len() as u64)
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> Result<()> {
        self.0.read_exact_at(buffer, offset)
    }
}

/// What an input holds.
struct Parts {
    header: u64,
    /// Start and bytes of what a checksum follows, in the file.
    blocks: Vec<(usize, usize)>,
    /// Where the file starts in the input.
    file: usize,
}

fn parts(input: &[u8]) -> Option<Parts> {
    let (header, rest) = input.split_first_chunk::<8>()?;
    let (count, rest) = rest.split_first_chunk::<2>()?;
    let count = usize::from(u16::from_le_bytes(*count));
    let number = |bytes: &[u8]| usize::try_from(u32::from_le_bytes(bytes.try_into().ok()?)).ok();
    let block = |bytes: &[u8]| Some((number(&bytes[..4])?, number(&bytes[4..])?));
    let blocks = rest.get(..8 * count)?.chunks_exact(8).map(block).collect::<Option<_>>()?;
    Some(Parts { header: u64::from_le_bytes(*header), blocks, file: 10 + 8 * count })
}

/// The rows are the same from memory and from a disk, are no more than the file has bytes, and stand in the grid.
pub(crate) fn hdf5_index(input: &[u8]) -> bool {
    let Some(parts) = parts(input) else { return false };
    let file = &input[parts.file..];
    let (rows, layout) = rows_of(&file, parts.header, &LIMITS);
    assert!(rows.len() <= file.len(), "{} rows of {} bytes", rows.len(), file.len());
    let again = rows_of(&Disk(file), parts.header, &LIMITS);
    assert!(again.0 == rows && again.1.is_ok() == layout.is_ok(), "other rows from a disk");
    let Ok(layout) = layout else { return false };
    if let Layout::Chunked { dims, .. } = layout {
        for (start, _) in rows {
            assert!(
                start.iter().zip(&dims).all(|(at, dim)| at % dim == 0),
                "a chunk at {start:?} of {dims:?}"
            );
        }
    }
    true
}

fn rows_of(file: &dyn ReadAt, header: u64, limits: &Limits) -> (Vec<(Vec<u64>, ChunkRow)>, Result<Layout>) {
    let mut rows = Vec::new();
    let layout = read_index(file, header, limits, &mut |start, row| {
        // A few are enough to compare; memory is counted.
        if rows.len() < 1000 {
            rows.push((start.to_vec(), row));
        }
        Ok(())
    });
    (rows, layout)
}

/// Golden files, one input for each dataset in them.
pub(crate) fn hdf5_files() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/golden/hdf5");
    let tables = fs::read_to_string(folder.join("index-tables.txt")).unwrap_or_default();
    let mut seeds = Vec::new();
    let mut last = (String::new(), Vec::new(), Vec::new());
    for line in tables.lines().filter(|line| !line.starts_with(' ')) {
        let [name, _, _, header, ..] = line.split(' ').collect::<Vec<_>>()[..] else { continue };
        if last.0 != name {
            let file = fs::read(folder.join(name)).unwrap_or_default();
            let blocks = if file.len() > SEED_BYTES_MAX { Vec::new() } else { blocks_of(&file) };
            last = (name.to_owned(), file, blocks);
        }
        let (_, file, blocks) = &last;
        if file.len() > SEED_BYTES_MAX {
            continue;
        }
        let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX).to_le_bytes();
        let header = header.parse().unwrap_or(0);
        // Those of other datasets in the file are left alone: nobody would see what happens to them.
        let blocks: Vec<_> = blocks.iter().filter(|block| is_read(file, header, **block)).collect();
        let mut seed = header.to_le_bytes().to_vec();
        seed.extend(u16::try_from(blocks.len()).unwrap_or(0).to_le_bytes());
        seed.extend(blocks.iter().flat_map(|&&(start, bytes)| [number(start), number(bytes)]).flatten());
        seed.extend_from_slice(file);
        seeds.push(seed);
    }
    seeds
}

/// Whether damage to this block is seen by who reads the dataset.
fn is_read(file: &[u8], header: u64, (start, bytes): (usize, usize)) -> bool {
    let mut damaged = file.to_vec();
    damaged[start + bytes] ^= 1;
    rows_of(&damaged, header, &LIMITS).1.is_err()
}

/// Blocks that start with a signature and end with their checksum.
fn blocks_of(file: &[u8]) -> Vec<(usize, usize)> {
    let starts = (0..file.len()).filter(|&at| SIGNATURES.iter().any(|name| file[at..].starts_with(name)));
    let is_summed = |start: usize, bytes: usize| {
        let block = file.get(start..start + bytes);
        let stored = file.get(start + bytes..start + bytes + 4);
        block.zip(stored).is_some_and(|(block, stored)| lookup3(block).to_le_bytes() == stored)
    };
    let summed =
        |start| (8..BLOCK_BYTES_MAX).find(|&bytes| is_summed(start, bytes)).map(|bytes| (start, bytes));
    starts.filter_map(summed).collect()
}

/// A file that somebody made to be read: mostly, checksums are true again.
pub(crate) fn mutate_hdf5(seed: &[u8], other: &[u8], random: &mut Random) -> Vec<u8> {
    let Some(parts) = parts(seed) else { return seed.to_vec() };
    let mut file = seed[parts.file..].to_vec();
    let other = other.get(parts.file..).unwrap_or_default();
    for _ in 0..=random.below(3) {
        match random.below(12) {
            0 => flip_bit(&mut file, random),
            1 => set_byte(&mut file, random),
            2 => file.truncate(random.below(file.len() + 1)),
            3 => splice(&mut file, other, random),
            4 => repeat(&mut file, random),
            5 => mutate_node(&mut file, random),
            _ => mutate_block(&mut file, &parts.blocks, random),
        }
    }
    if random.below(4) > 0 {
        for &(start, bytes) in &parts.blocks {
            let Some(block) = file.get(start..start + bytes) else { continue };
            let sum = lookup3(block).to_le_bytes();
            if let Some(stored) = file.get_mut(start + bytes..start + bytes + 4) {
                stored.copy_from_slice(&sum);
            }
        }
    }
    let mut input = seed[..parts.file].to_vec();
    input.append(&mut file);
    input
}

/// A field of a block with a checksum.
fn mutate_block(file: &mut [u8], blocks: &[(usize, usize)], random: &mut Random) {
    if blocks.is_empty() {
        return mutate_node(file, random);
    }
    let (start, bytes) = random.one_of(blocks);
    // Most blocks keep what decides over the rest in their first bytes.
    let within = if random.below(2) == 0 { bytes.min(40) } else { bytes };
    put_number(file, start + random.below(within), blocks, random);
}

/// A field of a node of a version 1 B-tree, or of a header of version 1, which have no checksums.
fn mutate_node(file: &mut [u8], random: &mut Random) {
    let from = random.below(file.len());
    let near = file.get(from..).unwrap_or_default().windows(4).position(|name| name == b"TREE").unwrap_or(0);
    put_number(file, from + near + random.below(120), &[], random);
}

/// A number at an edge, the address of a block, or near the one that stands there.
fn put_number(file: &mut [u8], at: usize, blocks: &[(usize, usize)], random: &mut Random) {
    let width = random.one_of(&[1, 1, 2, 4, 8]);
    let near = u64::from(random.byte() % 9);
    let Some(field) = file.get_mut(at..at + width) else { return };
    let old = field.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte));
    let number = match random.below(3) {
        0 => random.one_of(&EDGES),
        1 if !blocks.is_empty() => random.one_of(blocks).0 as u64,
        _ => old.wrapping_add(near).wrapping_sub(4),
    };
    field.copy_from_slice(&number.to_le_bytes()[..width]);
}
