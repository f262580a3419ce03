//! Version 1 B-trees of chunks: the index of all files that HDF5 1.8 can read.
//!
//! In: the address of the root. Out: rows. Nodes have no checksums.
//! Source: HDF5 File Format Specification 3.0, III.A.1, node type 1.
//! Keys rise, each leaf ends with the key that the next one begins with, and the last key of all is of no chunk: all
//! trees of libhdf5 are so, and where one is not it has lost entries.
//! Invariant: a child is one level below its node, and each node takes bytes of the file once.

use super::blocks::Blocks;
use super::fields::{Fields, Widths, address, uint};
use super::rows::{Rows, Stored};
use crate::base::error::{Error, Result};

const SIGNATURE: &[u8; 4] = b"TREE";
const CHUNK_NODE: u8 = 1;

/// Rows of the tree with this root; says whether the tree is complete.
pub(super) fn read(blocks: &mut Blocks<'_>, widths: Widths, root: u64, rows: &mut Rows<'_>) -> Result<bool> {
    // Size and mask, then the coordinates of the first item, and one more for the bytes of an item, which is 0.
    let key = 8 + 8 * (rows.rank() + 1);
    let entry = key + widths.address;
    // The level that a node must have; the root says its own.
    let mut waiting = vec![(root, None)];
    let mut keys = Keys::default();
    while let Some((node, wanted)) = waiting.pop() {
        let place = |e: Error| e.at(format!("node at {node}"));
        let head = read_head(blocks, widths, node, wanted).map_err(place)?;
        let bytes = head.bytes + head.count * entry + key;
        let content = blocks.take(node, bytes).map_err(place)?;
        let entries = content[head.bytes..].chunks_exact(entry).take(head.count);
        if head.level == 0 {
            for entry in entries {
                keys.begins(&entry[..key]);
                put(entry, key, rows).map_err(place)?;
            }
            keys.ends(&content[bytes - key..]);
            continue;
        }
        // The last one waiting is the next: lowest addresses come first, as they were mostly written.
        for entry in entries.rev() {
            let child = address(&entry[key..]).ok_or_else(|| place(Error::corrupt("a child nowhere")))?;
            waiting.push((child, Some(head.level - 1)));
        }
    }
    Ok(keys.are_complete())
}

/// The keys of all leaves, in their order.
#[derive(Default)]
struct Keys {
    /// Coordinates of the chunk that was last seen.
    last: Vec<u64>,
    /// Of how many bytes the key at the end of the leaf before is, until the next chunk is seen; its coordinates.
    end: Option<u64>,
    end_at: Vec<u64>,
    is_broken: bool,
}

impl Keys {
    fn coordinates(key: &[u8]) -> impl Iterator<Item = u64> {
        key.get(8..).unwrap_or_default().chunks_exact(8).map(uint)
    }

    /// The key of the next chunk.
    fn begins(&mut self, key: &[u8]) {
        let key = || Self::coordinates(key);
        self.is_broken |= match self.end.take() {
            Some(_) => !self.end_at.iter().copied().eq(key()),
            None => !self.last.is_empty() && self.last.iter().copied().ge(key()),
        };
        self.last.clear();
        self.last.extend(key());
    }

    /// The key behind the chunks of a leaf.
    fn ends(&mut self, key: &[u8]) {
        self.is_broken |= self.end.is_some() || self.last.iter().copied().ge(Self::coordinates(key));
        self.end = Some(uint(key.get(..4).unwrap_or_default()));
        self.end_at.clear();
        self.end_at.extend(Self::coordinates(key));
    }

    fn are_complete(&self) -> bool {
        !self.is_broken && self.end.is_none_or(|bytes| bytes == 0)
    }
}

struct Head {
    level: u8,
    /// Used entries.
    count: usize,
    /// Of the head itself.
    bytes: usize,
}

fn read_head(blocks: &mut Blocks<'_>, widths: Widths, node: u64, wanted: Option<u8>) -> Result<Head> {
    let bytes = 8 + 2 * widths.address;
    let mut fields = Fields::new(blocks.peek(node, bytes)?);
    if fields.bytes(4, "signature")? != SIGNATURE {
        return Err(Error::corrupt("it does not start with its signature, TREE"));
    }
    let (kind, level) = (fields.u8("type")?, fields.u8("level")?);
    if kind != CHUNK_NODE {
        return Err(Error::corrupt(format!("type {kind}: not a tree of chunks")));
    }
    if let Some(wanted) = wanted.filter(|&wanted| wanted != level) {
        return Err(Error::corrupt(format!("level {level} where {wanted} must be")));
    }
    Ok(Head { level, count: fields.u16("entries")?.into(), bytes })
}

/// The row of an entry of a leaf.
fn put(entry: &[u8], key: usize, rows: &mut Rows<'_>) -> Result<()> {
    let Some(address) = address(&entry[key..]) else { return Ok(()) };
    let stored = Stored { address, size: uint(&entry[..4]), mask: mask_of(entry) };
    rows.put_start(&entry[8..key - 8], stored)
}

fn mask_of(entry: &[u8]) -> u32 {
    u32::from_le_bytes([entry[4], entry[5], entry[6], entry[7]])
}
